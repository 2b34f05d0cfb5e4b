#include "app/jobs/jobs.h"

#include <utility>

#include "app/jobs/learn.h"
#include "app/jobs/map.h"
#include "app/jobs/worker.h"

namespace attn::jobs {
namespace {

template <class Request>
std::unique_ptr<Job> job(const char* name,
                         std::optional<Request> (*requested)(const view::AppState&),
                         typename Worker<Request>::Run run, const std::function<void()>& wake) {
    return std::make_unique<Worker<Request>>(name, requested, std::move(run), wake);
}

template <class Request>
view::Action run(const Request& request, const RunControl& control) {
    return view::run(request, control);
}

}  // namespace

Jobs::Jobs(view::Opener open, std::function<void()> wake) {
    const auto with_files = [open = std::move(open)](const auto& request,
                                                     const RunControl& control) {
        return view::run(request, open, control);
    };
    jobs_.push_back(job<view::OpenRequest>("opening", view::requested_document, with_files, wake));
    jobs_.push_back(job<view::CheckRequest>("check", view::requested_check, with_files, wake));
    jobs_.push_back(job("trace", view::requested_trace, run<view::TraceRequest>, wake));
    jobs_.push_back(job("curves", view::requested_sweep, run<view::SweepRequest>, wake));
    jobs_.push_back(job("cost", view::requested_cost, run<view::CostRequest>, wake));
    jobs_.push_back(
        job("gradients", view::requested_loss_gradients, run<view::LossGradientsRequest>, wake));
    jobs_.push_back(job("numerics", view::requested_numerics, run<view::NumericsRequest>, wake));
    jobs_.push_back(job("heads", view::requested_heads, run<view::HeadsRequest>, wake));
    jobs_.push_back(job("capacity", view::requested_capacity, run<view::CapacityRequest>, wake));
    jobs_.push_back(job("tensors", view::requested_tensors, run<view::TensorsRequest>, wake));
    jobs_.push_back(job("probe", view::requested_probe, run<view::ProbeRequest>, wake));
    jobs_.push_back(job("map input", view::requested_map_input, run<view::MapInputRequest>, wake));
    jobs_.push_back(job("cell", view::requested_map_cell, run<view::MapCellRequest>, wake));
    jobs_.push_back(std::make_unique<Learn>(wake));
    jobs_.push_back(std::make_unique<Map>(wake));
}

void Jobs::update(const view::AppState& state) {
    for (const auto& job : jobs_) job->update(state);
}

view::Actions Jobs::take() {
    view::Actions taken;
    for (const auto& job : jobs_)
        for (view::Action& answer : job->take()) taken.push_back(std::move(answer));
    return taken;
}

void Jobs::settle() {
    for (const auto& job : jobs_) job->settle();
}

void answer(view::AppState& state, Jobs& jobs) {
    for (bool news = true; news;) {
        jobs.update(state);
        jobs.settle();
        const view::Actions answers = jobs.take();
        news = !answers.empty();
        for (const view::Action& each : answers) view::apply(state, each);
    }
}

Result<void> play(view::AppState& state, Jobs& jobs, const view::Actions& actions,
                  const std::function<Result<void>(const view::AppState&)>& after) {
    for (const view::Action& action : actions) {
        if (view::is_awaited(action)) answer(state, jobs);
        if (!view::is_awaited(action)) view::apply(state, action);
        state.effects = {};  // done when it was asked for
        state.prompt.reset();
        if (auto done = after(state); !done) return done;
    }
    return {};
}

}  // namespace attn::jobs

#include "app/jobs/jobs.h"

#include "app/jobs/worker.h"
#include "app/window/requests.h"

namespace attn::jobs {
Jobs::Jobs(view::Opener open, std::function<void()> wake) {
    for (const view::RequestKind& kind : view::all_requests())
        jobs_.push_back(kind.make ? kind.make(wake) : std::make_unique<Worker>(kind, open, wake));
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

void Jobs::wait_until_idle() {
    for (const auto& job : jobs_) job->wait_until_idle();
}

void answer(view::AppState& state, Jobs& jobs) {
    for (bool news = true; news;) {
        jobs.update(state);
        jobs.wait_until_idle();
        const view::Actions answers = jobs.take();
        news = !answers.empty();
        for (const view::Action& each : answers) view::apply(state, each);
    }
}

}  // namespace attn::jobs

#include "app/workspaces/learn/training.h"

#include "core/train/evaluation.h"
#include "core/train/language.h"
#include "core/train/own_data.h"

namespace attn::view {
namespace {

constexpr Index kSeedSteps =
    8;  // of a run of the spread at a time: nothing of it is shown as it goes

/// Whether a training under `was` can continue under `is`.
bool same_run(const LearnPlan& was, const LearnPlan& is, std::size_t run) {
    return was.controls.has_b() == is.controls.has_b() && was.opened == is.opened &&
           was.controls.of(run) == is.controls.of(run);
}

Result<train::Course> course_of(const LearnPlan& plan, std::size_t run) {
    if (run == 0 && plan.opened) return train::Course::from(*plan.opened);
    return train::Course::make(plan.controls.of(run));
}

/// The first step at which two lists of switches differ.
Index first_difference(const std::vector<train::Switch>& was,
                       const std::vector<train::Switch>& is) {
    const auto [a, b] = std::ranges::mismatch(was, is);
    Index first = std::numeric_limits<Index>::max();
    for (auto each = a; each != was.end(); ++each) first = std::min(first, each->step);
    for (auto each = b; each != is.end(); ++each) first = std::min(first, each->step);
    return first;
}

/// Drops measurements at `step` and after it.
void drop_from(std::vector<LearnHeldOut>& points, Index step) {
    std::erase_if(points, [&](const LearnHeldOut& each) { return each.step >= step; });
}

}  // namespace

void Training::request(const LearnRequest& request) {
    if (request_ == request) return;
    const bool seeds = request_ && request_->plan.seeds != request.plan.seeds;
    const bool same = request_ && same_run(request_->plan, request.plan, 0) &&
                      same_run(request_->plan, request.plan, 1) && fault_.empty();
    const bool on = same && request_->plan.switches == request.plan.switches &&
                    request_->plan.until == request.plan.until;
    request_ = request;
    complete_ = false;
    if (!same) begin();
    if (!on || seeds) seeds_.clear(), others_ = {};
    for (std::size_t run = 0; run < 2; ++run) {
        if (!courses_[run]) continue;
        drop_from(held_out_[run],
                  first_difference(courses_[run]->switches(), request.plan.switches[run]));
        courses_[run]->set_switches(request.plan.switches[run]);
    }
    since_ = {};
    counted_ = 0;
    rate_ = 0.0;
}

void Training::begin() {
    courses_ = {};
    held_out_ = {};
    probes_ = {};
    probed_ = {};
    fault_.clear();
    for (std::size_t run = 0; run < request_->plan.controls.count(); ++run) {
        auto course = course_of(request_->plan, run);
        if (!course) {
            fault_ = course.error().text();
            courses_ = {};
            return;
        }
        courses_[run].emplace(*std::move(course));
    }
}

/// A and B of the next seed, both to the end; false when every seed is done.
bool Training::advance_seed(std::stop_token stop) {
    const LearnPlan& plan = request_->plan;
    const Index done = std::ssize(seeds_);
    if (plan.seeds <= 1 || done >= plan.seeds || plan.until == 0) return false;
    LearnSeed next;
    next.seed = plan.controls.a.seed + static_cast<std::uint64_t>(done);
    bool finished = true;
    for (std::size_t run = 0; run < 2; ++run) {
        if (!courses_[run]) continue;
        std::optional<train::Course>& course = done == 0 ? courses_[run] : others_[run];
        if (!course) {
            train::Spec spec = plan.controls.of(run);
            spec.seed += static_cast<std::uint64_t>(done);
            course.emplace(train::Course::make(spec).value());
            course->set_switches(plan.switches[run]);
        }
        for (Index n = 0; n < kSeedSteps && course->advance(plan.until, stop); ++n) ++counted_;
        if (course->step_count() != plan.until) finished = false;
        next.endings[run] = train::ending_of(course->records(), plan.until);
    }
    if (finished) {
        seeds_.push_back(next);
        others_ = {};
    }
    return !stop.stop_requested();
}

bool Training::needs_held_out(std::size_t run) const {
    if (!courses_[run]) return false;
    const train::Spec& spec = courses_[run]->spec();
    if (spec.language.empty() || !spec.language->holds_out()) return false;
    const Index step = courses_[run]->step_count();
    if (!train::is_held_out_step(step) && step != request_->plan.until) return false;
    return std::ranges::find(held_out_[run], step, &LearnHeldOut::step) == held_out_[run].end();
}

bool Training::measure_held_out(std::size_t run, std::stop_token stop) {
    train::Course& course = *courses_[run];
    const train::State state =
        train::switched(course.spec(), *course.keep(), request_->plan.switches[run]);
    const auto made = train::evaluate(course.spec(), state, std::move(stop));
    if (!made) return false;
    drop_from(held_out_[run], state.step);
    held_out_[run].push_back({state.step, made->answers_right});
    return true;
}

bool Training::work(std::stop_token stop) {
    if (!request_ || complete_) return false;
    for (std::size_t run = 0; run < 2; ++run)
        if (needs_held_out(run)) return measure_held_out(run, std::move(stop));
    std::optional<train::Course>* behind = nullptr;
    for (std::optional<train::Course>& course : courses_) {
        if (!course || course->step_count() == request_->plan.until) continue;
        if (behind == nullptr || course->step_count() < (*behind)->step_count()) behind = &course;
    }
    if (behind != nullptr) {
        if (!(*behind)->advance(request_->plan.until, stop)) return false;
        const auto run = static_cast<std::size_t>(behind - courses_.data());
        drop_from(held_out_[run], (*behind)->step_count() + 1);
        ++counted_;
        return true;
    }
    if (fault_.empty() && advance_seed(stop)) return true;
    if (stop.stop_requested()) return false;
    complete_ = true;
    return false;
}

/// The answer of run A to the sentence, of own data.
void Training::answer_own(const train::Spec& spec, const train::State& state) {
    answer_ = nullptr;
    if (!train::has_own_data(spec)) return;
    const std::string& sentence = request_->shown.sentence;
    auto answer =
        train::own_answer(spec, state, sentence.empty() ? spec.language->text() : sentence);
    if (answer) answer_ = std::make_shared<const train::OwnAnswer>(*std::move(answer));
}

std::shared_ptr<const train::Probe> Training::probe_of(std::size_t run) {
    train::Course& course = *courses_[run];
    course.keep();
    const train::Moment& moment = train::moment_at(course.moments(), request_->shown.step);
    const bool same = probed_[run] == moment && probed_sentence_ == request_->shown.sentence;
    const train::Switches wanted =
        train::switches_at(course.spec(), course.switches(), moment->step);
    if (same && probes_[run] && moment->switches == wanted) return probes_[run];
    const auto example = train::example_of(course.sequences(), request_->shown.sentence)
                             .value_or(course.sequences().fixed());
    const train::State state = train::switched(course.spec(), *moment, course.switches());
    if (run == 0) answer_own(course.spec(), state);
    probed_[run] = moment;
    probes_[run] =
        std::make_shared<const train::Probe>(train::probe(course.spec(), state, example));
    return probes_[run];
}

std::shared_ptr<const LearnSeries> Training::series() {
    auto series = std::make_shared<LearnSeries>();
    series->request = *request_;
    series->complete = complete_;
    series->fault = fault_;
    series->seeds = seeds_;
    for (std::size_t run = 0; run < 2; ++run) {
        if (!courses_[run]) continue;
        LearnSide& side = series->sides[run];
        side.probe = probe_of(run);
        if (run == 0) side.answer = answer_;
        side.records = courses_[run]->records();
        side.moments = courses_[run]->moments();
        side.matrices = courses_[run]->matrices();
        side.held_out = held_out_[run];
        series->vocabulary = courses_[run]->sequences().vocabulary();
    }
    probed_sentence_ = request_->shown.sentence;
    const double seconds = since_.seconds();
    if (seconds > 0.5) {
        rate_ = static_cast<double>(counted_) / seconds;
        since_ = {};
        counted_ = 0;
    }
    series->steps_per_second = rate_;
    return series;
}

}  // namespace attn::view

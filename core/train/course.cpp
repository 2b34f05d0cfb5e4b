#include "core/train/course.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/check.h"
#include "core/train/task_table.h"

namespace attn::train {
namespace {

constexpr std::size_t kNewestMoments = 4;  // that stay whatever the spacing is

double bytes_of(const State& moment) {
    const auto floats = moment.weights.size() + moment.first.size() + moment.second.size();
    return 4.0 * static_cast<double>(floats);
}

/// How many moments of that size are kept.
std::size_t most_moments(const State& moment) {
    const double space = kMostMomentBytes / std::max(bytes_of(moment), 1.0);
    return std::clamp(static_cast<std::size_t>(space), kNewestMoments + 2, kMostMoments);
}

}  // namespace

Switches switches_at(const Spec& spec, std::span<const Switch> list, Index step) {
    Switches switches{spec.scaling, {}};
    switches.silenced.assign(spec.layers * spec.heads, false);
    for (const Switch& each : list) {
        if (each.step > step) continue;
        if (each.head < 0)
            switches.scaling = each.on;
        else
            switches.silenced[each.head] = !each.on;
    }
    return switches;
}

Result<void> check(const Spec& spec, std::span<const Switch> list) {
    const Index heads = spec.layers * spec.heads;
    for (const Switch& each : list) {
        if (each.step < 0)
            return bad_input(fmt::format("a switch at step {}; expected 0 or more", each.step));
        if (each.head < -1 || each.head >= heads)
            return bad_input(fmt::format("a switch of head {}; expected 0 to {}, or −1 for ÷√d_k",
                                         each.head, heads - 1));
    }
    return {};
}

std::vector<Switch> recorded_switches(const Run& run) {
    std::vector<Switch> list;
    Switches now{run.spec.scaling, {}};
    const auto heads = static_cast<std::size_t>(run.spec.layers * run.spec.heads);
    now.silenced.assign(heads, false);
    const auto follow = [&](Index step, const Switches& next) {
        if (next.scaling != now.scaling) list.push_back({step, -1, next.scaling});
        for (std::size_t h = 0; h < heads; ++h) {
            const bool silenced = h < next.silenced.size() && next.silenced[h];
            if (silenced != now.silenced[h])
                list.push_back({step, static_cast<Index>(h), !silenced});
            now.silenced[h] = silenced;
        }
        now.scaling = next.scaling;
    };
    for (const auto& record : run.records) follow(record->step, record->switches);
    follow(run.moments.back()->step, run.moments.back()->switches);
    return list;
}

Course::Course(Trainer trainer, Run run)
    : trainer_(std::move(trainer)),
      records_(std::move(run.records)),
      moments_(std::move(run.moments)) {}

Result<Course> Course::make(const Spec& spec) {
    auto trainer = Trainer::make(spec);
    if (!trainer) return tl::unexpected(trainer.error());
    Run run{spec, {}, {trainer->checkpoint()}};
    return Course(*std::move(trainer), std::move(run));
}

Result<Course> Course::from(const Run& run) {
    ATTN_CHECK(!run.moments.empty(), "a run has a moment to go on from");
    auto trainer = Trainer::from(run.spec, *run.moments.back());
    if (!trainer) return tl::unexpected(trainer.error());
    Run retained = run;
    retained.records.resize(run.moments.back()->step);
    std::vector<Switch> switches = recorded_switches(retained);
    Course course(*std::move(trainer), std::move(retained));
    course.switches_ = std::move(switches);
    return course;
}

/// To the last moment that is kept at or before `step`; what was recorded after it is dropped.
void Course::go_back(Index step) {
    while (moments_.size() > 1 && moments_.back()->step > step) moments_.pop_back();
    trainer_.restore(*moments_.back());
    records_.resize(moments_.back()->step);
}

void Course::set_switches(std::vector<Switch> switches) {
    if (switches == switches_) return;
    const auto [was, is] = std::ranges::mismatch(switches_, switches);
    Index first = step_count();
    if (was != switches_.end()) first = std::min(first, was->step);
    if (is != switches.end()) first = std::min(first, is->step);
    for (auto later = was; later != switches_.end(); ++later) first = std::min(first, later->step);
    for (auto later = is; later != switches.end(); ++later) first = std::min(first, later->step);
    switches_ = std::move(switches);
    // A moment of that very step was kept under the old switches, which its first step replaces: see advance().
    if (first < step_count()) go_back(first);
}

bool Course::advance(Index step, std::stop_token stop) {
    if (step < step_count()) {
        go_back(step);
        return true;
    }
    if (step == step_count()) return false;
    const Switches wanted = switches_at(spec(), switches_, step_count());
    trainer_.set_scaling(wanted.scaling);
    for (Index h = 0; h < std::ssize(wanted.silenced); ++h)
        trainer_.silence_head(h / spec().heads, h % spec().heads, wanted.silenced[h]);
    auto record = trainer_.step(stop);
    if (!record) return false;
    records_.push_back(std::move(record));
    if (step_count() % spacing_ == 0) keep();
    return true;
}

const Moment& Course::keep() {
    if (moments_.back()->step != step_count()) {
        moments_.push_back(trainer_.checkpoint());
        thin();
    }
    return moments_.back();
}

/// Drops what does not lie on the spacing, but for the newest; where that is too little, the spacing doubles.
void Course::thin() {
    const std::size_t most = most_moments(*moments_.back());
    while (true) {
        std::vector<Moment> retained;
        for (std::size_t n = 0; n < moments_.size(); ++n)
            if (moments_[n]->step % spacing_ == 0 || n + kNewestMoments >= moments_.size())
                retained.push_back(moments_[n]);
        moments_ = std::move(retained);
        if (moments_.size() <= most) return;
        spacing_ *= 2;
    }
}

Run Course::run() const {
    Run run{spec(), records_, moments_};
    if (run.moments.back()->step != step_count()) run.moments.push_back(trainer_.checkpoint());
    return run;
}

Ending ending_of(std::span<const std::shared_ptr<const Record>> records, Index step, Index count) {
    Ending ending;
    const Index last = std::min<Index>(step, std::ssize(records));
    ending.first = std::max<Index>(last - count, 0);
    ending.steps = last - ending.first;
    for (Index n = ending.first; n < last; ++n) {
        const Record& record = *records[n];
        const double share = 1.0 / static_cast<double>(ending.steps);
        ending.loss += record.loss * share;
        ending.accuracy += record.accuracy * share;
        ending.saturated += record.saturated * share;
    }
    return ending;
}

const Moment& moment_at(const std::vector<Moment>& moments, std::optional<Index> step) {
    if (!step) return moments.back();
    const auto after = std::ranges::upper_bound(moments, *step, {},
                                                [](const Moment& moment) { return moment->step; });
    return after == moments.begin() ? moments.front() : *(after - 1);
}

State switched(const Spec& spec, const State& moment, std::span<const Switch> switches) {
    State state = moment;
    state.switches = switches_at(spec, switches, moment.step);
    return state;
}

Result<Example> example_of(const Sequences& sequences, const std::string& sentence) {
    if (sentence.empty()) return sequences.fixed();
    return sequences.typed(sentence);
}

}  // namespace attn::train

#include "app/workspaces/learn/words.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/words.h"
#include "app/workspaces/learn/settings.h"
#include "app/workspaces/learn/view.h"

namespace attn::view {
namespace {

constexpr double kSameAccuracy = 0.02;
constexpr double kSameLoss = 0.05;

using train::Ending;

std::string over_words(const Ending& ending) {
    if (ending.steps == 1) return "step 0 alone";
    return fmt::format("means of its last {} steps", ending.steps);
}

/// "99.8 % right (loss 0.01)".
std::string right_words(const Ending& ending) {
    if (!std::isfinite(ending.loss))
        return fmt::format("{} right, a loss that is no number any more", percent(ending.accuracy));
    return fmt::format("{} right, loss {}", percent(ending.accuracy), number(ending.loss));
}

/// Of the runs at that step.
std::array<Ending, 2> endings_at(const LearnSeries& series, Index step) {
    return {train::ending_of(series.sides[0].records, step),
            train::ending_of(series.sides[1].records, step)};
}

std::string compared_words(const LearnPlan& plan, const std::array<Ending, 2>& endings) {
    const auto& [a, b] = endings;
    if (!std::isfinite(a.loss) || !std::isfinite(b.loss))
        return fmt::format("{} {}; {} {}", learn_name(plan, 0), right_words(a), learn_name(plan, 1),
                           right_words(b));
    return fmt::format("{}{} {} right, {} {}",
                       is_no_difference(a, b) ? "no clear difference: " : "", learn_name(plan, 0),
                       percent(a.accuracy), learn_name(plan, 1), percent(b.accuracy));
}

/// Which rows are saturated: now, and from the first step on.
std::string saturation_words(const LearnSeries& series, const std::array<Ending, 2>& endings) {
    const LearnControls& controls = series.request.plan.controls;
    std::string words = "Rows whose largest weight is above 0.99:";
    for (std::size_t run = 0; run < controls.count(); ++run) {
        const auto& records = series.sides[run].records;
        if (records.empty()) return {};
        words += fmt::format("{} {}{} at step 0, {} now", run == 0 ? "" : ";",
                             controls.has_b() ? learn_name(series.request.plan, run) + " " : "",
                             percent(records.front()->saturated), percent(endings[run].saturated));
    }
    return words + ".";
}

std::string switch_words(const LearnPlan& plan, std::size_t run) {
    std::string words;
    const train::Spec& spec = plan.controls.of(run);
    for (const train::Switch& each : plan.switches[run]) {
        const std::string what = each.head < 0 ? std::string("÷√d_k")
                                               : fmt::format("head {}.{}", each.head / spec.heads,
                                                             each.head % spec.heads);
        words += fmt::format("{} {} {} from step {}", words.empty() ? "" : ",", what,
                             each.on ? "on" : "off", grouped(each.step));
    }
    if (words.empty()) return {};
    return fmt::format("Switched in {}:{}.", run == 0 ? "A" : "B", words);
}

std::string spread_words(const LearnSeries& series) {
    const LearnPlan& plan = series.request.plan;
    if (plan.seeds <= 1) return {};
    if (series.seeds.size() < 2)
        return fmt::format("The spread: {} of {} seeds are trained.", series.seeds.size(),
                           plan.seeds);
    std::string words = fmt::format("Over {} seeds:", series.seeds.size());
    for (std::size_t run = 0; run < plan.controls.count(); ++run) {
        std::vector<double> right;
        for (const LearnSeed& seed : series.seeds) right.push_back(seed.endings[run].accuracy);
        std::ranges::sort(right);
        words += fmt::format("{} {}{} right (median; {} to {})", run == 0 ? "" : ";",
                             plan.controls.has_b() ? learn_name(plan, run) + " " : "",
                             percent(right[(right.size() - 1) / 2]), percent(right.front()),
                             percent(right.back()));
    }
    return words + ".";
}

/// What the size of unscaled scores is at first weights: entries of q and k have variance 1.
std::string variance_words(const LearnControls& controls) {
    if (controls.differs != "scaling") return {};
    const auto d_k = static_cast<double>(controls.a.d_k);
    return fmt::format(
        "At first weights entries of q and k have variance 1, so q·k has standard deviation "
        "√d_k = {}; divided by it: 1.",
        significant(std::sqrt(d_k), 3));
}

}  // namespace

std::string learn_name(const LearnPlan& plan, std::size_t run) {
    std::string words = learn_run_words(plan.controls, run);
    if (!words.empty() && !plan.switches[run].empty()) words += ", switched";
    return words;
}

std::string learn_title(const LearnPlan& plan, std::size_t run) {
    const std::string words = learn_name(plan, run);
    return words.empty() ? std::string("A") : fmt::format("{}: {}", run == 0 ? "A" : "B", words);
}

bool is_no_difference(const Ending& a, const Ending& b) {
    const double larger = std::max(a.loss, b.loss);
    return std::abs(a.accuracy - b.accuracy) < kSameAccuracy &&
           std::abs(a.loss - b.loss) <= kSameLoss * larger;
}

std::string learn_point(const AppState& state) {
    const LearnLook& look = learn_look(state);
    const LearnControls& controls = planned(state);
    const train::TaskInfo& task = train::info(controls.a.task);
    const Index step = shown_learn_step(state);
    if (!look.series || step == 0)
        return controls.has_b()
                   ? fmt::format("{}: two models from one seed, {} and {}. Space trains them.",
                                 task.title, learn_run_words(controls, 0),
                                 learn_run_words(controls, 1))
                   : fmt::format("{}: one model. Space trains it.", task.title);
    const auto endings = endings_at(*look.series, step);
    return fmt::format("After {} step{}: {}.", grouped(step), step == 1 ? "" : "s",
                       controls.has_b() ? compared_words(look.series->request.plan, endings)
                                        : right_words(endings[0]));
}

std::vector<std::string> learn_notes(const AppState& state) {
    const LearnLook& look = learn_look(state);
    const LearnControls& controls = planned(state);
    const train::TaskInfo& task = train::info(controls.a.task);
    std::vector<std::string> notes;
    const Index step = shown_learn_step(state);
    if (look.series && step > 0) {
        const auto endings = endings_at(*look.series, step);
        std::string first = saturation_words(*look.series, endings);
        notes.push_back(first + fmt::format(" (Numbers of a step: {}.)", over_words(endings[0])));
        notes.push_back(spread_words(*look.series));
        for (std::size_t run = 0; run < controls.count(); ++run)
            notes.push_back(switch_words(look.series->request.plan, run));
    } else {
        notes.push_back(fmt::format("{} {}", sentence(std::string(task.layout)),
                                    sentence(std::string(task.solved))));
        notes.push_back(variance_words(controls));
    }
    std::erase(notes, std::string());
    return notes;
}

}  // namespace attn::view

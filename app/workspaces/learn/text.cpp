#include "app/workspaces/learn/text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/document/heads.h"
#include "app/common/format.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/workspaces/learn/recording.h"
#include "app/workspaces/learn/settings.h"
#include "app/workspaces/learn/view.h"
#include "core/metrics.h"
#include "core/train/course.h"
#include "core/train/task_table.h"
#include "core/train/trainer.h"

namespace attn::view {
namespace {

constexpr double kSameAccuracy = 0.02;
constexpr double kSameLoss = 0.05;

using train::Ending;

/// "99.8 % right (loss 0.01)".
std::string right_text(const Ending& ending) {
    if (!std::isfinite(ending.loss))
        return fmt::format("{} right, loss not finite", percent_text(ending.accuracy));
    return fmt::format("{} right, loss {}", percent_text(ending.accuracy), number(ending.loss));
}

constexpr Index kMeanSteps = 50;

/// Of the runs at that step: means of as many steps of both, none from before the last switch.
std::array<Ending, 2> endings_at(const LearnSeries& series, Index step) {
    Index count = kMeanSteps;
    for (const auto& list : series.request.plan.switches)
        for (const train::Switch& each : list)
            if (each.step < step) count = std::min(count, step - each.step);
    return {train::ending_of(series.sides[0].records, step, count),
            train::ending_of(series.sides[1].records, step, count)};
}

/// Whether the whole plan is trained and its last step is shown.
bool is_at_end(const AppState& state) {
    const bool there = is_recorded(state) || learn_look(state).plan;
    return there && !is_learning(state) && shown_learn_step(state) == learn_until(state);
}

/// `ended`: a verdict is possible.
std::string compared_description(const LearnPlan& plan, const std::array<Ending, 2>& endings,
                                 bool ended) {
    const auto& [a, b] = endings;
    if (!std::isfinite(a.loss) || !std::isfinite(b.loss))
        return fmt::format("{} {}; {} {}", learn_name(plan, 0), right_text(a), learn_name(plan, 1),
                           right_text(b));
    return fmt::format("{}{} {} right, {} {}",
                       ended && is_no_difference(a, b) ? "no clear difference: " : "",
                       learn_name(plan, 0), percent_text(a.accuracy), learn_name(plan, 1),
                       percent_text(b.accuracy));
}

constexpr double kMostRight = 0.9;

/// The first step at which the mean of the last kMeanSteps is kMostRight right; 0: none is.
Index first_right(std::span<const std::shared_ptr<const train::Record>> records) {
    double sum = 0.0;
    for (Index n = 0; n < std::ssize(records); ++n) {
        sum += records[n]->accuracy;
        if (n >= kMeanSteps) sum -= records[n - kMeanSteps]->accuracy;
        if (n + 1 >= kMeanSteps && sum >= kMostRight * kMeanSteps) return n + 1;
    }
    return 0;
}

/// Of two runs that end alike which one learned first; "" where that cannot be told.
std::string earlier_text(const LearnSeries& series, const std::array<Ending, 2>& endings) {
    const LearnPlan& plan = series.request.plan;
    const bool switched = !plan.switches[0].empty() || !plan.switches[1].empty();
    if (!plan.controls.has_b() || switched ||
        percent_text(endings[0].accuracy) != percent_text(endings[1].accuracy))
        return {};
    const Index a = first_right(series.sides[0].records), b = first_right(series.sides[1].records);
    if (a == 0 || b == 0 || a == b) return {};
    return fmt::format(
        "{:.0f} % right is first reached at step {} {} and at step {} {} (means of {} steps).",
        100.0 * kMostRight, grouped(a), learn_name(plan, 0), grouped(b), learn_name(plan, 1),
        kMeanSteps);
}

/// Which rows are saturated: now, and from the first step on.
std::string saturation_text(const LearnSeries& series, const std::array<Ending, 2>& endings) {
    const LearnControls& controls = series.request.plan.controls;
    std::string text = "Rows with a weight above 0.99, among rows of at least two keys:";
    for (std::size_t run = 0; run < controls.count(); ++run) {
        const auto& records = series.sides[run].records;
        if (records.empty()) return {};
        text += fmt::format("{} {}{} at step 0, {} at this step", run == 0 ? "" : ";",
                            controls.has_b() ? learn_name(series.request.plan, run) + " " : "",
                            percent_text(records.front()->saturated),
                            percent_text(endings[run].saturated));
    }
    text += ".";
    if (endings[0].steps > 1)
        text +=
            fmt::format(" Values at this step are means over the last {} steps.", endings[0].steps);
    return text;
}

/// The answer of each run at the word shown: "At “it” the model answers “animal” (99.0 %)."
std::string reading_text(const AppState& state) {
    const LearnSeries& series = *learn_look(state).series;
    const LearnPlan& plan = series.request.plan;
    if (!train::info(plan.controls.a.task).takes_language || !series.sides[0].probe) return {};
    const auto word = static_cast<std::size_t>(shown_word(state));
    const auto shown = [&](Index token) { return shown_token(series.vocabulary[token]); };
    const std::string at = shown(series.sides[0].probe->example.tokens[word]);
    std::string text;
    for (std::size_t run = 0; run < plan.controls.count(); ++run) {
        const auto& probe = series.sides[run].probe;
        if (!probe || word >= probe->answers.size()) return {};
        text += fmt::format("{}{}“{}” ({})", run == 0 ? "" : "; ",
                            plan.controls.has_b() ? learn_name(plan, run) + " " : "",
                            shown(probe->answers[word]), percent_text(probe->answer_shares[word]));
    }
    return fmt::format("At “{}” the {}{}.", at,
                       plan.controls.has_b() ? "models answer: " : "model answers ", text);
}

/// Of texts that training never reads, as they were read last before the step.
std::string held_out_text(const LearnSeries& series, Index step) {
    const LearnPlan& plan = series.request.plan;
    std::string text;
    Index measured = -1;
    for (std::size_t run = 0; run < plan.controls.count(); ++run) {
        const LearnHeldOut* const found = held_out_at(series.sides[run], step);
        if (found == nullptr || (run > 0 && found->step != measured)) return {};
        measured = found->step;
        text += fmt::format("{}{}{} right", run == 0 ? "" : "; ",
                            plan.controls.has_b() ? learn_name(plan, run) + " " : "",
                            percent_text(found->right));
    }
    return fmt::format("Held-out texts after {} step{}: {}.", grouped(measured),
                       measured == 1 ? "" : "s", text);
}

std::string switch_text(const LearnPlan& plan, std::size_t run) {
    std::string text;
    const train::Spec& spec = plan.controls.of(run);
    for (const train::Switch& each : plan.switches[run]) {
        const std::string what =
            each.head < 0
                ? fmt::format("{} scaling", each.on ? "with" : "without")
                : fmt::format("{} {}", head_name({each.head / spec.heads, each.head % spec.heads}),
                              each.on ? "on" : "off");
        text +=
            fmt::format("{} {} from step {}", text.empty() ? "" : ",", what, grouped(each.step));
    }
    if (text.empty()) return {};
    return fmt::format("Switched in {}:{}.", run == 0 ? "A" : "B", text);
}

std::string spread_description(const LearnSeries& series) {
    const LearnPlan& plan = series.request.plan;
    if (plan.seeds <= 1) return {};
    if (series.seeds.size() < 2)
        return fmt::format("For the spread, {} of {} seeds are trained.", series.seeds.size(),
                           plan.seeds);
    std::string text = fmt::format("Over {} seeds:", series.seeds.size());
    for (std::size_t run = 0; run < plan.controls.count(); ++run) {
        std::vector<double> right;
        for (const LearnSeed& seed : series.seeds) right.push_back(seed.endings[run].accuracy);
        const auto [least, most] = std::ranges::minmax(right);
        text += fmt::format("{} {}{} right (median; {} to {})", run == 0 ? "" : ";",
                            plan.controls.has_b() ? learn_name(plan, run) + " " : "",
                            percent_text(quantile(right, 0.5)), percent_text(least),
                            percent_text(most));
    }
    return text + ".";
}

/// Measured spread of the input of softmax at the initial weights.
std::string deviation_text(const LearnSeries& series) {
    const LearnPlan& plan = series.request.plan;
    std::string text;
    for (std::size_t run = 0; run < plan.controls.count(); ++run) {
        const auto& probe = series.sides[run].probe;
        if (!probe || probe->logit_deviation.empty()) return {};
        if (plan.controls.has_b())
            text += fmt::format("{} {}:", run == 0 ? "" : ";", learn_run_text(plan.controls, run));
        for (std::size_t layer = 0; layer < probe->logit_deviation.size(); ++layer)
            text += fmt::format("{} {}", layer == 0 ? "" : ",",
                                significant(probe->logit_deviation[layer], 3));
    }
    return fmt::format(
        "Standard deviation of the scores that enter softmax at the initial weights, by layer:{}.",
        text);
}

/// Norm of the gradient of the matrices of all layers whose names end so, of the step before `step`; NaN where there is none.
double gradient_norm(const LearnSide& side, Index step, std::string_view name) {
    if (step < 1 || step > std::ssize(side.records)) return std::nan("");
    const train::Record& record = *side.records[step - 1];
    double squares = 0.0;
    for (std::size_t m = 0; m < side.matrices.size() && m < record.gradient_norms.size(); ++m)
        if (side.matrices[m].name.ends_with(name))
            squares += std::pow(static_cast<double>(record.gradient_norms[m]), 2);
    return std::sqrt(squares);
}

constexpr double kLonger = 1.05;

/// With and without ÷√d_k, from the first step to the last.
bool compares_scaling(const LearnPlan& plan) {
    return plan.controls.differs == "scaling" && plan.switches[0].empty() &&
           plan.switches[1].empty();
}

/// How far batches agree on the gradient of W_Q in both runs and of W_V in the run without scaling; "" where it is unknown.
std::string agreement_text(const LearnSeries& series, Index step) {
    const LearnControls& controls = series.request.plan.controls;
    if (!compares_scaling(series.request.plan)) return {};
    const std::size_t on = controls.a.scaling ? 0 : 1;
    const auto of = [&](std::size_t run, std::string_view name) {
        return learn_agreement(series.sides[run], controls.of(run), step, name);
    };
    const double q[] = {of(on, ".w_q"), of(1 - on, ".w_q")};
    const double v = of(1 - on, ".w_v");
    if (!std::isfinite(q[0] + q[1] + v)) return {};
    return fmt::format(
        "Agreement of batches on a gradient (1: identical, {}: noise): W_Q {} without scaling, {} "
        "with scaling; W_V {} without scaling.",
        significant(learn_noise(controls.a), 2), significant(q[1], 2), significant(q[0], 2),
        significant(v, 2));
}

/// Why the gradient of W_Q is larger in the run without scaling although its rows are more saturated; "" where it is not.
std::string longer_text(const LearnSeries& series, Index step,
                        const std::array<Ending, 2>& endings) {
    const LearnPlan& plan = series.request.plan;
    if (!compares_scaling(plan) || step < 1) return {};
    const std::size_t on = plan.controls.a.scaling ? 0 : 1, off = 1 - on;
    const double with = gradient_norm(series.sides[on], step, ".w_q");
    const double without = gradient_norm(series.sides[off], step, ".w_q");
    const bool more = endings[off].saturated > endings[on].saturated &&
                      percent_text(endings[off].saturated) != percent_text(endings[on].saturated);
    if (!(without > kLonger * with) || !more) return {};
    return fmt::format(
        "‖∂L/∂W_Q‖ is larger without scaling, {} against {}, although more rows are saturated. "
        "This gradient "
        "is a sum over rows, and scaling gives each row's gradient the factor 1/√d_k = {}.",
        significant(without, 3), significant(with, 3),
        significant(1.0 / std::sqrt(static_cast<double>(plan.controls.a.d_k)), 3));
}

/// Before the first step, also of a run that was trained further and goes on from its end.
std::string beginning_text(const AppState& state, const LearnControls& controls) {
    const train::TaskInfo& task = train::info(controls.a.task);
    const bool trained = learn_look(state).series && (is_trained(state) || is_recorded(state));
    if (!controls.has_b())
        return fmt::format("{}: one model. {}.", task.title,
                           trained ? "Before training" : "Space trains it");
    return fmt::format("{}: two models{}, {} and {}. {}.", task.title,
                       controls.a.seed == controls.b.seed ? " from one seed" : "",
                       learn_run_text(controls, 0), learn_run_text(controls, 1),
                       trained ? "Before training" : "Space trains them");
}

}  // namespace

double learn_agreement(const LearnSide& side, const train::Spec& spec, Index step,
                       std::string_view name) {
    if (side.moments.empty() || spec.optimiser != train::Optimiser::adamw) return std::nan("");
    const train::State& moment = *train::moment_at(side.moments, step);
    if (moment.step < kMeanSteps || moment.second.empty()) return std::nan("");
    double means = 0.0, squares = 0.0;
    for (const train::Matrix& matrix : side.matrices) {
        if (matrix.name != name && !(name.starts_with('.') && matrix.name.ends_with(name)))
            continue;
        const auto count = static_cast<std::size_t>(matrix.rows * matrix.columns);
        for (std::size_t n = matrix.offset; n < matrix.offset + count; ++n) {
            means += static_cast<double>(moment.first[n]) * static_cast<double>(moment.first[n]);
            squares += static_cast<double>(moment.second[n]);
        }
    }
    const auto t = static_cast<double>(moment.step);
    return std::sqrt(means / squares * (1.0 - std::pow(spec.beta2, t))) /
           (1.0 - std::pow(spec.beta1, t));
}

double learn_noise(const train::Spec& spec) {
    return std::sqrt((1.0 - spec.beta1) / (1.0 + spec.beta1));
}

std::vector<LearnHeadLabel> learn_head_labels(const LearnSeries& series, std::size_t run) {
    std::vector<LearnHeadLabel> labels;
    const auto& probe = series.sides[run].probe;
    if (!probe || probe->step == 0 || std::ssize(probe->example.tokens) > kMostLearnTokens)
        return labels;
    const train::Spec& spec = series.request.plan.controls.of(run);
    const auto tokens = std::ssize(probe->example.tokens);
    std::vector<std::uint8_t> allowed(static_cast<std::size_t>(tokens * tokens), 1);
    for (Index i = 0; train::info(spec.task).causal && i < tokens; ++i)
        std::fill(allowed.begin() + i * tokens + i + 1, allowed.begin() + (i + 1) * tokens,
                  std::uint8_t{0});
    for (const auto [layer, head] : each_cell(spec.layers, spec.heads)) {
        const HeadRows rows{probe->weights[layer].matrix(0, head), allowed, probe->example.tokens};
        const auto label = propose_label(rows);
        if (!label) continue;
        const auto weight = measure_head(rows)[label->name];
        if (weight) labels.push_back({{layer, head}, *label, *weight});
    }
    return labels;
}

const LearnHeadLabel* clearest_head(const std::vector<LearnHeadLabel>& labels) {
    const auto rank = [](const LearnHeadLabel& each) {
        const double first = each.label.name == HeadMeasure::induction ? 2.0
                             : each.label.name == HeadMeasure::sink    ? -2.0
                                                                       : 0.0;
        return first + each.label.lift();
    };
    const auto best = std::ranges::max_element(labels, {}, rank);
    return best == labels.end() ? nullptr : &*best;
}

std::string learn_name(const LearnPlan& plan, std::size_t run) {
    std::string text = learn_run_text(plan.controls, run);
    if (text.empty() || plan.switches[run].empty()) return text;
    bool heads = false;
    std::string scaling;
    for (const train::Switch& each : plan.switches[run]) {
        heads |= each.head >= 0;
        if (each.head < 0) scaling = each.on ? "with" : "without";
    }
    if (!scaling.empty()) text += fmt::format(", then {} scaling", scaling);
    return text + (heads ? ", heads switched" : "");
}

std::string learn_title(const LearnPlan& plan, std::size_t run) {
    const std::string text = learn_name(plan, run);
    return text.empty() ? std::string("A") : fmt::format("{}: {}", run == 0 ? "A" : "B", text);
}

bool is_no_difference(const Ending& a, const Ending& b) {
    const double larger = std::max(a.loss, b.loss);
    return std::abs(a.accuracy - b.accuracy) < kSameAccuracy &&
           std::abs(a.loss - b.loss) <= kSameLoss * larger;
}

namespace {

/// "After 400 steps: …".
std::string right_point(const AppState& state) {
    const LearnLook& look = learn_look(state);
    const LearnControls& controls = planned(state);
    const Index step = shown_learn_step(state);
    if (!look.series || step == 0) return beginning_text(state, controls);
    const auto endings = endings_at(*look.series, step);
    const bool ended = is_at_end(state);
    const Index until = learn_until(state);
    const std::string when =
        ended ? fmt::format("After {} step{}", grouped(step), step == 1 ? "" : "s")
              : fmt::format("Step {} of {}", grouped(step), grouped(std::max(step, until)));
    // The plots have the step alone.
    const Index steps = endings[0].steps;
    return fmt::format("{}: {}{}.", when,
                       controls.has_b()
                           ? compared_description(look.series->request.plan, endings, ended)
                           : right_text(endings[0]),
                       steps > 1 ? fmt::format(", means of {} steps", steps) : "");
}

/// At the end of two runs that end alike: which was first; else "".
std::string first_point(const AppState& state) {
    const LearnLook& look = learn_look(state);
    const Index step = shown_learn_step(state);
    if (!look.series || step == 0 || !is_at_end(state)) return {};
    return earlier_text(*look.series, endings_at(*look.series, step));
}

constexpr std::size_t kMostNamedHeads = 2;  // in a headline

/// Where a head of that name looks, of the headline.
std::string_view looked_at(HeadMeasure name) {
    switch (name) {
        case HeadMeasure::previous:
            return "the previous token";
        case HeadMeasure::diagonal:
            return "its own token";
        case HeadMeasure::next:
            return "the next token";
        case HeadMeasure::duplicate:
            return "earlier copies of the token";
        case HeadMeasure::induction:
            return "the token after an earlier copy";
        default:
            return "the first token";
    }
}

/// "A: L0 H0 looks at the previous token (0.90), L1 H1 at the token after an earlier copy (0.97)."
std::string heads_text(const LearnSeries& series, std::size_t run) {
    std::vector<LearnHeadLabel> labels = learn_head_labels(series, run);
    std::erase_if(labels, [](const LearnHeadLabel& each) {  // no training is needed for a sink
        return each.label.name == HeadMeasure::sink;
    });
    if (labels.empty()) return {};
    std::vector<LearnHeadLabel> named;
    while (!labels.empty() && named.size() < kMostNamedHeads) {
        const auto at = clearest_head(labels) - labels.data();
        named.push_back(labels[static_cast<std::size_t>(at)]);
        labels.erase(labels.begin() + at);
    }
    std::ranges::sort(named, {}, [](const LearnHeadLabel& each) {
        return std::pair(each.place.layer, each.place.head);
    });
    std::string text = series.request.plan.controls.has_b() ? (run == 0 ? "A: " : "B: ") : "";
    for (std::size_t n = 0; n < named.size(); ++n)
        text += fmt::format("{}{} {} {} ({})", n == 0 ? "" : ", ", head_name(named[n].place),
                            n == 0 ? "looks at" : "at", looked_at(named[n].label.name),
                            cell_number(named[n].weight, 2));
    return text + ".";
}

/// The patterns that the heads of each run learned, once training is over. For a language the answers matter more.
std::vector<std::string> heads_points(const AppState& state) {
    const LearnLook& look = learn_look(state);
    std::vector<std::string> texts;
    if (!look.series || is_recorded(state) || shown_learn_step(state) == 0 || !is_at_end(state) ||
        train::info(planned(state).a.task).takes_language)
        return texts;
    if (std::string text = heads_text(*look.series, 0); !text.empty())
        texts.push_back(std::move(text));
    return texts;
}

/// Whether the first of them is the headline: it is of A.
bool is_headline(const std::vector<std::string>& heads) {
    return !heads.empty() && !heads.front().starts_with("B: ");
}

}  // namespace

std::string learn_point(const AppState& state) {
    if (const auto heads = heads_points(state); is_headline(heads)) return heads.front();
    const std::string first = first_point(state);
    return first.empty() ? right_point(state) : first;
}

std::vector<std::string> learn_notes(const AppState& state) {
    const LearnLook& look = learn_look(state);
    const LearnControls& controls = planned(state);
    const train::TaskInfo& task = train::info(controls.a.task);
    std::vector<std::string> notes;
    const Index step = shown_learn_step(state);
    if (look.series && step > 0) {
        const auto endings = endings_at(*look.series, step);
        const auto heads = heads_points(state);
        const bool leads = is_headline(heads);
        if (leads || !first_point(state).empty()) notes.push_back(right_point(state));
        if (leads) notes.push_back(first_point(state));
        for (std::size_t n = leads ? 1 : 0; n < heads.size(); ++n) notes.push_back(heads[n]);
        notes.push_back(reading_text(state));
        notes.push_back(held_out_text(*look.series, step));
        notes.push_back(saturation_text(*look.series, endings));
        notes.push_back(longer_text(*look.series, step, endings));
        notes.push_back(agreement_text(*look.series, step));
        notes.push_back(spread_description(*look.series));
        for (std::size_t run = 0; run < controls.count(); ++run)
            notes.push_back(switch_text(look.series->request.plan, run));
    } else {
        notes.push_back(fmt::format("{} {}", sentence(std::string(task.layout)),
                                    sentence(std::string(task.solved))));
        if (look.series) notes.push_back(deviation_text(*look.series));
    }
    std::erase(notes, std::string());
    return notes;
}

}  // namespace attn::view

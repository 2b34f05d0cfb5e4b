// Learn: what two runs came to.

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/workspaces/learn/state.h"
#include "app/workspaces/learn/text.h"
#include "app/workspaces/learn/view.h"
#include "core/head_measures.h"
#include "core/train/language.h"
#include "core/train/own_data.h"
#include "core/train/task_table.h"
#include "core/train/trainer.h"
#include "tests/view/claims/claims.h"

namespace attn::view {
namespace {

const LearnSeries& series(const AppState& state) { return *learn_look(state).series; }
const LearnPlan& plan(const AppState& state) { return series(state).request.plan; }
/// Steps of the plan; of a recorded run, which has none, its own.
Index until_of(const AppState& state) {
    const auto& planned = learn_look(state).plan;
    return planned ? planned->until : plan(state).until;
}

/// Means of the last 50 steps before `step`, of fewer where something was switched since.
struct Means {
    Index steps = 0;
    double loss = 0.0, right = 0.0, saturated = 0.0;
};
std::array<Means, 2> means_of(const AppState& state) {
    const Index step = shown_learn_step(state);
    Index count = std::min<Index>(50, step);
    for (const auto& list : plan(state).switches)
        for (const train::Switch& each : list)
            if (each.step < step) count = std::min(count, step - each.step);
    std::array<Means, 2> means;
    for (std::size_t run = 0; run < 2; ++run) {
        const auto& records = series(state).sides[run].records;
        for (Index n = step - count; n < step && n < std::ssize(records); ++n) {
            const train::Record& record = *records[n];
            means[run].loss += record.loss, means[run].right += record.accuracy;
            means[run].saturated += record.saturated, ++means[run].steps;
        }
        const auto of = static_cast<double>(means[run].steps);
        means[run].loss /= of, means[run].right /= of, means[run].saturated /= of;
    }
    return means;
}

bool tells_right(std::string_view stated, const Means& is) {  // "99.8 % right, loss 0.01"
    const auto parts = parts_of("{} right, {}", stated);
    if (!parts || !shows((*parts)[0], is.right)) return false;
    if ((*parts)[1] == "loss not finite") return !std::isfinite(is.loss);
    const double loss = number_of(split((*parts)[1], "loss ").back());
    return std::isfinite(is.loss) && std::abs(loss - is.loss) <= 0.006 * is.loss + 1e-4;
}
bool tells_both(const Match& match, std::string stated, bool ended) {
    const auto [a, b] = means_of(match.state);
    const std::string first = learn_name(plan(match.state), 0) + " ",
                      second = learn_name(plan(match.state), 1) + " ";
    if (!std::isfinite(a.loss) || !std::isfinite(b.loss)) {
        const auto parts = parts_of(first + "{}; " + second + "{}", stated);
        return parts && tells_right((*parts)[0], a) && tells_right((*parts)[1], b);
    }
    const bool alike = ended && std::abs(a.right - b.right) < 0.02 &&
                       std::abs(a.loss - b.loss) <= 0.05 * std::max(a.loss, b.loss);
    const std::string_view none = "no clear difference: ";
    if (stated.starts_with(none) != alike) return false;
    if (alike) stated = stated.substr(none.size());
    const auto parts = parts_of(first + "{} right, " + second + "{}", stated);
    return parts && shows((*parts)[0], a.right) && shows((*parts)[1], b.right);
}
/// "After 400 steps: …" stands when all runs are done, "Step 3 of 400: …" until then.
bool check_point(const Match& match) {
    const bool ended = match.text.starts_with("After ");
    const Index step = shown_learn_step(match.state), until = until_of(match.state);
    bool done = step == until;
    for (std::size_t run = 0; run < plan(match.state).controls.count(); ++run)
        done = done && std::ssize(series(match.state).sides[run].records) == until;
    if (match.count(0) != step || (ended && !done)) return false;
    const auto means = means_of(match.state);
    std::string right = match.part[2];
    const std::string of = fmt::format(", means of {} steps", means[0].steps);
    if (means[0].steps > 1) {
        if (!right.ends_with(of)) return false;
        right.resize(right.size() - of.size());
    }
    if (plan(match.state).controls.has_b()) return tells_both(match, right, ended);
    return tells_right(right, means[0]);
}
/// Where both runs end alike: the first steps whose last 50 are 90 % right, before which no 50 steps are.
bool check_first(const Match& match) {
    const auto means = means_of(match.state);
    if (match.part[0] != "90 %" || match.count(5) != 50) return false;
    if (!shows(percent_text(means[0].right), means[1].right)) return false;
    const auto right = [&](std::size_t run, Index last) {
        double sum = 0.0;
        const auto& records = series(match.state).sides[run].records;
        for (Index n = last - 50; n < last; ++n)
            sum += records[static_cast<std::size_t>(n)]->accuracy;
        return sum / 50.0;
    };
    for (const std::size_t run : {0, 1}) {
        const Index step = match.count(1 + 2 * run);
        if (match.part[2 + 2 * run] != learn_name(plan(match.state), run)) return false;
        if (step < 50 || right(run, step) < 0.9 - 1e-9) return false;
        for (Index before = 50; before < step; ++before)
            if (right(run, before) >= 0.9 + 1e-9) return false;
    }
    return true;
}
bool check_one_seed(const Match& match) {
    const LearnControls& controls = planned(match.state);
    return controls.has_b() && (match.text.find("from one seed") != match.text.npos) ==
                                   (controls.a.seed == controls.b.seed);
}
/// "with scaling 3.0 % at step 0, 40.0 % at this step; …".
bool check_saturated_rows(const Match& match) {
    const auto means = means_of(match.state);
    const LearnControls& controls = plan(match.state).controls;
    const auto runs = split(match.part[0], "; ");
    if (runs.size() != controls.count()) return false;
    for (std::size_t run = 0; run < runs.size(); ++run) {
        const std::string name =
            controls.has_b() ? learn_name(plan(match.state), run) + " " : std::string();
        const auto parts = parts_of(name + "{} at step 0, {} at this step", runs[run]);
        if (!parts || !shows((*parts)[0], series(match.state).sides[run].records[0]->saturated) ||
            !shows((*parts)[1], means[run].saturated))
            return false;
    }
    return true;
}
bool check_means(const Match& match) { return match.count(0) == means_of(match.state)[0].steps; }

// ---- gradients

/// Of W_Q of all layers, at the step that is shown.
double w_q_norm(const AppState& state, std::size_t run) {
    const LearnSide& side = series(state).sides[run];
    const auto n = static_cast<std::size_t>(shown_learn_step(state) - 1);
    double squares = 0.0;
    for (std::size_t m = 0; m < side.matrices.size(); ++m)
        if (side.matrices[m].name.ends_with(".w_q"))
            squares += std::pow(double{side.records[n]->gradient_norms[m]}, 2);
    return std::sqrt(squares);
}
bool three_digits(std::string_view stated, double value) {
    return number_of(stated) == value || std::abs(number_of(stated) - value) <= 0.006 * value;
}
std::size_t scaled_run(const AppState& state) { return plan(state).controls.a.scaling ? 0 : 1; }
bool check_larger(const Match& match) {
    const std::size_t on = scaled_run(match.state), off = 1 - on;
    const auto means = means_of(match.state);
    const double with = w_q_norm(match.state, on), without = w_q_norm(match.state, off);
    return without > with && means[off].saturated > means[on].saturated &&
           three_digits(match.part[0], without) && three_digits(match.part[1], with);
}
bool check_scaling_factor(const Match& match) {
    return three_digits(match.part[0],
                        1.0 / std::sqrt(static_cast<double>(plan(match.state).controls.a.d_k)));
}
/// ‖m̂‖ / √Σ v̂, of AdamW's means of gradients and of their squares.
double agreement(const AppState& state, std::size_t run, std::string_view name) {
    const LearnSide& side = series(state).sides[run];
    const train::Spec& spec = plan(state).controls.of(run);
    const Index step = shown_learn_step(state);
    const train::State* moment = nullptr;
    for (const train::Moment& each : side.moments)
        if (each->step <= step) moment = each.get();
    double first = 0.0, second = 0.0;
    for (const train::Matrix& each : side.matrices)
        for (Index n = 0; each.name.ends_with(name) && n < each.rows * each.columns; ++n) {
            const auto at = each.offset + static_cast<std::size_t>(n);
            first += std::pow(double{moment->first[at]}, 2), second += double{moment->second[at]};
        }
    const auto t = static_cast<double>(moment->step);
    return std::sqrt(first) / (1.0 - std::pow(spec.beta1, t)) /
           std::sqrt(second / (1.0 - std::pow(spec.beta2, t)));
}
bool check_agreement(const Match& match) {
    const std::size_t on = scaled_run(match.state);
    const auto close = [](std::string_view stated, double value) {
        return std::abs(number_of(stated) - value) <= 0.06 * value;
    };
    return close(match.part[1], agreement(match.state, 1 - on, ".w_q")) &&
           close(match.part[2], agreement(match.state, on, ".w_q")) &&
           close(match.part[3], agreement(match.state, 1 - on, ".w_v"));
}

// ---- switches, seeds, heads

bool check_progress(const Match& match) {  // "step 3 of 12, 210 steps/s, seed 2 of 3"
    Index done = 0;
    if (const auto& all = learn_look(match.state).series) {
        done = std::ssize(all->sides[0].records);
        if (all->request.plan.controls.has_b())
            done = std::min(done, std::ssize(all->sides[1].records));
    }
    const auto seed = parts_of("{}, seed {} of {}", match.part[1]);
    const auto is = [](std::string_view stated, Index count) {
        return number_of(stated) == static_cast<double>(count);
    };
    return match.count(0) == done && is(split(match.part[1], ", ")[0], until_of(match.state)) &&
           (!seed || (is((*seed)[1], std::ssize(series(match.state).seeds) + 1) &&
                      is((*seed)[2], plan(match.state).seeds)));
}

bool check_recorded(const Match& match) {
    return match.count(0) == shown_learn_step(match.state) &&
           match.count(1) == until_of(match.state);
}

bool check_switched(const Match& match) {
    const std::size_t run = match.part[0] == "A" ? 0 : 1;
    const auto& list = plan(match.state).switches[run];
    const Index heads = plan(match.state).controls.of(run).heads;
    const auto stated = split(match.part[1], ", ");
    if (stated.size() != list.size()) return false;
    for (std::size_t n = 0; n < list.size(); ++n) {
        const auto parts = parts_of("{} from step {}", stated[n]);
        const std::string what = list[n].head < 0
                                     ? std::string(list[n].on ? "with scaling" : "without scaling")
                                     : "L" + std::to_string(list[n].head / heads) + " H" +
                                           std::to_string(list[n].head % heads) +
                                           (list[n].on ? " on" : " off");
        if (!parts || (*parts)[0] != what ||
            number_of((*parts)[1]) != static_cast<double>(list[n].step))
            return false;
    }
    return true;
}
bool check_seeds(const Match& match) {  // "with scaling 99.0 % right (median; 90.0 % to 99.8 %); …"
    const LearnControls& controls = plan(match.state).controls;
    const auto& seeds = series(match.state).seeds;
    if (match.count(0) != std::ssize(seeds)) return false;
    std::string rest = match.part[1] + "; ";
    for (std::size_t run = 0; run < controls.count(); ++run) {
        std::vector<double> right;
        for (const LearnSeed& each : seeds) right.push_back(each.endings[run].accuracy);
        const std::string name =
            controls.has_b() ? learn_name(plan(match.state), run) + " " : std::string();
        const auto parts = parts_of(name + "{} right (median; {} to {}); {}", rest + "…");
        if (!parts || !shows((*parts)[0], median(right)) ||
            !shows((*parts)[1], std::ranges::min(right)) ||
            !shows((*parts)[2], std::ranges::max(right)))
            return false;
        rest = (*parts)[3].substr(0, (*parts)[3].size() - std::string_view("…").size());
    }
    return true;
}
bool check_no_head(const Match& match) {
    const train::Spec& spec = plan(match.state).controls.of(match.part[0] == "A" ? 0 : 1);
    return match.count(1) >= spec.layers || match.count(2) >= spec.heads;
}
/// Of the row that is looked at, in one of the runs.
bool check_answer(const Match& match) {
    const LearnLook& look = learn_look(match.state);
    const bool recorded = look.recorded && !look.plan;  // of one word
    const auto at = static_cast<std::size_t>(recorded ? shown_word(match.state) : look.cell.row);
    for (const LearnSide& side : series(match.state).sides) {
        if (!side.probe || at >= side.probe->answers.size()) continue;
        const train::Probe& probe = *side.probe;
        const Index target = probe.example.targets[at];
        const auto word = [&](Index token) {
            return shown_token(series(match.state).vocabulary[token]);
        };
        if (word(probe.answers[at]) != match.part[1]) continue;
        if (match.part.size() < 4) return target == train::kNoTarget;
        if (target != train::kNoTarget && word(target) == match.part[2] &&
            (shows(match.part[3], probe.shares[at]) ||
             three_digits(match.part[3], probe.shares[at])))
            return true;
    }
    return false;
}

/// "with scaling “animal” (99.0 %); …" at the word shown.
bool check_reading(const Match& match) {
    const LearnControls& controls = plan(match.state).controls;
    const auto word = static_cast<std::size_t>(shown_word(match.state));
    const auto shown = [&](Index token) {
        return shown_token(series(match.state).vocabulary[token]);
    };
    if (match.part[0] != shown(series(match.state).sides[0].probe->example.tokens[word]))
        return false;
    std::string rest = match.part[1] + "; ";
    for (std::size_t run = 0; run < controls.count(); ++run) {
        const train::Probe& probe = *series(match.state).sides[run].probe;
        const std::string name =
            controls.has_b() ? learn_name(plan(match.state), run) + " " : std::string();
        const auto parts =
            parts_of(name + "“" + shown(probe.answers[word]) + "” ({}); {}", rest + "…");
        if (!parts || !shows((*parts)[0], probe.answer_shares[word])) return false;
        rest = (*parts)[1].substr(0, (*parts)[1].size() - std::string_view("…").size());
    }
    return rest.empty();
}
/// "with scaling 98.0 % right; …" of the last measurement at or before the step shown.
bool check_held_out(const Match& match) {
    const LearnControls& controls = plan(match.state).controls;
    std::string rest = match.part[2] + "; ";
    for (std::size_t run = 0; run < controls.count(); ++run) {
        const LearnHeldOut* last = nullptr;
        for (const LearnHeldOut& each : series(match.state).sides[run].held_out)
            if (each.step <= shown_learn_step(match.state)) last = &each;
        const std::string name =
            controls.has_b() ? learn_name(plan(match.state), run) + " " : std::string();
        const auto parts = parts_of(name + "{} right; {}", rest + "…");
        if (!last || !parts || match.count(0) != last->step || !shows((*parts)[0], last->right))
            return false;
        rest = (*parts)[1].substr(0, (*parts)[1].size() - std::string_view("…").size());
    }
    return rest.empty();
}
bool check_word_shown(const Match& match) {
    const train::Probe& probe = *series(match.state).sides[0].probe;
    return match.count(0) == probe.step &&
           match.part[1] ==
               shown_token(
                   series(match.state).vocabulary[probe.example.tokens[shown_word(match.state)]]);
}
/// "“dog”, probability 97.1 %".
bool check_own_answer(const Match& match) {
    const auto& answer = series(match.state).sides[0].answer;
    double product = 1.0;
    std::string text;
    for (const train::OwnPrediction& each : answer->predictions) {
        product *= each.probability;
        text += (text.empty() ? "" : " ") + shown_token(series(match.state).vocabulary[each.token]);
    }
    return match.part[0] == text && shows(match.part[1], product);
}
bool check_unknown(const Match& match) {
    for (const std::string& word : split(match.part[0], ", "))
        if (plan(match.state).controls.a.language->token_of(word)) return false;
    return true;
}

/// "A: L0 H0 looks at the previous token (0.90), L1 H1 at the token after an earlier copy (0.97)".
bool check_heads(const Match& match) {
    std::string text(match.text);
    const std::size_t run = text.starts_with("B: ") ? 1 : 0;
    if (plan(match.state).controls.has_b() != (text[1] == ':')) return false;
    if (text[1] == ':') text = text.substr(3);
    const train::Probe& probe = *series(match.state).sides[run].probe;
    const Index n = std::ssize(probe.example.tokens);
    const bool causal = train::info(plan(match.state).controls.of(run).task).causal;
    std::vector<std::uint8_t> allowed;
    for (Index i = 0; i < n * n; ++i) allowed.push_back(!causal || i % n <= i / n);
    using enum HeadMeasure;
    constexpr std::pair<std::string_view, HeadMeasure> kPlaces[] = {
        {"the previous token", previous},
        {"its own token", diagonal},
        {"the next token", next},
        {"earlier copies of the token", duplicate},
        {"the token after an earlier copy", induction},
        {"the first token", sink}};
    for (const std::string& each : split(text, ", ")) {
        auto parts = parts_of("L{} H{} looks at {} ({})", each);
        if (!parts) parts = parts_of("L{} H{} at {} ({})", each);
        if (!parts) return false;
        const auto place = std::ranges::find(
            kPlaces, (*parts)[2], [](const auto& row) { return std::string(row.first); });
        if (place == std::end(kPlaces)) return false;
        const HeadRows rows{probe.weights[count_of((*parts)[0])].matrix(0, count_of((*parts)[1])),
                            allowed, probe.example.tokens};
        const auto weight = measure_head(rows)[place->second];
        if (!weight || !shows((*parts)[3], *weight)) return false;
    }
    return true;
}

constexpr Claim kClaims[] = {
    {"{}L{} H{} looks at {}", check_heads},
    {"At “{}” the models answer: {}", check_reading},
    {"At “{}” the model answers {}", check_reading},
    {"Held-out texts after {} step{}: {}", check_held_out},
    {"Step {}, weights from “{}” in every head", check_word_shown},
    {"recorded run, step {} of {}", check_recorded},
    {"“{}”, probability {}", check_own_answer},
    {"Not in your lines: {}", check_unknown},
    {"{}: two models from one seed, {} and {}", check_one_seed},
    {"{}: two models, {} and {}", check_one_seed},
    {"After {} step{}: {}", check_point},
    {"{} right is first reached at step {} {} and at step {} {} (means of {} steps)", check_first},
    {"Step {} of {}: {}", check_point},
    {"Rows with a weight above 0.99, among rows of at least two keys: {}", check_saturated_rows},
    {"Values at this step are means over the last {} steps", check_means},
    {"‖∂L/∂W_Q‖ is larger without scaling, {} against {}, although more rows are saturated",
     check_larger},
    {"This gradient is a sum over rows, and scaling gives each row's gradient the factor 1/√d_k "
     "= {}",
     check_scaling_factor},
    {"Agreement of batches on a gradient (1: identical, {}: noise): W_Q {} without scaling, {} "
     "with "
     "scaling; W_V {} without scaling",
     check_agreement},
    {"step {} of {}", check_progress},
    {"Switched in {}: {}", check_switched},
    {"Over {} seeds: {}", check_seeds},
    {"For the spread, {} of {} seeds are trained",
     [](const Match& match) {
         return match.count(0) == std::ssize(series(match.state).seeds) &&
                match.count(1) == plan(match.state).seeds;
     }},
    {"{} has no L{} H{}", check_no_head},
    {"{}answer “{}”; the right answer “{}” has probability {}", check_answer},
    {"{}answer “{}”", check_answer},
};

}  // namespace

std::span<const Claim> learn_claims() { return kClaims; }

}  // namespace attn::view

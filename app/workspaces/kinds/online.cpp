// m running maximum, ℓ running sum, O running output; ′ after the chunk. All in float64.

#include "app/workspaces/kinds/online.h"

#include <cmath>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/workspaces/kinds/compute.h"
#include "app/workspaces/kinds/state.h"
#include "app/workspaces/kinds/text.h"
#include "app/workspaces/kinds/view.h"
#include "core/note.h"
#include "core/online_softmax.h"
#include "core/rounding.h"
#include "core/stages.h"
#include "core/tex.h"

namespace attn::view {
namespace {

constexpr double kInf = HUGE_VAL;

/// The row that is gone through, and how far.
struct Passing {
    const AppState& state;
    const KindsResult& result;
    const KindComputed& side;
    Index row;
    OnlineSoftmax online;
    Index taken;

    const OnlineState& before() const {
        return taken <= 1 ? online.start : online.steps[taken - 2].after;
    }
    const OnlineStep* step() const { return taken == 0 ? nullptr : &online.steps[taken - 1]; }
    const OnlineState& now() const { return taken == 0 ? online.start : step()->after; }
    Index chunks() const { return std::ssize(online.steps); }
    /// Keys that have been gone through.
    Index seen() const { return taken == 0 ? 0 : step()->last; }
};

OnlineSoftmax online_of(const KindsResult& result, const KindComputed& side, Index row,
                        Index chunk) {
    const auto masked = side.stage(Stage::masked).row(row);
    const auto keys = static_cast<std::ptrdiff_t>(masked.size());
    const std::span<const std::uint8_t> allowed(side.allowed.data() + row * keys, masked.size());
    return online_softmax(
        {masked, allowed, result.call.v.matrix(0, 0), side.kind.sink, side.spec.empty_rows}, chunk);
}

// ---- keys

OnlineKey key_of(const Passing& at, Index j, std::string label) {
    OnlineKey key;
    key.label = std::move(label);
    if (j >= at.seen()) {
        key.tooltip = key.label + ": not processed yet";
        return key;
    }
    key.when = j >= at.step()->first ? OnlineKey::When::now : OnlineKey::When::seen;
    key.masked = !at.side.may(at.row, j);
    if (key.masked) {
        key.score_text = "masked";
        key.term_text = '0';
        key.tooltip = key.label + ": masked, so it adds nothing";
        return key;
    }
    key.score = at.side.stage(Stage::masked)(at.row, j);
    key.score_text = cell_number(key.score, 2);
    const double m = at.now().largest;
    key.term = m == -kInf ? 0.0 : std::exp(key.score - m);
    key.term_text = cell_number(key.term, 2);
    key.tooltip =
        fmt::format("{}: M = {}, exp(M − m) = {}", key.label, number(key.score), number(key.term));
    return key;
}

// ---- this step's numbers, typeset

/// "−1.23·10⁻⁴" as TeX.
std::string tex_number(double value) {
    const std::string text = number(value);
    if (text == "NaN") return R"(\mathrm{NaN})";
    if (text == "∞") return R"(\infty)";
    if (text == "−∞") return R"(-\infty)";
    if (text.find("·10") != text.npos) return tex::text_of(text);
    return text.starts_with("−") ? fmt::format("-{}", text.substr(std::string_view("−").size()))
                                 : text;
}

/// A negative number that is subtracted stands in parentheses.
std::string tex_factor(double value) {
    const std::string text = tex_number(value);
    return text.starts_with("-") ? "(" + text + ")" : text;
}

std::string alpha_tex(const OnlineStep& step, const OnlineState& before) {
    if (step.after.largest == -kInf) return R"(\alpha = 1 \text{: no allowed key so far})";
    return fmt::format(R"(\alpha = \exp(m - m') = \exp({} - {}) = {})", tex_number(before.largest),
                       tex_factor(step.after.largest), tex_number(step.rescale));
}

std::vector<std::string> tex_of(const Passing& at) {
    if (at.taken == 0)
        return {R"(m' = \max(m, \; \max_j M_j))", R"(\alpha = \exp(m - m'))",
                R"(\ell' = \alpha \, \ell + \sum_j \exp(M_j - m'))",
                R"(O' = \alpha \, O + \sum_j \exp(M_j - m') \, v_j)"};
    const OnlineStep& step = *at.step();
    const OnlineState& before = at.before();
    return {fmt::format(R"(m' = \max(m, \; \max_j M_j) = \max({}, \; {}) = {})",
                        tex_number(before.largest), tex_number(step.largest),
                        tex_number(step.after.largest)),
            alpha_tex(step, before),
            fmt::format(R"(\ell' = \alpha \, \ell + \sum_j \exp(M_j - m') = {} \cdot {} + {} = {})",
                        tex_number(step.rescale), tex_number(before.sum),
                        tex_number(step.added_sum), tex_number(step.after.sum)),
            R"(O' = \alpha \, O + \sum_j \exp(M_j - m') \, v_j)"};
}

// ---- ℓ and O

GridView state_grid(const Passing& at) {
    const OnlineState& now = at.now();
    if (at.taken == 0)
        return vector_grid(at.state, {{"at the start", now.output, now.sum}}, "ℓ and O");
    const OnlineStep& step = *at.step();
    const OnlineState& before = at.before();
    return vector_grid(at.state,
                       {{"before", before.output, before.sum},
                        {"× α", step.rescaled_output, step.rescaled_sum},
                        {"+ chunk", step.added_output, step.added_sum},
                        {"after", now.output, now.sum}},
                       "ℓ and O");
}

double largest_difference(const std::vector<double>& x, const std::vector<double>& y) {
    double largest = 0.0;
    for (std::size_t c = 0; c < x.size(); ++c) {
        if (x[c] == y[c] || (std::isnan(x[c]) && std::isnan(y[c]))) continue;
        const double by = std::abs(x[c] - y[c]);
        if (std::isnan(by)) return by;
        largest = std::max(largest, by);
    }
    return largest;
}

void add_result(const Passing& at, OnlineView& view) {
    const auto row = at.side.stage(Stage::context).row(at.row);
    const std::vector<double> ordinary(row.begin(), row.end());
    std::vector<double> differences;
    for (std::size_t c = 0; c < ordinary.size(); ++c)
        differences.push_back(at.online.result[c] - ordinary[c]);
    view.result = vector_grid(
        at.state,
        {{"O ÷ ℓ", at.online.result}, {"softmax · V", ordinary}, {"difference", differences}},
        "the finished row");
    const double most = largest_difference(at.online.result, ordinary);
    const bool empty = at.side.allowed_of_row[at.row] == 0;
    if (empty && !at.side.kind.sink)
        view.result_text =
            "The mask leaves no key for this row: ℓ = 0, and the row follows the rule for empty "
            "rows.";
    else if (std::isnan(most))
        view.result_text = "A number is NaN on one side only.";
    else if (std::ranges::any_of(ordinary, [](double each) { return std::isnan(each); }))
        view.result_text = "Both methods give NaN.";
    else
        view.result_text = most == 0.0 ? "O ÷ ℓ equals the row of ordinary softmax exactly."
                                       : fmt::format(
                                             "O ÷ ℓ equals the row of ordinary softmax up to "
                                             "rounding: at most {}, in float64.",
                                             number(most));
}

// ---- words

std::string keys_text(const Passing& at, const OnlineStep& step) {
    const std::string first = axis_label(at.state, Axis::key, step.first);
    if (step.last - step.first == 1) return "Key " + first;
    const std::string last = axis_label(at.state, Axis::key, step.last - 1);
    return "Keys " + first + (step.last - step.first == 2 ? " and " : " … ") + last;
}

/// What became of m, ℓ and O.
std::string change_text(const OnlineStep& step, const OnlineState& before) {
    if (step.seen == 0) return "masked, so m, ℓ and O stay the same.";
    const double m = step.after.largest;
    if (!std::isfinite(m) || !std::isfinite(step.after.sum))
        return fmt::format("m is {} and ℓ {}.", number(m), number(step.after.sum));
    if (before.largest == -kInf)
        return fmt::format("the first scores set m = {}, and nothing is rescaled.", number(m));
    if (m == before.largest)
        return fmt::format("no score exceeds m = {}, so α = 1 and the chunk is added.", number(m));
    return fmt::format("m grows from {} to {}, so ℓ and O are multiplied by α = {}.",
                       number(before.largest), number(m), number(step.rescale));
}

std::string sentence_of(const Passing& at) {
    if (at.taken == 0)
        return at.side.kind.sink ? "The sink comes first: m is its logit, ℓ = 1, O = 0."
                                 : "Before the first chunk: m = −∞, ℓ = 0, O = 0.";
    return fmt::format("{}: {}", keys_text(at, *at.step()), change_text(*at.step(), at.before()));
}

/// Why there is no row of scores to go through.
std::string fault_of(const AppState& state) {
    const auto& result = kinds_look(state).result;
    const KindsSide which = kinds_controls(state).online;
    if (!result || !result->fault.empty() || !result->side(which).fault.empty())
        return kinds_sentence(state);
    return fmt::format("{} has no row of scores: it is {}.", which == KindsSide::a ? "A" : "B",
                       kind_text(result->side(which).kind));
}

std::optional<Passing> passing_of(const AppState& state) {
    const auto& result = kinds_look(state).result;
    if (!result || !is_current(*result, state)) return std::nullopt;
    const KindComputed& side = result->side(kinds_controls(state).online);
    if (!result->fault.empty() || !side.fault.empty() || !side.has_scores()) return std::nullopt;
    const Index row = shown_pair(state).row;
    OnlineSoftmax online = online_of(*result, side, row, kinds_controls(state).chunk);
    const Index taken = std::clamp<Index>(kinds_look(state).taken, 0, std::ssize(online.steps));
    return Passing{state, *result, side, row, std::move(online), taken};
}

}  // namespace

Index online_chunks(const AppState& state) {
    if (!kinds_missing_data(state).empty()) return 0;
    const Index chunk = std::max<Index>(kinds_controls(state).chunk, 1);
    return divide_up(state.document().size.tk, chunk);
}

std::string online_text(const AppState& state) {
    const auto at = passing_of(state);
    return at ? sentence_of(*at) : "Nothing to step through.";
}

OnlineView build_online_view(const AppState& state) {
    OnlineView view;
    view.side = kinds_controls(state).online;
    view.chunk_keys = kinds_controls(state).chunk;
    view.playing = kinds_look(state).playing;
    const auto at = passing_of(state);
    if (!at) {
        view.fault = fault_of(state);
        return view;
    }
    view.taken = at->taken;
    view.chunks = at->chunks();
    view.heading = fmt::format("row {} of {}: {}", axis_label(state, Axis::query, at->row),
                               view.side == KindsSide::a ? "A" : "B", kind_text(at->side.kind));
    view.sentence = sentence_of(*at);
    view.step = at->taken == 0 ? fmt::format("before chunk 0 (0–{})", at->chunks() - 1)
                               : fmt::format("chunk {} (0–{})", at->taken - 1, at->chunks() - 1);
    const auto labels = axis_labels(state, Axis::key, at->result.call.k.shape().t);
    for (std::size_t j = 0; j < labels.size(); ++j)
        view.keys.push_back(key_of(*at, static_cast<Index>(j), labels[j]));
    const double m = at->now().largest;
    if (std::isfinite(m)) view.largest = m;
    view.largest_text = fmt::format("m = {}", number(m));
    view.tex = tex_of(*at);
    view.state = state_grid(*at);
    if (at->taken == at->chunks()) add_result(*at, view);
    view.memory = fmt::format(
        "Memory for each row: m, ℓ and O, so d_v + 2 = {} for any n. Stored weights would need n = "
        "{}.",
        counted(at->result.call.v.shape().d + 2, "number"), at->result.call.k.shape().t);
    return view;
}

}  // namespace attn::view

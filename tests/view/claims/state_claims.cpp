// What a document, a mask, a check or a comparison is: words that stand in several workspaces.

#include <tuple>

#include "app/common/document/document.h"
#include "app/common/sheet.h"
#include "app/workspaces/compare/view.h"
#include "app/workspaces/cost/state.h"
#include "app/workspaces/heads/state.h"
#include "app/workspaces/kinds/online.h"
#include "app/workspaces/masks/state.h"
#include "app/workspaces/numerics/row.h"
#include "app/workspaces/numerics/state.h"
#include "app/workspaces/tensors/measure.h"
#include "app/workspaces/tensors/state.h"
#include "core/io/array_stats.h"
#include "core/masks.h"
#include "core/numerics.h"
#include "core/train/task_table.h"
#include "tests/view/claims/claims.h"

namespace attn::view {
namespace {

// ---- the document

const Inputs& inputs(const AppState& state) { return *state.document().inputs; }
bool check_no_w_o(const Match& match) {
    const bool one = match.text.find("Y = context") != match.text.npos;
    return inputs(match.state).params[Param::w_o].empty() &&
           one == (match.state.document().size.heads == 1);
}
bool check_given_rows(
    const Match& match) {  // "… X given in 1 of 4 rows, else from the words alone"
    return match.count(1) > 0 && match.count(1) < match.count(2) &&
           match.count(2) * inputs(match.state).x.shape().d == inputs(match.state).x.count();
}
bool check_projects(const Match& match) { return inputs(match.state).projects(); }
bool check_given_here(const Match& match) {  // of the sizes of Cost
    const CostSizes& sizes = cost_controls(match.state).sizes;
    const bool output = cost_look(match.state).item == CostItem::output;
    return output == (match.text.find("W_O") != match.text.npos) &&
           sizes[output ? CostSize::d_out : CostSize::d_model] == 0 &&
           (output || cost_look(match.state).item <= CostItem::v);
}
bool check_unscaled(const Match& match) {  // "… are divided only by the temperature 0.5"
    const AttentionSpec& spec = match.state.document().spec;
    return spec.scale == ScaleKind::none && spec.temperature != 1.0 &&
           shows(match.part[0], spec.temperature);
}
bool check_scaling_off(const Match& match) {
    const auto d_k = static_cast<double>(match.state.document().size.d_k);
    return match.state.document().spec.scale == ScaleKind::none && match.number(0) == d_k &&
           std::abs(match.number(1) - std::sqrt(d_k)) < 0.006 * std::sqrt(d_k);
}
bool check_factor(const Match& match) {  // "10²"
    return number_of("1·" + match.part[0]) == std::pow(10.0, masks_look(match.state).gain);
}
bool check_rank(
    const Match&
        match) {  // "S depends only on the product W_Q W_Kᵀ …: one 8 × 8 matrix of rank at most 4 …"
    const auto size = split(match.part[1], " × ");
    const Tensor &q = inputs(match.state).params[Param::w_q],
                 &k = inputs(match.state).params[Param::w_k];
    const auto rows = static_cast<double>(q.shape().t), columns = static_cast<double>(k.shape().t);
    const auto d_k = static_cast<double>(match.state.document().size.d_k);
    return number_of(size[0]) == rows && number_of(size[1]) == columns &&
           match.number(2) == std::min({d_k, rows, columns}) && match.number(3) == rows * columns &&
           match.number(4) == (rows + columns) * d_k;
}
bool check_other_tokens(const Match& match) {
    const Document& document = match.state.document();
    return !document.tokens_kv.empty() || document.size.tq != document.size.tk;
}
bool check_one_score(const Match& match) {
    return match.state.document().size.tq == 1 && match.state.document().size.tk == 1;
}
/// Of no row of weights could the guess be.
bool check_unit_row(const Match& match) {
    const Rows rows = rows_of(match.state, Stage::weights);
    for (Index i = 0; i < rows.rows; ++i) {
        double sum = 0.0;
        for (const float each : rows.row(i)) sum += each;
        if (std::abs(sum - 1.0) < 1e-3) return true;
    }
    return rows.rows == 0;
}

// ---- masks

bool check_blocks(const Match& match) {
    const Document& document = match.state.document();
    const Index length = document.spec.mask.block.value_or(2);
    return match.text.ends_with("only itself")
               ? length == 1
               : length >=
                     std::max(document.size.tq + std::max<Index>(document.size.query_offset, 0),
                              document.size.tk);
}
bool check_causal_mask(const Match& match) {
    const Dimensions& size = match.state.document().size;
    for (Index i = 0; i < size.tq; ++i)
        for (Index j = std::max<Index>(i + size.query_offset + 1, 0); j < size.tk; ++j)
            if (allows(match.state, i, j)) return false;
    return true;
}
bool check_masked_tokens(const Match& match) {  // some pair of tokens that are called so
    const Dimensions& size = match.state.document().size;
    for (const auto [i, j] : each_cell(size.tq, size.tk))
        if (axis_label(match.state, Axis::query, i) == match.part[0] &&
            axis_label(match.state, Axis::key, j) == match.part[1] && !allows(match.state, i, j))
            return true;
    return false;
}
Index query_of(const AppState& state) { return masks_look(state).pair.query; }
Index key_of_pair(const AppState& state) { return masks_look(state).pair.key; }
bool is_forbidden(const AppState& state) {
    return !allows(state, query_of(state), key_of_pair(state));
}
bool check_causal(const Match& match) {  // "j = 3 > i + 1 = 2", "j = 3 > i = 2"
    const bool shifted = match.part.size() > 2;
    const auto limit = match.number(shifted ? 2 : 1);
    const auto at = static_cast<double>(query_of(match.state)) + (shifted ? match.number(1) : 0.0);
    return is_forbidden(match.state) && match.count(0) == key_of_pair(match.state) && limit == at &&
           match.number(0) > limit;
}
bool check_block(const Match& match) {
    const bool allows = match.text.find("allows") != match.text.npos;
    const auto number = [&](std::size_t n) {
        return static_cast<Index>(number_of(split(match.part[n], ",")[0]));
    };
    const Index of = number(allows ? 1 : 2);
    const auto p =
        static_cast<double>(query_of(match.state) + match.state.document().size.query_offset);
    return number(0) == static_cast<Index>(std::floor(p / static_cast<double>(of))) &&
           number(allows ? 0 : 1) == key_of_pair(match.state) / of &&
           (allows || number(0) != number(1)) && (allows || is_forbidden(match.state));
}
bool check_window(const Match& match) {  // "|i − j| = 3 > 2, p = i + 1"
    const Index offset = match.state.document().size.query_offset;
    const Index apart = std::abs(query_of(match.state) + offset - key_of_pair(match.state));
    return is_forbidden(match.state) && match.count(1) == apart &&
           number_of(split(match.part[2], ",")[0]) < static_cast<double>(apart);
}
bool check_padded(const Match& match) {
    return is_forbidden(match.state) && match.count(0) == key_of_pair(match.state) &&
           match.count(0) >= match.count(1);
}
bool check_forbidden_pair(const Match& match) { return is_forbidden(match.state); }
bool check_global(const Match& match) {
    const Index globals = match.state.document().spec.mask.global_tokens;
    const Index p = query_of(match.state) + match.state.document().size.query_offset;
    return match.text.find("the query is") != match.text.npos ? p >= 0 && p < globals
                                                              : key_of_pair(match.state) < globals;
}
bool check_globals(const Match& match) {
    const Index globals = std::max<Index>(match.state.document().spec.mask.global_tokens, 1);
    return globals == (match.part.size() > 1 ? match.count(1) + 1 : 1);
}
bool check_no_key(const Match& match) {
    const Document& document = match.state.document();
    for (Index j = 0; j < document.size.tk; ++j)
        if (may_attend(document.spec.mask, document.size, match.state.batch, match.state.head,
                       query_of(match.state), j))
            return false;
    const bool nan = document.spec.empty_rows == EmptyRows::nan;
    return match.part[1] == (nan ? "NaN" : "0") &&
           (nan ? match.part[0] == "NaN" : match.number(0) == 0);
}

// ---- Kinds

bool check_online_nan(const Match& match) {
    const OnlineView view = build_online_view(match.state);
    if (!view.result) return false;
    bool both = false, one = false;
    for (Index c = 0; c < view.result->columns; ++c) {
        const bool a = std::isnan(view.result->at(0, c).value),
                   b = std::isnan(view.result->at(1, c).value);
        both = both || (a && b), one = one || a != b;
    }
    return match.text.ends_with("alone") ? one : both && !one;
}

// ---- Heads, Tensors

bool check_all_shown(const Match& match) {
    return heads_look(match.state).filter.label.empty() &&
           heads_look(match.state).filter.measure.empty();
}
bool check_no_pin(const Match& match) { return !heads_look(match.state).pinned[0]; }
bool check_no_name(const Match& match) {
    const TensorListing& listing = *tensors_look(match.state).listing;
    return std::ranges::none_of(listing.rows, [&](const TensorRow& row) {
        return row.name.find(match.part[0]) != std::string::npos;
    });
}
// ---- Numerics

bool breaks(SoftmaxAlgorithm algorithm, FloatFormat format, const AppState& state, Index gain) {
    return run_softmax(algorithm, format, shown_logits(state), static_cast<double>(gain))
               .outcome() != Outcome::finite;
}
constexpr std::array kFormats{FloatFormat::fp16, FloatFormat::bf16, FloatFormat::fp32,
                              FloatFormat::fp64};
/// "fp16 from gain 12, bf16 from gain 89": of one of the algorithms.
bool check_breaks(const Match& match) {
    const auto stated =
        match.part.empty() ? std::vector<std::string>() : split(match.part[0], ", ");
    for (std::size_t a = 0; a < kSoftmaxAlgorithmCount; ++a) {
        std::size_t matching = 0, broken = 0;
        for (const FloatFormat format : kFormats) {
            const auto algorithm = static_cast<SoftmaxAlgorithm>(a);
            broken += breaks(algorithm, format, match.state, kMostGain) ? 1 : 0;
            for (const std::string& each : stated) {
                const auto parts = parts_of("{} from gain {}", each);
                if (!parts || (*parts)[0] != info(format).name) continue;
                const auto gain = static_cast<Index>(number_of((*parts)[1]));
                matching += breaks(algorithm, format, match.state, gain) &&
                                    (gain == 1 || !breaks(algorithm, format, match.state, gain - 1))
                                ? 1
                                : 0;
            }
        }
        if (matching == stated.size() && broken >= stated.size() &&
            (!stated.empty() || broken == 0))
            return true;
    }
    return false;
}
/// "l: 12.0; 3 of 8 terms did not change l": of one of the runs.
bool check_absorbed(const Match& match) {
    const auto logits = shown_logits(match.state);
    for (std::size_t a = 0; a < kSoftmaxAlgorithmCount; ++a)
        for (const FloatFormat format : kFormats) {
            const auto run = run_softmax(static_cast<SoftmaxAlgorithm>(a), format, logits,
                                         static_cast<double>(numerics_controls(match.state).gain));
            const auto &e = *run.find(SoftmaxStep::exps), &l = *run.find(SoftmaxStep::sum);
            Index count = 0;
            for (std::size_t j = 1; j < e.size(); ++j)
                count += e[j] > 0.0 && l[j - 1] > 0.0 && l[j] == l[j - 1] ? 1 : 0;
            if (count == match.count(1) && std::ssize(e) == match.count(2)) return true;
        }
    return false;
}
bool check_worst(const Match& match) {  // "worst at key 3: off by 0.01": of one of the runs
    const auto logits = shown_logits(match.state);
    const auto gain = static_cast<double>(numerics_controls(match.state).gain);
    const auto exact = exact_softmax(logits, gain);
    for (std::size_t a = 0; a < kSoftmaxAlgorithmCount; ++a)
        for (const FloatFormat format : kFormats) {
            const auto run = run_softmax(static_cast<SoftmaxAlgorithm>(a), format, logits, gain);
            const auto key = static_cast<std::size_t>(match.count(0));
            long double most = 0.0L;
            for (std::size_t j = 0; j < logits.size(); ++j)
                most = std::max(most,
                                std::abs(run.weights()[j] - exact[j]) / ulp_at(format, exact[j]));
            const long double off = std::abs(run.weights()[key] - exact[key]);
            if (off / ulp_at(format, exact[key]) >= most * 0.999L &&
                std::abs(match.number(1) - static_cast<double>(off)) <=
                    0.06 * static_cast<double>(off))
                return true;
        }
    return false;
}
bool check_still(const Match& match) { return match.part[1] == split(match.part[3], " → ").back(); }

// ---- Compare

Rows sides_of(const AppState& state, bool first) {
    const CompareLook& look = compare_look(state);
    const AppState pinned = pinned_state(state, *look.shown_pin());
    return compared_stage(state, pinned).*(first ? &ComparedStage::a : &ComparedStage::b);
}
bool check_not_there(const Match& match) {
    return sides_of(match.state, match.part[0] == "A").rows == 0 ||
           sides_of(match.state, match.part[0] == "A").columns == 0;
}
bool check_other_size(const Match& match) {
    const Rows a = sides_of(match.state, true), b = sides_of(match.state, false);
    const auto is = [](std::string_view stated, const Rows& rows) {
        const auto size = split(stated, " × ");
        return number_of(size[0]) == static_cast<double>(rows.rows) &&
               number_of(size[1]) == static_cast<double>(rows.columns);
    };
    return (a.rows != b.rows || a.columns != b.columns) && is(match.part[1], a) &&
           is(match.part[2], b);
}
/// "3 of 12 numbers of W_Q": of a parameter; what is given besides is not counted again.
bool counts_numbers(const Inputs& a, const Inputs& b, const std::vector<std::string>& parts) {
    for (const ParamInfo& each : param_table()) {
        if (each.symbol != split(parts[2], ", and")[0]) continue;
        const auto x = a.params[each.param].values(), y = b.params[each.param].values();
        Index others = 0;
        for (std::size_t n = 0; n < x.size(); ++n) others += distance(x[n], y[n]) > 0.0 ? 1 : 0;
        return x.size() == y.size() && number_of(parts[0]) == static_cast<double>(others) &&
               number_of(parts[1]) == static_cast<double>(x.size());
    }
    return true;
}
/// Each "x a → b" is what x is in the baseline and now.
bool check_differs(const Match& match) {
    const CompareLook& look = compare_look(match.state);
    const ComparePin& pin = *look.shown_pin();
    const Document &a = *pin.document, &b = match.state.document();
    const auto size = [](Index n) { return static_cast<double>(n); };
    const std::tuple<std::string_view, double, double> numbers[] = {
        {"temperature", a.spec.temperature, b.spec.temperature},
        {"queries", size(a.size.tq), size(b.size.tq)},
        {"keys", size(a.size.tk), size(b.size.tk)},
        {"d_k", size(a.size.d_k), size(b.size.d_k)},
        {"heads", size(a.size.heads), size(b.size.heads)},
        {"global tokens", size(a.spec.mask.global_tokens), size(b.spec.mask.global_tokens)},
        {"head", size(pin.head), size(match.state.head)},
        {"sequence", size(pin.batch), size(match.state.batch)}};
    return std::ranges::all_of(split(match.part[1], ", "), [&](const std::string& each) {
        if (const auto parts = parts_of("{} of {} numbers of {}", each))
            return counts_numbers(*a.inputs, *b.inputs, *parts);
        for (const auto& [name, x, y] : numbers)
            if (const auto parts = parts_of(std::string(name) + " {} → {}", each))
                return x != y && shows((*parts)[0], x) && shows((*parts)[1], y);
        const auto sides = split(each, " → ");
        return sides.size() != 2 || sides[0] == sides[1] || !sides[0].ends_with(" " + sides[1]);
    });
}
constexpr Claim kClaims[] = {
    {"Output: Y = {}, there is no W_O", check_no_w_o},
    {"{}X given in {} of {} rows, {}", check_given_rows},
    {"Y = {}, there is no W_O", check_no_w_o},
    {"{} is computed from X here: change a word instead", check_projects},
    {"E = 0: Q, K and V are given, so nothing is computed", check_given_here},
    {"O = 0: there is no W_O, so nothing is computed", check_given_here},
    {"Scaling is off: the scores are divided only by the temperature {}", check_unscaled},
    {"Every score is multiplied by {} before the mask", check_factor},
    {"S depends only on the product W_Q W_Kᵀ of a head{}: a {} matrix of rank at most {} with {} "
     "numbers; W_Q and W_K together have {}",
     check_rank},
    {"{} is {} × {}: its rows and columns are different tokens, so symmetry is not defined",
     check_other_tokens},
    {"{} is one number, so it is symmetric", check_one_score},
    {"The guess sums to {}; a row of weights must sum to 1", check_unit_row},
    {"Scaling off: scores are no longer divided by √{} = {}", check_scaling_off},
    {"Causal mask on: no query sees a later key", check_causal_mask},
    {"pair: {} → {}  (masked)", check_masked_tokens},
    {"all tokens are in one block", check_blocks},
    {"every token sees only itself", check_blocks},
    {"causal forbids: j = {} > i + {} = {}", check_causal},
    {"causal forbids: j = {} > i = {}", check_causal},
    {"block allows: i and j are in block {} of {} tokens", check_block},
    {"block forbids: i is in block {}, j in block {}, of {} tokens each", check_block},
    {"block allows: p and j are in block {} of {} tokens, p = {}", check_block},
    {"block forbids: p is in block {}, j in block {}, of {} tokens each, p = {}", check_block},
    {"window forbids: {} = {} > {}", check_window},
    {"window allows: the {} is a global token: {}", check_global},
    {"padding forbids: j = {} ≥ {} valid keys", check_padded},
    {"Query i and key j are in the same block if floor(p / length) = floor(j / length), with "
     "the query's position p = {}",
     [](const Match& match) { return match.state.document().size.query_offset != 0; }},
    {"given mask forbids: the pair is given as forbidden", check_forbidden_pair},
    {"paint forbids: painted as forbidden", check_forbidden_pair},
    {"masked M: −∞, forbidden", check_forbidden_pair},
    {"token 0 sees every key, and every query sees token 0, whatever the window", check_globals},
    {"tokens {} … {} see every key and are seen by all, whatever the window", check_globals},
    {"weight A: {}: every key is forbidden, and empty rows give {}", check_no_key},
    {"Both methods give NaN", check_online_nan},
    {"A number is NaN on one side only", check_online_nan},
    {"All heads are shown", check_all_shown},
    {"No head is pinned", check_no_pin},
    {"No name has “{}”: Esc shows all", check_no_name},
    {"worst at key {}: off by {}", check_worst},
    {"no format fails up to a gain of {}",
     [](const Match& match) {
         return check_breaks({match.state, match.text, {}});
     }},
    {"× fails: {}", check_breaks},
    {"l: {}; {} of {} terms did not change l", check_absorbed},
    {"l, up to key {}: {} + {} = {} ← the sum does not change", check_still},
    {"{} has no {}: it is not computed or not stored", check_not_there},
    {"Cannot subtract: {} is {} in the baseline and {} now", check_other_size},
    {"{}iffers: {}", check_differs},
};

}  // namespace

std::span<const Claim> state_claims() { return kClaims; }

}  // namespace attn::view

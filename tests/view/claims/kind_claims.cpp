// Two kinds of attention beside each other, the online softmax, masks and their conventions.

#include "app/common/document/document.h"
#include "app/common/document/mask_rules.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/workspaces/heads/view.h"
#include "app/workspaces/kinds/compute.h"
#include "app/workspaces/kinds/online.h"
#include "app/workspaces/kinds/state.h"
#include "app/workspaces/masks/conventions.h"
#include "core/heads/all.h"
#include "tests/view/claims/claims.h"

namespace attn::view {
namespace {

// ---- Kinds

const KindsResult& kinds_of(const AppState& state) { return *kinds_look(state).result; }
bool check_kinds(const Match& match) {
    const KindsResult& result = kinds_of(match.state);
    const auto a = result.a.weights(), b = result.b.weights();
    const NamedCell cell = named_pair(match.state, match.part[2]);
    if (cell.row < 0) return false;
    double most = 0.0, moved = 0.0;
    Index ties = 0, left_out = 0;
    for (const auto [i, j] : each_cell(a)) {
        if (!std::isfinite(a(i, j)) || !std::isfinite(b(i, j))) {
            ++left_out;
            continue;
        }
        most = std::max(most, std::abs(b(i, j) - a(i, j)));
    }
    for (const auto [i, j] : each_cell(a))
        ties += std::abs(std::abs(b(i, j) - a(i, j)) - most) <= 1e-12 ? 1 : 0;
    for (const auto [i, c] : each_cell(a.rows, result.a.output().columns)) {
        const double by = std::abs(result.b.output()(i, c) - result.a.output()(i, c));
        moved = std::isnan(by) || std::isnan(moved) ? std::nan("") : std::max(moved, by);
    }
    const double wa = a(cell.row, cell.column), wb = b(cell.row, cell.column);
    const auto output = parts_of("the output changes by at most {}", match.part[4]);
    const auto sides = split(match.part[3], " against ");
    return std::abs(std::abs(wb - wa) - most) <= 1e-12 && ties == 1 + cell.others &&
           shows(sides[0], wb) && shows(sides[1], wa) && sides[0] != sides[1] &&
           (output ? shows((*output)[0], moved)
            : match.part[4].find("does not change") != std::string::npos ? moved == 0.0
                                                                         : std::isnan(moved));
}
bool check_kinds_equal(const Match& match) {
    const KindsResult& result = kinds_of(match.state);
    const auto a = result.a.weights(), b = result.b.weights();
    double most = 0.0, moved = 0.0;
    for (Index i = 0; i < a.rows; ++i) {
        for (Index j = 0; j < a.columns; ++j)
            if (std::isfinite(a(i, j)) && std::isfinite(b(i, j)))
                most = std::max(most, std::abs(b(i, j) - a(i, j)));
            else if (match.text.starts_with("Every weight of A"))
                return false;
        for (Index c = 0; c < result.a.output().columns; ++c) {
            const double by = result.b.output()(i, c) - result.a.output()(i, c);
            moved = std::isnan(by) ? HUGE_VAL : std::max(moved, std::abs(by));
        }
    }
    if (match.text.starts_with("Every") && most != 0.0) return false;
    if (const auto by = parts_of("{}(at most {}){}", match.text);
        by && (most == 0.0 || !shows((*by)[1], most)))
        return false;
    if (match.text.ends_with("and so is the output")) return moved == 0.0;
    if (match.text.ends_with("are not finite")) return moved == HUGE_VAL || std::isnan(moved);
    const auto by = parts_of("{}the output changes by at most {}", match.text);
    return !by || moved == number_of((*by)[1]) || shows((*by)[1], moved);
}
bool check_left_out(const Match& match) {
    const KindsResult& result = kinds_of(match.state);
    const auto a = result.a.weights(), b = result.b.weights();
    Index count = 0;
    for (const auto [i, j] : each_cell(a))
        count += std::isfinite(a(i, j)) && std::isfinite(b(i, j)) ? 0 : 1;
    return match.part.empty() ? count == a.rows * a.columns : count == match.count(0);
}
/// The row again, in one go and up to the chunk.
struct Passed {
    double before = -HUGE_VAL, after = -HUGE_VAL;
    Index allowed = 0;
};
std::optional<Passed> passed(const AppState& state) {
    const KindsResult& result = kinds_of(state);
    const KindComputed& side = result.side(kinds_controls(state).online);
    const OnlineView view = build_online_view(state);
    if (view.taken == 0) return std::nullopt;
    const Index row =
        labelled(state, Axis::query, split(split(view.heading, "row ")[1], " of ")[0]);
    const Index chunk = kinds_controls(state).chunk;
    const Rows none;
    Passed seen;
    if (side.kind.sink) seen.before = seen.after = *side.kind.sink;
    const auto scores = side.stage(Stage::masked);
    for (Index j = 0; j < std::min(view.taken * chunk, scores.columns); ++j) {
        if (!side.may(row, j)) continue;
        const bool now = j >= (view.taken - 1) * chunk;
        if (now)
            ++seen.allowed;
        else
            seen.before = std::max(seen.before, scores(row, j));
        seen.after = std::max(seen.after, scores(row, j));
    }
    return seen;
}
bool check_grows(const Match& match) {
    const auto seen = passed(match.state);
    return seen && seen->after > seen->before && match.part[1] != match.part[2] &&
           shows(match.part[1], seen->before) && shows(match.part[2], seen->after) &&
           shows(match.part[3], std::exp(seen->before - seen->after)) &&
           number_of(match.part[3]) < 1.0;
}
bool check_no_grow(const Match& match) {
    const auto seen = passed(match.state);
    return seen && seen->after == seen->before && seen->allowed > 0 &&
           shows(match.part[1], seen->after);
}
bool check_all_masked(const Match& match) {
    const auto seen = passed(match.state);
    return seen && seen->allowed == 0;
}
bool check_first_scores(const Match& match) {
    const auto seen = passed(match.state);
    return seen && seen->before == -HUGE_VAL && shows(match.part[1], seen->after);
}
/// The finished row of the online softmax against the ordinary one.
bool check_finished(const Match& match) {
    const OnlineView view = build_online_view(match.state);
    if (!view.result) return false;
    double most = 0.0;
    for (Index c = 0; c < view.result->columns; ++c)
        most = std::max(most, distance(view.result->at(0, c).value, view.result->at(1, c).value));
    return match.text.ends_with("exactly") ? most == 0.0
                                           : most < 1e-6 || number_of(match.part[0]) > 1e-6;
}
bool check_kind_masked(const Match& match) {  // of one side
    const KindsResult& result = kinds_of(match.state);
    const bool row = match.text.find("no key") != match.text.npos;
    return std::ranges::any_of(std::array{&result.a, &result.b}, [&](const KindComputed* side) {
        return row ? std::ranges::count(side->allowed_of_row, 0) > 0
                   : std::ranges::count(side->allowed, 0) > 0;
    });
}
bool check_allowed_pairs(const Match& match) {
    const KindsResult& result = kinds_of(match.state);
    const KindComputed& side = match.part[0] == "A" ? result.a : result.b;
    return std::ranges::count(side.allowed, 1) == match.count(1) &&
           std::ssize(side.allowed) == match.count(2);
}
bool has_no_row(const KindComputed& side) {
    return std::ranges::count(side.allowed_of_row, 0) == std::ssize(side.allowed_of_row);
}
bool check_no_pair(const Match& match) {
    return has_no_row(kinds_of(match.state).a) && has_no_row(kinds_of(match.state).b);
}
bool check_no_row(
    const Match& match) {  // "A, entropy, mean of the rows: no row"; alone of either side
    const KindsResult& result = kinds_of(match.state);
    if (match.part.empty()) return has_no_row(result.a) || has_no_row(result.b);
    return has_no_row(match.part[0] == "A" ? result.a : result.b);
}
bool check_same_kind(const Match& match) {
    return kinds_of(match.state).a_kind == kinds_of(match.state).b_kind;
}

// ---- Masks

std::vector<std::uint8_t> allowed(const AppState& state) {
    const Document& document = state.document();
    std::vector<std::uint8_t> all;
    for (const auto [i, j] : each_cell(document.size.tq, document.size.tk))
        all.push_back(allows(state, i, j) ? 1 : 0);
    return all;
}
struct RowSums {
    Index empty = 0, nan = 0;
    double low = HUGE_VAL, high = -HUGE_VAL;
};
RowSums row_sums(const AppState& state) {
    const auto mask = allowed(state);
    const Rows rows = weights_of(state);
    RowSums sums;
    for (Index i = 0; i < state.document().size.tq; ++i) {
        const auto from = mask.begin() + i * state.document().size.tk;
        if (std::count(from, from + state.document().size.tk, 1) == 0) {
            ++sums.empty;
            continue;
        }
        if (i >= rows.rows) continue;
        double sum = 0.0;
        for (const float each : rows.row(i)) sum += each;
        if (std::isnan(sum))
            ++sums.nan;
        else
            sums.low = std::min(sums.low, sum), sums.high = std::max(sums.high, sum);
    }
    return sums;
}
bool check_mask_point(const Match& match) {
    const auto mask = allowed(match.state);
    const RowSums sums = row_sums(match.state);
    const std::string text(match.text);
    auto left = parts_of("The mask allows {} of {} pairs{}", text);
    if (!left) left = parts_of("The mask allows {} of {} pair{}", text);
    if (left) {
        if (std::ranges::count(mask, 1) != static_cast<Index>(number_of((*left)[0])) ||
            std::ssize(mask) != static_cast<Index>(number_of((*left)[1])))
            return false;
        const bool one = (*left)[2].starts_with(", and no key to row");
        const auto many = one ? std::nullopt : parts_of(", and no key to {} rows{}", (*left)[2]);
        if (sums.empty != (many ? static_cast<Index>(number_of((*many)[0])) : one ? 1 : 0))
            return false;
    } else if (const auto none =
                   parts_of("No mask: every query may attend to every key, {} = {} pair{}", text)) {
        if (std::ranges::count(mask, 1) != static_cast<Index>(number_of((*none)[1]))) return false;
    }
    if (text.find("weights ha") != text.npos)
        return sums.nan ==
               static_cast<Index>(number_of(split(text.substr(text.rfind("; ") + 2), " ")[0]));
    if (text.find("sums to 1") != text.npos)
        return std::abs(sums.low - 1.0) < 1e-3 && std::abs(sums.high - 1.0) < 1e-3 &&
               sums.nan == 0 && (text.find("every other row") != text.npos) == (sums.empty > 0);
    if (const auto range = parts_of("{}sum to {} … {}", text))
        return shows((*range)[1], sums.low) && shows(split((*range)[2], ",")[0], sums.high) &&
               sums.nan == 0;
    return true;
}
/// "only key 0 is valid, the last 2 are padding", "keys 0 … 3 are valid, …", "no key is valid, …".
bool check_padding(const Match& match) {
    const auto& padding = match.state.document().spec.mask.padding;
    if (padding.empty())
        return match.state.document().size.tk == (match.part.empty() ? 1 : match.count(0) + 1) ||
               match.text.starts_with("only key 0");
    const auto valid = padding[std::min<Index>(match.state.batch, std::ssize(padding) - 1)];
    const bool one = match.text.starts_with("only key 0");
    if (one || match.text.starts_with("no key")) return valid == (one ? 1 : 0);
    return valid == match.count(0) + 1;
}
bool check_empty_row(const Match& match) {
    const auto mask = allowed(match.state);
    const Index row = static_cast<Index>(number_of(split(split(match.part[0], " (")[0], " ")[0]));
    const auto from = mask.begin() + row * match.state.document().size.tk;
    if (std::count(from, from + match.state.document().size.tk, 1) != 0) return false;
    const Rows rows = weights_of(match.state);
    const bool nan = match.part[1].find("NaN") != std::string::npos;
    return row >= rows.rows || std::ranges::all_of(rows.row(row), [&](float w) {
               return nan ? std::isnan(w) : w == 0.0F;
           });
}
bool check_no_limit(const Match& match) {
    const WindowSides sides = window_sides(match.state.document().spec.mask);
    return !(match.part[0].starts_with("left") ? sides.left : sides.right);
}
bool check_more_empty(const Match& match) {
    return row_sums(match.state).empty == match.count(0) + 3;
}
bool check_rule_alone(const Match& match) {
    return match.count(0) <= match.count(1) && match.count(1) == std::ssize(allowed(match.state));
}

struct Conventions {
    ConventionScores scores;
    ConventionResult a, b;
    std::vector<double> by_cell() const {
        std::vector<double> all;
        for (const auto [i, j] : each_cell(a.weights.shape().t, a.weights.shape().d))
            all.push_back(distance(a.weights(0, 0, i, j), b.weights(0, 0, i, j)));
        return all;
    }
    std::vector<double> by_row() const {
        std::vector<double> most;
        const std::vector<double> all = by_cell();
        for (auto from = all.begin(); from != all.end(); from += a.weights.shape().d)
            most.push_back(*std::max_element(from, from + a.weights.shape().d));
        return most;
    }
};
Conventions conventions(const AppState& state) {
    Conventions all{convention_scores(state), {}, {}};
    all.a = result_of(all.scores, chosen_convention(state, 0).convention);
    all.b = result_of(all.scores, chosen_convention(state, 1).convention);
    return all;
}
constexpr double kRounding = 1e-4;
bool check_conventions(const Match& match) {
    const Conventions both = conventions(match.state);
    const auto rows = both.by_row();
    const auto all = std::ranges::count_if(rows, [](double by) { return by > 0.0; });
    const auto sure = std::ranges::count_if(rows, [](double by) { return by > kRounding; });
    const auto row = static_cast<Index>(number_of(split(split(match.part[4], " (")[0], " ")[0]));
    const auto key = static_cast<Index>(number_of(split(match.part[5], " ")[0]));
    const auto as_much = parts_of("{} (as much in {} other {}", match.part[5]);
    if (count_largest(both.by_cell()) !=
        1 + (as_much ? static_cast<Index>(number_of((*as_much)[1])) : 0))
        return false;
    return match.count(2) >= sure && match.count(2) <= all && match.count(3) == std::ssize(rows) &&
           distance(both.a.weights(0, 0, row, key), both.b.weights(0, 0, row, key)) >=
               std::ranges::max(rows) - 1e-12 &&
           match.part[6] != match.part[7] && shows(match.part[6], both.b.weights(0, 0, row, key)) &&
           shows(match.part[7], both.a.weights(0, 0, row, key));
}
bool check_conventions_same(const Match& match) {
    const Conventions both = conventions(match.state);
    return std::ranges::max(both.by_row()) <= kRounding && both.a.weights.count() == match.count(1);
}
bool check_no_parting(const Match& match) {  // "The two conventions give the same weights here"
    const Conventions both = conventions(match.state);
    return std::ranges::max(both.by_row()) <= kRounding &&
           std::ranges::count(both.scores.mask, 0) > 0;
}
bool check_two_sums(const Match& match) {
    const Conventions both = conventions(match.state);
    const auto row = static_cast<Index>(number_of(split(split(match.part[0], " (")[0], " ")[0]));
    const auto sum = [&](const ConventionResult& of) {
        double all = 0.0;
        for (Index j = 0; j < of.weights.shape().d; ++j) all += of.weights(0, 0, row, j);
        return all;
    };
    return match.part[1] != match.part[3] && shows(match.part[1], sum(both.b)) &&
           shows(match.part[3], sum(both.a));
}
bool check_more_rows(const Match& match) {
    const auto rows = conventions(match.state).by_row();
    return match.count(0) + 3 <= std::ranges::count_if(rows, [](double by) { return by > 0.0; });
}

constexpr Claim kClaims[] = {
    {"B ({}) differs most from A ({}) at {}: {}; {}", check_kinds},
    {"A and B have equal weights{}", check_kinds_equal},
    {"The weights of A and B are equal{}", check_kinds_equal},
    {"No pair is masked, so the two conventions agree",
     [](const Match& match) {
         return std::ranges::count(convention_scores(match.state).mask, 0) == 0;
     }},
    {"{}, pairs that the mask allows: {} of {}", check_allowed_pairs},
    {"The masks of A and B allow no pair: there is nothing to compare", check_no_pair},
    {"{}, entropy, mean of the rows: no row", check_no_row},
    {"undefined", check_no_row},
    {"no allowed key, so H is undefined",
     [](const Match& match) {
         const KindsResult& result = kinds_of(match.state);
         return std::ranges::count(result.a.allowed_of_row, 0) > 0 ||
                std::ranges::count(result.b.allowed_of_row, 0) > 0;
     }},
    {"A and B have the same settings", check_same_kind},
    {"Left out: {} pair{} with a non-finite weight in A or B", check_left_out},
    {"Every difference is NaN or infinite", check_left_out},
    {"{}: m grows from {} to {}, so ℓ and O are multiplied by α = {}", check_grows},
    {"{}: no score exceeds m = {}, so α = 1 and the chunk is added", check_no_grow},
    {"{}: the first scores set m = {}, and nothing is rescaled", check_first_scores},
    {"O ÷ ℓ equals the row of ordinary softmax exactly", check_finished},
    {"O ÷ ℓ equals the row of ordinary softmax up to rounding: at most {}, in float64",
     check_finished},
    {"The mask forbids the pair: its weight is exactly 0", check_kind_masked},
    {"The mask leaves this query no key: {}", check_kind_masked},
    {"The mask allows no key for this query, so its weights are {}", check_kind_masked},
    {"The mask leaves no key for this row: {}", check_kind_masked},
    {"{}: masked, so it adds nothing", check_kind_masked},
    {"{}: masked, so m, ℓ and O stay the same", check_all_masked},
    {"Memory for each row: m, ℓ and O, so d_v + 2 = {} numbers for any n",
     [](const Match& match) { return match.count(0) == match.state.document().size.d_v + 2; }},
    {"The mask allows {} pair{}", check_mask_point},
    {"No mask: every query may attend to every key, {} = {}", check_mask_point},
    {"Row {} has no allowed key: {}", check_empty_row},
    {"{} more rows have no allowed key", check_more_empty},
    {"alone: {} of {}", check_rule_alone},
    {"window allows: no limit on the {}", check_no_limit},
    {"only key 0 is valid{}", check_padding},
    {"no key is valid{}", check_padding},
    {"keys 0 … {} are valid{}", check_padding},
    {"keys 0 and {} are valid{}", check_padding},
    {"{} differs from {} in {} of {} rows, most at row {}, key {}: {} against {}",
     check_conventions},
    {"{} gives the same {} weights as {}, up to rounding", check_conventions_same},
    {"The two conventions give the same weights here", check_no_parting},
    {"Row {}: its weights sum to {} under {}, to {} under {}", check_two_sums},
    {"{} more rows differ", check_more_rows},
};

}  // namespace

std::span<const Claim> kind_claims() { return kClaims; }

}  // namespace attn::view

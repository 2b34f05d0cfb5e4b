// What a query reads of a memory, and of the document's tokens.

#include "app/common/document/document.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/workspaces/lookup/compute.h"
#include "app/workspaces/lookup/state.h"
#include "app/workspaces/lookup/view.h"
#include "tests/view/claims/claims.h"

namespace attn::view {
namespace {

// ---- Lookup: the memory

struct Read {
    std::vector<std::string> keys, values;
    std::vector<double> dot, cosine, weight, brings, norm;
    double to_hard = 0.0, to_mean = 0.0;
};
Read read(const AppState& state) {
    const LookupControls& controls = lookup_controls(state);
    const auto& q = controls.query;
    Read all;
    for (const LookupPair& pair : controls.pairs) {
        all.keys.push_back(shown_token(pair.key, kMostNamed));
        all.values.push_back(shown_token(pair.value, kMostNamed));
        all.dot.push_back(q[0] * pair.k[0] + q[1] * pair.k[1]);
        all.norm.push_back(std::hypot(pair.k[0], pair.k[1]));
        all.cosine.push_back(all.dot.back() / all.norm.back() / std::hypot(q[0], q[1]));
    }
    const double most = std::ranges::max(all.dot);
    double sum = 0.0;
    for (const double each : all.dot) sum += std::exp((each - most) / controls.temperature);
    PlanePoint out{}, hard{}, mean{};
    const auto best = static_cast<double>(
        std::ranges::count_if(all.dot, [&](double d) { return d >= most - 1e-12; }));
    for (std::size_t n = 0; n < all.dot.size(); ++n) {
        all.weight.push_back(std::exp((all.dot[n] - most) / controls.temperature) / sum);
        const auto& v = controls.pairs[n].v;
        all.brings.push_back(all.weight[n] * std::hypot(v[0], v[1]));
        for (std::size_t c = 0; c < 2; ++c) {
            out[c] += all.weight[n] * v[c];
            hard[c] += all.dot[n] >= most - 1e-12 ? v[c] / best : 0.0;
            mean[c] += v[c] / static_cast<double>(all.dot.size());
        }
    }
    all.to_hard = std::hypot(out[0] - hard[0], out[1] - hard[1]);
    all.to_mean = std::hypot(out[0] - mean[0], out[1] - mean[1]);
    return all;
}
/// Some pair of that name has that number.
bool has(const std::vector<std::string>& names, std::string_view name,
         const std::vector<double>& numbers, double value) {
    for (std::size_t n = 0; n < names.size(); ++n)
        if (names[n] == name &&
            (std::abs(numbers[n] - value) < 1e-9 || (std::isnan(value) && std::isnan(numbers[n]))))
            return true;
    return false;
}
bool has_shown(const std::vector<std::string>& names, std::string_view name,
               const std::vector<double>& numbers, std::string_view text) {
    for (std::size_t n = 0; n < names.size(); ++n)
        if (names[n] == name && shows(text, numbers[n])) return true;
    return false;
}
Index near_most(const std::vector<double>& numbers) {
    double most = -HUGE_VAL;
    for (const double each : numbers) most = each > most ? each : most;
    return std::ranges::count_if(
        numbers, [&](double each) { return each >= most - 1e-12 * std::max(1.0, std::abs(most)); });
}
/// "The query attends 60 % to a and 30 % to b: the output lies x from c, the value of the best match".
bool check_reads(const Match& claim) {
    const Read all = read(claim.state);
    auto order = all.weight;
    std::ranges::sort(order, std::greater{});
    return has(all.keys, claim.part[1], all.weight, order[0]) && shows(claim.part[0], order[0]) &&
           shows(claim.part[2], order[1]) && shows(claim.part[4], all.to_hard) &&
           near_most(all.dot) == 1;
}
bool check_reads_alike(const Match& match) {
    const Read all = read(match.state);
    return near_most(all.dot) == std::ssize(all.dot) &&
           near_most(all.weight) == std::ssize(all.weight);
}
bool check_reads_limit(
    const Match& match) {  // "… the output lies x from the mean of a and b, its limit as τ → 0"
    const Read all = read(match.state);
    return near_most(all.dot) > 1 && near_most(all.dot) < std::ssize(all.dot) &&
           shows(match.part[4], all.to_hard);
}
bool check_cosine_ties(
    const Match&
        match) {  // "a and b have the largest cosine, x; of these, b has the largest q·k, y"
    const Read all = read(match.state);
    return near_most(all.cosine) > 1 && near_most(all.dot) == 1 &&
           shows(match.part[1], std::ranges::max(all.cosine)) &&
           has_shown(all.keys, match.part[2], all.dot, match.part[3]) &&
           shows(match.part[3], std::ranges::max(all.dot));
}
/// "With V = K, the same weights would give (0.1, 0.2) instead of (0.3, 0.4)", "…, the same output as here".
bool check_keys_as_values(const Match& match) {
    const Read all = read(match.state);
    const auto& pairs = lookup_controls(match.state).pairs;
    PlanePoint keys{}, values{};
    for (std::size_t n = 0; n < pairs.size(); ++n)
        for (std::size_t c = 0; c < 2; ++c)
            keys[c] += all.weight[n] * pairs[n].k[c], values[c] += all.weight[n] * pairs[n].v[c];
    const auto is = [](std::string_view stated, const PlanePoint& point) {
        const auto at = parts_of("({}, {})", stated);
        return at && shows((*at)[0], point[0]) && shows((*at)[1], point[1]);
    };
    const auto other = split(match.part[0], " instead of ");
    return other.size() > 1 ? is(other[0], keys) && is(other[1], values) && other[0] != other[1]
                            : is(split(match.part[0], ", the same output")[0], values);
}
bool check_nothing_brought(const Match& match) {
    return std::ranges::max(read(match.state).brings) == 0.0;
}
bool check_tied_weights(
    const Match&
        match) {  // "Of 2 pairs with the largest weight, a has x and contributes ‖a v‖ = y"
    const Read all = read(match.state);
    return near_most(all.weight) == match.count(0) && match.count(0) > 1 &&
           has_shown(all.values, match.part[1], all.weight, match.part[2]) &&
           shows(match.part[2], std::ranges::max(all.weight)) &&
           shows(match.part[3], std::ranges::max(all.brings));
}
bool check_agree(const Match& match) {
    const Read all = read(match.state);
    const auto name = match.part[0];
    return near_most(all.dot) == 1 && near_most(all.cosine) == 1 &&
           has(all.keys, name, all.dot, std::ranges::max(all.dot)) &&
           has(all.keys, name, all.cosine, *std::ranges::max_element(all.cosine, {}, [](double c) {
                   return std::isnan(c) ? -2.0 : c;
               }));
}
bool check_ties(const Match& match) {
    const Read all = read(match.state);
    return near_most(all.dot) == match.count(0) &&
           shows(match.part[1].substr(0, match.part[1].find(':')), std::ranges::max(all.dot));
}
bool check_winner(
    const Match&
        match) {  // "a wins with q·k = 5 at cosine .7; b is more similar, cosine .9, but shorter: q·k = 4, ‖k‖ = 2 against 3"
    const Read all = read(match.state);
    const bool longer = match.text.find("but longer") != match.text.npos;
    const auto p = parts_of(
        longer ? "“{}” wins with q·k = {} at cosine {}; “{}” is more similar, cosine {}, but "
                 "longer, and points away from q: q·k = {}, ‖k‖ = {} against {}"
               : "“{}” wins with q·k = {} at cosine {}; “{}” is more similar, cosine {}, but "
                 "shorter: q·k = {}, ‖k‖ = {} against {}",
        match.part[0]);
    if (!p) return false;
    return has_shown(all.keys, (*p)[0], all.dot, (*p)[1]) &&
           has(all.keys, (*p)[0], all.dot, std::ranges::max(all.dot)) &&
           (number_of((*p)[4]) > number_of((*p)[2]) || (*p)[2] == "none") &&
           longer == (number_of((*p)[6]) > number_of((*p)[7])) && (*p)[6] != (*p)[7] &&
           number_of((*p)[5]) <= number_of((*p)[1]) &&
           has_shown(all.keys, (*p)[3], all.cosine, (*p)[4]) &&
           has_shown(all.keys, (*p)[3], all.norm, (*p)[6]);
}
bool check_heaviest(const Match& match) {
    const Read all = read(match.state);
    const auto n = std::ranges::max_element(all.weight) - all.weight.begin();
    return std::ranges::max(all.brings) - all.brings[n] < 1e-9 && near_most(all.weight) == 1 &&
           has_shown(all.values, match.part[0], all.weight, match.part[1]) &&
           shows(match.part[2], std::ranges::max(all.brings));
}
bool check_not_heaviest(const Match& match) {
    const Read all = read(match.state);
    return number_of(match.part[1]) > number_of(match.part[4]) &&
           number_of(match.part[2]) < number_of(match.part[5]) &&
           shows(match.part[1], std::ranges::max(all.weight)) &&
           shows(match.part[5], std::ranges::max(all.brings));
}
bool check_no_length(const Match& match) {
    const Read all = read(match.state);
    return std::ranges::all_of(all.cosine, [](double c) { return std::isnan(c); }) &&
           std::ranges::all_of(all.dot, [](double d) { return d == 0.0; });
}

// ---- Lookup: the document's tokens

const SimilarityResult& similarity(const AppState& state) { return *lookup_look(state).similarity; }
/// Every column that is as large as any.
std::vector<Index> best_of(std::span<const float> row) {
    std::vector<Index> best;
    for (std::size_t j = 0; j < row.size(); ++j)
        if (std::ranges::max(row) - row[j] <=
                kTie *
                    std::abs(std::ranges::max(
                        row, {}, [](float v) { return std::isfinite(v) ? std::abs(v) : 0.0F; })) ||
            row[j] == std::ranges::max(row))
            best.push_back(static_cast<Index>(j));
    return best;
}
/// Rows in which no key is the best by both.
Index apart(const AppState& state) {
    const Rows dot = similarity(state).dot.matrix(0, 0),
               cosine = similarity(state).cosine.matrix(0, 0);
    Index count = 0;
    for (Index i = 0; i < dot.rows; ++i) {
        if (has_nan(dot.row(i)) || has_nan(cosine.row(i))) continue;
        const auto a = best_of(dot.row(i)), b = best_of(cosine.row(i));
        count +=
            std::ranges::none_of(a, [&](Index j) { return std::ranges::count(b, j) > 0; }) ? 1 : 0;
    }
    return count;
}
Index rows_without_nan(const AppState& state) {
    const Rows dot = similarity(state).dot.matrix(0, 0),
               cosine = similarity(state).cosine.matrix(0, 0);
    Index count = 0;
    for (Index i = 0; i < dot.rows; ++i)
        count += has_nan(dot.row(i)) || has_nan(cosine.row(i)) ? 0 : 1;
    return count;
}
bool check_rows_differ(const Match& match) {
    return apart(match.state) == match.count(0) &&
           rows_without_nan(match.state) ==
               static_cast<Index>(number_of(split(match.part[1], " ")[0])) &&
           apart(match.state) > 0;
}
bool check_rows_agree(const Match& match) {
    const auto all = parts_of("{} in all {} rows{}", match.text);
    return apart(match.state) == 0 &&
           rows_without_nan(match.state) == (all ? static_cast<Index>(number_of((*all)[1])) : 1);
}
bool check_no_best(const Match& match) { return rows_without_nan(match.state) == 0; }
std::vector<float> similarities(const AppState& state) {
    const Rows s = similarity(state).scores(lookup_controls(state).measure).matrix(0, 0);
    std::vector<float> all;
    for (Index i = 0; i < s.rows; ++i)
        for (const float each : s.row(i))
            if (!std::isnan(each)) all.push_back(each);
    return all;
}
bool check_towers(
    const Match&
        match) {  // "of 9 pairs, 2 → 0 and 1 other pair are the most similar by dot product: 1.49"
    const auto all = similarities(match.state);
    const auto ties = parts_of("{} and {} other pair{}", match.part[1]);
    const auto most = ties ? 1 + static_cast<Index>(number_of((*ties)[1])) : 1;
    return static_cast<Index>(number_of(split(match.part[0], " ")[0])) == std::ssize(all) &&
           count_largest(all) == most &&
           shows(split(match.part[2], ": ").back(), std::ranges::max(all));
}
bool check_some_nan(const Match& match) {
    return rows_without_nan(match.state) < similarity(match.state).dot.matrix(0, 0).rows;
}
bool check_no_similarity(const Match& match) { return similarities(match.state).empty(); }
bool check_one_pair(const Match& match) { return similarities(match.state).size() == 1; }
bool check_pairs_alike(const Match& match) {
    const auto all = similarities(match.state);
    return match.count(0) == std::ssize(all) && count_largest(all) == std::ssize(all) &&
           shows(split(match.part[1], ", ").back(), all.front());
}
bool check_aligned(const Match& match) {
    const Rows dot = similarity(match.state).dot.matrix(0, 0),
               cosine = similarity(match.state).cosine.matrix(0, 0);
    const Index row = labelled(match.state, Axis::query, match.part[0]);
    if (row < 0 || row >= dot.rows) return false;
    if (match.text.ends_with("with no key"))
        return has_nan(dot.row(row)) || has_nan(cosine.row(row));
    const auto a = best_of(dot.row(row)), b = best_of(cosine.row(row));
    const auto& rest = match.part[1];
    const bool both = rest.find(", by dot product (") != rest.npos;
    std::string name(rest.substr(0, rest.find(both ? ", by" : " by")));
    if (const auto quoted = parts_of("“{}”", name)) name = (*quoted)[0];
    const Index key = labelled(match.state, Axis::key, name);
    return std::ranges::count(a, key) > 0 && (!both || std::ranges::count(b, key) > 0);
}
bool check_tip(const Match& match) {
    const auto view = build_alignment_view(match.state);
    return std::ranges::any_of(view.rows, [&](const AlignmentRowView& row) {
        return row.tooltip.find(match.text) != std::string::npos;
    });
}
bool check_symmetric(const Match& match) {
    const bool is = match.text.find("is symmetric") != match.text.npos;
    const auto view = build_similarity_view(match.state);
    const bool softmax = match.part[0] == "A";
    const Rows s = softmax ? similarity(match.state).shown(view.measure, view.softmax).matrix(0, 0)
                           : similarity(match.state).scores(view.measure).matrix(0, 0);
    double most = 0.0, largest = 1.0;
    for (Index i = 0; i < s.rows; ++i)
        for (Index j = 0; j <= i; ++j) {
            if (std::isfinite(s(i, j))) largest = std::max(largest, std::abs(double{s(i, j)}));
            if (s(i, j) != s(j, i))  // ∞ is as large as ∞
                most = std::max(most, std::abs(double{s(i, j)} - s(j, i)));
        }
    return is ? std::isfinite(most) && most < 1e-4 * largest : most > 0.0;
}
bool check_s_symmetric(
    const Match& match) {  // "A is not symmetric: …. S is symmetric: softmax breaks it"
    const auto view = build_similarity_view(match.state);
    const Rows s = similarity(match.state).scores(view.measure).matrix(0, 0);
    for (Index i = 0; i < s.rows; ++i)
        for (Index j = 0; j < i; ++j)
            if (!(std::abs(double{s(i, j)} - s(j, i)) < 1e-4)) return false;
    return true;
}
const PermutationResult& permuted(const AppState& state) { return *lookup_look(state).permutation; }
double moved(const AppState& state) {
    const auto a = permuted(state).before.values(), b = permuted(state).after.values();
    double most = 0.0;
    for (std::size_t n = 0; n < a.size(); ++n) {
        const double by = std::abs(double{a[n]} - b[n]);
        most = std::isnan(by) || std::isnan(most) ? std::nan("") : std::max(most, by);
    }
    return most;
}
bool check_permuted(const Match& match) {
    const auto order = token_order(match.state);
    Index elsewhere = 0;
    for (std::size_t n = 0; n < order.size(); ++n)
        elsewhere += order[n] == static_cast<Index>(n) ? 0 : 1;
    const bool exact = match.text.ends_with("exactly 0");
    return match.count(0) == elsewhere && exact == (moved(match.state) == 0.0) &&
           (exact || moved(match.state) < 1e-5);
}
bool tells(std::string_view stated, double by) {
    const double size = std::abs(by);
    if (std::isnan(by)) return stated == "NaN";
    return stated == "exactly 0" ? by == 0.0
                                 : std::abs(std::abs(number_of(stated)) - size) <= 0.01 * size;
}
bool check_largest_moved(const Match& match) { return tells(match.part[0], moved(match.state)); }
bool check_float64(const Match& match) {
    return tells(match.part[0], permuted(match.state).largest_float64);
}
bool check_moved_here(const Match& match) {
    const LookupLook& look = lookup_look(match.state);
    return tells(match.part[0], double{permuted(match.state).after(0, 0, look.row, look.column)} -
                                    permuted(match.state).before(0, 0, look.row, look.column));
}
bool check_places_count(const Match& match) {
    const double most = moved(match.state);
    return most > 1e-6 && shows(split(match.part[1], ", at")[0], most);
}
bool check_no_change(const Match& match) { return moved(match.state) < 1e-5; }
bool check_outputs(const Match& match) {
    const double most = permuted(match.state).output_largest;
    if (match.text.ends_with("exactly 0")) return most == 0.0;
    return match.text.starts_with("Outputs change") ==
               (permuted(match.state).position != PermutationPosition::none) &&
           most > 0.0 && (!match.text.starts_with("Outputs change") || most > 1e-6);
}
bool check_capacity(const Match& match) {
    const auto& points = *capacity_curves(match.state).points;
    if (match.text.starts_with("Even at")) return points.back().interference.median >= 0.01;
    for (const CapacityPoint& each : points)
        if (each.d_k >= static_cast<Index>(number_of(match.part[0])) &&
            each.interference.median >= 0.01)
            return false;
    return true;
}

constexpr Claim kClaims[] = {
    {"“Similar” is not “largest dot product”: the best key differs in {} of {}", check_rows_differ},
    {"The query attends {} to “{}” and {} to “{}”: the output lies {} from the mean of {}, its "
     "limit as τ → 0",
     check_reads_limit},
    {"{} have the largest cosine, {}; of these, {} has the largest q·k, {}", check_cosine_ties},
    {"Of {} pairs with the largest weight, “{}” has weight {} and contributes ‖a v‖ = {}",
     check_tied_weights},
    {"“Similar” is not “largest dot product”: {}", check_winner},
    {"Of {} pairs, {} the most similar by {}", check_towers},
    {"Of {} that are not NaN, {} the most similar by {}", check_towers},
    {"The query attends {} to “{}” and {} to “{}”: the output lies {} from “{}”, the value of "
     "the best match",
     check_reads},
    {"The query attends {}: all scores q·k are equal, so the output is the mean of all values at "
     "every τ",
     check_reads_alike},
    {"With V = K, the same weights would give {}", check_keys_as_values},
    {"largest difference: {}", check_largest_moved},
    {"The difference, at most {}, is float32 rounding (ε = {}), because softmax sums the keys in "
     "another order",
     check_largest_moved},
    {"In float64 it is {}", check_float64},
    {"largest difference in float64: {}", check_float64},
    {"after − before: {}", check_moved_here},
    {"Rows of X are shuffled, and each gets the positional encoding of its new position; {}",
     [](const Match& match) {
         return permuted(match.state).position == PermutationPosition::sinusoidal &&
                match.state.document().inputs->projects();
     }},
    {"Every value with a weight is (0, 0), so no pair contributes", check_nothing_brought},
    {"“{}” has both the largest q·k and the largest cosine ({}", check_agree},
    {"{} keys share the largest q·k, {}", check_ties},
    {"Here the largest weight contributes most: “{}” has weight {} and contributes ‖a v‖ = {}",
     check_heaviest},
    {"The largest weight does not contribute most: “{}” has weight {} and contributes ‖a v‖ = {}; "
     "“{}” has weight {} "
     "and contributes ‖a v‖ = {}",
     check_not_heaviest},
    {"A vector of length 0 has no direction, so no cosine is defined and every score is 0",
     check_no_length},
    {"“Similar” and “largest dot product” agree{}", check_rows_agree},
    {"Every row has a NaN, so no row has a best key", check_no_best},
    {"A similarity of this query is NaN, so it has no best key", check_some_nan},
    {"{} has a NaN, so its symmetry is not defined", check_some_nan},
    {"Every similarity is NaN", check_no_similarity},
    {"The only pair is {}", check_one_pair},
    {"All {} pairs have the same {}", check_pairs_alike},
    {"{} has a NaN similarity, so it is aligned with no key", check_aligned},
    {"“{}” is aligned with {}", check_aligned},
    {"largest dot: {}", check_tip},
    {"largest cosine: {}", check_tip},
    {"{} is symmetric: max |{}", check_symmetric},
    {"S is symmetric: softmax breaks it, {}", check_s_symmetric},
    {"{} is not symmetric: max |{}", check_symmetric},
    {"Without positions, {} of the tokens moved: {}", check_permuted},
    {"Without positions, {} of the keys and values moved: {}", check_permuted},
    {"With {} this order changes weights by up to {}: positions matter", check_places_count},
    {"With {} this order changes no weight{}", check_no_change},
    {"The outputs do not change{}", check_outputs},
    {"Each token’s output moves with it{}", check_outputs},
    {"Outputs change, {}", check_outputs},
    {"From d_k = {} on, among the tested widths, the mean interference{}is under 1 %{}",
     check_capacity},
    {"Even at d_k = {}, the mean interference{}", check_capacity},
};

}  // namespace

std::span<const Claim> lookup_claims() { return kClaims; }

}  // namespace attn::view

#include <cfloat>
#include <cmath>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/format.h"
#include "app/common/pair.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/workspaces/lookup/compute.h"
#include "app/workspaces/lookup/text.h"
#include "app/workspaces/lookup/view.h"
#include "core/spec_arrays.h"
#include "core/stages.h"

namespace attn::view {
namespace {

constexpr double kExact = 1e-12;  // a smaller difference in float64 is rounding in float32

/// ", apart from float32 rounding of at most 6e−8".
std::string rounding_text(double largest) {
    if (largest == 0.0) return {};
    return fmt::format(", apart from float32 rounding of at most {}", significant(largest, 3));
}

/// Without anything that tells places apart.
std::string equivariant_text(const PermutationResult& result, Index moved) {
    const std::string who = result.keys_only ? "the keys and values" : "the tokens";
    const std::string lead = fmt::format("Without positions, {} of {} moved: ", moved, who);
    if (result.largest == 0.0)
        return lead + "the weights move with them, and the difference is exactly 0.";
    if (result.largest_float64 <= kExact)
        return fmt::format(
            "{}the weights move with them. The difference, at most {}, is float32 rounding (ε = "
            "{}), because softmax sums the keys in another order. In float64 it is {}.",
            lead, significant(result.largest, 3), significant(FLT_EPSILON, 3),
            difference_text(result.largest_float64, 2));
    return fmt::format("{}the weights move with them up to {}; float32 has ε = {}.", lead,
                       significant(result.largest, 3), significant(FLT_EPSILON, 3));
}

std::string permutation_point(const AppState& state, const PermutationResult& result, Index moved) {
    if (std::isnan(result.largest)) return "A weight is NaN, so its difference is NaN.";
    if (moved == 0)
        return "The tokens are in document order. Drag one to another place, or press S to "
               "shuffle.";
    if (result.position == PermutationPosition::none) return equivariant_text(result, moved);
    if (result.largest == 0.0 || result.largest_float64 <= kExact)
        return fmt::format("With {} this order changes no weight{}.",
                           position_text(result.position), rounding_text(result.largest));
    return fmt::format("With {} this order changes weights by up to {}, at {}: positions matter.",
                       position_text(result.position), number(result.largest),
                       pair_name(state, {result.row, result.column}));
}

/// What is shuffled, and what of the document is left out.
std::string source_text(const AppState& state, const PermutationResult& result) {
    const Document& document = state.document();
    std::string text;
    if (!document.inputs->projects())
        text = "Rows of Q, K and V are shuffled as given: any positions in them move too.";
    else if (result.position == PermutationPosition::sinusoidal)
        text =
            "Rows of X are shuffled, and each gets the positional encoding of its new position; "
            "rows set by hand "
            "keep their numbers.";
    else if (is_toy(document))
        text =
            "Rows of X are shuffled without the positional encodings that Step adds; rows set by "
            "hand keep their "
            "numbers.";
    else
        text = "Rows of X are shuffled as given: any positions in them move too.";
    if (result.keys_only) text += " The queries keep their order.";
    if (document.spec.mask.any() || document.spec.rope || document.spec.alibi ||
        document.spec.mask.bias || document.spec.score == Score::relative)
        text += " The document’s own mask and positions are not applied.";
    return text;
}

std::string output_text(const PermutationResult& result) {
    if (std::isnan(result.output_largest)) return "An output is NaN.";
    const std::string what =
        result.keys_only ? "The outputs do not change" : "Each token’s output moves with it";
    if (result.output_largest == 0.0) return what + ": the largest difference is exactly 0.";
    if (result.output_float64 <= kExact * std::max(result.output_size, 1.0))
        return fmt::format("{}{}.", what, rounding_text(result.output_largest));
    return fmt::format("{}, up to {}; the largest output is {} in size.",
                       result.position == PermutationPosition::none ? what : "Outputs change",
                       significant(result.output_largest, 3), number(result.output_size));
}

std::string lesson_text(const PermutationResult& result) {
    if (result.position == PermutationPosition::none && result.keys_only)
        return "“The order of rows encodes position” is false. The outputs do not depend on the "
               "order of keys and values; positions must be added.";
    if (result.position == PermutationPosition::none)
        return "“The order of rows encodes position” is false. Attention is "
               "permutation-equivariant; positions must be added.";
    return "Order reaches attention only through X, Q and K, the mask or the scores.";
}

void add_grids(const AppState& state, const PermutationResult& result, LookupGridsView& body) {
    const auto before = result.before.matrix(0, 0);
    const auto after = result.after.matrix(0, 0);
    std::vector<float> change;
    for (const auto [i, j] : each_cell(before)) change.push_back(after(i, j) - before(i, j));
    body.grids = {
        lookup_grid(state, {before, ColorScale::unit, Role::weight, "weights before",
                            "Weights of the tokens in document order."}),
        lookup_grid(state,
                    {after, ColorScale::unit, Role::weight, "weights after, in document order",
                     "Weights computed in the new order and put back into document order."}),
        lookup_grid(state, {{change.data(), before.rows, before.columns, before.columns},
                            ColorScale::diverging,
                            Role::score,
                            "after − before",
                            "The headline names the largest change."})};
    share_range({&body.grids[0], &body.grids[1]}, state.theme);
}

}  // namespace

std::uint64_t next_shuffle(const AppState& state) {
    // A shuffle that is the present order would seem to do nothing: the next seed that is another.
    const auto order = token_order(state);
    std::uint64_t seed = 1;
    for (const Index token : order) seed = seed * 31 + static_cast<std::uint64_t>(token) + 1;
    return seed % 100000;
}

PermutationView build_permutation_view(const AppState& state) {
    PermutationView view;
    view.position = lookup_controls(state).position;
    view.position_names = {"none", "sinusoidal", "RoPE", "ALiBi", "causal mask"};
    view.next_seed = next_shuffle(state);
    const auto order = token_order(state);
    const auto labels = axis_labels(state, Axis::key, std::ssize(order));
    Index moved = 0;
    for (std::size_t place = 0; place < order.size(); ++place) {
        const Index token = order[place];
        const bool elsewhere = token != static_cast<Index>(place);
        view.chips.push_back({labels[token], token, elsewhere});
        if (elsewhere) ++moved;
    }
    const PermutationResult* const result = lookup_look(state).permutation.get();
    view.body.missing_data = missing_data_text(result);
    if (!view.body.missing_data.empty()) return view;
    view.body.point = permutation_point(state, *result, moved);
    view.body.notes = {lesson_text(*result), output_text(*result), source_text(state, *result)};
    add_grids(state, *result, view.body);
    return view;
}

}  // namespace attn::view

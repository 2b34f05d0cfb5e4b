#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "app/common/cell.h"
#include "app/common/names.h"

namespace attn::view {

/// Where each kind of stage was looked at, by kind_of_place(): scores, scaled, masked and weights are one kind.
inline constexpr std::size_t kPlaceKinds = 12;  // rows (query, key) × columns (six axes)
using Places = std::array<std::optional<large::Cell>, kPlaceKinds>;

/// What gradients are of. sum: Σ of all outputs; cell: one output; squared: ½ Σ (output − target)²; cross_entropy: −ln softmax(y)[c] of
/// one output row y as logits; file: Σ dY ∘ output, with dY a file's array.
enum class LossKind : std::uint8_t { sum, cell, squared, cross_entropy, file };
template <>
inline constexpr std::string_view kNamesOf<LossKind>[] = {"sum", "cell", "squared", "cross_entropy",
                                                          "file"};
struct Loss {
    LossKind kind = LossKind::sum;
    OutputCell cell;  // of `cell`; of `cross_entropy` the row and the class c
    bool operator==(const Loss&) const = default;
};
void describe(Visitor& visit, Loss& loss);

}  // namespace attn::view

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "app/common/state.h"
#include "core/tensor.h"

namespace attn::view {

/// A query and a key.
struct Pair {
    Index query = 0;
    Index key = 0;
    bool operator==(const Pair&) const = default;
};

/// What the Masks workspace shows: the document's own mask, or what other conventions make of it.
enum class MasksTab : std::uint8_t { compose, conventions };
inline constexpr std::string_view kMasksTabNames[] = {"compose", "conventions"};
enum class CausalChoice : std::uint8_t { off, top_left, bottom_right };
inline constexpr std::string_view kCausalNames[] = {"off", "top-left", "bottom-right"};
/// Of what is painted between two pairs: the line, or the whole rectangle.
enum class PaintShape : std::uint8_t { line, rectangle };
inline constexpr std::string_view kPaintShapeNames[] = {"line", "rectangle"};
enum class MaskCode : std::uint8_t { numpy, pytorch };
inline constexpr std::string_view kMaskCodeNames[] = {"numpy", "pytorch"};

/// A drag that paints.
struct Brush {
    Pair first, last;
    bool allowed = false;
};

/// The two conventions that are compared, by the keys of their rows (conventions.h).
inline constexpr std::string_view kFirstConvention = "zero";
inline constexpr std::string_view kSecondConvention = "1e9";

/// What the Masks workspace looks at. Not undone: the mask is the document's.
struct MasksLook {
    MasksTab tab = MasksTab::compose;
    Pair pair;                   // selected: one that exists, where there is any
    std::optional<Pair> corner;  // the other corner of a selected rectangle
    std::array<std::string, 2> conventions{std::string(kFirstConvention),
                                           std::string(kSecondConvention)};
    Index gain = 0;  // conventions are computed of the scores · 10^gain

    // of the moment: in no session and no journal
    std::optional<Pair> hovered;
    std::optional<Brush> brush;
};

inline constexpr Look<MasksLook> masks_look;

}  // namespace attn::view

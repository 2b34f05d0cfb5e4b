#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "app/common/document/mask_code.h"
#include "app/common/names.h"
#include "app/common/pair.h"
#include "app/common/slots.h"
#include "core/sizes.h"

namespace attn::view {

/// What the Masks workspace shows: the document's own mask, or what other conventions make of it.
enum class MasksTab : std::uint8_t { compose, conventions };
template <>
inline constexpr std::string_view kNamesOf<MasksTab>[] = {"compose", "conventions"};

/// A drag that paints.
struct Brush {
    Pair first, last;
    bool allowed = false;
    std::optional<double> bias = {};  // painted into the bias; none: the mask is painted
};

/// The two conventions that are compared, by the keys of their rows (conventions.h).
inline constexpr std::string_view kFirstConvention = "zero";
inline constexpr std::string_view kSecondConvention = "1e9";

struct MasksLong;
struct MaskScores;

/// What the Masks workspace looks at. Not undone: the mask is the document's.
struct MasksLook {
    MasksTab tab = MasksTab::compose;
    Pair pair;                   // selected: one that exists, where there is any
    std::optional<Pair> corner;  // the other corner of a selected rectangle
    std::array<std::string, 2> conventions{std::string(kFirstConvention),
                                           std::string(kSecondConvention)};
    std::optional<double>
        bias_value;  // what a click paints into the bias; none: it paints the mask
    Index gain = 0;  // conventions are computed of the scores · 10^gain

    // of the moment: in no session and no journal
    std::optional<Pair> hovered;
    std::optional<Brush> brush;
    std::shared_ptr<const MasksLong> shown;    // see follow_masks(); null: the sentence is short
    std::shared_ptr<const MaskScores> scores;  // of the last request; null: none
};

void describe(Visitor& visit, MasksLook& look);
inline constexpr Look<MasksLook> masks_look;

}  // namespace attn::view

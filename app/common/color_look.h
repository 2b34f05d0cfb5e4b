#pragma once

#include "app/common/action.h"
#include "app/common/colormap.h"
#include "app/common/names.h"
#include "app/common/set_field.h"
#include "app/common/slots.h"

namespace attn::view {

/// Those that a person chooses from.
template <>
inline constexpr std::string_view kNamesOf<ColorMap>[] = {"violet", "viridis", "cividis", "grey"};

/// How weights are coloured in every workspace.
struct ColorLook {
    ColorMap map = ColorMap::violet;
    bool to_one = false;  // the full colour is a weight of 1, else the largest weight that is shown
    bool operator==(const ColorLook&) const = default;
};
inline constexpr Look<ColorLook> color_look;

using SetColorMap = Put<color_look, &ColorLook::map, "set_color_map", "map">;
using SetWeightsToOne = Put<color_look, &ColorLook::to_one, "set_weights_to_one", "on">;
using ColorActions = ActionList<ViewActions<SetColorMap, SetWeightsToOne>>;
template <ListedIn<ColorActions> A>
inline constexpr Meta kMetaOf<A> = ColorActions::kMeta<A>;

/// A range of the unit scale with these colours; others unchanged.
inline ColorRange with_look(ColorRange range, const ColorLook& look) {
    if (range.scale != ColorScale::unit) return range;
    range.map = look.map;
    if (look.to_one && range.high < 1.0) range.high = 1.0;
    return range;
}

}  // namespace attn::view

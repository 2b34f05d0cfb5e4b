#pragma once

#include <string>

#include "app/common/action.h"
#include "app/common/set_field.h"
#include "app/common/slots.h"

namespace attn::view {

/// State of the frame around every workspace: of the moment, in no session.
struct PartsLook {
    /// The part that is shown where only one of several fits, by its id; "": the first.
    std::string part;
    bool more = false;  // the popover of the controls that have no place in the bar
    bool operator==(const PartsLook&) const = default;
};
inline constexpr Look<PartsLook> parts_look;

using ShowPart = Put<parts_look, &PartsLook::part, "show_part", "part">;
using ShowMore = Put<parts_look, &PartsLook::more, "show_more", "on">;
using PartsActions = ActionList<ViewActions<ShowPart, ShowMore>>;
template <ListedIn<PartsActions> A>
inline constexpr Meta kMetaOf<A> = PartsActions::kMeta<A>;

}  // namespace attn::view

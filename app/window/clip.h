#pragma once

#include "app/common/action.h"
#include "app/common/set_field.h"
#include "app/common/slots.h"

namespace attn::view {

/// A clip of the window: each frame while `records`, as an animated PNG. Transient.
struct ClipLook {
    bool records = false;
    bool operator==(const ClipLook&) const = default;
};
inline constexpr Look<ClipLook> clip_look;

using RecordClip = Put<clip_look, &ClipLook::records, "record_clip", "on">;
using ClipActions = ActionList<ViewActions<RecordClip>>;
template <ListedIn<ClipActions> A>
inline constexpr Meta kMetaOf<A> = ClipActions::kMeta<A>;

}  // namespace attn::view

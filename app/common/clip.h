#pragma once

#include <optional>

#include "app/common/action.h"
#include "app/common/names.h"
#include "app/common/set_field.h"
#include "app/common/slots.h"

namespace attn::view {

/// png: animated. The others are made by ffmpeg.
enum class ClipFormat : std::uint8_t { png, mp4, webm };
template <>
inline constexpr std::string_view kNamesOf<ClipFormat>[] = {"png", "mp4", "webm"};

/// A clip of the window: each frame while `records`. Transient.
struct ClipLook {
    bool records = false;
    ClipFormat format = ClipFormat::png;  // of this clip, or of the last one
    std::optional<double> seconds = {};   // after which it ends by itself
    bool operator==(const ClipLook&) const = default;
};
inline constexpr Look<ClipLook> clip_look;

/// In the format of the last clip.
struct RecordClip {
    bool on;
    static constexpr auto kJournalNames = journal_names("record_clip", "on");
};
/// A clip of a playback, which takes this time.
struct ExportClip {
    double seconds;
    static constexpr auto kJournalNames = journal_names("export_clip", "seconds");
};
/// Begins a clip.
struct RecordClipAs {
    ClipFormat format;
    static constexpr auto kJournalNames = journal_names("record_clip_as", "format");
};
using ClipActions = ActionList<ViewActions<RecordClip, RecordClipAs, ExportClip>>;
template <ListedIn<ClipActions> A>
inline constexpr Meta kMetaOf<A> = ClipActions::kMeta<A>;

}  // namespace attn::view

#include "app/platform/video.h"

namespace attn {

std::optional<VideoFormat> video_format_of(std::string_view name) {
    if (name.ends_with(".mp4")) return VideoFormat::mp4;
    if (name.ends_with(".webm")) return VideoFormat::webm;
    return std::nullopt;
}

/// ffmpeg is not called on Windows: `ffmpeg -i clip.png clip.mp4` does it.
Result<void> check_ffmpeg() {
    return failed(
        "this program writes no MP4 or WebM. Write an animated PNG, as in clip.png, and convert it "
        "with ffmpeg -i clip.png clip.mp4");
}

Result<std::string> video_of(std::string_view, VideoFormat) {
    if (auto found = check_ffmpeg(); !found) return tl::unexpected(std::move(found.error()));
    return std::string();
}

}  // namespace attn

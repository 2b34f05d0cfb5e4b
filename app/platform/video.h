#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"

namespace attn {

/// What ffmpeg makes of an animated PNG: MP4 with H.264, WebM with VP9.
enum class VideoFormat : std::uint8_t { mp4, webm };
/// By the ending of a name, ".mp4" or ".webm"; nullopt: another one.
std::optional<VideoFormat> video_format_of(std::string_view name);

/// ffmpeg is on the path. The error names the alternative.
Result<void> check_ffmpeg();
/// The bytes of the video, 30 pictures a second, by the program ffmpeg, which is waited for. An odd width or height gets one
/// more line of pixels. An error: ffmpeg is missing, or its last line.
Result<std::string> video_of(std::string_view animated_png, VideoFormat format);

}  // namespace attn

#pragma once

#include <filesystem>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/result.h"

namespace attn {

// For whoever includes this: link attn::json too.

/// Deeper nesting is refused, so that nobody who walks the value can run out of stack.
inline constexpr std::size_t kMaxJsonDepth = 64;

/// `what` names the text in the error: "assets/presets/x.json". The sentence gives line and column, and
/// quotes at most kMostQuoted characters (core/text.h). A key that is twice in one object is an error.
Result<nlohmann::json> parse_json(std::string_view text, std::string_view what);
Result<nlohmann::json> read_json_file(const std::filesystem::path& path);

}  // namespace attn

#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/result.h"

namespace attn {

// For whoever includes this: link attn::json too.

/// Deeper nesting is refused, so that nobody who walks the value can run out of stack.
inline constexpr std::size_t kMaxJsonDepth = 64;

/// A part of a text that is too large to be held as a value: its members go to `take` as they are read, and the value that
/// parse_json returns has it empty. What is `member` of `object` of the root, where it is an object, or an array.
struct JsonStream {
    std::string_view object, member;
    nlohmann::json::value_t kind = nlohmann::json::value_t::object;
    /// `key` is "" in an array. False: an object's key that was there before. What comes before an error is taken too.
    std::function<bool(const std::string& key, nlohmann::json value)> take;
};

/// `what` names the text in the error: "assets/presets/x.json". The sentence gives line and column, and
/// quotes at most kMostQuoted characters (core/text.h). A key that is twice in one object is an error.
Result<nlohmann::json> parse_json(std::string_view text, std::string_view what,
                                  std::span<const JsonStream> streams = {});
Result<nlohmann::json> read_json_file(const std::filesystem::path& path);

}  // namespace attn

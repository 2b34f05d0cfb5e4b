#include "core/io/json.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/io/file.h"

namespace attn {
namespace {

// "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while ..." -> the part
// from "syntax error" on.
std::string_view after_position(std::string_view message) {
    const std::size_t position = message.find("parse error at ");
    const std::size_t colon =
        position == message.npos ? message.npos : message.find(": ", position);
    return colon == message.npos ? message : message.substr(colon + 2);
}

/// Levels of [ and { outside of strings: the recursion that walking the parsed value can take.
std::size_t depth_of(std::string_view text) {
    std::size_t depth = 0;
    std::size_t deepest = 0;
    bool inside_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (inside_string && c == '\\') ++i;
        if (c == '"') inside_string = !inside_string;
        if (inside_string) continue;
        if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
        if ((c == ']' || c == '}') && depth > 0) --depth;
    }
    return deepest;
}

std::string where(std::string_view text, std::size_t byte) {
    const std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t start = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
    return fmt::format("line {}, column {}", line, before.size() - start + 1);
}

}  // namespace

Result<nlohmann::json> parse_json(std::string_view text, std::string_view what) {
    if (depth_of(text) > kMaxJsonDepth)
        return bad_input(
            fmt::format("{} is JSON nested deeper than {} levels", what, kMaxJsonDepth));
    try {
        return nlohmann::json::parse(text);
    } catch (const nlohmann::json::parse_error& error) {
        return bad_input(fmt::format("{} is not valid JSON at {}: {}", what,
                                     where(text, error.byte), after_position(error.what())));
    } catch (const nlohmann::json::exception& error) {
        return bad_input(fmt::format("{} is not valid JSON: {}", what, error.what()));
    }
}

Result<nlohmann::json> read_json_file(const std::filesystem::path& path) {
    return read_text_file(path).and_then(
        [&](const std::string& text) { return parse_json(text, path.string()); });
}

}  // namespace attn

#include "core/io/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/io/file.h"
#include "core/text.h"

namespace attn {
namespace {

using nlohmann::json;

// "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while ..." -> the part
// from "syntax error" on.
std::string_view after_position(std::string_view message) {
    const std::size_t position = message.find("parse error at ");
    const std::size_t colon =
        position == message.npos ? message.npos : message.find(": ", position);
    return colon == message.npos ? message : message.substr(colon + 2);
}

// "[json.exception.out_of_range.406] number overflow parsing '1e999'" -> the part after the bracket.
std::string_view after_bracket(std::string_view message) {
    const std::size_t bracket = message.find("] ");
    return bracket == message.npos ? message : message.substr(bracket + 2);
}

/// The parser quotes what it read last, however long that is: here at most kMostQuoted of it.
std::string bounded(std::string_view message) {
    for (const std::string_view mark : {"last read: '", "parsing '"}) {
        const std::size_t found = message.find(mark);
        if (found == message.npos) continue;
        const std::size_t begin = found + mark.size();
        const std::size_t expected = message.rfind("'; expected ");
        const std::size_t end =
            expected == message.npos || expected < begin ? message.rfind('\'') : expected;
        if (end == message.npos || end < begin) continue;
        return fmt::format("{}{}{}", message.substr(0, begin),
                           shortened(message.substr(begin, end - begin)), message.substr(end));
    }
    return shortened(message, 4 * kMostQuoted);
}

/// The keys of the objects that are open, to find one that is there twice: what the second one means
/// nobody can know. A pass of its own: a callback of the parser takes time quadratic in the keys of an object.
class Keys final : public nlohmann::json_sax<json> {
  public:
    std::string twice;  // "the key 'row' twice in 'step' 'selected'", of the first one

    bool start_object(std::size_t) override {
        open_.emplace_back();
        return true;
    }
    bool end_object() override {
        open_.pop_back();
        return true;
    }
    bool key(std::string& name) override {
        open_.back().last = name;
        if (open_.back().keys.insert(std::move(name)).second) return true;
        twice = words();
        return false;
    }
    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(json::number_integer_t) override { return true; }
    bool number_unsigned(json::number_unsigned_t) override { return true; }
    bool number_float(json::number_float_t, const std::string&) override { return true; }
    bool string(std::string&) override { return true; }
    bool binary(json::binary_t&) override { return true; }
    bool start_array(std::size_t) override { return true; }
    bool end_array() override { return true; }
    bool parse_error(std::size_t, const std::string&, const json::exception&) override {
        return false;
    }

  private:
    struct Object {
        std::unordered_set<std::string> keys;
        std::string last;  // the key that is being read
    };

    std::string words() const {
        std::string place;
        for (std::size_t n = 0; n + 1 < open_.size(); ++n)
            if (!open_[n].last.empty()) place += fmt::format(" '{}'", shortened(open_[n].last));
        return fmt::format("the key '{}' twice{}{}", shortened(open_.back().last),
                           place.empty() ? "" : " in", place);
    }

    std::vector<Object> open_;
};

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
        auto parsed = nlohmann::json::parse(text);
        Keys keys;
        json::sax_parse(text, &keys);
        if (!keys.twice.empty()) return bad_input(fmt::format("{} has {}", what, keys.twice));
        return parsed;
    } catch (const json::parse_error& error) {
        return bad_input(fmt::format("{} is not valid JSON at {}: {}", what,
                                     where(text, error.byte),
                                     bounded(after_position(error.what()))));
    } catch (const json::exception& error) {
        return bad_input(
            fmt::format("{} is not valid JSON: {}", what, bounded(after_bracket(error.what()))));
    }
}

Result<nlohmann::json> read_json_file(const std::filesystem::path& path) {
    return read_text_file(path).and_then(
        [&](const std::string& text) { return parse_json(text, path.string()); });
}

}  // namespace attn

#include "core/io/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
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

constexpr std::size_t kMostOfMessage = 4 * kMostQuoted;

/// The parser quotes what it read last, however long that is: here at most kMostQuoted of it. What is quoted may itself hold
/// the words that follow it.
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
                           shortened(message.substr(begin, end - begin)),
                           shortened(message.substr(end), kMostOfMessage));
    }
    return shortened(message, kMostOfMessage);
}

/// Builds the value. The parser's own builder keeps the last of two keys in silence, and what the second one means nobody can
/// know; a callback of the parser takes time quadratic in the keys of an object.
class Builder final : public nlohmann::json_sax<json> {
  public:
    explicit Builder(std::span<const JsonStream> streams) : streams_(streams) {}

    json root;
    std::string twice;  // "the key 'row' twice in 'step' 'selected'", of the first one
    /// The sentence of an error and, of one in the grammar, where it is.
    std::string message;
    std::optional<std::size_t> byte;

    bool start_object(std::size_t) override { return open(json::value_t::object); }
    bool start_array(std::size_t) override { return open(json::value_t::array); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(std::string& name) override {
        Open& object = open_.back();
        object.key = name;
        if (object.stream) return true;
        const auto [member, fresh] = object.value.get_ref<json::object_t&>().emplace(name, nullptr);
        object.slot = &member->second;
        if (!fresh) found_twice();
        return true;
    }
    bool null() override { return place(nullptr); }
    bool boolean(bool value) override { return place(value); }
    bool number_integer(json::number_integer_t value) override { return place(value); }
    bool number_unsigned(json::number_unsigned_t value) override { return place(value); }
    bool number_float(json::number_float_t value, const std::string&) override {
        return place(value);
    }
    bool string(std::string& value) override { return place(value); }
    bool binary(json::binary_t&) override { return true; }
    bool parse_error(std::size_t, const std::string&, const json::exception& error) override {
        message = error.what();
        if (const auto* grammar = dynamic_cast<const json::parse_error*>(&error))
            byte = grammar->byte;
        return false;
    }

  private:
    struct Open {
        json value;
        std::string key = {};  // that is being read
        json* slot = nullptr;  // its place
        const JsonStream* stream = nullptr;
    };

    bool open(json::value_t kind) {
        const JsonStream* stream = nullptr;
        for (const JsonStream& each : streams_)
            if (open_.size() == 2 && open_[0].value.is_object() && open_[1].value.is_object() &&
                open_[0].key == each.object && open_[1].key == each.member && kind == each.kind)
                stream = &each;
        open_.push_back({json(kind), {}, nullptr, stream});
        return true;
    }

    bool close() {
        json value = std::move(open_.back().value);
        open_.pop_back();
        return place(std::move(value));
    }

    bool place(json value) {
        if (open_.empty()) {
            root = std::move(value);
            return true;
        }
        Open& to = open_.back();
        if (to.stream) {
            if (!to.stream->take(to.key, std::move(value))) found_twice();
        } else if (to.value.is_array()) {
            to.value.get_ref<json::array_t&>().push_back(std::move(value));
        } else {
            *to.slot = std::move(value);
        }
        return true;
    }

    void found_twice() {
        if (!twice.empty()) return;
        std::string place;
        for (std::size_t n = 0; n + 1 < open_.size(); ++n)
            if (!open_[n].key.empty()) place += fmt::format(" '{}'", shortened(open_[n].key));
        twice = fmt::format("the key '{}' twice{}{}", shortened(open_.back().key),
                            place.empty() ? "" : " in", place);
    }

    std::span<const JsonStream> streams_;
    std::vector<Open> open_;
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

Result<nlohmann::json> parse_json(std::string_view text, std::string_view what,
                                  std::span<const JsonStream> streams) {
    if (depth_of(text) > kMaxJsonDepth)
        return bad_input(
            fmt::format("{} is JSON nested deeper than {} levels", what, kMaxJsonDepth));
    Builder builder(streams);
    if (json::sax_parse(text, &builder)) {
        if (!builder.twice.empty()) return bad_input(fmt::format("{} has {}", what, builder.twice));
        return std::move(builder.root);
    }
    if (builder.byte)
        return bad_input(fmt::format("{} is not valid JSON at {}: {}", what,
                                     where(text, *builder.byte),
                                     bounded(after_position(builder.message))));
    return bad_input(
        fmt::format("{} is not valid JSON: {}", what, bounded(after_bracket(builder.message))));
}

Result<nlohmann::json> read_json_file(const std::filesystem::path& path) {
    return read_text_file(path).and_then(
        [&](const std::string& text) { return parse_json(text, path.string()); });
}

}  // namespace attn

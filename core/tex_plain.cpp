#include <algorithm>

#include "core/tex.h"
#include "core/text.h"

// A formula as one line of plain text.

namespace attn::tex {
namespace {

enum class Place { line, script };

std::string text_of_row(const Node& row, Place place);

bool has_space(std::string_view text) { return text.find(' ') != text.npos; }
std::string of_node(const Node& node, Place place);

std::size_t letters(std::string_view text) {
    std::size_t count = 0;
    for (; !text.empty(); ++count) text.remove_prefix(first_code_point(text).bytes);
    return count;
}

/// Whether a space parts it that no parentheses hold.
bool is_loose(const Node& row) {
    const auto parts_it = [](const Node& node) {
        return node.kind != Kind::fence && has_space(of_node(node, Place::line));
    };
    return std::ranges::any_of(row.parts, parts_it);
}

/// In parentheses where it would fall apart beside a "/" or under a root.
std::string guarded(const Node& row, bool product_is_whole) {
    const std::string text = text_of_row(row, Place::line);
    const auto parts_it = [&](const Node& node) {
        return node.spacing == Spacing::binary && !(product_is_whole && node.text == "·");
    };
    bool apart = false;
    for (const Node& node : row.parts) apart = apart || parts_it(node);
    const bool sum = !row.parts.empty() && row.parts.front().kind == Kind::big_op;
    if (!product_is_whole && !sum && row.parts.size() > 1 && is_loose(row)) apart = true;
    return apart ? "(" + text + ")" : text;
}

std::string fraction(const Node& node) {
    const std::string above = guarded(node.parts[0], true);
    const std::string below = guarded(node.parts[1], false);
    const bool spaced = is_loose(node.parts[0]) || is_loose(node.parts[1]);
    return above + (spaced ? " / " : "/") + below;
}

/// Indices of a word, and more than one index, stand in brackets: scores[i,j].
std::string script(const Node& node) {
    std::string text = plain_text(node.parts[0]);
    const std::string below = text_of_row(node.parts[1], Place::script);
    const std::string above = text_of_row(node.parts[2], Place::script);
    if (above == "n") text += "ⁿ";  // a mark of the letter, before its indices
    const bool word = node.parts[0].form == Form::upright && letters(text) > 1;
    const bool several = below.find(',') != below.npos;
    if (!below.empty()) text += word || several ? "[" + below + "]" : "_" + below;
    if (above == "⊤") return text + "ᵀ";
    if (above == "2") return text + "²";
    if (above == "n") return text;
    return above.empty() ? text : text + "^" + above;
}

std::string big_op(const Node& node) {
    std::string text = node.text;
    if (const auto below = text_of_row(node.parts[0], Place::script); !below.empty())
        text += "_" + below;
    if (const auto above = text_of_row(node.parts[1], Place::script); !above.empty())
        text += "^" + above;
    return text + " ";
}

std::string of_symbol(const Node& node, Place place) {
    if (place == Place::script) return node.text;
    if (node.spacing == Spacing::binary || node.spacing == Spacing::relation)
        return " " + node.text + " ";
    return node.spacing == Spacing::punctuation ? node.text + " " : node.text;
}

std::string of_node(const Node& node, Place place) {
    switch (node.kind) {
        case Kind::row:
            return text_of_row(node, place);
        case Kind::symbol:
            return of_symbol(node, place);
        case Kind::script:
            return script(node);
        case Kind::fraction:
            return fraction(node);
        case Kind::root:
            return "√" + guarded(node.parts[0], false);
        case Kind::big_op:
            return big_op(node);
        case Kind::fence:
            return node.text + text_of_row(node.parts[0], place) + node.close;
    }
    return {};
}

/// Two spaces never meet, and none begins or ends the line.
std::string text_of_row(const Node& row, Place place) {
    std::string text;
    for (const Node& node : row.parts) {
        std::string more = of_node(node, place);
        const bool blank = text.empty() || text.back() == ' ';
        if (blank && more.starts_with(' ')) more.erase(0, 1);
        text += more;
    }
    while (text.ends_with(' ')) text.pop_back();
    return text;
}

}  // namespace

std::string plain_text(const Node& node) { return of_node(node, Place::line); }

std::string plain_text(std::string_view source) {
    const auto node = parse(source);
    return node ? plain_text(*node) : std::string(source);
}

}  // namespace attn::tex

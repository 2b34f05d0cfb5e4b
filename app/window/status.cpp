#include "app/window/status.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "app/common/state.h"

namespace attn::view {
namespace {

/// "→", "…" and "–" are not words.
bool is_sign(const std::string& part) {
    const auto is_letter = [](unsigned char c) { return std::isalnum(c) != 0; };
    return part.starts_with("\xE2") && std::ranges::none_of(part, is_letter);
}

int count_words(const std::string& text) {
    std::istringstream parts(text);
    int count = 0;
    for (std::string part; parts >> part;) count += is_sign(part) ? 0 : 1;
    return count;
}

/// Where the clause that begins at `from` ends: after its sign, before the space.
std::size_t end_of_clause(const std::string& text, std::size_t from) {
    const std::size_t stop = text.find(". ", from), pause = text.find("; ", from);
    const std::size_t end = std::min(stop, pause);
    return end == text.npos ? text.size() : end + 1;
}

}  // namespace

std::string status_text(const Message& message) {
    const std::string& text = message.text;
    if (message.severity != Severity::info || count_words(text) <= kLongestStatus) return text;
    std::size_t end = end_of_clause(text, 0);
    while (end < text.size()) {
        const std::size_t next = end_of_clause(text, end);
        if (count_words(text.substr(0, next)) > kLongestStatus) break;
        end = next;
    }
    std::string shown = text.substr(0, end);
    if (shown.ends_with(';')) shown.back() = '.';
    return shown;
}

}  // namespace attn::view

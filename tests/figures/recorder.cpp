#include "tests/figures/recorder.h"

#include <algorithm>

namespace attn::test {

std::size_t count(const std::string& in, const std::string& part) {
    std::size_t found = 0;
    for (auto at = in.find(part); at != std::string::npos; at = in.find(part, at + 1)) ++found;
    return found;
}

std::size_t Recorder::count(const std::string& what) const {
    return static_cast<std::size_t>(std::ranges::count(calls, what, &Call::what));
}

const Call* Recorder::find_text(const std::string& text) const {
    const auto found = std::ranges::find(calls, text, &Call::text);
    return found == calls.end() ? nullptr : &*found;
}

}  // namespace attn::test

#include "app/workspaces/lookup/text.h"

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/pair.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/workspaces/lookup/compute.h"

namespace attn::view {
std::string point_text(const PlanePoint& at) {
    return fmt::format("({}, {})", cell_number(at[0], 2), cell_number(at[1], 2));
}

std::string page_title(LookupPage page) {
    constexpr const char* kTitles[] = {"Memory", "Capacity", "Similarity", "Alignment",
                                       "Permutation"};
    return kTitles[static_cast<std::size_t>(page)];
}

std::string page_hint(LookupPage page) {
    constexpr const char* kHints[] = {
        "Drag q, k or v. A adds a pair.",
        "How many keys of width d_k can be distinguished. ← and → change d_k, ↑ and ↓ the number "
        "of pairs.",
        "All queries against all keys, without values. M switches between dot product and cosine.",
        "Each query’s best key, by dot product and by cosine.",
        "Drag a token, or press S to shuffle. Without positions the weights move with the tokens."};
    return kHints[static_cast<std::size_t>(page)];
}

std::string pair_sentence(const AppState& state) {
    const LookupControls& controls = lookup_controls(state);
    const MemoryRead read = memory_read(controls);
    const auto n = static_cast<std::size_t>(lookup_look(state).pair);
    const LookupPair& pair = controls.pairs[n];
    return fmt::format("{} → {}: q·k = {}, weight {}.", shown_token(pair.key, kMostNamed),
                       shown_token(pair.value, kMostNamed), number(read.scores[n]),
                       percent_text(read.weights[n]));
}

std::string difference_text(double by, int digits) {
    return by == 0.0 ? "exactly 0" : significant(by, digits);
}

std::string position_text(PermutationPosition position) {
    constexpr const char* kDescriptions[] = {"none", "sinusoidal waves added to X",
                                             "RoPE (rotates Q and K)",
                                             "ALiBi (a slope times the distance)", "a causal mask"};
    return kDescriptions[static_cast<std::size_t>(position)];
}

std::string cell_sentence(const AppState& state) {
    const LookupLook& look = lookup_look(state);
    return pair_name(state, {look.row, look.column}) + ".";
}

}  // namespace attn::view

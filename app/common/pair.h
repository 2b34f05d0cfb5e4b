#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/sizes.h"

namespace attn::view {

struct AppState;
struct Document;

/// A query and a key.
struct Pair {
    Index query = 0;
    Index key = 0;
    bool operator==(const Pair&) const = default;
};

/// Whether the document shown has that query and that key.
bool has_pair(const AppState& state, Pair pair);
/// The document's pair that is next to `pair`, or `pair` itself.
Pair nearest_pair(const AppState& state, Pair pair);
/// "There is no pair 5 → 2: the weights are 4 × 4, counted from 0."; `matrix`: "the weights are".
std::string no_pair_text(const AppState& state, Pair pair, std::string_view matrix);
/// "sat → cat"
std::string pair_name(const AppState& state, Pair pair);

/// The pair of the selected cell, where it has one.
std::optional<Pair> selected_pair(const AppState& state);
/// The pair that every workspace looks at; nullopt: none was chosen yet.
std::optional<Pair> shared_pair(const AppState& state);
/// Every workspace looks at it from now on.
void share_pair(AppState& state, Pair pair);

}  // namespace attn::view

#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace attn::view {

struct AppState;

/// Weights of the open sentence, row-major, with scaling or without.
struct SentenceSide {
    bool scaled = false;
    std::vector<double> weights;  // NaN: of a row without a finite score
    std::string title;            // "without scaling: it looks at animal 99.9 %"
};
/// The open sentence at the d_k of the handle. z: its own scaled and masked scores. With scaling its weights are softmax(z);
/// without, softmax(z √d_k), because q·k grows with √d_k: at the document's own d_k exactly its weights without scaling.
struct SentenceAtWidth {
    std::vector<std::string> queries, keys;
    std::size_t query = 0, key = 0;     // the selected row, and where it looks most
    bool one_text = true;               // queries and keys are the same tokens
    std::array<SentenceSide, 2> sides;  // with, without
    std::string tip;
};
/// nullopt: the document has no scores, or fewer than 2 or more than 24 tokens.
std::optional<SentenceAtWidth> sentence_at_width(const AppState& state);

}  // namespace attn::view

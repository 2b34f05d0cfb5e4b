#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine.h"
#include "core/result.h"

namespace attn::view {

/// The toy model of the Step workspace: all that determines its trace. Immutable values; undo keeps
/// old ones. A preset file and a session hold the same thing as JSON.
struct Document {
    std::string name;   // of the preset it came from, or "custom"
    std::string title;  // "The cat sat down"
    std::string note;   // one line on where the weights come from: "toy weights, hand-set"
    std::string sentence;
    std::vector<std::string> tokens;     // queries
    std::vector<std::string> tokens_kv;  // cross-attention source; empty: self-attention
    Index d_model = 4;
    Index d_k = 4;  // of each head; d_v = d_k
    Index heads = 1;
    std::uint64_t seed = 1;
    AttentionSpec spec;
    std::shared_ptr<const Inputs> inputs;  // X and W; never null
};

// Limits of the toy model; the sentence of an error names them.
inline constexpr Index kMaxTokens = 64;
inline constexpr Index kMaxModelWidth = 64;
inline constexpr Index kMaxKeyWidth = 64;
inline constexpr Index kMaxHeads = 8;

/// Splits at white space.
std::vector<std::string> tokenize(std::string_view sentence);

/// Deterministic toy vectors for any sentence: word vector (seeded by the word alone, so the same
/// word gives the same vector) + sinusoidal position; W seeded, N(0, 1/d_in).
/// Errors: no token, more than kMaxTokens, a size out of its limits.
Result<Document> make_document(std::string_view sentence, Index d_model, Index d_k, Index heads,
                               std::uint64_t seed, const AttentionSpec& spec);

/// JSON <-> document. An error names the key or the row that is wrong and what was wanted.
Result<Document> document_from_json(std::string_view text, std::string_view file_name);
std::string document_to_json(const Document& document);

/// One preset of assets/presets.
struct Preset {
    std::string key;  // file name without .json
    std::string title;
    std::filesystem::path path;
};
/// Where presets are looked for: $ATTNSCOPE_ASSETS, beside the installed binary, the source tree.
std::vector<std::filesystem::path> asset_folders();
std::vector<Preset> list_presets();
Result<Document> load_preset(std::string_view key);

}  // namespace attn::view

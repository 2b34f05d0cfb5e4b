#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/spec.h"
#include "core/tensor.h"

namespace attn {
struct Lens;
}  // namespace attn

namespace attn::view {

/// What the model says after the text and so many of the tokens.
struct GeneratedStep {
    std::vector<float> logits;    // of every token of the vocabulary
    std::vector<Tensor> weights;  // of each layer [1, H, 1, keys]: the row of the token read last
    /// Of each layer [1, 1, tokens, experts]: the share of each expert in each token that was read, 0 where it is not taken; empty:
    /// it has none.
    std::vector<Tensor> routing = {};
};

/// The text goes on with one token after the other, each the likeliest after the ones before.
struct Branch {
    std::vector<Index> tokens;               // the first begins it
    std::vector<std::vector<float>> logits;  // from which each later token was taken
};
/// Continuations from one step on: with each of the likeliest tokens there, best first.
struct Branches {
    Index step = 0;
    std::vector<Branch> all;
};
inline constexpr Index kBranches = 3, kBranchTokens = 6;  // at most, and tokens of each

/// A model that writes: immutable, and shared with the next one as far as their tokens are the same.
struct Generated {
    std::string path, text, second_input;                     // of the model's folder; read first
    std::vector<Index> tokens;                                // that were taken after the text
    std::vector<std::string> prompt;                          // the text's tokens
    std::shared_ptr<const std::vector<std::string>> names;    // of the vocabulary's tokens
    std::vector<std::shared_ptr<const GeneratedStep>> steps;  // one more than `tokens`
    std::vector<std::shared_ptr<const Lens>> lenses;          // of each; null: not asked for yet
    std::shared_ptr<const Branches> branches = {};            // of a request for them; else null
    std::vector<Index> ends;                                  // tokens that end a text
    std::vector<AttentionSpec> specs;                         // of each layer, as it writes
    std::optional<Index> most_tokens;  // that the model takes, with those of the text
    std::string no_lens;               // why there is no logit lens; "": there is
    Index layers = 0, kv_heads = 0, bytes_of_token = 0;  // of the cache
    Index encoder_tokens = 0;  // over which a decoder keeps as much K and V for each as of its own
};

}  // namespace attn::view

#include "app/common/document/reading.h"

namespace attn::view {
namespace {

constexpr TensorRole kRoles[] = {
    {"Q", "queries"},
    {"K", "keys"},
    {"V", "values"},
    {"qkv", "queries, keys and values in one"},
    {"weights", "weights, rows sum to 1"},
    {"scores", "q·k before the scale"},
    {"scaled", "scores after the scale, before the mask"},
    {"masked", "scores after scale and mask"},
    {"X", "embeddings"},
    {"X_kv", "embeddings of the keys"},
    {"W_Q", "query projection, [in, out]"},
    {"W_K", "key projection, [in, out]"},
    {"W_V", "value projection, [in, out]"},
    {"W_O", "projection of the output, [in, out]"},
    {"W_Q.T", "query projection, [out, in] as nn.Linear stores it"},
    {"W_K.T", "key projection, [out, in]"},
    {"W_V.T", "value projection, [out, in]"},
    {"W_O.T", "projection of the output, [out, in]"},
    {"b_Q", "bias of queries"},
    {"b_K", "bias of keys"},
    {"b_V", "bias of values"},
    {"b_O", "bias of the output"},
    {"dO", "gradient of the context"},
    {"dY", "gradient of the output"},
    {"mask", "true = may attend"},
    {"bias", "added to the scores"},
    {"tokens", "the tokens, one text each"},
    {"cu_seqlens", "starts of the packed documents, and the end"},
    {"-", "not used"},
};

constexpr std::string_view kGroups[] = {"encoder", "decoder", "cross"};
constexpr std::string_view kCorners[] = {"top-left", "bottom-right"};

constexpr ReadingOption kOptions[] = {
    {"role"},
    {"layout"},
    {"group", "group", "For a file with several kinds of attention", kGroups},
    {"heads", "heads", "The number of heads in a joined last axis"},
    {"kv-heads", "kv heads", "The number of heads of K and V, if they have fewer"},
    {"causal", "causal", "No query sees a later key, counted from that corner", kCorners},
    {"d-k", "d_k", "For raw scores: the width of their queries, for the scale 1/√d_k"},
    {"scale", "scale", "For raw scores: none, or a number to multiply them by", {}, false},
    {"tokens", "tokens file",
     "A text file with one word or line per item, or JSON: a list of strings"},
};

}  // namespace

std::span<const TensorRole> tensor_roles() { return kRoles; }

std::span<const ReadingOption> reading_options() { return kOptions; }

}  // namespace attn::view

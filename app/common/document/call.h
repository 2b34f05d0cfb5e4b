#pragma once

#include <span>
#include <string_view>

#include "app/common/describe.h"
#include "app/common/document/toy.h"

namespace attn {
struct AttentionSpec;
}  // namespace attn

namespace attn::view {

struct Document;

// What a call of attention does beside scaled dot products under a mask, field by field: Step's panel shows these, an action
// sets each (call_actions.h), a document's JSON holds them. Numbers have the ranges that attn::validate() gives them.

enum class RopeTurn : std::uint8_t { off, half, interleaved };
inline constexpr std::string_view kRopeTurns[] = {"off", "half", "interleaved"};
/// Of the table of scores, in the enum's order.
std::span<const std::string_view> score_keys();

struct CallSettings {
    Score score = Score::dot;
    double softcap = 0.0;    // 0: none
    bool sinks = false;      // one logit a head
    bool scale_q_k = false;  // each by d_k^(−1/4), in place of their scores
    bool qk_norm = false;    // with the ε of the document, or 1e-6
    RopeTurn rope = RopeTurn::off;
    double rope_base = 10000.0;
    Index rope_dims = 0;       // 0: all d_k
    bool rope_scaled = false;  // as the model's file says
    bool alibi = false;
    bool sinusoid = true;    // of a toy: each position's is added to its word vector
    Index query_offset = 0;  // 0: as the causal mask says
    Index kv_heads = 1, d_v = 1;
    double dropout = 0.0;
    std::uint64_t dropout_seed = 0;
    bool training = true;
    bool operator==(const CallSettings&) const = default;
};

inline void describe_rope(Visitor& visit, CallSettings& call) {
    visit("rope", call.rope, kRopeTurns,
          {.text = "RoPE",
           .tip = "RoPE rotates queries and keys by their position\nhalf: pairs columns c and c + "
                  "d_k/2, as in Llama; interleaved: 2c and 2c + 1, as in RoFormer."});
    visit("rope_base", call.rope_base,
          {.text = "base",
           .tip = "RoPE's base\nPair c rotates by position · base^(−2c/d_k) radians: a larger base "
                  "rotates later pairs more slowly."});
    visit("rope_dims", call.rope_dims,
          {.text = "RoPE's columns",
           .tip = "The number of leading columns that rotate; 0: all d_k",
           .low = 0,
           .high = 4096});
    visit("rope_scaled", call.rope_scaled, {.text = "RoPE's scaling"});
}
/// What the options alone have, so that any document can be given it: all but what changes tensors, and the scale.
inline void describe_options(Visitor& visit, CallSettings& call) {
    visit("score", call.score, score_keys(),
          {.text = "score", .tip = "How a query and a key become one number"});
    visit("softcap", call.softcap,
          {.text = "soft cap", .tip = "B = cap · tanh(S / cap)\nNo score exceeds ± cap."});
    visit("qk_norm", call.qk_norm,
          {.text = "QK-norm",
           .tip = "RMSNorm of each query and key before RoPE\nEach row is divided by the root of "
                  "its mean square, as in Qwen3 and Gemma 3."});
    describe_rope(visit, call);
    visit("alibi", call.alibi,
          {.text = "ALiBi",
           .tip = "ALiBi: B = S − slope · |p − j|\nThe farther the key, the lower its score; each "
                  "head has a slope."});
    visit("query_offset", call.query_offset,
          {.text = "query offset",
           .tip = "Position p of the first query\nQuery i is at i + offset, key j at j. 0: the "
                  "offset of the causal mask, Tk − Tq for bottom-right."});
    visit("dropout", call.dropout,
          {.text = "dropout p",
           .tip = "Each weight is dropped with probability p\nThe others are divided by 1 − p."});
    visit("dropout_seed", call.dropout_seed,
          {.text = "dropout seed", .tip = "Dropout seed\nThe same seed drops the same weights."});
    visit("training", call.training,
          {.text = "training", .tip = "Training\nOff, as in evaluation: no weight is dropped."});
}
inline void describe(Visitor& visit, CallSettings& call) {
    describe_options(visit, call);
    visit("sinks", call.sinks,
          {.text = "sinks",
           .tip = "Sinks: one more logit per head in each row of scores\nIt takes weight but has "
                  "no value, so rows sum to less than 1."});
    visit("scale_q_k", call.scale_q_k,
          {.text = "q, k × d_k^(−¼)",
           .tip = "Queries and keys are scaled, not their scores\nEach is multiplied by d_k^(−¼) "
                  "before the dot product, as in Whisper: the scores are the same up to rounding, "
                  "and no intermediate is larger than the input of softmax."});
    visit(
        "sinusoid", call.sinusoid,
        {.text = "sinusoid",
         .tip =
             "Sinusoidal positions\nX = word vector + position, sin and cos of position / "
             "10000^(c/32). The 32 is fixed, so a column keeps its frequency when d_model changes. "
             "Off: only the word vector."});
    visit("kv_heads", call.kv_heads,
          {.text = "kv heads",
           .tip = "G: key/value heads\nheads / G query heads share each: grouped-query attention; "
                  "1: multi-query.",
           .low = 1,
           .high = kMaxHeads});
    visit("d_v", call.d_v,
          {.text = "d_v",
           .tip = "d_v: columns of V in each head\nW_V is [d_model, kv heads · d_v].",
           .low = 1,
           .high = kMaxKeyWidth});
}

CallSettings call_of(const Document& document);
/// With RoPE as it comes back where it is switched off.
CallSettings call_turned(const Document& document);
/// None where `call` has none; the scaling is `rope`'s own.
void set_rope(std::optional<Rope>& rope, const CallSettings& call);
/// What describe_options() names. What a call leaves at its default stays unset.
void set_options(AttentionSpec& spec, const CallSettings& call);

}  // namespace attn::view

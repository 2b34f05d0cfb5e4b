#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <variant>

namespace attn {

// Stages and parameters by name; stages.h has the table of what each is.

enum class Stage : std::uint8_t {
    x,
    x_kv,
    q,
    k,
    v,
    q_norm,
    k_norm,
    q_rot,
    k_rot,
    scores,
    scaled,
    biased,
    masked,
    weights,
    dropped,
    context,
    output
};
inline constexpr std::size_t kStageCount = 17;

/// The trainable parameters of one attention call. Weights are [in, out], biases and other rows of numbers [1, out].
enum class Param : std::uint8_t {
    w_q,
    w_k,
    w_v,
    w_o,
    b_q,
    b_k,
    b_v,
    b_o,
    w_score,    // general: scores = q W_score k
    w_score_q,  // additive: scores = w_score · tanh(q W_score_q + k W_score_k)
    w_score_k,
    w_score_row,
    sinks,    // one logit a head that takes part in the softmax and has no value
    b_score,  // relative: scores = q k + b_score of the head and the distance from query to key
    q_norm_weight,  // QK-norm: a factor for each column of a query
    k_norm_weight   // and of a key
};
inline constexpr std::size_t kParamCount = 16;

using OperandId = std::variant<Stage, Param>;

/// A set of stages: those that a backend can keep, or has to keep.
using StageSet = std::bitset<kStageCount>;

constexpr std::size_t index_of(Stage stage) { return static_cast<std::size_t>(stage); }
constexpr std::size_t index_of(Param param) { return static_cast<std::size_t>(param); }

/// Every stage.
inline StageSet all_stages() { return StageSet{}.set(); }
inline StageSet only_stage(Stage stage) { return StageSet{}.set(index_of(stage)); }
/// The stages that have a number for each pair of query and key: scores … dropped.
StageSet pair_stages();

}  // namespace attn

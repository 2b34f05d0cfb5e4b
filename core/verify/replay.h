#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/verify/subject.h"

namespace attn {
enum class FloatFormat : std::uint8_t;
struct Dimensions;
}  // namespace attn

namespace attn::verify {

inline constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

/// Weights of a row without an allowed key.
enum class EmptyWeights : std::uint8_t { zero, nan, uniform };
/// What a softmax sums over.
enum class SoftmaxOver : std::uint8_t { keys, queries, heads, batch };
/// How heads are joined: [B,H,T,d] to [B,T,H,d] and then to rows, or to rows as it lies.
enum class Merge : std::uint8_t { transposed, flat };

/// Where the keys or values of a head are: a batch entry and a head of theirs.
using HeadPlace = std::function<std::pair<Index, Index>(Index b, Index h)>;

/// Softmax attention from its raw scores on, step by step, where each step can be done wrongly. As replay_of() sets it up
/// it makes the reference's numbers.
struct Replay {
    bool right_weights =
        false;  // weights are the reference's: what follows says of scores and softmax is not done
    TensorD scores;                 // [B,H,Tq,Tk]
    TensorD q, k;                   // in their place: of dot products, which run() takes
    HeadPlace key_place;            // whose k head h of batch entry b has; empty: its own group's
    HeadPlace value_place;          // the same of v; empty: value_head
    TensorD v;                      // [B,G,Tk,d_v]
    std::vector<Index> value_head;  // of each query head: which of v's
    Mask allowed;                   // [B,H,Tq,Tk]
    double factor = 1.0;            // scaled = scores · factor
    std::optional<double> cap;      // biased = cap tanh(scaled / cap)
    std::function<double(Index b, Index h, Index i, Index j)> bias;  // biased += it; empty: none
    bool bias_first = false;                                         // it is added before the cap
    std::vector<double> slopes;    // of each head; biased −= slope · |p − j|; empty: none
    std::vector<double> shift;     // of each batch entry: added to p in that distance; empty: none
    double fill = kMinusInfinity;  // masked, where not allowed
    bool fill_is_added = false;    // masked = biased + fill there
    SoftmaxOver over = SoftmaxOver::keys;
    EmptyWeights empty = EmptyWeights::zero;
    TensorD sinks;                              // [1,1,1,H] or empty
    TensorD dropout;                            // [B,H,Tq,Tk] factor of each weight; empty: none
    std::optional<FloatFormat> round_operands;  // q, k (where they are given) and v
    std::optional<FloatFormat> round_scores;
    std::optional<FloatFormat> round_weights;  // before they meet V
    TensorD gate;                              // [B,H,Tq,d_v] factors of A V; empty: none
    Merge merge = Merge::transposed;
};

Replay replay_of(const Subject& subject);

/// Scores of these operands, [B,H,Tq,d_k] and [B,Hkv or H,Tk,d_k], in the place of the replay's; head (b, h) has the keys of `place`.
void set_scores(const Subject& subject, TensorD q, TensorD k, Replay& replay, HeadPlace place = {});

/// Every stage from `scores` on and logsumexp; those before it are the reference's. No stage where Subject::screen shows that the
/// results are not near.
TraceD run(const Subject& subject, const Replay& replay);

/// Whether run() gave no stage: the results are not near.
inline bool is_rejected(const TraceD& planted) { return planted.logsumexp.empty(); }

/// Key/value head h / (H / Hkv) of each query head h.
std::vector<Index> grouped_heads(const Dimensions& size);

/// Every number rounded to the format.
TensorD rounded_to(FloatFormat format, TensorD tensor);

}  // namespace attn::verify

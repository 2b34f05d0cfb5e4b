#pragma once

#include <cstdint>

#include "core/shape.h"

namespace attn {

enum class Axis : std::uint8_t;
enum class Exists : std::uint8_t;
enum class Stage : std::uint8_t;
struct AttentionSpec;

/// The sizes of one call, worked out from inputs and spec. H query heads share Hkv key/value heads.
struct Dimensions {
    Index batch = 0;
    Index heads = 0;
    Index kv_heads = 0;
    Index tq = 0;
    Index tk = 0;
    Index d_k = 0;
    Index d_v = 0;
    Index d_model = 0;       // 0 when Q, K, V are given
    Index d_model_kv = 0;    // of X_kv; 0 when there is none
    Index d_out = 0;         // of `output`: columns of W_O, or H·d_v
    Index query_offset = 0;  // position of query 0
};

/// How long an axis of a stage is; 0: none of softmax attention's has it.
Index length(Axis axis, const Dimensions& size);
/// Whether a call of this spec has what exists so; what only comes with X has width 0 without it.
bool exists(Exists when, const AttentionSpec& spec);

/// The shape of a stage in this call; count 0 when the call does not have it (StageInfo::exists).
Shape stage_shape(Stage stage, const Dimensions& size, const AttentionSpec& spec);
/// `stage` if this call has it, else its substitute: the stage that it would be made from
/// (scaled for biased, weights for dropped, q for q_rot).
Stage stage_or_source(Stage stage, const AttentionSpec& spec);

}  // namespace attn

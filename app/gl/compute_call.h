#pragma once

#include "app/gl/compute_device.h"
#include "core/call.h"
#include "core/engine.h"

namespace attn {
struct Dimensions;
struct MaskSpec;
struct Shape;
}  // namespace attn

namespace attn::gl {

/// A row of `width` floats takes so many on the card: vec4 loads want a multiple of 4.
inline Index padded_width(Index width) { return (width + 3) / 4 * 4; }

/// Everything of `layout::Call` that stays the same from kernel to kernel.
layout::Call describe_call(const AttentionSpec& spec, const Dimensions& size);

/// int[B]: the valid keys of each batch entry.
Buffer upload_padding(Device& device, const MaskSpec& mask, const Dimensions& size);
/// The custom mask as bytes of 0 and 1; a small buffer when there is none.
Buffer upload_custom_mask(Device& device, const MaskSpec& mask);

/// Rows of `tensor`, each padded with zeros to padded_width().
Buffer upload_rows(Device& device, std::string_view what, const Tensor& tensor);
/// The reverse: a tensor of `shape` from rows that were padded.
Tensor read_rows(const Buffer& buffer, const Shape& shape);

/// Every stage in `keep`, and logsumexp, computed by `device`: by the fused kernel when no stage of query-key pairs is
/// wanted, else by one kernel a stage, some rows at a time. QK-norm, RoPE and the score's operands are rows of Q and K, so the
/// processor makes them, as for the other backends. Edges as attend() in engine.h.
/// Throws ComputeFailure, also when `control` was stopped.
Trace compute_forward(Device& device, const Call& call, StageSet keep, const RunControl& control);

}  // namespace attn::gl

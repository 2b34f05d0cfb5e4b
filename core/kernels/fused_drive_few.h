#pragma once

#include "core/kernels/fused_drive_forward.h"

namespace attn {

struct Dimensions;

/// Whether attend_few_queries() is the quicker of the two: fewer queries than half the lanes of attend_fused().
bool has_few_queries(const Dimensions& size);

/// attend_fused() for few queries, as in decoding: K and V are read once for all query heads that share them, in parts
/// that threads share; their results are joined in the order of the parts. The same numbers on any number of threads.
/// Source of the joining: Dao et al. 2023, Flash-Decoding for long-context inference (split-K).
std::optional<ForwardResult> attend_few_queries(const Call& call, const HeadTensors& operands,
                                                const RunControl& control);

}  // namespace attn

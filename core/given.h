#pragma once

#include "core/dimensions.h"
#include "core/result.h"
#include "core/run_control.h"
#include "core/spec.h"
#include "core/trace.h"

namespace attn {

struct Shape;

/// Scores or weights [B,H,Tq,Tk] that a file gives without the queries and keys that make them.
struct GivenPairs {
    Stage stage = Stage::weights;  // weights; or scaled, biased or masked, whose softmax they are
    Tensor values;
};

/// The options of a spec that still count after a given stage, one of scores to weights: options before it are reset as if they were
/// not there.
AttentionSpec following(Stage from, AttentionSpec spec);

/// Results that follow from given scores or weights, without the queries and keys that make them.
struct GivenTrace {
    Trace trace;         // the given stage, V, and what follows; see attend_from()
    AttentionSpec spec;  // as computed: its mask has the pairs that the numbers forbid
    Dimensions size;     // d_k 0; without V d_v and d_out 0
};

/// Returns the sizes of a call with given scores or weights, or an error that names the part of V, W_O or the options that does not fit. Computes nothing.
Result<Dimensions> sizes_from(Stage from, const Shape& pairs, const Inputs& beside,
                              const AttentionSpec& spec);

/// The stages after `from` (scores, scaled, biased, masked or weights), which is given as `pairs` [B,H,Tq,Tk]:
///   scaled = scores · scale / temperature, biased, masked and weights as in attend(), context = weights V,
///   output = concat(heads) W_O + b_O.
/// In double, each number rounded to float at the end. `beside` may hold V [B,Hkv,Tk,d_v], W_O, b_O and sinks; without V
/// context and output are empty, and so are all stages before `from`; logsumexp too where weights are given.
/// Of `spec` what makes earlier stages is not looked at. Its scale must not be sqrt_dk where scores are given: d_k is unknown.
/// Edge: −inf in given scores forbids its pair as the mask does, so that a row of them follows `empty_rows`. Given weights
/// are taken as they are: no mask, sink or policy changes them, and V of a pair that the mask forbids counts where its
/// weight is not 0.
Result<GivenTrace> attend_from(Stage from, const Tensor& pairs, const Inputs& beside,
                               const AttentionSpec& spec, StageSet keep = all_stages(),
                               const RunControl& control = {});

}  // namespace attn

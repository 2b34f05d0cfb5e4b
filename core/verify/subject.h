#pragma once

#include "core/dimensions.h"
#include "core/engine.h"
#include "core/spec.h"
#include "core/tensor.h"
#include "core/verify/serving.h"

namespace attn::verify {

/// What is checked: results that some program saved under the names of stages, float32; an empty stage was not saved.
/// `output` [B,1,Tq,d_out], logsumexp [B,H,Tq,1].
using Results = Trace;

/// A call, and what the reference makes of it in double: every stage.
struct Subject {
    InputsD inputs;
    AttentionSpec spec;
    Dimensions size;
    Mask allowed;  // [B,H,Tq,Tk]
    TraceD reference;
    std::shared_ptr<const Serving> serving = {};  // of a serving kernel's call
};

/// Fails where the call is none, or every stage does not fit in memory.
Result<Subject> make_subject(InputsD inputs, const AttentionSpec& spec);

/// What the scores are of: queries (q_rot) and keys (k_rot) after RoPE, where there is RoPE. Of q_norm and k_norm: what RoPE turns.
inline const TensorD& operand(const Subject& subject, Stage rotated) {
    return subject.reference[stage_or_source(rotated, subject.spec)];
}

/// The stages that can be compared, in the order of the table: x and x_kv are inputs. Last logsumexp, as nullopt.
struct Named {
    std::string_view key;
    const Tensor* actual = nullptr;
    const TensorD* expected = nullptr;
};
/// Those that both hold.
std::vector<Named> shared_stages(const Results& actual, const TraceD& expected);

}  // namespace attn::verify

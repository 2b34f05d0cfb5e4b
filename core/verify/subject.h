#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/dimensions.h"
#include "core/result.h"
#include "core/spec.h"
#include "core/tensor.h"
#include "core/trace.h"

namespace attn::verify {

struct Serving;
class RowSample;

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
    /// Rows on which run() tries a fault before it computes all of them (replay.h); null: none.
    std::shared_ptr<const RowSample> screen = {};
    TensorD gate = {};  // [B,H,Tq,d_v], G of context = σ(G) ∘ (A V); empty: the call has no gate
};

/// Fails where the call is none, where the gate has another shape than its context, or where every stage does not fit in memory.
Result<Subject> make_subject(InputsD inputs, const AttentionSpec& spec, TensorD gate = {});

inline double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
/// Multiplies row i of A V of a head by its σ(G). Without a gate: nothing.
void open_gate(const Subject& subject, Index b, Index h, Index i, std::span<double> row);
/// The same of every row of context, and the output that follows.
void open_gate(const Subject& subject, TraceD& trace);

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

#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/verify/bounds.h"
#include "core/verify/subject.h"

namespace attn::verify {

// Gradients of a call, by the keys of stages and parameters: d_q, d_weights, d_w_q.

/// Those that both hold: of stages in the order of the table, then of parameters, then of the bias.
std::vector<Named> shared_gradients(const Results& actual, const TraceD& expected);
/// The stage whose value, or gradient, has the key: q of q and of d_q. nullopt: of a parameter, logsumexp, or none.
std::optional<Stage> stage_of(std::string_view key);

/// A backward pass: where it starts, and what the reference makes of it in double.
struct Backward {
    UpstreamD upstream;
    TraceD reference;
    TraceD single;  // the same by a float32 backend; empty where none computes it
};
/// An error where the upstream gradient is not of the call's shape.
Result<Backward> make_backward(const Subject& subject, const Upstream& upstream);

/// How far arithmetic of that roundoff may be from `expected`: 16 times what a float32 backend is off by on this call, and
/// what rounding makes of dO · V and of the products with it, both larger where `expected` is larger than the reference, or
/// the roundoff than float32's.
Bounds gradient_bounds(const Subject& subject, const Backward& backward, const TraceD& expected,
                       double roundoff = kFloatRoundoff);
/// The same where nothing but two programs' gradients is known: 64 roundings of the largest.
Tolerance gradient_tolerance(const TensorD& expected, double roundoff = kFloatRoundoff);

/// What a backward pass gives that starts from another forward pass, `planted`: its weights, its scale, and the pairs that
/// it allows. Empty tensors where there is none.
TraceD planted_gradients(const Subject& subject, const Backward& backward, const TraceD& planted);

}  // namespace attn::verify

// Causal attention of three tokens: weights, gradients, and the error of an invalid call.
#include <cstdio>

#include "core/backend.h"
#include "core/call.h"
#include "core/engine.h"
#include "core/trace.h"

using namespace attn;

namespace {

/// The first head of the first batch entry, one row per token.
void print(const char* name, const Tensor& tensor) {
    std::printf("%s %s\n", name, to_string(tensor.shape()).c_str());
    for (Index i = 0; i < tensor.shape().t; ++i)
        for (Index c = 0; c < tensor.shape().d; ++c)
            std::printf("%7.4f%s", tensor(0, 0, i, c), c + 1 < tensor.shape().d ? " " : "\n");
}

int fail(const Error& error) {
    std::fprintf(stderr, "%s\n", error.text().c_str());
    return 1;
}

}  // namespace

int main() {
    Inputs inputs;  // [B, H, T, d]
    inputs.q = Tensor({1, 1, 3, 2}, {1, 0, 0, 1, 1, 1});
    inputs.k = Tensor({1, 1, 3, 2}, {1, 0, 0, 2, 1, 1});
    inputs.v = Tensor({1, 1, 3, 2}, {1, 2, 3, 4, 5, 6});
    AttentionSpec spec;
    spec.mask.causal = CausalAlign::top_left;

    const Result<Call> call = validate(inputs, spec);
    if (!call) return fail(call.error());
    const Backend& backend = *find_backend("reference");
    const Result<Trace> trace = attend(*call, backend);
    if (!trace) return fail(trace.error());
    const Result<Trace> gradients = attend_backward(*call, *trace, {}, backend);  // of Σ output
    if (!gradients) return fail(gradients.error());
    print("weights", (*trace)[Stage::weights]);
    print("output", (*trace)[Stage::output]);
    print("d_q", (*gradients)[Stage::q]);
    print("d_v", (*gradients)[Stage::v]);

    spec.query_offset = -1;
    const Result<Call> refused = validate(inputs, spec);
    std::printf("%s\n", refused ? "not refused" : refused.error().text().c_str());
}

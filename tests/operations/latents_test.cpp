// Latents against two calls of softmax attention.

#include <doctest/doctest.h>

#include <cmath>

#include "core/entries.h"
#include "tests/operations/sample.h"

using namespace attn;
using namespace attn::test;

namespace {

/// Tensors of each key/value head once for each query head of its group.
TensorD repeated(const TensorD& from, Index heads) {
    const Shape n = from.shape();
    TensorD to(Shape{n.b, heads, n.t, n.d});
    for_each_entry(to.shape(), [&](Index b, Index h, Index t, Index c) {
        to(b, h, t, c) = from(b, h / (heads / n.h), t, c);
    });
    return to;
}

/// C[b,h] = A[b,h] B[b,h].
TensorD times(const TensorD& a, const TensorD& b) {
    TensorD c(Shape{a.shape().b, a.shape().h, a.shape().t, b.shape().d});
    for_each_entry(c.shape(), [&](Index n, Index h, Index i, Index j) {
        for (Index k = 0; k < a.shape().d; ++k)
            c(n, h, i, j) += a(n, h, i, k) * b(b.shape().b == 1 ? 0 : n, h, k, j);
    });
    return c;
}

/// The same latents for every batch entry.
TensorD batched(const TensorD& from, Index batch) {
    TensorD to(Shape{batch, from.shape().h, from.shape().t, from.shape().d});
    for (Index b = 0; b < batch; ++b)
        std::copy(from.values().begin(), from.values().end(),
                  to.values().begin() + b * from.count());
    return to;
}

}  // namespace

TEST_CASE("one latent, two tokens: both attentions by hand") {
    OperationCase one;
    one.operation.operation = Operation::latents;
    one.operation.latents = 1;
    one.inputs.q = rows({{5.0}, {-7.0}});
    one.inputs.k = rows({{0.0}, {std::log(3.0)}});
    one.inputs.v = rows({{0.0}, {4.0}});
    one.params.tensors = {rows({{1.0}}), rows({{2.0}})};
    const OperationTraceD trace = one.forward();
    CHECK(difference(trace["scores_in"], rows({{0.0, std::log(3.0)}}), "S_in") == "");
    CHECK(difference(trace["weights_in"], rows({{0.25, 0.75}}), "A_in") == "");
    CHECK(difference(trace["latent_values"], rows({{3.0}}), "Z") == "");
    CHECK(difference(trace["latent_keys"], rows({{6.0}}), "K_Z") == "");
    CHECK(difference(trace["scores_out"], rows({{30.0}, {-42.0}}), "S_out") == "");
    CHECK(difference(trace["weights_out"], rows({{1.0}, {1.0}}), "A_out") == "");
    CHECK(difference(trace["implied"], rows({{0.25, 0.75}, {0.25, 0.75}}), "A") == "");
    CHECK(difference(trace["context"], rows({{3.0}, {3.0}}), "context") == "");
}

TEST_CASE("latents are two attentions, and the implied matrix is the product of their weights") {
    for (const OperationCase& one : operation_cases()) {
        if (one.operation.operation != Operation::latents) continue;
        const OperationTraceD trace = one.forward();
        AttentionSpec spec = one.spec;
        spec.heads = 1, spec.kv_heads = 1;
        InputsD in;
        in.q = batched(one.params.tensors[0], 2);
        in.k = trace["k"];
        in.v = trace["v"];
        const TraceD first = attend_exact(in, spec).value();
        CHECK(difference(trace["scores_in"], first[Stage::masked], one.name) == "");
        CHECK(difference(trace["weights_in"], first[Stage::weights], one.name) == "");
        CHECK(difference(trace["latent_values"], first[Stage::context], one.name) == "");
        InputsD out;
        out.q = trace["q"];
        out.k = times(first[Stage::context], one.params.tensors[1]);
        out.v = first[Stage::context];
        spec.mask = {};
        const TraceD second = attend_exact(out, spec).value();
        CHECK(difference(trace["weights_out"], second[Stage::weights], one.name) == "");
        CHECK(difference(trace["context"], second[Stage::context], one.name) == "");
        const TensorD implied = times(second[Stage::weights], first[Stage::weights]);
        CHECK(difference(trace["implied"], implied, one.name) == "");
        CHECK(difference(trace["context"], times(implied, repeated(trace["v"], 4)), one.name) ==
              "");
    }
}

TEST_CASE("latents, linformer: a NaN of a masked key stays there; without keys the policy holds") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const Operation operation : {Operation::latents, Operation::linformer}) {
        OperationCase one = sample(operation, 3, 5);
        CAPTURE(one.name);
        one.spec.mask.padding = {4, 0};
        const OperationTraceD clean = one.forward();
        one.inputs.v(0, 0, 4, 1) = nan;
        one.inputs.k(0, 0, 4, 2) = nan;
        CHECK(difference(one.forward()["context"], clean["context"], "context") == "");
        CHECK(clean["context"](0, 0, 0, 0) != 0.0);
        CHECK(clean["context"](1, 0, 0, 0) == 0.0);
        CHECK(one.backward()["k"](0, 0, 4, 2) == 0.0);
        CHECK(std::isfinite(one.backward()["k"](0, 0, 3, 2)));
        one.spec.empty_rows = EmptyRows::nan;
        CHECK(std::isnan(one.forward()["context"](1, 0, 0, 0)));
    }
}

// Every backend with every kind of attention, and every operation, once, each number of the results looked at. A number that
// nobody wrote passes here by itself: memcheck.sh runs this under valgrind, which says where it was left out.

#include "tests/support/targets.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/call.h"
#include "core/kernels/matmul.h"
#include "tests/operations/sample.h"
#include "tests/support/backends.h"
#include "tests/support/cases.h"
#include "tests/support/inputs.h"

using namespace attn;
using namespace attn::test;

namespace {

Index seen = 0;

/// A branch on each number, which is what memcheck looks at.
template <class Scalar>
void look_at(const TensorOf<Scalar>& tensor) {
    for (const Scalar value : tensor.values())
        if (!std::isnan(value)) ++seen;
}

void look_at(const Trace& trace) {
    for (const Tensor& stage : trace.stages) look_at(stage);
    for (const Tensor& param : trace.params.tensors) look_at(param);
    for (const Tensor* rows : {&trace.logsumexp, &trace.row_max, &trace.row_log2_sum})
        look_at(*rows);
}

void look_at(const OperationTraceD& trace) {
    for (const TensorD& stage : trace.stages) look_at(stage);
    for (const TensorD& param : trace.params.tensors) look_at(param);
    for (const TensorD& param : trace.call_params.tensors) look_at(param);
}

/// Both passes, and forward alone where no weights are kept.
void run(const Case& one, const Backend& backend) {
    const Call call = validate(one.inputs, one.spec).value();
    if (backend.supports(call)) return;
    const Trace forward = attend(call, backend).value();
    look_at(forward);
    look_at(attend_backward(call, forward, one.upstream, backend).value());
    look_at(attend(call, backend, StageSet().set(index_of(Stage::context))).value());
}

void run_everywhere(const Case& one) {
    CAPTURE(one.name);
    run(one, *find_backend("reference"));
    on_every_target([&] {
        for (const char* name : {"staged", "fused"}) run(one, *find_backend(name));
    });
}

}  // namespace

TEST_CASE("memory: every kind of attention by every backend") {
    for (const auto& cases : {kind_cases(Sizes::small), engine_cases(Sizes::small)})
        for (const Case& one : cases) run_everywhere(one);
    CHECK(seen > 100'000);
}

TEST_CASE("memory: more keys than a block and queries than a group, widths that fill no vector") {
    for (const Index tq : {1, 5, 53}) {
        Case one = normal_case("long", {1, 4, tq, 9}, {1, 2, 137, 9}, 11);
        run_everywhere(one);
        one.spec.mask.causal = CausalAlign::bottom_right;
        one.spec.alibi = true;
        one.spec.softcap = 3.0;
        one.spec.dropout = 0.1;
        run_everywhere(one);
    }
}

TEST_CASE("memory: every operation") {
    seen = 0;
    for (const OperationCase& one : operation_cases()) {
        look_at(one.forward());
        look_at(one.backward());
    }
    CHECK(seen > 10'000);
}

TEST_CASE("memory: products of matrices whose sizes fill no tile") {
    seen = 0;
    for (const Index n : {3, 37, 131}) {
        const Inputs inputs = normal_inputs({1, 1, n, n});
        on_every_target([&] {
            for (const bool flip : {false, true}) {
                Tensor out({1, 1, n, n});
                multiply({inputs.q.matrix(0, 0), flip}, {inputs.k.matrix(0, 0), flip},
                         out.matrix(0, 0));
                look_at(out);
            }
        });
    }
    CHECK(seen > 10'000);
}

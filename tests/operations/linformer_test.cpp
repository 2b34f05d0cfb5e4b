// Low-rank attention against softmax attention over keys and values that were projected before.

#include <doctest/doctest.h>

#include <cmath>

#include "core/entries.h"
#include "tests/operations/sample.h"

using namespace attn;
using namespace attn::test;

namespace {

/// C[b,h] = W[0,h] X[b,h / group] over the rows of X that `takes`; as many heads as W has.
TensorD projected(const TensorD& w, const TensorD& x, Index rows_of_batch[2]) {
    const Index heads = w.shape().h;
    TensorD c(Shape{x.shape().b, heads, w.shape().t, x.shape().d});
    for_each_entry(c.shape(), [&](Index b, Index h, Index m, Index k) {
        for (Index j = 0; j < rows_of_batch[b]; ++j)
            c(b, h, m, k) += w(0, h, m, j) * x(b, h / (heads / x.shape().h), j, k);
    });
    return c;
}

}  // namespace

TEST_CASE("one row, two tokens: both projections by hand") {
    OperationCase one;
    one.operation.operation = Operation::linformer;
    one.operation.rank = 2;
    one.inputs.q = rows({{1.0}});
    one.inputs.k = rows({{0.0}, {std::log(3.0)}});
    one.inputs.v = rows({{2.0}, {4.0}});
    one.params.tensors = {rows({{5.0, 0.0}, {-2.0, 1.0}}), rows({{1.0, -1.0}, {0.5, 0.25}})};
    const OperationTraceD trace = one.forward();
    CHECK(difference(trace["k_low"], rows({{0.0}, {std::log(3.0)}}), "E K") == "");
    CHECK(difference(trace["v_low"], rows({{-2.0}, {2.0}}), "F V") == "");
    CHECK(difference(trace["weights_low"], rows({{0.25, 0.75}}), "A") == "");
    CHECK(difference(trace["implied"], rows({{0.625, -0.0625}}), "implied") == "");
    CHECK(difference(trace["context"], rows({{1.0}}), "context") == "");
}

TEST_CASE("low rank is softmax attention of projected keys and values, masked ones left out") {
    for (const bool padded : {false, true}) {
        OperationCase one = sample(Operation::linformer, 4, 6);
        Index rows_of_batch[2] = {6, 6};
        if (padded) {
            rows_of_batch[0] = 4;
            rows_of_batch[1] = 1;
            one.spec.mask.padding = {4, 1};
        }
        one.spec.temperature = 0.7;
        const OperationTraceD trace = one.forward();
        InputsD in;
        in.q = one.inputs.q;
        in.k = projected(one.params.tensors[0], one.inputs.k, rows_of_batch);
        in.v = projected(one.params.tensors[1], one.inputs.v, rows_of_batch);
        AttentionSpec spec = one.spec;
        spec.mask = {};
        const TraceD same = attend_exact(in, spec).value();
        CHECK(difference(trace["scores_low"], same[Stage::scaled], "S") == "");
        CHECK(difference(trace["weights_low"], same[Stage::weights], "A") == "");
        CHECK(difference(trace["context"], same[Stage::context], "context") == "");
    }
}

TEST_CASE("with E = F = I it is softmax attention itself") {
    OperationCase one = sample(Operation::linformer, 3, 5);
    one.operation.rank = 5;
    TensorD identity(Shape{1, 4, 5, 5});
    for (Index h = 0; h < 4; ++h)
        for (Index m = 0; m < 5; ++m) identity(0, h, m, m) = 1.0;
    one.params.tensors = {identity, identity};
    const TraceD exact = one.exact();
    CHECK(difference(one.forward()["implied"], exact[Stage::weights], "implied") == "");
    CHECK(difference(one.forward()["context"], exact[Stage::context], "context") == "");
}

TEST_CASE("fresh projections are normal with variance 1 / M") {
    OperationSpec spec{Operation::linformer};
    spec.rank = 16;
    Dimensions size;
    size.batch = size.heads = size.kv_heads = 1;
    size.tq = size.tk = 4096;
    size.d_k = size.d_v = 4;
    const OperationParams fresh = initial_params(spec, size);
    for (const Tensor& one : fresh.tensors) {
        double sum = 0.0, squares = 0.0;
        for (const float value : one.values()) {
            sum += static_cast<double>(value);
            squares += static_cast<double>(value) * static_cast<double>(value);
        }
        const auto count = static_cast<double>(one.count());
        CHECK(std::abs(sum / count) < 4.0 * 0.25 / std::sqrt(count));
        CHECK(squares / count == doctest::Approx(1.0 / 16).epsilon(0.03));
    }
    CHECK(fresh.tensors[0] != fresh.tensors[1]);
}

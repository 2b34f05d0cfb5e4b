// Native sparse attention beside softmax attention, where one branch or all keys make them equal.

#include <doctest/doctest.h>

#include <cmath>

#include "core/call.h"
#include "tests/io/scratch.h"
#include "tests/operations/sample.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::test;

namespace {

constexpr std::size_t kCompressed = 0, kSelected = 1, kWindow = 2;

/// With one branch alone.
OperationCase with_branch(std::size_t branch, Index tq = 7, Index tk = 7) {
    OperationCase one = sample(Operation::nsa, tq, tk);
    one.spec.mask.causal = CausalAlign::bottom_right;
    for (std::size_t n = 0; n < 3; ++n)
        std::ranges::fill(one.params.tensors[n].values(), n == branch ? 1.0 : 0.0);
    return one;
}

std::string nsa_refusal(const OperationCase& one) {
    return sentence_in(
        run_operation_exact(one.operation, validate(one.inputs, one.spec).value(), one.params));
}

}  // namespace

TEST_CASE("a window of every key, and every block selected, are softmax attention") {
    for (const std::size_t branch : {kSelected, kWindow}) {
        OperationCase one = with_branch(branch, 5, 7);
        one.operation.selected = 4;
        one.operation.recent = 7;
        one.spec.rope = Rope{.dims = 2, .tables = {}};
        one.spec.temperature = 0.5;
        CHECK(difference(one.forward()["implied"], one.exact()[Stage::weights], "implied") == "");
        CHECK(difference(one.forward()["context"], one.exact()[Stage::context], "context") == "");
    }
}

TEST_CASE("blocks of one key are softmax attention in the compressed branch") {
    OperationCase one = with_branch(kCompressed);
    one.operation.chunk = 1;
    CHECK(difference(one.forward()["implied"], one.exact()[Stage::weights], "implied") == "");
    CHECK(difference(one.forward()["context"], one.exact()[Stage::context], "context") == "");
}

TEST_CASE("the window branch is softmax attention under a window") {
    OperationCase one = with_branch(kWindow);
    one.operation.recent = 3;
    const OperationTraceD f = one.forward();
    one.spec.mask.window = 2;
    CHECK(difference(f["weights_win"], one.exact()[Stage::weights], "weights_win") == "");
}

TEST_CASE("heads of one key head select the same blocks, by their summed weights") {
    const OperationCase one = with_branch(kSelected, 8, 8);
    const OperationTraceD f = one.forward();
    const TensorD &p = f["weights_cmp"], &sum = f["block_weights"], &selected = f["weights_slc"];
    int differ = 0;  // rows where a head alone would choose another block
    for (Index h = 0; h < 4; ++h)
        for (Index i = 0; i < 8; ++i) {
            Index of_group = -1, of_head = -1;
            for (Index n = 0; n < i / 2; ++n) {
                CHECK(sum(0, h / 2, i, n) ==
                      doctest::Approx(p(0, h / 2 * 2, i, n) + p(0, h / 2 * 2 + 1, i, n)));
                if (of_group < 0 || sum(0, h / 2, i, n) > sum(0, h / 2, i, of_group)) of_group = n;
                if (of_head < 0 || p(0, h, i, n) > p(0, h, i, of_head)) of_head = n;
            }
            differ += of_group != of_head;
            for (Index j = 0; j <= i; ++j)
                CHECK((selected(0, h, i, j) > 0.0) == (j / 2 == i / 2 || j / 2 == of_group));
        }
    CHECK(differ > 0);
}

TEST_CASE("the first queries have no whole block: their compressed branch gives 0") {
    OperationCase one = with_branch(kCompressed);
    one.operation.chunk = 3;
    const OperationTraceD f = one.forward();
    for (Index i = 0; i < 2; ++i)
        for (Index c = 0; c < 2; ++c) CHECK(f["context"](0, 1, i, c) == 0.0);
    double row = 0.0;
    for (Index j = 0; j < 7; ++j) row += f["implied"](0, 1, 6, j);
    CHECK(row == doctest::Approx(1.0));
    CHECK(f["implied"](0, 1, 6, 6) == 0.0);  // its block is not whole
}

TEST_CASE(
    "a forbidden key changes nothing, even where it is NaN; an empty row follows its policy") {
    OperationCase one = sample(Operation::nsa, 5, 5);
    one.spec.mask.padding = {3, 0};
    const OperationTraceD f = one.forward(), d = one.backward();
    for (Index j = 3; j < 5; ++j) one.inputs.k(0, 0, j, 0) = one.inputs.v(0, 0, j, 0) = NAN;
    for (Index h = 0; h < 4; ++h)
        for (Index i = 0; i < 5; ++i) {
            CHECK(one.forward()["context"](0, h, i, 1) == f["context"](0, h, i, 1));
            CHECK(one.backward()["q"](0, h, i, 1) == d["q"](0, h, i, 1));
        }
    CHECK(f["context"](1, 0, 0, 0) == 0.0);
    one.spec.empty_rows = EmptyRows::nan;
    CHECK(std::isnan(one.forward()["context"](1, 0, 0, 0)));
}

TEST_CASE("what has no meaning for three branches is refused by name") {
    OperationCase one = sample(Operation::nsa, 3, 5);
    one.spec.softcap = 1.0;
    CHECK(nsa_refusal(one) ==
          "operation nsa does not support softcap: a compressed key has no score to bound");
    one.spec.softcap.reset();
    one.spec.alibi = true;
    CHECK(nsa_refusal(one) ==
          "operation nsa does not support alibi: a compressed key has several distances");
    one.spec.alibi = false;
    one.spec.score = Score::cosine;
    CHECK(contains(nsa_refusal(one), "operation nsa does not support score cosine"));
    one.spec.score = Score::dot;
    one.spec.dropout = 0.5;
    CHECK(contains(nsa_refusal(one), "operation nsa does not support dropout"));
    one.spec.dropout = 0.0;
    one.operation.selected = 0;
    CHECK(nsa_refusal(one) == "selected_blocks is 0: it must be at least 1");
}

TEST_CASE("cost by hand: n 1000, d 64, blocks of 10, 2 selected, a window of 20") {
    Dimensions size;
    size.batch = size.heads = size.kv_heads = 1;
    size.tq = size.tk = 1000;
    size.d_k = size.d_v = 64;
    OperationSpec spec{Operation::nsa};
    spec.chunk = 10, spec.selected = 2, spec.recent = 20;
    AttentionSpec causal;
    causal.mask.causal = CausalAlign::top_left;
    // compressed: query i has ⌊(i + 1)/10⌋ blocks; own block: 1 … 10 keys; one more of 10 where an earlier one is whole; the window
    double read = 0.0;
    for (Index i = 0; i < 1000; ++i)
        read += static_cast<double>((i + 1) / 10 + i % 10 + 1 + (i >= 10 ? 10 : 0) +
                                    std::min<Index>(i + 1, 20));
    const OperationCost cost = info(Operation::nsa).cost(size, causal, spec);
    CHECK(cost.products == read * 2.0 * 128);
    CHECK(cost.elementwise == 5.0 * read + 1000.0 * 128 + 6.0 * 1000 * 64);
    CHECK(cost.stored_bytes() == 4.0 * (100 * 128 + read));
}

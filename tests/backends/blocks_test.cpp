// Memory of large tensors, and the trace that is written past the caches.

#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>

#include "core/backend.h"
#include "core/blocks.h"
#include "core/cast.h"
#include "core/engine.h"
#include "core/narrow.h"
#include "tests/support/inputs.h"
#include "tests/support/results.h"
#include "tests/support/tolerance.h"

using namespace attn;
using namespace attn::test;

namespace {

constexpr Index kBlockFloats = static_cast<Index>(kLeastBlockBytes / sizeof(float));

Inputs one_head(Index n) { return normal_inputs({1, 1, n, 3}); }

/// Row i of the call, computed alone: small enough to stay in the caches.
Trace row_alone(const Inputs& inputs, Index i) {
    Inputs row = inputs;
    row.q = Tensor({1, 1, 1, 3});
    std::ranges::copy(inputs.q.matrix(0, 0).row(i), row.q.data());
    return attend(row, {}, "staged").value();
}

}  // namespace

TEST_CASE("a large tensor that is freed lends its memory to the next of its size, and no other") {
    release_cached_blocks();
    const Shape shape{1, 1, 1, kBlockFloats};
    float* first = nullptr;
    {
        const Tensor tensor(shape, 7.0F);
        first = const_cast<float*>(tensor.data());
        CHECK(cached_block_bytes() == 0);
    }
    CHECK(cached_block_bytes() == kLeastBlockBytes);
    {
        const Tensor other({1, 1, 2, kBlockFloats});
        CHECK(other.data() != first);
        const Tensor again(shape);
        CHECK(again.data() == first);
        CHECK(again(0, 0, 0, kBlockFloats - 1) == 0.0F);
        CHECK(cached_block_bytes() == 0);
    }
    release_cached_blocks();
    CHECK(cached_block_bytes() == 0);
}

TEST_CASE("kept memory is bounded, the oldest goes first") {
    release_cached_blocks();
    for (int n = 0; n < 3; ++n) {
        const auto wide = Tensor::uninitialised(
            {1, 1, n + 1, static_cast<Index>(kMaxCachedBytes / 2 / sizeof(float))});
        CHECK(wide.count() > 0);
    }
    CHECK(cached_block_bytes() <= kMaxCachedBytes);
    release_cached_blocks();
}

TEST_CASE("tensors copy, move and compare by value, small and large") {
    for (const Index count : {Index{5}, kBlockFloats + 1}) {
        Tensor tensor({1, 1, 1, count}, 2.0F);
        Tensor copy = tensor;
        CHECK(copy == tensor);
        copy(0, 0, 0, count - 1) = 3.0F;
        CHECK(!(copy == tensor));
        tensor = std::move(copy);
        CHECK(tensor(0, 0, 0, count - 1) == 3.0F);
        CHECK(cast<double>(tensor)(0, 0, 0, count - 1) == 3.0);
    }
    CHECK(Tensor().empty());
    CHECK_THROWS_AS(Tensor({1, 1, 1, std::numeric_limits<Index>::max()}), std::length_error);
}

TEST_CASE("a size that a number cannot hold is refused before memory is asked for") {
    constexpr Index kThird = 6148914691236517206;  // three of them are 2^64 + 2
    CHECK_THROWS_AS(Shape({1, kThird, 3, 1}).count(), SizeError);
    CHECK_THROWS_AS(Tensor({1, kThird, 3, 1}), SizeError);
    CHECK_THROWS_AS(Tensor::uninitialised({4, Index{1} << 62, 1, 1}), SizeError);
    CHECK_THROWS_AS(Storage<double>(std::size_t{1} << 61), SizeError);
    CHECK_THROWS_AS(product(Index{1} << 32, Index{1} << 31), SizeError);
    CHECK(product(Index{1} << 31, Index{1} << 31) == Index{1} << 62);
    CHECK(Shape({Index{1} << 62, 4, 0, Index{1} << 62}).count() == 0);
    CHECK(byte_count(3, sizeof(float)) == 12);
    CHECK_THROWS_WITH_AS(product(kThird, Index{3}),
                         "a size is 6148914691236517206 × 3; expected a number from 0 to 2^63 − 1 "
                         "that memory can address",
                         SizeError);
}

TEST_CASE("a trace too large for the caches has the numbers of its rows computed alone") {
    for (const Index n : {1024, 1021}) {  // with rows on a vector boundary, and without
        const Inputs inputs = one_head(n);
        const Trace trace = attend(inputs, {}, "staged").value();
        for (const Stage stage : {Stage::scores, Stage::weights, Stage::context})
            CHECK(largest_of(trace[stage]) > 0.0);
        for (const Index i : {Index{0}, n / 2, n - 1}) {
            const Trace alone = row_alone(inputs, i);
            for (const Stage stage :
                 {Stage::scores, Stage::scaled, Stage::masked, Stage::weights, Stage::context})
                CHECK(std::ranges::equal(trace[stage].matrix(0, 0).row(i), alone[stage].values()));
        }
    }
}

TEST_CASE("a call that is stopped fails with one sentence") {
    for (const char* name : {"staged", "fused"}) {
        CHECK(
            must_fail(attend(one_head(64), {}, *find_backend(name), all_stages(), {stopped(), {}}))
                .text() == "the attention call was stopped");
    }
}

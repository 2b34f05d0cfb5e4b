// Copies of a tensor: their own numbers, or shared ones until somebody writes.

#include <doctest/doctest.h>

#include "core/tensor.h"

using namespace attn;

namespace {

Tensor shared_numbers() { return Tensor::shared({1, 1, 2, 2}, {1.0F, 2.0F, 3.0F, 4.0F}); }

}  // namespace

TEST_CASE("copies of a shared tensor stand on the same numbers, and outlive it") {
    Tensor copy;
    {
        const Tensor first = shared_numbers();
        copy = first;
        CHECK(std::as_const(copy).data() == first.data());
        CHECK(copy == first);
        CHECK(copy.shape() == Shape{1, 1, 2, 2});
    }
    CHECK(std::as_const(copy)(0, 0, 1, 1) == 4.0F);
}

TEST_CASE("whoever writes into a shared tensor changes no other") {
    const Tensor first = shared_numbers();
    Tensor entry = first;
    entry(0, 0, 0, 1) = 20.0F;
    Tensor row = first;
    row.matrix(0, 0).row(1)[0] = 30.0F;
    Tensor all = first;
    all.values()[3] = 40.0F;
    CHECK(first == Tensor({1, 1, 2, 2}, {1.0F, 2.0F, 3.0F, 4.0F}));
    CHECK(entry == Tensor({1, 1, 2, 2}, {1.0F, 20.0F, 3.0F, 4.0F}));
    CHECK(row == Tensor({1, 1, 2, 2}, {1.0F, 2.0F, 30.0F, 4.0F}));
    CHECK(all == Tensor({1, 1, 2, 2}, {1.0F, 2.0F, 3.0F, 40.0F}));
}

TEST_CASE("a shared tensor is moved, assigned and swapped like any other") {
    Tensor first = shared_numbers();
    const float* const numbers = std::as_const(first).data();
    Tensor second = std::move(first);
    CHECK(std::as_const(second).data() == numbers);
    Tensor own({1, 1, 1, 1}, 5.0F);
    std::swap(own, second);
    CHECK(std::as_const(own).data() == numbers);
    CHECK(second(0, 0, 0, 0) == 5.0F);
    own = second;
    CHECK(own == second);
    CHECK(std::as_const(own).data() != std::as_const(second).data());
}

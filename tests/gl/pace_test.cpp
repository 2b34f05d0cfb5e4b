// How work is cut into dispatches.

#include <doctest/doctest.h>

#include "app/gl/compute_pace.h"

using attn::Index;
using attn::gl::Pace;

TEST_CASE("dispatches start with one unit and settle where they take less than 10 ms") {
    constexpr double kUnitMs = 0.01;
    Pace pace(7.0);
    CHECK(pace.allowance() == 1);
    for (int n = 0; n < 20; ++n) {
        const Index before = pace.allowance();
        const double elapsed_ms = static_cast<double>(before) * kUnitMs;
        CHECK(elapsed_ms < 10.0);
        pace.learn(before, elapsed_ms);
        CHECK(pace.allowance() <= 4 * before);
    }
    CHECK(static_cast<double>(pace.allowance()) * kUnitMs > 5.0);
}

TEST_CASE("a slow dispatch shrinks the next one at once, down to one unit") {
    Pace pace(7.0);
    for (int n = 0; n < 10; ++n) pace.learn(pace.allowance(), 0.1);
    const Index before = pace.allowance();
    pace.learn(before, 70.0);
    CHECK(pace.allowance() == before / 10);
    pace.learn(pace.allowance(), 1e9);
    CHECK(pace.allowance() == 1);
}

TEST_CASE("a small remainder that was quick does not shrink the dispatches after it") {
    Pace pace(7.0);
    for (int n = 0; n < 10; ++n) pace.learn(pace.allowance(), 0.1);
    const Index before = pace.allowance();
    pace.learn(1, 0.01);
    CHECK(pace.allowance() == before);
}

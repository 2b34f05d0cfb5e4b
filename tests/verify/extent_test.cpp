// Where an error is and what stands there, in words.
#include <doctest/doctest.h>

#include "core/cast.h"
#include "core/verify/extent.h"
#include "tests/support/random.h"

using namespace attn;
using namespace attn::test;
using namespace attn::verify;

namespace {

/// A tensor and a copy that something is done to.
struct Pair {
    explicit Pair(const Shape& shape)
        : actual(normal_tensor<float>(shape, 1)), expected(cast<double>(actual)) {}
    /// set(value, expected) of each number of these rows, in every head.
    template <class Set>
    void rows(Index first, Index end, Set set) {
        const Shape s = actual.shape();
        for (Index b = 0; b < s.b; ++b)
            for (Index h = 0; h < s.h; ++h)
                for (Index t = first; t < end; ++t)
                    for (Index d = 0; d < s.d; ++d) set(actual(b, h, t, d), b, h, t, d);
    }
    std::string text(ColumnsAre columns = ColumnsAre::features) const {
        return extent_text(actual, expected, {1e-6, 0.0}, columns);
    }
    Tensor actual;
    TensorD expected;
};

}  // namespace

TEST_CASE("the last tile of every head, all 0") {
    Pair pair({1, 2, 150, 4});
    CHECK(pair.text().empty());
    pair.rows(128, 150, [](float& x, Index, Index, Index, Index) { x = 0.0F; });
    CHECK(pair.text() == "rows 128–149 (the last block of 32, 64 or 128) of every head, all 0");
}

TEST_CASE("one head, one cell, some columns") {
    Pair pair({2, 3, 8, 40});
    pair.actual(1, 2, 5, 7) = std::nanf("");
    CHECK(pair.text() == "column 7 of row 5 of head 2 of batch entry 1, NaN");
    Pair columns({1, 1, 8, 40});
    columns.rows(0, 8, [](float& x, Index, Index, Index, Index d) {
        if (d >= 16 && d < 32) x = 2.0F;
    });
    CHECK(columns.text() == "columns 16–31 (one block of 16) of every row, all 2");
}

TEST_CASE("a constant ratio, of everything or of each row") {
    Pair pair({1, 1, 6, 5});
    pair.rows(0, 6, [](float& x, Index, Index, Index, Index) { x *= 0.5F; });
    CHECK(pair.text() == "every row, all 0.5 times the expected value");
    Pair rows({1, 2, 6, 5});
    rows.rows(0, 6, [](float& x, Index, Index, Index t, Index) { x *= t % 2 == 0 ? 0.5F : 0.25F; });
    CHECK(rows.text() == "every row of every head, each row 0.25 to 0.5 times the expected value");
}

TEST_CASE("rows and heads that stand in the place of others") {
    Pair pair({1, 2, 48, 4});
    const Tensor right = pair.actual;
    pair.rows(16, 48,
              [&](float& x, Index b, Index h, Index t, Index d) { x = right(b, h, t - 16, d); });
    CHECK(pair.text() ==
          "rows 16–47 (whole blocks of 16) of every head, each equal to the row expected 16 rows "
          "before");
    Pair heads({1, 2, 3, 4});
    heads.rows(0, 3, [&](float& x, Index b, Index h, Index t, Index d) {
        x = static_cast<float>(heads.expected(b, 1 - h, t, d));
    });
    CHECK(heads.text() ==
          "every row of every head, each such row equal to the expected row of another head: "
          "[0, 0] "
          "equals "
          "[0, 1], [0, 1] equals [0, 0]");
}

TEST_CASE("rows that differ from head to head are counted, and pairs know the diagonal") {
    Pair pair({1, 2, 9, 3});
    pair.actual(0, 0, 1, 0) += 1.0F, pair.actual(0, 1, 4, 2) += 2.0F;
    CHECK(pair.text() == "columns 0 and 2 of 2 of 18 rows, from row 1 to 4, of every head");
    Pair above({1, 1, 3, 3});
    above.actual(0, 0, 0, 1) += 1.0F, above.actual(0, 0, 0, 2) += 2.0F;
    above.actual(0, 0, 1, 2) += 4.0F;
    CHECK(above.text(ColumnsAre::keys) == "columns 1–2 of rows 0–1, right of the diagonal");
    CHECK(above.text() == "columns 1–2 of rows 0–1");
}

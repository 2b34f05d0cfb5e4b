#pragma once

#include <string>
#include <vector>

#include "core/large/weight_map.h"
#include "core/large/weight_source.h"
#include "core/trace.h"
#include "tests/support/cases.h"
#include "tests/support/tolerance.h"

namespace attn::test {

/// One call, its map and the reference's numbers.
struct PooledSubject {
    explicit PooledSubject(const Case& from);

    std::string name;
    large::WeightSource source;
    TraceD exact;
    Stage biased = Stage::scaled;  // what the mask and the softmax take
    Mask allowed;
    Tolerance pair;  // of a score
    Tolerance logsumexp;
    Tolerance weight;
    double top = 0.0;  // the largest |S| or |B|, + |L|
};

bool near(double actual, double expected, Tolerance tolerance);
std::vector<Index> rows_from(Index first, Index count, Index step = 1);

/// Rows and keys of a rectangle.
struct Rectangle {
    Index row, column, rows, columns;
};
Rectangle whole(const PooledSubject& subject);

// "" where what a map computes is the reference's weights pooled in double; else what is not, and on which instruction set.

std::string compare_rows(const PooledSubject& subject, large::Head head,
                         std::span<const Index> rows, Index row_side, Index key_side);
std::string compare_cells(const PooledSubject& subject, large::Head head, const Rectangle& part,
                          Index side);
/// Of the arithmetic of single cells, in double.
std::string compare_arithmetic(const PooledSubject& subject, large::Head head);

}  // namespace attn::test

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/head_views.h"
#include "core/heads/place.h"

namespace attn {

struct HeadsResult;

// What is drawn of one head: its weights, or one of the others of core/head_views.h.

/// The numbers of one head, [Tq,Tk]; `lacks` says why there are none. Moved, never copied: `values` looks at `own`.
struct HeadMatrix {
    HeadMatrix() = default;
    HeadMatrix(HeadMatrix&&) = default;
    HeadMatrix& operator=(HeadMatrix&&) = default;
    HeadMatrix(const HeadMatrix&) = delete;
    HeadMatrix& operator=(const HeadMatrix&) = delete;
    ~HeadMatrix() = default;

    MatrixView<const float> values;
    std::vector<float> own;  // what `values` looks at where they are no weights
    AllowedPairs allowed;    // 1: may attend, of the result; empty: every pair, and of rollout
    std::string missing_data;

    bool may(Index query, Index key) const {
        return allowed.empty() || allowed[query * values.columns + key];
    }
};
HeadMatrix head_matrix(const HeadsResult& result, HeadShow show, HeadPlace place);
/// `lacks` of it, without making it.
std::string head_missing_data(const HeadsResult& result, HeadShow show, HeadPlace place);

/// Which keys are left out of what is looked at: 1; empty: none.
using ClippedKeys = std::vector<std::uint8_t>;
/// Of each key, over all queries: the mean, and the size of its finite numbers.
std::vector<double> key_means(MatrixView<const float> weights);
std::vector<double> key_largest(MatrixView<const float> values);
/// Those whose mean is at least the limit.
ClippedKeys heavy_keys(std::span<const double> means, double limit);
/// Of keys that are not clipped.
double largest_of(std::span<const double> keys, const ClippedKeys& clipped);

/// What one pixel of a small picture stands for: rows and keys from `low` up to `high`.
struct HeadBlock {
    float largest = 0.0F;  // by size, of keys that are not clipped
    bool any = false;      // an allowed pair
    bool nan = false;
    bool clipped = true;  // all of its keys are
};
struct BlockRange {
    Index first_row, first_key, end_row, end_key;
};
HeadBlock block_of(const HeadMatrix& matrix, const ClippedKeys& clipped, const BlockRange& range);

}  // namespace attn

#pragma once

#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "core/large/cell.h"

namespace attn::large {

struct WeightSource;

// What is NaN in a map, counted so that no picture hides it. A row of weights is NaN as a whole, wherever it may
// attend, or not at all: exactly when one of its allowed scores or its sink is NaN or +inf, or all of them are -inf.

/// Entries of one operand that are not finite.
struct OperandFaults {
    Index nans = 0;
    Index infinities = 0;
    std::optional<Cell> first;  // token and column
    float first_value = 0.0F;
};

/// NaN weights of some rows and columns.
struct NanWeights {
    Index rows = 0;
    Index cells = 0;
    std::optional<Cell> first;  // query and key
};

struct NotFinite {
    bool known = false;  // Q and K were looked through
    OperandFaults q, k;
    NanWeights all, in_view;
    Index rows_unknown = 0;  // whose scores may be beyond a float: known when they are computed
};

/// What is known of a row before its scores are.
enum class RowFate : std::uint8_t {
    finite,
    nan,             // wherever it may attend
    nan_everywhere,  // no key is left to it, under EmptyRows::nan
    unknown,         // its scores may be beyond a float
};

/// Q and K of one head looked through.
struct Census {
    OperandFaults q, k;
    std::vector<RowFate> rows;
};
/// O((Tq + Tk) d_k), and as much again for each key that is not finite. On the calling thread; nullopt when stopped.
std::optional<Census> take_census(const WeightSource& source, Head head,
                                  const std::stop_token& stop);

/// The fate of row `i` whose logsumexp is known.
RowFate fate_of(const WeightSource& source, Head head, Index i, float logsumexp);

/// The NaN weights of row `i` among keys begin … end - 1, added to `found`.
void add_nan_row(const WeightSource& source, Head head, Index i, RowFate fate, Index begin,
                 Index end, NanWeights& found);

}  // namespace attn::large

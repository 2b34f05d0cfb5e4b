#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/verify/faults.h"
#include "core/verify/row_sample.h"

namespace attn::verify {

/// One row of a call as a kernel meets it: query i of head h of batch entry b.
struct Row {
    Index b = 0;
    Index h = 0;
    Index i = 0;
    std::span<const double> logits;  // [Tk], −∞ where a key is forbidden
    std::span<const double> open;    // the same without the mask
    MatrixView<const double> v;      // [Tk,d_v]
};

/// What it makes of the row.
struct MadeRow {
    std::vector<double> weights;  // [Tk]
    double logsumexp = 0.0;
    std::vector<double> context = {};  // [d_v]; empty: weights · V
    bool gated = false;                // the context has passed the gate of the call already
};
using MakeRow = std::function<MadeRow(const Row& row)>;

/// Faults that change each row by itself, whatever the others are. A way is tried on some of the rows that differ before
/// all of them are computed, so that hundreds of ways cost little. Rows without a key stay as they are.
class RowTrials {
  public:
    /// Sinks::counted: its ways make rows with the sinks of the call.
    enum class Sinks : std::uint8_t { refused, counted };
    RowTrials(const Trial& trial, const Take& take, Sinks sinks = Sinks::refused);

    /// False: no other way needs to be tried.
    bool attempt(const std::string& variant, const MakeRow& make);
    /// Whether a way that changes the rows of one batch entry alone can come near: most of the error is in them.
    bool concerns(Index b) const;
    /// The row as the reference has it.
    MadeRow right(const RowPlace& at) const;
    /// Why none could be tried, or fits; "": one was.
    Reason reason() const;
    /// A call with dropout or sinks is more than a softmax of its logits; without V there are no rows of context.
    bool possible() const;

    const Subject& subject() const { return trial_.subject; }
    const Results& results() const { return trial_.results; }
    Row row(Index b, Index h, Index i) const;

  private:
    MadeRow made(const RowPlace& at, const MakeRow& make) const;
    bool comes_near(const MakeRow& make) const;
    TraceD planted(const MakeRow& make) const;

    const Trial& trial_;
    const Take& take_;
    Sinks sinks_;
    std::shared_ptr<const RowSample> sample_;  // null: nothing can be tried
    bool taken_ = false;
};

/// A key of a row: its logit, where its weight is counted (−1: nowhere), and its value (null: zeros).
struct Entry {
    double logit = 0.0;
    Index key = -1;
    const double* value = nullptr;
};
/// Softmax over entries, and the values that it weighs.
MadeRow softmax_over(const Row& row, const std::vector<Entry>& entries);
/// Softmax over logits in the place of the row's.
MadeRow softmax_of(const std::vector<double>& logits);

/// Rows and columns of the tiles that kernels are commonly made with.
inline constexpr Index kTiles[] = {16, 32, 64, 128};

}  // namespace attn::verify

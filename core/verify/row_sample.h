#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/dimensions.h"
#include "core/trace.h"

namespace attn::verify {

/// A query of a head of a batch entry.
struct RowPlace {
    Index b, h, i;
};

/// Some rows in which results differ from the reference: the worst, and some between them and those that differ least. A fault that
/// explains the results leaves little error in them, which is seen before every row is computed.
class RowSample {
  public:
    /// Looks at context, weights and logsumexp, whichever there are. `results` must outlive it.
    RowSample(TraceD reference, const Dimensions& size, const Trace& results);

    /// Empty where the results have none of these, or differ in no row.
    const std::vector<RowPlace>& rows() const { return rows_; }
    /// Squared error of the results: of row n of the sample, and of all of it.
    double before(std::size_t n) const { return errors_[n]; }
    double before() const { return before_; }
    /// The error that a fault may leave in the sample to count as near.
    double near_error() const { return before_ / 4.0; }

    /// Squared, of the results' row against these numbers; NaN in place of a number counts as much as no number could.
    double error(const RowPlace& at, std::span<const double> weights,
                 std::span<const double> context, double logsumexp) const;

  private:
    TraceD reference_;
    const Trace& results_;
    std::vector<RowPlace> rows_;
    std::vector<double> errors_;
    double before_ = 0.0;
};

}  // namespace attn::verify

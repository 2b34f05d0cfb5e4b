#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/run_control.h"
#include "core/verify/bounds.h"
#include "core/verify/faults.h"
#include "core/verify/gradients.h"

namespace attn::verify {

/// One stage of the results before and after a fault is planted in the reference.
struct StageChange {
    std::string_view key;
    double max_before = 0.0;
    double max_after = 0.0;
    Index beyond_before = 0;
    Index beyond_after = 0;
};

/// What came of one row of the table of faults.
struct Outcome {
    const Fault* fault = nullptr;
    bool tried = false;  // else `reason` says why not
    Reason reason;
    std::string variant;  // the way that came closest
    double before = 0.0;  // error: root mean square over stages, each in units of its largest value
    double after = 0.0;
    bool explains = false;  // nothing is beyond tolerance any more
    std::vector<StageChange> stages;

    /// How many times smaller the error is; ∞ where nothing is left.
    double factor() const;
};

struct Diagnosis {
    std::vector<Outcome> outcomes;  // of every row, in the order of the tables
    std::vector<std::size_t>
        named;  // which of them are named: those that explain everything and leave at most kAsLittle
                // times the least error, or, where none does, that explain most; more than one
                // cannot be told apart with these tensors
    bool explained = false;  // those named leave nothing beyond tolerance

    const Outcome* first() const { return named.empty() ? nullptr : &outcomes[named.front()]; }
};

/// A fault that makes the error so many times smaller is named even if something is left.
inline constexpr double kMuchSmaller = 10.0;
/// Of faults that explain everything those are named that leave at most so many times the least error.
inline constexpr double kAsLittle = 4.0;

/// How the tolerance of each stage follows from what is expected of it. That of BoundsDetail::arrays is never smaller.
using BoundsOf = std::function<Bounds(const TraceD& expected, BoundsDetail detail)>;

/// Tries every row of the table on results that differ from the reference. Results that do not differ are not for it.
/// Once `control` was stopped the rest of the table is not tried.
Diagnosis diagnose(const Subject& subject, const Results& results, const BoundsOf& bounds,
                   const RunControl& control = {});

/// The same on gradients that differ while nothing else does: the fault is in the backward pass, which goes back from weights
/// that have it, or is one of its own (backward_fault_table()). Faults that change rows by themselves are not tried.
Diagnosis diagnose_gradients(const Subject& subject, const Backward& backward,
                             const Results& gradients, const BoundsOf& bounds,
                             const RunControl& control = {});

/// Results as a program with one fault would save them.
struct Planted {
    std::string variant;  // the way in which the fault shows
    Results results;      // every stage, in float32
};
/// The first way of a fault that is beyond forward_bounds(). An error says why it cannot be in these tensors, or that it
/// makes no difference to them.
Result<Planted> plant(const Subject& subject, const Fault& fault);

/// How many cells of the results are beyond the bounds of what is expected.
Index cells_beyond(const Results& results, const TraceD& expected, const Bounds& bounds);

}  // namespace attn::verify

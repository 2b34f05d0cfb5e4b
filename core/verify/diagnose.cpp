#include "core/verify/diagnose.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/cast.h"
#include "core/norms.h"
#include "core/verify/replay.h"
#include "core/verify/row_sample.h"
#include "core/verify/serving.h"

namespace attn::verify {
namespace {

struct Measured {
    double error = 0.0;
    Index beyond = 0;
    std::vector<Errors> stages;
};

/// With this number of pairs or more, a fault is tried on a sample of the rows first.
constexpr Index kScreenedPairs = Index{1} << 16;

double largest(const TensorD& tensor) {
    const double most = largest_finite(tensor);
    return most > 0.0 ? most : 1.0;
}

/// What is compared with what a fault makes of it: stages, or gradients.
struct Compared {
    const Results& results;
    const TraceD& reference;
    std::vector<Named> (*shared)(const Results& actual, const TraceD& expected);
    std::function<TraceD(TraceD planted)> of;  // a planted forward pass
    const Results& shown;                      // what faults may take numbers from
    const Backward* backward = nullptr;        // of gradients
};

/// Rows of padding keep the numbers of the reference.
void keep_padding(TraceD& planted, const Subject& subject) {
    if (!subject.serving) return;
    const Index tq = subject.size.tq;
    const auto keep = [&](TensorD& tensor, const TensorD& right) {
        if (tensor.empty() || tensor.shape() != right.shape() || tensor.shape().t != tq) return;
        for (Index b = 0; b < tensor.shape().b; ++b)
            for (Index h = 0; h < tensor.shape().h; ++h)
                for (Index i = 0; i < subject.serving->padding_of_queries(b, tq); ++i)
                    std::ranges::copy(right.matrix(b, h).row(i),
                                      tensor.matrix(b, h).row(i).begin());
    };
    const bool padded =
        std::ranges::any_of(subject.serving->queries, [tq](Index queries) { return queries < tq; });
    if (!padded) return;
    for (const Stage stage : {Stage::weights, Stage::dropped, Stage::context, Stage::output})
        keep(planted[stage], subject.reference[stage]);
    keep(planted.logsumexp, subject.reference.logsumexp);
}

/// A stage that the fault's trace has in another shape, or not at all, is as the reference has it.
void complete(TraceD& planted, const TraceD& reference) {
    for (std::size_t s = 0; s < kStageCount; ++s)
        if (planted.stages[s].shape() != reference.stages[s].shape())
            planted.stages[s] = reference.stages[s];
    for (std::size_t p = 0; p < kParamCount; ++p)
        if (planted.params.tensors[p].shape() != reference.params.tensors[p].shape())
            planted.params.tensors[p] = reference.params.tensors[p];
    if (planted.logsumexp.shape() != reference.logsumexp.shape())
        planted.logsumexp = reference.logsumexp;
}

class Trials {
  public:
    Trials(const Subject& subject, Compared compared, const BoundsOf& bounds)
        : subject_(subject),
          compared_(std::move(compared)),
          bounds_(bounds),
          right_bounds_(bounds(compared_.reference, BoundsDetail::entries)),
          right_(compared_.shared(compared_.results, compared_.reference)) {
        for (const Named& stage : right_) largest_.push_back(largest(*stage.expected));
        before_ = measure(compared_.reference, right_bounds_);
    }

    /// `forward`: the fault is in the forward pass, else what it plants is compared as it is.
    Outcome attempt(const Fault& fault, bool forward = true) const {
        Outcome outcome;
        outcome.fault = &fault;
        outcome.before = outcome.after = before_.error;
        Index tried = 0;
        outcome.reason =
            fault.plant({subject_, compared_.shown, compared_.backward},
                        [&](std::string variant, TraceD planted) {
                            ++tried;
                            if (subject_.screen && is_rejected(planted)) {
                                outcome.tried = true;
                                return true;
                            }
                            if (forward) planted = compared_.of(std::move(planted));
                            return consider(std::move(variant), std::move(planted), outcome);
                        });
        if (tried > 0 && !outcome.tried) outcome.reason = "it makes no difference to these results";
        if (outcome.tried) outcome.reason.clear();
        if (outcome.reason.empty() && !outcome.tried)
            outcome.reason = "with these sizes there is no other possibility";
        return outcome;
    }

  private:
    /// Against `expected`; errors in units of the reference's largest value of each array.
    Measured measure(const TraceD& expected, const Bounds& bounds) const {
        Measured made;
        const std::vector<Named> shared = compared_.shared(compared_.results, expected);
        double squares = 0.0;
        for (std::size_t n = 0; n < shared.size(); ++n) {
            const Named& stage = shared[n];
            made.stages.push_back(
                total_errors(*stage.actual, *stage.expected, bounds.of(stage.key)));
            const double error = made.stages.back().rms / largest_[n];
            squares += error * error;
            made.beyond += made.stages.back().beyond;
        }
        made.error =
            std::sqrt(squares / static_cast<double>(std::max<std::size_t>(shared.size(), 1)));
        return made;
    }

    /// False: this way explains everything, no other needs to be tried.
    bool consider(std::string variant, TraceD planted, Outcome& outcome) const {
        complete(planted, compared_.reference);
        if (compared_.backward == nullptr) keep_padding(planted, subject_);
        if (!differs(planted)) return true;
        Measured after = measure(planted, bounds_(planted, BoundsDetail::arrays));
        // Beyond the tolerance of the array is beyond that of its entry: only a way that may be named needs the exact count.
        if (after.beyond == 0 || before_.error >= kMuchSmaller * after.error)
            after = measure(planted, bounds_(planted, BoundsDetail::entries));
        const bool better = !outcome.tried || after.error < outcome.after || after.beyond == 0;
        outcome.tried = true;
        if (!better) return true;
        outcome.variant = std::move(variant);
        outcome.after = after.error;
        outcome.explains = after.beyond == 0;
        outcome.stages = changes(planted, after);
        return !outcome.explains;
    }

    /// Whether results could show it.
    bool differs(const TraceD& planted) const {
        const std::vector<Named> shared = compared_.shared(compared_.results, planted);
        for (std::size_t n = 0; n < shared.size(); ++n)
            if (any_beyond(*shared[n].expected, *right_[n].expected,
                           right_bounds_.of(shared[n].key)))
                return true;
        return false;
    }

    std::vector<StageChange> changes(const TraceD& planted, const Measured& after) const {
        std::vector<StageChange> made;
        const std::vector<Named> shared = compared_.shared(compared_.results, planted);
        for (std::size_t s = 0; s < shared.size(); ++s)
            made.push_back({shared[s].key, before_.stages[s].max, after.stages[s].max,
                            before_.stages[s].beyond, after.stages[s].beyond});
        return made;
    }

    const Subject& subject_;
    Compared compared_;
    const BoundsOf& bounds_;
    Bounds right_bounds_;          // of the reference
    std::vector<Named> right_;     // what is compared, of the reference
    std::vector<double> largest_;  // of each of them
    Measured before_;
};

/// Those that explain everything and leave about as little, else those that leave least if that is much less than before.
void name(Diagnosis& diagnosis) {
    for (const Outcome& outcome : diagnosis.outcomes)
        diagnosis.explained = diagnosis.explained || outcome.explains;
    const auto counts = [&](const Outcome& outcome) {
        return diagnosis.explained ? outcome.explains
                                   : outcome.tried && outcome.factor() >= kMuchSmaller;
    };
    double least = std::numeric_limits<double>::infinity();
    for (const Outcome& outcome : diagnosis.outcomes)
        if (counts(outcome)) least = std::min(least, outcome.after);
    const double most = (diagnosis.explained ? kAsLittle : 1.1) * least;
    for (std::size_t n = 0; n < diagnosis.outcomes.size(); ++n)
        if (counts(diagnosis.outcomes[n]) && diagnosis.outcomes[n].after <= most)
            diagnosis.named.push_back(n);
}

Diagnosis diagnose_by(const Trials& trials, const RunControl& control, bool backward = false) {
    Diagnosis diagnosis;
    for (const Fault& fault : fault_table()) {
        if (control.stop.stop_requested()) return diagnosis;
        diagnosis.outcomes.push_back(trials.attempt(fault));
    }
    for (const Fault& fault : backward ? backward_fault_table() : std::span<const Fault>()) {
        if (control.stop.stop_requested()) return diagnosis;
        diagnosis.outcomes.push_back(trials.attempt(fault, false));
    }
    name(diagnosis);
    return diagnosis;
}

}  // namespace

double Outcome::factor() const {
    if (after > 0.0) return before / after;
    return before > 0.0 ? std::numeric_limits<double>::infinity() : 1.0;
}

Diagnosis diagnose(const Subject& whole, const Results& results, const BoundsOf& bounds,
                   const RunControl& control) {
    Subject subject = whole;
    if (subject.allowed.count() >= kScreenedPairs) {
        auto rows = std::make_shared<const RowSample>(subject.reference, subject.size, results);
        if (!rows->rows().empty()) subject.screen = std::move(rows);
    }
    const auto as_it_is = [](TraceD planted) { return planted; };
    return diagnose_by(
        Trials(subject, {results, whole.reference, shared_stages, as_it_is, results}, bounds),
        control);
}

Diagnosis diagnose_gradients(const Subject& subject, const Backward& backward,
                             const Results& gradients, const BoundsOf& bounds,
                             const RunControl& control) {
    const auto of = [&](const TraceD& planted) {
        TraceD whole = planted;
        complete(whole, subject.reference);
        return planted_gradients(subject, backward, whole);
    };
    const Results nothing;
    return diagnose_by(
        Trials(subject, {gradients, backward.reference, shared_gradients, of, nothing, &backward},
               bounds),
        control, true);
}

Result<Planted> plant(const Subject& subject, const Fault& fault) {
    const Results results = cast<float>(subject.reference);
    const Bounds bounds = forward_bounds(subject, subject.reference);
    std::optional<Planted> made;
    const Reason reason = fault.plant({subject, results}, [&](std::string variant, TraceD planted) {
        complete(planted, subject.reference);
        keep_padding(planted, subject);
        Results shown = cast<float>(planted);
        if (cells_beyond(shown, subject.reference, bounds) == 0) return true;
        made = Planted{std::move(variant), std::move(shown)};
        return false;
    });
    if (made) return *std::move(made);
    return bad_input(fmt::format(
        "{}: {}", fault.text, reason.empty() ? "it makes no difference to these tensors" : reason));
}

Index cells_beyond(const Results& results, const TraceD& expected, const Bounds& bounds) {
    Index beyond = 0;
    for (const Named& stage : shared_stages(results, expected))
        beyond += total_errors(*stage.actual, *stage.expected, bounds.of(stage.key)).beyond;
    return beyond;
}

}  // namespace attn::verify

#include "core/verify/subject.h"

#include <utility>

#include "core/call.h"
#include "core/masks.h"
#include "core/memory.h"

namespace attn::verify {
namespace {

/// Copies of it share its numbers until one of them is written.
template <class Scalar>
TensorOf<Scalar> shared(const TensorOf<Scalar>& tensor) {
    return TensorOf<Scalar>::shared(tensor.shape(),
                                    {tensor.values().begin(), tensor.values().end()});
}

}  // namespace

Result<Subject> make_subject(InputsD inputs, const AttentionSpec& spec) {
    Subject subject{std::move(inputs), spec, {}, {}, {}, {}};
    const Result<CallD> call = validate(subject.inputs, spec);
    if (!call) return tl::unexpected(call.error());
    subject.size = call->size();
    // The mask is in memory beside the stages of the reference: one byte for each pair.
    const double pairs =
        static_cast<double>(subject.size.batch) * static_cast<double>(subject.size.heads) *
        static_cast<double>(subject.size.tq) * static_cast<double>(subject.size.tk);
    if (auto fits = check_fits_in_memory(subject.size, spec, all_stages(), sizeof(double), pairs);
        !fits)
        return tl::unexpected(fits.error());
    Result<TraceD> reference = attend_exact(subject.inputs, spec);
    if (!reference) return tl::unexpected(std::move(reference.error()));
    subject.reference = *std::move(reference);
    // Every fault begins with a copy of it, and writes a few of its stages anew.
    for (TensorD& stage : subject.reference.stages)
        if (!stage.empty()) stage = shared(stage);
    subject.allowed = shared(materialise(spec.mask, subject.size));
    return subject;
}

std::vector<Named> shared_stages(const Results& actual, const TraceD& expected) {
    std::vector<Named> shared;
    for (const StageInfo& stage : stage_table()) {
        const bool input = stage.stage == Stage::x || stage.stage == Stage::x_kv;
        const Tensor& mine = actual[stage.stage];
        const TensorD& theirs = expected[stage.stage];
        if (!input && !mine.empty() && !theirs.empty())
            shared.push_back({stage.key, &mine, &theirs});
    }
    if (!actual.logsumexp.empty() && !expected.logsumexp.empty())
        shared.push_back({"logsumexp", &actual.logsumexp, &expected.logsumexp});
    return shared;
}

}  // namespace attn::verify

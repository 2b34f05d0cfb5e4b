#include "core/verify/subject.h"

#include <utility>

#include <fmt/format.h>

#include "core/call.h"
#include "core/engine.h"
#include "core/entries.h"
#include "core/kernels/reference_parts.h"
#include "core/masks.h"
#include "core/memory.h"
#include "core/stages.h"

namespace attn::verify {
namespace {

/// Copies of it share its numbers until one of them is written.
template <class Scalar>
TensorOf<Scalar> shared(const TensorOf<Scalar>& tensor) {
    return TensorOf<Scalar>::shared(tensor.shape(),
                                    {tensor.values().begin(), tensor.values().end()});
}

}  // namespace

void open_gate(const Subject& subject, Index b, Index h, Index i, std::span<double> row) {
    if (subject.gate.empty()) return;
    const auto gate = subject.gate.matrix(b, h).row(i);
    for (std::size_t c = 0; c < row.size(); ++c) row[c] *= sigmoid(gate[c]);
}

void open_gate(const Subject& subject, TraceD& trace) {
    if (subject.gate.empty()) return;
    TensorD& context = trace[Stage::context];
    for_each_row(context.shape(), [&](Index b, Index h, Index i) {
        open_gate(subject, b, h, i, context.matrix(b, h).row(i));
    });
    trace[Stage::output] = join_heads(subject.inputs, subject.size, context);
}

Result<Subject> make_subject(InputsD inputs, const AttentionSpec& spec, TensorD gate) {
    Subject subject{.inputs = std::move(inputs),
                    .spec = spec,
                    .size = {},
                    .allowed = {},
                    .reference = {},
                    .gate = std::move(gate)};
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
    const Shape context = subject.reference[Stage::context].shape();
    if (!subject.gate.empty() && subject.gate.shape() != context)
        return bad_input(fmt::format("gate is {}; expected {}, a number for each of the context",
                                     to_string(subject.gate.shape()), to_string(context)));
    open_gate(subject, subject.reference);
    // Every fault begins with a copy of it, and writes a few of its stages anew.
    for (TensorD& stage : subject.reference.stages)
        if (!stage.empty()) stage = shared(stage);
    for (TensorD* const operand : {&subject.inputs.q, &subject.inputs.k, &subject.inputs.v})
        if (!operand->empty()) *operand = shared(*operand);
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

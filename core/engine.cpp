#include "core/engine.h"

#include <cmath>
#include <new>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "core/call.h"
#include "core/kernels/reference.h"
#include "core/memory.h"
#include "core/stages.h"
#include "core/trace.h"

namespace attn {
namespace {

/// `work()`, with an allocation that fails turned into an error: core never throws.
template <class Work>
auto without_throwing(Work work) -> decltype(work()) {
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return failed("out of memory: keep fewer stages or attend over fewer tokens");
    } catch (const std::length_error&) {
        return failed("a stage is larger than memory can address: attend over fewer tokens");
    }
}

Result<void> check_keep(const Backend& backend, StageSet keep) {
    const StageSet missing = keep & ~backend.stages();
    if (missing.none() || keep == all_stages()) return {};
    for (const StageInfo& stage : stage_table())
        if (missing[index_of(stage.stage)])
            return bad_input(
                fmt::format("backend {} cannot keep {}; expected a backend that stores it, "
                            "such as staged",
                            backend.name(), stage.key));
    return {};
}

Result<void> check_supports(const Backend& backend, const Call& call) {
    if (auto reason = backend.supports(call))
        return bad_input(
            fmt::format("backend {} cannot compute this: {}", backend.name(), *reason));
    return {};
}

}  // namespace

double score_factor(const AttentionSpec& spec, Index d_k) {
    switch (spec.scale) {
        case ScaleKind::sqrt_dk:
            return 1.0 / std::sqrt(static_cast<double>(d_k)) / spec.temperature;
        case ScaleKind::none:
        case ScaleKind::q_and_k:
            return 1.0 / spec.temperature;
        case ScaleKind::value:
            return spec.scale_value / spec.temperature;
    }
    return 1.0;
}

Result<Trace> attend(const Inputs& inputs, const AttentionSpec& spec, std::string_view backend,
                     StageSet keep) {
    return validate(inputs, spec).and_then([&](const Call& call) {
        return choose_backend(backend, call, keep).and_then([&](const Backend* chosen) {
            return attend(call, *chosen, keep);
        });
    });
}

Result<Trace> attend(const Inputs& inputs, const AttentionSpec& spec, const Backend& backend,
                     StageSet keep, const RunControl& control) {
    return validate(inputs, spec).and_then([&](const Call& call) {
        return attend(call, backend, keep, control);
    });
}

Result<Trace> attend(const Call& call, const Backend& backend, StageSet keep,
                     const RunControl& control) {
    if (auto valid = check_keep(backend, keep); !valid) return tl::unexpected(valid.error());
    const StageSet stored = keep & backend.stages();
    if (auto valid = check_supports(backend, call); !valid) return tl::unexpected(valid.error());
    return without_throwing([&] { return backend.forward(call, stored, control); });
}

Result<Trace> attend_backward(const Inputs& inputs, const AttentionSpec& spec, const Trace& forward,
                              const Upstream& upstream, std::string_view backend) {
    return validate(inputs, spec).and_then([&](const Call& call) {
        return choose_backend(backend, call, held_stages(forward))
            .and_then([&](const Backend* chosen) {
                return attend_backward(call, forward, upstream, *chosen);
            });
    });
}

Result<Trace> attend_backward(const Inputs& inputs, const AttentionSpec& spec, const Trace& forward,
                              const Upstream& upstream, const Backend& backend) {
    return validate(inputs, spec).and_then([&](const Call& call) {
        return attend_backward(call, forward, upstream, backend);
    });
}

Result<Trace> attend_backward(const Call& call, const Trace& forward, const Upstream& upstream,
                              const Backend& backend, const RunControl& control) {
    if (!backend.has_backward()) return no_backward(backend);
    if (auto valid = check_supports(backend, call); !valid) return tl::unexpected(valid.error());
    if (auto valid = validate_backward(call, forward, upstream, backend.stages()); !valid)
        return tl::unexpected(valid.error());
    return without_throwing([&] { return backend.backward(call, forward, upstream, control); });
}

Result<TraceD> attend_exact(const InputsD& inputs, const AttentionSpec& spec) {
    return without_throwing([&]() -> Result<TraceD> {
        const Result<CallD> call = validate(inputs, spec);
        if (!call) return tl::unexpected(call.error());
        if (auto fits = check_fits_in_memory(call->size(), spec, all_stages(), sizeof(double));
            !fits)
            return tl::unexpected(fits.error());
        return reference_forward(*call, all_stages());
    });
}

Result<TraceD> attend_exact_backward(const InputsD& inputs, const AttentionSpec& spec,
                                     const TraceD& forward, const UpstreamD& upstream) {
    return without_throwing([&]() -> Result<TraceD> {
        const Result<CallD> call = validate(inputs, spec);
        if (!call) return tl::unexpected(call.error());
        if (auto valid = validate_backward(*call, forward, upstream); !valid)
            return tl::unexpected(valid.error());
        if (auto fits = check_fits_in_memory(call->size(), spec, all_stages(), sizeof(double));
            !fits)
            return tl::unexpected(fits.error());
        return reference_backward(*call, forward, upstream);
    });
}

}  // namespace attn

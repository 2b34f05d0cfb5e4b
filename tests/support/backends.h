#pragma once

#include <string_view>
#include <vector>

#include "core/backend.h"
#include "core/engine.h"
#include "core/spec.h"
#include "core/trace.h"

namespace attn::test {

/// The backends that keep a stage: a fused one has no scores or weights to look at.
inline std::vector<const Backend*> backends_keeping(Stage stage) {
    std::vector<const Backend*> keeping;
    for (const Backend* backend : backends())
        if (backend->stages()[index_of(stage)]) keeping.push_back(backend);
    return keeping;
}

/// What each of those that keep weights makes of a call.
inline std::vector<Trace> traces_of(const Inputs& inputs, const AttentionSpec& spec = {}) {
    std::vector<Trace> traces;
    for (const Backend* backend : backends_keeping(Stage::weights))
        traces.push_back(attend(inputs, spec, backend->name()).value());
    return traces;
}

/// A call and its gradients.
struct BothPasses {
    Trace forward;
    Trace d;
};
inline BothPasses both_passes(const Inputs& inputs, const AttentionSpec& spec,
                              std::string_view backend, const Upstream& upstream = {}) {
    BothPasses both{attend(inputs, spec, backend).value(), {}};
    both.d = attend_backward(inputs, spec, both.forward, upstream, backend).value();
    return both;
}

/// Computes as staged does: a backend of a test has its own of what it does otherwise.
class LikeStaged : public Backend {
  public:
    std::string_view description() const override { return "as staged, but for a test"; }
    StageSet stages() const override { return all_stages(); }
    Result<Trace> forward(const attn::Call& call, StageSet keep,
                          const RunControl& control) const override {
        return find_backend("staged")->forward(call, keep, control);
    }
    Result<Trace> backward(const attn::Call& call, const Trace& forward, const Upstream& upstream,
                           const RunControl& control) const override {
        return find_backend("staged")->backward(call, forward, upstream, control);
    }
};

}  // namespace attn::test

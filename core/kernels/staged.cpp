#include "core/kernels/staged.h"

#include "core/memory.h"

namespace attn {
namespace {

class StagedBackend final : public Backend {
  public:
    std::string_view name() const override { return "staged"; }
    std::string_view description() const override {
        return "single precision, SIMD and threads, every stage stored";
    }
    StageSet stages() const override { return all_stages(); }

    Result<Trace> forward(const Inputs& inputs, const AttentionSpec& spec,
                          StageSet keep) const override {
        return forward_stoppable(inputs, spec, keep, {});
    }
    Result<Trace> forward_stoppable(const Inputs& inputs, const AttentionSpec& spec, StageSet keep,
                                    const RunControl& control) const override {
        return checked(inputs, spec, keep).and_then([&](const Dimensions& size) {
            return staged_forward(inputs, spec, size, keep, control);
        });
    }

    Result<Trace> backward(const Inputs& inputs, const AttentionSpec& spec, const Trace& forward,
                           const Upstream& upstream) const override {
        return checked(inputs, spec, all_stages()).map([&](const Dimensions& size) {
            return staged_backward(inputs, spec, size, forward, upstream);
        });
    }

  private:
    /// The sizes of a call that fits in memory.
    static Result<Dimensions> checked(const Inputs& inputs, const AttentionSpec& spec,
                                      StageSet keep) {
        return validate(inputs, spec).and_then([&](const Dimensions& size) {
            return check_fits_in_memory(size, spec, keep, sizeof(float)).map([&] { return size; });
        });
    }
};

}  // namespace

const Backend& staged_backend() {
    static const StagedBackend backend;
    return backend;
}

}  // namespace attn

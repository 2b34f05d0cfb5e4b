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

    Result<Trace> forward(const Call& call, StageSet keep,
                          const RunControl& control) const override {
        return fits(call, keep).and_then([&] { return staged_forward(call, keep, control); });
    }

    Result<Trace> backward(const Call& call, const Trace& forward, const Upstream& upstream,
                           const RunControl& control) const override {
        return fits(call, all_stages()).and_then([&] {
            return staged_backward(call, forward, upstream, control);
        });
    }

  private:
    static Result<void> fits(const Call& call, StageSet keep) {
        return check_fits_in_memory(call.size(), call.spec(), keep, sizeof(float));
    }
};

}  // namespace

const Backend& staged_backend() {
    static const StagedBackend backend;
    return backend;
}

}  // namespace attn

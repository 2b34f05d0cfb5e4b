#include "core/kernels/staged.h"

#include "core/call.h"
#include "core/kernels/staged_tiles.h"
#include "core/memory.h"
#include "core/trace.h"

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
    /// Q, K and V are made, and turned, even where they are not kept; K and V are packed in panels besides.
    static Result<void> fits(const Call& call, StageSet keep) {
        const Dimensions& size = call.size();
        for (const Stage stage : {Stage::q, Stage::k, Stage::v, Stage::q_norm, Stage::k_norm,
                                  Stage::q_rot, Stage::k_rot})
            keep.set(index_of(stage));
        const double packed =
            static_cast<double>(size.batch * size.kv_heads * panel_width()) *
            static_cast<double>(panel_count(size.tk) * size.d_k + panel_count(size.d_v) * size.tk);
        return check_fits_in_memory(size, call.spec(), keep, sizeof(float), sizeof(float) * packed);
    }
};

}  // namespace

const Backend& staged_backend() {
    static const StagedBackend backend;
    return backend;
}

}  // namespace attn

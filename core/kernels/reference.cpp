#include "core/kernels/reference.h"

#include "core/call.h"
#include "core/cast.h"
#include "core/memory.h"

namespace attn {
namespace {

/// A double of every stage and of its gradient while computing, and a float at the end.
constexpr Index kBytesPerEntry = 2 * sizeof(double) + sizeof(float);

class ReferenceBackend final : public Backend {
  public:
    std::string_view name() const override { return "reference"; }
    std::string_view description() const override {
        return "double precision, plain loops: what the others are compared with";
    }
    StageSet stages() const override { return all_stages(); }

    Result<Trace> forward(const Call& call, StageSet keep,
                          const RunControl& control) const override {
        return run(call, [&](const CallD& exact) {
            return reference_forward(exact, keep, control).map([](const TraceD& trace) {
                return cast<float>(trace);
            });
        });
    }

    /// From the inputs, not from the stages that `forward` holds rounded to float.
    Result<Trace> backward(const Call& call, const Trace& /*forward*/, const Upstream& upstream,
                           const RunControl& control) const override {
        const UpstreamD upstream_d{upstream.stage, cast<double>(upstream.gradient)};
        return run(call, [&](const CallD& exact) {
            return reference_forward(exact, all_stages(), control)
                .and_then([&](const TraceD& forward) {
                    return reference_backward(exact, forward, upstream_d, control);
                })
                .map([](const TraceD& d) { return cast<float>(d); });
        });
    }

  private:
    /// work(the same call in double), when it fits in memory.
    template <class Work>
    static Result<Trace> run(const Call& call, const Work& work) {
        return check_fits_in_memory(call.size(), call.spec(), all_stages(), kBytesPerEntry)
            .and_then([&]() -> Result<Trace> {
                const InputsD inputs = cast<double>(call.inputs());
                return validate(inputs, call.spec()).and_then(work);
            });
    }
};

}  // namespace

const Backend& reference_backend() {
    static const ReferenceBackend backend;
    return backend;
}

}  // namespace attn

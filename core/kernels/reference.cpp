#include "core/kernels/reference.h"

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

    Result<Trace> forward(const Inputs& inputs, const AttentionSpec& spec,
                          StageSet keep) const override {
        return checked(inputs, spec).map([&](const Dimensions& size) {
            return cast<float>(reference_forward(cast<double>(inputs), spec, size, keep));
        });
    }

    /// From the inputs, not from the stages that `forward` holds rounded to float.
    Result<Trace> backward(const Inputs& inputs, const AttentionSpec& spec,
                           const Trace& /*forward*/, const Upstream& upstream) const override {
        return checked(inputs, spec).map([&](const Dimensions& size) {
            const InputsD inputs_d = cast<double>(inputs);
            const UpstreamD upstream_d{upstream.stage, cast<double>(upstream.gradient)};
            const TraceD forward_d = reference_forward(inputs_d, spec, size, all_stages());
            return cast<float>(reference_backward(inputs_d, spec, size, forward_d, upstream_d));
        });
    }

  private:
    /// The sizes of a call that fits in memory.
    static Result<Dimensions> checked(const Inputs& inputs, const AttentionSpec& spec) {
        return validate(inputs, spec).and_then([&](const Dimensions& size) {
            return check_fits_in_memory(size, spec, all_stages(), kBytesPerEntry).map([&] {
                return size;
            });
        });
    }
};

}  // namespace

const Backend& reference_backend() {
    static const ReferenceBackend backend;
    return backend;
}

}  // namespace attn

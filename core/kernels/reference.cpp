#include "core/kernels/reference.h"

#include "core/cast.h"
#include "core/memory.h"

namespace attn {
namespace {

/// A double of every stage while computing, and its float at the end.
constexpr Index kBytesPerEntry = sizeof(double) + sizeof(float);

class ReferenceBackend final : public Backend {
  public:
    std::string_view name() const override { return "reference"; }
    std::string_view description() const override {
        return "double precision, plain loops: the judge of the others";
    }
    StageSet stages() const override { return all_stages(); }

    Result<Trace> forward(const Inputs& inputs, const AttentionSpec& spec,
                          StageSet keep) const override {
        return checked(inputs, spec).map([&](const Dimensions& size) {
            return cast<float>(reference_forward(cast<double>(inputs), spec, size, keep));
        });
    }

    Result<Trace> backward(const Inputs& inputs, const AttentionSpec& spec, const Trace& forward,
                           const Upstream& upstream) const override {
        return checked(inputs, spec).map([&](const Dimensions& size) {
            const UpstreamD upstream_d{upstream.stage, cast<double>(upstream.gradient)};
            return cast<float>(reference_backward(cast<double>(inputs), spec, size,
                                                  cast<double>(forward), upstream_d));
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

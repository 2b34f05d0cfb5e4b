#include "app/gl/compute_backend.h"

#include "core/call.h"

namespace attn::gl {
namespace {

constexpr const char* kWhy = "a browser has no OpenGL 4.3: WebGL 2 has no compute shaders";

}  // namespace

class ComputeBackend::Worker {};

ComputeBackend::ComputeBackend(double) {}
ComputeBackend::~ComputeBackend() = default;

std::optional<std::string> ComputeBackend::unavailable() const { return kWhy; }
std::optional<std::string> ComputeBackend::supports(const Call&) const { return kWhy; }
Result<Trace> ComputeBackend::forward(const Call&, StageSet, const RunControl&) const {
    return failed(kWhy);
}
Result<Trace> ComputeBackend::backward(const Call&, const Trace&, const Upstream&,
                                       const RunControl&) const {
    return failed(kWhy);
}
std::string ComputeBackend::renderer() const { return {}; }

}  // namespace attn::gl

#pragma once

#include <memory>

#include "core/backend.h"
#include "core/run_control.h"
#include "core/trace.h"

namespace attn::gl {

class Device;

/// Attention by OpenGL 4.3 compute shaders, forward only, in single precision. It has an OpenGL context and a thread of
/// its own, so that no window waits for it; both start with the first question.
/// Where it cannot run, unavailable() says why: no EGL, no OpenGL 4.3, a shader that does not compile, or OpenGL failed
/// during a call. A call that does not fit in its memory fails alone.
/// Accuracy: within the error bounds of tests/support/tolerance.h for single precision; weights below 2^-126 are 0.
class ComputeBackend final : public Backend {
  public:
    /// Work is cut into dispatches of about `dispatch_ms`, so that a stop is heard and a screen on the same card stays
    /// alive. The default leaves room below 10 ms.
    explicit ComputeBackend(double dispatch_ms = 7.0);
    ~ComputeBackend() override;

    std::string_view name() const override { return "gl"; }
    std::string_view description() const override {
        return "single precision, OpenGL 4.3 compute shaders, forward only";
    }
    StageSet stages() const override { return all_stages(); }
    bool has_backward() const override { return false; }
    std::optional<std::string> unavailable() const override;
    bool has_device() const override { return true; }

    /// Dot products of rows that Q and K give (QK-norm, RoPE, cosine and general scores), and masks of one run of keys a row, which are
    /// counted by index.
    std::optional<std::string> supports(const Call& call) const override;
    /// Fails when `control` was stopped; asked between dispatches.
    Result<Trace> forward(const Call& call, StageSet keep,
                          const RunControl& control) const override;
    /// Always an error that names what can.
    Result<Trace> backward(const Call& call, const Trace& forward, const Upstream& upstream,
                           const RunControl& control) const override;

    /// "NVIDIA H100": as OpenGL calls what computes here; "" where it cannot run.
    std::string renderer() const;

  private:
    class Worker;
    std::unique_ptr<Worker> worker_;
};

}  // namespace attn::gl

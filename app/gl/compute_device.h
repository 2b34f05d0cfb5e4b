#pragma once

#include <array>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "app/gl/compute_pace.h"
#include "app/gl/offscreen.h"
#include "core/run_control.h"
#include "shaders/layout.h"

namespace attn::gl {

/// Thrown inside the compute backend, which turns it into a Result at its border: nearly every line of it talks to
/// OpenGL and may fail.
struct ComputeFailure {
    Error error;
    bool fatal;  // OpenGL cannot be trusted any more
};

/// A storage buffer of the current context.
class Buffer {
  public:
    Buffer() = default;
    Buffer(std::uint32_t name, Index bytes) : name_(name), bytes_(bytes) {}
    ~Buffer();
    Buffer(Buffer&& other) noexcept { *this = std::move(other); }
    Buffer& operator=(Buffer&& other) noexcept;

    std::uint32_t name() const { return name_; }
    Index bytes() const { return bytes_; }
    /// Its first floats. Waits for the kernels that write them.
    void read(std::span<float> into) const;

  private:
    std::uint32_t name_ = 0;
    Index bytes_ = 0;
};

/// A kernel and what it works on: buffers 0, 1, … as on top of its shader. nullptr: not bound.
struct Kernel {
    std::string_view name;
    std::array<const Buffer*, 7> buffers{};
    std::string defines;  // "#define PAIRWISE\n"
};

/// The most columns of Q that run_fused() takes: see kMostRounds.
inline constexpr Index kMostFusedWidth = 29'856;

/// OpenGL for computing, on the thread that opened it. Every function may throw ComputeFailure.
class Device {
  public:
    /// Fails where there is no OpenGL 4.3 with GLSL 4.30, or a shader does not compile.
    /// Dispatches are cut to take about `dispatch_ms`.
    static Result<std::unique_ptr<Device>> open(double dispatch_ms);
    ~Device();

    /// "NVIDIA H100": as OpenGL calls it.
    const std::string& renderer() const { return renderer_; }

    /// Holds `count` 4-byte entries of nothing in particular. `what` names it when it does not fit.
    Buffer allocate(std::string_view what, Index count);
    Buffer upload(std::string_view what, std::span<const float> values);
    Buffer upload(std::string_view what, std::span<const std::int32_t> values);
    /// The most entries of a buffer.
    Index largest_count() const { return largest_bytes_ / 4; }

    /// Tasks 0 … `tasks` − 1 of a kernel, in as many dispatches as keep the pace. A task costs `units`.
    void run(const Kernel& kernel, layout::Call call, Index tasks, Index units,
             const RunControl& control);
    /// All tiles and terms of a product (product.glsl) of `count` matrices.
    void run_product(const Kernel& kernel, layout::Call call, Index count,
                     const RunControl& control);
    /// Tasks and keys of the fused kernel, of `columns` columns of V.
    void run_fused(const Kernel& kernel, layout::Call call, Index tasks, const RunControl& control);

  private:
    /// A compiled kernel, and how fast it has been.
    struct Program {
        std::uint32_t name;
        Pace pace;
    };

    Device(std::unique_ptr<Offscreen> context, double dispatch_ms);
    Program& program(const Kernel& kernel);
    void bind(const Kernel& kernel, const Program& program) const;
    void dispatch(Program& program, const Kernel& kernel, const layout::Call& call, Index groups,
                  Index units, const RunControl& control);

    std::unique_ptr<Offscreen> context_;
    std::string renderer_;
    double dispatch_ms_;
    Index largest_bytes_ = 0;
    std::uint32_t call_block_ = 0;
    std::map<std::string, Program> programs_;
};

/// A program of one compute shader. Throws what the compiler says first.
std::uint32_t compile_compute(std::string_view name, const std::string& text);

}  // namespace attn::gl

#include "app/gl/compute_device.h"

#include <algorithm>

#include <epoxy/gl.h>
#include <fmt/format.h>

#include "app/gl/compute_shaders.h"
#include "core/rounding.h"
#include "core/stopwatch.h"

namespace attn::gl {
namespace {

// GL_MAX_COMPUTE_WORK_GROUP_COUNT is at least this.
constexpr Index kMostGroups = 65535;
// Mesa's software renderer stops the loops of an invocation after 65,535 rounds in all: fused.comp says how many it makes.
constexpr Index kMostRounds = 60000;

/// Rounds that an invocation of fused.comp makes for one tile of keys.
constexpr Index rounds_of_tile(Index width) { return 2 * round_up(width, layout::kDepth) + 256; }
static_assert(rounds_of_tile(kMostFusedWidth) <= kMostRounds &&
              rounds_of_tile(kMostFusedWidth + 1) > kMostRounds);

[[noreturn]] void fail(std::string sentence) {
    throw ComputeFailure{{std::move(sentence), ErrorKind::failure}, true};
}

/// The card was reset, by this program's fault or another's: everything on it is lost.
bool was_reset() {
    return (epoxy_gl_version() >= 45 || epoxy_has_gl_extension("GL_KHR_robustness")) &&
           glGetGraphicsResetStatus() != GL_NO_ERROR;
}

void check_gl(std::string_view what) {
    const GLenum error = glGetError();
    if (error == GL_CONTEXT_LOST || was_reset())
        fail(
            fmt::format("the graphics card was reset in {}, and what was on it is lost; start "
                        "attnscope again to use it",
                        what));
    if (error != GL_NO_ERROR) fail(fmt::format("OpenGL reported error {:#06x} in {}", error, what));
}

/// What a compiler complains of first. NVIDIA's begins with two lines of heading.
std::string first_error(std::string_view log) {
    std::string_view first;
    for (std::string_view rest = log; !rest.empty();) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        if (line.find("error") != line.npos) return std::string(line);
        if (first.empty()) first = line;
    }
    return std::string(first);
}

GLint integer(GLenum name) {
    GLint value = 0;
    glGetIntegerv(name, &value);
    return value;
}

std::string_view string_of(GLenum name) {
    const GLubyte* const found = glGetString(name);
    return found ? reinterpret_cast<const char*>(found) : "";
}

constexpr GLsizei kLongestLog = 4096;

/// Of a shader or a program, by the function that gets it.
std::string log_of(GLuint name, void (*get)(GLuint, GLsizei, GLsizei*, GLchar*)) {
    std::array<char, kLongestLog> log{};
    get(name, kLongestLog, nullptr, log.data());
    return first_error(log.data());
}

std::string_view source_of(std::string_view name) {
    for (const ShaderSource& source : shader_sources())
        if (source.name == name) return source.text;
    return {};
}

/// `defines` after the first line, which is #version.
std::string with_defines(std::string_view text, const std::string& defines) {
    const std::size_t first = text.find('\n') + 1;
    return std::string(text.substr(0, first)) + defines + std::string(text.substr(first));
}

Buffer make_buffer(std::string_view what, Index bytes, const void* values, Index largest,
                   const std::string& renderer) {
    constexpr double kMiB = 1048576.0;
    const auto too_large = [&](std::string_view why) {
        throw ComputeFailure{{fmt::format("{} takes {:.1f} MiB, but {} ({}): attend over fewer "
                                          "tokens or choose another backend",
                                          what, static_cast<double>(bytes) / kMiB, why, renderer),
                              ErrorKind::failure},
                             false};
    };
    if (bytes > largest)
        too_large(fmt::format("OpenGL's buffers hold at most {:.0f} MiB here",
                              static_cast<double>(largest) / kMiB));
    GLuint name = 0;
    glGenBuffers(1, &name);
    Buffer buffer(name, std::max<Index>(bytes, 16));
    glBindBuffer(GL_SHADER_STORAGE_BUFFER, name);
    glBufferData(GL_SHADER_STORAGE_BUFFER, static_cast<GLsizeiptr>(buffer.bytes()),
                 bytes < 16 ? nullptr : values, GL_DYNAMIC_COPY);
    if (bytes < 16 && values != nullptr)
        glBufferSubData(GL_SHADER_STORAGE_BUFFER, 0, static_cast<GLsizeiptr>(bytes), values);
    const GLenum error = glGetError();
    if (error == GL_OUT_OF_MEMORY) too_large("OpenGL has no room for it");
    if (error != GL_NO_ERROR)
        fail(fmt::format("OpenGL reported error {:#06x} for {}", error, what));
    return buffer;
}

}  // namespace

std::uint32_t compile_compute(std::string_view name, const std::string& text) {
    const char* const source = text.c_str();
    const GLuint shader = glCreateShader(GL_COMPUTE_SHADER);
    glShaderSource(shader, 1, &source, nullptr);
    glCompileShader(shader);
    GLint compiled = GL_FALSE;
    glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
    const GLuint program = glCreateProgram();
    GLint linked = GL_FALSE;
    if (compiled == GL_TRUE) {
        glAttachShader(program, shader);
        glLinkProgram(program);
        glGetProgramiv(program, GL_LINK_STATUS, &linked);
    }
    const std::string log = compiled == GL_TRUE ? log_of(program, glGetProgramInfoLog)
                                                : log_of(shader, glGetShaderInfoLog);
    glDeleteShader(shader);
    if (linked == GL_TRUE) return program;
    glDeleteProgram(program);
    fail(fmt::format("the shader {} does not compile: {}", name, log));
}

// ---- buffers

Buffer::~Buffer() {
    if (name_ != 0) glDeleteBuffers(1, &name_);
}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
    std::swap(name_, other.name_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

void Buffer::read(std::span<float> into) const {
    glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
    glBindBuffer(GL_COPY_READ_BUFFER, name_);
    glGetBufferSubData(GL_COPY_READ_BUFFER, 0, static_cast<GLsizeiptr>(into.size_bytes()),
                       into.data());
    check_gl("reading a result");
}

Buffer Device::allocate(std::string_view what, Index count) {
    return make_buffer(what, count * 4, nullptr, largest_bytes_, renderer_);
}

Buffer Device::upload(std::string_view what, std::span<const float> values) {
    return make_buffer(what, static_cast<Index>(values.size_bytes()), values.data(), largest_bytes_,
                       renderer_);
}

Buffer Device::upload(std::string_view what, std::span<const std::int32_t> values) {
    return make_buffer(what, static_cast<Index>(values.size_bytes()), values.data(), largest_bytes_,
                       renderer_);
}

// ---- the context

Device::Device(std::unique_ptr<Offscreen> context, double dispatch_ms)
    : context_(std::move(context)), renderer_(string_of(GL_RENDERER)), dispatch_ms_(dispatch_ms) {}

Result<std::unique_ptr<Device>> Device::open(double dispatch_ms) {
    auto context = Offscreen::open({1, 1}, Renderer::hardware_first);
    if (!context) return tl::unexpected(context.error());
    std::unique_ptr<Device> device(new Device(std::move(*context), dispatch_ms));
    const int version = integer(GL_MAJOR_VERSION) * 10 + integer(GL_MINOR_VERSION);
    if (version < 43)
        return failed(fmt::format("it needs OpenGL 4.3, and {} offers {}.{}", device->renderer_,
                                  version / 10, version % 10));
    const std::string_view language = string_of(GL_SHADING_LANGUAGE_VERSION);
    if (language < "4.30")  // "4.60", "4.30 NVIDIA …"
        return failed(fmt::format("it needs GLSL 4.30, and {} offers {}", device->renderer_,
                                  language.empty() ? "none" : language));
    // Entries are counted in 32 bits on the card.
    GLint64 largest = 0;
    glGetInteger64v(GL_MAX_SHADER_STORAGE_BLOCK_SIZE, &largest);
    device->largest_bytes_ = std::min<Index>(largest, std::numeric_limits<std::int32_t>::max() - 3);
    glGenBuffers(1, &device->call_block_);
    glBindBuffer(GL_UNIFORM_BUFFER, device->call_block_);
    glBufferData(GL_UNIFORM_BUFFER, sizeof(layout::Call), nullptr, GL_STREAM_DRAW);
    glBindBufferBase(GL_UNIFORM_BUFFER, 0, device->call_block_);
    try {
        for (const ShaderSource& source : shader_sources()) device->program({source.name, {}, {}});
        check_gl("starting");
    } catch (const ComputeFailure& failure) {
        return tl::unexpected(failure.error);
    }
    return device;
}

Device::~Device() {
    for (const auto& [key, program] : programs_) glDeleteProgram(program.name);
    glDeleteBuffers(1, &call_block_);
}

Device::Program& Device::program(const Kernel& kernel) {
    const std::string key = std::string(kernel.name) + '\n' + kernel.defines;
    if (const auto found = programs_.find(key); found != programs_.end()) return found->second;
    const std::uint32_t compiled =
        compile_compute(kernel.name, with_defines(source_of(kernel.name), kernel.defines));
    return programs_.emplace(key, Program{compiled, Pace(dispatch_ms_)}).first->second;
}

void Device::bind(const Kernel& kernel, const Program& program) const {
    glUseProgram(program.name);
    for (std::size_t binding = 0; binding < kernel.buffers.size(); ++binding)
        if (const Buffer* buffer = kernel.buffers[binding])
            glBindBufferBase(GL_SHADER_STORAGE_BUFFER, static_cast<GLuint>(binding),
                             buffer->name());
}

// ---- dispatches

void Device::dispatch(Program& program, const Kernel& kernel, const layout::Call& call,
                      Index groups, Index units, const RunControl& control) {
    if (control.stop.stop_requested())
        throw ComputeFailure{{"the attention call was stopped", ErrorKind::failure}, false};
    const Stopwatch watch;
    glBindBuffer(GL_UNIFORM_BUFFER, call_block_);
    glBufferSubData(GL_UNIFORM_BUFFER, 0, sizeof call, &call);
    glDispatchCompute(static_cast<GLuint>(groups), 1, 1);
    glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
    glFinish();
    const double elapsed_ms = watch.ms();
    check_gl(fmt::format("the kernel {}", kernel.name));
    program.pace.learn(units, elapsed_ms);
}

void Device::run(const Kernel& kernel, layout::Call call, Index tasks, Index units,
                 const RunControl& control) {
    Program& used = program(kernel);
    bind(kernel, used);
    for (Index task = 0, count = 0; task < tasks; task += count) {
        count = std::clamp<Index>(used.pace.allowance() / units, 1, kMostGroups);
        count = std::min(count, tasks - task);
        call.task_first = static_cast<int>(task);
        dispatch(used, kernel, call, count, count * units, control);
    }
}

// A unit is a slice of a tile.
void Device::run_product(const Kernel& kernel, layout::Call call, Index count,
                         const RunControl& control) {
    Program& used = program(kernel);
    bind(kernel, used);
    const Index tiles =
        count * divide_up(call.rows, layout::kTile) * divide_up(call.columns, layout::kTile);
    const Index most =
        std::min<Index>(layout::kMostTerms / layout::kSlice, divide_up(call.depth, layout::kSlice));
    for (Index tile = 0, together = 0; tile < tiles; tile += together) {
        together = std::clamp<Index>(used.pace.allowance() / most, 1, kMostGroups);
        together = std::min(together, tiles - tile);
        call.task_first = static_cast<int>(tile);
        for (call.depth_first = 0; call.depth_first < call.depth;
             call.depth_first = call.depth_end) {
            const Index slices = std::clamp<Index>(used.pace.allowance() / together, 1, most);
            call.depth_end = static_cast<int>(
                std::min<Index>(call.depth, call.depth_first + slices * layout::kSlice));
            dispatch(used, kernel, call, together, together * slices, control);
        }
    }
}

// A unit is four terms of the products of one tile of queries and keys.
void Device::run_fused(const Kernel& kernel, layout::Call call, Index tasks,
                       const RunControl& control) {
    Program& used = program(kernel);
    bind(kernel, used);
    const Index tile_units = (call.q_stride + call.columns) / 4;
    const Index most = std::min<Index>(kMostRounds / rounds_of_tile(call.q_stride),
                                       divide_up(call.tk, layout::kKeys));
    for (Index task = 0, together = 0; task < tasks; task += together) {
        together = std::clamp<Index>(used.pace.allowance() / (most * tile_units), 1, kMostGroups);
        together = std::min(together, tasks - task);
        call.task_first = static_cast<int>(task);
        for (call.key_first = 0; call.key_first < call.tk; call.key_first = call.key_end) {
            const Index tiles =
                std::clamp<Index>(used.pace.allowance() / (together * tile_units), 1, most);
            call.key_end =
                static_cast<int>(std::min<Index>(call.tk, call.key_first + tiles * layout::kKeys));
            const int last = call.key_end == call.tk ? layout::kWithLastKeys : 0;
            call.flags = (call.flags & ~layout::kWithLastKeys) | last;
            dispatch(used, kernel, call, together, together * tiles * tile_units, control);
        }
    }
}

}  // namespace attn::gl

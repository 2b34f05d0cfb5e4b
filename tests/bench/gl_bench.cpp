// The fused kernel of the gl backend on whatever OpenGL calls its best card, as a fraction of the multiply-add rate that
// is probed in the same run. Tensors stay on the card; what is timed is dispatch to glFinish.
//
//   attn_gl_bench [H,N,d | H,N,d,causal] …     median of at least 5 runs and 0.5 s for each shape, a JSON line each
//
// GF: 4 H N² d, half of it causal. The error is the worst of 64 rows of the context against double loops.

#include <epoxy/gl.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <optional>

#include "app/gl/compute_call.h"
#include "tests/bench/measured.h"

namespace {

using namespace attn;

// Longer dispatches than the backend's own: nothing else wants this card now.
constexpr double kDispatchMs = 200.0;
constexpr double kEnoughSeconds = 0.5;
constexpr std::size_t kFewestRuns = 5;

struct Workload {
    Index heads = 8;
    Index n = 8192;
    Index d = 64;
    bool causal = false;
};

double gflop_of(const Workload& shape) {
    return (shape.causal ? 2.0 : 4.0) * static_cast<double>(shape.heads * shape.d) *
           static_cast<double>(shape.n) * static_cast<double>(shape.n) * 1e-9;
}

bool is_software(const std::string& card) {
    return card.find("llvmpipe") != card.npos || card.find("softpipe") != card.npos;
}

template <class Work>
double median_seconds(const Work& work) {
    std::vector<double> all;
    for (double total = 0.0; total < kEnoughSeconds || all.size() < kFewestRuns;
         total += all.back())
        all.push_back(bench::seconds_of(work));
    return bench::median(all);
}

// 16 independent chains of multiply-adds an invocation, 8 long for each round, so that counting rounds costs little; the
// sum is stored so that none is left out.
constexpr const char* kProbe = R"(#version 430 core
#define ADD(x) x = fma(x, vec4(factor), vec4(0.5));
#define STEP ADD(a) ADD(b) ADD(c) ADD(d)
layout(local_size_x = 256) in;
layout(std430, binding = 0) writeonly buffer Out { float result[]; };
layout(location = 0) uniform int rounds;
layout(location = 1) uniform float factor;
void main() {
    vec4 a = vec4(gl_LocalInvocationIndex), b = a + 1.0, c = a + 2.0, d = a + 3.0;
    for (int n = 0; n < rounds; ++n) { STEP STEP STEP STEP STEP STEP STEP STEP }
    result[gl_GlobalInvocationID.x] = dot(a + b + c + d, vec4(1.0));
}
)";

/// Multiply-adds of single precision, GF/s, 2 FLOP each: the best of several dispatches that grow to 20 ms.
double probe_gflops(gl::Device& device) {
    constexpr GLuint kGroups = 4096;
    constexpr double kLongMs = 20.0;
    constexpr double kFlopOfRound = 8 * 16 * 2;
    const GLuint program = gl::compile_compute("probe", kProbe);
    const gl::Buffer out = device.allocate("the probe", kGroups * 256);
    glUseProgram(program);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, out.name());
    glUniform1f(1, 0.999F);
    double best = 0.0;
    int rounds = 1;
    for (int run = 0; run < 20; ++run) {
        glUniform1i(0, rounds);
        const double seconds = bench::seconds_of([] {
            glDispatchCompute(kGroups, 1, 1);
            glFinish();
        });
        best = std::max(best, kFlopOfRound * kGroups * 256.0 * rounds / seconds * 1e-9);
        if (seconds * 1e3 < kLongMs && rounds < 4096) rounds *= 2;
    }
    glDeleteProgram(program);
    return best;
}

/// Row i of the context of head h, in double.
std::vector<double> exact_row(const Tensor& q, const Tensor& k, const Tensor& v,
                              const Workload& shape, Index h, Index i) {
    const Index keys = shape.causal ? i + 1 : shape.n;
    std::vector<double> mixed(shape.d);
    double sum = 0.0;
    for (Index j = 0; j < keys; ++j) {
        double score = 0.0;
        for (Index c = 0; c < shape.d; ++c)
            score += static_cast<double>(q(0, h, i, c)) * static_cast<double>(k(0, h, j, c));
        const double weight = std::exp(score / std::sqrt(static_cast<double>(shape.d)));
        sum += weight;
        for (Index c = 0; c < shape.d; ++c) mixed[c] += weight * static_cast<double>(v(0, h, j, c));
    }
    for (double& value : mixed) value /= sum;
    return mixed;
}

std::string measure(gl::Device& device, const Workload& shape, double peak_gflops) {
    const Shape each{1, shape.heads, shape.n, shape.d};
    const Tensor q = bench::uniform_tensor(each, 1);
    const Tensor k = bench::uniform_tensor(each, 2);
    const Tensor v = bench::uniform_tensor(each, 3);
    AttentionSpec spec;
    if (shape.causal) spec.mask.causal = CausalAlign::top_left;
    Dimensions size{1, shape.heads, shape.heads, shape.n, shape.n, shape.d, shape.d, 0, 0, 0};
    const gl::Buffer on_card[] = {gl::upload_rows(device, "Q", q),
                                  gl::upload_rows(device, "K", k),
                                  gl::upload_rows(device, "V", v),
                                  device.allocate("context", q.count()),
                                  device.allocate("maxima and sums", shape.heads * shape.n * 2),
                                  gl::upload_padding(device, spec.mask, size),
                                  gl::upload_custom_mask(device, spec.mask)};
    gl::Kernel fused{"fused", {}, fmt::format("#define VALUE_QUADS {}\n", shape.d > 64 ? 2 : 1)};
    for (std::size_t n = 0; n < std::size(on_card); ++n) fused.buffers[n] = &on_card[n];
    gl::layout::Call call = gl::describe_call(spec, size);
    call.columns = shape.d > gl::layout::kValueColumns ? 128 : 64;
    const Index runs = (shape.n + gl::layout::kQueries - 1) / gl::layout::kQueries;
    const auto run = [&] { device.run_fused(fused, call, shape.heads * runs, {}); };
    for (int warm = 0; warm < 3; ++warm) run();
    const double seconds = median_seconds(run);
    const Tensor context = gl::read_rows(on_card[3], each);
    double error = 0.0;
    for (Index sample = 0; sample < 64; ++sample) {
        const Index h = sample % shape.heads, i = sample * shape.n / 64;
        const std::vector<double> exact = exact_row(q, k, v, shape, h, i);
        for (Index c = 0; c < shape.d; ++c)
            error = std::max(error, std::abs(static_cast<double>(context(0, h, i, c)) - exact[c]));
    }
    const double gflop = gflop_of(shape);
    return fmt::format(
        R"({{"card": "{}", "H": {}, "N": {}, "d": {}, "causal": {}, "ms": {:.3f}, "gflops": {:.1f}, "peak_gflops": {:.0f}, "fraction": {:.3f}, "error": {:.2e}}})",
        device.renderer(), shape.heads, shape.n, shape.d, shape.causal, seconds * 1e3,
        gflop / seconds, peak_gflops, gflop / seconds / peak_gflops, error);
}

std::optional<Workload> parse(const std::string& text) {
    long long h = 0, n = 0, d = 0;
    char word[8] = "";
    const int found = std::sscanf(text.c_str(), "%lld,%lld,%lld,%7s", &h, &n, &d, word);
    const bool causal = std::string(word) == "causal";
    if (found < 3 || (found == 4 && !causal) || h < 1 || n < 1 || d < 1 || d > 128)
        return std::nullopt;
    return Workload{h, n, d, causal};
}

}  // namespace

int main(int count, char** arguments) {
    const auto device = gl::Device::open(kDispatchMs);
    if (!device) {
        fmt::print(stderr, "attn_gl_bench: {}\n", device.error().text());
        return 77;
    }
    std::vector<std::string> shapes(arguments + 1, arguments + count);
    if (shapes.empty())
        shapes = {"8,1024,64", "8,4096,64", "8,8192,64", "8,8192,64,causal", "8,8192,128"};
    try {
        const double peak = probe_gflops(**device);
        for (const std::string& text : shapes) {
            const std::optional<Workload> shape = parse(text);
            if (!shape) {
                fmt::print(stderr, "attn_gl_bench: '{}': expected H,N,d with d <= 128\n", text);
                return 2;
            }
            if (const std::string card = (*device)->renderer();
                is_software(card) && gflop_of(*shape) > 1.0) {
                fmt::print(
                    stderr,
                    "attn_gl_bench: the best that OpenGL has here is {}, which is no graphics card "
                    "and would take minutes: name a small shape, as in 1,256,64\n",
                    card);
                return 77;
            }
            fmt::print("{}\n", measure(**device, *shape, peak));
        }
    } catch (const gl::ComputeFailure& failure) {
        fmt::print(stderr, "attn_gl_bench: {}\n", failure.error.text());
        return 1;
    }
}

#include "core/bench/workload.h"

#include <charconv>

#include <fmt/format.h>

#include "core/rng.h"

namespace attn::bench {
namespace {

Tensor uniform_tensor(const Shape& shape, std::uint64_t seed) {
    auto tensor = Tensor::uninitialised(shape);
    std::uint64_t counter = 0;
    for (float& value : tensor.values())
        value = static_cast<float>(3.4 * uniform(seed, counter++) - 1.7);
    return tensor;
}

// Counts of all three together stay far below 2^63.
constexpr Index kMostNumber = Index{1} << 20;

/// A letter and the whole number after it, off the front of `text`; false when they are not there.
bool take_number(std::string_view& text, char letter, Index& number) {
    if (text.empty() || text.front() != letter) return false;
    const auto [stop, fault] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
    if (fault != std::errc{} || number < 1 || number > kMostNumber) return false;
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
    return true;
}

bool take(std::string_view& text, char letter) {
    if (text.empty() || text.front() != letter) return false;
    text.remove_prefix(1);
    return true;
}

}  // namespace

std::string_view to_string(Pass pass) {
    constexpr std::string_view kNames[] = {"forward", "backward", "trace"};
    return kNames[static_cast<std::size_t>(pass)];
}

Result<Workload> parse_workload(std::string_view text) {
    Workload work;
    std::string_view rest = text;
    take_number(rest, 'H', work.heads);
    const bool sized = take_number(rest, 'N', work.n);
    take_number(rest, 'd', work.d);
    work.causal = take(rest, 'c');
    if (take(rest, 'b')) work.pass = Pass::backward;
    if (sized && rest.empty()) return work;
    return bad_input(
        fmt::format("the shape is '{}'; expected heads, tokens and width, as in H8N2048d64, "
                    "then c for causal, b for backward",
                    text));
}

std::string to_string(const Workload& work) {
    return fmt::format("H{}N{}d{}{}{}", work.heads, work.n, work.d, work.causal ? "c" : "",
                       work.pass == Pass::backward ? "b" : "");
}

double gflop(const Workload& work) {
    const auto n = static_cast<double>(work.n);
    const double products = work.pass == Pass::backward ? 10.0 : 4.0;
    const double all = products * static_cast<double>(work.heads * work.d) * n * n * 1e-9;
    return work.causal ? 0.5 * all : all;
}

double least_bytes(const Workload& work) {
    const auto rows = static_cast<double>(work.heads * work.n);
    const double tensors = work.pass == Pass::backward ? 8.0 : 4.0;
    const double stages = work.pass == Pass::trace ? 4.0 * rows * static_cast<double>(work.n) : 0.0;
    return sizeof(float) * (tensors * rows * static_cast<double>(work.d) + rows + stages);
}

Inputs make_inputs(const Workload& work) {
    const Shape each{1, work.heads, work.n, work.d};
    Inputs inputs;
    inputs.q = uniform_tensor(each, 1);
    inputs.k = uniform_tensor(each, 2);
    inputs.v = uniform_tensor(each, 3);
    return inputs;
}

AttentionSpec make_spec(const Workload& work) {
    AttentionSpec spec;
    if (work.causal) spec.mask.causal = CausalAlign::top_left;
    return spec;
}

}  // namespace attn::bench

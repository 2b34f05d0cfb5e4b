#include "core/bench/workload.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <ranges>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/cost.h"
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

Tensor small_tensor(const Shape& shape, std::uint64_t seed) {
    Tensor tensor = uniform_tensor(shape, seed);
    for (float& value : tensor.values()) value /= static_cast<float>(shape.t);
    return tensor;
}

constexpr auto kKinds = std::to_array<WorkloadKind>({
    {"rope", [](const Workload&, AttentionSpec& spec, Inputs&) { spec.rope = Rope{}; }},
    {"alibi", [](const Workload&, AttentionSpec& spec, Inputs&) { spec.alibi = true; }},
    {"softcap", [](const Workload&, AttentionSpec& spec, Inputs&) { spec.softcap = 30.0; }},
    {"sinks",
     [](const Workload& work, AttentionSpec&, Inputs& inputs) {
         inputs.params[Param::sinks] = Tensor({1, 1, 1, work.heads}, 1.0F);
     }},
    {"cosine", [](const Workload&, AttentionSpec& spec, Inputs&) { spec.score = Score::cosine; }},
    {"general",
     [](const Workload& work, AttentionSpec& spec, Inputs& inputs) {
         spec.score = Score::general;
         inputs.params[Param::w_score] = small_tensor({1, 1, work.d, work.d}, 4);
     }},
    {"additive",
     [](const Workload& work, AttentionSpec& spec, Inputs& inputs) {
         spec.score = Score::additive;
         inputs.params[Param::w_score_q] = small_tensor({1, 1, work.d, work.d}, 4);
         inputs.params[Param::w_score_k] = small_tensor({1, 1, work.d, work.d}, 5);
         inputs.params[Param::w_score_row] = uniform_tensor({1, 1, 1, work.d}, 6);
     }},
});

const WorkloadKind* find_kind(std::string_view key) {
    const auto found = std::ranges::find(kKinds, key, &WorkloadKind::key);
    return found == kKinds.end() ? nullptr : &*found;
}

/// Pairs of a head that attend.
double pairs_of(const Workload& work) {
    const auto n = static_cast<double>(work.n);
    if (work.queries > 0) return n * static_cast<double>(work.queries);
    const double all = work.causal ? 0.5 * n * n : n * n;
    if (work.window == 0 || work.window >= work.n) return all;
    const auto w = static_cast<double>(work.window);
    const double side = w * n - 0.5 * w * (w + 1.0);  // Σ_i of the keys at one side
    return n + (work.causal ? side : 2.0 * side);
}

}  // namespace

std::span<const WorkloadKind> workload_kinds() { return kKinds; }

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
    take_number(rest, 'w', work.window);
    const bool square = work.causal || work.pass == Pass::backward || work.window > 0;
    if (!square) take_number(rest, 'q', work.queries);
    take_number(rest, 'g', work.kv_heads);
    if (take(rest, '+'))
        if (const WorkloadKind* kind = find_kind(rest)) {
            work.kind = kind->key;
            rest = {};
        }
    if (sized && rest.empty() && work.heads % work.shared_heads() == 0) return work;
    return bad_input(
        fmt::format("the shape is '{}'; expected heads, tokens and width, as in H8N2048d64, "
                    "then c for causal, b for backward, w and a number for a window or q and a "
                    "number of queries, g and "
                    "a number of key/value heads that divides the heads, + and one of {}",
                    text, fmt::join(kKinds | std::views::transform(&WorkloadKind::key), ", ")));
}

std::string to_string(const Workload& work) {
    std::string text = fmt::format("H{}N{}d{}{}{}", work.heads, work.n, work.d,
                                   work.causal ? "c" : "", work.pass == Pass::backward ? "b" : "");
    if (work.window > 0) text += fmt::format("w{}", work.window);
    if (work.queries > 0) text += fmt::format("q{}", work.queries);
    if (work.kv_heads > 0) text += fmt::format("g{}", work.kv_heads);
    if (!work.kind.empty()) text += fmt::format("+{}", work.kind);
    return text;
}

CostSizes sizes_of(const Workload& work) {
    CostSizes sizes;
    sizes[CostSize::heads] = work.heads;
    sizes[CostSize::kv_heads] = work.shared_heads();
    sizes[CostSize::tq] = sizes[CostSize::tk] = work.n;
    sizes[CostSize::d_k] = sizes[CostSize::d_v] = work.d;
    sizes[CostSize::d_model] = sizes[CostSize::d_out] = 0;
    return sizes;
}

double gflop(const Workload& work) {
    const CostPass pass = work.pass == Pass::backward ? CostPass::backward : CostPass::forward;
    const auto n = static_cast<double>(work.n);
    const double all = 1e-9 * estimate_of(product_flop(pass, Holding::fused), sizes_of(work));
    return all * pairs_of(work) / (n * n);
}

double least_bytes(const Workload& work) {
    const auto rows = static_cast<double>(work.heads * work.rows());
    const auto keys = static_cast<double>(work.shared_heads() * work.n);
    const double tensors = work.pass == Pass::backward ? 4.0 : 2.0;  // of queries, and of keys
    const double stages = work.pass == Pass::trace ? 4.0 * rows * static_cast<double>(work.n) : 0.0;
    return sizeof(float) * (tensors * (rows + keys) * static_cast<double>(work.d) + rows + stages);
}

Inputs make_inputs(const Workload& work) {
    const Shape keys{1, work.shared_heads(), work.n, work.d};
    Inputs inputs;
    inputs.q = uniform_tensor({1, work.heads, work.rows(), work.d}, 1);
    inputs.k = uniform_tensor(keys, 2);
    inputs.v = uniform_tensor(keys, 3);
    AttentionSpec unused;
    if (const WorkloadKind* kind = find_kind(work.kind)) kind->set(work, unused, inputs);
    return inputs;
}

AttentionSpec make_spec(const Workload& work) {
    AttentionSpec spec;
    if (work.causal) spec.mask.causal = CausalAlign::top_left;
    if (work.window > 0) spec.mask.window = work.window;
    Inputs unused;
    if (const WorkloadKind* kind = find_kind(work.kind)) kind->set(work, spec, unused);
    return spec;
}

}  // namespace attn::bench

#include "core/verify/sides.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace attn::verify {
namespace {

/// "" where two calls have the same inputs, else what differs.
std::string different_inputs(const Inputs& a, const Inputs& b) {
    const auto differs = [](const Tensor& x, const Tensor& y) {
        return x.shape() != y.shape() ||
               !std::ranges::equal(x.values(), y.values(), [](float m, float n) {
                   return m == n || (std::isnan(m) && std::isnan(n));
               });
    };
    std::vector<std::string_view> names;
    const auto check = [&](std::string_view name, const Tensor& x, const Tensor& y) {
        if (differs(x, y)) names.push_back(name);
    };
    check("X", a.x, b.x), check("X_kv", a.x_kv, b.x_kv);
    check("Q", a.q, b.q), check("K", a.k, b.k), check("V", a.v, b.v);
    for (const ParamInfo& param : param_table())
        check(param.npz, a.params[param.param], b.params[param.param]);
    return fmt::format("{}", fmt::join(names, ", "));
}

auto rope_parts(const AttentionSpec& spec) {
    const Rope rope = spec.rope.value_or(Rope{});
    const RopeScaling& s = rope.scaling;
    return std::tuple(spec.rope.has_value(), rope.pairs, rope.base, rope.dims, s.kind, s.factor,
                      s.low, s.high, s.original_length);
}

auto mask_parts(const MaskSpec& mask) {
    return std::tie(mask.causal, mask.window, mask.window_left, mask.window_right,
                    mask.global_tokens, mask.block, mask.padding);
}

auto score_parts(const AttentionSpec& spec) {
    const bool drops = spec.drops();
    return std::tuple(spec.score, spec.scale,
                      spec.scale == ScaleKind::value ? spec.scale_value : 1.0, spec.temperature,
                      spec.query_offset, spec.softcap, spec.alibi, spec.empty_rows,
                      drops ? spec.dropout : 0.0, drops ? spec.seed : 0);
}

bool same_mask(const std::shared_ptr<const Mask>& a, const std::shared_ptr<const Mask>& b) {
    if (!a || !b) return !a && !b;
    return a->shape() == b->shape() && std::ranges::equal(a->values(), b->values());
}

}  // namespace

Result<const Side*> input_file(const std::vector<Side>& read) {
    const auto having = [&](InputNames names) {
        std::vector<const Side*> found;
        for (const Side& file : read)
            if (file.input_names == names) found.push_back(&file);
        return found;
    };
    const auto calls = having(InputNames::call);
    if (calls.size() == 2)
        if (const std::string names = different_inputs(calls[0]->inputs, calls[1]->inputs);
            !names.empty())
            return bad_input(
                fmt::format("{} and {} have different inputs: {}; results of different inputs "
                            "cannot be compared",
                            calls[0]->path, calls[1]->path, names));
    if (!calls.empty()) return calls.front();
    const auto stages = having(InputNames::stages);
    return stages.empty() ? nullptr : stages.front();
}

bool has_gradients(const Trace& gradients) {
    return held_stages(gradients).any() ||
           std::ranges::any_of(gradients.params.tensors,
                               [](const Tensor& tensor) { return !tensor.empty(); });
}

std::string options_words(const Side& side) {
    std::string words = side.options.empty() ? "none" : side.options;
    return words + (side.spec.mask.custom ? " and a mask" : "");
}

void share_inputs(const Side& source, std::vector<Side>& read) {
    for (Side& file : read) {
        if (&file == &source || file.input_names != InputNames::stages) continue;
        file.results[Stage::q] = file.inputs.q;
        file.results[Stage::k] = file.inputs.k;
        file.results[Stage::v] = file.inputs.v;
    }
}

bool same_call(const AttentionSpec& a, const AttentionSpec& b) {
    return score_parts(a) == score_parts(b) && rope_parts(a) == rope_parts(b) &&
           mask_parts(a.mask) == mask_parts(b.mask) && same_mask(a.mask.custom, b.mask.custom);
}

}  // namespace attn::verify

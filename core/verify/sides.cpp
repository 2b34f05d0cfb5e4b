#include "core/verify/sides.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/spec_arrays.h"
#include "core/spec_fields.h"
#include "core/stages.h"

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

/// Compares arrays, or nullptr for an array that is missing.
template <class Value>
bool same_array(const TensorOf<Value>* a, const TensorOf<Value>* b) {
    if (a == nullptr || b == nullptr) return a == b;
    return a->shape() == b->shape() && std::ranges::equal(a->values(), b->values());
}

bool same_tables(const AttentionSpec& a, const AttentionSpec& b) {
    const auto tables = [](const AttentionSpec& spec) {
        return spec.rope ? spec.rope->tables.get() : nullptr;
    };
    const RotaryTables *x = tables(a), *y = tables(b);
    if (!x || !y) return x == y;
    return x->q_cos == y->q_cos && x->q_sin == y->q_sin && x->k_cos == y->k_cos &&
           x->k_sin == y->k_sin;
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
    return held_stages(gradients).any() || !gradients.bias.empty() ||
           std::ranges::any_of(gradients.params.tensors,
                               [](const Tensor& tensor) { return !tensor.empty(); });
}

std::string options_text(const Side& side) {
    std::string text = side.options.empty() ? "none" : side.options;
    if (side.spec.mask.bias) text += " and a bias";
    if (side.spec.rope && side.spec.rope->tables) text += " and cosines and sines of RoPE";
    return text + (side.spec.mask.custom ? " and a mask" : "");
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
    return std::ranges::all_of(spec_fields(),
                               [&](const SpecField& field) { return same(field, a, b); }) &&
           same_array(a.mask.custom.get(), b.mask.custom.get()) &&
           same_array(a.mask.bias ? &a.mask.bias->values : nullptr,
                      b.mask.bias ? &b.mask.bias->values : nullptr) &&
           same_tables(a, b);
}

}  // namespace attn::verify

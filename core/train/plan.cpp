#include "core/train/plan.h"

#include <cmath>

#include <fmt/format.h>

#include "core/positions.h"
#include "core/rng.h"

namespace attn::train {
namespace {

constexpr std::array<std::string_view, kParts> kPartNames{
    "norm.scale",     "norm.shift",     "w_q",  "w_k",  "w_v",    "w_o",
    "mlp_norm.scale", "mlp_norm.shift", "w_up", "b_up", "w_down", "b_down"};

class Lister {
  public:
    explicit Lister(Plan& plan) : plan_(plan) {}

    std::size_t add(std::string name, Index rows, Index columns, bool decays) {
        const std::size_t offset = plan_.matrices.empty() ? 0 : plan_.weight_count();
        plan_.matrices.push_back({std::move(name), rows, columns, decays, offset});
        return plan_.matrices.size() - 1;
    }

    void add_layer(Index layer) {
        const Spec& spec = plan_.spec;
        const Index d = spec.d_model;
        const bool norm = spec.norm == NormPlace::pre;
        plan_.layers.emplace_back().fill(kNoMatrix);
        const auto part = [&](bool there, Part which, Index rows, Index columns) {
            const auto n = static_cast<std::size_t>(which);
            if (there)
                plan_.layers.back()[n] = add(fmt::format("layers.{}.{}", layer, kPartNames[n]),
                                             rows, columns, kPartNames[n].starts_with("w_"));
        };
        part(norm, Part::norm_scale, 1, d);
        part(norm, Part::norm_shift, 1, d);
        part(true, Part::w_q, d, spec.heads * spec.d_k);
        part(true, Part::w_k, d, spec.heads * spec.d_k);
        part(true, Part::w_v, d, spec.heads * spec.value_width());
        part(true, Part::w_o, spec.heads * spec.value_width(), d);
        part(norm && spec.mlp, Part::mlp_norm_scale, 1, d);
        part(norm && spec.mlp, Part::mlp_norm_shift, 1, d);
        part(spec.mlp, Part::w_up, d, 4 * d);
        part(spec.mlp, Part::b_up, 1, 4 * d);
        part(spec.mlp, Part::w_down, 4 * d, d);
        part(spec.mlp, Part::b_down, 1, d);
    }

  private:
    Plan& plan_;
};

bool is_scale(const std::string& name) { return name.ends_with(".scale"); }

}  // namespace

Plan plan_of(const Spec& spec, Index vocabulary) {
    Plan plan;
    plan.spec = spec;
    plan.vocabulary = vocabulary;
    Lister lister(plan);
    plan.embedding = lister.add("embedding", vocabulary, spec.d_model, true);
    if (spec.positions == Positions::learned)
        plan.positions = lister.add("positions", spec.tokens, spec.d_model, true);
    for (Index layer = 0; layer < spec.layers; ++layer) lister.add_layer(layer);
    if (spec.norm == NormPlace::pre) {
        plan.norm_scale = lister.add("norm.scale", 1, spec.d_model, false);
        plan.norm_shift = lister.add("norm.shift", 1, spec.d_model, false);
    }
    plan.out = lister.add("w_out", spec.d_model, vocabulary, true);
    if (spec.positions == Positions::sinusoidal)
        for (Index p = 0; p < spec.tokens; ++p)
            for (Index c = 0; c < spec.d_model; ++c)
                plan.waves.push_back(static_cast<float>(sinusoid(p, c, spec.d_model, 10000.0)));
    return plan;
}

std::vector<Matrix> matrices(const Spec& spec, Index vocabulary) {
    return plan_of(spec, vocabulary).matrices;
}

std::vector<float> first_weights(const Plan& plan) {
    std::vector<float> weights(plan.weight_count(), 0.0F);
    for (std::size_t m = 0; m < plan.matrices.size(); ++m) {
        const Matrix& matrix = plan.matrices[m];
        const auto count = static_cast<std::size_t>(matrix.rows * matrix.columns);
        const std::span<float> values = std::span(weights).subspan(matrix.offset, count);
        if (is_scale(matrix.name)) std::ranges::fill(values, 1.0F);
        if (!matrix.decays) continue;
        const bool table = m == plan.embedding || m == plan.positions;
        const bool of_scores = matrix.name.ends_with(".w_q") || matrix.name.ends_with(".w_k");
        const double deviation = table ? 1.0
                                       : (of_scores ? plan.spec.initial_spread : 1.0) /
                                             std::sqrt(static_cast<double>(matrix.rows));
        const std::uint64_t stream = mix(plan.spec.seed, hash_text(matrix.name));
        for (std::size_t n = 0; n < count; ++n)
            values[n] = static_cast<float>(deviation * normal(stream, n));
    }
    return weights;
}

}  // namespace attn::train

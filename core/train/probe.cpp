#include <algorithm>
#include <cmath>
#include <limits>

#include "core/stages.h"
#include "core/trace.h"
#include "core/train/pass.h"

namespace attn::train {
namespace {

Tensor dense(MatrixView<const float> view) {
    auto to = Tensor::uninitialised({1, 1, view.rows, view.columns});
    for (Index i = 0; i < view.rows; ++i)
        std::ranges::copy(view.row(i), to.matrix(0, 0).row(i).begin());
    return to;
}

Tensor weights_of(const LayerRows& layer, Index heads, Index tokens) {
    auto to = Tensor::uninitialised({1, heads, tokens, tokens});
    for (Index h = 0; h < heads; ++h)
        for (Index i = 0; i < tokens; ++i)
            std::ranges::copy(layer.weights[h].view().row(i), to.matrix(0, h).row(i).begin());
    return to;
}

/// Answers, shares and their means.
void answer(Pass& pass, Probe& probe) {
    const MatrixView<const float> logits = pass.logits();
    double loss = 0.0, right = 0.0, count = 0.0;
    for (Index p = 0; p < logits.rows; ++p) {
        const std::span<const float> row = logits.row(p);
        const auto largest = std::ranges::max_element(row) - row.begin();
        const Index target = probe.example.targets[p];
        probe.answers.push_back(largest);
        probe.shares.push_back(0.0F);
        double sum = 0.0;
        for (const float logit : row) sum += std::exp(static_cast<double>(logit) - row[largest]);
        probe.answer_shares.push_back(static_cast<float>(1.0 / sum));
        if (target == kNoTarget) continue;
        const double below = static_cast<double>(row[target]) - row[largest];
        probe.shares.back() = static_cast<float>(std::exp(below) / sum);
        loss += std::log(sum) - below;
        right += largest == target ? 1.0 : 0.0;
        count += 1.0;
    }
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    probe.loss = count > 0.0 ? loss / count : kNan;
    probe.accuracy = count > 0.0 ? right / count : kNan;
}

/// Over the pairs of every head that may attend.
double logit_deviation(const Pass& pass, Index layer, Index tokens) {
    const Spec& spec = pass.plan().spec;
    const LayerRows& rows = pass.worker().layer(layer);
    double count = 0.0, sum = 0.0, squares = 0.0;
    for (Index h = 0; h < spec.heads; ++h)
        for (Index i = 0; i < tokens; ++i)
            for (Index j = 0; j < (pass.plan().causal() ? i + 1 : tokens); ++j) {
                const std::span<const float> q = rows.q.view().row(i), k = rows.k.view().row(j);
                double z = 0.0;
                for (Index c = h * spec.d_k; c < (h + 1) * spec.d_k; ++c)
                    z += static_cast<double>(q[c]) * static_cast<double>(k[c]);
                z *= static_cast<double>(pass.weights().factor());
                count += 1.0;
                sum += z;
                squares += z * z;
            }
    return std::sqrt(std::max(squares / count - sum / count * sum / count, 0.0));
}

AttentionSpec attention_of(const Spec& spec, const Switches& switches) {
    AttentionSpec attention;
    attention.scale = switches.scaling ? ScaleKind::sqrt_dk : ScaleKind::none;
    attention.temperature = spec.temperature;
    if (info(spec.task).causal) attention.mask.causal = CausalAlign::top_left;
    if (spec.positions == Positions::rotary) attention.rope = Rope{};
    attention.heads = attention.kv_heads = spec.heads;
    return attention;
}

Inputs inputs_of(const Pass& pass, const State& moment, Index layer) {
    Inputs inputs;
    inputs.x = dense(pass.worker().layer(layer).x.view());
    const auto set = [&](Param param, Part part) {
        const Matrix& matrix = pass.plan().matrices[pass.plan().at(layer, part)];
        inputs.params[param] = dense(
            {moment.weights.data() + matrix.offset, matrix.rows, matrix.columns, matrix.columns});
    };
    set(Param::w_q, Part::w_q);
    set(Param::w_k, Part::w_k);
    set(Param::w_v, Part::w_v);
    set(Param::w_o, Part::w_o);
    const Index d_v = pass.plan().spec.value_width();
    for (Index h = 0; h < pass.plan().spec.heads; ++h)
        for (Index row = 0; pass.weights().silenced(layer, h) && row < d_v; ++row)
            std::ranges::fill(inputs.params[Param::w_o].matrix(0, 0).row(h * d_v + row), 0.0F);
    return inputs;
}

}  // namespace

Probe probe(const Spec& spec, const State& moment, const Example& example) {
    Pass pass(spec, moment);
    pass.read(example);
    Probe probe;
    probe.step = moment.step;
    probe.example = example;
    for (Index layer = 0; layer < spec.layers; ++layer)
        probe.weights.push_back(
            weights_of(pass.worker().layer(layer), spec.heads, std::ssize(example.tokens)));
    for (Index layer = 0; moment.step == 0 && layer < spec.layers; ++layer)
        probe.logit_deviation.push_back(logit_deviation(pass, layer, std::ssize(example.tokens)));
    answer(pass, probe);
    return probe;
}

Layers layers_of(const Spec& spec, const State& moment, const Example& example) {
    Pass pass(spec, moment);
    pass.read(example);
    Layers layers;
    layers.spec = attention_of(spec, moment.switches);
    for (Index layer = 0; layer < spec.layers; ++layer)
        layers.inputs.push_back(std::make_shared<const Inputs>(inputs_of(pass, moment, layer)));
    const Sequences sequences(spec);
    for (const Index token : example.tokens) layers.tokens.push_back(sequences.vocabulary()[token]);
    return layers;
}

}  // namespace attn::train

// x residual stream; y attention's term in it, f the MLP's; n a norm's output; W a matrix [in, out]; d_ gradient of L.

#include "core/models/gradients.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include <fmt/format.h>

#include "core/cast.h"
#include "core/engine.h"
#include "core/models/block.h"
#include "core/models/delta_net.h"
#include "core/models/ends.h"
#include "core/models/family.h"
#include "core/models/model.h"
#include "core/models/read_out.h"
#include "core/models/weights.h"

namespace attn {
namespace {

using Row = std::span<const double>;

TensorD zeros(const Tensor& like) { return TensorD(like.shape()); }

void add(TensorD& to, const TensorD& from, double factor = 1.0) {
    for (std::size_t n = 0; n < to.values().size(); ++n)
        to.values()[n] += factor * from.values()[n];
}

/// forward:  n = (x − μ) r γ + β,  r = 1/√(σ² + ε)
/// so        d_x = r (g − mean(g) − x̂ mean(g ∘ x̂)),  g = d_n ∘ γ,  x̂ = (x − μ) r;  RMSNorm: μ = 0, without mean(g).
void norm_row_backward(std::span<const float> x, const NormWeights& norm, const ModelConfig& config,
                       std::span<const double> d_n, std::span<double> d_x) {
    const bool centred = config.family->norm == Norm::layer;
    const auto count = static_cast<double>(x.size());
    const double mean = centred ? std::accumulate(x.begin(), x.end(), 0.0) / count : 0.0;
    double squares = 0.0, mean_g = 0.0, mean_gx = 0.0;
    for (const float value : x) squares += (value - mean) * (value - mean);
    const double root = 1.0 / std::sqrt(squares / count + config.epsilon);
    const auto g = [&](std::size_t c) { return d_n[c] * norm.scale.values()[c]; };
    for (std::size_t c = 0; c < x.size(); ++c) {
        mean_g += centred ? g(c) / count : 0.0;
        mean_gx += g(c) * (x[c] - mean) * root / count;
    }
    for (std::size_t c = 0; c < x.size(); ++c)
        d_x[c] = root * (g(c) - mean_g - (x[c] - mean) * root * mean_gx);
}

/// Row by row; without a norm d_n itself.
TensorD norm_backward(const Tensor& x, const NormWeights& norm, const ModelConfig& config,
                      const TensorD& d_n) {
    if (!norm.there()) return d_n;
    TensorD d_x(d_n.shape());
    for (Index t = 0; t < x.shape().t; ++t)
        norm_row_backward(x.matrix(0, 0).row(t), norm, config,
                          std::as_const(d_n).matrix(0, 0).row(t), d_x.matrix(0, 0).row(t));
    return d_x;
}

/// forward:  out = in W  so  d_in = d_out Wᵀ.
TensorD through_backward(const LinearWeights& linear, const TensorD& d_out) {
    const Index in = linear.weight.shape().t, tokens = d_out.shape().t;
    TensorD d_in({1, 1, tokens, in});
    std::vector<float> row(static_cast<std::size_t>(linear.weight.shape().d));
    for (Index k = 0; k < in; ++k) {
        linear.weight.copy_row(k, row);
        for (Index t = 0; t < tokens; ++t) {
            const auto d = d_out.matrix(0, 0).row(t);
            d_in(0, 0, t, k) = std::inner_product(d.begin(), d.end(), row.begin(), 0.0);
        }
    }
    return d_in;
}

/// The value of an activation and its slope.
struct Activated {
    double value = 0.0, slope = 0.0;
};
Activated activated(Activation kind, double x) {
    const auto sigma = [](double y) { return 1.0 / (1.0 + std::exp(-y)); };
    switch (kind) {
        case Activation::relu:
            return {std::max(x, 0.0), x < 0.0 ? 0.0 : 1.0};
        case Activation::gelu: {
            const double share = 0.5 * (1.0 + std::erf(x / std::numbers::sqrt2));
            return {x * share,
                    share + x * std::exp(-x * x / 2.0) / std::sqrt(2.0 * std::numbers::pi)};
        }
        case Activation::gelu_tanh: {
            const double factor = std::sqrt(2.0 / std::numbers::pi);
            const double s = sigma(2.0 * factor * (x + 0.044715 * x * x * x));
            const double slope = factor * (1.0 + 3.0 * 0.044715 * x * x);
            return {x * s, s + x * s * (1.0 - s) * 2.0 * slope};
        }
        case Activation::silu:
        case Activation::quick_gelu: {
            const double factor = kind == Activation::silu ? 1.0 : 1.702;
            const double s = sigma(factor * x);
            return {x * s, s * (1.0 + factor * x * (1.0 - s))};
        }
    }
    return {};
}

/// forward:  f = a(g) ∘ u W_down,  g and u products of n; u = 1 without a gate.
TensorD mlp_backward(const BlockSteps& steps, const MlpWeights& mlp, const ModelConfig& config,
                     const TensorD& d_f) {
    const TensorD d_act = through_backward(mlp.down, d_f);
    const Activation kind = config.activation;
    const bool gated = !steps.gate.empty(), halves = config.family->gated == Gated::halves;
    const Tensor& argument = gated ? steps.gate : steps.hidden;
    const Index tokens = d_act.shape().t, width = d_act.shape().d;
    TensorD d_argument(argument.shape()), d_up;
    if (gated) d_up = zeros(steps.hidden);
    for (Index t = 0; t < tokens; ++t)
        for (Index c = 0; c < width; ++c) {
            const Activated a = activated(kind, argument(0, 0, t, c));
            const double d = d_act(0, 0, t, c);
            const double up = gated    ? steps.hidden(0, 0, t, c)
                              : halves ? steps.hidden(0, 0, t, width + c)
                                       : 1.0;
            d_argument(0, 0, t, c) = d * up * a.slope;
            if (gated) d_up(0, 0, t, c) = d * a.value;
            if (halves) d_argument(0, 0, t, width + c) = d * a.value;
        }
    TensorD d_n = through_backward(mlp.gate.there() ? mlp.gate : mlp.up, d_argument);
    if (gated) add(d_n, through_backward(mlp.up, d_up));
    return d_n;
}

/// Through attention: ∂L by its input.
Result<TensorD> attention_backward(const ModelLayer& layer, TensorD d_y) {
    const InputsD inputs = cast<double>(*layer.inputs);
    auto forward = attend_exact(inputs, layer.spec);
    if (!forward) return tl::unexpected(forward.error());
    auto backward =
        attend_exact_backward(inputs, layer.spec, *forward, {Stage::output, std::move(d_y)});
    if (!backward) return tl::unexpected(backward.error());
    return std::move((*backward)[Stage::x]);
}

/// y of a layer through its own norm and column scale, backwards.
TensorD added_backward(const Tensor& y, const NormWeights& norm, const Tensor& scale,
                       const ModelConfig& config, const TensorD& d_x) {
    TensorD d_added = d_x;
    for (Index t = 0; t < d_added.shape().t; ++t)
        for (Index c = 0; c < d_added.shape().d; ++c)
            d_added(0, 0, t, c) *=
                config.residual_factor * (scale.empty() ? 1.0 : double{scale.values()[c]});
    return norm_backward(y, norm, config, d_added);
}

TensorD scaled(TensorD values, double factor) {
    for (double& value : values.values()) value *= factor;
    return values;
}

/// d: ∂L by the output of the block; becomes ∂L by its input.
Result<BlockGradients> block_backward(const Model& model, const ModelRun& run, Index layer,
                                      TensorD& d) {
    const ModelConfig& config = model.config();
    const BlockWeights& block = model.weights().blocks[layer];
    const ModelLayer& made = run.layers[layer];
    const Tensor& x = layer == 0 ? run.embedded : run.layers[layer - 1].residual;
    const Tensor& y = made.trace[Stage::output];
    BlockSteps steps;
    after_block(x, y, block, config, &steps);
    const bool after = config.family->norms_after;
    BlockGradients of{{}, {}, d};
    if (after) d = norm_backward(steps.mlp_sum, block.mlp_norm, config, d);
    of.mlp = scaled(d, config.residual_factor);
    const TensorD d_f = added_backward(steps.mlp, block.mlp_out_norm, block.mlp_scale, config, d);
    const TensorD d_n = mlp_backward(steps, block.mlp, config, d_f);
    const NormWeights none;
    const Tensor& read = config.parallel ? x : steps.attention_sum;
    const TensorD through_mlp = norm_backward(read, after ? none : block.mlp_norm, config, d_n);
    if (!config.parallel) add(d, through_mlp);
    if (after) d = norm_backward(steps.attention_sum, block.attention_norm, config, d);
    of.attention = scaled(d, config.residual_factor);
    auto d_read = attention_backward(
        made, added_backward(y, block.attention_out_norm, block.attention_scale, config, d));
    if (!d_read) return tl::unexpected(d_read.error());
    if (config.parallel) add(d, through_mlp);
    add(d, norm_backward(x, after ? none : block.attention_norm, config, *d_read));
    return of;
}

/// Loss, and ∂L by the output of the last block.
TensorD end_backward(const Model& model, const ModelRun& run, Index row, Index target,
                     double& loss) {
    const ModelConfig& config = model.config();
    const Tensor& x = run.layers.back().residual;
    const Tensor normal = normalised_at_end(model, row_of(x, row));
    const Tensor logits = read_out_of(model, row_of(x, row));
    const std::vector<double> p = probabilities(logits.values());
    if (p.empty()) {
        loss = std::numeric_limits<double>::quiet_NaN();
        return zeros(x);
    }
    const bool tokens = config.family->read_out == ReadOut::next_token;
    const WeightMatrix& table = tokens ? read_out_table(model) : model.weights().read_out.weight;
    loss = -std::log(p[target]);
    std::vector<double> d_n(static_cast<std::size_t>(normal.shape().d));
    std::vector<float> direction(static_cast<std::size_t>(table.shape().d));
    const auto slope = [&](Index n) {  // of the soft cap c tanh(z / c)
        const double share = config.logit_cap ? logits.values()[n] / *config.logit_cap : 0.0;
        return (p[n] - (n == target ? 1.0 : 0.0)) * (1.0 - share * share);
    };
    if (tokens) {
        for (Index n = 0; n < std::ssize(p); ++n) {
            table.copy_row(n, direction);
            const double d_z = config.logit_factor * slope(n);
            for (std::size_t c = 0; c < d_n.size(); ++c) d_n[c] += d_z * direction[c];
        }
    } else {
        for (std::size_t c = 0; c < d_n.size(); ++c) {
            table.copy_row(static_cast<Index>(c), direction);
            for (Index n = 0; n < std::ssize(p); ++n) d_n[c] += slope(n) * direction[n];
        }
    }
    TensorD d = zeros(x);
    const auto into = d.matrix(0, 0).row(row);
    const NormWeights& norm = model.weights().final_norm;
    if (norm.there())
        norm_row_backward(x.matrix(0, 0).row(row), norm, config, d_n, into);
    else
        std::ranges::copy(d_n, into.begin());
    return d;
}

Result<void> check(const Model& model, const ModelRun& run, Index row, Index target) {
    const ModelConfig& config = model.config();
    const std::string_view family = config.family->text;
    if (model.reads_across())
        return bad_input("gradients of a decoder over an encoder are not computed");
    if (auto valid = check_heads_add_up(config, "gradients"); !valid) return valid;
    if (!model.gives_logits()) return bad_input(fmt::format("this {} gives no answer", family));
    if (!model.keeps_blocks() || std::ssize(run.layers) != config.layers)
        return bad_input("the weights of this model's layers are not in memory");
    if (config.experts > 0 || config.family->gated == Gated::clamped)
        return bad_input(fmt::format("gradients of {} are not computed: it has experts", family));
    if (row < 0 || row >= std::ssize(run.tokens))
        return bad_input(fmt::format("there is no position {}; expected 0 to {}", row,
                                     std::ssize(run.tokens) - 1));
    if (config.family->read_out == ReadOut::classes && row != 0)
        return bad_input(fmt::format("classes are read from row 0; row {} has none", row));
    for (std::size_t n = 0; n < run.layers.size(); ++n) {
        const ModelLayer& layer = run.layers[n];
        if (layer.trace[Stage::output].empty())
            return bad_input("the run kept no output of its layers");
        if (!layer.inputs->projects() || model.weights().blocks[n].residual.there())
            return bad_input(fmt::format(
                "gradients of {} are not computed: layer {} is given Q, K and V", family, n));
    }
    const Index answers = config.family->read_out == ReadOut::next_token
                              ? read_out_table(model).shape().t
                              : model.weights().read_out.weight.shape().d;
    if (target < 0 || target >= answers)
        return bad_input(fmt::format("target {} is not one of {}", target, answers));
    return {};
}

}  // namespace

Result<ModelGradients> model_gradients(const Model& model, const ModelRun& run, Index row,
                                       Index target) {
    if (auto valid = check(model, run, row, target); !valid) return tl::unexpected(valid.error());
    ModelGradients made;
    TensorD d = end_backward(model, run, row, target, made.loss);
    made.layers.resize(run.layers.size());
    for (Index layer = std::ssize(run.layers) - 1; layer >= 0; --layer) {
        auto block = block_backward(model, run, layer, d);
        if (!block) return tl::unexpected(block.error());
        made.layers[layer] = *std::move(block);
    }
    made.embedded = std::move(d);
    if (!std::isfinite(made.loss))
        return bad_input(fmt::format("the loss is {}; expected a finite number", made.loss));
    return made;
}

}  // namespace attn

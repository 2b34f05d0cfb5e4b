#include "core/models/block.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/kernels/projections.h"
#include "core/models/config.h"
#include "core/models/delta_net.h"
#include "core/models/family.h"
#include "core/models/layers.h"
#include "core/models/weights.h"

namespace attn {
namespace {

bool has_own_heads(const BlockWeights& block, const ModelConfig& config, Index layer) {
    return block.q_norm.there() || block.k_norm.there() || block.gates_heads() ||
           (config.turns(layer) && config.rope_of(layer).turned_before());
}

/// Experts of a token in the order in which they are taken: the highest scores first, of equal ones the first; of the groups
/// with the highest alone, a group's being its largest score, or the sum of its two largest where a bias is added.
std::vector<std::size_t> order_of(std::vector<double> scores, const Tensor& bias,
                                  const ModelConfig& config) {
    for (std::size_t n = 0; n < scores.size() && !bias.empty(); ++n) scores[n] += bias.data()[n];
    const auto ordered = [](std::size_t first, std::size_t end, const std::vector<double>& by) {
        std::vector<std::size_t> order(end - first);
        std::iota(order.begin(), order.end(), first);
        std::ranges::stable_sort(order, std::ranges::greater(),
                                 [&](std::size_t n) { return by[n]; });
        return order;
    };
    const auto groups = static_cast<std::size_t>(config.expert_groups);
    const std::size_t each = scores.size() / groups;
    std::vector<double> best;
    for (std::size_t g = 0; groups > 1 && g < groups; ++g) {
        const auto order = ordered(g * each, (g + 1) * each, scores);
        best.push_back(scores[order[0]] + (bias.empty() ? 0.0 : scores[order[1]]));
    }
    const auto taken = ordered(0, best.size(), best);
    for (auto n = static_cast<std::size_t>(config.groups_taken); n < taken.size(); ++n)
        std::fill_n(scores.begin() + static_cast<std::ptrdiff_t>(taken[n] * each), each,
                    -std::numeric_limits<double>::infinity());
    return ordered(0, scores.size(), scores);
}

/// The shares of the experts that are taken, from the router's products: softmax over all, or a sigmoid of each; divided by
/// the sum of those that are taken if they sum to 1; times the configuration's factor. 0 of the others.
void route(std::span<float> logits, const BlockWeights& block, const ModelConfig& config) {
    const bool sigmoid = config.family->routing == Routing::sigmoid;
    const double most = sigmoid ? 0.0 : *std::ranges::max_element(logits);
    std::vector<double> scores, shares(logits.size(), 0.0);
    for (const float logit : logits) {
        const double power = std::exp(static_cast<double>(logit) - most);
        scores.push_back(sigmoid ? 1.0 / (1.0 + 1.0 / power) : power);
    }
    const auto order = order_of(scores, block.router_bias, config);
    double sum = config.expert_shares_sum ? 0.0
                 : sigmoid                ? 1.0
                                          : std::accumulate(scores.begin(), scores.end(), 0.0);
    for (Index n = 0; n < config.experts_per_token; ++n) {
        shares[order[n]] = scores[order[n]];
        if (config.expert_shares_sum) sum += scores[order[n]];
    }
    const double by = config.expert_factor;
    std::ranges::transform(shares, logits.begin(),
                           [&](double share) { return static_cast<float>(share / sum * by); });
}

/// Σ share · MLP of each expert that a token takes, and of the shared expert; `routing` gets the shares.
Tensor experts_of(const Tensor& x, const BlockWeights& block, const ModelConfig& config,
                  Tensor& routing) {
    routing = through(x, block.router);
    for (Index t = 0; t < x.shape().t; ++t) route(routing.matrix(0, 0).row(t), block, config);
    Tensor sum(x.shape());
    for (std::size_t e = 0; e < block.experts.size(); ++e) {
        std::vector<Index> rows;
        for (Index t = 0; t < x.shape().t; ++t)
            if (routing(0, 0, t, static_cast<Index>(e)) != 0.0F) rows.push_back(t);
        if (rows.empty()) continue;
        auto some = Tensor::uninitialised({1, 1, std::ssize(rows), x.shape().d});
        for (std::size_t n = 0; n < rows.size(); ++n)
            std::ranges::copy(x.matrix(0, 0).row(rows[n]),
                              some.matrix(0, 0).row(static_cast<Index>(n)).begin());
        const Tensor made = mlp_of(some, block.experts[e], config);
        for (std::size_t n = 0; n < rows.size(); ++n)
            for (Index c = 0; c < x.shape().d; ++c)
                sum(0, 0, rows[n], c) += routing(0, 0, rows[n], static_cast<Index>(e)) *
                                         made(0, 0, static_cast<Index>(n), c);
    }
    if (const Tensor shared = shared_expert_of(x, block, config); !shared.empty()) add(sum, shared);
    return sum;
}

/// scale ∘ norm(y), of those that there are.
Tensor finished(Tensor y, const NormWeights& norm, const Tensor& scale, const ModelConfig& config) {
    if (norm.there()) y = normalised(y, norm, config.family->norm, config.epsilon);
    if (!scale.empty()) scale_columns(y, scale);
    return y;
}

/// Copies a step for a caller that reads the steps.
void store(BlockSteps* steps, Tensor BlockSteps::*step, const Tensor& value) {
    if (steps != nullptr) steps->*step = value;
}

}  // namespace

Tensor mlp_of(const Tensor& x, const MlpWeights& mlp, const ModelConfig& config,
              BlockSteps* steps) {
    const Gated kind = config.family->gated;
    const bool has_gate = kind == Gated::apart && mlp.gate.there();
    Tensor hidden = through(x, mlp.gate.there() ? mlp.gate : mlp.up);
    store(steps, has_gate ? &BlockSteps::gate : &BlockSteps::hidden, hidden);
    if (kind == Gated::apart) {
        activate(hidden, config.activation);
        if (has_gate) {
            const Tensor up = through(x, mlp.up);
            store(steps, &BlockSteps::hidden, up);
            scale_by(hidden, up);
        }
    } else {
        hidden = gated(hidden, kind, config.activation);
    }
    store(steps, &BlockSteps::activated, hidden);
    return through(hidden, mlp.down);
}

Tensor shared_expert_of(const Tensor& x, const BlockWeights& block, const ModelConfig& config) {
    if (!block.shared.up.there()) return {};
    Tensor made = mlp_of(x, block.shared, config);
    if (!block.shared_gate.there()) return made;
    const Tensor gate = through(x, block.shared_gate);
    for (Index t = 0; t < made.shape().t; ++t)
        for (float& value : made.matrix(0, 0).row(t)) value /= 1.0F + std::exp(-gate(0, 0, t, 0));
    return made;
}

Tensor normalised_rows(const Tensor& x, const BlockWeights& block, const ModelConfig& config) {
    return config.family->norms_after || !block.attention_norm.there()
               ? x
               : normalised(x, block.attention_norm, config.family->norm, config.epsilon);
}

Tensor projected_rows(const Tensor& x, const BlockWeights& block, const ModelConfig& config) {
    Tensor rows = normalised_rows(x, block, config);
    const LatentWeights& of = block.latent;
    if (!of.there()) return rows;
    const auto norm = [&](const Tensor& made, const NormWeights& by) {
        return normalised(made, by, config.family->norm, kLatentEpsilon);
    };
    const Tensor q = of.q.there() ? norm(through(rows, of.q), of.q_norm) : rows;
    const Tensor kv = through(rows, of.kv);
    const Index tokens = rows.shape().t, rank = of.kv_norm.scale.count();
    auto latent = Tensor::uninitialised({1, 1, tokens, rank});
    for (Index t = 0; t < tokens; ++t)
        std::ranges::copy(kv.matrix(0, 0).column_block(0, rank).row(t),
                          latent.matrix(0, 0).row(t).begin());
    latent = norm(latent, of.kv_norm);
    auto z = Tensor::uninitialised({1, 1, tokens, q.shape().d + kv.shape().d});
    for (Index t = 0; t < tokens; ++t) {
        auto to = std::ranges::copy(q.matrix(0, 0).row(t), z.matrix(0, 0).row(t).begin()).out;
        to = std::ranges::copy(latent.matrix(0, 0).row(t), to).out;
        std::ranges::copy(kv.matrix(0, 0).row(t).subspan(rank), to);
    }
    return z;
}

void finish_heads(Inputs& heads, const BlockWeights& block, const ModelConfig& config, Index layer,
                  Index first) {
    const RopeRules& rope = config.rope_of(layer);
    for (auto [rows, norm] :
         {std::pair{&heads.q, &block.q_norm}, std::pair{&heads.k, &block.k_norm}}) {
        if (norm->there()) normalise_heads(*rows, *norm, config.family->norm, config.epsilon);
        if (config.turns(layer) && rope.turned_before()) turn_heads(*rows, rope, first);
    }
}

Inputs given_heads(Inputs projected, const BlockWeights& block, const ModelConfig& config,
                   Index layer, Index first) {
    const Index tokens = projected.x.shape().t;
    const auto shape = [&](Index heads, Param weight) {
        return Shape{1, heads, tokens, projected.params[weight].shape().d / heads};
    };
    Inputs inputs;
    inputs.q = project(projected, Stage::q, shape(config.heads, Param::w_q));
    inputs.k = project(projected, Stage::k, shape(config.kv_heads, Param::w_k));
    inputs.v = project(projected, Stage::v, shape(config.kv_heads, Param::w_v));
    finish_heads(inputs, block, config, layer, first);
    for (const Param param : {Param::w_o, Param::b_o, Param::sinks, Param::b_score})
        inputs.params[param] = std::move(projected.params[param]);
    if (block.gates_heads()) inputs.params[Param::w_o] = inputs.params[Param::b_o] = {};
    return inputs;
}

Inputs attention_inputs(const Tensor& x, const BlockWeights& block, const ModelConfig& config,
                        Index layer, Index first) {
    Inputs inputs;
    inputs.x = projected_rows(x, block, config);
    if (block.delta.there()) return delta_heads(inputs.x, block, config);
    inputs.params = block.attention;
    return has_own_heads(block, config, layer)
               ? given_heads(std::move(inputs), block, config, layer, first)
               : inputs;
}

Inputs cross_inputs(const Tensor& x, const Tensor& memory, const BlockWeights& block,
                    const ModelConfig& config, KvCache::Layer* retained) {
    const bool is_new = retained == nullptr || retained->k.empty();
    Inputs across;
    across.x = config.family->norms_after
                   ? x
                   : normalised(x, block.cross_norm, config.family->norm, config.epsilon);
    if (is_new) across.x_kv = memory;
    across.params = block.cross;
    if (retained == nullptr) return across;
    const auto heads = [&](Stage stage, Index tokens, Index count, Param weight) {
        return project(across, stage, {1, count, tokens, across.params[weight].shape().d / count});
    };
    if (is_new)
        *retained = {heads(Stage::k, memory.shape().t, config.kv_heads, Param::w_k),
                     heads(Stage::v, memory.shape().t, config.kv_heads, Param::w_v)};
    Inputs given;
    given.q = heads(Stage::q, x.shape().t, config.heads, Param::w_q);
    given.k = std::move(retained->k);
    given.v = std::move(retained->v);
    for (const Param param : {Param::w_o, Param::b_o})
        given.params[param] = std::move(across.params[param]);
    return given;
}

Tensor after_attention(const Tensor& x, const Tensor& attended, const BlockWeights& block,
                       const ModelConfig& config, BlockSteps* steps) {
    Tensor sum = block.residual.there() ? through(x, block.residual) : x;
    const Tensor added =
        finished(attended, block.attention_out_norm, block.attention_scale, config);
    if (block.attention_out_norm.there() || !block.attention_scale.empty())
        store(steps, &BlockSteps::attention_added, added);
    add(sum, added, config.residual_factor);
    store(steps, &BlockSteps::attention_sum, sum);
    if (!config.family->norms_after) return sum;
    sum = normalised(sum, block.attention_norm, config.family->norm, config.epsilon);
    store(steps, &BlockSteps::attention_normal, sum);
    return sum;
}

Tensor after_mlp(Tensor sum, const Tensor& mlp, const BlockWeights& block,
                 const ModelConfig& config, BlockSteps* steps) {
    add(sum, mlp, config.residual_factor);
    store(steps, &BlockSteps::mlp_sum, sum);
    if (!config.family->norms_after) return sum;
    return normalised(sum, block.mlp_norm, config.family->norm, config.epsilon);
}

BlockOutput after_block(const Tensor& x, const Tensor& attended, const BlockWeights& block,
                        const ModelConfig& config, BlockSteps* steps) {
    BlockOutput out;
    Tensor sum = after_attention(x, attended, block, config, steps);
    const Tensor& read = config.parallel ? x : sum;
    const bool norm_before = !config.family->norms_after && block.mlp_norm.there();
    const Tensor into =
        norm_before ? normalised(read, block.mlp_norm, config.family->norm, config.epsilon) : read;
    if (norm_before) store(steps, &BlockSteps::mlp_input, into);
    Tensor mlp = block.experts.empty() ? mlp_of(into, block.mlp, config, steps)
                                       : experts_of(into, block, config, out.routing);
    store(steps, &BlockSteps::mlp, mlp);
    out.mlp = finished(std::move(mlp), block.mlp_out_norm, block.mlp_scale, config);
    if (block.mlp_out_norm.there() || !block.mlp_scale.empty())
        store(steps, &BlockSteps::mlp_added, out.mlp);
    out.x = after_mlp(std::move(sum), out.mlp, block, config, steps);
    return out;
}

}  // namespace attn

#include "core/models/path_patching.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "core/backend.h"
#include "core/engine.h"
#include "core/kernels/matmul.h"
#include "core/models/block.h"
#include "core/models/delta_net.h"
#include "core/models/family.h"
#include "core/models/interventions.h"
#include "core/models/layers.h"
#include "core/models/rerun.h"
#include "core/models/sweep_parts.h"
#include "core/models/weights.h"

namespace attn {
namespace {

using Outcomes = std::vector<Rerun::Outcome>;

/// The whole input, Q, K, V.
constexpr Index kCuts = 4;

Result<void> check_sum(const Model& model) {
    const ModelConfig& config = model.config();
    const auto refused = [&](std::string_view why) {
        return bad_input(fmt::format(
            "{} {}: path patching cuts one term of a sum; expected a model whose residual stream "
            "is the sum of embedding, heads and MLPs, such as GPT-2 or Llama",
            config.family->text, why));
    };
    if (auto valid = check_heads_add_up(config, "paths"); !valid) return valid;
    if (config.family->norms_after) return refused("normalises the stream after each addition");
    if (!config.family->names.distances.empty())
        return refused("adds a number for each distance to its scores");
    for (const BlockWeights& block : model.weights().blocks) {
        if (block.attention_out_norm.there())
            return refused("normalises the sum of its heads before it is added");
        if (block.residual.there()) return refused("multiplies the stream by a matrix");
    }
    return {};
}

/// Each row less the mean of all.
void take_mean_off(Tensor& y) {
    const Shape shape = y.shape();
    for (Index c = 0; c < shape.d; ++c) {
        double sum = 0.0;
        for (Index t = 0; t < shape.t; ++t) sum += y(0, 0, t, c);
        const double mean = sum / static_cast<double>(shape.t);
        for (Index t = 0; t < shape.t; ++t)
            y(0, 0, t, c) = static_cast<float>(y(0, 0, t, c) - mean);
    }
}

/// Path patching as it goes, layer by layer.
class Paths {
  public:
    Paths(Rerun rest, const PathOptions& options, const RunControl& control)
        : rest_(std::move(rest)),
          config_(rest_.model.config()),
          options_(options),
          control_(control) {}

    Result<PathEdges> carried_out() {
        made_ = {options_.ablation, rest_.a,      rest_.b,       rest_.row,
                 rest_.difference,  rest_.layers, config_.heads, {}};
        for (Index layer = 0; layer < rest_.layers; ++layer) {
            if (options_.receiver && options_.receiver->layer != layer) continue;
            if (auto done = into_heads(layer); !done) return tl::unexpected(done.error());
            if (options_.receiver) return std::move(made_);
            if (auto done = into_mlp(layer); !done) return tl::unexpected(done.error());
        }
        if (auto done = into_logits(); !done) return tl::unexpected(done.error());
        return std::move(made_);
    }

  private:
    /// All that is in the stream that a layer reads; `within`: its heads too.
    std::vector<ModelNode> senders_before(Index layer, bool within) const {
        std::vector<ModelNode> all{{}};
        for (Index l = 0; l < layer + (within ? 1 : 0); ++l) {
            for (Index h = 0; h < config_.heads; ++h) all.push_back({NodeKind::head, {l, h}});
            if (l < layer) all.push_back({NodeKind::mlp, {l, 0}});
        }
        return all;
    }
    /// x after the cut.
    Result<Tensor> without(const Tensor& x, const ModelNode& sender) const {
        auto sent = sent_by(rest_.model, rest_.run, sender);
        if (!sent) return sent;
        if (options_.ablation == Ablation::mean) take_mean_off(*sent);
        Tensor made = x;
        add(made, *sent, -1.0);
        return made;
    }
    Inputs heads_reading(const Tensor& x, Index layer) const {
        Inputs made = attention_inputs(x, rest_.block(layer), config_, layer);
        return made.projects() ? given_heads(std::move(made), rest_.block(layer), config_, layer)
                               : made;
    }
    Result<Tensor> contexts(const Inputs& inputs, Index layer) const;
    Result<std::array<Tensor, kCuts>> changes_by(const Inputs& changed, const Inputs& base,
                                                 const Tensor& context, Index layer) const;
    Result<void> into_heads(Index layer);
    Result<void> into_mlp(Index layer);
    Result<void> into_logits();
    /// Runs the layers above `layer`, some texts at once; `start`(first, count) returns the output of `layer` for these texts.
    using Start = std::function<Tensor(Index, Index)>;
    Result<Outcomes> go_on(Index layer, Index texts, const Start& start);
    double change(const Rerun::Outcome& outcome) const {
        return outcome.difference - rest_.difference;
    }
    /// An error once the work was stopped.
    Result<void> tell() {
        if (control_.stop.stop_requested()) return failed("path patching was stopped");
        const auto all = static_cast<double>(path_edge_count(config_, options_.receiver));
        if (control_.progress && !made_.edges.empty())
            control_.progress(std::min(static_cast<double>(made_.edges.size()) / all, 1.0));
        return {};
    }

    Rerun rest_;
    const ModelConfig& config_;
    const PathOptions& options_;
    const RunControl& control_;
    PathEdges made_;
};

/// [1, H, T, d_v].
Result<Tensor> Paths::contexts(const Inputs& inputs, Index layer) const {
    auto trace = attend(inputs, layer_spec(config_, layer), rest_.backend,
                        only_stage(Stage::context), {control_.stop, {}});
    if (!trace) return tl::unexpected(trace.error());
    return std::move((*trace)[Stage::context]);
}

/// Per cut, the change of attention's output by each head that reads: [1, H, T, width].
Result<std::array<Tensor, kCuts>> Paths::changes_by(const Inputs& changed, const Inputs& base,
                                                    const Tensor& context, Index layer) const {
    constexpr Tensor Inputs::*kParts[] = {&Inputs::q, &Inputs::k, &Inputs::v};
    const Tensor& w_o = base.params[Param::w_o];
    std::array<Tensor, kCuts> made;
    for (Index cut = 0; cut < kCuts; ++cut) {
        Inputs mixed = base;
        for (Index part = 0; part < 3; ++part)
            if (cut == 0 || cut == part + 1) mixed.*kParts[part] = changed.*kParts[part];
        auto by = contexts(mixed, layer);
        if (!by) return tl::unexpected(by.error());
        std::ranges::transform(by->values(), context.values(), by->values().begin(),
                               std::minus<>());
        const Shape shape = by->shape();
        made[cut] = Tensor::uninitialised({1, shape.h, shape.t, w_o.shape().d});
        for (Index h = 0; h < shape.h; ++h)
            multiply({std::as_const(*by).matrix(0, h)}, rows_of_weight(w_o, h * shape.d, shape.d),
                     made[cut].matrix(0, h));
    }
    return made;
}

Result<Outcomes> Paths::go_on(Index layer, Index texts, const Start& start) {
    constexpr Index kMostRows = 4096;
    const Index together = std::max<Index>(kMostRows / rest_.tokens, 1);
    Outcomes all;
    for (Index first = 0; first < texts; first += together) {
        const Index count = std::min(together, texts - first);
        Tensor x = start(first, count);
        for (Index at = layer + 1; at < rest_.layers; ++at) {
            if (auto going = tell(); !going) return tl::unexpected(going.error());
            auto out = rest_.through_block(std::move(x), count, at, control_);
            if (!out) return tl::unexpected(out.error());
            x = *std::move(out);
        }
        std::ranges::copy(rest_.outcomes(x, count), std::back_inserter(all));
    }
    return all;
}

Result<void> Paths::into_heads(Index layer) {
    const BlockWeights& block = rest_.block(layer);
    const Tensor& x = rest_.entering(layer);
    const Inputs base = heads_reading(x, layer);
    const auto context = contexts(base, layer);
    if (!context) return tl::unexpected(context.error());
    const auto attended = attended_of(rest_.run.layers[layer]);
    if (!attended) return tl::unexpected(attended.error());
    const Index only = options_.receiver ? options_.receiver->head : -1;
    const Index heads = only < 0 ? config_.heads : 1;
    const auto senders = senders_before(layer, false);
    std::vector<PathEdge> edges(senders.size() * static_cast<std::size_t>(heads));
    for (std::size_t s = 0; s < senders.size(); ++s) {
        if (auto going = tell(); !going) return going;
        const auto cut = without(x, senders[s]);
        if (!cut) return tl::unexpected(cut.error());
        const auto by = changes_by(heads_reading(*cut, layer), base, *context, layer);
        if (!by) return tl::unexpected(by.error());
        const Index rows = rest_.rows_of(layer), from = rows == 1 ? rest_.row : 0;
        const Start start = [&](Index first, Index count) {
            auto entering = Tensor::uninitialised({1, 1, count * rows, x.shape().d});
            auto added = Tensor::uninitialised({1, 1, count * rows, attended->shape().d});
            for (Index n = 0; n < count; ++n) {
                const Index text = first + n, head = only < 0 ? text / kCuts : only;
                for (Index t = 0; t < rows; ++t) {
                    std::ranges::copy(x.matrix(0, 0).row(from + t),
                                      entering.matrix(0, 0).row(n * rows + t).begin());
                    std::ranges::transform(attended->matrix(0, 0).row(from + t),
                                           (*by)[text % kCuts].matrix(0, head).row(from + t),
                                           added.matrix(0, 0).row(n * rows + t).begin(),
                                           std::plus<>());
                }
            }
            return after_block(entering, added, block, config_).x;
        };
        const auto outcomes = go_on(layer, heads * kCuts, start);
        if (!outcomes) return tl::unexpected(outcomes.error());
        for (Index h = 0; h < heads; ++h) {
            const auto one = std::span(*outcomes).subspan(static_cast<std::size_t>(h * kCuts));
            const ModelNode receiver{NodeKind::head, {layer, only < 0 ? h : only}};
            edges[static_cast<std::size_t>(h) * senders.size() + s] = {
                senders[s], receiver, change(one[0]),
                std::array{change(one[1]), change(one[2]), change(one[3])}};
        }
    }
    std::ranges::move(edges, std::back_inserter(made_.edges));
    return {};
}

/// The block computes the changed rows; only its MLP's output is used.
Result<void> Paths::into_mlp(Index layer) {
    const BlockWeights& block = rest_.block(layer);
    const Tensor& x = rest_.entering(layer);
    const auto attended = attended_of(rest_.run.layers[layer]);
    if (!attended) return tl::unexpected(attended.error());
    const Tensor sum = after_attention(x, *attended, block, config_);
    for (const ModelNode& sender : senders_before(layer, !config_.parallel)) {
        if (auto going = tell(); !going) return going;
        const auto cut = without(x, sender);
        if (!cut) return tl::unexpected(cut.error());
        const Tensor mlp = after_block(*cut, *attended, block, config_).mlp;
        const auto outcomes = go_on(layer, 1, [&](Index, Index) {
            Tensor out = after_mlp(sum, mlp, block, config_);
            return rest_.rows_of(layer) == 1 ? row_of(out, rest_.row) : out;
        });
        if (!outcomes) return tl::unexpected(outcomes.error());
        made_.edges.push_back({sender, {NodeKind::mlp, {layer, 0}}, change(outcomes->front())});
    }
    return {};
}

Result<void> Paths::into_logits() {
    const Tensor& x = rest_.entering(rest_.layers);
    for (const ModelNode& sender : senders_before(rest_.layers, false)) {
        if (auto going = tell(); !going) return going;
        const auto cut = without(x, sender);
        if (!cut) return tl::unexpected(cut.error());
        const auto outcome = rest_.outcomes(row_of(*cut, rest_.row), 1).front();
        made_.edges.push_back({sender, {NodeKind::logits, {}}, change(outcome)});
    }
    return tell();
}

}  // namespace

Index path_edge_count(const ModelConfig& config, const std::optional<HeadPlace>& receiver) {
    const auto senders = [&](Index layer) { return 1 + layer * (config.heads + 1); };
    if (receiver) return senders(receiver->layer);
    Index count = senders(config.layers);
    for (Index layer = 0; layer < config.layers; ++layer)
        count +=
            config.heads * senders(layer) + senders(layer) + (config.parallel ? 0 : config.heads);
    return count;
}

Result<Tensor> sent_by(const Model& model, const ModelRun& run, const ModelNode& sender) {
    const ModelConfig& config = model.config();
    const auto [layer, head] = sender.at;
    switch (sender.kind) {
        case NodeKind::embedding:
            return run.embedded;
        case NodeKind::head: {
            const auto context = context_of(run.layers[layer]);
            if (!context) return context;
            const BlockWeights& block = model.weights().blocks[layer];
            const Tensor& w_o = block.attention[Param::w_o];
            const Shape shape = context->shape();
            auto sent = Tensor::uninitialised({1, 1, shape.t, w_o.shape().d});
            multiply({context->matrix(0, head)}, rows_of_weight(w_o, head * shape.d, shape.d),
                     sent.matrix(0, 0));
            if (!block.attention_scale.empty()) scale_columns(sent, block.attention_scale);
            for (float& value : sent.values()) value *= static_cast<float>(config.residual_factor);
            return sent;
        }
        case NodeKind::mlp: {
            const auto attended = attended_of(run.layers[layer]);
            if (!attended) return attended;
            Tensor sent = after_block(Rerun::entering(run, layer), *attended,
                                      model.weights().blocks[layer], config)
                              .mlp;
            for (float& value : sent.values()) value *= static_cast<float>(config.residual_factor);
            return sent;
        }
        case NodeKind::logits:
            break;
    }
    return bad_input("the logits send nothing; expected the embedding, a head or an MLP");
}

Result<PathEdges> path_edges(const Model& model, const ModelRun& run, const Backend& backend,
                             const PathOptions& options, const RunControl& control) {
    if (options.ablation == Ablation::patch)
        return bad_input("an edge is cut to zero or to the mean; it cannot be patched");
    if (!model.keeps_blocks()) return bad_input("the weights of the model's blocks are not kept");
    if (auto valid = check_sum(model); !valid) return tl::unexpected(valid.error());
    if (options.receiver)
        if (auto valid = check_interventions({{*options.receiver}, {}, {}}, model, 1); !valid)
            return tl::unexpected(valid.error());
    if (const Index count = path_edge_count(model.config(), options.receiver);
        count > kMostPathEdges)
        return bad_input(
            fmt::format("the model has {} edges; expected at most {}. Cut the edges into one head",
                        count, kMostPathEdges));
    auto rest = rerun_of(model, run, backend, options.tokens);
    if (!rest) return tl::unexpected(rest.error());
    return Paths(*std::move(rest), options, control).carried_out();
}

std::vector<LargestWeight> largest_weights(const ModelRun& run, Index query) {
    std::vector<LargestWeight> made;
    for (std::size_t layer = 0; layer < run.layers.size(); ++layer) {
        const Tensor& weights = run.layers[layer].trace[Stage::weights];
        for (Index h = 0; !weights.empty() && h < weights.shape().h; ++h) {
            const auto row = weights.matrix(0, h).row(query);
            const auto most = std::ranges::max_element(row);
            LargestWeight one{{static_cast<Index>(layer), h}, most - row.begin(), *most};
            one.ties = std::ranges::count(row, *most) - 1;
            if (std::ranges::any_of(row, [](float w) { return std::isnan(w); }))
                one.weight = std::numeric_limits<double>::quiet_NaN(), one.key = one.ties = 0;
            made.push_back(one);
        }
    }
    return made;
}

}  // namespace attn

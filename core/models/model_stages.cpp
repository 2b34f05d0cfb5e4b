#include "core/models/model_stages.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "core/models/block.h"
#include "core/models/delta_net.h"
#include "core/models/ends.h"
#include "core/models/family.h"
#include "core/models/layers.h"
#include "core/models/model.h"
#include "core/models/read_out.h"
#include "core/models/weights.h"

namespace attn {
namespace {

using S = ModelStage;
using P = StackPart;
using C = ColorScale;

// clang-format off
constexpr std::array<ModelStageInfo, kModelStageCount> kModelStages{{
    {S::embedding, "embedding", "E", "Token embeddings", P::entry, Role::input, C::diverging,
     "The embedding of a token is a row of the embedding table."},
    {S::position, "position", "P", "Positions", P::entry, Role::input, C::diverging,
     "Each position adds its own vector, so that equal tokens differ."},
    {S::entry, "entry", "X", "Embedding + position", P::entry, Role::input, C::diverging,
     "The sum of a token's embeddings."},
    {S::entry_norm, "entry_norm", "X", "Normalised embedding", P::entry, Role::input, C::diverging,
     "Normalisation gives every token vector a similar scale before the first layer."},
    {S::entry_map, "entry_map", "X", "Embedding at the model's width", P::entry, Role::input, C::diverging,
     "A matrix maps each embedding to the width of the model."},
    {S::norm1, "norm1", "N_1", "Norm before attention", P::attention, Role::score, C::diverging,
     "The normalised residual stream: the input of the next step."},
    {S::attention, "attention", "Y", "Attention output", P::attention, Role::output, C::diverging,
     "The heads' contexts, mixed by W_O."},
    {S::attention_added, "attention_added", "Y'", "Scaled attention output", P::attention, Role::output, C::diverging,
     "A norm, or one factor for each column, rescales what attention adds."},
    {S::residual_self, "residual_self", "X_1", "Residual after self-attention", P::attention, Role::input, C::diverging,
     "The decoder's self-attention output is added first."},
    {S::cross_norm, "cross_norm", "N_c", "Norm before cross-attention", P::attention, Role::score, C::diverging,
     "Cross-attention reads the decoder's normalised residual stream."},
    {S::cross, "cross", "Y_c", "Cross-attention output", P::attention, Role::output, C::diverging,
     "The output of the decoder's attention over the encoder."},
    {S::residual1, "residual1", "X_1", "Residual after attention", P::attention, Role::input, C::diverging,
     "The attention output is added to the residual stream."},
    {S::norm2, "norm2", "N_2", "Norm before the MLP", P::mlp, Role::score, C::diverging,
     "The normalised residual stream: the input of the next step."},
    {S::mlp_gate, "mlp_gate", "G", "MLP gate", P::mlp, Role::key, C::diverging,
     "The activation of the gate multiplies the hidden numbers, one by one."},
    {S::mlp_hidden, "mlp_hidden", "H", "MLP hidden layer", P::mlp, Role::value, C::diverging,
     "Each token's row is mapped to the width of the hidden layer."},
    {S::mlp_act, "mlp_act", "H'", "MLP after the activation", P::mlp, Role::value, C::diverging,
     "The hidden numbers after the activation function and, if there is one, the gate."},
    {S::routing, "routing", "R", "Router weights", P::mlp, Role::weight, C::unit,
     "The router sends each token to a few experts."},
    {S::expert_out, "expert_out", "F_e", "Expert outputs", P::mlp, Role::value, C::diverging,
     "The outputs of the experts that a token takes, side by side; the largest router weight is first."},
    {S::mlp_out, "mlp_out", "F", "MLP output", P::mlp, Role::value, C::diverging,
     "The output of the MLP: one row per token."},
    {S::mlp_added, "mlp_added", "F'", "Scaled MLP output", P::mlp, Role::value, C::diverging,
     "A norm, or one factor for each column, rescales what the MLP adds."},
    {S::residual2, "residual2", "X_2", "Residual after the MLP", P::mlp, Role::input, C::diverging,
     "The MLP's output is added to the residual stream."},
    {S::final_norm, "final_norm", "N", "Final norm", P::end, Role::score, C::diverging,
     "The normalised last residual, which the read-out multiplies."},
    {S::logits, "logits", "z", "Logits", P::end, Role::score, C::diverging,
     "One number for each possible answer, computed from a dot product with its direction."},
    {S::probabilities, "probabilities", "p", "Probabilities", P::end, Role::output, C::unit,
     "Softmax turns the logits into probabilities that sum to 1."},
}};
// clang-format on

void put(ModelStages& made, ModelStage stage, Tensor values) {
    if (values.empty()) return;
    made[stage] = std::move(values);
    made.order.push_back(stage);
}

void add_entry(const Model& model, const ModelRun& run, ModelStages& made) {
    const NormWeights& norm = model.weights().embedding_norm;
    if (!model.config().reads_text())
        return put(made, norm.there() ? S::entry_norm : S::entry, run.embedded);
    if (model.config().image_prompt)  // image tokens have rows of their own
        return put(made, S::embedding, run.embedded);
    EmbeddedParts parts = embedded_parts(model, run.tokens);
    const bool alone = parts.type.empty() && parts.position.empty();
    Tensor sum = parts.token;
    if (!parts.type.empty()) add(sum, parts.type);
    if (!parts.position.empty()) add(sum, parts.position);
    put(made, S::embedding, std::move(parts.token));
    put(made, S::position, std::move(parts.position));
    if (!alone) put(made, S::entry, std::move(sum));
    const bool mapped = model.weights().embedding_map.there();
    if (norm.there())
        put(made, S::entry_norm,
            mapped ? normalised(made[alone ? S::embedding : S::entry], norm,
                                model.config().family->norm, model.config().epsilon)
                   : run.embedded);
    if (mapped) put(made, S::entry_map, run.embedded);
}

/// Of the experts that each token takes, side by side.
struct ExpertRows {
    Tensor gate, hidden, activated, out;
};

ExpertRows expert_rows(const Tensor& x, const Tensor& routing, const BlockWeights& block,
                       const ModelConfig& config) {
    ExpertRows rows;
    const Index taken = config.experts_per_token;
    const auto put_row = [&](Tensor& into, Index row, Index n, const Tensor& values) {
        if (values.empty()) return;
        const Index columns = values.shape().d;
        if (into.empty()) into = Tensor({1, 1, x.shape().t, taken * columns});
        std::ranges::copy(values.values(), into.matrix(0, 0).row(row).begin() + n * columns);
    };
    for (Index row = 0; row < x.shape().t; ++row) {
        const std::vector<Index> experts = taken_experts(routing, row);
        for (Index n = 0; n < std::min<Index>(taken, std::ssize(experts)); ++n) {
            BlockSteps steps;
            const Tensor out = mlp_of(row_of(x, row), block.experts[experts[n]], config, &steps);
            put_row(rows.gate, row, n, steps.gate);
            put_row(rows.hidden, row, n, steps.hidden);
            put_row(rows.activated, row, n, steps.activated);
            put_row(rows.out, row, n, out);
        }
    }
    return rows;
}

void add_block(const Model& model, const ModelRun& run, const BlockWeights& block,
               ModelStages& made) {
    const ModelConfig& config = model.config();
    const bool after = config.family->norms_after;
    const ModelLayer& layer = run.layers[made.layer];
    Tensor x = residual_into(run, made.layer);
    const bool across = !block.cross[Param::w_q].empty();
    Tensor attended = layer.trace[Stage::output];
    if (!after && block.attention_norm.there())
        put(made, S::norm1, normalised_rows(x, block, config));
    put(made, S::attention, attended);
    if (across) {
        add(x, attended);
        put(made, S::residual_self, x);
        Tensor normal = normalised(x, block.cross_norm, config.family->norm, config.epsilon);
        if (after) x = normal;
        put(made, S::cross_norm, std::move(normal));
        attended = run.cross[made.layer].trace[Stage::output];
        put(made, S::cross, attended);
    }
    BlockSteps steps;
    BlockOutput out = after_block(x, attended, block, config, &steps);
    put(made, S::attention_added, std::move(steps.attention_added));
    if (!config.parallel) put(made, S::residual1, std::move(steps.attention_sum));
    put(made, S::norm1, std::move(steps.attention_normal));
    put(made, S::norm2, std::move(steps.mlp_input));
    put(made, S::mlp_gate, std::move(steps.gate));
    put(made, S::mlp_hidden, std::move(steps.hidden));
    put(made, S::mlp_act, std::move(steps.activated));
    if (!out.routing.empty()) {
        const Tensor& read = made[made.has(S::norm2) ? S::norm2 : S::residual1];
        ExpertRows rows = expert_rows(read, out.routing, block, config);
        put(made, S::routing, std::move(out.routing));
        put(made, S::mlp_gate, std::move(rows.gate));
        put(made, S::mlp_hidden, std::move(rows.hidden));
        put(made, S::mlp_act, std::move(rows.activated));
        put(made, S::expert_out, std::move(rows.out));
    }
    put(made, S::mlp_out, std::move(steps.mlp));
    put(made, S::mlp_added, std::move(steps.mlp_added));
    put(made, S::residual2, std::move(steps.mlp_sum));
    if (after) put(made, S::norm2, std::move(out.x));
}

void add_end(const Model& model, const ModelRun& run, ModelStages& made) {
    const Tensor& last = residual_into(run, model.config().layers);
    if (model.weights().final_norm.there())
        put(made, S::final_norm, normalised_at_end(model, last));
    if (!model.gives_logits()) return;
    Tensor logits = read_out_of(model, row_of(last, made.row));
    const std::vector<double> shares = probabilities(logits.values());
    auto p = Tensor::uninitialised(shares.empty() ? Shape{} : logits.shape());
    std::ranges::transform(shares, p.values().begin(),
                           [](double share) { return static_cast<float>(share); });
    put(made, S::logits, std::move(logits));
    put(made, S::probabilities, std::move(p));
}

}  // namespace

const ModelStageInfo& info(ModelStage stage) {
    return kModelStages[static_cast<std::size_t>(stage)];
}

std::optional<ModelStage> find_model_stage(std::string_view key) {
    const auto found = std::ranges::find(kModelStages, key, &ModelStageInfo::key);
    return found == kModelStages.end() ? std::nullopt : std::optional(found->id);
}

StageSet model_stage_set() { return only_stage(Stage::context) | only_stage(Stage::output); }

const Tensor& residual_into(const ModelRun& run, Index layer) {
    return layer == 0 ? run.embedded : run.layers[layer - 1].residual;
}

std::vector<Index> taken_experts(const Tensor& routing, Index row) {
    std::vector<Index> experts;
    for (Index e = 0; e < routing.shape().d; ++e)
        if (routing(0, 0, row, e) != 0.0F) experts.push_back(e);
    std::ranges::stable_sort(experts, std::ranges::greater(),
                             [&](Index e) { return routing(0, 0, row, e); });
    return experts;
}

ModelStage block_output(const ModelConfig& config) {
    return config.family->norms_after ? S::norm2 : S::residual2;
}

Result<ModelStages> model_stages(const Model& model, const ModelRun& run, Index layer, Index row) {
    if (auto valid = check_heads_add_up(model.config(), "stages around attention"); !valid)
        return tl::unexpected(valid.error());
    const auto layers = std::ssize(run.layers);
    if (layer < 0 || layer >= layers)
        return bad_input(fmt::format("there is no layer {}; expected 0 to {}", layer, layers - 1));
    if (row < 0 || row >= std::ssize(run.tokens))
        return bad_input(fmt::format("there is no position {}; expected 0 to {}", row,
                                     std::ssize(run.tokens) - 1));
    if (layers != model.config().layers || !model.keeps_blocks())
        return bad_input("the weights of this model's layers are not in memory");
    const auto has_output = [](const ModelLayer& each) {
        return !each.trace[Stage::output].empty() && !each.trace[Stage::context].empty();
    };
    if (!std::ranges::all_of(run.layers, has_output) || !std::ranges::all_of(run.cross, has_output))
        return bad_input("the run kept no output and context of its layers");
    ModelStages made{layer, row};
    if (model.config().family->read_out == ReadOut::classes) made.row = 0;
    add_entry(model, run, made);
    add_block(model, run, model.weights().blocks[layer], made);
    add_end(model, run, made);
    return made;
}

}  // namespace attn

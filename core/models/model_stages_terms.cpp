// x a number of the residual stream; n columns of a norm's row; σ(x) = 1 / (1 + e^−x); Φ the normal distribution.

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include <fmt/format.h>

#include "core/models/block.h"
#include "core/models/cache.h"
#include "core/models/ends.h"
#include "core/models/family.h"
#include "core/models/layers.h"
#include "core/models/model.h"
#include "core/models/model_stages.h"
#include "core/models/weight_matrix.h"
#include "core/models/weights.h"
#include "core/spec_arrays.h"

namespace attn {
namespace {

using S = ModelStage;
using Row = std::vector<double>;

/// A stage that another one reads; nullopt: the residual where it enters the layer.
using Source = std::optional<ModelStage>;

const BlockWeights& block_of(const Model& model, Index layer) {
    return model.weights().blocks[layer];
}

/// The last of `among` that the model has.
Source last_of(const ModelStages& stages, std::initializer_list<ModelStage> among) {
    Source found;
    for (const ModelStage each : among)
        if (stages.has(each)) found = each;
    return found;
}

/// What a norm or a matrix reads.
Source source_of(const Model& model, const ModelStages& stages, ModelStage stage) {
    const bool after = model.config().family->norms_after;
    const bool parallel = model.config().parallel;
    switch (stage) {
        case S::entry_norm:
            return last_of(stages, {S::embedding, S::entry});
        case S::entry_map:
            return last_of(stages, {S::embedding, S::entry, S::entry_norm});
        case S::norm1:
            return after ? Source(S::residual1) : Source();
        case S::cross_norm:
            return S::residual_self;
        case S::attention_added:
            return last_of(stages, {S::attention, S::cross});
        case S::norm2:
            return after ? Source(S::residual2) : parallel ? Source() : S::residual1;
        case S::mlp_gate:
        case S::mlp_hidden:
        case S::routing:
            if (after) return S::norm1;
            if (stages.has(S::norm2)) return S::norm2;
            return parallel ? Source() : S::residual1;
        case S::mlp_out:
        case S::expert_out:
            return S::mlp_act;
        case S::mlp_added:
            return S::mlp_out;
        case S::logits:
            return last_of(stages, {S::final_norm});
        default:
            return {};
    }
}

/// One number's terms.
class Terms {
  public:
    Terms(const Model& model, const ModelRun& run, const ModelStages& stages, ModelStage stage,
          Index row, Index column)
        : model_(model),
          config_(model.config()),
          run_(run),
          stages_(stages),
          stage_(stage),
          row_(row),
          column_(column) {
        terms_.rule = rule_of(model, stage, stages.layer);
        terms_.value = stages[stage](0, 0, row, column);
        terms_.computed = terms_.value;
    }

    CellTerms found() {
        switch (terms_.rule) {
            case StageRule::given:
                break;
            case StageRule::sum:
                add_sum();
                break;
            case StageRule::norm:
                add_norm();
                break;
            case StageRule::scale:
                terms_.source = source();
                terms_.scaled = stages_[*source()](0, 0, row_, column_);
                add_scale();
                break;
            case StageRule::heads:
                add_heads();
                break;
            case StageRule::product:
                add_product();
                break;
            case StageRule::activation:
                add_activation();
                break;
            case StageRule::experts:
                add_experts();
                break;
            case StageRule::softmax:
                add_softmax();
                break;
        }
        return std::move(terms_);
    }

  private:
    const BlockWeights& block() const { return block_of(model_, stages_.layer); }
    Source source() const { return source_of(model_, stages_, stage_); }

    /// The matrix that the stage reads, and the row of it.
    const Tensor& read() const {
        if (const Source from = source()) return stages_[*from];
        return residual_into(run_, stage_ == S::logits ? config_.layers : stages_.layer);
    }
    Row read_row() const {
        const bool end = stage_ == S::logits;
        const auto row = read().matrix(0, 0).row(end ? stages_.row : row_);
        return {row.begin(), row.end()};
    }

    void add(Source source, double value, double factor = 1.0, std::string name = {}) {
        terms_.added.push_back({source, std::move(name), factor, value});
        terms_.computed += factor * value;
    }
    void add_stage(ModelStage stage, double factor = 1.0) {
        if (stages_.has(stage)) add(stage, stages_[stage](0, 0, row_, column_), factor);
    }

    void add_sum() {
        terms_.computed = 0.0;
        const double factor = config_.residual_factor;
        const auto& image = config_.image_prompt;
        if (stage_ == S::embedding && image && run_.tokens[row_].id == image->token)
            return add({}, run_.embedded(0, 0, row_, column_), 1.0, "projected patch");
        if (stage_ == S::embedding)
            return add({}, model_.weights().embedding(run_.tokens[row_].id, column_),
                       config_.embedding_factor, "row of the table");
        if (stage_ == S::entry) {
            add_stage(S::embedding);
            if (!model_.weights().kinds.empty())
                add({}, model_.weights().kinds(0, column_), 1.0, "token type 0");
            return add_stage(S::position);
        }
        const bool own_first = stage_ == S::residual_self || !stages_.has(S::cross);
        if (stage_ == S::residual2 && !config_.parallel) {
            add_stage(config_.family->norms_after ? S::norm1 : S::residual1);
        } else {
            if (own_first)
                add_input();
            else
                add_stage(config_.family->norms_after ? S::cross_norm : S::residual_self);
            add_stage(stages_.has(S::attention_added)                   ? S::attention_added
                      : stage_ == S::residual1 && stages_.has(S::cross) ? S::cross
                                                                        : S::attention,
                      stage_ == S::residual_self ? 1.0 : factor);
        }
        if (stage_ == S::residual2)
            add_stage(stages_.has(S::mlp_added) ? S::mlp_added : S::mlp_out, factor);
    }

    /// x, or x through the block's own matrix.
    void add_input() {
        const Tensor& x = residual_into(run_, stages_.layer);
        const LinearWeights& through = block().residual;
        if (!through.there()) return add({}, x(0, 0, row_, column_), 1.0, "x");
        double sum = through.bias.empty() ? 0.0 : through.bias.values()[column_];
        for (Index k = 0; k < x.shape().d; ++k)
            sum += double{x(0, 0, row_, k)} * through.weight(k, column_);
        add({}, sum, 1.0, "x W_residual");
    }

    const NormWeights& norm() const {
        switch (stage_) {
            case S::entry_norm:
                return model_.weights().embedding_norm;
            case S::norm1:
                return block().attention_norm;
            case S::attention_added:
                return block().attention_out_norm;
            case S::cross_norm:
                return block().cross_norm;
            case S::mlp_added:
                return block().mlp_out_norm;
            case S::final_norm:
                return model_.weights().final_norm;
            default:
                return block().mlp_norm;
        }
    }

    void add_norm() {
        const NormWeights& weights = norm();
        const bool centred = config_.family->norm == Norm::layer;
        const Tensor& from = stage_ == S::final_norm ? residual_into(run_, config_.layers) : read();
        const auto row = from.matrix(0, 0).row(row_);
        const auto n = static_cast<double>(row.size());
        CellTerms::NormTerms terms{.x = row[column_],
                                   .epsilon = config_.epsilon,
                                   .scale = weights.scale.values()[column_],
                                   .centred = centred,
                                   .source = source()};
        if (centred) terms.mean = std::accumulate(row.begin(), row.end(), 0.0) / n;
        for (const float value : row)
            terms.variance += (value - terms.mean) * (value - terms.mean) / n;
        if (!weights.shift.empty()) terms.shift = weights.shift.values()[column_];
        terms_.computed =
            (terms.x - terms.mean) / std::sqrt(terms.variance + terms.epsilon) * terms.scale +
            terms.shift.value_or(0.0);
        terms_.norm = terms;
        terms_.scaled = terms_.computed;
        add_scale();
    }

    /// Of what attention and the MLP add.
    void add_scale() {
        const Tensor* scale = stage_ == S::attention_added ? &block().attention_scale
                              : stage_ == S::mlp_added     ? &block().mlp_scale
                                                           : nullptr;
        if (scale == nullptr || scale->empty()) return;
        terms_.column_scale = scale->values()[column_];
        terms_.computed = terms_.scaled * *terms_.column_scale;
    }

    void add_heads() {
        terms_.computed = 0.0;
        const ModelLayer& made =
            stage_ == S::cross ? run_.cross[stages_.layer] : run_.layers[stages_.layer];
        const Tensor& context = made.trace[Stage::context];
        const Index width = context.shape().d;
        const WeightMatrix w_o(made.inputs->params[Param::w_o]);
        for (Index head = 0; head < context.shape().h; ++head) {
            double value = 0.0;
            for (Index k = 0; k < width; ++k) {
                const double weight = w_o.empty() ? head * width + k == column_ ? 1.0 : 0.0
                                                  : w_o(head * width + k, column_);
                if (weight != 0.0) value += context(0, head, row_, k) * weight;
            }
            add({}, value, 1.0, fmt::format("head {}", head));
        }
        if (const Tensor& b_o = made.inputs->params[Param::b_o]; !b_o.empty())
            add({}, b_o.values()[column_], 1.0, "bias");
    }

    /// How many experts' columns a stage has side by side; 1 without experts.
    Index slots() const { return stages_.has(S::routing) ? config_.experts_per_token : 1; }
    /// The columns of one expert.
    Index width_of(ModelStage stage) const { return stages_[stage].shape().d / slots(); }
    /// The MLP of the explained column, and that column within it; null: the token takes fewer experts.
    const MlpWeights* mlp_of_column(Index& column) const {
        if (!stages_.has(S::routing)) return &block().mlp;
        const auto slot = static_cast<std::size_t>(column / width_of(stage_));
        column %= width_of(stage_);
        const std::vector<Index> taken = taken_experts(stages_[S::routing], row_);
        return slot < taken.size() ? &block().experts[taken[slot]] : nullptr;
    }

    void add_product() {
        CellTerms::ProductTerms terms;
        terms.source = source();
        terms.left = read_row();
        const bool answers = stage_ == S::logits || stage_ == S::entry_map;
        Index column = column_;
        const MlpWeights* const of_column = answers ? &block().mlp : mlp_of_column(column);
        if (of_column == nullptr) return;  // 0, as `value`
        const MlpWeights& mlp = *of_column;
        if (stage_ == S::expert_out) {
            const Index width = width_of(S::mlp_act);
            terms.first_column = column_ / width_of(stage_) * width;
            terms.left = Row(terms.left.begin() + terms.first_column,
                             terms.left.begin() + terms.first_column + width);
        }
        if (stage_ == S::logits && config_.family->read_out == ReadOut::next_token) {
            const WeightMatrix& table = read_out_table(model_);
            for (Index k = 0; k < table.shape().d; ++k) terms.right.push_back(table(column_, k));
            terms.factor = config_.logit_factor;
            terms.cap = config_.logit_cap;
            terms.weights = model_.weights().read_out.there() ? "read-out" : "embedding";
            if (const Tensor& bias = model_.weights().read_out.bias; !bias.empty()) {
                terms.has_bias = true;
                terms.bias = bias.values()[column_];
            }
        } else {
            const bool down = stage_ == S::mlp_out || stage_ == S::expert_out;
            const bool first = stage_ == S::mlp_gate || !mlp.up.there();
            const LinearWeights& linear = stage_ == S::logits      ? model_.weights().read_out
                                          : stage_ == S::entry_map ? model_.weights().embedding_map
                                          : down                   ? mlp.down
                                          : first                  ? mlp.gate
                                                                   : mlp.up;
            terms.weights = stage_ == S::logits      ? "W_class"
                            : stage_ == S::entry_map ? "W_map"
                            : down                   ? "W_down"
                            : first                  ? "W_gate"
                                                     : "W_up";
            for (Index k = 0; k < linear.weight.shape().t; ++k)
                terms.right.push_back(linear.weight(k, column));
            terms.has_bias = !linear.bias.empty();
            if (terms.has_bias) terms.bias = linear.bias.values()[column];
        }
        const double dot =
            std::inner_product(terms.left.begin(), terms.left.end(), terms.right.begin(), 0.0);
        terms_.computed = terms.factor * dot + terms.bias;
        if (terms.cap) terms_.computed = *terms.cap * std::tanh(terms_.computed / *terms.cap);
        terms_.product = std::move(terms);
    }

    void add_activation() {
        CellTerms::ActivationTerms terms{.kind = config_.activation};
        const auto hidden = stages_[S::mlp_hidden].matrix(0, 0).row(row_);
        const Gated gated = config_.family->gated;
        const Index half = width_of(S::mlp_hidden) / 2, width = width_of(S::mlp_act);
        const Index first = column_ / width * width_of(S::mlp_hidden);  // of the column's expert
        terms.column = terms.times_column = column_;
        if (gated == Gated::halves) {
            terms.column = first + column_ % width;
            terms.times_column = terms.column + half;
            terms.argument = hidden[terms.column];
            terms.times = hidden[terms.times_column];
        } else if (gated == Gated::clamped) {
            terms.kind = Activation::quick_gelu;
            terms.column = first + 2 * (column_ % width);
            terms.times_column = terms.column + 1;
            terms.argument = std::min(hidden[terms.column], 7.0F);
            terms.times = std::clamp(hidden[terms.times_column], -7.0F, 7.0F) + 1.0;
        } else if (stages_.has(S::mlp_gate)) {
            terms.source = S::mlp_gate;
            terms.argument = stages_[S::mlp_gate](0, 0, row_, column_);
            terms.times = hidden[column_];
        } else {
            terms.argument = hidden[column_];
        }
        terms.slope = slope_of(terms.kind, terms.argument);
        terms_.computed = terms.argument * terms.slope * terms.times.value_or(1.0);
        terms_.activation = terms;
    }

    static double slope_of(Activation kind, double x) {
        const auto sigma = [](double y) { return 1.0 / (1.0 + std::exp(-y)); };
        switch (kind) {
            case Activation::relu:
                return x < 0.0 ? 0.0 : 1.0;
            case Activation::gelu:
                return 0.5 * (1.0 + std::erf(x / std::numbers::sqrt2));
            case Activation::gelu_tanh:
                return sigma(2.0 * std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x));
            case Activation::silu:
                return sigma(x);
            case Activation::quick_gelu:
                return sigma(1.702 * x);
        }
        return 0.0;
    }

    /// The row that the MLP reads, as a matrix of its own.
    Tensor row_read() const { return row_of(read(), row_); }

    void add_experts() {
        terms_.computed = 0.0;
        Index column = column_;
        for (const Index e : taken_experts(stages_[S::routing], row_)) {
            add(S::expert_out, stages_[S::expert_out](0, 0, row_, column),
                stages_[S::routing](0, 0, row_, e), fmt::format("expert {}", e));
            terms_.added.back().column = column;
            column += width_of(S::expert_out);
        }
        const Source from = source_of(model_, stages_, S::routing);
        const Tensor& read = from ? stages_[*from] : residual_into(run_, stages_.layer);
        if (const Tensor shared = shared_expert_of(row_of(read, row_), block(), config_);
            !shared.empty())
            add({}, shared(0, 0, 0, column_), 1.0, "shared expert");
    }

    void add_softmax() {
        const bool routes = stage_ == S::routing;
        const Tensor routed = routes ? through(row_read(), block().router) : Tensor();
        const Tensor& logits = routes ? routed : stages_[S::logits];
        CellTerms::SoftmaxTerms terms{.logit = logits(0, 0, 0, column_), .largest = -HUGE_VAL};
        const auto is_taken = [&](Index n) {
            return !routes || stages_[S::routing](0, 0, row_, n) != 0.0F;
        };
        const auto taken = [&](Index n) { return !config_.expert_shares_sum || is_taken(n); };
        for (Index n = 0; n < logits.shape().d; ++n)
            if (taken(n)) terms.largest = std::max(terms.largest, double{logits(0, 0, 0, n)});
        for (Index n = 0; n < logits.shape().d; ++n) {
            if (!taken(n)) continue;
            terms.sum += std::exp(logits(0, 0, 0, n) - terms.largest);
            ++terms.count;
        }
        terms_.computed =
            is_taken(column_) ? std::exp(terms.logit - terms.largest) / terms.sum : 0.0;
        terms_.softmax = terms;
    }

    const Model& model_;
    const ModelConfig& config_;
    const ModelRun& run_;
    const ModelStages& stages_;
    const ModelStage stage_;
    const Index row_, column_;
    CellTerms terms_;
};

std::string norm_tex(const ModelConfig& config, const NormWeights& norm) {
    if (config.family->norm == Norm::rms)
        return R"(\frac{x_c}{\sqrt{\mathrm{mean}(x^2) + \epsilon}} \cdot \gamma_c)";
    return std::string(R"(\frac{x_c - \mu}{\sqrt{\sigma^2 + \epsilon}} \cdot \gamma_c)") +
           (norm.shift.empty() ? "" : R"( + \beta_c)");
}

std::string activation_tex(Activation activation) {
    switch (activation) {
        case Activation::relu:
            return R"(\max(0, x))";
        case Activation::gelu:
            return R"(\frac{x}{2} (1 + \mathrm{erf}(\frac{x}{\sqrt{2}})))";
        case Activation::gelu_tanh:
            return R"(\frac{x}{2} (1 + \tanh(\sqrt{\frac{2}{\pi}} (x + 0.044715 x^3))))";
        case Activation::silu:
            return R"(\frac{x}{1 + e^{-x}})";
        case Activation::quick_gelu:
            return R"(\frac{x}{1 + e^{-1.702 x}})";
    }
    return {};
}

/// The symbol that a factor other than 1 multiplies.
std::string times(double factor, const char* symbol) {
    return factor == 1.0 ? symbol : fmt::format(R"({:g} \cdot {})", factor, symbol);
}

std::string sum_tex(const Model& model, ModelStage stage, Index layer) {
    const ModelConfig& config = model.config();
    const bool across = !block_of(model, layer).cross[Param::w_q].empty();
    const std::string y = times(config.residual_factor, "Y"),
                      f = times(config.residual_factor, "F");
    switch (stage) {
        case S::embedding:
            return fmt::format(R"({:g} \cdot \mathrm{{table}})", config.embedding_factor);
        case S::entry:
            return "E + P";
        case S::residual_self:
            return "X + Y";
        case S::residual1:
            return across ? "X_1 + " + times(config.residual_factor, "Y_c") : "X + " + y;
        default:
            if (config.parallel) return "X + " + y + " + " + f;
            return std::string(config.family->norms_after ? "N_1" : "X_1") + " + " + f;
    }
}

Index counted_in(const LinearWeights& linear) {
    return linear.weight.shape().count() + linear.bias.count();
}
Index counted_in(const NormWeights& norm) { return norm.scale.count() + norm.shift.count(); }
Index counted_in(const MlpWeights& mlp) {
    return counted_in(mlp.gate) + counted_in(mlp.up) + counted_in(mlp.down);
}
double products_of(const MlpWeights& mlp) {
    return 2.0 *
           static_cast<double>(mlp.gate.weight.shape().count() + mlp.up.weight.shape().count() +
                               mlp.down.weight.shape().count());
}

/// Of one attention over `keys` tokens.
void add_attention(const Params& params, const ModelConfig& config, Index tokens, Index keys,
                   PartCost& cost) {
    for (std::size_t n = 0; n < kParamCount; ++n)
        cost.parameters += params[static_cast<Param>(n)].count();
    const auto queries = static_cast<double>(tokens), over = static_cast<double>(keys);
    for (const Param param : {Param::w_q, Param::w_o})
        cost.flop += 2.0 * queries * static_cast<double>(params[param].count());
    for (const Param param : {Param::w_k, Param::w_v})
        cost.flop += 2.0 * over * static_cast<double>(params[param].count());
    const Index values = params[Param::w_v].shape().d / std::max<Index>(config.kv_heads, 1);
    const Index columns = params[Param::w_q].shape().d + values * config.heads;
    cost.flop += 2.0 * queries * over * static_cast<double>(columns);
}

}  // namespace

StageRule rule_of(const Model& model, ModelStage stage, Index layer) {
    const ModelConfig& config = model.config();
    const BlockWeights& block = block_of(model, layer);
    switch (stage) {
        case S::embedding:
            return config.embedding_factor == 1.0 ? StageRule::given : StageRule::sum;
        case S::position:
            return StageRule::given;
        case S::entry:
            return config.reads_text() ? StageRule::sum : StageRule::given;
        case S::entry_norm:
            return config.reads_text() ? StageRule::norm : StageRule::given;
        case S::norm1:
        case S::norm2:
        case S::cross_norm:
        case S::final_norm:
            return StageRule::norm;
        case S::attention:
        case S::cross:
            return StageRule::heads;
        case S::attention_added:
            return block.attention_out_norm.there() ? StageRule::norm : StageRule::scale;
        case S::mlp_added:
            return block.mlp_out_norm.there() ? StageRule::norm : StageRule::scale;
        case S::residual_self:
        case S::residual1:
        case S::residual2:
            return StageRule::sum;
        case S::entry_map:
        case S::mlp_gate:
        case S::mlp_hidden:
        case S::expert_out:
        case S::logits:
            return StageRule::product;
        case S::mlp_act:
            return StageRule::activation;
        case S::mlp_out:
            return block.experts.empty() ? StageRule::product : StageRule::experts;
        case S::routing:  // scores of another kind, or times a factor, have no terms here
            return config.family->routing == Routing::softmax && config.expert_factor == 1.0
                       ? StageRule::softmax
                       : StageRule::given;
        case S::probabilities:
            return StageRule::softmax;
    }
    return StageRule::given;
}

std::string stage_tex(const Model& model, ModelStage stage, Index layer) {
    const ModelConfig& config = model.config();
    const BlockWeights& block = block_of(model, layer);
    const std::string left = std::string(info(stage).symbol) + " = ";
    switch (rule_of(model, stage, layer)) {
        case StageRule::given:
            if (stage != S::position || config.family->positions != Positions::waves) return {};
            return left + R"(\sin, \cos(\mathrm{position} \cdot 10000^{-i}))";
        case StageRule::sum:
            return left + sum_tex(model, stage, layer);
        case StageRule::norm:
            return left + norm_tex(config, stage == S::final_norm   ? model.weights().final_norm
                                           : stage == S::entry_norm ? model.weights().embedding_norm
                                                                    : block.mlp_norm);
        case StageRule::scale:
            return left + R"(\lambda_c \cdot x_c)";
        case StageRule::heads:
            return left + R"(\sum_h \mathrm{context}_h W_{O,h})";
        case StageRule::experts:
            return left + R"(\sum_e r_e \cdot \mathrm{expert}_e(N_2))" +
                   (block.shared.up.there() ? R"( + \mathrm{shared}(N_2))" : "");
        case StageRule::softmax:
            return left + R"(\frac{e^{z_i}}{\sum_j e^{z_j}})";
        case StageRule::activation: {
            const std::string a = activation_tex(config.activation);
            const MlpWeights& mlp = block.experts.empty() ? block.mlp : block.experts.front();
            const bool gated = mlp.gate.there() || config.family->gated != Gated::apart;
            return left + a + (gated ? R"( \cdot u)" : "");
        }
        case StageRule::product:
            break;
    }
    if (stage == S::logits) return R"(z_i = N \cdot w_i)";
    if (stage == S::entry_map) return left + "X W_{map}";
    const bool down = stage == S::mlp_out || stage == S::expert_out;
    const char* const by = down ? "H' W_{down}" : stage == S::mlp_gate ? "N W_{gate}" : "N W_{up}";
    return left + by;
}

Result<CellTerms> terms_of(const Model& model, const ModelRun& run, const ModelStages& stages,
                           ModelStage stage, Index row, Index column) {
    const Shape shape = stages[stage].shape();
    if (!stages.has(stage)) return bad_input(fmt::format("this model has no {}", info(stage).key));
    if (row < 0 || row >= shape.t || column < 0 || column >= shape.d)
        return bad_input(
            fmt::format("{} has no cell [{}, {}]; expected rows 0 to {} and columns "
                        "0 to {}",
                        info(stage).key, row, column, shape.t - 1, shape.d - 1));
    return Terms(model, run, stages, stage, row, column).found();
}

PartCost part_cost(const Model& model, StackPart part, Index layer, Index tokens, Index tokens_kv) {
    const ModelWeights& weights = model.weights();
    const ModelConfig& config = model.config();
    const auto rows = static_cast<double>(tokens);
    PartCost cost;
    if (part == StackPart::entry) {
        cost.parameters = weights.embedding.shape().count() + weights.positions.shape().count() +
                          weights.kinds.shape().count() + counted_in(weights.embedding_norm) +
                          weights.class_token.count() + weights.distillation_token.count() +
                          weights.register_tokens.count() + counted_in(weights.embedding_map) +
                          counted_in(weights.patches);
        cost.flop = 2.0 * rows *
                    static_cast<double>(weights.patches.weight.shape().count() +
                                        weights.embedding_map.weight.shape().count());
        return cost;
    }
    if (part == StackPart::end) {
        const PoolWeights& pool = weights.pool;
        cost.parameters = counted_in(weights.final_norm) + counted_in(weights.read_out) +
                          pool.probe.count() + counted_in(pool.norm) + counted_in(pool.mlp);
        for (const Tensor& each : pool.attention.tensors) cost.parameters += each.count();
        const bool next = config.family->read_out == ReadOut::next_token;
        if (next && model.gives_logits())
            cost.flop = 2.0 * rows * static_cast<double>(read_out_table(model).shape().count());
        else if (weights.read_out.there())
            cost.flop = 2.0 * static_cast<double>(weights.read_out.weight.shape().count());
        return cost;
    }
    const BlockWeights& block = block_of(model, layer);
    if (part == StackPart::attention) {
        cost.parameters = counted_in(block.attention_norm) + counted_in(block.q_norm) +
                          counted_in(block.k_norm) + counted_in(block.residual) +
                          counted_in(block.attention_out_norm) + block.attention_scale.count() +
                          counted_in(block.cross_norm) + counted_in(block.latent.q) +
                          counted_in(block.latent.q_norm) + counted_in(block.latent.kv) +
                          counted_in(block.latent.kv_norm) - block.latent.filled;
        cost.flop =
            2.0 * rows *
            static_cast<double>(block.latent.q.weight.shape().count() +
                                block.latent.kv.weight.shape().count() - block.latent.filled);
        add_attention(block.attention, config, tokens, tokens, cost);
        if (!block.cross[Param::w_q].empty())
            add_attention(block.cross, config, tokens, tokens_kv, cost);
        cost.flop += 2.0 * rows * static_cast<double>(block.residual.weight.shape().count());
        return cost;
    }
    cost.parameters = (config.one_norm ? 0 : counted_in(block.mlp_norm)) +
                      counted_in(block.mlp_out_norm) + block.mlp_scale.count() +
                      counted_in(block.mlp) + counted_in(block.router) + counted_in(block.shared) +
                      counted_in(block.shared_gate) + block.router_bias.count();
    for (const MlpWeights& expert : block.experts) cost.parameters += counted_in(expert);
    cost.flop = rows * (products_of(block.mlp) + products_of(block.shared) +
                        2.0 * static_cast<double>(block.router.weight.shape().count() +
                                                  block.shared_gate.weight.shape().count()));
    if (!block.experts.empty())
        cost.flop += rows * static_cast<double>(config.experts_per_token) *
                     products_of(block.experts.front());
    return cost;
}

}  // namespace attn

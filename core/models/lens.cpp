// d width of the residual; u row of the read-out of a token, or the difference of two; x what leaves the last block.

#include "core/models/lens.h"

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "core/models/block.h"
#include "core/models/delta_net.h"
#include "core/models/ends.h"
#include "core/models/family.h"
#include "core/models/model.h"
#include "core/models/weights.h"
#include "core/spec_arrays.h"

namespace attn {
namespace {

using Numbers = std::vector<double>;

/// One stack, which has the row.
Result<void> check_stack(const Model& model, const ModelRun& run, Index row) {
    if (model.reads_across())
        return bad_input(
            "a logit of a decoder that reads an encoder is not the sum of these parts: attention "
            "over the encoder is missing");
    if (row < 0 || row >= std::ssize(run.tokens))
        return bad_input(fmt::format("there is no position {}; expected 0 to {}", row,
                                     std::ssize(run.tokens) - 1));
    return {};
}

Result<void> check_row(const Model& model, const ModelRun& run, Index row) {
    if (!model.reads_across() && !model.gives_logits())
        return bad_input(
            fmt::format("this {} gives no next token; expected a model that does, as GPT-2",
                        model.config().family->text));
    return check_stack(model, run, row);
}

/// Logits are products with rows of a table of tokens; else with columns of a classifier.
bool reads_tokens(const Model& model) {
    return model.config().family->read_out == ReadOut::next_token;
}

Result<void> check_lens(const Model& model, const ModelRun& run, Index row) {
    if (!model.reads_across() && !reads_tokens(model))
        return bad_input(
            fmt::format("this {} gives no next token; expected a model that does, as GPT-2",
                        model.config().family->text));
    return check_row(model, run, row);
}

Index count_of_logits(const Model& model) {
    return reads_tokens(model) ? read_out_table(model).shape().t
                               : model.weights().read_out.weight.shape().d;
}

Result<void> check_token(Index token, Index vocabulary) {
    if (token >= 0 && token < vocabulary) return {};
    return bad_input(fmt::format("token {} is not one of {}", token, vocabulary));
}

/// What the residual has in a row after a layer; −1: where the tokens enter.
Tensor residual_row(const ModelRun& run, Index layer, Index row) {
    return row_of(layer < 0 ? run.embedded : run.layers[layer].residual, row);
}

double product(std::span<const float> a, std::span<const double> b) {
    double sum = 0.0;
    for (std::size_t n = 0; n < a.size(); ++n) sum += a[n] * b[n];
    return sum;
}

/// The gradient of direction · norm(y) by y with the norm's factor frozen, which is that of y; what it leaves out is direction · shift.
Numbers through_frozen(const Numbers& direction, const NormWeights& norm, Norm kind, double epsilon,
                       std::span<const float> y) {
    if (!norm.there()) return direction;
    const auto n = static_cast<double>(y.size());
    double mean = 0.0, squares = 0.0, mean_out = 0.0;
    for (const float value : y) mean += kind == Norm::layer ? value / n : 0.0;
    for (const float value : y) squares += (value - mean) * (value - mean);
    const double factor = 1.0 / std::sqrt(squares / n + epsilon);
    Numbers result(direction.size());
    for (std::size_t c = 0; c < result.size(); ++c) {
        result[c] = direction[c] * factor * norm.scale.values()[c];
        mean_out += kind == Norm::layer ? result[c] / n : 0.0;
    }
    for (double& value : result) value -= mean_out;
    return result;
}

/// u, times the factor of the logits.
Numbers direction_of(const Model& model, Index token, std::optional<Index> against) {
    const bool tokens = reads_tokens(model);
    const WeightMatrix& table = tokens ? read_out_table(model) : model.weights().read_out.weight;
    const auto weight = [&](Index c, Index of) {
        return double{tokens ? table(of, c) : table(c, of)};
    };
    const double factor = tokens ? model.config().logit_factor : 1.0;
    Numbers direction(static_cast<std::size_t>(tokens ? table.shape().d : table.shape().t));
    for (Index c = 0; c < std::ssize(direction); ++c)
        direction[c] = factor * (weight(c, token) - (against ? weight(c, *against) : 0.0));
    return direction;
}

/// One row of a matrix in float32, until the next.
class WidenedRow {
  public:
    explicit WidenedRow(const WeightMatrix& of)
        : of_(of), row_(static_cast<std::size_t>(of.shape().d)) {}
    std::span<const float> at(Index n) {
        of_.copy_row(n, row_);
        return row_;
    }

  private:
    const WeightMatrix& of_;
    std::vector<float> row_;
};

double product(const Tensor& a, const Numbers& b) { return product(a.values(), b); }

/// The parts of a number `direction` · x, x being the last block's output in a row. The direction goes down from
/// there: through a norm of a sum it is multiplied by the norm's frozen factor.
class Parts {
  public:
    Parts(const Model& model, const ModelRun& run, Index row)
        : model_(model), config_(model.config()), run_(run), row_(row) {}

    /// Embedding, then layer by layer.
    std::vector<LogitPart> of(Numbers direction) {
        std::vector<std::vector<LogitPart>> layers(run_.layers.size());
        for (Index layer = std::ssize(run_.layers) - 1; layer >= 0; --layer)
            layers[static_cast<std::size_t>(layer)] = layer_parts(layer, direction);
        std::vector<LogitPart> parts = {
            {PartKind::embedding, {-1, -1}, product(residual_row(run_, -1, row_), direction)}};
        for (const auto& each : layers) parts.insert(parts.end(), each.begin(), each.end());
        return parts;
    }

  private:
    Numbers frozen(const Numbers& direction, const NormWeights& norm, const Tensor& y) const {
        return through_frozen(direction, norm, config_.family->norm, config_.epsilon, y.values());
    }

    /// `direction` is that of the layer's output, and becomes that of its input.
    std::vector<LogitPart> layer_parts(Index layer, Numbers& direction) const {
        const ModelLayer& made = run_.layers[layer];
        const BlockWeights& block = model_.weights().blocks[layer];
        const bool after = config_.family->norms_after;
        const Tensor attended = output_of(made);
        BlockSteps steps;
        const Tensor mlp =
            after_block(residual_row(run_, layer - 1, row_), attended, block, config_, &steps).mlp;
        std::vector<LogitPart> late;
        const auto add_shift = [&](PartKind kind, const NormWeights& norm) {
            if (!norm.shift.empty())
                late.push_back({kind, {layer, -1}, product(norm.shift, direction)});
        };
        const auto add_mlp = [&] {
            Numbers of_mlp = direction;
            for (double& value : of_mlp) value *= config_.residual_factor;
            late.push_back({PartKind::mlp, {layer, -1}, product(mlp, of_mlp)});
        };
        if (after) {
            add_shift(PartKind::mlp_shift, block.mlp_norm);
            direction = frozen(direction, block.mlp_norm, steps.mlp_sum);
        }
        add_mlp();
        if (after) {
            add_shift(PartKind::attention_shift, block.attention_norm);
            direction = frozen(direction, block.attention_norm, steps.attention_sum);
        }
        std::vector<LogitPart> parts = attention_parts(layer, attended, direction);
        parts.insert(parts.end(), late.rbegin(), late.rend());
        if (block.residual.there()) direction = through_transposed(block.residual, direction);
        return parts;
    }

    /// Heads, then b_O with the bias of the residual's own matrix.
    std::vector<LogitPart> attention_parts(Index layer, const Tensor& attended,
                                           const Numbers& direction) const {
        const ModelLayer& made = run_.layers[layer];
        const BlockWeights& block = model_.weights().blocks[layer];
        Numbers scaled = direction;
        for (std::size_t c = 0; c < scaled.size(); ++c)
            scaled[c] *= config_.residual_factor *
                         (block.attention_scale.empty() ? 1.0 : block.attention_scale.values()[c]);
        const Numbers of_attention = frozen(scaled, block.attention_out_norm, attended);
        const Tensor& context = made.trace[Stage::context];
        const WeightMatrix w_o(made.inputs->params[Param::w_o]);
        WidenedRow row(w_o);
        const Index width = context.shape().d;
        std::vector<LogitPart> parts;
        for (Index head = 0; head < context.shape().h; ++head) {
            double value = 0.0;
            for (Index c = 0; c < width; ++c)
                value +=
                    context(0, head, row_, c) * product(row.at(head * width + c), of_attention);
            parts.push_back({PartKind::head, {layer, head}, value});
        }
        std::optional<double> bias;
        const auto add_bias = [&](const Tensor& of, const Numbers& along) {
            if (!of.empty()) bias = bias.value_or(0.0) + product(of, along);
        };
        add_bias(made.inputs->params[Param::b_o], of_attention);
        add_bias(block.attention_out_norm.shift, scaled);
        add_bias(block.residual.bias, direction);
        if (bias) parts.push_back({PartKind::attention_bias, {layer, -1}, *bias});
        return parts;
    }

    /// W direction: that of x before x W.
    static Numbers through_transposed(const LinearWeights& linear, const Numbers& direction) {
        WidenedRow row(linear.weight);
        Numbers result(static_cast<std::size_t>(linear.weight.shape().t));
        for (std::size_t n = 0; n < result.size(); ++n)
            result[n] = product(row.at(static_cast<Index>(n)), direction);
        return result;
    }

    /// concat(heads) W_O + b_O of the row.
    Tensor output_of(const ModelLayer& made) const {
        const Tensor& context = made.trace[Stage::context];
        const WeightMatrix w_o(made.inputs->params[Param::w_o]);
        WidenedRow of_w_o(w_o);
        const Tensor& b_o = made.inputs->params[Param::b_o];
        Numbers sum(static_cast<std::size_t>(w_o.shape().d));
        for (std::size_t n = 0; n < sum.size() && !b_o.empty(); ++n) sum[n] = b_o.values()[n];
        for (Index n = 0; n < w_o.shape().t; ++n) {
            const Index width = context.shape().d;
            const double value = context(0, n / width, row_, n % width);
            const auto row = of_w_o.at(n);
            for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += value * row[c];
        }
        auto output = Tensor::uninitialised({1, 1, 1, w_o.shape().d});
        std::ranges::transform(sum, output.values().begin(),
                               [](double value) { return static_cast<float>(value); });
        return output;
    }

    const Model& model_;
    const ModelConfig& config_;
    const ModelRun& run_;
    const Index row_;
};

/// Fills parts, logit and sum of a logit.
void attribute(const Model& model, const ModelRun& run, LogitAttribution& into) {
    const Tensor x = residual_row(run, std::ssize(run.layers) - 1, into.row);
    const NormWeights& norm = model.weights().final_norm;
    const ModelConfig& config = model.config();
    const Numbers u = direction_of(model, into.token, into.against);
    into.parts = Parts(model, run, into.row)
                     .of(through_frozen(u, norm, config.family->norm, config.epsilon, x.values()));
    if (!norm.shift.empty())
        into.parts.push_back({PartKind::norm_shift, {-1, -1}, product(norm.shift, u)});
    into.logit = product(normalised_at_end(model, x), u);
    const Tensor& bias = model.weights().read_out.bias;
    if (bias.empty()) return;
    const auto b = bias.values();
    into.parts.push_back({PartKind::read_out_bias,
                          {-1, -1},
                          double{b[into.token]} - (into.against ? double{b[*into.against]} : 0.0)});
    into.logit += into.parts.back().value;
}

/// Errors: numbers that are not finite.
Result<LogitAttribution> summed(const std::string& name, LogitAttribution made) {
    for (const LogitPart& part : made.parts) made.sum += part.value;
    if (std::isfinite(made.logit) && std::isfinite(made.sum)) return made;
    return bad_input(fmt::format("{} is {}; expected a finite number", name, made.logit));
}
Result<void> check_context(const Model& model, const ModelRun& run) {
    if (auto valid = check_heads_add_up(model.config(), "parts of a logit"); !valid) return valid;
    for (const ModelLayer& layer : run.layers)
        if (layer.trace[Stage::context].empty())
            return bad_input("the run kept no context, whose parts are asked for");
    return {};
}

}  // namespace

Result<Lens> logit_lens(const Model& model, const ModelRun& run, Index row,
                        std::optional<Index> token, std::size_t count) {
    if (auto valid = check_lens(model, run, row); !valid) return tl::unexpected(valid.error());
    const Index vocabulary = read_out_table(model).shape().t;
    if (token)
        if (auto valid = check_token(*token, vocabulary); !valid)
            return tl::unexpected(valid.error());
    const auto rows = std::ssize(run.layers) + 1;
    auto all = Tensor::uninitialised({1, 1, rows, run.embedded.shape().d});
    for (Index n = 0; n < rows; ++n)
        std::ranges::copy(residual_row(run, n - 1, row).values(), all.matrix(0, 0).row(n).begin());
    const Tensor logits = read_out_of(model, all);
    Lens lens{row, token.value_or(-1), {}};
    for (Index n = rows - 1; n >= 0; --n) {
        const auto of = std::as_const(logits).matrix(0, 0).row(n);
        const std::vector<double> shares = probabilities(of);
        if (shares.empty())
            return bad_input(fmt::format("the logits after layer {} are not finite", n - 1));
        LensLayer layer{n - 1, likeliest(of, std::max(count, std::size_t{1})), 0.0, 0.0, 0};
        if (lens.token < 0) lens.token = layer.best.front().id;
        layer.best.resize(std::min(layer.best.size(), count));
        const auto at = static_cast<std::size_t>(lens.token);
        layer.logit = of[at];
        layer.probability = shares[at];
        for (std::size_t id = 0; id < of.size(); ++id)
            if (of[id] > of[at] || (of[id] == of[at] && id < at)) ++layer.rank;
        lens.layers.push_back(std::move(layer));
    }
    std::ranges::reverse(lens.layers);
    return lens;
}

Result<LogitAttribution> attribute_logit(const Model& model, const ModelRun& run, Index row,
                                         Index token, std::optional<Index> against) {
    if (auto valid = check_row(model, run, row); !valid) return tl::unexpected(valid.error());
    if (model.config().family->read_out == ReadOut::classes && row != 0)
        return bad_input(
            fmt::format("classes are read from the class token, row 0; row {} has none", row));
    for (const Index each : {token, against.value_or(token)})
        if (auto valid = check_token(each, count_of_logits(model)); !valid)
            return tl::unexpected(valid.error());
    if (auto valid = check_context(model, run); !valid) return tl::unexpected(valid.error());
    LogitAttribution made{row, token, against, {}, 0.0, 0.0};
    attribute(model, run, made);
    return summed(fmt::format("the logit of token {}", token), std::move(made));
}

Result<LogitAttribution> attribute_norm(const Model& model, const ModelRun& run, Index row) {
    if (auto valid = check_stack(model, run, row); !valid) return tl::unexpected(valid.error());
    if (auto valid = check_context(model, run); !valid) return tl::unexpected(valid.error());
    const Tensor x = residual_row(run, std::ssize(run.layers) - 1, row);
    double squares = 0.0;
    for (const float value : x.values()) squares += double{value} * value;
    LogitAttribution made{row, -1, {}, {}, std::sqrt(squares), 0.0};
    Numbers direction(x.values().begin(), x.values().end());
    for (double& value : direction) value /= made.logit;
    made.parts = Parts(model, run, row).of(std::move(direction));
    return summed("the norm of the residual stream", std::move(made));
}

Result<double> logit_difference(const ModelRun& run, Index a, Index b) {
    if (run.read_out.empty()) return bad_input("the run has no logits");
    for (const Index each : {a, b})
        if (auto valid = check_token(each, run.read_out.shape().d); !valid)
            return tl::unexpected(valid.error());
    const auto last = run.read_out.matrix(0, 0).row(run.read_out.shape().t - 1);
    return double{last[a]} - last[b];
}

}  // namespace attn

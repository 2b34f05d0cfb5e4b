// d width of the residual; u row of the read-out of a token, or the difference of two; x what leaves the last block.

#include "core/models/lens.h"

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "core/models/block.h"
#include "core/models/ends.h"

namespace attn {
namespace {

using Numbers = std::vector<double>;

Result<void> check_row(const Model& model, const ModelRun& run, Index row) {
    if (model.reads_across())
        return bad_input(
            "a logit of a decoder that reads an encoder is not the sum of these parts: attention "
            "over the encoder is missing");
    if (!model.gives_logits())
        return bad_input(
            fmt::format("this {} gives no next token; expected a model that does, as GPT-2",
                        model.config().family->text));
    if (row < 0 || row >= std::ssize(run.tokens))
        return bad_input(fmt::format("there is no position {}; expected 0 to {}", row,
                                     std::ssize(run.tokens) - 1));
    return {};
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

/// Sums parts of one row of a run.
class Attribution {
  public:
    Attribution(const Model& model, const ModelRun& run, LogitAttribution& into)
        : model_(model), config_(model.config()), run_(run), into_(into) {
        const Tensor x = residual_row(run, std::ssize(run.layers) - 1, into.row);
        const NormWeights& norm = model.weights().final_norm;
        const Numbers u = direction_of(model, into.token, into.against);
        direction_ = frozen(u, norm, x);
        add(PartKind::embedding, {-1, -1},
            product(residual_row(run, -1, into.row).values(), direction_));
        for (Index layer = 0; layer < std::ssize(run.layers); ++layer) add_layer(layer);
        if (!norm.shift.empty())
            add(PartKind::norm_shift, {-1, -1}, product(norm.shift.values(), u));
        into.logit = product(normalised_at_end(model, x).values(), u);
        const Tensor& bias = model.weights().read_out.bias;
        if (reads_tokens(model) || bias.empty()) return;
        const auto b = bias.values();
        add(PartKind::read_out_bias, {-1, -1},
            double{b[into.token]} - (into.against ? double{b[*into.against]} : 0.0));
        into.logit += into.parts.back().value;
    }

  private:
    void add(PartKind kind, HeadPlace at, double value) {
        into_.parts.push_back({kind, at, value});
        into_.sum += value;
    }

    Numbers frozen(const Numbers& direction, const NormWeights& norm, const Tensor& y) const {
        return through_frozen(direction, norm, config_.family->norm, config_.epsilon, y.values());
    }

    void add_layer(Index layer) {
        const ModelLayer& made = run_.layers[layer];
        const BlockWeights& block = model_.weights().blocks[layer];
        const Tensor attended = output_of(made);
        Numbers direction = direction_;
        for (double& value : direction) value *= config_.residual_factor;
        const Numbers of_attention = frozen(direction, block.attention_out_norm, attended);
        const Tensor& context = made.trace[Stage::context];
        const WeightMatrix w_o(made.inputs->params[Param::w_o]);
        WidenedRow row(w_o);
        const Index width = context.shape().d;
        for (Index head = 0; head < context.shape().h; ++head) {
            double value = 0.0;
            for (Index c = 0; c < width; ++c)
                value += context(0, head, into_.row, c) *
                         product(row.at(head * width + c), of_attention);
            add(PartKind::head, {layer, head}, value);
        }
        if (const Tensor& b_o = made.inputs->params[Param::b_o]; !b_o.empty())
            add(PartKind::attention_bias, {layer, -1}, product(b_o.values(), of_attention));
        const Tensor mlp =
            after_block(residual_row(run_, layer - 1, into_.row), attended, block, config_).mlp;
        add(PartKind::mlp, {layer, -1}, product(mlp.values(), direction));
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
            const double value = context(0, n / width, into_.row, n % width);
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
    LogitAttribution& into_;
    Numbers direction_;  // what a part of the residual adds to the logit is its product with it
};

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
    if (model.config().family->norms_after)
        return bad_input(fmt::format(
            "{} normalises the residual itself after each part; expected a sum of parts",
            model.config().family->text));
    for (const ModelLayer& layer : run.layers)
        if (layer.trace[Stage::context].empty())
            return bad_input("the run kept no context, whose parts are asked for");
    LogitAttribution made{row, token, against, {}, 0.0, 0.0};
    Attribution(model, run, made);
    if (!std::isfinite(made.logit) || !std::isfinite(made.sum))
        return bad_input(fmt::format("the logit of token {} is {}; expected a finite number", token,
                                     made.logit));
    return made;
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

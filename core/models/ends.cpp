#include "core/models/ends.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/backend.h"
#include "core/engine.h"
#include "core/models/block.h"
#include "core/models/cache.h"
#include "core/models/family.h"
#include "core/models/layers.h"
#include "core/models/model.h"
#include "core/models/patches.h"
#include "core/models/sound.h"
#include "core/models/weights.h"

namespace attn {
namespace {

/// Which row of the table of positions each token has: its place; or, where padding has one, the number of tokens up to
/// it that are no padding, after padding's.
std::vector<Index> position_rows(const ModelConfig& config, std::span<const ModelToken> tokens) {
    std::vector<Index> rows;
    Index next = config.padding_id;
    for (const ModelToken& token : tokens)
        rows.push_back(!config.family->after_padding
                           ? std::ssize(rows) + config.family->first_position
                       : token.id == config.padding_id ? config.padding_id
                                                       : ++next);
    return rows;
}

Tensor of_length_1(Tensor vector) {
    double squares = 0.0;
    for (const float value : vector.values()) squares += static_cast<double>(value) * value;
    const double length = std::sqrt(std::max(squares, 1e-12));
    for (float& value : vector.values()) value = static_cast<float>(value / length);
    return vector;
}

/// tanh( (Σ x / T) W + b ), divided by its length: the mean of the tokens.
Tensor sentence_vector(const Tensor& x, const LinearWeights& read_out) {
    Tensor mean({1, 1, 1, x.shape().d});
    const auto tokens = static_cast<double>(x.shape().t);
    for (Index c = 0; c < x.shape().d; ++c) {
        double total = 0.0;
        for (Index t = 0; t < x.shape().t; ++t) total += x(0, 0, t, c);
        mean(0, 0, 0, c) = static_cast<float>(total / tokens);
    }
    Tensor vector = through(mean, read_out);
    for (float& value : vector.values()) value = std::tanh(value);
    return of_length_1(std::move(vector));
}

/// x tableᵀ, some thousand rows of the table at a time: multiply() makes a packed copy of what it is given.
Tensor logits_of(const Tensor& x, const WeightMatrix& table) {
    constexpr Index kRows = 4096;
    const Index text = table.shape().t;
    auto logits = Tensor::uninitialised({1, 1, x.shape().t, text});
    for (Index first = 0; first < text; first += kRows) {
        const Index count = std::min(kRows, text - first);
        table.multiply_with_rows(x.matrix(0, 0), first, count,
                                 logits.matrix(0, 0).column_block(first, count));
    }
    return logits;
}

/// Of the class token, which is the first; empty where the model has no classifier.
Tensor class_logits(const Tensor& x, const LinearWeights& classifier) {
    return through(row_of(x, 0), classifier);
}

Index image_tokens_in(const ModelConfig& config, std::span<const ModelToken> tokens) {
    if (!config.image_prompt) return 0;
    return std::ranges::count(tokens, config.image_prompt->token, &ModelToken::id);
}

/// The probe's attention over the rows, y, plus MLP(norm(y)): Zhai et al. 2022, arXiv:2106.04560, §3.2.
Tensor pooled(const Tensor& rows, const Model& model) {
    const PoolWeights& pool = model.weights().pool;
    const ModelConfig& config = model.config();
    Inputs inputs{
        .x = pool.probe, .x_kv = rows, .q = {}, .k = {}, .v = {}, .params = pool.attention};
    AttentionSpec spec;
    spec.heads = spec.kv_heads = config.heads;
    auto trace = attend(inputs, spec, *find_backend("staged"), only_stage(Stage::output), {});
    ATTN_CHECK(trace.has_value(), "the shapes are those of the weights");
    Tensor y = std::move((*trace)[Stage::output]);
    add(y, mlp_of(normalised(y, pool.norm, config.family->norm, config.epsilon), pool.mlp, config));
    return y;
}

}  // namespace

Tensor embedded(const Model& model, std::span<const ModelToken> tokens, Index first) {
    const ModelConfig& config = model.config();
    const ModelWeights& weights = model.weights();
    const Index count = std::ssize(tokens) - first;
    const std::vector<Index> places = position_rows(config, tokens);
    const Index width = weights.embedding.shape().d;
    auto x = Tensor::uninitialised({1, 1, count, width});
    Index image = image_tokens_in(config, tokens.first(static_cast<std::size_t>(first)));
    for (Index t = 0; t < count; ++t) {
        const auto row = x.matrix(0, 0).row(t);
        const auto at = static_cast<std::size_t>(first + t);
        if (image_tokens_in(config, tokens.subspan(at, 1)) == 1 &&
            image < model.image_rows().shape().t) {
            std::ranges::copy(model.image_rows().matrix(0, 0).row(image++), row.begin());
            continue;
        }
        weights.embedding.copy_row(tokens[at].id, row);
        if (config.embedding_factor != 1.0)
            for (float& value : row) value *= static_cast<float>(config.embedding_factor);
        const auto add_row = [&](const WeightMatrix& table, Index from) {
            for (Index c = 0; c < width; ++c) x(0, 0, t, c) += table(from, c);
        };
        if (!weights.kinds.empty()) add_row(weights.kinds, 0);
        if (!weights.positions.empty()) add_row(weights.positions, places[at]);
    }
    if (config.family->positions == Positions::waves) add_waves(x, first);
    if (weights.embedding_norm.there())
        x = normalised(x, weights.embedding_norm, config.family->norm, config.epsilon);
    return weights.embedding_map.there() ? through(x, weights.embedding_map) : x;
}

EmbeddedParts embedded_parts(const Model& model, std::span<const ModelToken> tokens) {
    const ModelConfig& config = model.config();
    const ModelWeights& weights = model.weights();
    const Shape shape{1, 1, std::ssize(tokens), weights.embedding.shape().d};
    const std::vector<Index> places = position_rows(config, tokens);
    const auto rows_of = [&](const WeightMatrix& table, auto row) {
        auto made = Tensor::uninitialised(shape);
        for (std::size_t t = 0; t < tokens.size(); ++t)
            table.copy_row(row(t), made.matrix(0, 0).row(static_cast<Index>(t)));
        return made;
    };
    EmbeddedParts parts;
    parts.token = rows_of(weights.embedding, [&](std::size_t t) { return tokens[t].id; });
    if (config.embedding_factor != 1.0)
        for (float& value : parts.token.values())
            value *= static_cast<float>(config.embedding_factor);
    if (!weights.kinds.empty())
        parts.type = rows_of(weights.kinds, [](std::size_t) { return Index{0}; });
    if (!weights.positions.empty())
        parts.position = rows_of(weights.positions, [&](std::size_t t) { return places[t]; });
    if (config.family->positions == Positions::waves) {
        parts.position = Tensor(shape);
        add_waves(parts.position);
    }
    return parts;
}

Tensor embedded_image(const Model& model, const Tensor& pixels) {
    const ModelWeights& weights = model.weights();
    const Tensor patches = through(patches_of(pixels, *model.config().image), weights.patches);
    const Index leading = model.config().image->leading,
                registers = model.config().image->registers;
    const Index placed = leading - registers;  // tokens before the registers, which have positions
    auto x = Tensor({1, 1, patches.shape().t + leading, patches.shape().d});
    for (Index t = 0; t < x.shape().t; ++t) {
        if (t < placed || t >= leading)
            weights.positions.copy_row(t < placed ? t : t - registers, x.matrix(0, 0).row(t));
        const auto from = t >= leading  ? patches.matrix(0, 0).row(t - leading)
                          : t >= placed ? weights.register_tokens.matrix(0, 0).row(t - placed)
                          : t == 0      ? weights.class_token.matrix(0, 0).row(0)
                                        : weights.distillation_token.matrix(0, 0).row(0);
        for (Index c = 0; c < x.shape().d; ++c) x(0, 0, t, c) += from[c];
    }
    if (weights.embedding_norm.there())
        x = normalised(x, weights.embedding_norm, model.config().family->norm,
                       model.config().epsilon);
    return x;
}

Tensor embedded_sound(const Model& model, const Tensor& spectrogram) {
    const ModelWeights& weights = model.weights();
    Tensor x = through(neighbours_of(spectrogram, 1), weights.sound_in);
    activate(x, Activation::gelu);
    x = through(neighbours_of(x, 2), weights.sound_half);
    activate(x, Activation::gelu);
    std::vector<float> place(x.shape().d);
    for (Index t = 0; t < x.shape().t; ++t) {
        weights.positions.copy_row(t, place);
        for (Index c = 0; c < x.shape().d; ++c) x(0, 0, t, c) += place[c];
    }
    return x;
}

Index read_row(const ModelConfig& config, std::span<const ModelToken> tokens) {
    if (config.image) return 0;
    if (config.family->reads_last) return std::ssize(tokens) - 1;
    constexpr Index kOldEnd = 2;  // of files that say it wrongly: the end is the largest id there
    const auto at = config.end_id == kOldEnd
                        ? std::ranges::max_element(tokens, {}, &ModelToken::id)
                        : std::ranges::find(tokens, config.end_id, &ModelToken::id);
    return at == tokens.end() ? 0 : at - tokens.begin();
}

Tensor normalised_at_end(const Model& model, const Tensor& x) {
    const ModelConfig& config = model.config();
    const NormWeights& norm = model.weights().final_norm;
    return norm.there() ? normalised(x, norm, config.family->norm, config.epsilon) : x;
}

const WeightMatrix& read_out_table(const Model& model) {
    const ModelWeights& weights = model.weights();
    return weights.read_out.there() ? weights.read_out.weight : weights.embedding;
}

Tensor read_out_of(const Model& model, const Tensor& x) {
    const ModelConfig& config = model.config();
    const LinearWeights& read_out = model.weights().read_out;
    const Tensor normal = normalised_at_end(model, x);
    if (config.family->read_out == ReadOut::sentence) return sentence_vector(normal, read_out);
    if (!model.weights().pool.probe.empty()) return of_length_1(pooled(normal, model));
    if (config.family->read_out == ReadOut::projected)
        return of_length_1(through(row_of(normal, 0), read_out));
    if (!model.gives_logits()) return {};
    if (config.family->read_out == ReadOut::classes) return class_logits(normal, read_out);
    if (config.family->read_out == ReadOut::token_classes) return through(normal, read_out);
    Tensor logits = logits_of(normal, read_out_table(model));
    for (Index row = 0; row < logits.shape().t && !read_out.bias.empty(); ++row)
        for (Index c = 0; c < logits.shape().d; ++c)
            logits(0, 0, row, c) += read_out.bias.values()[c];
    if (config.logit_factor != 1.0)
        for (float& value : logits.values()) value *= static_cast<float>(config.logit_factor);
    if (config.logit_cap) cap(logits, *config.logit_cap);
    return logits;
}

}  // namespace attn

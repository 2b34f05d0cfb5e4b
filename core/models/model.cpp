#include "core/models/model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/backend.h"
#include "core/call.h"
#include "core/engine.h"
#include "core/io/npy.h"
#include "core/kernels/projections.h"
#include "core/models/block.h"
#include "core/models/delta_net.h"
#include "core/models/distances.h"
#include "core/models/ends.h"
#include "core/models/family.h"
#include "core/models/interventions.h"
#include "core/models/layers.h"
#include "core/models/patches.h"
#include "core/models/sound.h"
#include "core/models/token_ids.h"
#include "core/models/weights.h"
#include "core/scores/operands.h"
#include "core/scores/score.h"
#include "core/text.h"

namespace attn {
namespace {

/// What was not asked for is dropped; `output` was needed to go on.
void drop_needed(Trace& trace, StageSet needed, StageSet keep) {
    for (std::size_t s = 0; s < kStageCount; ++s)
        if (needed[s] && !keep[s]) trace.stages[s] = {};
}

/// Vectors of other texts in place of the layer's own: it is given its heads then.
Inputs patched(Inputs inputs, const std::vector<PatchIntervention>& patches, Index layer,
               const BlockWeights& block, const ModelConfig& config) {
    for (const PatchIntervention& patch : patches) {
        if (patch.at.layer != layer) continue;
        if (inputs.projects()) inputs = given_heads(std::move(inputs), block, config, layer);
        Tensor& heads = patch.part == Stage::q   ? inputs.q
                        : patch.part == Stage::k ? inputs.k
                                                 : inputs.v;
        const auto to = heads.matrix(0, patch.at.head);
        for (std::size_t n = 0; n < patch.positions.size(); ++n)
            std::ranges::copy(patch.vectors.matrix(0, 0).row(static_cast<Index>(n)),
                              to.row(patch.positions[n]).begin());
    }
    return inputs;
}

/// Given heads, turned, with the keys and values of a cache before their own; nothing is left to be turned by the engine.
void put_behind(const KvCache& cache, const BlockWeights& block, const ModelConfig& config,
                Index layer, Inputs& inputs, AttentionSpec& spec) {
    const Index first = cache.size();
    if (inputs.projects()) inputs = given_heads(std::move(inputs), block, config, layer, first);
    if (spec.rope)
        for (Tensor* heads : {&inputs.q, &inputs.k}) *heads = rotate(*spec.rope, *heads, first);
    spec.rope.reset();
    spec.query_offset = first;
    const KvCache::Layer& past = cache.layers[layer];
    inputs.k = in_a_row(past.k, std::move(inputs.k));
    inputs.v = in_a_row(past.v, std::move(inputs.v));
}

/// 0 in the rows of W_O that belong to heads that are off.
void switch_off(Params& params, const std::vector<HeadPlace>& off, Index layer, Index heads) {
    Tensor& w_o = params[Param::w_o];
    const Index width = w_o.shape().t / heads;
    for (const HeadPlace& at : off)
        for (Index row = at.head * width; at.layer == layer && row < (at.head + 1) * width; ++row)
            std::ranges::fill(w_o.matrix(0, 0).row(row), 0.0F);
}

/// context_i = Σ_j w_j v_j of each replaced row, and the output rows that follow from it.
Result<void> replace_rows(const std::vector<RowIntervention>& rows, Index layer,
                          const Inputs& inputs, const AttentionSpec& spec, Trace& trace) {
    const auto call = validate(inputs, spec);
    if (!call) return tl::unexpected(call.error());
    const Dimensions& size = call->size();
    Tensor& context = trace[Stage::context];
    const Tensor& v = trace[Stage::v].empty() ? inputs.v : trace[Stage::v];
    if (context.empty() || v.empty())
        return bad_input("this backend keeps no context: a row of weights cannot be replaced");
    for (const RowIntervention& row : rows) {
        if (row.at.layer != layer) continue;
        const auto values = v.matrix(0, row.at.head * size.kv_heads / size.heads);
        for (Index c = 0; c < values.columns; ++c) {
            double sum = 0.0;
            for (Index j = 0; j < values.rows; ++j)
                if (const double weight = row.weights[j]; weight != 0.0)
                    sum += weight * values(j, c);
            context(0, row.at.head, row.query, c) = static_cast<float>(sum);
        }
        for (const Stage stage : {Stage::weights, Stage::dropped})
            for (Index j = 0; !trace[stage].empty() && j < size.tk; ++j)
                trace[stage](0, row.at.head, row.query, j) = static_cast<float>(row.weights[j]);
    }
    const Tensor joined = join_heads(inputs, size, context);
    for (const RowIntervention& row : rows)
        if (row.at.layer == layer)
            std::ranges::copy(joined.matrix(0, 0).row(row.query),
                              trace[Stage::output].matrix(0, 0).row(row.query).begin());
    return {};
}

/// The same attention given Q, K and V, without the W that made them, and without W_O unless `output` is kept.
Inputs without_projections(const Inputs& inputs, const Trace& trace, StageSet keep) {
    Inputs given;
    given.q = trace[Stage::q];
    given.k = trace[Stage::k];
    given.v = trace[Stage::v];
    for (const Param param : {Param::sinks, Param::b_score})
        given.params[param] = inputs.params[param];
    if (keep[index_of(Stage::output)])
        for (const Param param : {Param::w_o, Param::b_o})
            given.params[param] = inputs.params[param];
    return given;
}

/// Those of its last tokens. Of two rows, not of one, logits have the bits that those of all have: one alone is multiplied
/// another way.
Tensor last_rows(const Tensor& x, Index count) {
    const Index rows = std::min(count, x.shape().t);
    if (rows == x.shape().t) return x;
    auto last = Tensor::uninitialised({1, 1, rows, x.shape().d});
    std::ranges::copy(x.values().last(last.count()), last.values().begin());
    return last;
}

Failure reads_no_text(const ModelConfig& config) {
    return bad_input(
        fmt::format("this model reads {}, not a text", config.image ? "an image" : "a sound"));
}

}  // namespace

AttentionSpec layer_spec(const ModelConfig& config, Index layer) {
    AttentionSpec spec;
    if (config.is_delta(layer)) {
        spec.heads = spec.kv_heads = config.delta->value_heads;
        spec.mask.causal = CausalAlign::top_left;
        return spec;
    }
    spec.heads = config.heads;
    spec.kv_heads = config.kv_heads;
    const double by_width = 1.0 / std::sqrt(static_cast<double>(config.columns_of_head()));
    double factor = config.score_factor.value_or(by_width);
    const RopeRules& rope = config.rope_of(layer);
    if (config.turns(layer) && !rope.turned_before()) {
        spec.rope = Rope{rope.pairs, rope.base, rope.dims, rope.scaling};
        factor *= rope.magnitude * rope.magnitude;  // of a query, and of a key
    }
    if (factor != by_width) {
        spec.scale = factor == 1.0 ? ScaleKind::none : ScaleKind::value;
        spec.scale_value = factor;
    }
    if (!config.family->names.distances.empty()) spec.score = Score::relative;
    spec.softcap = config.score_cap;
    if (config.family->causal) spec.mask.causal = CausalAlign::top_left;
    if (config.has_window(layer)) {
        spec.mask.window_left = *config.window - 1;
        if (!config.family->causal) spec.mask.window_right = spec.mask.window_left;
    }
    return spec;
}

Model::Model(ModelConfig config, ModelWeights weights, std::optional<Tokenizer> tokenizer)
    : config_(std::move(config)),
      weights_(std::make_shared<ModelWeights>(std::move(weights))),
      tokenizer_(std::move(tokenizer)) {}

const std::vector<BlockWeights>& Model::blocks() const {
    return passing_ ? *passing_ : weights_->blocks;
}

Model Model::over(const Tensor& memory) const {
    Model made = *this;
    made.memory_ = Tensor::shared(memory.shape(), {memory.values().begin(), memory.values().end()});
    return made;
}

Model Model::seeing(Tensor vectors) const {
    Model made = *this;
    made.image_rows_ = std::move(vectors);
    return made;
}

std::vector<std::string> Model::notes() const {
    std::vector<std::string> notes = file_notes_;
    if (config_.eight_bits)
        notes.push_back(
            "weights of 8 bits are dequantised, q · SCB / 127; bitsandbytes also rounds the inputs "
            "of their products, which is not done here");
    if (config_.image && !config_.image->has_preparation)
        notes.push_back(fmt::format("the folder has no preprocessor_config.json; an image is {}",
                                    preparation_text(*config_.image)));
    if (config_.family->read_out == ReadOut::next_token && !gives_logits())
        notes.push_back(
            config_.other_task.empty()
                ? "it predicts no tokens: there is no 'lm_head.weight', and 'tie_word_embeddings' "
                  "is false"
                : fmt::format("it predicts no tokens: config.json says {}", config_.other_task));
    // A copy of the embedding is not kept.
    if (config_.family->read_out == ReadOut::next_token && config_.tied &&
        weights_->read_out.there())
        notes.push_back(
            "the file's read-out differs from the embedding and is used, although the "
            "configuration ties them ('tie_word_embeddings'): transformers 5 does the same, "
            "transformers 4 uses the embedding");
    const auto note = [&](const std::vector<std::string>& keys, std::string_view text) {
        if (keys.empty()) return;
        notes.push_back(fmt::format("'{}' of config.json {} not used: {}", fmt::join(keys, "', '"),
                                    keys.size() == 1 ? "is" : "are", text));
    };
    note(config_.ignored, fmt::format("{}'s own code ignores {}", config_.family->text,
                                      config_.ignored.size() == 1 ? "it" : "them"));
    note(config_.unknown, "its effect is unknown");
    if (config_.family->positions == Positions::rope && config_.rope.turned_before())
        notes.push_back(
            "queries and keys are those after RoPE, which scales each pair by its own number here");
    if (tokenizer_ && tokenizer_->longest())
        notes.push_back(fmt::format("a text is cut to {}: 'truncation' of tokenizer.json",
                                    counted(*tokenizer_->longest(), "token")));
    if (second_)
        for (std::string& each : second_->notes())
            if (std::ranges::find(notes, each) == notes.end()) notes.push_back(std::move(each));
    if (!weights_->unused.empty())
        notes.push_back(fmt::format("{} arrays of the model are not used: {}{}",
                                    weights_->unused.size(), weights_->unused.front(),
                                    weights_->unused.size() > 1 ? ", …" : ""));
    return notes;
}

bool Model::reads_across() const { return !config_.family->names.cross_q.empty(); }

bool Model::gives_logits() const {
    const ReadOut read_out = config_.family->read_out;
    if (read_out == ReadOut::next_token)
        return config_.other_task.empty() && (config_.tied || weights_->read_out.there());
    if (read_out == ReadOut::token_classes)
        return config_.other_task.empty() && weights_->read_out.there();
    return read_out == ReadOut::classes && weights_->read_out.there();
}

std::string Model::shown(Index id) const {
    if (config_.image) return class_text(*config_.image, id);
    std::string text = tokenizer_ ? tokenizer_->shown(id) : "";
    return text.empty() ? fmt::format("#{}", id) : text;
}

std::string Model::answer_text(Index id) const {
    if (config_.family->read_out != ReadOut::token_classes) return shown(id);
    const auto found = config_.classes.find(id);
    return found == config_.classes.end() ? fmt::format("#{}", id) : found->second;
}

std::optional<Index> Model::answer_row(const ModelRun& run) const {
    if (run.read_out.empty()) return std::nullopt;
    const Index last = run.read_out.shape().t - 1;
    if (config_.family->read_out != ReadOut::token_classes) return last;
    for (Index row = last; row >= 0; --row) {
        const auto logits = run.read_out.matrix(0, 0).row(row);
        const Index id = std::ranges::max_element(logits) - logits.begin();
        if (answer_text(id) != run.tokens[row].text) return row;
    }
    return last;
}

std::vector<std::string> Model::outside_vocabulary(std::span<const ModelToken> tokens) const {
    std::vector<std::string> found;
    for (const ModelToken& token : tokens)
        if (tokenizer_ && tokenizer_->is_word_level() && token.text != shown(token.id) &&
            std::ranges::find(found, token.text) == found.end())
            found.push_back(token.text);
    return found;
}

std::string Model::text_of(Index id) const {
    return tokenizer_ ? tokenizer_->text(id) : fmt::format(" {}", id);
}

Result<Index> Model::token_named(std::string_view text) const {
    const Index count = weights_->embedding.shape().t;
    const bool numbered = text.starts_with('#') || !tokenizer_;
    if (const auto tokens = numbered_tokens(text.substr(text.starts_with('#') ? 1 : 0));
        numbered && tokens && tokens->size() == 1 && tokens->front().id < count)
        return tokens->front().id;
    for (Index id = 0; tokenizer_ && id < tokenizer_->size(); ++id)
        if (!text.empty() && (tokenizer_->shown(id) == text || tokenizer_->text(id) == text))
            return id;
    return bad_input(fmt::format(
        "there is no token '{}'; expected {}#0 to #{}", shortened(text),
        tokenizer_ ? "one as it is shown, or its number, " : "its number, ", count - 1));
}

Result<std::vector<ModelToken>> Model::tokens_of(std::string_view text) const {
    if (!config_.reads_text()) return reads_no_text(config_);
    if (text.starts_with(kTokenIds))
        if (auto numbered = numbered_tokens(text.substr(kTokenIds.size()))) {
            if (auto valid = check_tokens(*numbered); !valid) return tl::unexpected(valid.error());
            for (ModelToken& token : *numbered) token.text = shown(token.id);
            return *std::move(numbered);
        }
    if (!tokenizer_) {
        if (auto numbered = numbered_tokens(text)) return *std::move(numbered);
        return bad_input(fmt::format(
            "{}; without a tokenizer a text is the numbers of its tokens, such as 15496 995",
            tokenizer_fault_.empty()
                ? "this model's folder has no tokenizer.json, vocab.json, vocab.txt, "
                  "tokenizer.model or spiece.model"
                : tokenizer_fault_));
    }
    try {
        std::vector<ModelToken> tokens = tokenizer_->encode(text);
        if (tokens.empty()) return bad_input("the text has no token");
        return tokens;
    } catch (const Failure& found) {
        return tl::unexpected(found.value());
    }
}

struct Model::BlockOptions {
    const Backend& backend;
    StageSet keep;
    const RunControl& control;
    const Interventions& interventions;
    KvCache* cache = nullptr;  // of the tokens before; has every layer
    LogitRows logits = LogitRows::all;
};

std::optional<Index> Model::most_tokens() const {
    if (weights_->positions.empty()) return config_.most_tokens;
    return weights_->positions.shape().t - (config_.family->after_padding
                                                ? config_.padding_id + 1
                                                : config_.family->first_position);
}

Result<void> Model::check_tokens(std::span<const ModelToken> tokens, Index before) const {
    if (!config_.reads_text()) return reads_no_text(config_);
    if (tokens.empty()) return bad_input("the text has no token");
    const Index count = before + std::ssize(tokens);
    if (const Index most = most_tokens().value_or(count); count > most)
        return bad_input(
            fmt::format("the text has {}; this model takes {}", counted(count, "token"), most));
    for (const ModelToken& token : tokens)
        if (token.id < 0 || token.id >= weights_->embedding.shape().t)
            return bad_input(
                fmt::format("token {} is not one of {}", token.id, weights_->embedding.shape().t));
    return {};
}

Result<void> Model::check_image_tokens(std::span<const ModelToken> tokens, bool begins) const {
    if (!config_.image_prompt || config_.image) return {};
    const Index vectors = image_rows_.shape().t;
    const Index stated = std::ranges::count(tokens, config_.image_prompt->token, &ModelToken::id);
    if (stated == vectors || (begins && stated < vectors)) return {};
    return bad_input(
        fmt::format("the text has {}, and the image that is read here {}; expected the same number",
                    counted(stated, "image token"), counted(vectors, "vector")));
}

Result<ModelRun> Model::run(std::vector<ModelToken> tokens, const Backend& backend, StageSet keep,
                            const RunControl& control, const Interventions& interventions,
                            LogitRows logits) const {
    if (auto valid = check_tokens(tokens, 0); !valid) return tl::unexpected(valid.error());
    if (auto valid = check_image_tokens(tokens, false); !valid)
        return tl::unexpected(valid.error());
    Tensor x = embedded(*this, tokens);
    return run_blocks(std::move(tokens), std::move(x),
                      {backend, keep, control, interventions, nullptr, logits});
}

Result<ModelRun> Model::read_on(KvCache& cache, std::vector<ModelToken> tokens,
                                const Backend& backend, StageSet keep,
                                const RunControl& control) const {
    if (auto valid = check_tokens(tokens, cache.size()); !valid)
        return tl::unexpected(valid.error());
    if (!config_.family->causal)
        return bad_input(
            fmt::format("{} reads a text as a whole; expected a model that gives the "
                        "next token",
                        config_.family->text));
    const Index before = cache.size();
    if (before == 0)
        if (auto valid = check_image_tokens(tokens, true); !valid)
            return tl::unexpected(valid.error());
    if (config_.delta && before > 0)
        return bad_input(fmt::format(
            "{} reads a text as a whole: the state of its linear attention is not stored",
            config_.family->text));
    cache.layers.resize(config_.layers);
    if (reads_across()) cache.cross.resize(cache.layers.size());
    std::vector<ModelToken> all = cache.tokens;
    all.insert(all.end(), tokens.begin(), tokens.end());
    auto run = run_blocks(std::move(tokens), embedded(*this, all, before),
                          {backend, keep, control, {}, &cache});
    if (run)
        cache.tokens = std::move(all);
    else
        cache.truncate(before);
    return run;
}

Result<ModelRun> Model::run_image(const Tensor& pixels, const Backend& backend, StageSet keep,
                                  const RunControl& control,
                                  const Interventions& interventions) const {
    if (!config_.image) return bad_input("this model reads a text, not an image");
    const ImageInput& image = *config_.image;
    const Shape expected{1, image.channels, image.size, image.size};
    if (pixels.shape() != expected)
        return bad_input(fmt::format("the pixels are {}; this model takes {}",
                                     to_string(pixels.shape()), to_string(expected)));
    return run_blocks(patch_tokens(image), embedded_image(*this, pixels),
                      {backend, keep, control, interventions});
}

Result<ModelRun> Model::read(const std::string& text_or_file, const Backend& backend, StageSet keep,
                             const RunControl& control, const Interventions& interventions,
                             LogitRows logits) const {
    const BlockOptions options{backend, keep, control, interventions, nullptr, logits};
    if (config_.image) return read_image(text_or_file, options);
    if (config_.sound) return read_sound(text_or_file, options);
    return tokens_of(text_or_file).and_then([&](std::vector<ModelToken> tokens) {
        return run(std::move(tokens), backend, keep, control, interventions, logits);
    });
}

Result<ModelRun> Model::read_image(const std::string& file, const BlockOptions& options) const {
    const auto run_over = [&](const Tensor& pixels, std::string note) {
        return run_image(pixels, options.backend, options.keep, options.control,
                         options.interventions)
            .map([&](ModelRun&& made) {
                made.note = std::move(note);
                return std::move(made);
            });
    };
    const ImageInput& input = *config_.image;
    if (file.empty())
        return run_over(Tensor({1, input.channels, input.size, input.size}),
                        "no image is given: every pixel is the mean");
    const auto read = read_png(file);
    if (!read) return tl::unexpected(read.error());
    const auto fitted = fitted_image(*read, input);
    if (!fitted) return tl::unexpected(within(file, fitted.error()));
    auto run = run_over(pixels_of(*fitted, input),
                        read->over_white ? "transparent pixels are drawn over white" : "");
    if (run) run->image = std::make_shared<const RgbImage>(patched_part(*fitted, input));
    return run;
}

Result<ModelRun> Model::read_sound(const std::string& file, const BlockOptions& options) const {
    const SoundInput& input = *config_.sound;
    Sound sound{SoundInput::kRate, {}};
    if (!file.empty()) {
        std::error_code none;
        if (!std::filesystem::exists(file, none))
            return bad_input(
                fmt::format("'{}' does not exist; {} reads a sound: expected a WAV file",
                            shortened(file), config_.family->text));
        auto read = read_wav(file);
        if (!read) return tl::unexpected(read.error());
        sound = *std::move(read);
    }
    const auto spectrogram = mel_spectrogram(sound, input);
    if (!spectrogram) return tl::unexpected(within(file, spectrogram.error()));
    auto run = run_blocks(sound_tokens(input), embedded_sound(*this, *spectrogram), options);
    if (!run) return run;
    const double heard = static_cast<double>(sound.samples.size()) / double{SoundInput::kRate};
    if (file.empty())
        run->note = "no sound is given: silence is read";
    else if (heard > input.seconds())
        run->note =
            fmt::format("the first {:.6g} of {:.6g} seconds are read", input.seconds(), heard);
    return run;
}

StageSet Model::needed_stages(StageSet keep) const {
    keep.set(index_of(Stage::output));
    if (!keeps_blocks())
        for (const Stage stage : {Stage::q, Stage::k, Stage::v}) keep.set(index_of(stage));
    return keep;
}

Result<void> Model::run_block(Tensor& x, ModelRun& run, const BlockOptions& options) const {
    const Index layer = std::ssize(run.layers);
    const auto read = this->block(layer, x.shape().d);
    if (!read) return tl::unexpected(read.error());
    const BlockWeights& block = **read;
    const Interventions& with = options.interventions;
    const bool rows = std::ranges::any_of(
        with.rows, [&](const RowIntervention& row) { return row.at.layer == layer; });
    StageSet needed = needed_stages(options.keep);
    if (rows)
        for (const Stage stage : {Stage::v, Stage::context}) needed.set(index_of(stage));
    AttentionSpec spec = layer_spec(config_, layer);
    Inputs made = attention_inputs(x, block, config_, layer,
                                   options.cache == nullptr ? 0 : options.cache->size());
    if (!weights_->distances.empty()) add_distances(made, options.cache);
    if (options.cache != nullptr && !block.delta.there())
        put_behind(*options.cache, block, config_, layer, made, spec);
    if (with.touches(layer)) {
        made = patched(std::move(made), with.patches, layer, block, config_);
        switch_off(made.params, with.off, layer, spec.heads);
    }
    const auto inputs = std::make_shared<Inputs>(std::move(made));
    Result<Trace> trace =
        block.gates_heads()
            ? attend_gated(*inputs, spec, projected_rows(x, block, config_), block, config_,
                           options.backend, needed, {options.control.stop, {}})
            : attend(*inputs, spec, options.backend, needed, {options.control.stop, {}});
    if (options.cache != nullptr)
        options.cache->layers[layer] = {std::move(inputs->k), std::move(inputs->v)};
    if (!trace) return tl::unexpected(trace.error());
    if (rows)
        if (auto done = replace_rows(with.rows, layer, *inputs, spec, *trace); !done)
            return tl::unexpected(done.error());
    Tensor attended = (*trace)[Stage::output];
    if (!block.cross[Param::w_q].empty()) {
        add(x, attended);
        if (config_.family->norms_after)
            x = normalised(x, block.cross_norm, config_.family->norm, config_.epsilon);
        auto across = run_cross(x, block, run, options);
        if (!across) return tl::unexpected(across.error());
        attended = *std::move(across);
    }
    BlockOutput out = after_block(x, attended, block, config_);
    x = std::move(out.x);
    if (!keeps_blocks()) *inputs = without_projections(*inputs, *trace, options.keep);
    drop_needed(*trace, needed, options.keep);
    if (block.gates_heads()) (*trace)[Stage::output] = {};  // it does not follow from the context
    run.layers.push_back({inputs, spec, *std::move(trace), x, std::move(out.routing)});
    return {};
}

Result<Tensor> Model::run_cross(const Tensor& x, const BlockWeights& block, ModelRun& run,
                                const BlockOptions& options) const {
    const Index layer = std::ssize(run.layers);
    if (memory_.empty())
        return bad_input(fmt::format("the {} of {} reads what its other stack gave; expected that",
                                     config_.family->stack, config_.family->text));
    KvCache::Layer* const retained =
        options.cache == nullptr ? nullptr : &options.cache->cross[layer];
    const auto inputs =
        std::make_shared<Inputs>(cross_inputs(x, memory_, block, config_, retained));
    AttentionSpec spec = layer_spec(config_, layer);
    spec.score = Score::dot;
    spec.mask = {};
    const StageSet needed = needed_stages(options.keep);
    Result<Trace> trace =
        attend(*inputs, spec, options.backend, needed, {options.control.stop, {}});
    if (retained != nullptr) *retained = {std::move(inputs->k), std::move(inputs->v)};
    if (!trace) return tl::unexpected(trace.error());
    Tensor given = (*trace)[Stage::output];
    if (retained != nullptr) return given;
    Tensor residual = x;
    add(residual, given);
    if (!keeps_blocks()) *inputs = without_projections(*inputs, *trace, options.keep);
    drop_needed(*trace, needed, options.keep);
    run.cross.push_back({inputs, spec, *std::move(trace), std::move(residual)});
    return given;
}

void Model::add_distances(Inputs& inputs, const KvCache* cache) const {
    const Index first = cache == nullptr ? 0 : cache->size();
    const Index tokens = inputs.x.shape().t;
    inputs.params[Param::b_score] =
        distance_scores(weights_->distances, !config_.family->causal, config_.farthest, first,
                        tokens, first + tokens);
}

Result<ModelRun> Model::run_blocks(std::vector<ModelToken> tokens, Tensor x,
                                   const BlockOptions& options) const {
    if (auto valid = check_interventions(options.interventions, *this, std::ssize(tokens)); !valid)
        return tl::unexpected(valid.error());
    ModelRun run;
    run.tokens = std::move(tokens);
    run.embedded = x;
    while (std::ssize(run.layers) < config_.layers) {
        if (auto done = run_block(x, run, options); !done) return tl::unexpected(done.error());
        if (options.control.progress)
            options.control.progress(static_cast<double>(run.layers.size()) /
                                     static_cast<double>(config_.layers));
    }
    if (config_.family->read_out == ReadOut::projected && weights_->pool.probe.empty())
        x = row_of(x, read_row(config_, run.tokens));
    const bool last =
        options.logits == LogitRows::last && config_.family->read_out == ReadOut::next_token;
    const Index rows = options.cache != nullptr ? 1 : last ? 2 : x.shape().t;
    run.read_out = read_out_of(*this, last_rows(x, rows));
    if (last && !run.read_out.empty()) run.read_out = last_rows(run.read_out, 1);
    return run;
}

}  // namespace attn

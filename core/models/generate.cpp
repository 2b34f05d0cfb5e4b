#include "core/models/generate.h"

#include <utility>

#include <fmt/format.h>

#include "core/backend.h"
#include "core/dimensions.h"
#include "core/models/family.h"

namespace attn {
namespace {

/// Queries and keys of texts of so many tokens turn by the same divisors.
bool turn_alike(const ModelConfig& config, Index one, Index other) {
    const auto alike = [&](const RopeRules& rope) {
        return rope.divisors.empty() || (one > rope.short_length) == (other > rope.short_length);
    };
    return alike(config.rope) && (!config.window_rope || alike(*config.window_rope));
}

Result<void> check_generates(const Model& model) {
    const ModelConfig& config = model.config();
    if (config.family->read_out != ReadOut::next_token)
        return bad_input(
            fmt::format("this {} gives no next token; expected a model that does, as GPT-2",
                        config.default_text.empty() ? config.family->text : "model"));
    if (model.gives_logits()) return {};
    return bad_input(
        fmt::format("this {} has no read-out: it gives no next token", config.family->text));
}

}  // namespace

std::span<const float> GenerationStep::weights(Index layer, Index head, Index n) const {
    return rows.layers[layer].trace[Stage::weights].matrix(0, head).row(n);
}

Result<Generation> Generation::of(std::shared_ptr<const Model> model, const Backend& backend,
                                  StageSet keep) {
    if (auto valid = check_generates(*model); !valid) return tl::unexpected(valid.error());
    return Generation(std::move(model), backend, keep);
}

Result<GenerationStep> Generation::read(std::vector<ModelToken> tokens, const RunControl& control) {
    const Index length = cache_.size() + std::ssize(tokens);
    KvCache before;
    const ModelConfig& config = model_->config();
    if (cache_.size() > 0 && (config.delta || !turn_alike(config, length, read_as_))) {
        before = std::exchange(cache_, {});
        tokens.insert(tokens.begin(), before.tokens.begin(), before.tokens.end());
    }
    GenerationStep step{cache_.size(), {}};
    auto run = model_->read_on(cache_, std::move(tokens), *backend_, keep_, control);
    if (!run) {
        if (before.size() > 0) cache_ = std::move(before);
        return tl::unexpected(run.error());
    }
    read_as_ = length;
    step.rows = *std::move(run);
    return step;
}

Result<GenerationStep> Generation::read(Index id, const RunControl& control) {
    return read(std::vector{ModelToken{id, model_->shown(id)}}, control);
}

Index cache_bytes(const ModelConfig& config, Index tokens) {
    return config.layers * config.kv_heads *
           (config.columns_of_head() + config.columns_of_value()) * tokens * Index{sizeof(float)};
}

}  // namespace attn

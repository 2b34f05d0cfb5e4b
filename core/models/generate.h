#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/models/cache.h"
#include "core/models/model.h"
#include "core/run_control.h"

namespace attn {

/// What one reading added to a text.
struct GenerationStep {
    Index first = 0;  // position of the first token that it read
    /// Rows of the tokens that were read alone. tokens: those; embedded and each layer's residual [1, 1, n, width]; trace: the stages that
    /// are kept, weights [1, H, n, first + n]; inputs: q after RoPE, W_O, b_O and sinks, without K and V, which the cache
    /// has; read_out [1, 1, 1, vocabulary]: logits of the token that follows the last.
    ModelRun rows;

    /// Of the token that follows.
    std::span<const float> logits() const { return rows.read_out.values(); }
    /// Of one layer, head and token n of those that were read: a weight for each of the `first` + rows.tokens.size() keys, 0 where it is masked.
    /// The run kept weights.
    std::span<const float> weights(Index layer, Index head, Index n = 0) const;
};

/// A text that grows, and a model that has read it: each further token costs one query row against the cached K and V. What it
/// gives is what Model::run gives of the same tokens, but for rounding. No key is dropped: a window masks them. Not for two
/// threads at a time.
class Generation {
  public:
    /// An error of a model that gives no next token: an encoder, one of images, one without a read-out. Nothing is read yet.
    static Result<Generation> of(std::shared_ptr<const Model> model, const Backend& backend,
                                 StageSet keep = only_stage(Stage::weights));

    /// Reads tokens after those that it has read: a prompt, or one that was chosen. Where a model turns longer texts by
    /// other divisors (longrope) and these make it one, or has layers of linear attention, whose state is not kept, the whole text is
    /// read again: then first is 0. Errors: no token, one that the
    /// embedding does not have, more than most_tokens(), `control` was stopped; the text stays as it was.
    Result<GenerationStep> read(std::vector<ModelToken> tokens, const RunControl& control = {});
    Result<GenerationStep> read(Index id, const RunControl& control = {});
    /// Of the rows that are read from now on.
    void keep_stages(StageSet keep) { keep_ = keep; }
    /// The first `count` tokens stay; 0 to tokens().size(). To type over token n: truncate(n), read() the new one.
    void truncate(Index count) { cache_.truncate(count); }

    const std::vector<ModelToken>& tokens() const { return cache_.tokens; }
    const Model& model() const { return *model_; }
    /// How many tokens a text may have; not set: any number.
    std::optional<Index> most_tokens() const { return model_->most_tokens(); }
    /// Of K and V, as they are in memory.
    Index cache_bytes() const { return cache_.bytes(); }

  private:
    Generation(std::shared_ptr<const Model> model, const Backend& backend, StageSet keep)
        : model_(std::move(model)), backend_(&backend), keep_(keep) {}

    std::shared_ptr<const Model> model_;
    const Backend* backend_;
    StageSet keep_;
    KvCache cache_;
    Index read_as_ = 0;  // of how long a text K was turned
};

/// 2 · layers · Hkv · d · tokens · 4: what the cache of a text takes. d: columns of a head.
Index cache_bytes(const ModelConfig& config, Index tokens);

}  // namespace attn

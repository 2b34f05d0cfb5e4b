#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/forward.h"
#include "core/heads/place.h"
#include "core/models/ablation.h"
#include "core/models/alignment.h"
#include "core/models/sweep_part.h"
#include "core/result.h"
#include "core/run_control.h"
#include "core/sizes.h"

namespace attn {

class Model;
struct ModelRun;

// What depends on each part of a model: one head, or one position of what a layer reads or its MLP adds, after the other is
// changed, all else computed again from there on, and the next token's logits are compared with those of the untouched run.

struct SweepOptions {
    Ablation ablation = Ablation::zero;
    /// The tokens A and B of the measure; not set: the two likeliest of the untouched run.
    std::optional<std::pair<Index, Index>> tokens;
    bool each_position = false;  // of heads: one position at a time; else all. Of the others always
    const ModelRun* other = nullptr;  // of a patch: the run it is taken from, with `context`
    /// Of a patch: which of its positions stands for each of this text; a position without one is not changed. Not set: common_ends().
    std::optional<Alignment> alignment = {};
    SweepPart part = SweepPart::heads;
};

/// Of one change; after: as the model computes it then.
struct SweptHead {
    HeadPlace at;        // head 0 where no head is changed
    Index position = 0;  // where one is changed
    double difference =
        0.0;  // logit A − logit B, after; the untouched one where no more than rounding
              // in float32 is between them; NaN where nothing stands for the position
    double kl =
        0.0;  // Σ p ln(p / q) in nats, p of the untouched run, q after; 0 of rounding alone; NaN where one is not finite
};

struct HeadSweep {
    Ablation ablation = Ablation::zero;
    Index a = 0, b = 0;                          // tokens, or classes
    Index position = 0;                          // whose logits they have
    double difference = 0.0;                     // logit A − logit B of the untouched run
    Index layers = 0, heads = 0, positions = 1;  // heads: 1 where none is changed
    std::vector<SweptHead> swept;  // layer by layer, head by head, position by position
    /// Multiplications with weight matrices, of the sweep and of one whole run.
    double products = 0.0, products_of_run = 0.0;
    SweepPart part = SweepPart::heads;
    Alignment alignment = {};  // of a patch

    double change(const SweptHead& head) const { return head.difference - difference; }
};

/// `run`: the untouched one, with `context`, or with `weights` and `v`. The logits are those of Model::answer_row(), or of the
/// class token. What lies before a layer is taken from the run; its attention is not computed again, only its output less what
/// the head gave; of the last block one position is computed; and the changes of a layer go through the blocks above it together.
/// An error: a model without logits, a token that it does not have, a patch of which no position stands for one of the text. Fails soon after
/// `control` was stopped.
Result<HeadSweep> sweep_heads(const Model& model, const ModelRun& run, const Backend& backend,
                              const SweepOptions& options = {}, const RunControl& control = {});

}  // namespace attn

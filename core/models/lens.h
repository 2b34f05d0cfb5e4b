#pragma once

#include <optional>
#include <vector>

#include "core/heads/place.h"
#include "core/models/read_out.h"
#include "core/result.h"
#include "core/sizes.h"
#include "core/stage.h"

namespace attn {

class Model;
struct ModelRun;

// What the residual says of the next token before the last layer, and what each part of the model adds to a token's logit. Of models that
// give the next token; others are refused by name. `row` is a row of the run: of Model::run the position, of a GenerationStep position − first.

/// Logit lens (nostalgebraist 2020): the final norm and the read-out of the residual after a layer, with factor and soft cap.
struct LensLayer {
    Index layer = -1;              // −1: where the tokens enter
    std::vector<TokenShare> best;  // of softmax, the likeliest first
    double logit = 0.0;            // of the token
    double probability = 0.0;
    Index rank = 0;  // how many tokens have a larger logit, or an equal one and a lower id
};
struct Lens {
    Index row = 0;
    Index token = 0;
    std::vector<LensLayer> layers;  // where the tokens enter, then after each layer: layers + 1
};
/// `token` not set: the likeliest after the last layer. Errors: a row that the run does not have, a token that is not of the vocabulary, numbers
/// that are not finite.
Result<Lens> logit_lens(const Model& model, const ModelRun& run, Index row,
                        std::optional<Index> token = {}, std::size_t count = 5);

/// What adds to the residual.
enum class PartKind : std::uint8_t {
    embedding,       // of the token, with its position where it is added
    head,            // its context through its rows of W_O; b_V is in it
    attention_bias,  // b_O
    mlp,             // with its bias, or the experts' sum
    norm_shift,      // of the final LayerNorm; like the next one it is not of the residual
    read_out_bias,   // of a classifier
    attention_shift,  // of the LayerNorm of the sum after attention, of a family that normalises sums
    mlp_shift         // the same after the MLP
};
struct LogitPart {
    PartKind kind = PartKind::embedding;
    HeadPlace at;  // layer and head where it has them, else −1
    double value = 0.0;
};

/// Direct logit attribution (Elhage et al. 2021): the logit of a token, or its difference to another one's, before any soft cap, as a sum over
/// parts. Every norm between a part and the logit is frozen: its factor is that of this row, its mean is removed from each
/// part, so that the sum is exact. Frozen are the final norm, norms of the outputs of attention and the MLP (Gemma, OLMo 2), and
/// norms of sums (BERT), whose shifts are parts of their own. Factors of residual and logits (Granite) are in the values.
struct LogitAttribution {
    Index row = 0;
    Index token = 0;
    std::optional<Index> against;  // the difference: logit of token − logit of this one
    std::vector<LogitPart>
        parts;  // embedding, then of each layer its heads, attention_bias, attention_shift, mlp and mlp_shift (where there are some), then norm_shift and read_out_bias (the same)
    double logit = 0.0;  // by the read-out, in float32
    double sum = 0.0;    // of the parts
    double residue() const { return logit - sum; }
};
/// What a run has to keep for it.
inline StageSet attribution_stages() { return only_stage(Stage::context); }
/// Of a classifier the tokens are its classes; one that reads the class token has row 0 alone.
/// Errors: as of logit_lens(), but for models with a classifier; the run kept no context.
Result<LogitAttribution> attribute_logit(const Model& model, const ModelRun& run, Index row,
                                         Index token, std::optional<Index> against = {});

/// The same of ‖x‖, the norm of the last block's output in a row: of any model of one stack, also without an answer. A part
/// adds its dot product with x / ‖x‖. `token` is −1, and the final norm does not count.
Result<LogitAttribution> attribute_norm(const Model& model, const ModelRun& run, Index row);

/// logit(a) − logit(b) of the last row's read-out, after any soft cap: a measure of what an intervention does. Errors: the run has no logits, a token is not of the vocabulary.
Result<double> logit_difference(const ModelRun& run, Index a, Index b);

}  // namespace attn

#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/models/model.h"
#include "core/models/weights.h"

namespace attn {

/// The rest of a run after a change: the blocks above the change, and the answer's logits.
/// Holds references: model, run and backend must outlive it. Rows of several changed texts are [1, 1, texts · T, width], one text
/// behind the other; of the last block only the answer's row is computed.
struct Rerun {
    const Model& model;
    const ModelRun& run;
    const Backend& backend;
    Index layers = 0, tokens = 0;
    Index row = 0;            // the answer's, see Model::answer_row(); 0 of a model of classes
    Index a = 0, b = 0;       // tokens, or classes
    double difference = 0.0;  // logit A − logit B of the untouched run
    double rounding = 0.0;    // the largest change of a logit by sums in another order, in float32
    std::vector<double> before = {};  // probabilities of the untouched run
    double products = 0.0;            // multiplications with weight matrices so far
    bool keep_logits = false;         // in each Outcome

    const BlockWeights& block(Index layer) const { return model.weights().blocks[layer]; }
    /// The input of a layer of the untouched run: [1, 1, T, width].
    const Tensor& entering(Index layer) const { return entering(run, layer); }
    static const Tensor& entering(const ModelRun& of, Index layer) {
        return layer == 0 ? of.embedded : of.layers[layer - 1].residual;
    }
    /// Of each text, that are computed of a layer.
    Index rows_of(Index layer) const { return layer + 1 == layers ? 1 : tokens; }
    double difference_of(std::span<const float> logits) const {
        return double{logits[a]} - logits[b];
    }

    /// x: the layer's input, all rows. The last block returns the answer's row alone.
    Result<Tensor> through_block(Tensor x, Index texts, Index layer, const RunControl& control);
    struct Outcome {
        double difference =
            0.0;  // logit A − logit B; the untouched one where only rounding is between them
        double kl =
            0.0;  // Σ p ln(p / q) in nats, p untouched, q changed; 0 of rounding alone; NaN where one is not finite
        std::vector<float> logits = {};  // with keep_logits
    };
    /// x: the last block's output at the answer's row, of each text.
    std::vector<Outcome> outcomes(const Tensor& x, Index texts);
};

/// A and B: `chosen`, or the two likeliest of the untouched run. An error: a model without logits or that reads an encoder, a run
/// of another model, a token that the model does not have.
Result<Rerun> rerun_of(const Model& model, const ModelRun& run, const Backend& backend,
                       const std::optional<std::pair<Index, Index>>& chosen);

}  // namespace attn

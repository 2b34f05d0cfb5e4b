#pragma once

#include <optional>
#include <vector>

#include "core/heads/place.h"
#include "core/models/row_intervention.h"
#include "core/result.h"
#include "core/stage.h"
#include "core/tensor.h"

namespace attn {

class Model;
struct ModelRun;

// What is changed inside a model while it reads a text, to see what depends on it. Layers, heads, queries and positions count
// from 0.

/// Vectors of q, k or v (before RoPE) in place of the text's own. Of k and v `at.head` is one of the layer's key heads.
struct PatchIntervention {
    HeadPlace at;
    Stage part = Stage::v;  // q, k or v
    std::vector<Index> positions;
    Tensor vectors;  // [1, 1, positions, d]
};

/// Carried out in each layer in this order: vectors are patched, rows are replaced, heads are switched off.
struct Interventions {
    /// What these heads give is left out of the layer's output: their rows of W_O are 0. Their weights and context stay as
    /// computed; b_O stays.
    std::vector<HeadPlace> off;
    std::vector<RowIntervention> rows;
    std::vector<PatchIntervention> patches;

    bool empty() const { return off.empty() && rows.empty() && patches.empty(); }
    bool touches(Index layer) const;
};

/// An error names the layer, head, query or position that the model does not have for a text of so many tokens, a weight
/// that cannot be, a row that is given twice.
Result<void> check_interventions(const Interventions& interventions, const Model& model,
                                 Index tokens);

/// The vectors of `source`, at these positions, to be put at the same positions of another text. An error where the run
/// has no such layer, head or position, or did not keep the part.
Result<PatchIntervention> patch_from(const ModelRun& source, HeadPlace at, Stage part,
                                     std::vector<Index> positions);

/// What interventions did to one head: its weight rows α before, β after.
///   KL of a row = Σ_j α_j ln(α_j / β_j), in nats
struct HeadEffect {
    HeadPlace at;
    double kl_sum = 0.0;   // of the rows where it is finite
    Index finite = 0;      // rows of which it is
    Index infinite = 0;    // β is 0 where α is not
    Index undefined = 0;   // a weight is NaN
    double largest = 0.0;  // |β − α|, of those that are finite
    /// 0 where no row has a finite one.
    double mean_kl() const { return finite > 0 ? kl_sum / static_cast<double>(finite) : 0.0; }
    bool changed() const { return kl_sum > 0.0 || infinite > 0 || undefined > 0 || largest > 0.0; }
};

/// The next token, or the class, of one row of the logits. p: probabilities before, q: after.
struct NextTokenEffect {
    Index before = 0, after = 0;            // the likeliest token of each
    double p_before = 0.0, q_before = 0.0;  // of `before`
    double p_after = 0.0, q_after = 0.0;    // of `after`
    double kl = 0.0;                        // Σ p ln(p / q), nats
};

struct RunEffects {
    std::vector<HeadEffect> heads;  // layer by layer; both runs kept their weights
    std::optional<NextTokenEffect>
        next;                      // not of a model without logits, nor where they are not finite
    std::optional<double> cosine;  // of the two sentence vectors
};
/// Of two runs of one text. `row`: whose logits are compared, see Model::answer_row(); nullopt: read_out holds none.
RunEffects effects_of(const ModelRun& before, const ModelRun& after, std::optional<Index> row);

}  // namespace attn

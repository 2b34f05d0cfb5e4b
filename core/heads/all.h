#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/backend.h"
#include "core/dimensions.h"
#include "core/head_measures.h"
#include "core/heads/place.h"
#include "core/models/row_intervention.h"
#include "core/spec.h"
#include "core/tensor.h"

namespace attn {

struct GivenPairs;
struct RunEffects;

// The weights of every head of every layer, and what they measure.

/// What is measured: views of it, which must outlive the computation.
struct HeadsInput {
    std::span<const std::shared_ptr<const Inputs>> layers;
    /// Of each layer, in place of Q and K; empty: all is computed from `layers`.
    std::span<const std::shared_ptr<const GivenPairs>> given;
    const AttentionSpec& spec;
    Dimensions size;                      // what pairs that are given leave open
    std::span<const std::string> tokens;  // of queries and keys, which are the same; empty: unknown
    // of a model's run in which something was changed
    std::span<const RowIntervention> rows = {};
    const RunEffects* effects = nullptr;    // null: nothing was changed
    bool own_heads = true;                  // false: W is split into other heads than the run's
    std::vector<AttentionSpec> specs = {};  // of each layer where they differ; empty: spec

    const AttentionSpec& spec_of(Index layer) const { return specs.empty() ? spec : specs[layer]; }
};
struct HeadsOptions {
    BackendList backends;  // who may compute
    std::string_view backend =
        "auto";  // whoever has a device or keeps no weights leaves them to "auto"
    Index batch = 0;
    bool gradients = false;  // of the weights, which take a backward pass
    bool only_measures =
        false;  // each layer's weights go once they are measured; no rollout, no content
};

/// Rows of weights that do not sum to 1: as a file gives them, or where a learned sink takes the rest.
struct OddRows {
    Index odd = 0, rows = 0;       // of how many
    Index nans = 0;                // of those that are odd, whose sum is not finite
    double low = 0.0, high = 0.0;  // sums of the others
};

struct HeadsLayer {
    std::string fault;               // why it has no weights; "": it has
    std::vector<std::string> notes;  // what these weights do not say
    OddRows odd;
    bool sinks = false;  // it has learned sinks
    std::string backend;
    Index heads = 0, tq = 0, tk = 0;
    Index offset = 0;  // position of query 0
    Tensor weights;    // [B,H,Tq,Tk]
    std::vector<std::vector<std::uint8_t>>
        allowed;  // of each head, or one for all; empty: every pair
    const std::vector<std::uint8_t>& allowed_of(Index head) const {
        return allowed[allowed.size() == 1 ? 0 : static_cast<std::size_t>(head)];
    }
    // for what is shown in place of the weights; where one is empty its fault says why
    Tensor q, k;  // as they are multiplied, [B,H,Tq,d_k] and [B,Hkv,Tk,d_k]
    std::vector<std::vector<double>> value_norms, output_norms;  // of each head and key
    std::string value_fault, output_fault;
    Tensor gradient;  // ∂L/∂weights, L = Σ of the layer's own outputs
    std::string gradient_fault;
    std::vector<float> rollout;  // [T,T], with all layers before
    std::string rollout_fault;
    /// The head of K and V that a head has.
    Index key_head(Index head) const { return head * k.shape().h / heads; }
};

struct HeadFacts {
    HeadPlace place;
    HeadMeasures measures;
    std::optional<HeadLabel> label;
};
struct HeadsResult {
    Index batch = 0;
    bool gradients = false;                     // whether those were asked for
    std::span<const HeadMeasureInfo> measures;  // that its heads can have
    std::vector<HeadsLayer> layers;
    std::vector<HeadFacts> heads;  // layer by layer
    std::uint64_t content = 0;     // a hash of all weights

    MatrixView<const float> weights(HeadPlace place) const {
        return layers[place.layer].weights.matrix(batch, place.head);
    }
    const std::vector<std::uint8_t>& allowed(HeadPlace place) const {
        return layers[place.layer].allowed_of(place.head);
    }
    /// nullptr where there is no such head.
    const HeadFacts* find(HeadPlace place) const;
};
/// A layer that cannot be computed says why, the others go on. Ends early, without the layers that are left, once it was
/// stopped; tells its progress after each layer.
HeadsResult compute_heads(const HeadsInput& input, const HeadsOptions& options,
                          const RunControl& control = {});

/// Measures that heads can have: `change` only of a run in which something was changed.
std::span<const HeadMeasureInfo> measures_of_heads(bool changed);
/// 0: there is no such layer, or it cannot be computed.
Index heads_in_layer(const HeadsInput& input, Index layer);
/// Weights of all layers, counted; 0 of a layer that cannot be computed.
Index head_cells(const HeadsInput& input);

/// By layer and head; or by the measure of that key, largest first, what is not defined last.
std::vector<HeadPlace> heads_in_order(const HeadsResult& result, std::string_view sort);
/// Rows of a layer's heads that are measured, and rows that are not because their weights are not probabilities.
struct MeasuredRows {
    Index rows = 0, excluded = 0;
};
MeasuredRows measured_rows(const HeadsResult& result, Index layer);
/// "1 of 5 rows of weights is not a probability distribution; no measure counts it"; "": every row is measured.
std::string excluded_rows_text(MeasuredRows rows);
/// A line per head, in this order: layer, head, label, every measure ("" where it is not defined), the number of measured
/// rows, the number of rows whose weights are not probabilities.
std::string heads_csv(const HeadsResult& result, std::string_view sort);

}  // namespace attn

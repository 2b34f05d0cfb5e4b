#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/workspaces/heads/state.h"
#include "core/backend.h"
#include "core/head_measures.h"

namespace attn::view {

struct AppState;
struct Document;

// The weights of every head of every layer, and what they measure.

struct HeadsLayer {
    std::string fault;  // why it has no weights; "": it has
    std::string note;   // what a person should know of weights that a file gives; "": nothing
    std::string backend;
    Index heads = 0, tq = 0, tk = 0;
    Tensor weights;  // [B,H,Tq,Tk]
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
/// The measures that heads of this document can have: `change` only while there are interventions.
std::span<const HeadMeasureInfo> heads_measures(const Document& document);

struct HeadFacts {
    HeadPlace place;
    HeadMeasures measures;
    std::optional<HeadLabel> label;
};
struct HeadsResult {
    // what it is of
    std::shared_ptr<const Document> document;
    std::string backend;  // as asked for
    Index batch = 0;
    bool gradients = false;  // whether those were asked for
    // what came of it
    std::vector<HeadsLayer> layers;
    std::vector<HeadFacts> heads;  // layer by layer
    std::uint64_t content = 0;     // a hash of all weights

    MatrixView<const float> weights(HeadPlace place) const {
        return layers[static_cast<std::size_t>(place.layer)].weights.matrix(batch, place.head);
    }
    const std::vector<std::uint8_t>& allowed(HeadPlace place) const {
        return layers[static_cast<std::size_t>(place.layer)].allowed_of(place.head);
    }
    /// nullptr where there is no such head.
    const HeadFacts* find(HeadPlace place) const;
};

/// Up to so many weights are computed at once, of all layers, sequences and heads.
inline constexpr Index kMostHeadCells = Index{1} << 24;
/// Heads of a layer under the document's options; 0: there is no such layer, or it cannot be computed.
Index heads_in_layer(const Document& document, Index layer);
/// Weights of all layers, counted; 0 where a layer cannot be counted.
Index head_cells(const Document& document);

/// Up to so many weights are computed at once with the action that asks for them: no more than the trace of a toy, which
/// comes so too. More are a request (requests.h).
inline constexpr Index kAtOnceCells = Index{1} << 16;

/// All that the result depends on. See requests.h.
struct HeadsRequest {
    std::shared_ptr<const Document> document;
    std::string backend;
    const Backend* const* backends = nullptr;  // who may compute
    std::size_t backend_count = 0;
    Index batch = 0;
    bool gradients = false;  // of the weights, which take a backward pass
    bool operator==(const HeadsRequest&) const = default;
};
HeadsRequest heads_request(const AppState& state);
/// Ends early, with layers that say so, once it was stopped.
HeadsResult compute_heads(const HeadsRequest& request, const RunControl& control = {});
/// Whether there is a result, of what the state shows, gradients included where they are shown.
bool has_current_heads(const AppState& state);
/// Computes what is small where the workspace is shown and what it shows is not up to date. Called after every action.
void follow_heads(AppState& state);

/// The heads as they stand on screen: by layer and head, or by the measure, largest first, what is not defined last.
std::vector<HeadPlace> heads_in_order(const HeadsResult& result, const std::string& sort);
/// A line a head, in this order: layer, head, label, every measure; "" where one is not defined.
std::string heads_csv(const HeadsResult& result, const std::string& sort);

}  // namespace attn::view

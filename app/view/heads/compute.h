#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/view/heads/look.h"
#include "core/head_measures.h"

namespace attn::view {

struct AppState;
struct Document;

// The weights of every head of every layer, and what they measure.

struct HeadsLayer {
    std::string fault;  // why it has no weights; "": it has
    std::string backend;
    Index heads = 0, tq = 0, tk = 0;
    Tensor weights;  // [B,H,Tq,Tk]
    std::vector<std::vector<std::uint8_t>>
        allowed;  // of each head, or one for all; empty: every pair
    const std::vector<std::uint8_t>& allowed_of(Index head) const {
        return allowed[allowed.size() == 1 ? 0 : static_cast<std::size_t>(head)];
    }
};
struct HeadFacts {
    HeadPlace place;
    HeadMeasures measures;
    std::optional<HeadLabel> label;
    float largest = 0.0F;  // finite weight
};
struct HeadsResult {
    // what it is of
    std::shared_ptr<const Document> document;
    std::string backend;  // as asked for
    Index batch = 0;
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

HeadsResult compute_heads(const AppState& state);
/// Whether there is a result, of what the state shows.
bool has_current_heads(const AppState& state);
/// Computes where the workspace is shown and what it shows is not up to date. Called after every action.
void follow_heads(AppState& state);

/// The heads as they stand on screen: by layer and head, or by the measure, largest first, what is not defined last.
std::vector<HeadPlace> heads_in_order(const HeadsResult& result, const std::string& sort);
/// A line a head, in this order: layer, head, label, every measure; "" where one is not defined.
std::string heads_csv(const HeadsResult& result, const std::string& sort);

}  // namespace attn::view

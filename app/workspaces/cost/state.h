#pragma once

#include <memory>
#include <string>

#include "app/common/names.h"
#include "app/common/slots.h"
#include "core/cost.h"

namespace attn::view {

template <>
inline constexpr std::string_view kNamesOf<CostSize>[] = {
    "batch", "heads", "kv_heads",      "tq",     "tk",     "d_model",      "d_k",   "d_v",
    "d_out", "chunk", "element_bytes", "layers", "latent", "rope_columns", "states"};

/// Settings of the Cost workspace; undone with the document.
struct CostControls {
    CostSizes sizes;
    CostPass pass = CostPass::forward;
    bool operator==(const CostControls&) const = default;
};
void describe(Visitor& visit, CostControls& controls);

/// The subject of the inspector: a stage of the table, its sum, a point of a curve, or an operation.
enum class CostItem : std::uint8_t {
    q,
    k,
    v,
    scores,
    scaled,
    masked,
    weights,
    context,
    output,
    total,
    materialised,
    chunked,
    fused,
    kv_cache,
    softmax,  // and on, as CostOperation
    gated,
    differential,
    mla_expanded,
    mla_absorbed,
    linear,
    retention,
    gated_linear,
    gated_delta,
    kda,
    state_space
};
inline constexpr std::size_t kCostItemCount = 25;

/// Rows of the table: the stages of softmax attention, or the operations that can replace it.
enum class CostRows : std::uint8_t { stages, operations };

/// One measurement on this machine.
struct CostMeasurement {
    CostControls of;             // what was measured
    double peak_gflops = 0.0;    // fused multiply-adds, all threads
    double stream_gbytes = 0.0;  // per second
    double staged_ms = 0.0;      // median; 0: not measured
    double fused_ms = 0.0;
    int runs = 0;
    std::string fault;  // why the result is missing; "": it is there one
};

struct CostLook {
    CostItem item = CostItem::materialised;
    CostRows rows = CostRows::stages;
    // of the moment
    bool measures = false;                        // a measurement is asked for
    std::shared_ptr<const CostMeasurement> last;  // from a job; null: none yet
};
void describe(Visitor& visit, CostLook& look);

inline constexpr Controls<CostControls> cost_controls;
inline constexpr Look<CostLook> cost_look;

}  // namespace attn::view

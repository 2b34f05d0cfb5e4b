#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/workspaces/cost/state.h"

namespace attn::view {

// What the Cost workspace says. FLOP in powers of 1000, bytes in powers of 1024.

/// "549.8 GFLOP"; "0".
std::string flop_text(double flop);
/// "8 GiB"; "0".
std::string cost_bytes(double bytes);
/// What the largest number of a column is told in, and any of its numbers in it: "GFLOP" and "549.8".
struct CostUnit {
    std::string_view name;
    double size;
};
CostUnit flop_unit(double most);
CostUnit bytes_unit(double most);
std::string in_unit(double value, const CostUnit& unit);
/// "2·B·H·Tq·Tk·d_k + …", and the same with numbers: "2·1·32·8192·8192·128".
std::string formula_text(const CostFormula& formula);
std::string numbers_text(const CostFormula& formula, const CostSizes& sizes);
/// The same as TeX.
std::string formula_tex(const CostFormula& formula);

/// "multi-head", "grouped-query", "multi-query"; of one head multi-head.
enum class HeadSharing : std::uint8_t { multi_head, grouped, multi_query };
HeadSharing sharing_of(const CostSizes& sizes);

/// What storing the weights takes, and what fused keeps in their place.
std::string cost_sentence(const CostControls& controls);
/// The shape and how memory grows with it; then the part of this machine's memory, and whether 32 bits count the weights.
std::string cost_note(const CostControls& controls, double memory);
/// What fused computes, what sharing heads does to the KV cache, and the units.
std::vector<std::string> cost_notes(const CostControls& controls);

/// What it is: of a stage what is computed, of a storage what is kept.
std::string cost_text(CostItem item, CostPass pass);
/// The item of a stage, a storage or an operation, and the other way.
CostItem item_of(Stage stage);
CostItem item_of(Holding storage);
CostItem item_of(CostOperation operation);
bool is_storage(CostItem item);
/// nullptr for another one.
const CostOperationInfo* operation_of(CostItem item);

}  // namespace attn::view

#pragma once

#include <array>
#include <string_view>

#include "app/view/common/cell.h"
#include "app/view/common/fields.h"
#include "core/large/planted.h"
#include "core/stages.h"

namespace attn::view {

// The small parts that the journal, the session and the command line write alike.

// Names in the order of the enum.
inline constexpr std::array<std::string_view, 2> kThemeNames{"dark", "light"};
inline constexpr std::array<std::string_view, 2> kModelNames{"fixed_logits", "sampled"};
inline constexpr std::array<std::string_view, 3> kSeverityNames{"info", "warning", "error"};
inline constexpr std::array<std::string_view, 5> kLossNames{"sum", "cell", "squared",
                                                            "cross_entropy", "file"};
inline constexpr std::array<std::string_view, 3> kCopyAsNames{"text", "latex", "python"};
inline constexpr std::array<std::string_view, 2> kMasksTabNames{"compose", "conventions"};
inline constexpr std::array<std::string_view, 3> kCausalNames{"off", "top-left", "bottom-right"};
inline constexpr std::array<std::string_view, 2> kPaintShapeNames{"line", "rectangle"};
inline constexpr std::array<std::string_view, 2> kMaskCodeNames{"numpy", "pytorch"};
inline constexpr std::array<std::string_view, 3> kAlgorithmNames{"naive", "stable", "log_sum_exp"};
inline constexpr std::array<std::string_view, 4> kFormatNames{"fp16", "bf16", "fp32", "fp64"};
inline constexpr std::array<std::string_view, 2> kCostPassNames{"forward", "backward"};
inline constexpr std::array<std::string_view, 12> kCostSizeNames{
    "batch", "heads", "kv_heads",      "tq",    "tk", "d_model", "d_k", "d_v",
    "d_out", "chunk", "element_bytes", "layers"};
inline constexpr std::array<std::string_view, 14> kCostItemNames{
    "q",       "k",      "v",     "scores",       "scaled",  "masked", "weights",
    "context", "output", "total", "materialised", "chunked", "fused",  "kv_cache"};
inline constexpr std::array<std::string_view, 5> kLookupPageNames{
    "memory", "capacity", "similarity", "alignment", "permutation"};
inline constexpr std::array<std::string_view, 2> kSimilarityOfNames{"qk", "x"};
inline constexpr std::array<std::string_view, 2> kSimilarityMeasureNames{"dot", "cosine"};
inline constexpr std::array<std::string_view, 3> kSimilaritySoftmaxNames{"none", "rows", "columns"};
inline constexpr std::array<std::string_view, 5> kPermutationPositionNames{
    "none", "sinusoidal", "rope", "alibi", "causal"};
inline constexpr std::array<std::string_view, 3> kTokenOrderNames{"document", "reversed", "sorted"};
inline constexpr std::array<std::string_view, 11> kTensorColumnNames{
    "order", "name", "dtype", "shape", "bytes", "low", "mean", "high", "nans", "infs", "role"};
inline constexpr std::array<std::string_view, 4> kErrorScaleNames{"tolerance", "difference",
                                                                  "relative", "ulp"};
inline constexpr std::array<std::string_view, 2> kLogitRowNames{"typed", "document"};

/// {"tensor": "w_q", "row": 0, "column": 2}
nlohmann::ordered_json cell_to(const CellRef& cell);
CellRef cell_from(Fields& fields, std::string_view key, const nlohmann::json& found);
/// "tensor", "row" and "column" of an object that may have more.
CellRef cell_fields(Fields& fields);
/// A stage by its key.
void read_stage(Fields& fields, std::string_view key, Stage& stage);

nlohmann::ordered_json map_to(const large::PlantedSpec& spec);
/// Keeps what the value was where a part is missing.
void map_from(Fields& fields, std::string_view key, large::PlantedSpec& spec);

}  // namespace attn::view

// The stage table of low-rank attention; linformer.cpp has the arithmetic.

#include <array>
#include <cmath>

#include "core/operations/parts.h"

namespace attn {
namespace {

constexpr std::string_view kSource = "Wang et al. 2020, arXiv:2006.04768";

// clang-format off
std::vector<OperationStage> make_stages() {
    std::vector<OperationStage> rows;
    for (const Stage stage : {Stage::x, Stage::x_kv, Stage::q, Stage::k, Stage::v}) rows.push_back(shared_row(stage));
    const std::vector<OperationStage> own{
        {"k_low", "E K", "E K", "Keys, projected to M rows",
         R"(K^\mathrm{low} = E\,K)",
         Axis::latent, Axis::d_k, HeadAxis::query, Exists::always, ColorScale::diverging, Role::key,
         {OperationOperand{"e", Lights::same_row}, OperationOperand{"k", Lights::column}},
         "Each of M rows is a weighted sum of all keys, by learned weights that look at positions alone.", kSource},
        {"v_low", "F V", "F V", "Values, projected to M rows",
         R"(V^\mathrm{low} = F\,V)",
         Axis::latent, Axis::d_v, HeadAxis::query, Exists::always, ColorScale::diverging, Role::value,
         {OperationOperand{"f", Lights::same_row}, OperationOperand{"v", Lights::column}},
         "The values likewise, by weights of their own.", kSource},
        {"scores_low", "S_low", "Q (E K)ᵀ", "Scores of queries and rows",
         R"(S^\mathrm{low} = Q\,(E\,K)^\top \cdot \frac{\mathrm{scale}}{\mathrm{temperature}})",
         Axis::query, Axis::latent, HeadAxis::query, Exists::always, ColorScale::diverging, Role::score,
         {OperationOperand{"q", Lights::same_row}, OperationOperand{"k_low", Lights::row_of_column}},
         "Each query meets M rows in place of n keys.", kSource},
        {"weights_low", "A_low", "low", "What each query takes of the rows",
         R"(A^\mathrm{low} = \mathrm{softmax}(S^\mathrm{low}))",
         Axis::query, Axis::latent, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"scores_low", Lights::same_row}},
         "Each query shares its attention among the rows: they sum to 1.", kSource},
        {"implied", "Â", "implied", "Implied weights",
         R"(\hat{A} = A^\mathrm{low}\,F)",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"weights_low", Lights::same_row}, OperationOperand{"f", Lights::column}},
         "What each value is multiplied by in the end. Its rank is M at most; entries may be negative, and a row need not sum to 1.", kSource},
        context_row(R"(\mathrm{context} = A^\mathrm{low}\,(F\,V))", "Each query takes a weighted average of the projected values.",
                    kSource),
        shared_row(Stage::output),
    };
    rows.insert(rows.end(), own.begin(), own.end());
    return rows;
}

double per_rows(double noise, Index, Index rows, const Dimensions&) { return noise / std::sqrt(static_cast<double>(rows)); }

constexpr std::array<OperationParam, 2> kParams{{
    {"e", "E", "E", Role::key, Axis::latent, Axis::key, "How much of each key is in each row; a fresh one is normal with variance 1 / M.", per_rows},
    {"f", "F", "F", Role::value, Axis::latent, Axis::key, "How much of each value is in each row; a fresh one is normal with variance 1 / M.", per_rows},
}};
// clang-format on

}  // namespace

OperationTable linformer_table() {
    static const std::vector<OperationStage> stages = make_stages();
    return {kSource, stages, kParams};
}

}  // namespace attn

// The stage table of learned latents; latents.cpp has the arithmetic.

#include <array>
#include <cmath>

#include "core/operations/parts.h"

namespace attn {
namespace {

constexpr std::string_view kSource =
    "Jaegle et al. 2021, arXiv:2103.03206 and arXiv:2107.14795; Lee et al. 2019, arXiv:1810.00825";

// clang-format off
std::vector<OperationStage> make_stages() {
    std::vector<OperationStage> rows;
    for (const Stage stage : {Stage::x, Stage::x_kv, Stage::q, Stage::k, Stage::v}) rows.push_back(shared_row(stage));
    const std::vector<OperationStage> own{
        {"scores_in", "S_in", "L Kᵀ", "Scores of latents and tokens",
         R"(S^\mathrm{in} = L\,K^\top \cdot \frac{\mathrm{scale}}{\mathrm{temperature}})",
         Axis::latent, Axis::key, HeadAxis::query, Exists::always, ColorScale::diverging, Role::score,
         {OperationOperand{"latents", Lights::same_row}, OperationOperand{"k", Lights::row_of_column}},
         "Each latent, a learned query, meets each token's key.", kSource},
        {"weights_in", "A_in", "in", "What each latent reads",
         R"(A^\mathrm{in} = \mathrm{softmax}(S^\mathrm{in}))",
         Axis::latent, Axis::key, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"scores_in", Lights::same_row}},
         "Each latent shares its attention among the tokens: a row sums to 1.", kSource},
        {"latent_values", "Z", "Z", "Values of the latents",
         R"(Z = A^\mathrm{in}\,V)",
         Axis::latent, Axis::d_v, HeadAxis::query, Exists::always, ColorScale::diverging, Role::value,
         {OperationOperand{"weights_in", Lights::same_row}, OperationOperand{"v", Lights::column}},
         "What the latents took from all tokens: M rows stand for the whole sequence.", kSource},
        {"latent_keys", "K_Z", "K_Z", "Keys of the latents",
         R"(K_Z = Z\,W)",
         Axis::latent, Axis::d_k, HeadAxis::query, Exists::always, ColorScale::diverging, Role::key,
         {OperationOperand{"latent_values", Lights::same_row}, OperationOperand{"w_latent", Lights::column}},
         "By what the tokens find a latent: its values times a learned matrix.", kSource},
        {"scores_out", "S_out", "Q K_Zᵀ", "Scores of tokens and latents",
         R"(S^\mathrm{out} = Q\,K_Z^\top \cdot \frac{\mathrm{scale}}{\mathrm{temperature}})",
         Axis::query, Axis::latent, HeadAxis::query, Exists::always, ColorScale::diverging, Role::score,
         {OperationOperand{"q", Lights::same_row}, OperationOperand{"latent_keys", Lights::row_of_column}},
         "Each token's query meets each latent's key.", kSource},
        {"weights_out", "A_out", "out", "What each token reads",
         R"(A^\mathrm{out} = \mathrm{softmax}(S^\mathrm{out}))",
         Axis::query, Axis::latent, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"scores_out", Lights::same_row}},
         "Each token shares its attention among the latents: a row sums to 1.", kSource},
        {"implied", "Â", "implied", "Implied weights",
         R"(\hat{A} = A^\mathrm{out}\,A^\mathrm{in})",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"weights_out", Lights::same_row}, OperationOperand{"weights_in", Lights::column}},
         "From token to latent to token: what each value is multiplied by in the end. Its rank is M at most.", kSource},
        context_row(R"(\mathrm{context} = A^\mathrm{out}\,Z)", "Each token takes a weighted average of the latents' values.",
                    kSource),
        shared_row(Stage::output),
    };
    rows.insert(rows.end(), own.begin(), own.end());
    return rows;
}

constexpr std::array<OperationParam, 2> kParams{{
    {"latents", "latents", "L", Role::query, Axis::latent, Axis::d_k, "Learned queries; fresh ones are standard normal.",
     [](double noise, Index, Index, const Dimensions&) { return noise; }},
    {"w_latent", "W_latent", "W", Role::key, Axis::d_v, Axis::d_k,
     "From a latent's values to its key; a fresh one is normal with variance 1 / d_v.",
     [](double noise, Index, Index, const Dimensions& size) { return noise / std::sqrt(static_cast<double>(size.d_v)); }},
}};
// clang-format on

}  // namespace

OperationTable latents_table() {
    static const std::vector<OperationStage> stages = make_stages();
    return {kSource, stages, kParams};
}

}  // namespace attn

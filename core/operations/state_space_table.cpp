// The stage table of the selective state space; state_space.cpp has the arithmetic.

#include <array>
#include <cmath>

#include "core/operations/parts.h"

namespace attn {
namespace {

constexpr std::string_view kSource =
    "Gu & Dao 2023, arXiv:2312.00752, §3; Gu et al. 2022, arXiv:2206.11893 (A)";

// clang-format off
std::vector<OperationStage> make_stages() {
    return {
        shared_row(Stage::x),
        shared_row(Stage::v),
        {"delta", "Δ", "Δ", "Step sizes",
         R"(\Delta = \mathrm{softplus}(V\,W_\Delta + b_\Delta))",
         Axis::query, Axis::d_v, HeadAxis::query, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"v", Lights::same_row}, OperationOperand{"w_delta", Lights::column}, OperationOperand{"b_delta", Lights::column}},
         "How much each token counts, a number a column: large lets it in and forgets the rest, 0 passes it by.", kSource},
        {"b", "B", "B", "Input of each token to the states",
         R"(B = V\,W_B)",
         Axis::query, Axis::state, HeadAxis::query, Exists::always, ColorScale::diverging, Role::key,
         {OperationOperand{"v", Lights::same_row}, OperationOperand{"w_b", Lights::column}},
         "Into which states a token writes: the part of a key.", kSource},
        {"c", "C", "C", "Readout of each token from the states",
         R"(C = V\,W_C)",
         Axis::query, Axis::state, HeadAxis::query, Exists::always, ColorScale::diverging, Role::query,
         {OperationOperand{"v", Lights::same_row}, OperationOperand{"w_c", Lights::column}},
         "From which states a token reads: the part of a query.", kSource},
        {"a_bar", "A′", "A′", "What stays of the state",
         R"(A'_i = \exp(\Delta_i\,A)\text{, }A = -\exp(A_\mathrm{log}))",
         Axis::query, Axis::value_state, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"delta", Lights::same_row}, OperationOperand{"a_log", Lights::same_cell}},
         "The factor of each old state, between 0 and 1.", kSource},
        {"b_bar", "B′", "B′", "What a token adds to the state",
         R"(B'_i = \frac{\exp(\Delta_i\,A) - 1}{A} \cdot B_i)",
         Axis::query, Axis::value_state, HeadAxis::query, Exists::always, ColorScale::diverging, Role::key,
         {OperationOperand{"delta", Lights::same_row}, OperationOperand{"a_log", Lights::same_cell}, OperationOperand{"b", Lights::same_row}},
         "The factor of the token's value; by euler Δ B.", kSource},
        {"states", "h", "h", "States after each token",
         R"(h_i = A'_i\,h_{i-1} + B'_i\,v_i)",
         Axis::query, Axis::value_state, HeadAxis::query, Exists::always, ColorScale::diverging, Role::value,
         {OperationOperand{"a_bar", Lights::same_row}, OperationOperand{"b_bar", Lights::same_row}, OperationOperand{"v", Lights::same_row}},
         "All that is remembered: N numbers for each column of V, whatever the length.", kSource},
        {"implied", "Â", "implied", "Implied weights, mean of the columns",
         R"(\hat{A}_{i,j} = \frac{1}{d_v} \cdot \sum_c \sum_n C_{i,n}\,(\prod_{k=j+1}^{i} A'_k)\,B'_j)",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"c", Lights::same_row}, OperationOperand{"a_bar", Lights::same_row}, OperationOperand{"b_bar", Lights::row_of_column}},
         "What each value is multiplied by, averaged over the columns of V, each of which has a matrix of its own. Signed; rows need not sum to 1.", kSource},
        context_row(R"(\mathrm{context}_i = \sum_n C_{i,n}\,h_{i,n} + D\,v_i)",
                    "Each token reads the states, and adds its own value times D.", kSource),
        shared_row(Stage::output),
    };
}

double per_row(double noise, Index, Index, const Dimensions& size) { return noise / std::sqrt(static_cast<double>(size.d_v)); }

/// b with softplus(b) log-uniform in [0.1, 1]: a token is remembered over 1 to 10 others. Mamba begins at [0.001, 0.1],
/// for thousands of tokens.
double fresh_delta(double noise, Index, Index, const Dimensions&) {
    const double uniform = 0.5 * std::erfc(-noise / std::sqrt(2.0));
    return std::log(std::expm1(std::exp(std::log(0.1) * (1.0 - uniform))));
}

constexpr std::array<OperationParam, 6> kParams{{
    {"a_log", "A_log", "A_log", Role::weight, Axis::d_v, Axis::state, "A = −exp(A_log), how fast states decay; fresh: A = −(n + 1).",
     [](double, Index column, Index, const Dimensions&) { return std::log(static_cast<double>(column + 1)); }},
    {"w_b", "W_B", "W_B", Role::key, Axis::d_v, Axis::state, "From a value to B; fresh: normal with variance 1 / d_v.", per_row},
    {"w_c", "W_C", "W_C", Role::query, Axis::d_v, Axis::state, "From a value to C; fresh: normal with variance 1 / d_v.", per_row},
    {"w_delta", "W_delta", "W_Δ", Role::weight, Axis::d_v, Axis::d_v, "From a value to Δ; fresh: normal with variance 1 / d_v.", per_row},
    {"b_delta", "b_delta", "b_Δ", Role::weight, Axis::one, Axis::d_v, "What Δ is without a value; fresh: softplus of it is log-uniform in [0.1, 1].",
     fresh_delta},
    {"d_skip", "D_skip", "D", Role::value, Axis::one, Axis::d_v, "How much of a token's own value is added; fresh: 1.",
     [](double, Index, Index, const Dimensions&) { return 1.0; }},
}};
// clang-format on

}  // namespace

OperationTable state_space_table() {
    static const std::vector<OperationStage> stages = make_stages();
    return {kSource, stages, kParams};
}

}  // namespace attn

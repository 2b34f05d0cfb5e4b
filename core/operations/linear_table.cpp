// The stage table of linear attention; linear.cpp has the arithmetic.

#include "core/operations/parts.h"

namespace attn {
namespace {

constexpr std::string_view kSource = "Katharopoulos et al. 2020, arXiv:2006.16236";

// clang-format off
std::vector<OperationStage> make_stages() {
    std::vector<OperationStage> rows;
    for (const Stage stage : {Stage::x, Stage::x_kv, Stage::q, Stage::k, Stage::v}) rows.push_back(shared_row(stage));
    const std::vector<OperationStage> own{
        {"phi_q", "φ(Q)", "φ(Q)", "Features of queries",
         R"(\phi(Q) = \mathrm{elu}(Q) + 1)",
         Axis::query, Axis::d_k, HeadAxis::query, Exists::always, ColorScale::diverging, Role::query,
         {OperationOperand{"q", Lights::same_cell}},
         "Each entry above 0 grows by 1, each below becomes its exponential: no feature is negative.", kSource},
        {"phi_k", "φ(K)", "φ(K)", "Features of keys",
         R"(\phi(K) = \mathrm{elu}(K) + 1)",
         Axis::key, Axis::d_k, HeadAxis::key_value, Exists::always, ColorScale::diverging, Role::key,
         {OperationOperand{"k", Lights::same_cell}},
         "The same of the keys, so that every pair matches by a positive number.", kSource},
        {"states", "S_j", "S_j", "State after each key",
         R"(S_j = S_{j-1} + \phi(k_j)\,v_j^\top)",
         Axis::key, Axis::key_value, HeadAxis::key_value, Exists::with_causal, ColorScale::diverging, Role::value,
         {OperationOperand{"phi_k", Lights::same_row}, OperationOperand{"v", Lights::same_row}},
         "All that is remembered of the keys so far: one matrix that each key adds to.", kSource},
        {"normalisers", "z_j", "z_j", "Normaliser after each key",
         R"(z_j = z_{j-1} + \phi(k_j))",
         Axis::key, Axis::d_k, HeadAxis::key_value, Exists::with_causal, ColorScale::diverging, Role::weight,
         {OperationOperand{"phi_k", Lights::same_row}},
         "The sum of the keys' features so far, for the denominator.", kSource},
        {"state", "S", "S", "State",
         R"(S = \sum_j \phi(k_j)\,v_j^\top)",
         Axis::d_k, Axis::d_v, HeadAxis::key_value, Exists::always, ColorScale::diverging, Role::value,
         {OperationOperand{"phi_k", Lights::column}, OperationOperand{"v", Lights::column}},
         "Every key and its value in one matrix of d_k by d_v numbers, however many tokens there are.", kSource},
        {"normaliser", "z", "z", "Normaliser",
         R"(z = \sum_j \phi(k_j))",
         Axis::one, Axis::d_k, HeadAxis::key_value, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"phi_k", Lights::column}},
         "The sum of the keys' features.", kSource},
        {"denominator", "φ(q)·z", "φ(q)·z", "Denominator of each query",
         R"(\phi(q_i) \cdot z)",
         Axis::query, Axis::one, HeadAxis::query, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"phi_q", Lights::same_row}, OperationOperand{"normaliser", Lights::same_row}},
         "What a query's matches sum to.", kSource},
        {"implied", "Â", "implied", "Implied weights",
         R"(\hat{A}_{i,j} = \frac{\phi(q_i) \cdot \phi(k_j)}{\phi(q_i) \cdot z})",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"phi_q", Lights::same_row}, OperationOperand{"phi_k", Lights::row_of_column}, OperationOperand{"denominator", Lights::same_row}},
         "What each value is multiplied by in the end. No linear kernel makes it; rows sum to 1 as softmax's do.", kSource},
        context_row(R"(\mathrm{context}_i = \frac{S^\top\,\phi(q_i)}{\phi(q_i) \cdot z})",
                    "Each query reads the state with its features, divided by its denominator.", kSource),
        shared_row(Stage::output),
    };
    rows.insert(rows.end(), own.begin(), own.end());
    return rows;
}
// clang-format on

}  // namespace

OperationTable linear_table() {
    static const std::vector<OperationStage> stages = make_stages();
    return {kSource, stages, {}};
}

}  // namespace attn

// The stage table of chunked attention; chunked.cpp has the arithmetic.

#include "core/operations/parts.h"

namespace attn {
namespace {

constexpr std::string_view kSource =
    "Milakov & Gimelshein 2018, arXiv:1805.02867; Rabe & Staats 2021, arXiv:2112.05682";

// clang-format off
std::vector<OperationStage> make_stages() {
    std::vector<OperationStage> rows;
    for (const Stage stage : {Stage::x, Stage::x_kv, Stage::q, Stage::k, Stage::v, Stage::q_rot, Stage::k_rot,
                              Stage::scores, Stage::scaled, Stage::biased, Stage::masked})
        rows.push_back(shared_row(stage));
    const std::vector<OperationStage> own{
        {"chunk_max", "μ", "max", "Largest logit of the chunk",
         R"(\mu_{i,c} = \max_{j \in c} M_{i,j})",
         Axis::query, Axis::chunk, HeadAxis::query, Exists::always, ColorScale::diverging, Role::score,
         {OperationOperand{"masked", Lights::same_row}},
         "The chunk's own largest logit in each row.", kSource, false},
        {"running_max", "m", "m", "Largest logit so far",
         R"(m_{i,c} = \max(m_{i,c-1}, \mu_{i,c}))",
         Axis::query, Axis::chunk, HeadAxis::query, Exists::always, ColorScale::diverging, Role::score,
         {OperationOperand{"chunk_max", Lights::same_cell}},
         "The largest logit of all chunks up to this one; −∞ before the first.", kSource, false},
        {"rescale", "r", "rescale", "Factor for what was summed before",
         R"(r_{i,c} = \exp(m_{i,c-1} - m_{i,c}))",
         Axis::query, Axis::chunk, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"running_max", Lights::same_row}},
         "Sums so far were taken below the old maximum: this brings them below the new one.", kSource},
        {"shares", "P", "exp", "Exponentials below the running maximum",
         R"(P_{i,j} = \exp(M_{i,j} - m_{i,c}))",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"masked", Lights::same_cell}, OperationOperand{"running_max", Lights::same_row}},
         "Each chunk's exponentials, below the largest logit that was known when it came.", kSource},
        {"running_sum", "ℓ", "ℓ", "Sum so far",
         R"(\ell_{i,c} = r_{i,c}\,\ell_{i,c-1} + \sum_{j \in c} P_{i,j})",
         Axis::query, Axis::chunk, HeadAxis::query, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"rescale", Lights::same_cell}, OperationOperand{"shares", Lights::same_row}},
         "The denominator of softmax so far, rescaled and added to.", kSource},
        {"accumulator", "O", "O", "Weighted values so far",
         R"(O_{i,c} = r_{i,c}\,O_{i,c-1} + \sum_{j \in c} P_{i,j}\,v_j)",
         Axis::query, Axis::chunk_value, HeadAxis::query, Exists::always, ColorScale::diverging, Role::value,
         {OperationOperand{"rescale", Lights::same_row}, OperationOperand{"shares", Lights::same_row}, OperationOperand{"v", Lights::column}},
         "The context so far before it is divided, rescaled and added to.", kSource},
        {"logsumexp", "L", "L", "Logarithm of the row's sum",
         R"(L_i = m_i + \ln(\ell_i))",
         Axis::query, Axis::one, HeadAxis::query, Exists::always, ColorScale::diverging, Role::score,
         {OperationOperand{"running_max", Lights::same_row}, OperationOperand{"running_sum", Lights::same_row}},
         "One number a row, from which a backward pass makes every weight again.", kSource, false},
        {"implied", "Â", "implied", "Implied weights",
         R"(\hat{A}_{i,j} = \frac{P_{i,j}}{\ell_i} \cdot \prod_{c' > c} r_{i,c'})",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"shares", Lights::same_cell}, OperationOperand{"rescale", Lights::same_row}, OperationOperand{"running_sum", Lights::same_row}},
         "What each value was multiplied by in the end: the softmax weights, never stored by a chunked kernel.", kSource},
        context_row(R"(\mathrm{context}_i = \frac{O_i}{\ell_i})",
                    "One division a row after the last chunk.", kSource),
        shared_row(Stage::output),
    };
    rows.insert(rows.end(), own.begin(), own.end());
    return rows;
}
// clang-format on

}  // namespace

OperationTable chunked_table() {
    static const std::vector<OperationStage> stages = make_stages();
    return {kSource, stages, {}};
}

}  // namespace attn

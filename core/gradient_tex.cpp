#include "core/gradient_tex.h"

#include <array>

#include "core/scores/score.h"
#include "core/stages.h"

namespace attn {
namespace {

template <class Id>
struct Row {
    Id id;
    std::string_view tex;
};

// clang-format off
constexpr std::array<Row<Stage>, kStageCount> kStages{{
    {Stage::x, R"(\frac{\partial L}{\partial X} = \frac{\partial L}{\partial Q}\,W_Q^\top + \frac{\partial L}{\partial K}\,W_K^\top + \frac{\partial L}{\partial V}\,W_V^\top)"},
    {Stage::x_kv, R"(\frac{\partial L}{\partial X_{kv}} = \frac{\partial L}{\partial K}\,W_K^\top + \frac{\partial L}{\partial V}\,W_V^\top)"},
    {Stage::q, R"(\frac{\partial L}{\partial q_i} = \sum_j \frac{\partial L}{\partial \mathrm{scores}_{i,j}}\,k_j)"},
    {Stage::k, R"(\frac{\partial L}{\partial k_j} = \sum_i \frac{\partial L}{\partial \mathrm{scores}_{i,j}}\,q_i)"},
    {Stage::v, R"(\frac{\partial L}{\partial v_j} = \sum_i A_{i,j}\,\frac{\partial L}{\partial \mathrm{context}_i})"},
    {Stage::q_norm, R"(\frac{\partial L}{\partial q^n_i} = \sum_j \frac{\partial L}{\partial \mathrm{scores}_{i,j}}\,k^n_j)"},
    {Stage::k_norm, R"(\frac{\partial L}{\partial k^n_j} = \sum_i \frac{\partial L}{\partial \mathrm{scores}_{i,j}}\,q^n_i)"},
    {Stage::q_rot, R"(\frac{\partial L}{\partial q'_i} = \sum_j \frac{\partial L}{\partial \mathrm{scores}_{i,j}}\,k'_j)"},
    {Stage::k_rot, R"(\frac{\partial L}{\partial k'_j} = \sum_i \frac{\partial L}{\partial \mathrm{scores}_{i,j}}\,q'_i)"},
    {Stage::scores, R"(\frac{\partial L}{\partial \mathrm{scores}} = \frac{\partial L}{\partial S} \cdot \frac{\mathrm{scale}}{\mathrm{temperature}})"},
    {Stage::scaled, R"(\frac{\partial L}{\partial S_{i,j}} = \frac{\partial L}{\partial M_{i,j}} \text{ if } i \text{ may attend to } j\text{, else } 0)"},
    {Stage::biased, R"(\frac{\partial L}{\partial B_{i,j}} = \frac{\partial L}{\partial M_{i,j}} \text{ if } i \text{ may attend to } j\text{, else } 0)"},
    {Stage::masked, R"(\frac{\partial L}{\partial M_{i,j}} = A_{i,j} \cdot (\frac{\partial L}{\partial A_{i,j}} - \sum_{j'} A_{i,j'} \cdot \frac{\partial L}{\partial A_{i,j'}}))"},
    {Stage::weights, R"(\frac{\partial L}{\partial A_{i,j}} = \frac{\partial L}{\partial \mathrm{context}_i} \cdot v_j)"},
    {Stage::dropped, R"(\frac{\partial L}{\partial \tilde{A}_{i,j}} = \frac{\partial L}{\partial \mathrm{context}_i} \cdot v_j)"},
    {Stage::context, R"(\frac{\partial L}{\partial \mathrm{concat}(\mathrm{heads})} = \frac{\partial L}{\partial Y}\,W_O^\top)"},
    {Stage::output, R"(\frac{\partial L}{\partial Y})"},
}};

constexpr std::array<Row<Param>, kParamCount> kParams{{
    {Param::w_q, R"(\frac{\partial L}{\partial W_Q} = X^\top\,\frac{\partial L}{\partial Q})"},
    {Param::w_k, R"(\frac{\partial L}{\partial W_K} = X^\top\,\frac{\partial L}{\partial K})"},
    {Param::w_v, R"(\frac{\partial L}{\partial W_V} = X^\top\,\frac{\partial L}{\partial V})"},
    {Param::w_o, R"(\frac{\partial L}{\partial W_O} = \mathrm{concat}(\mathrm{heads})^\top\,\frac{\partial L}{\partial Y})"},
    {Param::b_q, R"(\frac{\partial L}{\partial b_Q} = \sum_i \frac{\partial L}{\partial q_i})"},
    {Param::b_k, R"(\frac{\partial L}{\partial b_K} = \sum_j \frac{\partial L}{\partial k_j})"},
    {Param::b_v, R"(\frac{\partial L}{\partial b_V} = \sum_j \frac{\partial L}{\partial v_j})"},
    {Param::b_o, R"(\frac{\partial L}{\partial b_O} = \sum_i \frac{\partial L}{\partial Y_i})"},
    {Param::w_score, R"(\frac{\partial L}{\partial W_{\mathrm{score}}} = \sum_i q_i^\top \sum_j \frac{\partial L}{\partial \mathrm{scores}_{i,j}}\,k_j)"},
    {Param::w_score_q, R"(\frac{\partial L}{\partial W_{\mathrm{score},q}} = Q^\top\,\frac{\partial L}{\partial (Q\,W_{\mathrm{score},q})})"},
    {Param::w_score_k, R"(\frac{\partial L}{\partial W_{\mathrm{score},k}} = K^\top\,\frac{\partial L}{\partial (K\,W_{\mathrm{score},k})})"},
    {Param::w_score_row, R"(\frac{\partial L}{\partial w_{\mathrm{score}}} = \sum_{i,j} \frac{\partial L}{\partial \mathrm{scores}_{i,j}}\,\tanh(q_i\,W_{\mathrm{score},q} + k_j\,W_{\mathrm{score},k}))"},
    {Param::sinks, R"(\frac{\partial L}{\partial \mathrm{sink}_h} = -\sum_i a_{i,\mathrm{sink}} \sum_j A_{i,j} \cdot \frac{\partial L}{\partial A_{i,j}})"},
    {Param::b_score, R"(\frac{\partial L}{\partial b_{\mathrm{score},h,n}} = \sum_{j-i=n} \frac{\partial L}{\partial \mathrm{scores}_{i,j}})"},
    {Param::q_norm_weight, R"(\frac{\partial L}{\partial \gamma_q} = \sum_i \frac{\partial L}{\partial q^n_i} \circ \frac{q_i}{\sqrt{\mathrm{mean}(q_i^2) + \epsilon}})"},
    {Param::k_norm_weight, R"(\frac{\partial L}{\partial \gamma_k} = \sum_j \frac{\partial L}{\partial k^n_j} \circ \frac{k_j}{\sqrt{\mathrm{mean}(k_j^2) + \epsilon}})"},
}};
// clang-format on

template <class Rows>
constexpr bool is_in_enum_order(const Rows& rows) {
    for (std::size_t n = 0; n < rows.size(); ++n)
        if (index_of(rows[n].id) != n || rows[n].tex.empty()) return false;
    return true;
}
static_assert(is_in_enum_order(kStages) && is_in_enum_order(kParams));

}  // namespace

std::string_view gradient_tex(Stage stage) { return kStages[index_of(stage)].tex; }
std::string_view gradient_tex(Param param) { return kParams[index_of(param)].tex; }
std::string_view gradient_tex(Score score, bool of_keys) {
    return of_keys ? info(score).gradient_k_tex : info(score).gradient_q_tex;
}

}  // namespace attn

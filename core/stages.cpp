#include "core/stages.h"

#include <algorithm>

#include "core/tex.h"

namespace attn {
namespace {

constexpr std::string_view kVaswani = "Vaswani et al. 2017, arXiv:1706.03762, §3.2";
constexpr std::string_view kDropout = "Srivastava et al. 2014, JMLR 15";

constexpr std::string_view kQkNorm =
    "Henry et al. 2020, arXiv:2010.04245; Zhang & Sennrich 2019, arXiv:1910.07467";
constexpr std::string_view kRope = "Su et al. 2021, arXiv:2104.09864";

constexpr Operand from(OperandId id, Lights lights) { return {id, lights}; }

// clang-format off
constexpr std::array<StageInfo, kStageCount> kStages{{
    {Stage::x, "x", "X", "X", "Token vectors",
     R"(X = \mathrm{embedding}(\mathrm{token}) + \mathrm{position})",
     Axis::query, Axis::d_model, HeadAxis::none, Exists::with_x, ColorScale::diverging, Role::input, {},
     "Each token is a row of numbers: its word vector plus its position vector.", kVaswani},
    {Stage::x_kv, "x_kv", "X_kv", "X_kv", "Token vectors of the source",
     R"(X_{kv} = \mathrm{embedding}(\mathrm{token}) + \mathrm{position})",
     Axis::key, Axis::d_model, HeadAxis::none, Exists::with_x_kv,
     ColorScale::diverging, Role::input, {},
     "Cross-attention reads its keys and values from a second sentence.", kVaswani},
    {Stage::q, "q", "Q", "Q", "Queries",
     R"(Q = X\,W_Q)",
     Axis::query, Axis::d_k, HeadAxis::query, Exists::always, ColorScale::diverging, Role::query,
     {from(Stage::x, Lights::same_row), from(Param::w_q, Lights::column)},
     "A token's query says what the token looks for: its row of X times W_Q.", kVaswani},
    {Stage::k, "k", "K", "K", "Keys",
     R"(K = X\,W_K)",
     Axis::key, Axis::d_k, HeadAxis::key_value, Exists::always, ColorScale::diverging, Role::key,
     {from(Stage::x, Lights::same_row), from(Param::w_k, Lights::column)},
     "A token's key says what the token offers: its row of X times W_K.", kVaswani},
    {Stage::v, "v", "V", "V", "Values",
     R"(V = X\,W_V)",
     Axis::key, Axis::d_v, HeadAxis::key_value, Exists::always, ColorScale::diverging, Role::value,
     {from(Stage::x, Lights::same_row), from(Param::w_v, Lights::column)},
     "A token's value is what the token passes on: its row of X times W_V.", kVaswani},
    {Stage::q_norm, "q_norm", "Qⁿ", "norm Q", "Normalised queries",
     R"(q^n_i = q_i / \sqrt{\mathrm{mean}(q_i^2) + \epsilon} \circ \gamma_q)",
     Axis::query, Axis::d_k, HeadAxis::query, Exists::with_qk_norm, ColorScale::diverging, Role::query,
     {from(Stage::q, Lights::same_row), from(Param::q_norm_weight, Lights::column)},
     "Each query is divided by its root mean square: if ε is small, its length hardly matters.", kQkNorm},
    {Stage::k_norm, "k_norm", "Kⁿ", "norm K", "Normalised keys",
     R"(k^n_j = k_j / \sqrt{\mathrm{mean}(k_j^2) + \epsilon} \circ \gamma_k)",
     Axis::key, Axis::d_k, HeadAxis::key_value, Exists::with_qk_norm, ColorScale::diverging, Role::key,
     {from(Stage::k, Lights::same_row), from(Param::k_norm_weight, Lights::column)},
     "Each key is divided by its root mean square, too.", kQkNorm},
    {Stage::q_rot, "q_rot", "Q′", "RoPE Q", "Rotated queries",
     R"(q'_i = R_{p_i}\,q_i)",
     Axis::query, Axis::d_k, HeadAxis::query, Exists::with_rope, ColorScale::diverging, Role::query,
     {from(Stage::q_norm, Lights::same_row)},
     "Each pair of columns of a query rotates by an angle that grows with its position.", kRope},
    {Stage::k_rot, "k_rot", "K′", "RoPE K", "Rotated keys",
     R"(k'_j = R_j\,k_j)",
     Axis::key, Axis::d_k, HeadAxis::key_value, Exists::with_rope, ColorScale::diverging, Role::key,
     {from(Stage::k_norm, Lights::same_row)},
     "Keys rotate the same way, so positions enter a score only through their difference.", kRope},
    {Stage::scores, "scores", "QKᵀ", "QKᵀ", "Raw scores",
     R"(\mathrm{scores}_{i,j} = q_i \cdot k_j)",
     Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::diverging, Role::score,
     {from(Stage::q, Lights::same_row), from(Stage::k, Lights::row_of_column)},
     "The dot product of each query with each key says how well they match.", kVaswani},
    {Stage::scaled, "scaled", "S", "÷√d_k", "Scaled scores",
     R"(S = \mathrm{scores} \cdot \frac{\mathrm{scale}}{\mathrm{temperature}})",
     Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::diverging, Role::score,
     {from(Stage::scores, Lights::same_cell)},
     "Independent entries of mean 0 and variance 1 give scores of variance d_k; dividing by √d_k makes it 1.", kVaswani},
    {Stage::biased, "biased", "B", "bias", "Biased scores",
     R"(B_{i,j} = \mathrm{cap} \cdot \tanh(\frac{S_{i,j}}{\mathrm{cap}}) + \mathrm{bias}_{i,j} - \mathrm{slope}_h \cdot |p_i - j|)",
     Axis::query, Axis::key, HeadAxis::query, Exists::with_bias, ColorScale::diverging, Role::score,
     {from(Stage::scaled, Lights::same_cell)},
     "A soft cap bounds the scores, a bias is added to them, and ALiBi lowers them with the distance between query and key.",
     "Gemma Team 2024, arXiv:2408.00118, §2; Press et al. 2022, arXiv:2108.12409"},
    {Stage::masked, "masked", "M", "mask", "Masked scores",
     R"(M_{i,j} = S_{i,j} \text{ if } i \text{ may attend to } j\text{, else } -\infty)",
     Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::diverging, Role::score,
     {from(Stage::scaled, Lights::same_cell)},
     "Forbidden pairs become −∞: softmax gives them exactly 0 if the row has an allowed key.", kVaswani},
    {Stage::weights, "weights", "A", "softmax", "Attention weights",
     R"(A_{i,j} = \frac{\exp(M_{i,j} - m_i)}{\sum_{j'} \exp(M_{i,j'} - m_i)})",
     Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
     {from(Stage::masked, Lights::same_row)},
     "Softmax turns each row of scores into weights that sum to 1 if it has an allowed key and no sink.",
     "Milakov & Gimelshein 2018, arXiv:1805.02867"},
    {Stage::dropped, "dropped", "Ã", "dropout", "Weights after dropout",
     R"(\tilde{A}_{i,j} = \frac{A_{i,j} \cdot \mathrm{keep}_{i,j}}{1 - p})",
     Axis::query, Axis::key, HeadAxis::query, Exists::with_dropout, ColorScale::unit, Role::weight,
     {from(Stage::weights, Lights::same_cell)},
     "Some weights become 0 at random and the rest are divided by 1 − p: rows need not sum to 1.", kDropout},
    {Stage::context, "context", "AV", "AV", "Context",
     R"(\mathrm{context}_i = \sum_j A_{i,j}\,v_j)",
     Axis::query, Axis::d_v, HeadAxis::query, Exists::always, ColorScale::diverging, Role::value,
     {from(Stage::weights, Lights::same_row), from(Stage::v, Lights::column)},
     "The context of a token is the sum of the values, each times its weight in A.", kVaswani},
    {Stage::output, "output", "Y", "output", "Output",
     R"(Y = \mathrm{concat}(\mathrm{heads})\,W_O)",
     Axis::query, Axis::d_out, HeadAxis::none, Exists::always, ColorScale::diverging, Role::output,
     {from(Stage::context, Lights::same_row), from(Param::w_o, Lights::column)},
     "W_O maps the concatenated contexts of all heads to one new vector for each token.", kVaswani},
}};

constexpr std::array<ParamInfo, kParamCount> kParams{{
    {Param::w_q, ParamUse::projection, "w_q", "W_Q", "W_Q", Role::query, Axis::d_model, Axis::d_k, false},
    {Param::w_k, ParamUse::projection, "w_k", "W_K", "W_K", Role::key, Axis::d_model, Axis::d_k, false},
    {Param::w_v, ParamUse::projection, "w_v", "W_V", "W_V", Role::value, Axis::d_model, Axis::d_v, false},
    {Param::w_o, ParamUse::output, "w_o", "W_O", "W_O", Role::output, Axis::d_v, Axis::d_out, false},
    {Param::b_q, ParamUse::projection, "b_q", "b_Q", "b_Q", Role::query, Axis::d_model, Axis::d_k, true},
    {Param::b_k, ParamUse::projection, "b_k", "b_K", "b_K", Role::key, Axis::d_model, Axis::d_k, true},
    {Param::b_v, ParamUse::projection, "b_v", "b_V", "b_V", Role::value, Axis::d_model, Axis::d_v, true},
    {Param::b_o, ParamUse::output, "b_o", "b_O", "b_O", Role::output, Axis::d_v, Axis::d_out, true},
    {Param::w_score, ParamUse::score, "w_score", "W_score", "W_score", Role::score, Axis::d_k, Axis::d_k, false},
    {Param::w_score_q, ParamUse::score, "w_score_q", "W_score_q", "W_score_q", Role::query, Axis::d_k, Axis::hidden, false},
    {Param::w_score_k, ParamUse::score, "w_score_k", "W_score_k", "W_score_k", Role::key, Axis::d_k, Axis::hidden, false},
    {Param::w_score_row, ParamUse::score, "w_score_row", "w_score", "w_score", Role::score, Axis::hidden, Axis::hidden, true},
    {Param::sinks, ParamUse::sink, "sinks", "sinks", "sinks", Role::weight, Axis::head, Axis::head, true},
    {Param::b_score, ParamUse::score, "b_score", "b_score", "b_score", Role::score, Axis::head, Axis::distance, false},
    {Param::q_norm_weight, ParamUse::norm, "q_norm_weight", "q_norm_weight", "γ_q", Role::query, Axis::d_k, Axis::d_k, true},
    {Param::k_norm_weight, ParamUse::norm, "k_norm_weight", "k_norm_weight", "γ_k", Role::key, Axis::d_k, Axis::d_k, true},
}};
// clang-format on

constexpr bool table_is_in_enum_order() {
    for (std::size_t s = 0; s < kStageCount; ++s)
        if (index_of(kStages[s].stage) != s) return false;
    for (std::size_t p = 0; p < kParamCount; ++p)
        if (index_of(kParams[p].param) != p) return false;
    return true;
}
static_assert(table_is_in_enum_order());

}  // namespace

std::span<const StageInfo, kStageCount> stage_table() { return kStages; }
std::span<const ParamInfo, kParamCount> param_table() { return kParams; }

StageSet pair_stages() {
    StageSet pairs;
    for (const StageInfo& stage : kStages)
        if (stage.columns == Axis::key) pairs.set(index_of(stage.stage));
    return pairs;
}

std::string_view extent(Axis axis) {
    switch (axis) {
        case Axis::query:
            return "Tq";
        case Axis::key:
            return "Tk";
        case Axis::d_model:
            return "d_model";
        case Axis::d_k:
            return "d_k";
        case Axis::d_v:
            return "d_v";
        case Axis::d_out:
            return "d_out";
        case Axis::hidden:
            return "a";
        case Axis::head:
            return "H";
        case Axis::distance:
            return "Tq+Tk−1";
        case Axis::one:
            return "1";
        case Axis::chunk:
            return "Tk/C";
        case Axis::chunk_value:
            return "Tk/C·d_v";
        case Axis::latent:
            return "M";
        case Axis::state:
            return "N";
        case Axis::value_state:
            return "d_v·N";
        case Axis::key_value:
            return "d_k·d_v";
    }
    return "";
}

const StageInfo& info(Stage stage) { return kStages[index_of(stage)]; }
const ParamInfo& info(Param param) { return kParams[index_of(param)]; }

std::string plain_formula(const StageInfo& stage) { return tex::plain_text(stage.tex); }

std::optional<Stage> find_stage(std::string_view key) {
    const auto row = std::find_if(kStages.begin(), kStages.end(),
                                  [&](const StageInfo& stage) { return stage.key == key; });
    if (row == kStages.end()) return std::nullopt;
    return row->stage;
}

}  // namespace attn

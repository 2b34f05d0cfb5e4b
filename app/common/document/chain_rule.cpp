#include "app/common/document/chain_rule.h"

#include <fmt/format.h>

#include "app/common/document/loss.h"
#include "app/common/sheet.h"
#include "core/gradient_tex.h"
#include "core/scores/score.h"
#include "core/tex.h"

namespace attn::view {
namespace {

bool mixes(const Document& document) { return !document.inputs->params[Param::w_o].empty(); }

/// " + b_Q" where there is that bias.
std::string bias_tex(const Document& document, Param bias) {
    return document.inputs->params[bias].empty() ? "" : " + " + tex_symbol(bias);
}

/// Q, K and V: given, or the document's own X times W, and its bias.
std::string projection_tex(const Document& document, const StageInfo& stage) {
    if (!is_toy(document) && !document.inputs->projects())
        return tex_symbol(stage.stage) + R"( = \text{ given})";
    const bool query = stage.stage == Stage::q;
    const Param bias = query ? Param::b_q : stage.stage == Stage::k ? Param::b_k : Param::b_v;
    const bool cross = !document.inputs->x_kv.empty() && !query;
    const std::string product = !cross                    ? std::string(stage.tex)
                                : stage.stage == Stage::k ? R"(K = X_{kv}\,W_K)"
                                                          : R"(V = X_{kv}\,W_V)";
    return product + bias_tex(document, bias);
}

/// Positions turn what the score function reads.
std::string scores_tex(const AttentionSpec& spec) {
    std::string formula(info(spec.score).tex);
    if (!spec.rope) return formula;
    for (const std::string_view row : {"q_i", "k_j"})
        for (std::size_t at = formula.find(row); at != formula.npos;
             at = formula.find(row, at + row.size() + 1))
            formula.insert(at + 1, "'");
    return formula;
}

/// B of S: what bounds it and what is taken off.
std::string biased_tex(const AttentionSpec& spec) {
    const std::string capped =
        spec.softcap ? R"(\mathrm{cap} \cdot \tanh(\frac{S_{i,j}}{\mathrm{cap}}))" : "S_{i,j}";
    return "B_{i,j} = " + capped +
           (spec.alibi ? R"( - \mathrm{slope}_h \cdot |p_i - j|)" : std::string());
}

std::string output_tex(const Document& document) {
    const std::string_view heads =
        document.size.heads == 1 ? R"(\mathrm{context})" : R"(\mathrm{concat}(\mathrm{heads}))";
    if (!mixes(document)) return fmt::format(R"(Y = {}\text{{, there is no }} W_O)", heads);
    return fmt::format(R"(Y = {}\,W_O)", heads) + bias_tex(document, Param::b_o);
}

/// The chain rule of Q, K or what RoPE makes of them.
std::string operand_gradient(const Document& document, Stage stage) {
    const bool query = stage == Stage::q || stage == Stage::q_rot;
    const Stage own =
        std::get<Stage>(operand_of(document, Stage::scores, query ? Stage::q : Stage::k));
    const std::string_view row = query ? "q_i" : "k_j";
    if (own != stage)
        return fmt::format(
            R"(\frac{{\partial L}}{{\partial {0}}} = R_{{{1}}}^\top\,\frac{{\partial L}}{{\partial {2}}})",
            row, query ? "p_i" : "j", query ? "q'_i" : "k'_j");
    if (document.spec.score == Score::dot) return {};
    const std::string rotated = own == Stage::q || own == Stage::k ? std::string(row)
                                : query                            ? "q'_i"
                                                                   : "k'_j";
    return fmt::format(
        R"(\frac{{\partial L}}{{\partial {0}}} = \sum_{1} \frac{{\partial L}}{{\partial \mathrm{{scores}}_{{i,j}}}} \cdot \frac{{\partial \mathrm{{scores}}_{{i,j}}}}{{\partial {0}}})",
        rotated, query ? "j" : "i");
}

/// Where the table speaks of the general case; "" where it holds as it is.
std::string own_formula(const AppState& state, Stage stage) {
    const Document& document = state.document();
    const std::string factor = tex_factor(document.spec);
    const std::string equals = tex_gradient(stage) + " = ";
    switch (stage) {
        case Stage::x:
            if (document.inputs->x_kv.empty()) return {};
            return equals + tex_gradient(Stage::q) + R"(\,W_Q^\top)";
        case Stage::q:
        case Stage::k:
        case Stage::q_rot:
        case Stage::k_rot:
            return operand_gradient(document, stage);
        case Stage::scores:
            return equals + tex_gradient(Stage::scaled) +
                   (factor.empty() ? "" : R"( \cdot )" + factor);
        case Stage::scaled:
            if (!document.spec.biases()) return {};
            return equals + tex_gradient(Stage::biased) +
                   (document.spec.softcap ? R"( \cdot (1 - \tanh^2(\frac{S}{\mathrm{cap}})))" : "");
        case Stage::context:
            if (mixes(document) && document.size.heads > 1) return {};
            return equals + tex_gradient(Stage::output) + (mixes(document) ? R"(\,W_O^\top)" : "");
        case Stage::output:
            return equals + loss_gradient_tex(state);
        default:
            return {};
    }
}

/// Dropout stands between weights and context.
std::string dropped_formula(Stage stage) {
    if (stage == Stage::weights)
        return R"(\frac{\partial L}{\partial A_{i,j}} = \frac{\partial L}{\partial \tilde{A}_{i,j}} \cdot )"
               R"(\frac{\mathrm{keep}_{i,j}}{1 - p})";
    if (stage == Stage::v)
        return R"(\frac{\partial L}{\partial v_j} = \sum_i \tilde{A}_{i,j}\,)"
               R"(\frac{\partial L}{\partial \mathrm{context}_i})";
    return {};
}

std::string param_formula(const AppState& state, Param param) {
    const bool cross = !state.document().inputs->x_kv.empty();
    if (cross && (param == Param::w_k || param == Param::w_v))
        return fmt::format(R"({} = X_{{kv}}^\top\,{})", tex_gradient(param),
                           tex_gradient(param == Param::w_k ? Stage::k : Stage::v));
    if (param == Param::w_o && state.document().size.heads == 1)
        return fmt::format(R"({} = \mathrm{{context}}^\top\,{})", tex_gradient(param),
                           tex_gradient(Stage::output));
    return std::string(gradient_tex(param));
}

}  // namespace

std::string tex_symbol(const OperandId& id) {
    const Stage* stage = std::get_if<Stage>(&id);
    if (stage == nullptr) {
        const Param param = std::get<Param>(id);
        if (info(param).use == ParamUse::sink) return R"(\mathrm{sinks})";
        if (info(param).use != ParamUse::score) return name_of(id);
        std::string name = name_of(id);  // W_score_q
        const std::string_view part = name.ends_with("_q")   ? ",q"
                                      : name.ends_with("_k") ? ",k"
                                                             : "";
        return fmt::format(R"({}_{{\mathrm{{score}}{}}})", name.front(), part);
    }
    if (*stage == Stage::x_kv) return "X_{kv}";
    if (*stage == Stage::q_rot) return "Q'";
    if (*stage == Stage::k_rot) return "K'";
    if (*stage == Stage::dropped) return "\\tilde{A}";
    if (*stage == Stage::scores || *stage == Stage::context)
        return fmt::format("\\mathrm{{{}}}", name_of(id));
    return name_of(id);
}

std::string tex_gradient(const OperandId& id, const std::string& indices) {
    return fmt::format(R"(\frac{{\partial L}}{{\partial {}{}}})", tex_symbol(id),
                       indices.empty() ? "" : "[" + indices + "]");
}

std::string tex_factor(const AttentionSpec& spec) {
    const bool by_value = spec.scale == ScaleKind::value;
    std::string below = spec.scale == ScaleKind::sqrt_dk ? R"(\sqrt{d_k})" : "";
    if (spec.temperature != 1.0) below += below.empty() ? R"(\tau)" : R"( \cdot \tau)";
    const std::string above = by_value ? R"(\mathrm{scale})" : "1";
    if (!below.empty()) return fmt::format(R"(\frac{{{}}}{{{}}})", above, below);
    return by_value ? above : "";
}

std::string tex_scaled(const AttentionSpec& spec) {
    const std::string scores = spec.scale == ScaleKind::value
                                   ? R"(\mathrm{scores} \cdot \mathrm{scale})"
                                   : R"(\mathrm{scores})";
    std::string below = spec.scale == ScaleKind::sqrt_dk ? R"(\sqrt{d_k})" : "";
    if (spec.temperature != 1.0) below += below.empty() ? R"(\tau)" : R"( \cdot \tau)";
    return below.empty() ? scores : fmt::format(R"(\frac{{{}}}{{{}}})", scores, below);
}

std::string stage_formula(const Document& document, Stage stage) {
    const AttentionSpec& spec = document.spec;
    const bool sinks = !document.inputs->params[Param::sinks].empty();
    switch (stage) {
        case Stage::q:
        case Stage::k:
        case Stage::v:
            return projection_tex(document, info(stage));
        case Stage::scores:
            return scores_tex(spec);
        case Stage::scaled:
            return "S = " + tex_scaled(spec);
        case Stage::biased:
            return biased_tex(spec);
        case Stage::masked:
            if (!spec.biases()) break;
            return R"(M_{i,j} = B_{i,j} \text{ if } i \text{ may attend to } j\text{, else } -\infty)";
        case Stage::weights:
            if (!sinks) break;
            return R"(A_{i,j} = \frac{\exp(M_{i,j} - m_i)}{\sum_{j'} \exp(M_{i,j'} - m_i) + \exp(\mathrm{sink}_h - m_i)})";
        case Stage::context:
            if (!spec.drops()) break;
            return R"(\mathrm{context}_i = \sum_j \tilde{A}_{i,j}\,v_j)";
        case Stage::output:
            return output_tex(document);
        default:
            break;
    }
    return std::string(info(stage).tex);
}

std::string gradient_formula(const AppState& state, const OperandId& id) {
    if (const Param* const param = std::get_if<Param>(&id)) return param_formula(state, *param);
    const Stage stage = std::get<Stage>(id);
    std::string own = own_formula(state, stage);
    if (own.empty() && weight_stage(state.document()) == Stage::dropped)
        own = dropped_formula(stage);
    return own.empty() ? std::string(gradient_tex(stage)) : own;
}

std::string chain_rule_words(const AppState& state, const OperandId& id) {
    const Document& document = state.document();
    const std::string rule = tex::plain_text(gradient_formula(state, id));
    if (id == OperandId(Stage::output)) return rule + ", of L = " + loss_words(state) + ".";
    for (const Stage stage : ribbon_stages(document))
        for (const Operand& operand : operands_of(document, stage))
            if (operand.id == id)
                return fmt::format("{}, of the forward line {}.", rule,
                                   tex::plain_text(stage_formula(document, stage)));
    return rule + ".";
}

}  // namespace attn::view

#include "app/common/document/chain_rule.h"

#include <fmt/format.h>

#include "app/common/document/loss.h"
#include "app/common/sheet.h"
#include "core/gradient_tex.h"
#include "core/tex.h"

namespace attn::view {

std::string tex_symbol(const OperandId& id) {
    const Stage* stage = std::get_if<Stage>(&id);
    if (stage == nullptr) return name_of(id);
    if (*stage == Stage::x_kv) return "X_{kv}";
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

namespace {

/// Where the table speaks of the general case; "" where it holds as it is.
std::string own_formula(const AppState& state, Stage stage) {
    const Document& document = state.document();
    const bool mixes = !document.inputs->params[Param::w_o].empty();
    const std::string factor = tex_factor(document.spec);
    const std::string equals = tex_gradient(stage) + " = ";
    switch (stage) {
        case Stage::x:
            if (document.inputs->x_kv.empty()) return {};
            return equals + tex_gradient(Stage::q) + R"(\,W_Q^\top)";
        case Stage::scores:
            return equals + tex_gradient(Stage::scaled) +
                   (factor.empty() ? "" : R"( \cdot )" + factor);
        case Stage::context:
            if (mixes && document.size.heads > 1) return {};
            return equals + tex_gradient(Stage::output) + (mixes ? R"(\,W_O^\top)" : "");
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

std::string gradient_formula(const AppState& state, const OperandId& id) {
    if (const Param* const param = std::get_if<Param>(&id)) return param_formula(state, *param);
    const Stage stage = std::get<Stage>(id);
    std::string own = own_formula(state, stage);
    if (own.empty() && weight_stage(state.document()) == Stage::dropped)
        own = dropped_formula(stage);
    return own.empty() ? std::string(gradient_tex(stage)) : own;
}

std::string chain_rule_words(const AppState& state, const OperandId& id) {
    const std::string rule = tex::plain_text(gradient_formula(state, id));
    if (id == OperandId(Stage::output)) return rule + ", of L = " + loss_words(state) + ".";
    for (const Stage stage : ribbon_stages(state.document()))
        for (const auto& operand : info(stage).operands)
            if (operand && operand_of(state.document(), stage, operand->id) == id)
                return fmt::format("{}, of the forward line {}.", rule, plain_formula(info(stage)));
    return rule + ".";
}

}  // namespace attn::view

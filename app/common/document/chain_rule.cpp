#include "app/common/document/chain_rule.h"

#include <cctype>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/loss.h"
#include "app/common/document/toy.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "core/gradient_tex.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/stages.h"
#include "core/tex.h"
#include "core/trace.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

std::string with_replaced(std::string text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

/// K and V of a group are used by several query heads, whose gradients add up.
std::string over_group(const Dimensions& size, std::string tex) {
    return size.heads > size.kv_heads
               ? with_replaced(std::move(tex), R"(\sum_i)", R"(\sum_h \sum_i)")
               : tex;
}

// ---- forward

/// Q, K and V: given, or the document's own X times W, and its bias.
std::string projection_tex(const Document& document, Stage stage) {
    const Inputs& in = *document.inputs;
    if (!is_toy(document) && !in.projects()) return tex_symbol(stage) + R"( = \text{ given})";
    const Param bias = stage == Stage::q ? Param::b_q : stage == Stage::k ? Param::b_k : Param::b_v;
    std::string tex(info(stage).tex);
    if (stage != Stage::q && !in.x_kv.empty()) tex = with_replaced(tex, "X", "X_{kv}");
    return has_param(document, bias) ? tex + " + " + tex_symbol(bias) : tex;
}

/// What the word of a token gives, where every row is that.
std::string vectors_tex(const Document& document, Stage stage) {
    bool computed = is_toy(document);
    const Shape shape = tensor_of(*document.inputs, stage).shape();
    for (Index i = 0; computed && i < shape.b * shape.t; ++i)
        computed = is_computed(document, stage, i);
    if (computed && document.sinusoid) return std::string(info(stage).tex);
    if (computed) return tex_symbol(stage) + R"( = \mathrm{embedding}(\mathrm{token}))";
    return tex_symbol(stage) + R"([i] = \text{the numbers of token } i)";
}

/// A row of Q or K through RMSNorm, with its weights where there are some.
std::string norm_tex(const Document& document, std::string_view row, std::string_view index) {
    const Param weight = row == "q" ? Param::q_norm_weight : Param::k_norm_weight;
    return fmt::format(
        R"({0}^n_{1} = \frac{{{0}_{1}}}{{\sqrt{{\mathrm{{mean}}({0}_{1}^2) + \epsilon}}}}{2})", row,
        index, has_param(document, weight) ? fmt::format(R"( \circ \gamma_{})", row) : "");
}

/// The operand of the soft cap.
std::string capped_tex(const AttentionSpec& spec) {
    return spec.mask.bias && spec.bias_before_softcap ? R"(S_{i,j} + \mathrm{bias}_{i,j})"
                                                      : "S_{i,j}";
}

std::string biased_tex(const AttentionSpec& spec) {
    const bool first = spec.bias_before_softcap;
    std::string capped = capped_tex(spec);
    if (spec.softcap)
        capped =
            fmt::format(R"(\mathrm{{cap}} \cdot \tanh(\frac{{{}}}{{\mathrm{{cap}}}}))", capped);
    if (spec.mask.bias && !first) capped += R"( + \mathrm{bias}_{i,j})";
    return "B_{i,j} = " + capped + (spec.alibi ? R"( - \mathrm{slope}_h \cdot |p_i - j|)" : "");
}

std::string weights_tex(const Document& document) {
    const std::string sink = has_sinks(document) ? R"( + \exp(\mathrm{sink}_h - m_i))" : "";
    return R"(A_{i,j} = \frac{\exp(M_{i,j} - m_i)}{\sum_{j'} \exp(M_{i,j'} - m_i))" + sink + "}";
}

std::string output_tex(const Document& document) {
    const std::string_view joined =
        document.size.heads == 1 ? R"(\mathrm{context})" : R"(\mathrm{concat}(\mathrm{heads}))";
    if (!has_param(document, Param::w_o))
        return fmt::format(R"(Y = {}\text{{, without }} W_O)", joined);
    return fmt::format(R"(Y = {}\,W_O)", joined) +
           (has_param(document, Param::b_o) ? " + " + tex_symbol(Param::b_o) : "");
}

// ---- backward

/// scores[i,j]; of ScaleKind::q_and_k with the factor of each side.
std::string_view score_tex(const AttentionSpec& spec) {
    return spec.scale == ScaleKind::q_and_k
               ? R"(\mathrm{scores}_{i,j} = (d_k^{-1/4} \, q_i) \cdot (d_k^{-1/4} \, k_j))"
               : info(spec.score).tex;
}

/// ∂L/∂q of the score function, of q′ where RoPE is on.
std::string operand_formula(const Document& document, bool of_keys) {
    std::string tex = as_read(document.spec, gradient_tex(document.spec.score, of_keys), "'");
    if (document.spec.scale == ScaleKind::q_and_k)
        tex = with_replaced(std::move(tex), R"(= \sum)", R"(= \frac{1}{\sqrt{d_k}} \sum)");
    return of_keys ? over_group(document.size, std::move(tex)) : tex;
}

/// RoPE turns a row's gradient back.
std::string turn_gradient_tex(std::string_view row, std::string_view index,
                              std::string_view position) {
    return fmt::format(
        R"(\frac{{\partial L}}{{\partial {0}_{2}}} = R_{{{3}}}^\top\,\frac{{\partial L}}{{\partial {1}'_{2}}})",
        row, row.substr(0, 1), index, position);
}

/// ∂L/∂q through RMSNorm, g = γ ∘ ∂L/∂qⁿ and r = 1 / √(mean q² + ε).
std::string norm_gradient_tex(const Document& document, std::string_view row,
                              std::string_view index) {
    const Param weight = row == "q" ? Param::q_norm_weight : Param::k_norm_weight;
    return fmt::format(
        R"(\frac{{\partial L}}{{\partial {0}_{1}}} = r \cdot (g - {0}_{1} \, r^2 \, \mathrm{{mean}}({0}_{1} \circ g)), \; g = \frac{{\partial L}}{{\partial {0}^n_{1}}}{2}, \; r = \frac{{1}}{{\sqrt{{\mathrm{{mean}}({0}_{1}^2) + \epsilon}}}})",
        row, index, has_param(document, weight) ? fmt::format(R"( \circ \gamma_{})", row) : "");
}

std::string scaled_formula(const AttentionSpec& spec) {
    if (!spec.biases()) return {};
    const std::string cap =
        spec.softcap ? fmt::format(R"( \cdot (1 - \tanh(\frac{{{}}}{{\mathrm{{cap}}}})^2))",
                                   capped_tex(spec))
                     : "";
    return R"(\frac{\partial L}{\partial S_{i,j}} = \frac{\partial L}{\partial B_{i,j}})" + cap;
}

/// Where the table speaks of the general case; "" where it holds as it is.
std::string own_formula(const AppState& state, Stage stage) {
    const Document& document = state.document();
    const AttentionSpec& spec = document.spec;
    const bool mixes = has_param(document, Param::w_o);
    const std::string factor = tex_factor(spec);
    const std::string equals = tex_gradient(stage) + " = ";
    switch (stage) {
        case Stage::x:
            if (document.inputs->x_kv.empty()) return {};
            return equals + tex_gradient(Stage::q) + R"(\,W_Q^\top)";
        case Stage::q:
            if (spec.qk_norm) return norm_gradient_tex(document, "q", "i");
            return spec.rope ? turn_gradient_tex("q", "i", "p_i")
                             : operand_formula(document, false);
        case Stage::k:
            if (spec.qk_norm) return norm_gradient_tex(document, "k", "j");
            return spec.rope ? turn_gradient_tex("k", "j", "j") : operand_formula(document, true);
        case Stage::q_norm:
            return spec.rope ? turn_gradient_tex("q^n", "i", "p_i")
                             : operand_formula(document, false);
        case Stage::k_norm:
            return spec.rope ? turn_gradient_tex("k^n", "j", "j") : operand_formula(document, true);
        case Stage::q_rot:
            return operand_formula(document, false);
        case Stage::k_rot:
            return operand_formula(document, true);
        case Stage::scores:
            return equals + tex_gradient(Stage::scaled) +
                   (factor.empty() ? "" : R"( \cdot )" + factor);
        case Stage::scaled:
            return scaled_formula(spec);
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
    const Document& document = state.document();
    const bool cross = !document.inputs->x_kv.empty();
    if (cross && (param == Param::w_k || param == Param::w_v))
        return fmt::format(R"({} = X_{{kv}}^\top\,{})", tex_gradient(param),
                           tex_gradient(param == Param::w_k ? Stage::k : Stage::v));
    if (param == Param::w_o && document.size.heads == 1)
        return fmt::format(R"({} = \mathrm{{context}}^\top\,{})", tex_gradient(param),
                           tex_gradient(Stage::output));
    const std::string_view tex = gradient_tex(param);
    return info(param).use == ParamUse::score ? as_read(document.spec, tex, "'") : std::string(tex);
}

}  // namespace

std::string as_read(const AttentionSpec& spec, std::string_view text, std::string_view prime) {
    if (!spec.rope && !spec.qk_norm) return std::string(text);
    const bool is_tex = prime == "'";
    const auto is_word = [&](std::size_t n) {
        return n < text.size() && (std::isalnum(static_cast<unsigned char>(text[n])) != 0);
    };
    const auto begins = [&](std::size_t n) {  // no index of another letter, no command
        if (n == 0) return true;
        const char before = text[n - 1];
        const bool space = before == ',' && n > 1 && text[n - 2] == '\\';
        return space || (!is_word(n - 1) && before != '_' && before != ',' && before != '\\');
    };
    std::string read;
    for (std::size_t n = 0; n < text.size(); ++n) {
        read += text[n];
        const bool letter = std::string_view("qkQK").find(text[n]) != std::string_view::npos;
        if (!letter || !begins(n) || is_word(n + 1)) continue;
        if (spec.rope)
            read += prime;
        else if (is_tex)
            read.replace(read.size() - 1, 1, fmt::format("{{{}^n}}", text[n]));
        else
            read += "ⁿ";
    }
    return read;
}

std::string tex_symbol(const OperandId& id) {
    const Stage* stage = std::get_if<Stage>(&id);
    if (stage == nullptr) {
        const Param param = std::get<Param>(id);
        if (info(param).use == ParamUse::sink) return R"(\mathrm{sinks})";
        if (info(param).use == ParamUse::norm)
            return param == Param::q_norm_weight ? R"(\gamma_q)" : R"(\gamma_k)";
        if (info(param).use != ParamUse::score) return name_of(id);
        std::string name = name_of(id);  // W_score_q
        const std::string_view part = name.ends_with("_q")   ? ",q"
                                      : name.ends_with("_k") ? ",k"
                                                             : "";
        return fmt::format(R"({}_{{\mathrm{{score}}{}}})", name.front(), part);
    }
    if (*stage == Stage::x_kv) return "X_{kv}";
    if (*stage == Stage::q_norm) return "Q^n";
    if (*stage == Stage::k_norm) return "K^n";
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

std::string forward_formula(const Document& document, Stage stage) {
    const AttentionSpec& spec = document.spec;
    switch (stage) {
        case Stage::x:
        case Stage::x_kv:
            return vectors_tex(document, stage);
        case Stage::q:
        case Stage::k:
        case Stage::v:
            return projection_tex(document, stage);
        case Stage::q_norm:
            return norm_tex(document, "q", "i");
        case Stage::k_norm:
            return norm_tex(document, "k", "j");
        case Stage::q_rot:
            return spec.qk_norm ? R"(q'_i = R_{p_i}\,q^n_i)" : std::string(info(stage).tex);
        case Stage::k_rot:
            return spec.qk_norm ? R"(k'_j = R_j\,k^n_j)" : std::string(info(stage).tex);
        case Stage::scores:
            return as_read(spec, score_tex(spec), "'");
        case Stage::scaled:
            return "S = " + tex_scaled(spec);
        case Stage::biased:
            return biased_tex(spec);
        case Stage::masked:
            return with_replaced(std::string(info(stage).tex), "S_", spec.biases() ? "B_" : "S_");
        case Stage::weights:
            return weights_tex(document);
        case Stage::context:
            return spec.drops() ? with_replaced(std::string(info(stage).tex), "A_", R"(\tilde{A}_)")
                                : std::string(info(stage).tex);
        case Stage::output:
            return output_tex(document);
        default:
            return std::string(info(stage).tex);
    }
}

std::string gradient_formula(const AppState& state, const OperandId& id) {
    if (const Param* const param = std::get_if<Param>(&id)) return param_formula(state, *param);
    const Stage stage = std::get<Stage>(id);
    std::string own = own_formula(state, stage);
    if (own.empty() && weight_stage(state.document()) == Stage::dropped)
        own = dropped_formula(stage);
    if (own.empty()) own = gradient_tex(stage);
    return stage == Stage::v ? over_group(state.document().size, std::move(own)) : own;
}

std::string chain_rule_text(const AppState& state, const OperandId& id) {
    const Document& document = state.document();
    std::string text = tex::plain_text(gradient_formula(state, id));
    if (id == OperandId(Stage::output)) return text + ", of L = " + loss_text(state) + ".";
    if (text.find("Σ_h") != std::string::npos)
        text += fmt::format(", h the {} query heads of that key/value head",
                            document.size.heads / document.size.kv_heads);
    if (const auto stages = stages_made_with(document, id); !stages.empty())
        text += "; forward: " + tex::plain_text(forward_formula(document, stages.front()));
    return text + ".";
}

std::vector<Stage> stages_made_with(const Document& document, const OperandId& id) {
    std::vector<Stage> stages;
    for (const Stage stage : ribbon_stages(document))
        for (const Operand& operand : operands_of(document, stage))
            if (operand.id == id) stages.push_back(stage);
    return stages;
}

}  // namespace attn::view

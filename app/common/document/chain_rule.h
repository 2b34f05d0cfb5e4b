#pragma once

#include <string>
#include <vector>

#include "core/stage.h"

namespace attn::view {
struct Document;
}  // namespace attn::view

namespace attn {
struct AttentionSpec;
}  // namespace attn

namespace attn::view {

struct AppState;

// Formulas of stages and of their gradients, as they are in a document.

/// `text` with q, k, Q and K as the score reads them: with `prime` behind each where RoPE turned them ("'" in TeX), unless
/// it is an index of another letter.
std::string as_read(const AttentionSpec& spec, std::string_view text, std::string_view prime = "′");

/// As in formulas, in TeX: "W_Q", "\mathrm{scores}".
std::string tex_symbol(const OperandId& id);
/// ∂L/∂ of a stage or parameter as TeX, at the place that the indices say, "\text{cat}, j"; "": of the whole matrix.
std::string tex_gradient(const OperandId& id, const std::string& indices = "");
/// What S is of the scores, as TeX: "\frac{1}{\sqrt{d_k}}", "\mathrm{scale}"; "" where they stay as they are.
std::string tex_factor(const AttentionSpec& spec);
/// What becomes of the scores before softmax: "\frac{\mathrm{scores}}{\sqrt{d_k}}".
std::string tex_scaled(const AttentionSpec& spec);
/// The stages that have it as an operand, in their order: none of the last stage.
std::vector<Stage> stages_made_with(const Document& document, const OperandId& id);
/// How a stage is made in this document, in TeX: by its score function, of what RoPE turned, with its cap, slopes and sinks.
std::string forward_formula(const Document& document, Stage stage);
/// The chain rule of the stage or parameter as it is in this document, in TeX.
std::string gradient_formula(const AppState& state, const OperandId& id);
/// "∂L/∂A[i,j] = ∂L/∂context[i] · v_j, of the forward line context[i] = Σ_j A[i,j] v_j."
std::string chain_rule_text(const AppState& state, const OperandId& id);

}  // namespace attn::view

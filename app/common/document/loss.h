#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/common/place.h"
#include "core/forward.h"

namespace attn::view {

struct AppState;
struct Document;

// The loss L that gradients are of, which all workspaces share: Σ of all outputs, one output, or
// ½ Σ (output − target)², the cross-entropy of one row, or what a file's dY says: Σ dY ∘ output. The backward pass starts from its gradient at `output`, see upstream_of().

/// The loss that holds: one output, or a dY, that the document does not have makes it the sum of all.
Loss loss_of(const AppState& state);
/// Those that the document has, in the order of LossKind; `file` is the last and only there where the file gives dY.
int loss_count(const AppState& state);

/// ∂L/∂output of that loss, for a backward pass from `trace`: empty (ones) for the sum.
Upstream upstream_of(const AppState& state, const Trace& trace);

/// Of logits y and class c: L = −ln softmax(y)[c] = ln Σ exp(y) − y_c, and ∂L/∂y = softmax(y) − 1 at c.
struct CrossEntropy {
    double loss = 0.0;
    std::vector<double> gradient;
};
CrossEntropy cross_entropy_of(std::span<const double> logits, Index target);

/// What an output should be: 0 unless it was set.
float target_of(const Document& document, Index batch, Index row, Index column);
/// L itself, in double; nullopt where the trace holds no output.
std::optional<double> loss_value(const AppState& state);

/// "Σ output", "output[cat, 2]", "½ Σ (output − target)²", "−ln softmax(output[cat])[2]".
std::string loss_text(const AppState& state);
/// The same as TeX.
std::string loss_tex(const AppState& state);
/// ∂L/∂Y as TeX: "1", "Y - \mathrm{target}".
std::string loss_gradient_tex(const AppState& state);
/// The same of any kind, for a list of choices.
std::string loss_text(const AppState& state, const Loss& loss);

/// "Gradients of L = Σ output: how fast L grows with each number."
std::string loss_sentence(const AppState& state);

/// The sum of all outputs again.
void clear_loss(AppState& state);

/// The list of what gradients are of.
struct LossView {
    bool shown = false;                // gradients are on
    std::vector<std::string> choices;  // "L = Σ output", in the order of LossKind
    int current = 0;
};
/// What the list of losses offers, in the order of LossKind: the output of "one output" is the chosen
/// one, or the first of the selected row.
LossView build_loss_view(const AppState& state);

}  // namespace attn::view

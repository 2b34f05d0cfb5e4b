#include "app/common/document/loss.h"

#include <cmath>

#include "app/common/document/actions.h"
#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/document/targets.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "core/note.h"
#include "core/stages.h"
#include "core/tex.h"
#include "core/trace.h"

namespace attn::view {
namespace {

/// output − target everywhere: the gradient of ½ Σ (output − target)².
Tensor errors_of(const Document& document, const Tensor& output) {
    Tensor errors = output;
    for (const Target& target : document.targets)
        if (has_output(document, target.cell))
            errors(target.cell.batch, 0, target.cell.row, target.cell.column) -= target.value;
    return errors;
}

/// Of the row of outputs that is read as logits.
CrossEntropy cross_entropy_at(const Tensor& output, const OutputCell& cell) {
    const auto row = output.matrix(cell.batch, 0).row(cell.row);
    return cross_entropy_of(std::vector<double>(row.begin(), row.end()), cell.column);
}

bool is_of_one_output(LossKind kind) {
    return kind == LossKind::cell || kind == LossKind::cross_entropy;
}

/// L and ∂L/∂Y as TeX; "": its words.
struct LossTex {
    const char* loss;
    const char* gradient;
};
const LossTex& tex_of(LossKind kind) {
    static constexpr LossTex kTex[] = {
        {R"(\sum \mathrm{output})", "1"},
        {"", R"(1\text{ at that output, else } 0)"},
        {R"(\frac{1}{2} \sum (\mathrm{output} - \mathrm{target})^2)", R"(Y - \mathrm{target})"},
        {"", R"(\mathrm{softmax}(Y) - 1\text{ at its class, in that row, else } 0)"},
        {R"(\sum \mathrm{dY} \circ \mathrm{output})", R"(\mathrm{dY}\text{, of the file})"}};
    return kTex[static_cast<std::size_t>(kind)];
}

double half_squares(const Tensor& errors) {
    double sum = 0.0;
    for (const double error : errors.values()) sum += error * error;
    return sum / 2;
}

/// The selected output, else the one chosen last, else the first.
OutputCell offered_output(const AppState& state) {
    const auto& selected = state.selected;
    if (selected && selected->tensor == OperandId(Stage::output))
        return {state.batch, selected->row, selected->column};
    if (has_output(state.document(), state.loss.cell)) return state.loss.cell;
    return {std::min(state.batch, std::max<Index>(state.document().size.batch, 1) - 1), 0, 0};
}

void set_loss(AppState& state, const Loss& loss) {
    state.show_gradients = true;
    const Loss before = std::exchange(state.loss, loss);
    if (auto done = compute_gradients(state); !done) {
        state.loss = before;
        return show_message(state, done.error());
    }
    show_message(state, loss_sentence(state));
}

/// Whether the output has that cell; tells the person where it has not.
bool is_output(AppState& state, const CellRef& cell) {
    const bool there = cell.tensor == OperandId(Stage::output) && has_cell(state, cell);
    if (!there) warn(state, "{} is not one of the numbers of the output", cell_name(state, cell));
    return there;
}

}  // namespace

CrossEntropy cross_entropy_of(std::span<const double> logits, Index target) {
    const double most = std::ranges::max(logits);
    CrossEntropy made;
    double sum = 0.0;
    for (const double logit : logits) sum += made.gradient.emplace_back(std::exp(logit - most));
    for (double& share : made.gradient) share /= sum;
    const auto c = static_cast<std::size_t>(target);
    made.gradient[c] -= 1.0;
    made.loss = std::log(sum) + most - logits[c];
    return made;
}

Loss loss_of(const AppState& state) {
    Loss loss = state.loss;
    if (is_of_one_output(loss.kind) && !has_output(state.document(), loss.cell))
        loss.kind = LossKind::sum;
    if (loss.kind == LossKind::file && given_gradient(state.document()) == nullptr)
        loss.kind = LossKind::sum;
    return loss;
}

int loss_count(const AppState& state) {
    const bool given = given_gradient(state.document()) != nullptr;
    return static_cast<int>(LossKind::file) + (given ? 1 : 0);
}

Upstream upstream_of(const AppState& state, const Trace& trace) {
    const Loss loss = loss_of(state);
    const Tensor& output = trace[Stage::output];
    Upstream upstream;
    if (loss.kind == LossKind::sum || output.empty()) return upstream;
    if (loss.kind == LossKind::squared) {
        upstream.gradient = errors_of(state.document(), output);
        return upstream;
    }
    if (loss.kind == LossKind::file) {
        upstream.gradient = *given_gradient(state.document());
        return upstream;
    }
    upstream.gradient = Tensor(output.shape());
    if (loss.kind == LossKind::cross_entropy) {
        const auto row = upstream.gradient.matrix(loss.cell.batch, 0).row(loss.cell.row);
        std::ranges::transform(cross_entropy_at(output, loss.cell).gradient, row.begin(),
                               [](double share) { return static_cast<float>(share); });
        return upstream;
    }
    upstream.gradient(loss.cell.batch, 0, loss.cell.row, loss.cell.column) = 1.0F;
    return upstream;
}

float target_of(const Document& document, Index batch, Index row, Index column) {
    const OutputCell cell{batch, row, column};
    const auto found = std::ranges::find(document.targets, cell, &Target::cell);
    return found == document.targets.end() ? 0.0F : found->value;
}

std::optional<double> loss_value(const AppState& state) {
    const Tensor& output = (*state.trace)[Stage::output];
    if (output.empty()) return std::nullopt;
    const Loss loss = loss_of(state);
    if (loss.kind == LossKind::squared) return half_squares(errors_of(state.document(), output));
    if (loss.kind == LossKind::cross_entropy) return cross_entropy_at(output, loss.cell).loss;
    if (loss.kind == LossKind::cell)
        return output(loss.cell.batch, 0, loss.cell.row, loss.cell.column);
    double sum = 0.0;
    const bool given = loss.kind == LossKind::file;
    const auto weights = given ? given_gradient(state.document())->values() : output.values();
    for (std::size_t n = 0; n < weights.size(); ++n)
        sum += given ? static_cast<double>(weights[n]) * output.values()[n] : weights[n];
    return sum;
}

std::string loss_text(const AppState& state, const Loss& loss) {
    if (loss.kind == LossKind::sum) return "Σ output";
    if (loss.kind == LossKind::squared) return "½ Σ (output − target)²";
    if (loss.kind == LossKind::file) return "Σ dY ∘ output";
    const Document& document = state.document();
    const std::string sequence =
        document.size.batch > 1 ? fmt::format("sequence {}, ", loss.cell.batch) : "";
    const std::string row =
        sequence + axis_label(document, Axis::query, loss.cell.row, loss.cell.batch);
    if (loss.kind == LossKind::cross_entropy)
        return fmt::format("−ln softmax(output[{}])[{}]", row, loss.cell.column);
    return fmt::format("output[{}, {}]", row, loss.cell.column);
}

std::string loss_text(const AppState& state) { return loss_text(state, loss_of(state)); }

std::string loss_tex(const AppState& state) {
    const std::string own = tex_of(loss_of(state).kind).loss;
    return own.empty() ? tex::text_of(loss_text(state)) : own;
}

std::string loss_gradient_tex(const AppState& state) {
    return tex_of(loss_of(state).kind).gradient;
}

std::string loss_sentence(const AppState& state) {
    return fmt::format("Gradients of L = {}: how fast L grows with each number.", loss_text(state));
}

void carry_out(AppState& state, const ShowGradients& action) {
    if (action.on)
        if (auto done = state.gradients.compute(); !done) return show_message(state, done.error());
    state.show_gradients = action.on;
    show_message(state, action.on ? loss_sentence(state) : "The matrices show values again.");
}

void carry_out(AppState& state, const SetLoss& action) {
    if (is_empty(state.document()))
        return warn(state, "There is no output yet: type a sentence first");
    if (action.kind == LossKind::file && given_gradient(state.document()) == nullptr)
        return warn(state,
                    "The open document has no gradient of its output: expected a file with dY, or "
                    "with dO and no W_O");
    set_loss(state, {action.kind,
                     is_of_one_output(action.kind) ? offered_output(state) : state.loss.cell});
}

void carry_out(AppState& state, const SetLossCell& action) {
    if (!is_output(state, action.cell)) return;
    set_loss(state, {LossKind::cell, {state.batch, action.cell.row, action.cell.column}});
}

void carry_out(AppState& state, const SetTarget& action) {
    if (!is_output(state, action.cell)) return;
    const float value = static_cast<float>(action.value);
    if (!std::isfinite(value))
        return show_error(state, "A target must be a number from −3.4e38 to 3.4e38");
    const OutputCell cell{state.batch, action.cell.row, action.cell.column};
    const float before = target_of(state.document(), cell.batch, cell.row, cell.column);
    if (before == value) return;
    Document document = state.document();
    set_target(document, cell, value);
    const std::string text = fmt::format("Target of {}: {} → {}", cell_name(state, action.cell),
                                         number(before), number(value));
    if (edit_document(state, std::move(document), text)) show_message(state, text + ".");
}

void clear_loss(AppState& state) {
    if (state.loss == Loss{}) return;
    state.loss = {};
    if (auto done = compute_gradients(state); !done) show_message(state, done.error());
}

LossView build_loss_view(const AppState& state) {
    LossView view;
    view.shown = state.show_gradients;
    view.current = static_cast<int>(loss_of(state).kind);
    for (int kind = 0; kind < loss_count(state); ++kind)
        view.choices.push_back(
            "L = " + loss_text(state, {static_cast<LossKind>(kind), offered_output(state)}));
    if (is_of_one_output(loss_of(state).kind))
        view.choices[view.current] = "L = " + loss_text(state);
    return view;
}

void set_target(Document& document, const OutputCell& cell, float value) {
    std::erase_if(document.targets, [&](const Target& target) { return target.cell == cell; });
    if (value != 0.0F) document.targets.push_back({cell, value});
}

bool has_output(const Document& document, const OutputCell& cell) {
    const Dimensions& size = document.size;
    return cell.batch >= 0 && cell.batch < size.batch && cell.row >= 0 && cell.row < size.tq &&
           cell.column >= 0 && cell.column < size.d_out;
}

const Tensor* given_gradient(const Document& document) {
    const auto layer = static_cast<std::size_t>(document.layer);
    if (layer >= document.d_output.size() || !document.d_output[layer]) return nullptr;
    const Dimensions& size = document.size;
    const Tensor& gradient = *document.d_output[layer];
    return gradient.shape() == Shape{size.batch, 1, size.tq, size.d_out} ? &gradient : nullptr;
}

void keep_targets_inside(Document& document) {
    std::erase_if(document.targets,
                  [&](const Target& target) { return !has_output(document, target.cell); });
}

}  // namespace attn::view

#include "app/workspaces/step/view.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/common/document/loss.h"
#include "app/common/format.h"
#include "app/common/words.h"
#include "app/workspaces/step/explain.h"
#include "app/workspaces/step/gradient_view.h"
#include "app/workspaces/step/grids.h"
#include "app/workspaces/step/predict.h"
#include "app/workspaces/step/view_parts.h"
#include "app/workspaces/step/workspace.h"
#include "core/tex.h"

namespace attn::view {
namespace {

constexpr std::string_view kFirstHint =
    "Press → to compute the next stage. Click any number to see where it comes from.";
constexpr std::string_view kEmptyHint = "Type a sentence and press Enter.";

/// The formula as it is here, where the table speaks of the general case.
/// " + b_Q" where there is that bias.
std::string bias_tex(const Document& document, Param bias) {
    return document.inputs->params[bias].empty() ? "" : " + " + tex_symbol(bias);
}

/// Q, K and V: given, or the document's own X times W, and its bias.
std::string projection_tex(const Document& document, const StageInfo& stage) {
    const bool toy = is_toy(document);
    if (!toy && !document.inputs->projects())
        return tex_symbol(stage.stage) + R"( = \text{ given})";
    const bool query = stage.stage == Stage::q;
    const Param bias = query ? Param::b_q : stage.stage == Stage::k ? Param::b_k : Param::b_v;
    const bool cross = !document.inputs->x_kv.empty() && !query;
    const std::string product = !cross                    ? std::string(stage.tex)
                                : stage.stage == Stage::k ? R"(K = X_{kv}\,W_K)"
                                                          : R"(V = X_{kv}\,W_V)";
    return product + bias_tex(document, bias);
}

std::string tex_of(const Document& document, const StageInfo& stage) {
    if (stage.stage == Stage::output) {
        const std::string_view heads =
            document.size.heads == 1 ? R"(\mathrm{context})" : R"(\mathrm{concat}(\mathrm{heads}))";
        return mixes(document)
                   ? fmt::format(R"(Y = {}\,W_O)", heads) + bias_tex(document, Param::b_o)
                   : fmt::format(R"(Y = {}\text{{, there is no }} W_O)", heads);
    }
    if (stage.stage == Stage::scaled) return "S = " + tex_scaled(document.spec);
    if (stage.stage == Stage::q || stage.stage == Stage::k || stage.stage == Stage::v)
        return projection_tex(document, stage);
    return std::string(stage.tex);
}

/// Whether the canvas shows token vectors as they were given, not word + position.
bool are_given(const AppState& state, Stage stage) {
    return (stage == Stage::x || stage == Stage::x_kv) && is_kept(state, stage) &&
           !is_empty(state.document()) && embedding_grids(state, stage).empty();
}

/// ": same word", what the head shown was built to do; "" where nothing is known.
std::string head_name_words(const AppState& state) {
    const auto& names = state.document().head_names;
    return names.empty() ? "" : ": " + names[static_cast<std::size_t>(state.head)];
}

/// Title and formula; of the gradient where that is what the canvas shows.
void head(const AppState& state, const StageInfo& stage, StepView& view) {
    view.title = stage.title;
    view.tex = tex_of(state.document(), stage);
    if (are_given(state, stage.stage))
        view.tex = tex_symbol(stage.stage) + R"([i] = \text{the numbers of token } i)";
    view.formula = tex::plain_text(view.tex);
    if (state.show_gradients) {
        view.title += ": gradient";
        view.tex = gradient_formula(state, stage.stage) + ", L = ";
        view.formula = tex::plain_text(view.tex + tex::text_of(loss_words(state)));
        view.tex += loss_tex(state);
    }
    if (const std::string shown = shown_head_words(state, stage.stage); !shown.empty())
        view.title += ", " + shown + head_name_words(state);
}

/// "1 → 3" at the cell that was just edited.
std::optional<FlashView> flash_of(const AppState& state) {
    const auto& flash = step_look(state).flash;
    if (!flash) return std::nullopt;
    const double left = 1.0 - flash->age_s / kFlashSeconds;
    return FlashView{
        flash->cell,
        fmt::format("{} → {}", significant(flash->before, 4), significant(flash->after, 4)),
        state.reduced_motion ? 1.0 : std::clamp(left, 0.0, 1.0)};
}

std::string hint_of(const AppState& state) {
    if (is_empty(state.document()))
        return is_toy(state.document()) ? std::string(kEmptyHint) : empty_words(state.document());
    return step_look(state).stepped_once ? "" : std::string(kFirstHint);
}

std::string reason_not_kept(const AppState& state, Stage stage) {
    if (const std::string reason = step_lacks(state); !reason.empty()) return reason;
    if (!(*state.trace)[stage].empty()) return {};
    return fmt::format("The backend {} does not keep this stage ({}).", state.backend_used,
                       info(stage).symbol);
}

}  // namespace

StepView build_step_view(const AppState& state) {
    const Stage stage = state.stage;
    StepView view;
    for (const Stage on_ribbon : ribbon_stages(state.document()))
        view.ribbon.push_back(ribbon_item(state, on_ribbon));
    head(state, info(stage), view);
    view.words = is_guessing(state) ? "" : words_of(state, stage);
    view.hint = hint_of(state);
    view.controls = controls_of(state);
    view.flash = flash_of(state);
    view.map = map_form(state, stage) != MapForm::own;
    if (view.map) return view;
    view.unavailable = reason_not_kept(state, stage);
    if (!view.unavailable.empty()) return view;
    view.operands = canvas_of(state, stage);
    view.result = result_of(state, stage);
    if (!view.operands.empty() && view.operands[0].slot == Slot::hero)
        view.result.slot = Slot::right;
    const Document& document = state.document();
    view.queries = axis_labels(document, Axis::query, document.size.tq);
    view.keys = axis_labels(document, Axis::key, document.size.tk);
    focus_grids(state, view);
    light_operand(state, view);
    view.fade = step_look(state).fade;
    if (view.fade < 1.0) view.previous = result_of(state, step_look(state).previous);
    const bool weighs = stage == Stage::weights || stage == Stage::dropped;
    if (!weighs || state.show_gradients) return view;
    view.rows = row_readouts(state);
    view.result.sides = row_sides(state, view);
    return view;
}

}  // namespace attn::view

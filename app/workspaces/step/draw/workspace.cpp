#include "app/common/draw/workspace.h"
#include "app/common/document/requests.h"
#include "app/common/draw/around.h"
#include "app/common/draw/parts.h"
#include "app/common/draw/typing.h"
#include "app/common/map/actions.h"
#include "app/common/map/draw/parts.h"
#include "app/common/map/map_cell.h"
#include "app/common/state.h"
#include "app/common/workspace.h"
#include "app/workspaces/step/actions.h"
#include "app/workspaces/step/draw/canvas.h"
#include "app/workspaces/step/draw/heading.h"
#include "app/workspaces/step/draw/heads.h"
#include "app/workspaces/step/map.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kBeforeControls = 16.0F;
constexpr float kTextAndHeads = 800.0F, kAndHeads = 560.0F;
constexpr float kUnderHeadline = 72.0F;  // under the headline
constexpr float kLeastControls = 96.0F;  // "Model" alone

/// The stages and the controls, in one bar; returns where it ends, and the button of the model's popover in `model`.
float draw_top(const StepView& view, const WorkArea& r, const Frame& frame, ModelButton& model,
               Actions& out) {
    const Box& work = r.work;
    const float bottom = bar_height(frame);
    const ImVec2 from{work.low.x + r.margin, work.low.y};
    const ImVec2 end{work.high.x - r.margin, bottom};
    const float space = std::max(1.0F, end.x - from.x - frame.px(kBeforeControls + kLeastControls));
    const float split = from.x + ribbon_width(view.ribbon, space, frame);
    panel("ribbon", {from, {split, bottom}}, [&] { draw_ribbon(view.ribbon, frame, out); });
    panel("controls", {{split + frame.px(kBeforeControls), work.low.y}, end},
          [&] { model = draw_controls(view.controls, frame, out); });
    frame.painter.line({work.low.x, bottom}, {work.high.x, bottom}, frame.theme.line, frame.px(1));
    return bottom;
}

CellRef cell_of(const AppState& state, const large::Cell& cell) {
    return {state.stage, cell.row, cell.column};
}

/// Where Step has the numbers itself, a cell of the map is one of its own.
Action in_step(const AppState& state, const Action& action) {
    const auto* const select = action.as<SelectMapCell>();
    if (select == nullptr || view::is_map_alone(state)) return action;
    return SelectCell{cell_of(state, select->cell)};
}

/// The map that Large has, in the canvas's place. Returns the cell under the pointer where Step has its number.
std::optional<CellRef> draw_stage_map(const AppState& state, const Frame& frame, Actions& out) {
    const MapView view = build_map_view(state);
    Actions asked;
    draw_map_alone({view, view::map_look(state), frame, asked});
    for (const Action& action : asked) out.push_back(in_step(state, action));
    if (!view::map_look(state).hovered || view::is_map_alone(state)) return std::nullopt;
    return cell_of(state, *view::map_look(state).hovered);
}

/// The same of the stage's own numbers.
std::optional<CellRef> draw_stage_cells(const AppState& state, const MapView& map,
                                        const Frame& frame, Actions& out) {
    const Area space = space_left();
    const MapsPointed done =
        draw_maps({&map, 1}, view::map_look(state), {space.low, space.high}, frame, out);
    if (done.clicked) out.push_back(SelectCell{cell_of(state, *done.clicked)});
    return done.hovered ? std::optional(cell_of(state, *done.hovered)) : std::nullopt;
}

/// Draws the canvas with the heads at its right. Returns the cell under the pointer.
Pointed draw_middle(const AppState& state, const StepView& view, const Box& box, const Frame& frame,
                    Actions& out) {
    const HeadsView heads = build_heads_view(state);
    // Under the words the columns have that room, unless there is room for both; the bar switches heads too.
    const bool text = !view.sentence.empty() && box.size().x < frame.px(kTextAndHeads);
    const bool narrow = box.size().x < frame.px(kAndHeads);  // beside a drawer
    const bool alone = text || narrow || frame.is_canvas_alone();
    const float strip = alone ? 0.0F : heads_width(heads, frame);
    const auto prediction = build_predict_view(state);
    Pointed pointed;
    if (strip > 0.0F)
        panel("heads", {{box.high.x - strip, box.low.y + frame.px(kUnderHeadline)}, box.high},
              [&] { draw_heads(heads, around(frame), out); });
    const float right = box.high.x - strip - (strip > 0.0F ? frame.px(12) : 0.0F);
    panel("canvas", {box.low, {right, box.high.y}}, [&] {
        if (prediction) {
            pointed.symbol = draw_heading(view, frame);
            return draw_prediction(*prediction, frame, out);
        }
        if (!view.map && !view.cells)
            return pointed.add(draw_canvas(view, view::step_look(state).editing, frame, out));
        pointed.symbol = draw_heading(view, frame);
        const auto over = view.cells ? draw_stage_cells(state, *view.cells, frame, out)
                                     : draw_stage_map(state, frame, out);
        if (over) pointed.cell = over;
    });
    return pointed;
}

}  // namespace

std::string draw_step_workspace(const AppState& state, const WorkArea& r, const Frame& frame,
                                Actions& out) {
    StepView view = build_step_view(state);
    view.reasons = shown_workspace(state).reasons(state);
    const Box& work = r.work;
    ModelButton model;
    const float top = r.chrome ? draw_top(view, r, around(frame), model, out) : work.low.y;
    const float edge = work.high.x - r.inspector;
    const float split = edge - pushed_by(r, edge - work.low.x - 2.0F * r.margin, frame);
    const bool low = is_lower_than(kLowestWindow, frame);
    const float above = std::min(r.margin, frame.px(low ? 4.0F : 16.0F));
    Pointed pointed = draw_middle(
        state, view, {{work.low.x + r.margin, top + above}, {split - r.margin, work.high.y}}, frame,
        out);
    open_inspector(state, r, out);
    side_panel(r, top, "inspector", frame, [&](const Frame& beside) {
        pointed.add(draw_inspector(shown_workspace(state).inspector(state), beside, out));
    });
    if (r.chrome && view::step_look(state).model_open)
        draw_model(view.controls, model, around(frame), out);
    if (view::step_look(state).refused && state.selected && !typed_digits(frame).empty())
        out.push_back(ExplainSource{*state.selected});
    if (pointed.cell != state.hovered) out.push_back(HoverCell{pointed.cell});
    if (pointed.symbol != view.highlighted) out.push_back(HoverOperand{pointed.symbol});
    return view::computed_text(state);
}

extern const WorkspacePanel kStepPanel{"step", draw_step_workspace};

}  // namespace attn::ui

#include "app/workspaces/kinds/draw/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kOutputs = 152.0F, kOutputRow = 28.0F;
constexpr float kRow = 0.44F;  // of the height

void add_comparison(const view::KindsView& view, Parts& parts, const Frame& frame,
                    view::Actions& out) {
    parts.heading = {view.sentence, view.note};
    if (!view.difference) return;
    parts.hero = {"kinds", "matrices",
                  [&](const Box& box) { draw_kinds(view, 0, 3, box, frame, out); }};
    parts.singles =
        parts_of({view.a.weights, view.b.weights, *view.difference},
                 [&](const Box& box, std::size_t n) { draw_kinds(view, n, 1, box, frame, out); });
    if (view.outputs)
        parts.others.push_back({"outputs", "outputs",
                                [&](const Box& box) {
                                    draw_vectors(*view.outputs, "outputs", box.low, box.size().x,
                                                 frame.px(kOutputRow), frame);
                                },
                                CanvasPart::Where::lowest, 0.0F,
                                [&](ImVec2) { return frame.px(kOutputs); }});
    parts.others.push_back(
        {"table", "numbers",
         [&](const Box& box) { draw_kinds_table(view.rows, box.low, box.size().x, frame); },
         CanvasPart::Where::below, 0.0F,
         [&](ImVec2 room) { return kinds_table_height(view.rows, room.x, frame); }});
}

}  // namespace

std::string draw_kinds_workspace(const view::AppState& state, const WorkArea& r, const Frame& frame,
                                 view::Actions& out) {
    const view::KindsView view = build_kinds_view(state);
    const bool is_online = view::kinds_look(state).online;
    const view::OnlineView online = is_online ? build_online_view(state) : view::OnlineView{};
    Parts parts{.lacks = view.lacks.empty() ? online.fault : view.lacks,
                .controls = [&](ControlBar& bar) { draw_kinds_bar(view, online, is_online, bar); },
                .more = "Settings",
                .status = "float64"};
    if (is_online) {
        parts.heading = {online.sentence,
                         online.heading + ", " + online.step + ". " + online.memory};
        parts.hero = {"online", "scores",
                      [&](const Box& box) { draw_online_keys(online, box, frame); }};
        parts.others = {{"row", "result",
                         [&](const Box& box) { draw_online_row(online, box, frame); },
                         CanvasPart::Where::below, kRow}};
    } else {
        add_comparison(view, parts, frame, out);
    }
    return draw_parts(state, r, parts, frame, out);
}

extern const WorkspacePanel kKindsPanel;
const WorkspacePanel kKindsPanel{"kinds", draw_kinds_workspace};

}  // namespace attn::ui

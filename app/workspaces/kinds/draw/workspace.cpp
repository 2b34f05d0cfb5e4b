#include "app/workspaces/kinds/draw/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kOutputs = 152.0F, kOutputRow = 28.0F;
constexpr float kRow = 0.44F;  // of the height

void add_comparison(const view::KindsView& view, const view::MapLook& look, Parts& parts,
                    const Frame& frame, view::Actions& out) {
    parts.heading = {view.sentence, view.note};
    if (!view.difference && view.maps.empty()) return;
    const auto draw = [&](const Box& box, std::size_t n, std::size_t count) {
        view.maps.empty() ? draw_kinds(view, n, count, box, frame, out)
                          : draw_kinds_maps(view, look, n, count, box, frame, out);
    };
    parts.hero = {"kinds", "matrices", [draw](const Box& box) { draw(box, 0, 3); }};
    parts.singles =
        parts_of(view.difference ? std::vector{view.a.weights, view.b.weights, *view.difference}
                                 : titles_of(view.maps),
                 [draw](const Box& box, std::size_t n) { draw(box, n, 1); });
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
        add_comparison(view, view::map_look(state), parts, frame, out);
    }
    return draw_parts(state, r, parts, frame, out);
}

extern const WorkspacePanel kKindsPanel;
const WorkspacePanel kKindsPanel{"kinds", draw_kinds_workspace};

}  // namespace attn::ui

#include "app/common/document/requests.h"
#include "app/common/draw/draw.h"
#include "app/workspaces/heads/draw/parts.h"

namespace attn::ui {
namespace {

// Of the width.
constexpr float kScatter = 0.5F, kTable = 0.62F, kWideTable = 0.7F;

float list_width(const AllHeadsView& view, ImVec2 room, const Frame& frame) {
    if (view.list == HeadsList::scatter || view.sweep)
        return std::min(room.x * kScatter, room.y + frame.px(80));
    if (view.table && !view.table->labels) return room.x * kWideTable;
    if (view.table) return std::min(heads_table_width(view, frame), room.x * kTable);
    return thumbs_width(view, room, frame);
}

void draw_list(const AllHeadsView& view, const Box& box, const Frame& frame, Actions& out) {
    if (view.list == HeadsList::scatter) return draw_heads_scatter(view, box, frame, out);
    if (view.table) return draw_heads_table(view, box, frame, out);
    if (!view.list_lacks.empty()) {
        ImGui::SetCursorScreenPos({box.low.x, box.low.y});
        return wrapped_words(frame, frame.fonts.title, frame.theme.muted, view.list_lacks);
    }
    if (view.sweep) return draw_head_sweep(view, box, frame, out);
    draw_thumbs(view, box, frame, out);
}

void draw_large(const AllHeadsView& view, const MapLook& look, const Box& box, const Frame& frame,
                Actions& out) {
    const std::string& lacks = view.circuit                ? view.circuit->lacks
                               : !view.large_lacks.empty() ? view.large_lacks
                               : view.dimensions           ? view.dimensions->lacks
                                                           : view.large_lacks;
    if (!lacks.empty()) return wrapped_words(frame, frame.fonts.title, frame.theme.muted, lacks);
    if (view.circuit) return draw_head_circuit(view, look, box, frame, out);
    if (view.dimensions) return draw_head_dimensions(view, box, frame, out);
    if (!view.lines.empty()) return draw_head_lines(view, box, frame, out);
    if (!view.texts.empty()) return draw_head_texts(view, box, frame, out);
    if (!view.maps.empty()) return draw_head_maps(view, look, box, frame, out);
    draw_head_grids(view, box, frame, out);
}

}  // namespace

std::string draw_heads_workspace(const AppState& state, const WorkArea& r, const Frame& frame,
                                 Actions& out) {
    const AllHeadsView view = build_all_heads_view(state);
    Parts parts{.lacks = view.lacks.empty() ? view.pending : view.lacks,
                .heading = {view.point, view.controls.count, view.notes, view.why},
                .more = "Show",
                .status = view::computed_words(state)};
    if (view.lacks.empty()) parts.controls = [&](ControlBar& bar) { draw_heads_bar(view, bar); };
    parts.hero = {"one head", "one head", [&](const Box& box) {
                      draw_large(view, view::map_look(state), box, frame, out);
                  }};
    parts.others = {{"all heads", "all heads",
                     [&](const Box& box) { draw_list(view, box, frame, out); },
                     CanvasPart::Where::left, 0.0F,
                     [&](ImVec2 room) { return list_width(view, room, frame); }}};
    return draw_parts(state, r, parts, frame, out);
}

extern const WorkspacePanel kHeadsPanel{"heads", draw_heads_workspace};

}  // namespace attn::ui

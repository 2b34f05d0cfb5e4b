#include "app/common/document/requests.h"
#include "app/common/document/swept.h"
#include "app/common/draw/draw.h"
#include "app/workspaces/heads/compute.h"
#include "app/workspaces/heads/draw/parts.h"

namespace attn::ui {
namespace {

// Of the width.
constexpr float kScatter = 0.5F, kTable = 0.62F, kWideTable = 0.7F;

float list_width(const AllHeadsView& view, ImVec2 space, const Frame& frame) {
    if (view.list == HeadsList::scatter || view.sweep)
        return std::min(space.x * kScatter, space.y + frame.px(80));
    if (view.table && !view.table->labels) return space.x * kWideTable;
    if (view.table) return std::min(heads_table_width(view, frame), space.x * kTable);
    return thumbs_width(view, space, frame);
}

void draw_list(const AllHeadsView& view, const Box& box, const Frame& frame, Actions& out) {
    if (view.list == HeadsList::scatter) return draw_heads_scatter(view, box, frame, out);
    if (view.table) return draw_heads_table(view, box, frame, out);
    if (!view.list_missing_data.empty()) {
        ImGui::SetCursorScreenPos({box.low.x, box.low.y});
        return wrapped_text(frame, frame.fonts.title, frame.theme.muted, view.list_missing_data);
    }
    if (view.sweep) return draw_head_sweep(view, box, frame, out);
    draw_thumbs(view, box, frame, out);
}

void draw_large(const AllHeadsView& view, const MapLook& look, const Box& box, const Frame& frame,
                Actions& out) {
    const std::string& missing_data = view.circuit ? view.circuit->missing_data
                                      : !view.large_missing_data.empty() ? view.large_missing_data
                                      : view.dimensions ? view.dimensions->missing_data
                                      : view.alignment  ? view.alignment->missing_data
                                                        : view.large_missing_data;
    if (!missing_data.empty())
        return wrapped_text(frame, frame.fonts.title, frame.theme.muted, missing_data);
    if (view.circuit) return draw_head_circuit(view, look, box, frame, out);
    if (view.dimensions) return draw_head_dimensions(view, box, frame, out);
    if (view.alignment) return draw_head_alignment(view, box, frame, out);
    if (!view.lines.empty()) return draw_head_lines(view, box, frame, out);
    if (!view.images.empty()) return draw_head_images(view, box, frame, out);
    if (!view.texts.empty()) return draw_head_texts(view, box, frame, out);
    if (!view.maps.empty()) return draw_head_maps(view, look, box, frame, out);
    draw_head_grids(view, box, frame, out);
}

}  // namespace

std::string draw_heads_workspace(const AppState& state, const WorkArea& r, const Frame& frame,
                                 Actions& out) {
    const AllHeadsView view = build_all_heads_view(state);
    Parts parts{
        .missing_data = view.missing_data.empty() ? view.pending : view.missing_data,
        .heading = {view.point, view.controls.count.empty() ? view.answer : view.controls.count,
                    view.notes, view.why},
        .status = view::computed_text(state)};
    parts.heading.warns = view.warns;
    if (view.missing_data.empty())
        parts.controls = [&](ControlBar& bar) { draw_heads_bar(view, bar); };
    parts.hero = {"one head", "one head", [&](const Box& box) {
                      draw_large(view, view::map_look(state), box, frame, out);
                  }};
    // The picture of the only head would repeat its matrix.
    const bool only = view.thumbs.size() == 1 && view.list == HeadsList::pictures &&
                      view.grids.size() == 1 && !view.table && !view.sweep;
    if (!only)
        parts.others = {{"all heads", "all heads",
                         [&](const Box& box) { draw_list(view, box, frame, out); },
                         CanvasPart::Where::left, 0.0F,
                         [&](ImVec2 space) { return list_width(view, space, frame); }}};
    // A narrow figure has room for one part: a grid of all heads, not one of them.
    if (frame.is_canvas_alone() && view.thumbs.size() > 1 && view.grids.size() == 1 &&
        view.list == HeadsList::pictures)
        parts.singles = {parts.others.front(), parts.hero};
    return draw_parts(state, r, parts, frame, out);
}

extern const WorkspacePanel kHeadsPanel{"heads", draw_heads_workspace};

}  // namespace attn::ui

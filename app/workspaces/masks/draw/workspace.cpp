#include <algorithm>

#include "app/common/document/requests.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/inspector.h"
#include "app/common/draw/workspace.h"
#include "app/workspaces/masks/draw/parts.h"
#include "app/workspaces/masks/workspace.h"

namespace attn::ui {
namespace {

using view::MasksView;

// Design units.
constexpr float kBar = 40.0F;
constexpr float kNote = 22.0F;
constexpr float kWorkspaceGap = 12.0F;
constexpr float kWorkspaceFoot = 8.0F;
constexpr float kMostControls = 0.42F;  // of the height

void hairline(ImVec2 from, ImVec2 to, const Frame& frame) {
    frame.painter.line(from, to, frame.theme.line, frame.px(1));
}

/// The first line, in two where it is long; returns where it ends.
float draw_point(const MasksView& view, const Box& box, const Frame& frame) {
    const bool fits = frame.text_width(frame.fonts.title, view.point) <= box.size().x;
    const Font& font = fits ? frame.fonts.title : frame.fonts.body;
    const float height = font.px * (fits ? 1.4F : 2.6F);
    panel("point", {box.low, {box.high.x, box.low.y + height}}, [&] {
        wrapped_words(frame, font, view.warns ? frame.theme.warning : frame.theme.text, view.point);
    });
    return box.low.y + height;
}

/// Beneath the matrices: a line each.
void draw_notes(const MasksView& view, const Box& box, const Frame& frame) {
    float y = box.low.y;
    for (const std::string& note : view.notes) {
        draw_text_in(frame, frame.fonts.body, {box.low.x, y}, {box.high.x, y + frame.px(kNote)},
                     Align::left, frame.theme.text,
                     fit_text(frame, frame.fonts.body, note, box.size().x));
        y += frame.px(kNote);
    }
}

/// What sets the mask, or the conventions; scrolls where it has not its whole height.
void draw_controls(const MasksView& view, float width, float whole, const Frame& frame,
                   view::Actions& out) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 high{low.x + std::min(width, ImGui::GetContentRegionAvail().x), low.y + whole};
    view.tab == view::MasksTab::compose ? draw_switches(view, low, high, frame, out)
                                        : draw_lists(view, low, high, frame, out);
    ImGui::SetCursorScreenPos({low.x, high.y - 1.0F});
    ImGui::Dummy({1.0F, 1.0F});
}

/// First line, matrices, notes, and what sets them.
void draw_body(const MasksView& view, const Box& box, bool chrome, const Frame& frame,
               view::Actions& out) {
    const float top = draw_point(view, box, frame) + frame.px(kWorkspaceGap) / 2;
    const bool compose = view.tab == view::MasksTab::compose;
    const float width = box.size().x;
    const float whole = !chrome   ? 0.0F
                        : compose ? switches_height(width, box.size().y, frame)
                                  : lists_height(view, width, frame);
    const float controls = std::min(whole, box.size().y * kMostControls);
    const float notes = frame.px(kNote) * static_cast<float>(view.notes.size());
    const float foot = box.high.y - frame.px(kWorkspaceFoot) - controls;
    const float grids = foot - notes - frame.px(kWorkspaceGap);
    const float end = draw_pair_grids(view, {box.low.x, top}, {box.high.x, grids}, frame, out);
    const float beneath = std::min(end + frame.px(kWorkspaceGap), grids);
    draw_notes(view, {{box.low.x, beneath}, {box.high.x, beneath + notes}}, frame);
    if (!chrome) return;
    // Near what they change, and at the same place when a note comes.
    const float near = beneath + std::max(notes, frame.px(kNote) * 3) + frame.px(kWorkspaceGap);
    const float at = std::min(foot, near);
    panel("controls", {{box.low.x, at}, {box.high.x, at + controls}},
          [&] { draw_controls(view, width, whole, around(frame), out); });
}

void draw_side(const view::AppState& state, const WorkArea& area, float top, const Frame& frame,
               view::Actions& out) {
    const Box box = area.side(top);
    panel("side", box, [&] {
        fill_side(area, top, frame);
        panel("inspector",
              {{box.low.x + frame.px(16), box.low.y + frame.px(12)},
               {box.high.x - frame.px(4), box.high.y}},
              [&] { draw_inspector(view::masks_inspector(state), frame, out); });
    });
}

}  // namespace

std::string draw_masks_workspace(const view::AppState& state, const WorkArea& r, const Frame& frame,
                                 view::Actions& out) {
    const std::string lacks = view::masks_lacks(state);
    const Box whole{{r.work.low.x + r.margin, r.work.low.y + frame.px(16)},
                    {r.work.high.x - r.margin - r.inspector, r.work.high.y}};
    if (!lacks.empty()) {
        panel("lacks", whole,
              [&] { wrapped_words(frame, frame.fonts.title, frame.theme.muted, lacks); });
        return {};
    }
    const MasksView view = build_masks_view(state);
    float top = r.work.low.y;
    if (r.chrome) {
        const Frame chrome = around(frame);
        top += frame.px(kBar);
        panel("bar",
              {{r.work.low.x + r.margin, r.work.low.y + frame.px(6)},
               {r.work.high.x - r.margin, top}},
              [&] { draw_masks_bar(view, chrome, out); });
        hairline({r.work.low.x, top}, {r.work.high.x, top}, chrome);
    }
    const Box box{{whole.low.x, top + frame.px(kWorkspaceGap)}, whole.high};
    panel("masks", box, [&] { draw_body(view, box, r.chrome, frame, out); });
    if (r.has_side()) draw_side(state, r, top + frame.px(1), around(frame), out);
    return view::computed_words(state);
}

/// Cells under a diagonal, and those that it leaves out.
void draw_masks_icon(view::Painter& painter, view::Point low, float size, view::Color color,
                     float thin) {
    const float step = size / 3;
    for (int row = 0; row < 3; ++row)
        for (int column = 0; column < 3; ++column) {
            const view::Point a{low.x + step * static_cast<float>(column),
                                low.y + step * static_cast<float>(row)};
            const view::Point b{a.x + step - thin * 2, a.y + step - thin * 2};
            if (column <= row)
                painter.rect(a, b, color);
            else
                painter.line({a.x, b.y}, {b.x, a.y}, color, thin);
        }
}

extern const WorkspacePanel kMasksPanel;
const WorkspacePanel kMasksPanel{"masks", draw_masks_icon, draw_masks_workspace};

}  // namespace attn::ui

#include <algorithm>
#include <cmath>

#include "app/common/document/requests.h"
#include "app/common/draw/around.h"
#include "app/common/draw/draw.h"
#include "app/workspaces/heads/draw/parts.h"

namespace attn::ui {
namespace {

using view::AllHeadsView;

// Design units.
constexpr float kMostBar = 0.32F;  // of the height
constexpr float kScatter = 0.5F;   // of the width
constexpr float kTable = 0.62F;

/// The first line, in several where it is long; returns where it ends.
float draw_point(const AllHeadsView& view, const Box& box, const Frame& frame) {
    const bool fits = frame.text_width(frame.fonts.title, view.point) <= box.size().x;
    const Font& font = fits ? frame.fonts.title : frame.fonts.body;
    // a word that does not fit leaves a part of its line empty
    const float full = 1.1F * frame.text_width(font, view.point) / std::max(box.size().x, 1.0F);
    const float lines = fits ? 1.0F : std::max(2.0F, std::ceil(full));
    const float height = font.px * (0.2F + 1.2F * lines);
    panel("point", {box.low, {box.high.x, box.low.y + height}},
          [&] { wrapped_words(frame, font, frame.theme.text, view.point); });
    return box.low.y + height;
}

float draw_notes(const AllHeadsView& view, float top, const Box& box, const Frame& frame) {
    for (const std::string& note : view.notes) {
        draw_fitted(frame, frame.fonts.body, {box.low.x, top},
                    {box.high.x, top + frame.px(kTextRow)}, Align::left, frame.theme.warning, note);
        top += frame.px(kTextRow);
    }
    return top;
}

/// One sentence in the place of what it says is not there.
void draw_lack(const char* id, const std::string& sentence, const Box& box, const Frame& frame) {
    panel(id, box, [&] { wrapped_words(frame, frame.fonts.title, frame.theme.muted, sentence); });
}

float list_width(const AllHeadsView& view, ImVec2 room, const Frame& frame) {
    if (view.list == view::HeadsList::scatter)
        return std::min(room.x * kScatter, room.y + frame.px(80));
    if (view.list == view::HeadsList::table)
        return std::min(heads_table_width(view, frame), room.x * kTable);
    return thumbs_width(view, room, frame);
}

void draw_list(const AllHeadsView& view, const Box& box, const Frame& frame, view::Actions& out) {
    if (view.list == view::HeadsList::scatter) return draw_heads_scatter(view, box, frame, out);
    if (view.list == view::HeadsList::table) return draw_heads_table(view, box, frame, out);
    draw_thumbs(view, box, frame, out);
}

void draw_large(const AllHeadsView& view, const Box& box, const Frame& frame, view::Actions& out) {
    if (!view.large_lacks.empty()) return draw_lack("large", view.large_lacks, box, frame);
    if (view.dimensions && !view.dimensions->lacks.empty())
        return draw_lack("large", view.dimensions->lacks, box, frame);
    if (view.dimensions) return draw_head_dimensions(view, box, frame, out);
    if (!view.lines.empty()) return draw_head_lines(view, box, frame, out);
    if (!view.texts.empty()) return draw_head_texts(view, box, frame, out);
    draw_head_grids(view, box, frame, out);
}

/// All heads left, the head that is shown right of them.
void draw_body(const AllHeadsView& view, const Box& box, const Frame& frame, view::Actions& out) {
    if (!view.pending.empty()) return draw_lack("pending", view.pending, box, frame);
    const float point = draw_point(view, box, frame);
    const float top = draw_notes(view, point, box, frame) + frame.px(kSpace12) / 2;
    const Box whole{{box.low.x, top}, {box.high.x, box.high.y - frame.px(kSpace8)}};
    const float width = list_width(view, whole.size(), frame);
    const Box list{whole.low, {whole.low.x + width, whole.high.y}};
    panel("list", list, [&] { draw_list(view, list, frame, out); });
    const Box hero{{whole.low.x + width + frame.px(kSpace12), whole.low.y}, whole.high};
    panel("hero", hero, [&] { draw_large(view, hero, frame, out); });
}

}  // namespace

std::string draw_heads_workspace(const view::AppState& state, const WorkArea& r, const Frame& frame,
                                 view::Actions& out) {
    const AllHeadsView view = build_all_heads_view(state);
    if (draw_lacks(view.lacks, r, frame)) return {};
    // What has no room is scrolled to: the heads are what a person came for.
    const float wanted = heads_bar_height(view, r.work.size().x - 2 * r.margin, frame);
    const float height = std::min(wanted, kMostBar * r.work.size().y);
    const float top = bar_panel(r, height, frame,
                                [&](const Frame& chrome) { draw_heads_bar(view, chrome, out); });
    const Box box = canvas_box(r, top + frame.px(kSpace12));
    panel("all heads", box, [&] { draw_body(view, box, frame, out); });
    side_inspector(state, r, top, frame, out);
    return view::computed_words(state);
}

extern const WorkspacePanel kHeadsPanel;
const WorkspacePanel kHeadsPanel{"heads", draw_heads_workspace};

}  // namespace attn::ui

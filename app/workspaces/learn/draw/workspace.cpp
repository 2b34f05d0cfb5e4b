#include <cmath>

#include "app/common/draw/around.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/grid.h"
#include "app/common/draw/grid_set.h"
#include "app/common/draw/inspector.h"
#include "app/common/draw/plot.h"
#include "app/common/draw/point.h"
#include "app/common/draw/widgets.h"
#include "app/workspaces/learn/actions.h"
#include "app/workspaces/learn/draw/parts.h"

namespace attn::ui {
namespace {

using view::LearnView;

// Design units.
constexpr float kGap = 16.0F;
constexpr float kFoot = 8.0F;
constexpr float kChoices = 36.0F;
constexpr float kMeasures = 240.0F;
constexpr float kMomentLine = 32.0F;
constexpr float kCurves = 0.4F;  // of the width, beside the maps
constexpr float kMaps = 0.62F;   // of the height, above the small plots
constexpr float kStacked = 600.0F;
constexpr float kLow = 380.0F;  // of the height: small curves have no room

/// The step under the pointer; the newest at the right end.
void draw_learn_plot(const view::PlotView& plot, const char* id, const Box& box,
                     const LearnView& view, const Frame& frame, view::Actions& out) {
    const PlotInput input = draw_plot(plot, id, box.low, box.high, false, frame);
    if (input.moved_to && view.done > 0) {
        const auto step = static_cast<Index>(std::lround(*input.moved_to));
        const bool newest = step >= view.done;
        const std::optional<Index> to = newest ? std::nullopt : std::optional<Index>(step);
        if (newest ? view.scrubbed : step != view.shown) out.push_back(view::ShowLearnStep{to});
    }
    if (input.steps != 0 && view.done > 0)
        out.push_back(view::ShowLearnStep{within<Index>(view.shown + input.steps, 0, view.done)});
}

void draw_learn_curve(const LearnView& view, const Box& box, const Frame& frame,
                      view::Actions& out) {
    float top = box.low.y;
    if (!frame.is_canvas_alone()) {
        ImGui::SetCursorScreenPos(box.low);
        if (const auto n =
                combo(frame, "##measure", {view.measures, view.measure}, frame.px(kMeasures),
                      {"The large curve", "Keys: Page up, Page down"}, out))
            out.push_back(view::ShowLearnMeasure{static_cast<view::LearnMeasure>(*n)});
        top += frame.px(kChoices);
    }
    draw_learn_plot(view.plots[0], "large", {{box.low.x, top}, box.high}, view, frame, out);
}

void draw_small_curves(const LearnView& view, const Box& box, const Frame& frame,
                       view::Actions& out) {
    const float middle = (box.low.x + box.high.x) / 2;
    draw_learn_plot(view.plots[1], "left", {box.low, {middle - frame.px(kGap), box.high.y}}, view,
                    frame, out);
    draw_learn_plot(view.plots[2], "right", {{middle + frame.px(kGap), box.low.y}, box.high}, view,
                    frame, out);
}

void draw_learn_maps(const LearnView& view, const Box& box, const Frame& frame,
                     view::Actions& out) {
    ImGui::SetCursorScreenPos(box.low);
    wrapped_words(frame, frame.fonts.body, frame.theme.muted, view.map_words);
    if (view.maps.empty()) return;
    const float top = box.low.y + frame.fonts.body.px * 2.8F;
    const GridResult done = draw_grid_set(view.maps, {box.low.x, top}, box.high, frame);
    if (done.clicked) {
        out.push_back(view::SelectLearnCell{done.clicked->row, done.clicked->column});
        out.push_back(view::ShowLearnPage{view::LearnPage::row});
    }
    if (const auto hovered = place_of(done.hovered); hovered != view.hovered)
        out.push_back(view::HoverLearnCell{hovered});
}

void draw_learn_body(const LearnView& view, const Box& box, bool chrome, const Frame& frame,
                     view::Actions& out) {
    float top = draw_point(view.point, box, frame);
    top = draw_notes(view.notes, {{box.low.x, top}, box.high}, frame) + frame.px(kFoot);
    if (!view.lacks.empty()) {
        ImGui::SetCursorScreenPos({box.low.x, top});
        wrapped_words(frame, frame.fonts.title, frame.theme.warning, view.lacks);
        return;
    }
    float foot = box.high.y;
    if (chrome && view.started) {
        const float lines = static_cast<float>(view.runs.size());
        foot -= frame.px(kMomentLine) * lines + frame.px(4);
        panel("moment", {{box.low.x, foot + frame.px(4)}, box.high},
              [&] { draw_learn_moment(view, around(frame), out); });
    }
    const bool wide = box.size().x >= frame.px(kStacked);
    const float split = wide ? box.low.x + box.size().x * kCurves : box.high.x;
    const float middle = wide ? foot : top + (foot - top) * 0.4F;
    const Box curve{{box.low.x, top}, {split - (wide ? frame.px(kGap) : 0.0F), middle}};
    panel("curve", curve, [&] { draw_learn_curve(view, curve, frame, out); });
    const float left = wide ? split + frame.px(kGap) : box.low.x;
    const float begin = wide ? top : middle + frame.px(kGap);
    const bool small_curves = wide && foot - begin >= frame.px(kLow);
    const float below = small_curves ? begin + (foot - begin) * kMaps : foot;
    const Box maps{{left, begin}, {box.high.x, below}};
    panel("maps", maps, [&] { draw_learn_maps(view, maps, frame, out); });
    if (!small_curves) return;
    const Box small{{left, below + frame.px(kGap)}, {box.high.x, foot}};
    panel("small", small, [&] { draw_small_curves(view, small, frame, out); });
}

void draw_learn_side(const view::AppState& state, const LearnView& view, const WorkArea& area,
                     float top, const Frame& frame, view::Actions& out) {
    const Box box = area.side(top);
    panel("side", box, [&] {
        fill_side(area, top, frame);
        const float left = box.low.x + frame.px(16);
        const float below = box.low.y + frame.px(12 + 36);
        panel("pages", {{left, box.low.y + frame.px(12)}, {box.high.x - frame.px(4), below}}, [&] {
            if (const auto n = choice(frame, "page", view.page_names, view.page,
                                      {"Settings, the selected row, all heads, all matrices", ""}))
                out.push_back(view::ShowLearnPage{static_cast<view::LearnPage>(*n)});
        });
        panel("page", {{left, below}, {box.high.x - frame.px(4), box.high.y}}, [&] {
            if (view.page == static_cast<int>(view::LearnPage::settings))
                draw_learn_settings(view, state, frame, out);
            else
                draw_inspector(view::learn_inspector(state), frame, out);
        });
    });
}

}  // namespace

std::string draw_learn_workspace(const view::AppState& state, const WorkArea& r, const Frame& frame,
                                 view::Actions& out) {
    const LearnView view = build_learn_view(state);
    const float top = bar_panel(r, frame.px(kRoomBar), frame,
                                [&](const Frame& chrome) { draw_learn_bar(view, chrome, out); });
    const Box box = canvas_box(r, top + frame.px(12), frame.px(kFoot));
    panel("learn", box, [&] { draw_learn_body(view, box, r.chrome, frame, out); });
    if (r.has_side()) draw_learn_side(state, view, r, top + frame.px(1), around(frame), out);
    return view.progress;
}

/// A curve that falls, and one that stays.
void draw_learn_icon(view::Painter& painter, view::Point low, float size, view::Color color,
                     float thin) {
    painter.line({low.x, low.y}, {low.x, low.y + size}, color, thin);
    painter.line({low.x, low.y + size}, {low.x + size, low.y + size}, color, thin);
    const float step = size / 4;
    const float falls[] = {0.1F, 0.25F, 0.6F, 0.8F, 0.85F};
    for (int n = 0; n < 4; ++n)
        painter.line({low.x + step * static_cast<float>(n), low.y + size * falls[n]},
                     {low.x + step * static_cast<float>(n + 1), low.y + size * falls[n + 1]}, color,
                     thin * 1.8F);
    painter.line({low.x, low.y + size * 0.12F}, {low.x + size, low.y + size * 0.22F}, color, thin);
}

extern const WorkspacePanel kLearnPanel;
const WorkspacePanel kLearnPanel{"learn", draw_learn_icon, draw_learn_workspace};

}  // namespace attn::ui

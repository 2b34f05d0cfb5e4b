#include "app/ui/saturation/panel.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/ui/common/draw.h"
#include "app/ui/common/grid.h"
#include "app/ui/common/imgui_compat.h"
#include "app/ui/common/widgets.h"
#include "app/ui/saturation/plot.h"
#include "app/ui/saturation/side.h"

namespace attn::ui {
namespace {

using view::SaturationView;

// Design units.
constexpr float kGap = 24.0F;
constexpr float kPlotGap = 16.0F;
constexpr float kLeastBars = 104.0F;
constexpr float kMostBars = 240.0F;
constexpr float kLeastPlot = 176.0F;
constexpr float kMostPlot = 320.0F;
constexpr float kNarrowestPlot = 200.0F;   // five in a row, else three
constexpr float kNarrowestWide = 1040.0F;  // the Jacobian beside the sides, else below them

// --- controls

void draw_model(const SaturationView& view, const Frame& frame, view::Actions& out) {
    const Tip tip{"Where the raw scores z come from", view.model_words};
    if (const auto n = choice(frame, "model", view.model_names, static_cast<int>(view.model), tip))
        out.push_back(view::SetSaturationModel{static_cast<SaturationModel>(*n)});
}

void draw_width(const SaturationView& view, const Frame& frame, view::Actions& out) {
    const float width = frame.px(280);
    flow(frame, width);
    const Tip tip{"d_k: how many products q·k adds up",
                  "1 to 4096, log. Drag here or on any of the curves; double-click to type."};
    const SliderWords words{"d_k", std::to_string(view.d_k), "4096"};
    if (const auto d_k = log_slider(frame, "##d_k", words, view.d_k, 1, 4096, width, tip, out))
        out.push_back(view::SetSaturationWidth{*d_k});
}

void draw_scaling(const SaturationView& view, const Frame& frame, view::Actions& out) {
    const std::string text = "scaling ÷ √d_k";
    flow(frame, toggle_width(frame, text));
    const Tip tip{"s = z / √d_k, or s = z",
                  "Both stand side by side; this picks the one whose Jacobian is drawn."};
    if (const auto on = toggle(frame, "scaling", text, view.scaling, tip))
        out.push_back(view::SetSaturationScaling{*on});
}

void draw_draws(const SaturationView& view, const Frame& frame, view::Actions& out) {
    const SliderWords keys_words{"keys", std::to_string(view.keys), "256"};
    const float keys_width = slider_width(frame, keys_words) + frame.px(16);
    flow(frame, keys_width);
    const Tip keys_tip{"n: how many keys the query looks at", "2 to 256, log."};
    if (const auto keys = log_slider(frame, "##keys", keys_words, view.keys, view::kFewestKeys,
                                     view::kMostKeys, keys_width, keys_tip, out))
        out.push_back(view::SetSaturationKeys{*keys});
    const float width = seed_width(frame, view.seed);
    flow(frame, width + frame.px(16) + button_width(frame, "re-draw"));
    const Tip seed_tip{"seed of every draw", "The same seed gives the same numbers everywhere."};
    if (const auto next = seed_field(frame, "##seed", view.seed, width, seed_tip, out))
        out.push_back(view::SetSaturationSeed{*next});
    flow(frame, button_width(frame, "re-draw"));
    const Tip draw_tip{"draw " + std::to_string(view.draw),
                       "Draws another q and k from the same seed; the curves stay."};
    if (button(frame, "redraw", "re-draw", draw_tip)) out.push_back(view::Redraw{});
}

void draw_controls(const SaturationView& view, const Frame& frame, view::Actions& out) {
    draw_model(view, frame, out);
    draw_width(view, frame, out);
    draw_scaling(view, frame, out);
    if (view.drawn) draw_draws(view, frame, out);
    wrapped_words(frame, frame.fonts.small, frame.theme.muted, view.model_words);
}

// --- the Jacobian

/// Square cells as large as fit; the numbers fit from 24 units on or are left out by the grid.
void draw_jacobian(const SaturationView& view, ImVec2 low, ImVec2 high, const Frame& frame) {
    const view::GridView& grid = view.jacobian;
    float cell = (high.x - low.x) / static_cast<float>(grid.columns);
    for (int pass = 0; pass < 2; ++pass) {  // the margins depend a little on the cell
        const GridMargins margins = grid_margins(grid, frame, cell);
        cell = std::min(
            (high.x - low.x - margins.left - margins.right) / static_cast<float>(grid.columns),
            (high.y - low.y - margins.top - margins.bottom) / static_cast<float>(grid.rows));
        cell = std::clamp(cell, frame.px(0.5F), frame.px(80));
    }
    const GridMargins margins = grid_margins(grid, frame, cell);
    const GridPlace place{{low.x + margins.left, low.y + margins.top}, {cell, cell}};
    view::Actions unused;  // a cell of J is no cell of the Step workspace
    draw_grid(grid, {}, place, frame, unused);
}

// --- the curves

struct PlotGrid {
    ImVec2 low;
    float width = 0.0F;  // of all plots in a row
    float height = 0.0F;
    int columns = 5;
};

void draw_plots(const SaturationView& view, const PlotGrid& grid, const Frame& frame,
                view::Actions& out) {
    const float gap = frame.px(kGap);
    const float width = (grid.width - gap * static_cast<float>(grid.columns - 1)) /
                        static_cast<float>(grid.columns);
    for (std::size_t n = 0; n < view.plots.size(); ++n) {
        const int row = static_cast<int>(n) / grid.columns;
        const int column = static_cast<int>(n) % grid.columns;
        const ImVec2 low{grid.low.x + static_cast<float>(column) * (width + gap),
                         grid.low.y + static_cast<float>(row) * (grid.height + gap)};
        const PlotInput input = draw_plot(view.plots[n], ("plot " + std::to_string(n)).c_str(), low,
                                          {low.x + width, low.y + grid.height}, view.stale, frame);
        if (input.taken) out.push_back(view::BeginGesture{});
        if (input.moved_to) out.push_back(view::SetSaturationWidth{*input.moved_to});
        if (input.let_go) out.push_back(view::EndGesture{});
    }
}

// --- layout

/// What stands where below the controls, in pixels.
struct Layout {
    ImVec2 origin;
    float width = 0.0F;
    float side_width = 0.0F;
    float bars_height = 0.0F;
    float side_height = 0.0F;
    ImVec2 jacobian_low, jacobian_high;
    PlotGrid plots;
    float end = 0.0F;  // y below everything
};

Layout make_layout(const SaturationView& view, const Frame& frame) {
    Layout at;
    at.origin = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float gap = frame.px(kGap);
    const bool wide = room.x >= frame.px(kNarrowestWide);
    at.width = room.x;
    at.side_width = (room.x - gap * (wide ? 2.0F : 1.0F)) / (wide ? 3.0F : 2.0F);
    at.plots.columns = (room.x - 4 * frame.px(kPlotGap)) / 5 >= frame.px(kNarrowestPlot) ? 5 : 3;
    const float rows = at.plots.columns == 5 ? 1.0F : 2.0F;

    const float texts = side_texts_height(view.scaled, at.side_width, frame);
    const float note = frame.fonts.small.px + frame.px(8);
    const float below = wide ? 0.0F : frame.px(320) + gap;
    const float flexible = room.y - texts - below - note - gap * (1.0F + rows);
    at.bars_height = std::clamp(flexible * 0.4F, frame.px(kLeastBars), frame.px(kMostBars));
    at.plots.height =
        std::clamp((flexible - at.bars_height) / rows, frame.px(kLeastPlot), frame.px(kMostPlot));
    at.side_height = texts + at.bars_height;

    const float y = at.origin.y + (wide ? 0.0F : at.side_height + gap);
    const float x = at.origin.x + (wide ? 2 * (at.side_width + gap) : 0.0F);
    const float jacobian_height = wide ? at.side_height : frame.px(320);
    at.jacobian_low = {x, y};
    at.jacobian_high = {at.origin.x + room.x, y + jacobian_height};
    at.plots.low = {at.origin.x, at.origin.y + at.side_height + below + gap + note};
    at.plots.width = room.x;
    at.end = at.plots.low.y + at.plots.height * rows + frame.px(kPlotGap) * (rows - 1.0F);
    return at;
}

/// One muted line above the curves: how they were computed, and what the point on them is.
void draw_note(const SaturationView& view, const Layout& at, const Frame& frame) {
    const Font& font = frame.fonts.small;
    const ImVec2 low{at.origin.x, at.plots.low.y - font.px - frame.px(12)};
    const std::string words =
        fmt::format("● the {} above, at d_k = {}; drag the line.   Curves over d_k: {}",
                    view.drawn ? "draw shown" : "bars", view.d_k, view.status);
    frame.painter.text(font, low, frame.theme.muted, fit_text(frame, font, words, at.width));
}

void draw_body(const SaturationView& view, const Frame& frame, view::Actions& out) {
    const Layout at = make_layout(view, frame);
    const float step = at.side_width + frame.px(kGap);
    const SidePlace left{at.origin, at.side_width, at.bars_height};
    const SidePlace right{{at.origin.x + step, at.origin.y}, at.side_width, at.bars_height};
    draw_side(view.scaled, left, frame);
    draw_side(view.unscaled, right, frame);
    draw_jacobian(view, at.jacobian_low, at.jacobian_high, frame);
    draw_note(view, at, frame);
    draw_plots(view, at.plots, frame, out);
    ImGui::SetCursorScreenPos({at.origin.x, at.end - 1.0F});
    ImGui::Dummy({1.0F, 1.0F});
}

}  // namespace

void draw_saturation_panel(const SaturationView& view, const Frame& frame, view::Actions& out) {
    ImGui::BeginChild("saturation", {0.0F, 0.0F}, false, ImGuiWindowFlags_NoBackground);
    draw_controls(view, around(frame), out);
    ImGui::Dummy({1.0F, frame.px(4)});
    draw_body(view, frame, out);
    ImGui::EndChild();
}

}  // namespace attn::ui

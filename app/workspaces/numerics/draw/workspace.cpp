#include <algorithm>

#include <fmt/format.h>

#include "app/common/draw/around.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/field_controls.h"
#include "app/common/draw/list_field.h"
#include "app/common/draw/math.h"
#include "app/common/draw/plot.h"
#include "app/common/draw/point.h"
#include "app/common/logits.h"
#include "app/workspaces/numerics/draw/bars.h"

namespace attn::ui {
namespace {

using view::NumericsView;

// Design units.
constexpr float kRow = 172.0F;
constexpr float kFormats = 92.0F;  // width of their names
constexpr float kHeading = 44.0F;
constexpr float kFormula = 16.0F;
constexpr float kGap = 12.0F;
constexpr float kCellGap = 4.0F;
constexpr float kLeastCell = 68.0F;
constexpr float kPlotShare = 0.3F;    // of the height
constexpr float kLeastPlot = 204.0F;  // four names beneath each other
constexpr float kBreaks = 18.0F;

// --- the row of logits

void draw_rows(const NumericsView& view, const Frame& frame, view::Actions& out) {
    const Tip tip{"The row of logits",
                  "Rows that show one thing each, or the row of the document "
                  "that Step looks at."};
    const auto chosen = combo(frame, "##row", {view.row_names, view.row_choice, view.row_shown},
                              frame.px(kRow), tip, out);
    if (chosen) out.push_back(view::chosen_row(static_cast<std::size_t>(*chosen)));
}

/// The old logits stay where what was typed is no list of numbers.
void draw_logits(const NumericsView& view, const Frame& frame, view::Actions& out) {
    const Tip tip{"the logits x, one for each key",
                  "Click to type numbers with commas between them; inf, -inf and nan are numbers "
                  "here."};
    const auto text = list_field(frame, "logits", "x", view.logits, tip, out);
    if (!text || *text == view.logits) return;
    auto logits = view::typed_logits(*text, view::Logits::any);
    if (logits) return out.push_back(view::SetNumericsLogits{*std::move(logits)});
    out.push_back(
        view::Notify{{fmt::format("{}; the logits stay as they are", logits.error().sentence),
                      view::Severity::error}});
}

void draw_numerics_controls(const NumericsView& view, const Frame& frame, view::Actions& out) {
    draw_rows(view, frame, out);
    draw_logits(view, frame, out);
    field_control<view::SetNumericsGain>(view.controls, frame, out);
}

// --- the matrix

/// Columns of algorithms, right of the formats' names.
struct Columns {
    float left, width, gap;
    float x(std::size_t n) const { return left + (width + gap) * static_cast<float>(n); }
};

Columns columns_in(const Box& at, std::size_t count, const Frame& frame) {
    const float gap = frame.px(kGap);
    const float left = at.low.x + frame.px(kFormats);
    const auto n = static_cast<float>(count);
    return {left, std::max(1.0F, (at.high.x - left - gap * (n - 1.0F)) / n), gap};
}

/// "naive", and its formula in what is left of the width.
void draw_heading(const view::NumericsColumn& column, const Box& at, const Frame& frame) {
    const Font& font = frame.fonts.title;
    draw_text_in(frame, font, at.low, at.high, Align::left, frame.theme.text, column.title);
    const float after = at.low.x + frame.text_width(font, column.title) + frame.px(14);
    const auto box = fitted_math(frame, column.tex, kFormula, at.high.x - after);
    if (!box || box->width > at.high.x - after) return;
    const float slack = std::max(at.high.y - at.low.y - box->ascent - box->descent, 0.0F) / 2;
    draw_formula(frame, *box, {after, at.low.y + slack + box->ascent});
}

void draw_format(const view::NumericsFormatRow& row, const Box& at, const Frame& frame) {
    ImGui::SetCursorScreenPos(at.low);
    ImGui::InvisibleButton(row.title.c_str(), at.size());
    tooltip(frame, row.title, row.tooltip);
    const float line = frame.fonts.small.px + frame.px(2);
    float y = at.low.y + frame.px(4);
    draw_text_in(frame, frame.fonts.strong, {at.low.x, y}, {at.high.x, y + frame.px(22)},
                 Align::left, frame.theme.role(row.role), row.title);
    y += frame.px(22);
    for (const std::string* words : {&row.bits, &row.largest}) {
        if (y + line > at.high.y) return;
        draw_text_in(frame, frame.fonts.small, {at.low.x, y}, {at.high.x, y + line}, Align::left,
                     frame.theme.muted, *words);
        y += line;
    }
}

void draw_matrix(const NumericsView& view, const Columns& columns, const Box& at,
                 const Frame& frame, view::Actions& out) {
    const float gap = frame.px(kCellGap);
    const auto rows = static_cast<float>(view.rows.size());
    const float numbers = frame.px(kNumericsKeys);
    const float height = (at.high.y - at.low.y - numbers - gap * (rows - 1.0F)) / rows;
    for (std::size_t f = 0; f < view.rows.size(); ++f) {
        const float top = at.low.y + (height + gap) * static_cast<float>(f);
        draw_format(view.rows[f], {{at.low.x, top}, {columns.left - gap, top + height}}, frame);
        for (std::size_t a = 0; a < view.columns.size(); ++a)
            draw_numerics_cell(
                view.cells[f][a], {columns.x(a), top}, {columns.x(a) + columns.width, top + height},
                {view.bar_end, f + 1 == view.rows.size() ? KeyNumbers::below : KeyNumbers::none},
                frame, out);
    }
}

// --- the curves

void follow(const PlotInput& input, Index gain, view::Actions& out) {
    if (input.taken) out.push_back(view::BeginGesture{});
    Index to = input.moved_to ? view::nearest_gain(*input.moved_to) : gain;
    if (input.steps != 0) to = view::next_gain(gain, input.steps);
    if (to != gain) out.push_back(view::SetNumericsGain{to});
    if (input.let_go) out.push_back(view::EndGesture{});
}

void draw_plots(const NumericsView& view, const Columns& columns, const Box& at, const Frame& frame,
                view::Actions& out) {
    for (std::size_t a = 0; a < view.columns.size(); ++a) {
        const view::NumericsColumn& column = view.columns[a];
        // the first plot's ticks stand under the names of the formats
        const float left = a == 0 ? columns.x(a) - frame.px(kFormats * 0.6F) : columns.x(a);
        const ImVec2 high{columns.x(a) + columns.width, at.high.y - frame.px(kBreaks)};
        follow(draw_plot(column.plot, ("plot " + column.title).c_str(), {left, at.low.y}, high,
                         view.stale, frame),
               view.controls.gain, out);
        draw_text_in(frame, frame.fonts.small, {left, high.y}, {high.x, at.high.y}, Align::left,
                     frame.theme.muted,
                     fit_text(frame, frame.fonts.small, column.breaks, high.x - left));
    }
}

void draw_body(const NumericsView& view, float whole, const Frame& frame, view::Actions& out) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float heading = frame.px(kHeading);
    const float plots = std::max(whole * kPlotShare, frame.px(kLeastPlot));
    const auto rows = static_cast<float>(view.rows.size());
    const float least = rows * frame.px(kLeastCell + kCellGap);
    const float matrix = std::max(room.y - heading - plots - frame.px(kGap), least);
    const float right = low.x + room.x;
    const Columns columns = columns_in({low, {right, low.y}}, view.columns.size(), frame);
    for (std::size_t a = 0; a < view.columns.size(); ++a)
        draw_heading(
            view.columns[a],
            {{columns.x(a) + frame.px(8), low.y}, {columns.x(a) + columns.width, low.y + heading}},
            frame);
    const float top = low.y + heading;
    draw_matrix(view, columns, {{low.x, top}, {right, top + matrix}}, frame, out);
    const float foot = top + matrix + frame.px(kGap);
    draw_plots(view, columns, {{low.x, foot}, {right, foot + plots}}, frame, out);
    ImGui::SetCursorScreenPos({low.x, foot + plots - 1.0F});
    ImGui::Dummy({1.0F, 1.0F});
}

}  // namespace

std::string draw_numerics_workspace(const view::AppState& state, const WorkArea& r,
                                    const Frame& frame, view::Actions& out) {
    const NumericsView view = build_numerics_view(state);
    panel("numerics", canvas_box(r, frame.px(16)), [&] {
        const float whole = ImGui::GetContentRegionAvail().y;
        ImGui::BeginChild("numerics", {0.0F, 0.0F}, false, ImGuiWindowFlags_NoBackground);
        if (r.chrome) draw_numerics_controls(view, around(frame), out);
        draw_sentence(view.sentence, view.note, frame);
        draw_body(view, whole, frame, out);
        ImGui::EndChild();
    });
    side_inspector(state, r, {}, frame, out);
    return view.status;
}

/// Bars that grow, and one that goes through the ceiling.
void draw_numerics_icon(view::Painter& painter, view::Point low, float size, view::Color color,
                        float thin) {
    const float step = size / 4;
    painter.line({low.x, low.y + thin * 3}, {low.x + size, low.y + thin * 3}, color, thin);
    painter.line({low.x, low.y + size}, {low.x + size, low.y + size}, color, thin);
    constexpr float kHeights[] = {0.25F, 0.4F, 0.65F, 1.0F};
    for (int n = 0; n < 4; ++n) {
        const float x = low.x + step * static_cast<float>(n);
        painter.rect({x, low.y + size * (1.0F - kHeights[n])}, {x + step - thin * 2, low.y + size},
                     color);
    }
}

extern const WorkspacePanel kNumericsPanel;
const WorkspacePanel kNumericsPanel{"numerics", draw_numerics_icon, draw_numerics_workspace};

}  // namespace attn::ui

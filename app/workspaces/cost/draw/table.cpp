#include <algorithm>
#include <array>
#include <string>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/widgets.h"
#include "app/workspaces/cost/draw/panel.h"

namespace attn::ui {
namespace {

using view::CostRowView;

// Design units.
constexpr float kRow = 22.0F;
constexpr float kHead = 24.0F;
constexpr float kName = 0.2F;  // of the width
constexpr double kShareInk = 0.16;

constexpr std::array<std::string CostRowView::*, 5> kNumbers{
    &CostRowView::flop, &CostRowView::read, &CostRowView::written, &CostRowView::kept,
    &CostRowView::intensity};
constexpr const char* kTitles[] = {"FLOP", "read", "written", "kept", "FLOP/byte"};

float column_width(const CostBox& at) {
    return at.width() * (1.0F - kName) / static_cast<float>(kNumbers.size());
}

void draw_cells(const CostBox& line, const Font& font, view::Color color, const Frame& frame,
                const auto& text_of) {
    const float width = column_width(line);
    for (std::size_t n = 0; n < kNumbers.size(); ++n) {
        const float right = line.low.x + line.width() * kName + width * static_cast<float>(n + 1);
        draw_text_in(frame, font, {right - width, line.low.y}, {right - frame.px(8), line.high.y},
                     Align::right, color, fit_text(frame, font, text_of(n), width - frame.px(8)));
    }
}

void draw_row(const CostRowView& row, const CostBox& line, const Frame& frame, view::Actions& out) {
    ImGui::SetCursorScreenPos(line.low);
    const bool clicked = ImGui::InvisibleButton(
        row.name.c_str(), {std::max(1.0F, line.width()), line.high.y - line.low.y});
    const bool hovered = ImGui::IsItemHovered();
    if (clicked || pressed_by_key(frame)) out.push_back(view::SelectCost{row.item});
    if (row.selected || hovered)
        frame.painter.rect(line.low, line.high, frame.theme.raised, frame.px(4));
    const float share = line.width() * static_cast<float>(within(row.share, 0.0, 1.0));
    if (row.item != view::CostItem::total)
        frame.painter.rect(line.low, {line.low.x + share, line.high.y},
                           view::translucent(frame.theme.role(Role::weight), kShareInk));
    const Font& font = row.item == view::CostItem::total ? frame.fonts.strong : frame.fonts.body;
    draw_text_in(frame, font, {line.low.x + frame.px(8), line.low.y}, line.high, Align::left,
                 row.selected ? frame.theme.accent : frame.theme.text, row.name);
    draw_cells(line, frame.fonts.digits_small, frame.theme.text, frame,
               [&](std::size_t n) { return row.*kNumbers[n]; });
    tooltip(frame, row.name, "The shade is its share of all FLOP. Click: its formulas.");
}

}  // namespace

float cost_table_height(const view::CostView& view, const Frame& frame) {
    return frame.px(kHead + kRow * static_cast<float>(view.rows.size()));
}

void draw_cost_table(const view::CostView& view, const CostBox& at, const Frame& frame,
                     view::Actions& out) {
    CostBox line{at.low, {at.high.x, at.low.y + frame.px(kHead)}};
    draw_text_in(frame, frame.fonts.small, {line.low.x + frame.px(8), line.low.y}, line.high,
                 Align::left, frame.theme.muted, "stage");
    draw_cells(line, frame.fonts.small, frame.theme.muted, frame,
               [](std::size_t n) { return std::string(kTitles[n]); });
    frame.painter.line({line.low.x, line.high.y - 1}, {line.high.x, line.high.y - 1},
                       frame.theme.line, frame.px(1));
    ImGui::PushID("stages");
    for (const CostRowView& row : view.rows) {
        line = {{line.low.x, line.high.y}, {line.high.x, line.high.y + frame.px(kRow)}};
        draw_row(row, line, frame, out);
    }
    ImGui::PopID();
}

void draw_cost_times(const view::CostView& view, const CostBox& at, const Frame& frame,
                     view::Actions& out) {
    const view::CostMeasureView& measure = view.measure;
    ImGui::SetCursorScreenPos(at.low);
    ImGui::BeginChild("times", {at.width(), at.high.y - at.low.y}, false,
                      ImGuiWindowFlags_NoBackground);
    words(frame, frame.fonts.strong, frame.theme.text, "Predicted → measured here");
    if (measure.possible &&
        button(frame, "measure", measure.busy ? "measuring…" : "measure",
               {"Runs the engine at these sizes, in fp32", "Key: M. Nothing runs by itself."}))
        out.push_back(view::MeasureCost{});
    wrapped_words(frame, frame.fonts.small, measure.fault ? frame.theme.warning : frame.theme.muted,
                  measure.words);
    if (!measure.machine.empty())
        wrapped_words(frame, frame.fonts.small, frame.theme.muted, measure.machine);
    for (const view::CostTimeView& time : measure.times) {
        words(frame, frame.fonts.body, frame.theme.text, time.title);
        tooltip(frame, time.title, time.tooltip);
        words(frame, frame.fonts.digits, frame.theme.text, time.predicted + " → " + time.measured);
        ImGui::SameLine(0.0F, frame.px(8));
        words(frame, frame.fonts.small, frame.theme.muted, time.ratio);
    }
    ImGui::EndChild();
}

}  // namespace attn::ui

#include <algorithm>

#include "app/ui/common/draw.h"
#include "app/ui/step/canvas.h"

namespace attn::ui {
namespace {

using view::Readout;
using view::RowReadouts;

// Design units.
constexpr float kRow = 26.0F;
constexpr float kHead = 44.0F;
constexpr float kColumnGap = 32.0F;
constexpr float kNarrowGap = 16.0F;
constexpr Index kMostRows = 6;  // without scrolling

float width_of(const std::vector<RowReadouts>& rows, std::size_t n, const Frame& frame) {
    const Readout& head = rows.front().readouts[n];
    float width = std::max(frame.text_width(frame.fonts.body, head.label),
                           frame.text_width(frame.fonts.small, head.formula));
    for (const RowReadouts& row : rows)
        width = std::max(width, frame.text_width(frame.fonts.digits, row.readouts[n].text));
    return width;
}

/// Right ends of the columns: after the row labels, close to each other.
std::vector<float> column_ends(const std::vector<RowReadouts>& rows, float from, float room,
                               const Frame& frame) {
    std::vector<float> widths;
    float sum = 0.0F;
    for (std::size_t n = 0; n < rows.front().readouts.size(); ++n)
        sum += widths.emplace_back(width_of(rows, n, frame));
    const auto count = static_cast<float>(widths.size());
    const float gap = std::clamp((room - sum) / count, frame.px(kNarrowGap), frame.px(kColumnGap));
    std::vector<float> ends;
    for (const float width : widths) ends.push_back(from += gap + width);
    return ends;
}

void put(const Frame& frame, const Font& font, float end, float y, float height, view::Color color,
         const std::string& text) {
    draw_text_in(frame, font, {end, y}, {end, y + height}, Align::right, color, text);
}

void draw_head(const std::vector<Readout>& readouts, const std::vector<float>& ends, float y,
               const Frame& frame) {
    for (std::size_t n = 0; n < readouts.size(); ++n) {
        const Readout& readout = readouts[n];
        const float line = frame.px(kHead / 2 - 2);
        put(frame, frame.fonts.body, ends[n], y, line, frame.theme.text, readout.label);
        put(frame, frame.fonts.small, ends[n], y + line, line, frame.theme.muted, readout.formula);
        const float width = std::max(frame.text_width(frame.fonts.body, readout.label),
                                     frame.text_width(frame.fonts.small, readout.formula));
        ImGui::SetCursorScreenPos({ends[n] - width, y});
        ImGui::PushID(static_cast<int>(n));
        ImGui::InvisibleButton("head", {width, frame.px(kHead)});
        tooltip(frame, readout.label + " = " + readout.formula, readout.tooltip);
        ImGui::PopID();
    }
}

std::string label_of(const RowReadouts& row) { return middle_ellipsis(row.row, 14); }

/// Of all row labels: smaller where the labels beside the matrices are.
const Font& label_font(const std::vector<RowReadouts>& rows, float room, const Frame& frame) {
    for (const RowReadouts& row : rows)
        if (frame.text_width(frame.fonts.body, label_of(row)) > room) return frame.fonts.small;
    return frame.fonts.body;
}

void draw_row(const RowReadouts& row, const Font& font, const std::vector<float>& ends,
              float label_end, float y, const Frame& frame) {
    const float height = frame.px(kRow);
    put(frame, font, label_end, y, height, frame.theme.query, label_of(row));
    for (std::size_t n = 0; n < row.readouts.size(); ++n)
        put(frame, frame.fonts.digits, ends[n], y, height, frame.theme.text, row.readouts[n].text);
}

}  // namespace

float readouts_height(Index rows, const Frame& frame) {
    return frame.px(kHead + 4) + frame.px(kRow) * static_cast<float>(std::min(rows, kMostRows));
}

void draw_readouts(const std::vector<RowReadouts>& rows, const ReadoutsPlace& place,
                   const Frame& frame) {
    const float room = place.low.x + place.size.x - place.label_end - frame.px(16);
    const auto ends = column_ends(rows, place.label_end, room, frame);
    draw_head(rows.front().readouts, ends, place.low.y, frame);
    const float top = place.low.y + frame.px(kHead);
    ImGui::SetCursorScreenPos({place.low.x, top});
    ImGui::BeginChild("readouts", {place.size.x, place.size.y - frame.px(kHead)});
    const Font& font = label_font(rows, place.label_end - place.low.x, frame);
    float y = ImGui::GetCursorScreenPos().y;
    for (const RowReadouts& row : rows) {
        draw_row(row, font, ends, place.label_end, y, frame);
        y += frame.px(kRow);
    }
    ImGui::Dummy({1.0F, frame.px(kRow) * static_cast<float>(rows.size()) - 1.0F});
    ImGui::EndChild();
}

}  // namespace attn::ui

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

/// The faces of the table.
struct Type {
    const Font& label;
    const Font& formula;
    const Font& number;
};

float width_of(const std::vector<RowReadouts>& rows, std::size_t n, const Type& type,
               const Frame& frame) {
    const Readout& head = rows.front().readouts[n];
    float width = std::max(frame.text_width(type.label, head.label),
                           frame.text_width(type.formula, head.formula));
    for (const RowReadouts& row : rows)
        width = std::max(width, frame.text_width(type.number, row.readouts[n].text));
    return width;
}

/// The columns stand after the row labels, close to each other.
struct Columns {
    Type type;
    std::vector<float> widths;
    float sum = 0.0F;  // with the narrowest gaps

    Columns(const std::vector<RowReadouts>& rows, const Type& faces, const Frame& frame)
        : type(faces) {
        for (std::size_t n = 0; n < rows.front().readouts.size(); ++n)
            sum += widths.emplace_back(width_of(rows, n, type, frame)) + frame.px(kNarrowGap);
    }
    /// Right ends.
    std::vector<float> ends(float from, float room, const Frame& frame) const {
        const auto count = static_cast<float>(widths.size());
        const float gap = std::clamp((room - sum) / count + frame.px(kNarrowGap),
                                     frame.px(kNarrowGap), frame.px(kColumnGap));
        std::vector<float> ends;
        for (const float width : widths) ends.push_back(from += gap + width);
        return ends;
    }
};

/// In smaller type where the columns do not fit.
Columns columns_of(const std::vector<RowReadouts>& rows, float room, const Frame& frame) {
    const Fonts& fonts = frame.fonts;
    const Columns usual(rows, {fonts.body, fonts.small, fonts.digits}, frame);
    if (usual.sum <= room) return usual;
    return {rows, {fonts.small, fonts.small, fonts.digits_small}, frame};
}

void put(const Frame& frame, const Font& font, float end, float y, float height, view::Color color,
         const std::string& text) {
    draw_text_in(frame, font, {end, y}, {end, y + height}, Align::right, color, text);
}

std::string label_of(const RowReadouts& row) { return middle_ellipsis(row.row, 14); }

/// Of all row labels: smaller where the labels beside the matrices are.
const Font& label_font(const std::vector<RowReadouts>& rows, float room, const Frame& frame) {
    for (const RowReadouts& row : rows)
        if (frame.text_width(frame.fonts.body, label_of(row)) > room) return frame.fonts.small;
    return frame.fonts.body;
}

struct Table {
    const std::vector<RowReadouts>& rows;
    const Columns& columns;
    const Font& label;
    std::vector<float> ends;  // of the columns, from the left
    float label_end = 0.0F;
};

void draw_head(const Table& table, ImVec2 low, const Frame& frame) {
    const Type& type = table.columns.type;
    const float line = frame.px(kHead / 2 - 2);
    for (std::size_t n = 0; n < table.ends.size(); ++n) {
        const Readout& readout = table.rows.front().readouts[n];
        const float end = low.x + table.ends[n];
        put(frame, type.label, end, low.y, line, frame.theme.text, readout.label);
        put(frame, type.formula, end, low.y + line, line, frame.theme.muted, readout.formula);
        const float width = std::max(frame.text_width(type.label, readout.label),
                                     frame.text_width(type.formula, readout.formula));
        ImGui::SetCursorScreenPos({end - width, low.y});
        ImGui::PushID(static_cast<int>(n));
        ImGui::InvisibleButton("head", {width, frame.px(kHead)});
        tooltip(frame, readout.label + " = " + readout.formula, readout.tooltip);
        ImGui::PopID();
    }
}

void draw_rows(const Table& table, ImVec2 low, const Frame& frame) {
    const float height = frame.px(kRow);
    for (const RowReadouts& row : table.rows) {
        put(frame, table.label, low.x + table.label_end, low.y, height, frame.theme.query,
            label_of(row));
        for (std::size_t n = 0; n < table.ends.size(); ++n)
            put(frame, table.columns.type.number, low.x + table.ends[n], low.y, height,
                frame.theme.text, row.readouts[n].text);
        low.y += height;
    }
}

}  // namespace

float readouts_height(Index rows, const Frame& frame) {
    return frame.px(kHead + 4) + frame.px(kRow) * static_cast<float>(std::min(rows, kMostRows));
}

/// Head and rows are pulled sideways together where the columns do not fit; the rows alone are
/// scrolled down. Neither in a figure of the canvas alone.
void draw_readouts(const std::vector<RowReadouts>& rows, const ReadoutsPlace& place,
                   const Frame& frame) {
    const float labels = place.label_end - place.low.x;
    const float room = place.size.x - labels - frame.px(16);
    const Columns columns = columns_of(rows, room, frame);
    const Table table{rows, columns, label_font(rows, labels, frame),
                      columns.ends(labels, room, frame), labels};
    if (frame.is_canvas_alone()) {
        draw_head(table, place.low, frame);
        return draw_rows(table, {place.low.x, place.low.y + frame.px(kHead)}, frame);
    }
    const bool fits = columns.sum <= room;
    const float bar = fits ? 0.0F : ImGui::GetStyle().ScrollbarSize;
    const float width = fits ? place.size.x : table.ends.back() + frame.px(16);
    ImGui::SetCursorScreenPos(place.low);
    ImGui::SetNextWindowContentSize({width, 1.0F});
    ImGui::BeginChild("readouts", place.size, false,
                      fits ? 0 : ImGuiWindowFlags_HorizontalScrollbar);
    const ImVec2 low = ImGui::GetCursorScreenPos();
    draw_head(table, low, frame);
    ImGui::SetCursorScreenPos({low.x, low.y + frame.px(kHead)});
    ImGui::BeginChild("rows", {width, place.size.y - frame.px(kHead) - bar});
    draw_rows(table, ImGui::GetCursorScreenPos(), frame);
    ImGui::Dummy({1.0F, frame.px(kRow) * static_cast<float>(rows.size()) - 1.0F});
    ImGui::EndChild();
    ImGui::EndChild();
}

}  // namespace attn::ui

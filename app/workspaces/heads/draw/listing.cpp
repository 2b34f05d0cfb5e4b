#include "app/common/document/actions.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/items.h"
#include "app/common/draw/measured.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/heads/draw/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kDot = 4.5F;
constexpr float kReach = 10.0F;  // of the pointer
constexpr float kName = 46.0F, kLabel = 104.0F, kNumber = 46.0F, kBetween = 12.0F;
constexpr float kHeadRow = 34.0F;  // two lines

Point place_of(const ScatterDot& dot, const Box& area) {
    return {area.low.x + area.size().x * dot.x, area.high.y - area.size().y * dot.y};
}

void draw_axis_text(const HeadsScatter& scatter, const Box& area, const Box& box,
                    const Frame& frame) {
    const Font& font = frame.fonts.small;
    const auto line = [&](float y, const ScatterAxis& axis, const char* direction) {
        const std::string text = direction + axis.title + " = " + axis.formula;
        draw_fitted(frame, font, {box.low.x, y}, {box.high.x, y + frame.px(kSmallRow)}, Align::left,
                    frame.theme.text, text);
    };
    line(box.low.y, scatter.y, "↑ ");
    line(area.high.y + frame.px(kSmallRow + 4), scatter.x, "→ ");
    draw_fitted(frame, font, {box.low.x, area.high.y + frame.px(2 * kSmallRow + 4)},
                {box.high.x, area.high.y + frame.px(3 * kSmallRow + 4)}, Align::left,
                frame.theme.muted, scatter.note);
}

void draw_axes(const HeadsScatter& scatter, const Box& area, const Frame& frame) {
    const Font& font = frame.fonts.digits_small;
    const auto count = static_cast<float>(scatter.x.ticks.size() - 1);
    for (std::size_t n = 0; n < scatter.x.ticks.size(); ++n) {
        const float share = static_cast<float>(n) / count;
        const float x = std::round(area.low.x + area.size().x * share);
        const float y = std::round(area.high.y - area.size().y * share);
        frame.painter.line({x, area.low.y}, {x, area.high.y}, frame.theme.line, frame.px(1));
        frame.painter.line({area.low.x, y}, {area.high.x, y}, frame.theme.line, frame.px(1));
        draw_text_in(frame, font, {x - frame.px(30), area.high.y + frame.px(2)},
                     {x + frame.px(30), area.high.y + frame.px(2 + kSmallRow)}, Align::center,
                     frame.theme.muted, scatter.x.ticks[n]);
        draw_text_in(frame, font, {area.low.x - frame.px(44), y - frame.px(8)},
                     {area.low.x - frame.px(6), y + frame.px(8)}, Align::right, frame.theme.muted,
                     scatter.y.ticks[n]);
    }
}

const ScatterDot* nearest(const HeadsScatter& scatter, const Box& area, const Frame& frame) {
    const ImVec2 mouse = ImGui::GetMousePos();
    const ScatterDot* best = nullptr;
    float least = frame.px(kReach);
    for (const ScatterDot& dot : scatter.dots) {
        const Point at = place_of(dot, area);
        const float far = std::hypot(at.x - mouse.x, at.y - mouse.y);
        if (far <= least) best = &dot, least = far;
    }
    return best;
}

void draw_dots(const AllHeadsView& view, const Box& area, const Frame& frame) {
    for (const ScatterDot& dot : view.scatter->dots) {
        const Point at = place_of(dot, area);
        const bool hovered = view.hovered == dot.place;
        frame.painter.circle(
            at, frame.px(kDot),
            dot.shown ? frame.theme.accent : view::translucent(frame.theme.weight, 0.75));
        if (dot.shown || hovered)
            frame.painter.ring(at, frame.px(kDot + 3),
                               dot.shown ? frame.theme.accent : frame.theme.text, frame.px(1.5F));
        if (!dot.pin.empty())
            frame.painter.text(frame.fonts.small, {at.x + frame.px(8), at.y - frame.px(14)},
                               frame.theme.accent, dot.pin);
    }
}

/// The columns of the table, from its left; those of numbers begin at `numbers`, the last of which is their end.
struct Ruler {
    float name, label;
    std::vector<float> numbers;
};
/// "previous" over "token": its first word, if there are more, and the rest.
std::array<std::string, 2> title_lines(const std::string& title) {
    const std::size_t space = title.find(' ');
    if (space == title.npos) return {"", title};
    return {title.substr(0, space), title.substr(space + 1)};
}

float title_width(const std::string& title, const Frame& frame) {
    const auto [first, rest] = title_lines(title);
    return std::max(frame.text_width(frame.fonts.small, first),
                    frame.text_width(frame.fonts.small, rest));
}

/// As wide as the widest label in it.
float label_width(const HeadsTable& table, const Frame& frame) {
    if (!table.labels) return 0.0F;
    float width = frame.text_width(frame.fonts.small, "label");
    for (const HeadsTableRow& row : table.rows)
        width = std::max(width, frame.text_width(frame.fonts.small, row.label));
    return std::min(width + frame.px(kBetween), frame.px(kLabel));
}

/// Columns of numbers are as wide as their titles need, and share what is left. In little space titles are cut; where not even the
/// numbers fit, the last columns are left out.
Ruler ruler_of(const HeadsTable& table, float width, const Frame& frame) {
    const float label = label_width(table, frame);
    const float first = frame.px(kName) + label;
    Ruler at{frame.px(kName), label, {first}};
    float number = frame.text_width(frame.fonts.digits_small, "0.000");
    if (!table.rows.empty())
        for (const std::string& cell : table.rows.front().cells)
            number = std::max(number, frame.text_width(frame.fonts.digits_small, cell));
    const float least = number + frame.px(kBetween);
    const float space = std::max(width - first - frame.px(12), 1.0F);
    const auto fit = static_cast<std::size_t>(space / least);
    std::vector<float> widths;
    float slack = 0.0F, left = space;
    for (std::size_t n = 0; n < std::min(fit, table.columns.size()); ++n) {
        const float title = title_width(table.columns[n].title, frame);
        widths.push_back(std::max(title + frame.px(kBetween), least));
        slack += widths.back() - least;
        left -= widths.back();
    }
    for (const float column : widths) {
        const float share = left < 0.0F ? (column - least) / std::max(slack, 1.0F)
                                        : 1.0F / static_cast<float>(widths.size());
        at.numbers.push_back(at.numbers.back() + column + left * share);
    }
    return at;
}

void draw_title(const std::string& title, const Box& box, view::Color color, const Frame& frame) {
    const auto [first, rest] = title_lines(title);
    const float middle = (box.low.y + box.high.y) / 2;
    draw_fitted(frame, frame.fonts.small, box.low, {box.high.x, middle}, Align::right, color,
                first);
    draw_fitted(frame, frame.fonts.small, {box.low.x, middle}, box.high, Align::right, color, rest);
}

void draw_head_row(const HeadsTable& table, const Box& box, const Ruler& at, const Frame& frame,
                   Actions& out) {
    const Font& font = frame.fonts.small;
    const float bottom = box.low.y + frame.px(kHeadRow);
    const float top = bottom - frame.px(kHeadRow) / 2;
    draw_text_in(frame, font, {box.low.x, top}, {box.low.x + at.name, bottom}, Align::left,
                 frame.theme.muted, "head");
    if (table.labels)
        draw_text_in(frame, font, {box.low.x + at.name, top},
                     {box.low.x + at.name + at.label, bottom}, Align::left, frame.theme.muted,
                     "label");
    for (std::size_t n = 0; n + 1 < at.numbers.size(); ++n) {
        const HeadsTableColumn& column = table.columns[n];
        const float left = box.low.x + at.numbers[n];
        const float right = box.low.x + at.numbers[n + 1];
        const bool sorted = column.key == table.sort;
        ImGui::SetCursorScreenPos({left, box.low.y});
        ImGui::PushID(static_cast<int>(n));
        const bool clicked =
            invisible_button("sort", {std::max(right - left, 1.0F), frame.px(kHeadRow)});
        if (clicked || pressed_by_key(frame))
            out.push_back(SortHeads{sorted ? std::string() : column.key});
        tooltip(frame, column.title, column.tip + "\nClick to sort, largest first");
        ImGui::PopID();
        draw_title(column.title, {{left, box.low.y}, {right - frame.px(6), bottom}},
                   sorted ? frame.theme.accent : frame.theme.muted, frame);
    }
    frame.painter.line({box.low.x, bottom - 1}, {box.high.x, bottom - 1}, frame.theme.line,
                       frame.px(1));
}

void draw_row(const HeadsTableRow& row, Point low, const Ruler& at, float width,
              const Frame& frame) {
    const float bottom = low.y + frame.px(kTextRow);
    const Color color = row.shown ? frame.theme.accent : frame.theme.text;
    if (row.shown)
        frame.painter.rect(low, {low.x + width, bottom}, frame.theme.raised, frame.px(3));
    const Font& font = frame.fonts.small;
    draw_text_in(frame, font, low, {low.x + at.name, bottom}, Align::left, color, row.name);
    if (!row.label.empty())
        draw_text_in(frame, font, {low.x + at.name, low.y}, {low.x + at.name + at.label, bottom},
                     Align::left, color, fit_text(frame, font, row.label, at.label - frame.px(4)));
    for (std::size_t n = 0; n + 1 < at.numbers.size(); ++n)
        draw_text_in(frame, frame.fonts.digits_small, {low.x + at.numbers[n], low.y},
                     {low.x + at.numbers[n + 1] - frame.px(6), bottom}, Align::right, color,
                     row.cells[n]);
}

void draw_rows(const AllHeadsView& view, const Ruler& at, float width, const Frame& frame,
               Actions& out) {
    const HeadsTable& table = *view.table;
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float height = frame.px(kTextRow) * static_cast<float>(table.rows.size());
    invisible_button("rows", {width, std::max(height, 1.0F)});
    const bool over = ImGui::IsItemHovered();
    for (std::size_t n = 0; n < table.rows.size(); ++n) {
        const Point top{low.x, low.y + frame.px(kTextRow) * static_cast<float>(n)};
        const ImVec2 bottom{top.x + width, top.y + frame.px(kTextRow)};
        if (!frame.still && !ImGui::IsRectVisible({top.x, top.y}, bottom)) continue;
        draw_row(table.rows[n], top, at, width, frame);
    }
    if (!over || table.rows.empty()) return;
    const auto n =
        static_cast<std::size_t>(within((ImGui::GetMousePos().y - low.y) / frame.px(kTextRow), 0.0F,
                                        static_cast<float>(table.rows.size() - 1)));
    const HeadsTableRow& row = table.rows[n];
    if (!row.tip.empty()) tooltip(frame, row.name, row.tip);
    press_head(row.place, false, out);
    if (!row.text.empty() && ImGui::IsMouseClicked(ImGuiMouseButton_Left) &&
        !ImGui::GetIO().KeyShift)
        out.push_back(TypeText{row.text});
}

}  // namespace

void press_head(HeadPlace place, bool pinned, Actions& out) {
    if (!ImGui::IsMouseClicked(ImGuiMouseButton_Left)) return;
    if (ImGui::GetIO().KeyShift)
        out.push_back(PinHead{place.layer, place.head, !pinned});
    else
        out.push_back(ShowHead{place.head, {}, place.layer});
}

void draw_heads_scatter(const AllHeadsView& view, const Box& box, const Frame& frame,
                        Actions& out) {
    const Box area{{box.low.x + frame.px(48), box.low.y + frame.px(kSmallRow + 10)},
                   {box.high.x - frame.px(24), box.high.y - frame.px(3 * kSmallRow + 12)}};
    const float reach = frame.px(kReach);
    ImGui::SetCursorScreenPos({area.low.x - reach, area.low.y - reach});
    invisible_button("dots", {area.size().x + 2 * reach, area.size().y + 2 * reach});
    const ScatterDot* const dot =
        ImGui::IsItemHovered() ? nearest(*view.scatter, area, frame) : nullptr;
    const auto place = dot != nullptr ? std::optional(dot->place) : std::nullopt;
    if (place != view.hovered) out.push_back(HoverHead{place});
    if (dot != nullptr) press_head(*place, !dot->pin.empty(), out);
    if (dot != nullptr && place == view.hovered) {
        const Point at = place_of(*dot, area);
        tooltip_beside(frame, {at.x - reach, at.y - reach}, {at.x + reach, at.y + reach},
                       Beside::right, view.hover_title, view.hover_text);
    }
    record_rect_for_tests(frame.painter, Measuring::Kind::chart, area.low, area.high);
    draw_axes(*view.scatter, area, frame);
    draw_axis_text(*view.scatter, area, box, frame);
    draw_dots(view, area, frame);
}

float heads_table_width(const AllHeadsView& view, const Frame& frame) {
    return frame.px(kName + kLabel + 24.0F +
                    1.45F * kNumber * static_cast<float>(view.table->columns.size()));
}

void draw_heads_table(const AllHeadsView& view, const Box& box, const Frame& frame, Actions& out) {
    const Ruler at = ruler_of(*view.table, box.size().x, frame);
    draw_head_row(*view.table, box, at, frame, out);
    const Box rows{{box.low.x, box.low.y + frame.px(kHeadRow)}, box.high};
    panel("rows", rows, [&] { draw_rows(view, at, rows.size().x, frame, out); });
}

}  // namespace attn::ui

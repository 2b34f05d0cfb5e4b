#include <algorithm>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/workspaces/masks/draw/parts.h"

namespace attn::ui {
namespace {

using view::ConventionGroup;
using view::ConventionView;
using view::MasksView;

// Design units.
constexpr float kHeading = 24.0F;
constexpr float kRow = 26.0F;
constexpr float kListsGap = 24.0F;
constexpr float kLeastWidth = 216.0F;  // of a list
constexpr float kMark = 16.0F;

int columns_in(const MasksView& view, float width, const Frame& frame) {
    const int most = static_cast<int>(width / frame.px(kLeastWidth));
    return within(most, 1, std::max<int>(static_cast<int>(view.groups.size()), 1));
}

float height_of(const ConventionGroup& group, const Frame& frame) {
    return frame.px(kHeading) + frame.px(kRow) * static_cast<float>(group.rows.size());
}

/// Lists go one beneath the other where there are more of them than columns.
template <class Each>
float place_lists(const MasksView& view, float width, const Frame& frame, Each each) {
    const int columns = columns_in(view, width, frame);
    std::vector<float> feet(static_cast<std::size_t>(columns), 0.0F);
    for (std::size_t n = 0; n < view.groups.size(); ++n) {
        const std::size_t column =
            n < feet.size()
                ? n
                : static_cast<std::size_t>(std::ranges::min_element(feet) - feet.begin());
        each(n, static_cast<int>(column), feet[column]);
        feet[column] += height_of(view.groups[n], frame) + frame.px(8);
    }
    return feet.empty() ? 0.0F : *std::ranges::max_element(feet);
}

/// "1" of the convention that is compared with, "2" of the one that is compared.
void draw_mark(const ConventionView& row, ImVec2 low, ImVec2 high, const Frame& frame) {
    const std::string mark = std::string(row.first ? "1" : "") + (row.second ? "2" : "");
    draw_text_in(frame, frame.fonts.digits_small, low, {low.x + frame.px(kMark), high.y},
                 Align::left, frame.theme.accent, mark);
}

void draw_row(const ConventionView& row, ImVec2 low, ImVec2 high, const Frame& frame,
              view::Actions& out) {
    ImGui::SetCursorScreenPos(low);
    ImGui::PushID(row.key.c_str());
    const bool clicked = ImGui::InvisibleButton("row", {high.x - low.x, high.y - low.y});
    const bool hovered = ImGui::IsItemHovered();
    const bool pressed = pressed_by_key(frame);
    tooltip(frame, row.name, row.tip + "\nClick: compare it. Shift+click: compare with it.");
    ImGui::PopID();
    if (row.second || row.first || hovered)
        frame.painter.rect(low, high, frame.theme.raised, frame.px(4));
    const float pad = frame.px(8);
    const ImVec2 inner{low.x + pad, low.y};
    draw_mark(row, inner, high, frame);
    const Font& font = frame.fonts.body;
    const float verdict = frame.text_width(frame.fonts.small, row.verdict);
    const float name = inner.x + frame.px(kMark);
    draw_text_in(frame, font, {name, low.y}, high, Align::left, frame.theme.text,
                 fit_text(frame, font, row.name, high.x - pad - verdict - frame.px(8) - name));
    draw_text_in(frame, frame.fonts.small, inner, {high.x - pad, high.y}, Align::right,
                 row.differs ? frame.theme.warning : frame.theme.muted, row.verdict);
    if (!clicked && !pressed) return;
    out.push_back(view::SetConvention{ImGui::GetIO().KeyShift ? 0 : 1, row.key});
}

void draw_group(const ConventionGroup& group, ImVec2 low, float width, const Frame& frame,
                view::Actions& out) {
    const float heading = frame.px(kHeading);
    draw_text_in(frame, frame.fonts.strong, {low.x + frame.px(8), low.y},
                 {low.x + width, low.y + heading}, Align::left, frame.theme.text,
                 fit_text(frame, frame.fonts.strong, group.title, width));
    float y = low.y + heading;
    for (const ConventionView& row : group.rows) {
        draw_row(row, {low.x, y}, {low.x + width, y + frame.px(kRow)}, frame, out);
        y += frame.px(kRow);
    }
}

}  // namespace

float lists_height(const MasksView& view, float width, const Frame& frame) {
    return place_lists(view, width, frame, [](std::size_t, int, float) {});
}

void draw_lists(const MasksView& view, ImVec2 low, ImVec2 high, const Frame& frame,
                view::Actions& out) {
    const float whole = high.x - low.x;
    const auto columns = static_cast<float>(columns_in(view, whole, frame));
    const float width = (whole - frame.px(kListsGap) * (columns - 1)) / columns;
    place_lists(view, whole, frame, [&](std::size_t n, int column, float top) {
        draw_group(
            view.groups[n],
            {low.x + static_cast<float>(column) * (width + frame.px(kListsGap)), low.y + top},
            width, frame, out);
    });
}

}  // namespace attn::ui

#include <cmath>

#include "app/ui/common/draw.h"
#include "app/ui/panels.h"

namespace attn::ui {
namespace {

using view::ThemeName;
using view::Workspace;

// Design units.
constexpr float kItemHeight = 64.0F;
constexpr float kIcon = 20.0F;

/// Icons are a few lines in a box of kIcon: no font has them.
using Icon = void (*)(ImDrawList& list, ImVec2 low, float size, ImU32 color, float thin);

void grid_icon(ImDrawList& list, ImVec2 low, float size, ImU32 color, float thin) {
    const float step = size / 3;
    for (int row = 0; row < 3; ++row)
        for (int column = 0; column < 3; ++column) {
            const ImVec2 a{low.x + step * static_cast<float>(column),
                           low.y + step * static_cast<float>(row)};
            const ImVec2 b{a.x + step - thin * 2, a.y + step - thin * 2};
            if (row == column) list.AddRectFilled(a, b, color);
            if (row != column) list.AddRect(a, b, color, 0.0F, 0, thin);
        }
}

void curve_icon(ImDrawList& list, ImVec2 low, float size, ImU32 color, float thin) {
    list.AddLine({low.x, low.y}, {low.x, low.y + size}, color, thin);
    list.AddLine({low.x, low.y + size}, {low.x + size, low.y + size}, color, thin);
    list.AddBezierCubic({low.x + thin, low.y + size * 0.9F},
                        {low.x + size * 0.5F, low.y + size * 0.9F},
                        {low.x + size * 0.35F, low.y + size * 0.1F},
                        {low.x + size, low.y + size * 0.1F}, color, thin * 1.5F);
}

/// A map: a square, and a part of it drawn larger.
void map_icon(ImDrawList& list, ImVec2 low, float size, ImU32 color, float thin) {
    const float part = size * 0.3F;
    const float lens = size * 0.62F;
    const ImVec2 high{low.x + size, low.y + size};
    list.AddRect(low, {low.x + lens, low.y + lens}, color, 0.0F, 0, thin);
    list.AddRectFilled({low.x + thin * 3, low.y + thin * 3}, {low.x + part, low.y + part}, color);
    list.AddRectFilled({high.x - lens + thin * 3, high.y - lens + thin * 3}, high, color);
    list.AddLine({low.x + lens, low.y}, {high.x, high.y - lens}, color, thin);
    list.AddLine({low.x, low.y + lens}, {high.x - lens, high.y}, color, thin);
}

void theme_icon(ImDrawList& list, ImVec2 low, float size, ImU32 color, float thin) {
    const ImVec2 middle{low.x + size / 2, low.y + size / 2};
    list.AddCircle(middle, size * 0.4F, color, 32, thin);
    list.PathArcTo(middle, size * 0.4F, -1.5708F, 1.5708F, 24);
    list.PathFillConvex(color);
}

void help_icon(ImDrawList& list, ImVec2 low, float size, ImU32 color, float thin) {
    const ImVec2 middle{low.x + size / 2, low.y + size / 2};
    list.AddCircle(middle, size * 0.45F, color, 32, thin);
}

struct RailItem {
    const char* id;
    const char* words;
    const char* tip;
    Icon icon;
};

bool draw_item(const RailItem& item, bool current, const Frame& frame) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 size{ImGui::GetContentRegionAvail().x, frame.px(kItemHeight)};
    const bool clicked = ImGui::InvisibleButton(item.id, size);
    const bool hovered = ImGui::IsItemHovered();
    tooltip(frame, item.words, item.tip);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (current)
        list.AddRectFilled(low, {low.x + frame.px(2), low.y + size.y}, to_u32(frame.theme.accent));
    const view::Color color = current   ? frame.theme.accent
                              : hovered ? frame.theme.text
                                        : frame.theme.muted;
    const float icon = frame.px(kIcon);
    const ImVec2 corner{std::round(low.x + (size.x - icon) / 2), low.y + frame.px(12)};
    item.icon(list, corner, icon, to_u32(color), frame.px(1));
    if (item.icon == help_icon)
        draw_text_in(list, frame.fonts.small, corner, {corner.x + icon, corner.y + icon},
                     Align::center, to_u32(color), "?");
    draw_text_in(list, frame.fonts.small, {low.x, low.y + frame.px(36)},
                 {low.x + size.x, low.y + frame.px(56)}, Align::center, to_u32(color), item.words);
    return clicked;
}

constexpr RailItem kStep{"step", "Step", "Step through the stages of attention.  Key: 1",
                         grid_icon};
constexpr RailItem kSaturation{"saturation", "Saturation",
                               "Why scores are divided by √d_k: softmax saturates.  Key: 2",
                               curve_icon};
constexpr RailItem kLarge{"large", "Large", "A map of a matrix of any size.  Key: 3", map_icon};
constexpr RailItem kTheme{"theme", "Theme", "Dark or light.  Ctrl+K finds every command.",
                          theme_icon};
constexpr RailItem kHelp{"help", "Help", "Every key and command.  Key: F1", help_icon};

}  // namespace

void draw_rail(const view::AppState& state, const Frame& frame, view::Actions& out) {
    if (draw_item(kStep, state.workspace == Workspace::step, frame))
        out.push_back(view::SetWorkspace{Workspace::step});
    if (draw_item(kSaturation, state.workspace == Workspace::saturation, frame))
        out.push_back(view::SetWorkspace{Workspace::saturation});
    if (draw_item(kLarge, state.workspace == Workspace::large, frame))
        out.push_back(view::SetWorkspace{Workspace::large});
    const float foot = 2 * (frame.px(kItemHeight) + ImGui::GetStyle().ItemSpacing.y);
    const float gap = ImGui::GetContentRegionAvail().y - foot;
    if (gap > 0.0F) ImGui::Dummy({0.0F, gap});
    if (draw_item(kTheme, false, frame))
        out.push_back(
            view::SetTheme{state.theme == ThemeName::dark ? ThemeName::light : ThemeName::dark});
    if (draw_item(kHelp, state.show_help, frame)) out.push_back(view::ShowHelp{!state.show_help});
}

}  // namespace attn::ui

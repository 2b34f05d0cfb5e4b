#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "app/common/draw/draw.h"
#include "app/common/workspace.h"
#include "app/window/draw/panels.h"

namespace attn::ui {
namespace {

using view::ThemeName;

// Design units.
constexpr float kItemHeight = 60.0F;
constexpr float kWordsHeight = 48.0F;  // a lower item has its icon alone
constexpr float kLeastHeight = 22.0F;
constexpr int kFootItems = 2;
constexpr float kIcon = 20.0F;
constexpr int kArcSteps = 24;

/// Half of a disc is dark.
void draw_theme_icon(view::Painter& painter, view::Point low, float size, view::Color color,
                     float thin) {
    const view::Point middle{low.x + size / 2, low.y + size / 2};
    const float radius = size * 0.4F;
    painter.ring(middle, radius, color, thin * 1.5F);
    std::array<view::Point, kArcSteps + 1> arc;
    for (int n = 0; n <= kArcSteps; ++n) {
        const float angle = 3.14159265F * (static_cast<float>(n) / kArcSteps - 0.5F);
        arc[static_cast<std::size_t>(n)] = {middle.x + radius * std::cos(angle),
                                            middle.y + radius * std::sin(angle)};
    }
    painter.polygon(arc, color);
}

void draw_help_icon(view::Painter& painter, view::Point low, float size, view::Color color,
                    float thin) {
    painter.ring({low.x + size / 2, low.y + size / 2}, size * 0.45F, color, thin * 1.5F);
}

struct RailItem {
    std::string id, words, tip;
    Icon icon;
};

/// The height of an item: all of them fit, as icons alone where the window is low.
float item_height(std::size_t workspaces, const Frame& frame) {
    const auto count = static_cast<float>(workspaces + kFootItems);
    const float room = ImGui::GetContentRegionAvail().y / count - ImGui::GetStyle().ItemSpacing.y;
    return within(std::floor(room), frame.px(kLeastHeight), frame.px(kItemHeight));
}

bool draw_item(const RailItem& item, bool current, float height, const Frame& frame) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 size{std::max(1.0F, ImGui::GetContentRegionAvail().x), height};
    const float inset = frame.px(4);  // the ring has no room outside
    const bool pressed = ImGui::InvisibleButton(item.id.c_str(), size);
    const bool clicked = pressed_by_key(frame, {low.x + inset, low.y + inset},
                                        {low.x + size.x - inset, low.y + size.y - inset}) ||
                         pressed;
    const bool hovered = ImGui::IsItemHovered();
    tooltip(frame, item.words, item.tip);
    const view::Theme& theme = frame.theme;
    if (current) frame.painter.rect(low, {low.x + frame.px(2), low.y + size.y}, theme.accent);
    const view::Color color = current ? theme.accent : hovered ? theme.text : theme.muted;
    const float icon = frame.px(kIcon);
    const bool words = height >= frame.px(kWordsHeight);
    const float icon_top = words ? (height - frame.px(36)) / 2 : (height - icon) / 2;
    const ImVec2 corner{std::round(low.x + (size.x - icon) / 2), low.y + std::round(icon_top)};
    item.icon(frame.painter, corner, icon, color, frame.px(1));
    if (item.icon == draw_help_icon)
        draw_text_in(frame, frame.fonts.small, corner, {corner.x + icon, corner.y + icon},
                     Align::center, color, "?");
    if (words)
        draw_text_in(frame, frame.fonts.small, {low.x, corner.y + frame.px(24)},
                     {low.x + size.x, corner.y + frame.px(44)}, Align::center, color, item.words);
    return clicked;
}

std::string tip_of(const view::WorkspaceInfo& row) {
    const std::string tip(row.tip);
    return row.digit == view::Key::none ? tip : tip + "  Key: " + std::string(key_name(row.digit));
}

void draw_workspaces(const view::AppState& state, PanelList panels, float height,
                     const Frame& frame, view::Actions& out) {
    for (std::size_t n = 0; n < state.workspaces.size() && n < panels.size(); ++n) {
        const view::WorkspaceInfo& row = *state.workspaces[n];
        const RailItem item{std::string(row.key), std::string(row.title), tip_of(row),
                            panels[n]->icon};
        if (draw_item(item, state.workspace == row.key, height, frame)) out.push_back(go_to(row));
    }
}

}  // namespace

void draw_rail(const view::AppState& state, PanelList panels, const Frame& frame,
               view::Actions& out) {
    const float height = item_height(std::min(state.workspaces.size(), panels.size()), frame);
    draw_workspaces(state, panels, height, frame, out);
    const float foot = kFootItems * (height + ImGui::GetStyle().ItemSpacing.y);
    const float gap = ImGui::GetContentRegionAvail().y - foot;
    if (gap > 0.0F) ImGui::Dummy({0.0F, gap});
    const RailItem theme{"theme", "Theme", "Dark or light.  Ctrl+K finds every command.",
                         draw_theme_icon};
    const RailItem help{"help", "Help", "Every key and command.  Key: F1", draw_help_icon};
    if (draw_item(theme, false, height, frame))
        out.push_back(
            view::SetTheme{state.theme == ThemeName::dark ? ThemeName::light : ThemeName::dark});
    if (draw_item(help, state.show_help, height, frame))
        out.push_back(view::ShowHelp{!state.show_help});
}

}  // namespace attn::ui

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

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
using Icon = void (*)(view::Painter& painter, ImVec2 low, float size, view::Color color,
                      float thin);

void grid_icon(view::Painter& painter, ImVec2 low, float size, view::Color color, float thin) {
    const float step = size / 3;
    for (int row = 0; row < 3; ++row)
        for (int column = 0; column < 3; ++column) {
            const ImVec2 a{low.x + step * static_cast<float>(column),
                           low.y + step * static_cast<float>(row)};
            const ImVec2 b{a.x + step - thin * 2, a.y + step - thin * 2};
            if (row == column) painter.rect(a, b, color);
            if (row != column) painter.outline(a, b, color, thin);
        }
}

constexpr int kCurveSteps = 16;

/// Bézier's curve from the first to the last of four points.
std::vector<view::Point> cubic(const std::array<view::Point, 4>& p) {
    std::vector<view::Point> points;
    for (int n = 0; n <= kCurveSteps; ++n) {
        const float t = static_cast<float>(n) / kCurveSteps;
        const float u = 1.0F - t;
        const std::array<float, 4> part{u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t};
        view::Point at;
        for (std::size_t k = 0; k < p.size(); ++k)
            at = {at.x + p[k].x * part[k], at.y + p[k].y * part[k]};
        points.push_back(at);
    }
    return points;
}

std::vector<view::Point> right_half(view::Point middle, float radius) {
    std::vector<view::Point> points;
    for (int n = 0; n <= kCurveSteps; ++n) {
        const float angle =
            std::numbers::pi_v<float> * (static_cast<float>(n) / kCurveSteps - 0.5F);
        points.push_back(
            {middle.x + radius * std::cos(angle), middle.y + radius * std::sin(angle)});
    }
    return points;
}

void curve_icon(view::Painter& painter, ImVec2 low, float size, view::Color color, float thin) {
    painter.line({low.x, low.y}, {low.x, low.y + size}, color, thin);
    painter.line({low.x, low.y + size}, {low.x + size, low.y + size}, color, thin);
    const std::array<view::Point, 4> ends{{{low.x + thin, low.y + size * 0.9F},
                                           {low.x + size * 0.5F, low.y + size * 0.9F},
                                           {low.x + size * 0.35F, low.y + size * 0.1F},
                                           {low.x + size, low.y + size * 0.1F}}};
    painter.polyline(cubic(ends), color, thin * 1.5F);
}

/// A map: a square, and a part of it drawn larger.
void map_icon(view::Painter& painter, ImVec2 low, float size, view::Color color, float thin) {
    const float part = size * 0.3F;
    const float lens = size * 0.62F;
    const ImVec2 high{low.x + size, low.y + size};
    painter.outline(low, {low.x + lens, low.y + lens}, color, thin);
    painter.rect({low.x + thin * 3, low.y + thin * 3}, {low.x + part, low.y + part}, color);
    painter.rect({high.x - lens + thin * 3, high.y - lens + thin * 3}, high, color);
    painter.line({low.x + lens, low.y}, {high.x, high.y - lens}, color, thin);
    painter.line({low.x, low.y + lens}, {high.x - lens, high.y}, color, thin);
}

void theme_icon(view::Painter& painter, ImVec2 low, float size, view::Color color, float thin) {
    const ImVec2 middle{low.x + size / 2, low.y + size / 2};
    painter.ring(middle, size * 0.4F, color, thin);
    painter.polygon(right_half(middle, size * 0.4F), color);
}

void help_icon(view::Painter& painter, ImVec2 low, float size, view::Color color, float thin) {
    const ImVec2 middle{low.x + size / 2, low.y + size / 2};
    painter.ring(middle, size * 0.45F, color, thin);
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
    if (current) frame.painter.rect(low, {low.x + frame.px(2), low.y + size.y}, frame.theme.accent);
    const view::Color color = current   ? frame.theme.accent
                              : hovered ? frame.theme.text
                                        : frame.theme.muted;
    const float icon = frame.px(kIcon);
    const ImVec2 corner{std::round(low.x + (size.x - icon) / 2), low.y + frame.px(12)};
    item.icon(frame.painter, corner, icon, color, frame.px(1));
    if (item.icon == help_icon)
        draw_text_in(frame, frame.fonts.small, corner, {corner.x + icon, corner.y + icon},
                     Align::center, color, "?");
    draw_text_in(frame, frame.fonts.small, {low.x, low.y + frame.px(36)},
                 {low.x + size.x, low.y + frame.px(56)}, Align::center, color, item.words);
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

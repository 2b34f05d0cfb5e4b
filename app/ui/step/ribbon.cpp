#include <algorithm>

#include "app/ui/common/draw.h"
#include "app/ui/common/focus.h"
#include "app/ui/step/canvas.h"

namespace attn::ui {
namespace {

using view::Progress;
using view::RibbonItem;

// Design units.
constexpr float kArrow = 16.0F;
constexpr float kWidest = 160.0F;

view::Color label_color(const Frame& frame, Progress progress) {
    switch (progress) {
        case Progress::done:
            return frame.theme.text;
        case Progress::current:
            return frame.theme.accent;
        case Progress::ahead:
            return frame.theme.muted;
    }
    return frame.theme.text;
}

void draw_item(const RibbonItem& item, const Frame& frame, ImVec2 low, ImVec2 size, bool hovered) {
    const ImVec2 high{low.x + size.x, low.y + size.y};
    const bool current = item.progress == Progress::current;
    if (hovered && !current) frame.painter.rect(low, high, frame.theme.raised, frame.px(4));
    const float split = low.y + size.y * 0.56F;
    draw_text_in(frame, frame.fonts.strong, {low.x, low.y + frame.px(4)}, {high.x, split},
                 Align::center, label_color(frame, item.progress), item.label);
    draw_text_in(frame, frame.fonts.digits_small, {low.x, split}, {high.x, high.y - frame.px(4)},
                 Align::center, frame.theme.muted,
                 fit_text(frame, frame.fonts.digits_small, item.shape, size.x));
    if (current) frame.painter.rect({low.x, high.y - frame.px(2)}, high, frame.theme.accent);
}

}  // namespace

void draw_ribbon(const std::vector<RibbonItem>& items, const Frame& frame, view::Actions& out) {
    const ImVec2 origin = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float count = static_cast<float>(items.size());
    const float arrow = frame.px(kArrow);
    const float width = std::clamp((room.x - arrow * (count - 1)) / count, 1.0F, frame.px(kWidest));
    float x = origin.x;
    for (const RibbonItem& item : items) {
        const ImVec2 low{x, origin.y};
        ImGui::SetCursorScreenPos(low);
        ImGui::PushID(info(item.stage).key.data());
        const bool clicked = ImGui::InvisibleButton("stage", {width, room.y});
        if (pressed_by_key(frame) || clicked) out.push_back(view::GoToStage{item.stage});
        tooltip(frame, item.label, item.tooltip);
        draw_item(item, frame, low, {width, room.y}, ImGui::IsItemHovered());
        ImGui::PopID();
        x += width + arrow;
        if (&item == &items.back()) break;
        const float y = origin.y + room.y / 2;
        draw_arrow(frame, {x - arrow + frame.px(1), y}, {x - frame.px(3), y},
                   item.progress == Progress::done ? frame.theme.muted : frame.theme.line,
                   frame.px(1));
    }
}

}  // namespace attn::ui

#include "app/common/draw/still.h"

#include <imgui.h>

#include "app/common/draw/draw.h"

namespace attn::ui {

void still_field(const Frame& frame, const view::Font& font, std::string_view text,
                 std::string_view hint) {
    if (!frame.still) return;
    const ImVec2 low = ImGui::GetItemRectMin();
    const ImVec2 high = ImGui::GetItemRectMax();
    const float pad = ImGui::GetStyle().FramePadding.x;
    draw_box(frame, low, high, frame.theme.raised);
    draw_text_in(frame, font, {low.x + pad, low.y}, {high.x - pad, high.y}, Align::left,
                 text.empty() ? frame.theme.muted : frame.theme.text,
                 fit_text(frame, font, text.empty() ? hint : text, high.x - low.x - 2 * pad));
}

}  // namespace attn::ui

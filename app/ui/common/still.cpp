#include "app/ui/common/still.h"

#include <imgui.h>

#include <array>

#include "app/ui/common/draw.h"

namespace attn::ui {
namespace {

constexpr float kArrow = 5.0F;  // half of its width, in design units

void draw_plate(const Frame& frame) {
    frame.painter.rect(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), frame.theme.raised,
                       ImGui::GetStyle().FrameRounding);
}

/// Left in the last item, `end` pixels before its right edge at most.
void draw_left(const Frame& frame, const view::Font& font, view::Color ink, std::string_view text,
               float end) {
    const float pad = ImGui::GetStyle().FramePadding.x;
    const ImVec2 low{ImGui::GetItemRectMin().x + pad, ImGui::GetItemRectMin().y};
    const ImVec2 high{ImGui::GetItemRectMax().x - end, ImGui::GetItemRectMax().y};
    draw_text_in(frame, font, low, high, Align::left, ink,
                 fit_text(frame, font, text, high.x - low.x));
}

}  // namespace

void still_button(const Frame& frame, view::Color ink, std::string_view words) {
    if (!frame.still) return;
    draw_plate(frame);
    draw_text_in(frame, frame.fonts.body, ImGui::GetItemRectMin(), ImGui::GetItemRectMax(),
                 Align::center, ink, words);
}

void still_field(const Frame& frame, const view::Font& font, std::string_view text,
                 std::string_view hint) {
    if (!frame.still) return;
    draw_plate(frame);
    draw_left(frame, font, text.empty() ? frame.theme.muted : frame.theme.text,
              text.empty() ? hint : text, ImGui::GetStyle().FramePadding.x);
}

void still_combo(const Frame& frame, std::string_view text) {
    if (!frame.still) return;
    const ImVec2 low = ImGui::GetItemRectMin();
    const ImVec2 high = ImGui::GetItemRectMax();
    const float side = high.y - low.y;  // of the arrow's own square
    draw_plate(frame);
    draw_left(frame, frame.fonts.body, frame.theme.text, text, side);
    const ImVec2 middle{high.x - side / 2, (low.y + high.y) / 2};
    const float half = frame.px(kArrow);
    const std::array<view::Point, 3> arrow{{{middle.x - half, middle.y - half / 2},
                                            {middle.x + half, middle.y - half / 2},
                                            {middle.x, middle.y + half}}};
    frame.painter.polygon(arrow, frame.theme.text);
}

}  // namespace attn::ui

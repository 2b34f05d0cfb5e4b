#include "app/workspaces/step/draw/heads.h"

#include <imgui.h>

#include "app/common/document/actions.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/items.h"
#include "app/common/draw/workspace.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kStrip = 96.0F;
constexpr float kLargest = 72.0F;     // side of a picture
constexpr float kLeastAlone = 48.0F;  // smaller ones are in two columns
constexpr float kPair = 38.0F;
constexpr int kMostColumns = 4;    // of as small pictures as 16 heads ask for in a low window
constexpr float kLine = 15.0F;     // of a title
constexpr float kUnder = 5.0F;     // a picture, for its ring
constexpr float kFlattest = 0.4F;  // of a picture, its height over its width

/// Layout of the pictures.
struct Setting {
    int columns = 1;
    float side = 0.0F;
    float lines = 1.0F;  // of title and name
    float pitch = 0.0F;  // from one row of pictures to the next
};

Setting set_pictures(const HeadsView& view, const Frame& frame, float height) {
    const auto count = static_cast<float>(view.heads.size());
    Setting setting;
    const auto is_named = [](const HeadPicture& head) { return !head.name.empty(); };
    setting.lines = std::ranges::any_of(view.heads, is_named) ? 2.0F : 1.0F;
    const float around = frame.px(kLine) * setting.lines + frame.px(kSpace12);
    setting.side = std::min(frame.px(kLargest), std::floor(height / count - around));
    if (setting.side < frame.px(kLeastAlone)) {
        setting.columns = 1;
        setting.lines = 1.0F;
    }
    const auto pitch = [&] {
        return setting.side + frame.px(kLine) * setting.lines + frame.px(kSpace12);
    };
    const auto fits = [&] {
        return std::ceil(count / static_cast<float>(setting.columns)) * pitch() <= height;
    };
    while (setting.side < frame.px(kLeastAlone) && setting.columns < kMostColumns &&
           (setting.columns == 1 || !fits()))
        setting.side = frame.px(2.0F * kPair) / static_cast<float>(++setting.columns);
    setting.pitch = pitch();
    return setting;
}

/// Place of the picture in its square: flat if it has many columns, never a line.
Box square_of(const HeadsView& view, Point low, float side) {
    const float aspect =
        view.columns > 0 ? static_cast<float>(view.rows) / static_cast<float>(view.columns) : 1.0F;
    const float height = side * within(aspect, kFlattest, 1.0F);
    const float width = side * within(1.0F / std::max(aspect, 1e-6F), kFlattest, 1.0F);
    const ImVec2 from{low.x + (side - width) / 2, low.y + (side - height) / 2};
    return {from, {from.x + width, from.y + height}};
}

std::string description_of(const HeadPicture& head) {
    return head.name.empty() ? head.title : head.title + ": " + head.name;
}

void draw_picture(const HeadPicture& head, const Frame& frame, const Box& square) {
    const Titled titled(frame.painter, [&] { return description_of(head) + "\n" + head.tooltip; });
    if (head.drawn) frame.painter.image(head.picture, square.low, square.high);
    const Color edge = head.shown ? frame.theme.accent : frame.theme.line;
    const float out = frame.px(head.shown ? 3.0F : 1.0F);
    frame.painter.outline({square.low.x - out, square.low.y - out},
                          {square.high.x + out, square.high.y + out}, edge,
                          frame.px(head.shown ? 2.0F : 1.0F), frame.px(2));
    if (!head.drawn)
        draw_text_in(frame, frame.fonts.body, square.low, square.high, Align::center,
                     frame.theme.muted, std::to_string(head.head));
}

void draw_titles(const HeadPicture& head, const Setting& setting, const Frame& frame, ImVec2 low,
                 float width) {
    const Font& font = frame.fonts.small;
    const Color color = head.shown ? frame.theme.accent : frame.theme.muted;
    const auto line = [&](float n, const std::string& text) {
        const float top = low.y + setting.side + frame.px(kSpace4 + kUnder) + frame.px(kLine) * n;
        draw_text_in(frame, font, {low.x, top}, {low.x + width, top + frame.px(kLine)},
                     Align::center, color, fit_text(frame, font, text, width));
    };
    const bool fits = frame.text_width(font, head.title) <= width;
    line(0.0F, fits ? head.title : std::to_string(head.head));
    if (setting.lines > 1.0F) line(1.0F, head.name);
}

void draw_head(const HeadsView& view, const HeadPicture& head, const Setting& setting,
               const Frame& frame, ImVec2 low, float width, Actions& out) {
    ImGui::SetCursorScreenPos(low);
    ImGui::PushID(static_cast<int>(head.head));
    const bool clicked = invisible_button("head", {width, setting.pitch - frame.px(kSpace4)});
    if (pressed_by_key(frame) || clicked) out.push_back(ShowHead{head.head, view.batch});
    tooltip_beside(frame, ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), Beside::right,
                   description_of(head), head.tooltip);
    const Point corner{low.x + (width - setting.side) / 2, low.y + frame.px(kSpace4)};
    draw_picture(head, frame, square_of(view, corner, setting.side));
    draw_titles(head, setting, frame, low, width);
    ImGui::PopID();
}

}  // namespace

float heads_width(const HeadsView& view, const Frame& frame) {
    return view.heads.empty() ? 0.0F : frame.px(kStrip);
}

void draw_heads(const HeadsView& view, const Frame& frame, Actions& out) {
    const ImVec2 space = ImGui::GetContentRegionAvail();
    const Setting setting = set_pictures(view, frame, space.y);
    const float width = space.x / static_cast<float>(setting.columns);
    const ImVec2 origin = ImGui::GetCursorScreenPos();
    for (int n = 0; const HeadPicture& head : view.heads) {
        const auto row = static_cast<float>(n / setting.columns);
        const auto column = static_cast<float>(n % setting.columns);
        draw_head(view, head, setting, frame,
                  {origin.x + column * width, origin.y + row * setting.pitch}, width, out);
        ++n;
    }
}

}  // namespace attn::ui

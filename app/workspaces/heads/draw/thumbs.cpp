#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/items.h"
#include "app/common/inspector.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/heads/draw/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kLargest = 112.0F;  // pitch of the pictures
constexpr float kLargestOfFigure = 400.0F;
constexpr float kLeast = 12.0F;
constexpr float kTitled = 76.0F;  // the least with a title under each
constexpr float kThumbsTitle = 15.0F;
constexpr double kDimmed = 0.8, kOff = 0.6;
constexpr float kMost = 0.42F;  // of the width; while two are compared less
constexpr float kMostBeside = 0.3F;

/// Where the pictures stand.
struct Layout {
    float left = 0.0F, top = 0.0F;  // labels
    ImVec2 pitch;
    float side = 0.0F;  // of a picture's square
    Index columns = 1, rows = 1;
    float width() const { return left + pitch.x * static_cast<float>(columns); }
    float height() const { return top + pitch.y * static_cast<float>(rows); }
};

float gap_of(float pitch, const Frame& frame) { return within(pitch * 0.1F, 1.0F, frame.px(10)); }

/// In a figure the pictures fill its width.
float largest_pitch(const Frame& frame) {
    return frame.px(frame.is_canvas_alone() ? kLargestOfFigure : kLargest);
}

Layout by_layer(const AllHeadsView& view, ImVec2 space, const Frame& frame) {
    Layout at;
    at.left = frame.text_width(frame.fonts.small, view.layer_labels.back()) + frame.px(8);
    at.top = frame.px(kTextRow);
    at.columns = view.columns;
    at.rows = view.layers;
    const float across = (space.x - at.left) / static_cast<float>(at.columns);
    const float down = (space.y - at.top) / static_cast<float>(at.rows);
    float pitch = within(std::min(across, down), frame.px(kLeast), largest_pitch(frame));
    pitch = std::max(std::min(pitch, across), 1.0F);  // rows scroll, columns do not
    at.pitch = {pitch, pitch};
    at.side = std::max(pitch - gap_of(pitch, frame), 1.0F);
    return at;
}

/// As many columns as show every picture at its largest; where none does, it scrolls.
Layout in_order(const AllHeadsView& view, ImVec2 space, const Frame& frame) {
    const auto count = static_cast<Index>(view.thumbs.size());
    const auto most = std::max<Index>(static_cast<Index>(space.x / frame.px(kTitled)), 1);
    Layout best;
    for (Index columns = 1; columns <= std::min(most, std::max<Index>(count, 1)); ++columns) {
        Layout at;
        at.left = at.top = frame.px(2);  // for the frame of the one shown
        at.columns = columns;
        at.rows = (count + columns - 1) / columns;
        const float pitch =
            std::min((space.x - at.left) / static_cast<float>(columns), largest_pitch(frame));
        at.pitch = {pitch, pitch + frame.px(kThumbsTitle)};
        at.side = pitch - gap_of(pitch, frame);
        best = at;
        if (at.height() <= space.y) break;
    }
    return best;
}

/// Lines beneath the pictures: the bar, its words, what is clipped.
float legend_height(const AllHeadsView& view, const Frame& frame) {
    const int lines = 2 + (view.legend.clipped ? 1 : 0) + (view.legend.change_text.empty() ? 0 : 1);
    return frame.px(kSpace12 + kThumbsTitle * static_cast<float>(lines));
}

Layout lay_out(const AllHeadsView& view, ImVec2 space, const Frame& frame) {
    const ImVec2 pictures{space.x, space.y - legend_height(view, frame)};
    return view.listed ? in_order(view, pictures, frame) : by_layer(view, pictures, frame);
}

/// Top left of the n-th picture's square.
ImVec2 corner(const AllHeadsView& view, const Layout& at, ImVec2 low, std::size_t n) {
    const HeadThumb& thumb = view.thumbs[n];
    const auto place = static_cast<Index>(n);
    const Index row = view.listed ? place / at.columns : thumb.place.layer;
    const Index column = view.listed ? place % at.columns : thumb.column;
    return {low.x + at.left + at.pitch.x * static_cast<float>(column),
            low.y + at.top + at.pitch.y * static_cast<float>(row)};
}

/// The picture under the pointer.
std::optional<std::size_t> pointed(const AllHeadsView& view, const Layout& at, ImVec2 low) {
    const ImVec2 mouse = ImGui::GetMousePos();
    for (std::size_t n = 0; n < view.thumbs.size(); ++n) {
        const ImVec2 from = corner(view, at, low, n);
        if (mouse.x >= from.x && mouse.x < from.x + at.pitch.x && mouse.y >= from.y &&
            mouse.y < from.y + at.pitch.y)
            return n;
    }
    return std::nullopt;
}

/// Of a head that is off: dimmed and crossed out. Of one that others changed: a strip as long as the change, with its number
/// where there is room.
void draw_switched(const HeadThumb& thumb, ImVec2 low, ImVec2 high, const Frame& frame) {
    if (thumb.off) {
        frame.painter.rect(low, high, view::translucent(frame.theme.background, kOff));
        frame.painter.line(low, high, frame.theme.text, frame.px(1.5F));
        frame.painter.line({low.x, high.y}, {high.x, low.y}, frame.theme.text, frame.px(1.5F));
    }
    if (thumb.change.empty()) return;
    const float strip = std::min(frame.px(5), (high.y - low.y) * 0.25F);
    const float width = (high.x - low.x) * within(thumb.change_share, 0.0F, 1.0F);
    frame.painter.rect({low.x, high.y - strip}, high, frame.theme.background);
    frame.painter.rect({low.x, high.y - strip}, {low.x + width, high.y}, frame.theme.text);
    const Font& font = frame.fonts.small;
    const float space = frame.text_width(font, thumb.change) + frame.px(6);
    const float top = high.y - strip - frame.px(kThumbsTitle);
    if (space > high.x - low.x || top < low.y + frame.px(kThumbsTitle)) return;
    frame.painter.rect({low.x, top}, {low.x + space, high.y - strip}, frame.theme.background);
    draw_text_in(frame, font, {low.x, top}, {low.x + space, high.y - strip}, Align::center,
                 frame.theme.text, thumb.change);
}

void draw_thumb(const AllHeadsView& view, std::size_t n, const Layout& at, ImVec2 from,
                const Frame& frame) {
    const HeadThumb& thumb = view.thumbs[n];
    const Titled titled(frame.painter, [&] { return thumb.title; });
    const float width = at.side * std::min(1.0F, 1.0F / std::max(thumb.aspect, 0.25F));
    const float height = at.side * within(thumb.aspect, 0.25F, 1.0F);
    const ImVec2 low{std::round(from.x), std::round(from.y)};
    const ImVec2 high{low.x + width, low.y + height};
    frame.painter.image(view.picture, low, high, thumb.part);
    if (!thumb.passes)
        frame.painter.rect(low, high, view::translucent(frame.theme.background, kDimmed));
    const bool hovered = view.hovered == thumb.place;
    const bool shown = thumb.shown && !frame.is_canvas_alone();  // of the window alone
    if (shown || hovered) {
        const float out = frame.px(shown ? 2.0F : 1.0F);
        frame.painter.outline({low.x - out, low.y - out}, {high.x + out, high.y + out},
                              shown ? frame.theme.accent : frame.theme.text, out);
    }
    draw_switched(thumb, low, high, frame);
    if (!thumb.pin.empty()) {
        const ImVec2 corner{low.x + frame.px(16), low.y + frame.px(16)};
        frame.painter.rect(low, corner, frame.theme.accent, frame.px(3));
        draw_text_in(frame, frame.fonts.small, low, corner, Align::center, frame.theme.on_accent,
                     thumb.pin);
    }
    if (!view.listed) return;
    const float top = low.y + at.side + frame.px(1);
    draw_fitted(frame, frame.fonts.small, {low.x, top},
                {low.x + at.pitch.x, top + frame.px(kThumbsTitle)}, Align::left,
                shown ? frame.theme.accent : frame.theme.muted, thumb.title);
}

/// Every label, or every n-th where they are wider than their columns.
void draw_axes(const AllHeadsView& view, const Layout& at, ImVec2 low, const Frame& frame) {
    const Font& font = frame.fonts.small;
    const auto& labels = view.head_labels;
    const float widest = frame.text_width(font, labels.back()) + frame.px(4);
    const auto step = static_cast<std::size_t>(std::ceil(widest / at.pitch.x));
    for (std::size_t n = 0; n < labels.size(); n += std::max<std::size_t>(step, 1)) {
        const float x = low.x + at.left + at.pitch.x * static_cast<float>(n);
        draw_text_in(frame, font, {x, low.y}, {x + at.side, low.y + frame.px(kTextRow)},
                     Align::center, frame.theme.muted, labels[n]);
    }
    const auto rows = static_cast<std::size_t>(std::ceil(frame.px(kThumbsTitle) / at.pitch.y));
    for (std::size_t n = 0; n < view.layer_labels.size(); n += std::max<std::size_t>(rows, 1)) {
        const float y = low.y + at.top + at.pitch.y * static_cast<float>(n);
        draw_text_in(frame, font, {low.x, y}, {low.x + at.left, y + at.side}, Align::left,
                     frame.theme.muted, view.layer_labels[n]);
    }
}

void press(const AllHeadsView& view, const Layout& at, ImVec2 low, const Frame& frame,
           Actions& out) {
    const bool over = ImGui::IsItemHovered();
    const auto n = over ? pointed(view, at, low) : std::nullopt;
    const auto place = n ? std::optional(view.thumbs[*n].place) : std::nullopt;
    if (place != view.hovered) out.push_back(HoverHead{place});
    if (!n) return;
    press_head(*place, !view.thumbs[*n].pin.empty(), out);
    if (place != view.hovered) return;  // the words are of the frame before
    const ImVec2 from = corner(view, at, low, *n);
    tooltip_beside(frame, from, {from.x + at.pitch.x, from.y + at.pitch.y}, Beside::right,
                   view.hover_title, view.hover_text);
}

void draw_pictures(const AllHeadsView& view, const Layout& at, const Frame& frame, Actions& out) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    invisible_button("heads", {at.width(), at.height()});
    press(view, at, low, frame, out);
    // One control: Tab comes to it, arrows show another head, Enter pins the one that is shown.
    if (pressed_by_key(frame, low, {low.x + at.width(), low.y + at.height()}))
        out.push_back(PinHead{view.here.layer, view.here.head, !view.controls.pinned});
    if (!view.listed) draw_axes(view, at, low, frame);
    for (std::size_t n = 0; n < view.thumbs.size(); ++n) {
        const ImVec2 from = corner(view, at, low, n);
        if (frame.still || ImGui::IsRectVisible(from, {from.x + at.pitch.x, from.y + at.pitch.y}))
            draw_thumb(view, n, at, from, frame);
    }
}

void draw_legend(const AllHeadsView& view, ImVec2 low, float width, const Frame& frame) {
    const Font& font = frame.fonts.small;
    const float line = frame.px(kThumbsTitle);
    const float left = low.x + frame.text_width(font, view.legend.low) + frame.px(6);
    const float bar = std::min(frame.px(120), width * 0.4F);
    draw_text_in(frame, font, low, {left, low.y + line}, Align::left, frame.theme.muted,
                 view.legend.low);
    frame.painter.gradient({left, low.y + frame.px(4)}, {left + bar, low.y + frame.px(11)},
                           view.legend.colors);
    if (view.legend.even) {
        const float x = left + bar * *view.legend.even;
        frame.painter.line({x, low.y + frame.px(2)}, {x, low.y + frame.px(13)}, frame.theme.text,
                           frame.px(1.5F));
    }
    draw_text_in(frame, font, {left + bar + frame.px(6), low.y}, {low.x + width, low.y + line},
                 Align::left, frame.theme.muted, view.legend.high);
    float y = low.y + line;
    const auto description = [&](const std::string& text, float indent = 0.0F) {
        draw_text_in(frame, font, {low.x + indent, y}, {low.x + width, y + line}, Align::left,
                     frame.theme.muted, fit_text(frame, font, text, width - indent));
        y += line;
    };
    description(view.legend.text);
    if (!view.legend.change_text.empty()) description(view.legend.change_text);
    if (view.legend.clipped) {
        frame.painter.rect({low.x, y + frame.px(3)}, {low.x + frame.px(10), y + frame.px(13)},
                           *view.legend.clipped);
        description(view.legend.clipped_text, frame.px(16));
    }
}

}  // namespace

float thumbs_width(const AllHeadsView& view, ImVec2 space, const Frame& frame) {
    const bool beside =
        std::max({view.grids.size(), view.lines.size(), view.texts.size(), view.images.size()}) > 1;
    const ImVec2 most{space.x * (beside ? kMostBeside : kMost), space.y};
    const float text_extent =
        std::max({frame.text_width(frame.fonts.small, view.legend.text),
                  frame.text_width(frame.fonts.small, view.legend.change_text)});
    return std::min(
        std::max(lay_out(view, most, frame).width(), text_extent + 1.0F) + frame.px(kSpace12),
        most.x);
}

void draw_thumbs(const AllHeadsView& view, const Box& box, const Frame& frame, Actions& out) {
    const Layout at = lay_out(view, {box.size().x - frame.px(kSpace12), box.size().y}, frame);
    const float bottom = box.high.y - legend_height(view, frame);
    panel("pictures", {box.low, {box.high.x, bottom}},
          [&] { draw_pictures(view, at, frame, out); });
    const float under = std::min(box.low.y + at.height() + frame.px(6), bottom + frame.px(6));
    draw_legend(view, {box.low.x, under}, box.size().x - frame.px(kSpace12), frame);
}

}  // namespace attn::ui

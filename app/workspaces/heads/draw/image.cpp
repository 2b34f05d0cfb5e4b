#include <cmath>

#include <fmt/format.h>

#include "app/common/draw/draw.h"
#include "app/common/draw/items.h"
#include "app/common/draw/measured.h"
#include "app/common/inspector.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/heads/draw/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kImageGap = 20.0F, kWordGap = 6.0F, kWordChip = 26.0F, kShareBar = 3.0F,
                kColorBarRow = 26.0F, kWidestTokens = 280.0F, kNarrowestTokens = 150.0F,
                kSmallestPicture = 120.0F, kLongestBar = 220.0F;
constexpr Index kMostTitledPatches = 4096;

/// Where the picture is drawn, in whole pixels.
struct PicturePlace {
    Box box;
    Index rows = 1, columns = 1;
    Box patch(Index n) const {
        const ImVec2 size = box.size();
        const auto x = [&](Index column) {
            return box.low.x + size.x * static_cast<float>(column) / static_cast<float>(columns);
        };
        const auto y = [&](Index row) {
            return box.low.y + size.y * static_cast<float>(row) / static_cast<float>(rows);
        };
        return {{x(n % columns), y(n / columns)}, {x(n % columns + 1), y(n / columns + 1)}};
    }
    Index at(ImVec2 point) const {
        const ImVec2 size = box.size();
        const auto place = [](float from, float length, Index count) {
            return within<Index>(static_cast<Index>(from / length * static_cast<float>(count)), 0,
                                 count - 1);
        };
        return place(point.y - box.low.y, size.y, rows) * columns +
               place(point.x - box.low.x, size.x, columns);
    }
};

/// The largest size of that aspect.
ImVec2 fitted(ImVec2 space, float aspect) {
    const float width = std::max(std::min(space.x, space.y * aspect), 1.0F);
    return {std::max(std::floor(width), 1.0F), std::max(std::floor(width / aspect), 1.0F)};
}

// ---- text tokens

float number_width(const HeadImageToken& word, const Frame& frame) {
    return word.number.empty() ? 0.0F
                               : frame.text_width(frame.fonts.small, word.number) + frame.px(6);
}

/// Chips from left to right; the next one at the left end again where it does not fit.
std::vector<Box> flow(const std::vector<HeadImageToken>& tokens, float width, const Frame& frame) {
    std::vector<Box> boxes;
    ImVec2 at{0.0F, 0.0F};
    for (const HeadImageToken& word : tokens) {
        const float wanted = frame.text_width(frame.fonts.body, word.text) +
                             number_width(word, frame) + 2 * frame.px(kSpace8 + 1);
        const float chip = std::min(wanted, width);
        if (at.x > 0.0F && at.x + chip > width) at = {0.0F, at.y + frame.px(kWordChip + kWordGap)};
        boxes.push_back({at, {at.x + chip, at.y + frame.px(kWordChip)}});
        at.x += chip + frame.px(kWordGap);
    }
    return boxes;
}

void draw_word(const HeadImageToken& word, const Box& at, const Frame& frame) {
    const float radius = frame.px(4);
    const Theme& theme = frame.theme;
    const Titled titled(frame.painter,
                        [&] { return fmt::format("{}: {}", word.text, word.number); });
    frame.painter.rect(at.low, at.high, theme.raised, radius);
    frame.painter.outline(at.low, at.high, theme.line, frame.px(1), radius);
    const float left = at.low.x + frame.px(kSpace8), right = at.high.x - frame.px(kSpace8);
    const float number = number_width(word, frame);
    draw_fitted(frame, frame.fonts.body, {left, at.low.y},
                {right - number, at.high.y - frame.px(kShareBar)}, Align::left, theme.text,
                word.text);
    draw_text_in(frame, frame.fonts.small, {right - number, at.low.y},
                 {right, at.high.y - frame.px(kShareBar)}, Align::right, theme.muted, word.number);
    const float bottom = at.high.y - frame.px(3), width = right - left;
    frame.painter.rect({left, bottom - frame.px(kShareBar)}, {right, bottom}, theme.line);
    if (word.share > 0.0)
        frame.painter.rect({left, bottom - frame.px(kShareBar)},
                           {left + width * static_cast<float>(word.share), bottom}, theme.weight);
    if (word.is_key) frame.painter.outline(at.low, at.high, theme.key, frame.px(2), radius);
    if (word.is_query) frame.painter.outline(at.low, at.high, theme.query, frame.px(2), radius);
}

/// The query or key that a word stands for in the picture, the other −1.
large::Cell pointed_by(const HeadImageToken& word) {
    return word.query ? large::Cell{*word.query, -1} : large::Cell{-1, *word.key};
}
SelectHeadsPair selected_by(const HeadImageToken& word, large::Cell pair) {
    return word.query ? SelectHeadsPair{*word.query, pair.column}
                      : SelectHeadsPair{pair.row, *word.key};
}

/// The text tokens in a box that scrolls. Returns the query or key under the pointer.
std::optional<large::Cell> draw_tokens(const HeadImageView& view, const Box& box,
                                       const Frame& frame, Actions& out) {
    std::optional<large::Cell> hovered;
    draw_fitted(frame, frame.fonts.small, box.low, {box.high.x, box.low.y + frame.px(kSmallRow)},
                Align::left, frame.theme.muted, view.tokens_title);
    const Box list{{box.low.x, box.low.y + frame.px(kSmallRow + 4)}, box.high};
    panel("tokens", list, [&] {
        const ImVec2 low = ImGui::GetCursorScreenPos();
        const auto boxes = flow(view.tokens, list.size().x - frame.px(kSpace12), frame);
        const auto selected = std::ranges::find_if(view.tokens, [](const HeadImageToken& token) {
            return token.is_query || token.is_key;
        });
        if (ImGui::IsWindowAppearing() && selected != view.tokens.end())  // is in sight
            ImGui::SetScrollY(boxes[selected - view.tokens.begin()].high.y - list.size().y / 2);
        for (std::size_t n = 0; n < boxes.size(); ++n) {
            const Box at{{low.x + boxes[n].low.x, low.y + boxes[n].low.y},
                         {low.x + boxes[n].high.x, low.y + boxes[n].high.y}};
            if (frame.still && at.high.y > list.high.y) break;
            ImGui::PushID(static_cast<int>(n));
            ImGui::SetCursorScreenPos(at.low);
            if (invisible_button("word", at.size()))
                out.push_back(selected_by(view.tokens[n], view.pair));
            if (ImGui::IsItemHovered()) hovered = pointed_by(view.tokens[n]);
            tooltip(frame, view.tokens[n].text, view.tokens[n].tooltip);
            ImGui::PopID();
            draw_word(view.tokens[n], at, frame);
        }
    });
    return hovered;
}

// ---- the picture

/// Both have the pixels that they cover.
void draw_pictures_of(const HeadImageView& view, const PicturePlace& place, const Frame& frame) {
    const int width = static_cast<int>(place.box.size().x);
    const int height = static_cast<int>(place.box.size().y);
    if (view.pixels)
        frame.painter.image(view::base_picture(view, width, height), place.box.low, place.box.high);
    frame.painter.image(view::heat_picture(view, width, height), place.box.low, place.box.high);
}

/// Stands out from any colour: the line has edges in the colour of the background.
void draw_patch_ring(const Box& place, Color color, float thickness, const Frame& frame) {
    frame.painter.outline(place.low, place.high, frame.theme.background, 2 * thickness);
    frame.painter.outline(place.low, place.high, color, thickness);
}

void draw_marks(const HeadImageView& view, const PicturePlace& place, const Frame& frame) {
    for (const Index n : view.sinks)
        draw_patch_ring(place.patch(n), frame.theme.warning, frame.px(1.5F), frame);
    if (view.key) draw_patch_ring(place.patch(*view.key), frame.theme.key, frame.px(2), frame);
    if (view.query)
        draw_patch_ring(place.patch(*view.query), frame.theme.query, frame.px(2), frame);
}

/// In a figure a patch shows its number under the pointer.
void draw_patch_titles(const HeadImageView& view, const PicturePlace& place, const Frame& frame) {
    if (!frame.painter.has_titles() || view.rows * view.columns > kMostTitledPatches) return;
    for (Index n = 0; n < view.rows * view.columns; ++n) {
        const Titled titled(frame.painter, [&] {
            return fmt::format("row {}, column {}; {}", n / view.columns, n % view.columns,
                               view.tooltips[n]);
        });
        const Box at = place.patch(n);
        frame.painter.rect(at.low, at.high, view::translucent(frame.theme.background, 0.0));
    }
}

/// Selects a patch: as query if patches are queries; with Shift, or else, as key. Returns the query or key under the pointer.
std::optional<large::Cell> press_picture(const HeadImageView& view, const PicturePlace& place,
                                         const Frame& frame, Actions& out) {
    ImGui::SetCursorScreenPos(place.box.low);
    invisible_button("picture", place.box.size());
    if (!ImGui::IsItemHovered()) return std::nullopt;
    const Index n = place.at(ImGui::GetMousePos());
    const bool both = view.first_query && view.first_key;
    tooltip(
        frame, fmt::format("Row {}, column {}", n / view.columns, n % view.columns),
        fmt::format("{}\n{}", view.tooltips[n],
                    both ? "Click: the patch as query. Shift+click: as key" : "Click to select"));
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
        const bool as_query = view.first_query && !(both && ImGui::GetIO().KeyShift);
        out.push_back(as_query ? SelectHeadsPair{*view.first_query + n, view.pair.column}
                               : SelectHeadsPair{view.pair.row, *view.first_key + n});
    }
    return view.of_keys ? large::Cell{-1, *view.first_key + n}
                        : large::Cell{*view.first_query + n, -1};
}

void draw_color_bar(const HeadImageView& view, const Box& box, const Frame& frame) {
    const Font& font = frame.fonts.small;
    const float top = box.low.y + frame.px(8), bottom = top + frame.px(9);
    const float low = frame.text_width(font, view.low) + frame.px(6);
    const float high = frame.text_width(font, view.high) + frame.px(6);
    const float length = within(box.size().x - low - high, frame.px(24), frame.px(kLongestBar));
    const float left = box.low.x + low, right = left + length;
    draw_text_in(frame, font, {box.low.x, top - frame.px(4)}, {left, bottom + frame.px(4)},
                 Align::left, frame.theme.muted, view.low);
    std::vector<Color> colors;
    for (std::size_t n = 0; n < view.ramp.size(); n += 15) colors.push_back(view.ramp[n]);
    frame.painter.gradient({left, top}, {right, bottom}, colors);
    draw_text_in(frame, font, {right + frame.px(6), top - frame.px(4)},
                 {right + high, bottom + frame.px(4)}, Align::left, frame.theme.muted, view.high);
    draw_fitted(frame, font, {right + high + frame.px(8), top - frame.px(4)},
                {box.high.x, bottom + frame.px(4)}, Align::left, frame.theme.muted, view.scale);
}

/// Where the picture and the text are drawn: the text at the right of the picture or above it.
struct ImageLayout {
    Box picture, tokens;
    bool has_tokens = false;
};
ImageLayout layout_of(const HeadImageView& view, const Box& space, const Frame& frame) {
    const float aspect = view.aspect, bar = frame.px(kColorBarRow), gap = frame.px(kImageGap);
    const ImVec2 all{space.size().x, space.size().y - bar};
    ImageLayout made;
    made.has_tokens = !view.tokens.empty();
    const float title = frame.px(kSmallRow + 4);
    const auto height_of = [&](float width) {
        const auto boxes = flow(view.tokens, width - frame.px(kSpace12), frame);
        return title + (boxes.empty() ? 0.0F : boxes.back().high.y);
    };
    const float above = made.has_tokens ? std::min(height_of(all.x), all.y * 0.3F) + gap / 2 : 0.0F;
    const float left_over = all.x - all.y * aspect - gap;
    const float beside =
        made.has_tokens
            ? within(left_over, frame.px(kNarrowestTokens), frame.px(kWidestTokens)) + gap
            : 0.0F;
    const ImVec2 under = fitted({all.x, all.y - above}, aspect);
    const ImVec2 left = fitted({all.x - beside, all.y}, aspect);
    const bool is_beside =
        made.has_tokens && left.x >= under.x && left.x >= frame.px(kSmallestPicture);
    const ImVec2 size = is_beside ? left : under;
    const ImVec2 low{std::round(space.low.x), std::round(space.low.y + (is_beside ? 0.0F : above))};
    made.picture = {low, {low.x + size.x, low.y + size.y}};
    if (is_beside)
        made.tokens = {
            {made.picture.high.x + gap, space.low.y},
            {std::min(space.high.x, made.picture.high.x + gap + frame.px(2 * kWidestTokens)),
             space.high.y}};
    else
        made.tokens = {space.low, {space.high.x, space.low.y + above - gap / 2}};
    return made;
}

std::optional<large::Cell> draw_one_image(const HeadImageView& view, const Box& box,
                                          const Frame& frame, Actions& out) {
    const Box space = draw_description(view.title, view.legend, box, frame);
    const ImageLayout at = layout_of(view, space, frame);
    const PicturePlace place{at.picture, view.rows, view.columns};
    record_rect_for_tests(frame.painter, Measuring::Kind::chart, place.box.low, place.box.high);
    draw_pictures_of(view, place, frame);
    draw_marks(view, place, frame);
    draw_patch_titles(view, place, frame);
    const bool is_beside = at.has_tokens && at.tokens.low.x > place.box.high.x;
    draw_color_bar(
        view,
        {{place.box.low.x, place.box.high.y},
         {is_beside ? place.box.high.x : space.high.x, place.box.high.y + frame.px(kColorBarRow)}},
        frame);
    auto hovered = press_picture(view, place, frame, out);
    if (!at.has_tokens) return hovered;
    const auto word = draw_tokens(view, at.tokens, frame, out);
    return hovered ? hovered : word;
}

}  // namespace

void draw_head_images(const AllHeadsView& view, const Box& box, const Frame& frame, Actions& out) {
    std::optional<large::Cell> hovered;
    for (std::size_t n = 0; n < view.images.size(); ++n) {
        ImGui::PushID(static_cast<int>(n));
        const auto under =
            draw_one_image(view.images[n], part_of(box, n, view.images.size(), frame), frame, out);
        if (under) hovered = under;
        ImGui::PopID();
    }
    if (hovered != view.hovered_pair) out.push_back(HoverHeadsPair{hovered});
}

}  // namespace attn::ui

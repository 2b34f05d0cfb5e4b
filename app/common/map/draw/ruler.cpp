#include <cmath>
#include <numbers>

#include "app/common/draw/draw.h"
#include "app/common/draw/items.h"
#include "app/common/map/draw/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kTick = 4.0F, kStrongTick = 7.0F;
constexpr float kHigh = 40.0F;       // of a ruler with upright tokens
constexpr float kRise = 60.0F;       // degrees
constexpr float kInkOfLine = 0.85F;  // of a line's height
constexpr float kRadian = std::numbers::pi_v<float> / 180.0F;

/// What is selected first, then strong marks: where labels are dropped, they stay.
std::vector<const RulerMark*> by_strength(const std::vector<RulerMark>& marks) {
    std::vector<const RulerMark*> ordered;
    for (const RulerMark& mark : marks) ordered.push_back(&mark);
    std::ranges::stable_sort(ordered, std::ranges::greater{}, [](const RulerMark* mark) {
        return mark->chosen ? 2 : mark->strong ? 1 : 0;
    });
    return ordered;
}

struct Ruler {
    const Area& area;
    const Frame& frame;
    Color role;

    Color ink(const RulerMark& mark) const { return mark.strong ? role : frame.theme.muted; }
    float tick(const RulerMark& mark) const { return frame.px(mark.strong ? kStrongTick : kTick); }
};

/// `at` on the canvas, `low` … `high` on screen.
bool is_inside(float at, float low, float high) { return at >= low - 1.0F && at <= high + 1.0F; }

/// A word belongs to one column: beside the edge it would be read as its neighbour's.
bool is_number(const std::string& label) {
    return label.find_first_not_of("0123456789,") == label.npos;
}

/// A word that rises to the right from its column, as in the other matrices.
void draw_upright(const Ruler& ruler, const RulerMark& mark, float x, TakenSpans& places) {
    const Frame& frame = ruler.frame;
    const Font& font = frame.fonts.digits_small;
    const float thick = font.px * kInkOfLine;
    if (!places.take(x - thick / 2, x + thick / 2)) return;
    const float low = ruler.area.high.y - frame.px(kStrongTick + 2);
    const float length = (low - ruler.area.low.y - thick) / std::sin(kRise * kRadian);
    draw_rotated_text(frame, font, {x, low}, -kRise, ruler.ink(mark),
                      fit_text(frame, font, mark.label, length));
}

void draw_column_marks(const Ruler& ruler, const std::vector<RulerMark>& marks,
                       TakenSpans& places) {
    const Font& font = ruler.frame.fonts.digits_small;
    const Area& area = ruler.area;
    for (const RulerMark* mark : by_strength(marks)) {
        const float x = std::round(area.low.x + static_cast<float>(mark->at));
        if (!is_inside(x, area.low.x, area.high.x)) continue;
        ruler.frame.painter.line({x, area.high.y - ruler.tick(*mark)}, {x, area.high.y - 1.0F},
                                 ruler.ink(*mark), ruler.frame.px(1));
        if (mark->label.empty()) continue;
        if (mark->upright && area.height() >= ruler.frame.px(kHigh)) {
            draw_upright(ruler, *mark, x, places);
            continue;
        }
        const float space = static_cast<float>(mark->space) - ruler.frame.px(kSpace8);
        const std::string label =
            mark->space > 0.0 ? fit_text(ruler.frame, font, mark->label, space) : mark->label;
        const float width = ruler.frame.text_width(font, label);
        const float left = within(x - width / 2, area.low.x, area.high.x - width);
        if (left != x - width / 2 && !mark->chosen && !is_number(label)) continue;
        if (!places.take(left, left + width)) continue;
        ruler.frame.painter.text(font,
                                 {left, area.high.y - font.px - ruler.frame.px(kStrongTick + 2)},
                                 ruler.ink(*mark), label);
    }
}

void draw_row_marks(const Ruler& ruler, const std::vector<RulerMark>& marks) {
    const Font& font = ruler.frame.fonts.digits_small;
    const Area& area = ruler.area;
    const float right = area.high.x - ruler.frame.px(kStrongTick + 3);
    TakenSpans places(0.0F);
    for (const RulerMark* mark : by_strength(marks)) {
        const float y = std::round(area.low.y + static_cast<float>(mark->at));
        if (!is_inside(y, area.low.y, area.high.y)) continue;
        ruler.frame.painter.line({area.high.x - ruler.tick(*mark), y}, {area.high.x - 1.0F, y},
                                 ruler.ink(*mark), ruler.frame.px(1));
        if (mark->label.empty()) continue;
        const float half = font.px * 0.6F;
        const float middle = within(y, area.low.y + half, area.high.y - half);
        if (!places.take(middle - half, middle + half)) continue;
        draw_text_in(ruler.frame, font, {area.low.x, middle - half}, {right, middle + half},
                     Align::right, ruler.ink(*mark),
                     fit_text(ruler.frame, font, mark->label, right - area.low.x));
    }
}

/// Where the pointer's cell is, on both rulers.
void draw_pointer(const MapScene& scene, const Rulers& at) {
    if (!scene.view.hovered) return;
    const PixelRect& cell = *scene.view.hovered;
    const Color color = scene.frame.theme.accent;
    const float thick = scene.frame.px(2);
    const auto span = [thick](float origin, double from, double to, float low, float high) {
        const float a = std::round(origin + static_cast<float>(from));
        const float b = std::max(a + thick, std::round(origin + static_cast<float>(to)));
        return std::pair{within(a, low, high), within(b, low, high)};
    };
    const auto [left, right] =
        span(at.canvas.low.x, cell.left, cell.right, at.canvas.low.x, at.canvas.high.x);
    const auto [top, bottom] =
        span(at.canvas.low.y, cell.top, cell.bottom, at.canvas.low.y, at.canvas.high.y);
    scene.frame.painter.rect({left, at.columns.high.y - 1.0F - thick},
                             {right, at.columns.high.y - 1.0F}, color);
    scene.frame.painter.rect({at.rows.high.x - 1.0F - thick, top}, {at.rows.high.x - 1.0F, bottom},
                             color);
}

/// "query i" left of the column ruler.
void draw_row_title(const MapScene& scene, const Rulers& at) {
    const Font& font = scene.frame.fonts.small;
    const float bottom = at.columns.high.y - scene.frame.px(kStrongTick);
    const bool high_ruler = at.columns.height() >= scene.frame.px(kHigh);
    const float top = high_ruler ? bottom - font.px : at.columns.low.y;
    const ImVec2 high{at.rows.high.x - scene.frame.px(kStrongTick + 3), bottom};
    draw_text_in(scene.frame, font, {at.rows.low.x, top}, high, Align::right,
                 scene.frame.theme.query,
                 fit_text(scene.frame, font, scene.view.row_title, high.x - at.rows.low.x));
}

/// "key j" right of the column ruler where there is room, else at its right end; labels keep clear of it.
void draw_column_title(const MapScene& scene, const Rulers& at, TakenSpans& places) {
    const Font& font = scene.frame.fonts.small;
    const Area& columns = at.columns;
    const std::string title = fit_text(scene.frame, font, scene.view.column_title, columns.width());
    const float width = scene.frame.text_width(font, title), gap = scene.frame.px(kSpace8);
    if (columns.height() >= scene.frame.px(kHigh)) {  // upright tokens lean over its place
        const float low = columns.high.y - scene.frame.px(kStrongTick) - 2.0F * font.px;
        const float end = at.rows.high.x - scene.frame.px(kStrongTick + 3);
        return draw_text_in(scene.frame, font, {at.rows.low.x, low}, {end, low + font.px},
                            Align::right, scene.frame.theme.key, title);
    }
    const float right = columns.high.x + (gap + width <= at.beyond ? gap + width : 0.0F);
    places.take(right - width, right);
    draw_text_in(scene.frame, font, columns.low,
                 {right, columns.high.y - scene.frame.px(kStrongTick)}, Align::right,
                 scene.frame.theme.key, title);
}

// --- profiles

constexpr double kBarInk = 0.55;  // a profile that is full everywhere must not outshine the matrix

/// A bar that is not nothing is to be seen.
float bar_length(double part, float most) {
    return part > 0.0 ? std::max(1.0F, most * static_cast<float>(std::min(part, 1.0))) : 0.0F;
}

/// Bars from the canvas outwards as one shape, without seams between them, and in whole pixels so that
/// all painters draw the same. `down`: they stand below each other.
void draw_band(const MapScene& scene, const Area& area, const std::vector<PixelRect>& bars,
               Color color, bool down) {
    const float gap = scene.frame.px(3);  // from the canvas
    const float most = (down ? area.width() : area.height()) - gap;
    const float start = down ? area.low.y : area.low.x;
    const float from = (down ? area.low.x : area.low.y) + gap;
    const auto point = [&](float along, float out) {
        return down ? Point{std::round(out), std::round(along)}
                    : Point{std::round(along), std::round(out)};
    };
    std::vector<Point> bottom, head;
    for (const PixelRect& bar : bars)
        for (const double end : {down ? bar.top : bar.left, down ? bar.bottom : bar.right}) {
            const float along = start + static_cast<float>(end);
            bottom.push_back(point(along, from));
            head.push_back(point(along, from + bar_length(down ? bar.right : bar.bottom, most)));
        }
    if (!bottom.empty()) scene.frame.painter.band(head, bottom, color);
}

/// What is NaN in full length and its own colour, each by itself: a band would bridge what lies between.
void draw_profile(const MapScene& scene, const char* id, const Area& area,
                  const std::optional<MapProfile>& profile, bool down) {
    if (!profile) return;
    const Theme& theme = scene.frame.theme;
    scene.frame.painter.push_clip(area.low, area.high);
    draw_band(scene, area, profile->bars, view::translucent(theme.weight, kBarInk), down);
    for (const PixelRect& bar : profile->nans) draw_band(scene, area, {bar}, theme.nan, down);
    scene.frame.painter.pop_clip();
    ImGui::SetCursorScreenPos(area.low);
    invisible_button(id, area.size());
    tooltip(scene.frame, profile->title, profile->tooltip);
}

}  // namespace

void draw_rulers(const MapScene& scene, const Rulers& at) {
    const Theme& theme = scene.frame.theme;
    TakenSpans places(scene.frame.px(kSpace8));
    draw_column_title(scene, at, places);
    draw_column_marks({at.columns, scene.frame, theme.key}, scene.view.column_ruler, places);
    draw_pointer(scene, at);
    if (at.rows.width() <= 0.0F) return;  // the map beside it names the rows
    draw_row_marks({at.rows, scene.frame, theme.query}, scene.view.row_ruler);
    draw_row_title(scene, at);
}

void draw_profiles(const MapScene& scene, const Profiles& at) {
    draw_profile(scene, "row profile", at.rows, scene.view.row_profile, true);
    draw_profile(scene, "column profile", at.columns, scene.view.column_profile, false);
}

void draw_profile_captions(const MapScene& scene, const Area& line) {
    const Font& font = scene.frame.fonts.small;
    const float half = line.width() / 2 - scene.frame.px(8);
    const auto put = [&](const std::optional<MapProfile>& profile, Align align,
                         const std::string& where) {
        if (!profile || profile->bars.size() + profile->nans.size() == 0) return;
        const std::string figure = "up to " + profile->largest;
        const std::string whole = where + profile->caption + ", " + figure;
        const bool fits = scene.frame.text_width(font, whole) <= half;
        draw_text_in(scene.frame, font, line.low, line.high, align, scene.frame.theme.muted,
                     fits ? whole : fit_text(scene.frame, font, where + figure, half));
    };
    put(scene.view.column_profile, Align::left, "below: ");
    put(scene.view.row_profile, Align::right, "right: ");
}

}  // namespace attn::ui

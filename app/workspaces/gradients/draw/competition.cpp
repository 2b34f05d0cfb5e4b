#include "app/workspaces/gradients/draw/competition.h"

#include <numbers>
#include <numeric>

#include "app/common/draw/draw.h"
#include "app/common/draw/grid.h"
#include "app/common/draw/items.h"
#include "app/common/draw/measured.h"
#include "app/workspaces/gradients/actions.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kRow = 18.0F, kRowNames = 60.0F, kMostPitch = 96.0F, kMostBar = 28.0F;
constexpr float kWidest = 14.0F;      // an arrow of slope 1/4
constexpr float kNarrowest = 0.75F;   // of an arrow that is drawn at all
constexpr double kLeastWidth = 4e-4;  // of 1: a slope of 0.0001
constexpr float kHead = 5.0F;
constexpr float kBars = 0.36F;  // of the height between title and labels
constexpr float kGainHead = 6.0F;
constexpr float kTouch = 0.01F;  // of a pixel
constexpr std::size_t kArcPoints = 33;
constexpr float kBetween = 6.0F;      // the texts of two keys
constexpr std::size_t kAllNamed = 8;  // up to this number all keys are named, cut to their columns

/// Where everything of the picture stands.
struct Ground {
    const CompetitionView& view;
    const Frame& frame;
    Box box;
    float left = 0.0F, pitch = 1.0F;
    float top = 0.0F, line = 0.0F, base = 0.0F;  // of the arcs, of the bars, beneath the bars

    float x(Index key) const { return left + pitch * (static_cast<float>(key) + 0.5F); }
};

Ground lay_ground(const CompetitionView& view, const Box& box, const Frame& frame) {
    Ground at{view, frame, box};
    const auto count = static_cast<float>(view.tokens.size());
    at.left = box.low.x + frame.px(kRowNames);
    at.pitch = std::min((box.high.x - at.left) / count, frame.px(kMostPitch));
    at.top = box.low.y + frame.px(kRow) * (view.why.empty() || view.sum.empty() ? 2.0F : 3.0F);
    at.base = box.high.y - 3.0F * frame.px(kRow) - frame.px(4);
    at.line = at.base - std::max(at.base - at.top, 0.0F) * kBars - frame.px(4);
    return at;
}

Color slope_color(const Frame& frame, double slope) {
    return view::color_of({ColorScale::diverging, -1.0, 1.0}, slope < 0.0 ? -1.0 : 1.0,
                          frame.theme.name);
}

void draw_head(const Frame& frame, Point tip, float up, float half, Color color) {
    const std::array<Point, 3> corners{tip, Point{tip.x - half, tip.y + up},
                                       Point{tip.x + half, tip.y + up}};
    frame.painter.polygon(corners, color);
}

/// Half an ellipse from above the raised key to above another, and a head that points down at it.
void draw_loss_arc(const Ground& at, Index key, float width, Color color) {
    const float from = at.x(at.view.raised), to = at.x(key);
    const float half = width / 2 + at.frame.px(kHead) / 2;
    const float head = std::min(at.frame.px(kHead) + width / 2, (at.line - at.top) / 3);
    const float bottom = at.line - head;
    const float whole = at.pitch * std::max(static_cast<float>(at.view.tokens.size()) - 1.0F, 1.0F);
    const float height =
        (bottom - at.top - width / 2) * (0.3F + 0.7F * std::min(std::abs(to - from) / whole, 1.0F));
    std::array<Point, kArcPoints> points;
    for (std::size_t n = 0; n < kArcPoints; ++n) {
        const float turn =
            std::numbers::pi_v<float> * static_cast<float>(n) / static_cast<float>(kArcPoints - 1);
        points[n] = {(from + to) / 2 + (from - to) / 2 * std::cos(turn),
                     bottom - height * std::sin(turn)};
    }
    at.frame.painter.polyline(points, color, width);
    draw_head(at.frame, {to, at.line}, -head, half, color);
}

/// What the raised key gains: an arrow up.
void draw_gain(const Ground& at, float width) {
    const Color color = slope_color(at.frame, at.view.at(at.view.raised).slope);
    const float x = at.x(at.view.raised);
    const float head = at.frame.px(kGainHead) + width / 2;
    const float tip = at.top + (at.line - at.top) * 0.35F;
    at.frame.painter.rect({x - width / 2, tip + head - 1.0F}, {x + width / 2, at.line}, color);
    draw_head(at.frame, {x, tip}, head, width / 2 + at.frame.px(kHead), color);
}

/// 0: not drawn.
float arrow_width(const Ground& at, Index key) {
    const double share = at.view.at(key).width;
    if (share < kLeastWidth) return 0.0F;
    return std::max(static_cast<float>(share) * at.frame.px(kWidest), at.frame.px(kNarrowest));
}

/// All keys, the highest rank first.
template <class Rank>
std::vector<Index> ordered_keys(const Ground& at, Rank rank) {
    std::vector<Index> order(at.view.tokens.size());
    std::iota(order.begin(), order.end(), Index{0});
    std::ranges::stable_sort(order, std::greater{}, rank);
    return order;
}

void draw_arrows(const Ground& at) {
    if (!at.view.why.empty()) return;
    // The widest first: what is thin stays in sight.
    for (const Index key : ordered_keys(at, [&](Index k) { return arrow_width(at, k); })) {
        const auto& token = at.view.at(key);
        const float width = arrow_width(at, key);
        if (key != at.view.raised && width > 0.0F)
            draw_loss_arc(at, key, width,
                          view::translucent(slope_color(at.frame, token.slope), 0.85));
    }
    if (const float gain = arrow_width(at, at.view.raised); gain > 0.0F) draw_gain(at, gain);
}

void draw_weight_bar(const Ground& at, Index key, bool hovered) {
    const auto& token = at.view.at(key);
    const Theme& theme = at.frame.theme;
    Painter& painter = at.frame.painter;
    const float x = at.x(key);
    const float half = std::min(at.pitch * 0.36F, at.frame.px(kMostBar) / 2);
    const float space = at.base - at.line - at.frame.px(4);
    if (key == at.view.raised || hovered)
        painter.rect({x - at.pitch / 2, at.line}, {x + at.pitch / 2, at.box.high.y}, theme.raised);
    const Point low{x - half, at.base - space};
    if (token.look == CellLook::masked)  // a weight of 0: a dash on the line
        painter.line({x - half / 2, at.base - at.frame.px(3)},
                     {x + half / 2, at.base - at.frame.px(3)}, theme.muted, at.frame.px(2));
    else if (token.look == CellLook::not_a_number)
        painter.outline(low, {x + half, at.base}, theme.nan, at.frame.px(1));
    else if (token.bar > 0.0)
        painter.rect({low.x, at.base - space * static_cast<float>(token.bar)}, {x + half, at.base},
                     theme.role(Role::weight));
}

/// Beneath the key, but beside the names of the rows and inside the box.
float text_x(const Ground& at, Index key, float widest) {
    return std::min(std::max(at.x(key), at.left + widest / 2), at.box.high.x - widest / 2);
}

/// Of a key's texts: the numbers', and as much of the word's as its column has; few keys keep to their columns.
float text_width(const Ground& at, Index key) {
    const auto& token = at.view.at(key);
    const view::Font& digits = at.frame.fonts.digits_small;
    const float column = at.pitch - at.frame.px(kBetween);
    const float numbers = std::max(at.frame.text_width(digits, token.p_text),
                                   at.frame.text_width(digits, token.slope_text));
    const float label = at.frame.text_width(at.frame.fonts.small, token.label);
    const float widest = std::max(numbers, std::min(label, std::max(column, numbers)));
    return at.view.tokens.size() <= kAllNamed ? std::min(widest, column) : widest;
}

/// Keys whose words have room: the raised one, the one under the pointer, then those that lose most.
std::vector<Index> named_keys(const Ground& at, std::optional<Index> hovered) {
    const auto rank = [&](Index key) {
        if (key == at.view.raised) return 3.0;
        return key == hovered ? 2.0 : at.view.at(key).width;
    };
    std::vector<Index> named;
    std::vector<std::pair<float, float>> taken;
    for (const Index key : ordered_keys(at, rank)) {
        const float widest = text_width(at, key);
        const float half = (widest + at.frame.px(kBetween)) / 2;
        const float x = text_x(at, key, widest);
        const float low = x - half, high = x + half;
        const bool outside =
            low < at.left - at.frame.px(8) || high > at.box.high.x + at.frame.px(8);
        if (outside && at.view.tokens.size() > 1 && key != at.view.raised) continue;
        const auto meets = [&](const auto& t) {
            return low < t.second - kTouch && high > t.first + kTouch;
        };
        if (std::ranges::any_of(taken, meets)) continue;
        taken.emplace_back(low, high);
        named.push_back(key);
    }
    return named;
}

void draw_key_text(const Ground& at, Index key) {
    const auto& token = at.view.at(key);
    const Frame& frame = at.frame;
    const Theme& theme = frame.theme;
    const view::Font& digits = frame.fonts.digits_small;
    const float widest = text_width(at, key);
    const float x = text_x(at, key, widest);
    const float row = frame.px(kRow);
    const auto place = [&](int n, const view::Font& font, Color color, const std::string& text) {
        const float y = at.base + frame.px(4) + row * static_cast<float>(n);
        draw_fitted(frame, font, {x - widest / 2, y}, {x + widest / 2 + 1.0F, y + row},
                    Align::center, color, text);
    };
    const bool masked = token.look == CellLook::masked;
    const bool bad = token.look == CellLook::not_a_number;
    const auto ink = [&](Role role) {
        return masked ? theme.muted : bad ? theme.nan : theme.role(role);
    };
    place(0, frame.fonts.small, ink(Role::key), token.label);
    place(1, digits, ink(Role::weight), token.p_text);
    place(2, digits, token.slope == 0.0 ? theme.muted : theme.text, token.slope_text);
}

void draw_row_names(const Ground& at) {
    const Frame& frame = at.frame;
    const float row = frame.px(kRow);
    const std::array<const char*, 3> names{"key k", "a_k", "∂a_k/∂z_j"};
    for (std::size_t n = 0; n < names.size(); ++n) {
        const float y = at.base + frame.px(4) + row * static_cast<float>(n);
        draw_fitted(frame, frame.fonts.small, {at.box.low.x, y}, {at.left, y + row}, Align::left,
                    frame.theme.muted, names[n]);
    }
}

/// Title, the sum, and why there is no arrow.
void draw_competition_text(const Ground& at) {
    const Frame& frame = at.frame;
    const Theme& theme = frame.theme;
    float y = at.box.low.y;
    const auto add = [&](const view::Font& font, Color color, const std::string& text) {
        if (text.empty()) return;
        draw_fitted(frame, font, {at.box.low.x, y}, {at.box.high.x, y + frame.px(kRow)},
                    Align::left, color, text);
        y += frame.px(kRow);
    };
    add(frame.fonts.body, theme.text, at.view.title);
    add(frame.fonts.small, theme.text, at.view.sum);
    add(frame.fonts.small, theme.warning, at.view.why);
}

std::optional<Index> key_under_pointer(const Ground& at) {
    const ImVec2 mouse = ImGui::GetMousePos();
    const auto key = static_cast<Index>(std::floor((mouse.x - at.left) / at.pitch));
    if (key < 0 || key >= std::ssize(at.view.tokens)) return std::nullopt;
    return key;
}

}  // namespace

void draw_competition(const CompetitionView& view, const Box& box, const Frame& frame,
                      Actions& out) {
    if (!view.missing_data.empty())
        return draw_fitted(frame, frame.fonts.body, box.low,
                           {box.high.x, box.low.y + frame.px(kRow)}, Align::left, frame.theme.muted,
                           view.missing_data);
    const Ground at = lay_ground(view, box, frame);
    ImGui::SetCursorScreenPos(box.low);
    const bool clicked = invisible_button("competition", box.size());
    std::optional<Index> hovered;
    if (ImGui::IsItemHovered()) hovered = key_under_pointer(at);
    if (hovered) {
        const auto& token = view.at(*hovered);
        if (!frame.quiet)
            tooltip_at_pointer(frame, token.label + ": a = " + token.p_text, token.tip);
        if (clicked) out.push_back(SelectJacobianRow{view.row, *hovered});
    } else {
        tooltip(frame, view.title,
                view.formula +
                    ". The width of an arrow is |∂a_k/∂z_j|, at most 1/4: below 0.013 a hairline, "
                    "below "
                    "0.0001 no arrow. Arrows need a slope of at least 0.01. Keys: ← and → "
                    "choose j, ↑ and ↓ the row.");
    }
    draw_competition_text(at);
    record_rect_for_tests(frame.painter, Measuring::Kind::chart, box.low, box.high);
    const auto count = std::ssize(view.tokens);
    for (Index key = 0; key < count; ++key) draw_weight_bar(at, key, hovered == key);
    frame.painter.line({at.left, at.base},
                       {at.left + at.pitch * static_cast<float>(count), at.base}, frame.theme.line,
                       frame.px(1));
    draw_arrows(at);
    draw_row_names(at);
    for (const Index key : named_keys(at, hovered)) draw_key_text(at, key);
}

}  // namespace attn::ui

// The open sentence at the handle's d_k, with scaling and without: arcs of one query over the matrix of weights.

#include <array>
#include <cmath>
#include <numbers>

#include "app/common/colormap.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/items.h"
#include "app/common/draw/measured.h"
#include "app/workspaces/saturation/draw/parts.h"

namespace attn::ui {
namespace {

using view::Point;
using view::SentenceAtWidth;
using view::SentenceSide;

// Design units.
constexpr float kSideTitle = 24.0F, kWordRow = 20.0F, kSideGap = 32.0F;
constexpr float kArcShare = 0.24F;  // of the height
constexpr float kThickest = 14.0F, kLoopWidth = 14.0F;
constexpr double kLeastArc = 0.004;
constexpr int kSteps = 24;

/// One side at its place.
struct Picture {
    const SentenceAtWidth& view;
    const SentenceSide& side;
    const Frame& frame;
    Box box;
    float cell = 0.0F, arcs = 0.0F;
    Point matrix = {};  // top left

    std::size_t columns() const { return view.keys.size(); }
    double weight(std::size_t i, std::size_t j) const { return side.weights[i * columns() + j]; }
    float middle(std::size_t j) const { return matrix.x + cell * (static_cast<float>(j) + 0.5F); }
};

Picture picture_of(const SentenceAtWidth& view, const SentenceSide& side, const Box& box,
                   const Frame& frame) {
    Picture picture{view, side, frame, box};
    picture.arcs = view.one_text ? box.size().y * kArcShare : 0.0F;
    const float above = frame.px(kSideTitle + kWordRow) + picture.arcs;
    const float height = (box.size().y - above) / static_cast<float>(view.queries.size());
    const float width = box.size().x / static_cast<float>(view.keys.size());
    picture.cell = std::floor(std::min(height, width));
    const float across = picture.cell * static_cast<float>(view.keys.size());
    picture.matrix = {std::floor(box.low.x + (box.size().x - across) / 2), box.low.y + above};
    return picture;
}

void draw_arcs(const Picture& at) {
    if (at.arcs <= 0.0F) return;
    const Frame& frame = at.frame;
    const float bottom = at.matrix.y - frame.px(kWordRow);
    const float most = at.arcs - frame.px(kThickest) / 2;
    const float from = at.middle(at.view.query);
    for (std::size_t j = 0; j < at.columns(); ++j) {
        const double weight = at.weight(at.view.query, j);
        if (!(weight >= kLeastArc)) continue;
        const bool loop = j == at.view.query;
        const float half = loop ? frame.px(kLoopWidth) / 2 : (at.middle(j) - from) / 2;
        const float middle = from + (loop ? 0.0F : half);
        const float apart = 2 * std::abs(half) / (at.cell * static_cast<float>(at.columns()));
        const float rise = loop ? frame.px(kLoopWidth) : most * std::sqrt(std::min(apart, 1.0F));
        std::array<Point, kSteps + 1> points;
        for (int n = 0; n <= kSteps; ++n) {
            const float angle = std::numbers::pi_v<float> * static_cast<float>(n) / kSteps;
            points[static_cast<std::size_t>(n)] = {middle - half * std::cos(angle),
                                                   bottom - rise * std::sin(angle)};
        }
        const auto thick = static_cast<float>(weight) * kThickest;
        frame.painter.polyline(points, frame.theme.weight,
                               frame.px(std::max(loop ? std::min(thick, 5.0F) : thick, 1.0F)));
    }
}

/// The query and where it looks most; the others have no room.
void draw_names(const Picture& at) {
    const Frame& frame = at.frame;
    const auto put = [&](std::size_t j, const std::string& word, view::Color color, Align align) {
        const float width = frame.text_width(frame.fonts.strong, word);
        const float x = within(at.middle(j) - width / 2, at.box.low.x, at.box.high.x - width);
        draw_text_in(frame, frame.fonts.strong, {x, at.matrix.y - frame.px(kWordRow)},
                     {x + width, at.matrix.y}, align, color, word);
        return std::pair{x, x + width};
    };
    const auto [low, high] =
        put(at.view.key, at.view.keys[at.view.key], frame.theme.key, Align::center);
    if (!at.view.one_text || at.view.query == at.view.key) return;
    const std::string& word = at.view.queries[at.view.query];
    const float half = frame.text_width(frame.fonts.strong, word) / 2 + frame.px(6);
    const float x = at.middle(at.view.query);
    if (x + half < low || x - half > high)
        put(at.view.query, word, frame.theme.query, Align::center);
}

void draw_matrix(const Picture& at) {
    const Frame& frame = at.frame;
    const float gap = at.cell >= frame.px(14) ? frame.px(1) : 0.0F;
    for (std::size_t i = 0; i < at.view.queries.size(); ++i)
        for (std::size_t j = 0; j < at.columns(); ++j) {
            const Point low{at.matrix.x + at.cell * static_cast<float>(j),
                            at.matrix.y + at.cell * static_cast<float>(i)};
            const double weight = at.weight(i, j);
            const view::Color fill =
                std::isnan(weight)
                    ? frame.theme.nan
                    : view::color_of({ColorScale::unit, 0.0, 1.0}, weight, frame.theme.name);
            frame.painter.rect(low, {low.x + at.cell - gap, low.y + at.cell - gap}, fill);
        }
    const Point row{at.matrix.x, at.matrix.y + at.cell * static_cast<float>(at.view.query)};
    const Point end{at.matrix.x + at.cell * static_cast<float>(at.columns()), row.y + at.cell};
    frame.painter.outline(row, end, frame.theme.query, frame.px(1.5F));
    record_rect_for_tests(
        frame.painter, Measuring::Kind::cells, at.matrix,
        {end.x, at.matrix.y + at.cell * static_cast<float>(at.view.queries.size())});
}

}  // namespace

void draw_sentence_at_width(const SentenceAtWidth& view, const Box& box, const Frame& frame) {
    const float gap = frame.px(kSideGap);
    const float width = std::floor((box.size().x - gap) / 2);
    ImGui::SetCursorScreenPos(box.low);
    invisible_button("sentence", box.size());
    tooltip(frame, "The open sentence at this d_k", view.tip);
    for (std::size_t n = 0; n < 2; ++n) {
        const float x = box.low.x + static_cast<float>(n) * (width + gap);
        const Picture at =
            picture_of(view, view.sides[n], {{x, box.low.y}, {x + width, box.high.y}}, frame);
        draw_fitted(frame, frame.fonts.strong, at.box.low,
                    {at.box.high.x, at.box.low.y + frame.px(kSideTitle)}, Align::center,
                    at.side.scaled ? frame.theme.role(Role::weight) : frame.theme.text,
                    at.side.title);
        draw_arcs(at);
        draw_names(at);
        draw_matrix(at);
    }
}

}  // namespace attn::ui

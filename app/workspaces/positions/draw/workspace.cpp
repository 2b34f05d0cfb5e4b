#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "app/common/colormap.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/field_widgets.h"
#include "app/common/draw/grid_set.h"
#include "app/common/draw/measured.h"
#include "app/common/draw/parts.h"
#include "app/common/draw/plot.h"
#include "app/common/format.h"
#include "app/common/inspector.h"
#include "app/workspaces/positions/actions.h"
#include "app/workspaces/positions/view.h"

namespace attn::ui {
namespace {

using view::PositionsView;

// Design units.
constexpr float kSmallShare = 0.3F;     // of the height
constexpr float kPictureShare = 0.36F;  // of the width
constexpr int kMostDials = 12;
constexpr float kNumberedDial = 44.0F;
constexpr float kDialPart = 0.44F;  // radius, of a dial's place
constexpr int kSectorSteps = 16;    // of half a turn
constexpr double kSectorInk = 0.55;

/// As the window goes on with it, so that a journal can be read.
void push_changed(const PositionsView& view, const view::PositionsControls& changed,
                  view::Actions& out) {
    if (changed != view.controls)
        out.push_back(view::SetPositions{inside(changed, view.controls.settings.d_k)});
}

void draw_controls(const PositionsView& view, ControlBar& bar) {
    view::PositionsControls changed = view.controls;
    FieldWidgets controls(bar.frame, bar.out, [&](float width) { return bar.take(width); });
    describe(controls, changed);
    push_changed(view, changed, bar.out);
}

/// A plot of `kind` whose marker is the distance; what is taken hold of is told of.
void draw_distances(const PositionsView& view, const view::PlotView& plot, PositionKind kind,
                    const Box& at, const Frame& frame, view::Actions& out) {
    const bool small = plot.labels == view::CurveLabels::none;
    const std::string id = fmt::format("{} {}", small ? "plot" : "large", static_cast<int>(kind));
    const PlotInput input = draw_plot(plot, id.c_str(), at.low, at.high, false, frame);
    if (input.taken) out.push_back(view::BeginGesture{});
    view::PositionsControls changed = view.controls;
    if (input.taken) changed.kind = kind;
    if (input.moved_to) changed.distance = std::llround(*input.moved_to);
    changed.distance = std::max<Index>(0, changed.distance + input.steps);
    push_changed(view, changed, out);
    if (input.let_go) out.push_back(view::EndGesture{});
}

/// The hands of a query and of its key, which the pair rotates by the angle between them: sand where its term is
/// positive, slate where it is negative.
void draw_dial(const view::TurningPair& pair, ImVec2 middle, float radius, const Frame& frame) {
    const auto at = [&](double angle, float length) {
        return Point{middle.x + length * static_cast<float>(std::cos(angle)),
                     middle.y - length * static_cast<float>(std::sin(angle))};
    };
    const float hand = radius * static_cast<float>(pair.length);
    const Color color =
        view::color_at(ColorScale::diverging, pair.term < 0.0 ? 0.0 : 1.0, frame.theme.name);
    frame.painter.ring(middle, radius, frame.theme.line, frame.px(1));
    const double shown = std::fmod(pair.angle, 2.0 * std::numbers::pi);
    std::vector<Point> sector{middle};  // half turns, so that each piece is convex
    for (const double part : {0.0, 1.0}) {
        const double from = part * std::numbers::pi;
        const double to = std::min(shown, from + std::numbers::pi);
        if (to <= from) break;
        sector.resize(1);
        for (int n = 0; n <= kSectorSteps; ++n)
            sector.push_back(at(from + (to - from) * n / kSectorSteps, hand));
        frame.painter.polygon(sector, view::translucent(color, kSectorInk));
    }
    frame.painter.line(middle, at(0.0, hand), frame.theme.query, frame.px(1.5F));
    frame.painter.line(middle, at(shown, hand), frame.theme.key, frame.px(1.5F));
}

/// "pairs 12 to 31 turn by 0.28 to 0.0016 rad".
std::string slow_text(const PositionsView& view, int from) {
    const double first = std::abs(view.pairs[static_cast<std::size_t>(from)].angle);
    const double last = std::abs(view.pairs.back().angle);
    if (from + 1 == std::ssize(view.pairs))
        return fmt::format("Pair {} rotates by {} rad.", from, view::significant(first, 2));
    return fmt::format("Pairs {} to {} rotate by {} to {} rad.", from, std::ssize(view.pairs) - 1,
                       view::significant(first, 2), view::significant(last, 2));
}

/// The first, which turn fastest, as large as they fit; what the others do in one line.
void draw_dials(const PositionsView& view, const Box& at, const Frame& frame) {
    const Font& font = frame.fonts.small;
    const float title = frame.px(kTitleRow);
    draw_fitted(frame, font, at.low, {at.high.x, at.low.y + title}, Align::left, frame.theme.muted,
                view.picture_title);
    const auto all = static_cast<int>(view.pairs.size());
    const int count = std::min(all, kMostDials);
    const float others = count < all ? title : 0.0F;
    if (count < all)
        draw_fitted(frame, font, {at.low.x, at.high.y - others}, at.high, Align::left,
                    frame.theme.muted, slow_text(view, count));
    const Box box{{at.low.x, at.low.y + title}, {at.high.x, at.high.y - others}};
    int columns = 1;
    float side = 0.0F;
    for (int n = 1; n <= count; ++n) {
        const auto rows = static_cast<float>((count + n - 1) / n);
        const float each = std::min(box.size().x / static_cast<float>(n), box.size().y / rows);
        if (each > side) side = each, columns = n;
    }
    const bool numbered = side >= frame.px(kNumberedDial);
    for (int n = 0; n < count; ++n) {
        const ImVec2 low{box.low.x + side * static_cast<float>(n % columns),
                         box.low.y + side * static_cast<float>(n / columns)};
        const ImVec2 middle{low.x + side / 2, low.y + side / 2};
        const view::TurningPair& pair = view.pairs[static_cast<std::size_t>(n)];
        const Titled titled(frame.painter, [&] {
            return fmt::format("pair {}: angle {}, term {}", n, view::number(pair.angle),
                               view::number(pair.term));
        });
        draw_dial(pair, middle, side * kDialPart, frame);
        if (numbered)
            draw_text_in(frame, frame.fonts.digits_small, low,
                         {low.x + side, low.y + frame.fonts.digits_small.px}, Align::left,
                         frame.theme.muted, std::to_string(n));
        if (ImGui::IsWindowHovered() &&
            ImGui::IsMouseHoveringRect(low, {low.x + side, low.y + side}))
            tooltip_at_pointer(frame, fmt::format("pair {}", n),
                               fmt::format("angle {} radians\nterm of the score {}",
                                           view::number(pair.angle), view::number(pair.term)));
    }
    record_rect_for_tests(frame.painter, Measuring::Kind::chart, box.low, box.high);
}

/// A click on a row is the distance from position 0.
void draw_waves(const PositionsView& view, const Box& at, const Frame& frame, view::Actions& out) {
    const auto clicked = draw_grid_set({&*view.waves, 1}, at.low, at.high, frame).clicked;
    if (!clicked) return;
    view::PositionsControls changed = view.controls;
    changed.distance = clicked->row;
    push_changed(view, changed, out);
}

/// All kinds in a row; what is told of has a frame.
void draw_small(const PositionsView& view, const Box& at, const Frame& frame, view::Actions& out) {
    const float gap = frame.px(kSpace12);
    const float pad = frame.px(kSpace8);
    const auto count = static_cast<float>(view.plots.size());
    const float width = (at.size().x - gap * (count - 1.0F)) / count;
    for (std::size_t n = 0; n < view.plots.size(); ++n) {
        const float x = at.low.x + (width + gap) * static_cast<float>(n);
        const auto kind = static_cast<PositionKind>(n);
        const bool chosen = kind == view.controls.kind;
        frame.painter.outline({x, at.low.y}, {x + width, at.high.y},
                              chosen ? frame.theme.accent : frame.theme.line,
                              frame.px(chosen ? 1.5F : 1.0F), frame.px(6));
        draw_distances(view, view.plots[n], kind,
                       {{x + pad, at.low.y + pad}, {x + width - pad, at.high.y - pad / 2}}, frame,
                       out);
    }
}

std::string draw_positions_workspace(const view::AppState& state, const WorkArea& area,
                                     const Frame& frame, view::Actions& out) {
    const PositionsView view = build_positions_view(state);
    Parts parts{.heading = {.headline = view.sentence, .muted = view.muted, .why = view.note},
                .hero = {"distances", "chosen encoding",
                         [&](const Box& box) {
                             draw_distances(view, view.hero, view.controls.kind, box, frame, out);
                         }},
                .others = {{"kinds", "all encodings",
                            [&](const Box& box) { draw_small(view, box, frame, out); },
                            CanvasPart::Where::below, kSmallShare}},
                .controls = [&](ControlBar& bar) { draw_controls(view, bar); }};
    if (!view.picture_title.empty())
        parts.others.push_back({"picture", view.waves ? "vectors" : "rotations",
                                [&](const Box& box) {
                                    if (view.waves)
                                        draw_waves(view, box, frame, out);
                                    else
                                        draw_dials(view, box, frame);
                                },
                                CanvasPart::Where::right, kPictureShare});
    return draw_parts(state, area, parts, frame, out);
}

}  // namespace

extern const WorkspacePanel kPositionsPanel{"positions", draw_positions_workspace};

}  // namespace attn::ui

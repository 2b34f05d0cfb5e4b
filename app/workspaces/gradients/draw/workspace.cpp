#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/grid_set.h"
#include "app/common/draw/items.h"
#include "app/common/draw/parts.h"
#include "app/workspaces/gradients/actions.h"
#include "app/workspaces/gradients/draw/competition.h"
#include "app/workspaces/gradients/view.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kSymbols = 76.0F, kNumbers = 108.0F, kTick = 40.0F, kWorkspaceHead = 44.0F,
                kTallest = 64.0F, kBar = 8.0F;
constexpr double kBarInk = 0.75;                // of the ink of its number
constexpr float kChain = 0.36F, kGrids = 0.5F;  // of the width, of the height
constexpr float kLowest = 20.0F;                // then the chain scrolls
constexpr float kTitleSpace = 330.0F, kLosses = 210.0F, kRows = 180.0F;

/// Norms have no colour of weights: grey, fainter without scaling.
Color color_of_side(const GradientsView& view, std::size_t n, const Theme& theme) {
    const auto is_plain = [](std::string_view side) { return side.starts_with("without scaling"); };
    const bool plain = is_plain(view.sides[n]);
    const bool second = n == 1 && !is_plain(view.sides[0]);
    return plain || second ? theme.muted : theme.text;
}

/// The two norms of one link of the chain; a click shows its gradient.
void draw_chain_row(const GradientsView& view, const GradientRow& row, const Box& box,
                    const Frame& frame, Actions& out) {
    const Theme& theme = frame.theme;
    ImGui::SetCursorScreenPos(box.low);
    const bool clicked = invisible_button(row.key.c_str(), box.size());
    const bool pressed = pressed_by_key(frame);
    const bool hovered = ImGui::IsItemHovered();
    tooltip(frame, "‖∂L/∂" + row.symbol + "‖",
            "Frobenius norm over all sequences and heads: " + row.texts[0] + " (" + view.sides[0] +
                "), " + row.texts[1] + " (" + view.sides[1] +
                "). ≈ 0: only rounding. Click to draw this gradient.");
    if (row.shown || hovered) frame.painter.rect(box.low, box.high, theme.raised);
    const float height = box.size().y;
    const Font& font = row.parameter ? frame.fonts.body : frame.fonts.strong;
    draw_text_in(frame, font, box.low, {box.low.x + frame.px(kSymbols), box.high.y}, Align::left,
                 theme.role(row.role), row.symbol);
    const float left = box.low.x + frame.px(kSymbols);
    const float right = box.high.x - frame.px(kNumbers);
    // Where two lines have no room the numbers stand beside each other.
    const bool low = height < frame.fonts.digits_small.px * 2.2F;
    const float half = (right + box.high.x) / 2;
    for (std::size_t n = 0; n < 2; ++n) {
        const float top = box.low.y + height * (n == 0 ? 0.08F : 0.52F);
        const float bottom = top + height * 0.4F;
        const float end = left + (right - left) * static_cast<float>(row.bars[n]);
        const Color color = color_of_side(view, n, theme);
        const float bar = std::min(bottom - top, frame.px(kBar));
        const float middle = (top + bottom) / 2;
        if (row.bars[n] > 0.0)
            frame.painter.rect({left, middle - bar / 2}, {end, middle + bar / 2},
                               view::blend(theme.background, color, kBarInk), frame.px(2));
        const ImVec2 from{low && n == 1 ? half : right, low ? box.low.y : top};
        const ImVec2 to{low && n == 0 ? half : box.high.x, low ? box.high.y : bottom};
        draw_fitted(frame, frame.fonts.digits_small, from, to, Align::right, color, row.texts[n]);
    }
    if (clicked || pressed) out.push_back(ShowGradientOf{row.key});
}

void draw_log_axis(const GradientsView& view, const Box& box, const Frame& frame) {
    const float left = box.low.x + frame.px(kSymbols);
    const float right = box.high.x - frame.px(kNumbers);
    const std::size_t count = view.ticks.size();
    const float space =
        std::max((right - left) / frame.px(kTick), 1.0F);  // names beside each other
    const std::size_t stride = std::max<std::size_t>(
        1, count / within<std::size_t>(static_cast<std::size_t>(space), 1, 6));
    for (std::size_t n = 0; n < count; n += stride) {
        const float x = left + (right - left) * static_cast<float>(n) /
                                   static_cast<float>(std::max<std::size_t>(count - 1, 1));
        frame.painter.line({x, box.low.y + frame.px(kWorkspaceHead)}, {x, box.high.y},
                           frame.theme.line, frame.px(1));
        draw_text_in(frame, frame.fonts.digits_small, {x - frame.px(30), box.low.y + frame.px(24)},
                     {x + frame.px(30), box.low.y + frame.px(kWorkspaceHead)}, Align::center,
                     frame.theme.muted, view.ticks[n]);
    }
}

void draw_chain(const GradientsView& view, const Box& box, const Frame& frame, Actions& out) {
    const float middle = (box.low.x + box.high.x) / 2;
    const float line = box.low.y + frame.px(22);
    if (box.size().x >= frame.px(kTitleSpace))
        draw_text_in(frame, frame.fonts.body, box.low, {middle, line}, Align::left,
                     frame.theme.text, "‖∂L/∂·‖, log scale");
    const std::string above = "— " + view.sides[0];
    const std::string beneath = "— " + view.sides[1];
    const float space = frame.text_width(frame.fonts.body, beneath) + frame.px(16);
    draw_text_in(frame, frame.fonts.body, {middle - frame.px(40), box.low.y},
                 {box.high.x - space, line}, Align::right, color_of_side(view, 0, frame.theme),
                 above);
    draw_text_in(frame, frame.fonts.body, {middle, box.low.y}, {box.high.x, line}, Align::right,
                 color_of_side(view, 1, frame.theme), beneath);
    draw_log_axis(view, box, frame);
    const float top = box.low.y + frame.px(kWorkspaceHead);
    const auto count = static_cast<float>(std::max<std::size_t>(view.rows.size(), 1));
    const float fitting = (box.high.y - top) / count;
    const float height = within(fitting, frame.px(kLowest), frame.px(kTallest));
    const float bar = fitting < height ? ImGui::GetStyle().ScrollbarSize : 0.0F;
    const float scroll = ImGui::GetScrollY();
    for (std::size_t n = 0; n < view.rows.size(); ++n) {
        const float y = top + height * static_cast<float>(n) - scroll;
        if (y < top - height / 2) continue;  // beneath the axis
        draw_chain_row(view, view.rows[n], {{box.low.x, y}, {box.high.x - bar, y + height}}, frame,
                       out);
    }
}

/// `count` of them from the n-th on.
void draw_gradient_grids(const GradientsView& view, std::size_t n, std::size_t count,
                         const Box& box, const Frame& frame, Actions& out) {
    const std::span grids = std::span(view.grids).subspan(n, count);
    const GridSetResult done = draw_grid_set(grids, box.low, box.high, frame);
    if (!done.clicked) return;
    const GridView& grid = grids[done.grid];
    const bool jacobian = &grid == &view.grids.back() && grid.title.starts_with("∂a");
    if (!jacobian && grid.row_role != Role::query) return;
    const Index row = jacobian ? view.row : done.clicked->row;
    out.push_back(SelectJacobianRow{row, done.clicked->column});
}

void draw_gradients_bar(const GradientsView& view, ControlBar& bar) {
    const auto loss = static_cast<std::size_t>(view.loss);
    if (const auto n = bar.label("L =").combo(
            "##loss", {view.losses, view.loss, view.losses[loss]}, kLosses,
            {"The loss", "Key: L. One output and its targets are chosen in Step"}))
        bar.out.push_back(SetLoss{static_cast<LossKind>(*n)});
    const auto row = static_cast<std::size_t>(view.row);
    if (row < view.row_names.size())
        if (const auto n =
                bar.combo("##row", {view.row_names, view.row, "row: " + view.row_names[row]}, kRows,
                          {"The row of the Jacobian", "Keys: ↑ and ↓"}))
            bar.out.push_back(SelectJacobianRow{*n, 0});
    const Theme& theme = bar.frame.theme;
    bar.put_text(view.badge_warns ? theme.warning : theme.good, view.badge,
                 {view.badge, view.badge_tip});
}

}  // namespace

std::string draw_gradients_workspace(const AppState& state, const WorkArea& r, const Frame& frame,
                                     Actions& out) {
    const GradientsView view = build_gradients_view(state);
    Parts parts{.missing_data = view.missing_data, .heading = {view.point, {}, view.notes}};
    if (!view.missing_data.empty()) return draw_parts(state, r, parts, frame, out);
    parts.status = view.status;
    parts.controls = [&](ControlBar& bar) { draw_gradients_bar(view, bar); };
    if (view.ready) {
        parts.heading.why = view.competition.formula;
        parts.hero = {"competition", "softmax of one row",
                      [&](const Box& box) { draw_competition(view.competition, box, frame, out); }};
        parts.others = {
            {"chain", "all gradients", [&](const Box& box) { draw_chain(view, box, frame, out); },
             CanvasPart::Where::left, kChain},
            {"grids", "matrices",
             [&](const Box& box) {
                 draw_gradient_grids(view, 0, view.grids.size(), box, frame, out);
             },
             CanvasPart::Where::below, kGrids}};
    }
    return draw_parts(state, r, parts, frame, out);
}

extern const WorkspacePanel kGradientsPanel{"gradients", draw_gradients_workspace};

}  // namespace attn::ui

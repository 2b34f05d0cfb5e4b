#include <algorithm>

#include "app/common/document/actions.h"
#include "app/common/draw/around.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/grid_set.h"
#include "app/common/draw/point.h"
#include "app/common/draw/widgets.h"
#include "app/common/draw/workspace.h"
#include "app/workspaces/gradients/actions.h"
#include "app/workspaces/gradients/draw/competition.h"
#include "app/workspaces/gradients/view.h"

namespace attn::ui {
namespace {

using view::GradientRow, view::GradientsView;

// Design units.
constexpr float kBar = 40.0F, kGap = 20.0F;
constexpr float kChain = 0.36F;       // of the width
constexpr float kCompetition = 0.5F;  // of the height right of the chain
constexpr float kLeastHero = 190.0F, kSymbols = 76.0F, kNumbers = 108.0F, kTick = 40.0F,
                kWorkspaceHead = 44.0F, kTallest = 44.0F;
constexpr float kLowest = 20.0F;     // then the chain scrolls
constexpr float kFewUnits = 700.0F;  // wide: the chain has the larger part
constexpr float kLowBody = 430.0F;   // high: one note
constexpr float kWideChain = 0.56F, kTitleRoom = 330.0F, kLosses = 210.0F, kRows = 180.0F;

/// The two norms of one link of the chain; a click shows its gradient.
void draw_chain_row(const GradientRow& row, const Box& box, const Frame& frame,
                    view::Actions& out) {
    const view::Theme& theme = frame.theme;
    ImGui::SetCursorScreenPos(box.low);
    const bool clicked = ImGui::InvisibleButton(row.key.c_str(), box.size());
    const bool pressed = pressed_by_key(frame);
    const bool hovered = ImGui::IsItemHovered();
    tooltip(frame, "‖∂L/∂" + row.symbol + "‖",
            "Frobenius norm over all sequences and heads: above " + row.texts[0] + ", beneath " +
                row.texts[1] + ". ≈ 0: not above rounding. A click draws this gradient.");
    if (row.shown || hovered) frame.painter.rect(box.low, box.high, theme.raised);
    const float height = box.size().y;
    const Font& font = row.parameter ? frame.fonts.body : frame.fonts.strong;
    draw_text_in(frame, font, box.low, {box.low.x + frame.px(kSymbols), box.high.y}, Align::left,
                 row.shown ? theme.accent : theme.role(row.role), row.symbol);
    const float left = box.low.x + frame.px(kSymbols);
    const float right = box.high.x - frame.px(kNumbers);
    // Where two lines have no room the numbers stand beside each other.
    const bool low = height < frame.fonts.digits_small.px * 2.2F;
    const float half = (right + box.high.x) / 2;
    for (std::size_t n = 0; n < 2; ++n) {
        const float top = box.low.y + height * (n == 0 ? 0.08F : 0.52F);
        const float foot = top + height * 0.4F;
        const float end = left + (right - left) * static_cast<float>(row.bars[n]);
        const view::Color color = n == 0 ? theme.role(Role::query) : theme.role(Role::key);
        if (row.bars[n] > 0.0) frame.painter.rect({left, top}, {end, foot}, color, frame.px(2));
        const ImVec2 from{low && n == 1 ? half : right, low ? box.low.y : top};
        const ImVec2 to{low && n == 0 ? half : box.high.x, low ? box.high.y : foot};
        draw_fitted(frame, frame.fonts.digits_small, from, to, Align::right, color, row.texts[n]);
    }
    if (clicked || pressed) out.push_back(view::ShowGradientOf{row.key});
}

void draw_log_axis(const GradientsView& view, const Box& box, const Frame& frame) {
    const float left = box.low.x + frame.px(kSymbols);
    const float right = box.high.x - frame.px(kNumbers);
    const std::size_t count = view.ticks.size();
    const float room = std::max((right - left) / frame.px(kTick), 1.0F);  // names beside each other
    const std::size_t stride =
        std::max<std::size_t>(1, count / within<std::size_t>(static_cast<std::size_t>(room), 1, 6));
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

void draw_chain(const GradientsView& view, const Box& box, const Frame& frame, view::Actions& out) {
    const float middle = (box.low.x + box.high.x) / 2;
    const float line = box.low.y + frame.px(22);
    if (box.size().x >= frame.px(kTitleRoom))
        draw_text_in(frame, frame.fonts.body, box.low, {middle, line}, Align::left,
                     frame.theme.text, "‖∂L/∂·‖, log scale");
    const std::string above = "▬ " + view.sides[0];
    const std::string beneath = "▬ " + view.sides[1];
    const float room = frame.text_width(frame.fonts.body, beneath) + frame.px(16);
    draw_text_in(frame, frame.fonts.body, {middle - frame.px(40), box.low.y},
                 {box.high.x - room, line}, Align::right, frame.theme.role(Role::query), above);
    draw_text_in(frame, frame.fonts.body, {middle, box.low.y}, {box.high.x, line}, Align::right,
                 frame.theme.role(Role::key), beneath);
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
        draw_chain_row(view.rows[n], {{box.low.x, y}, {box.high.x - bar, y + height}}, frame, out);
    }
}

void draw_gradient_grids(const GradientsView& view, const Box& box, const Frame& frame,
                         view::Actions& out) {
    const GridSetResult done = draw_grid_set(view.grids, box.low, box.high, frame);
    if (!done.clicked) return;
    const view::GridView& grid = view.grids[done.grid];
    const bool jacobian = &grid == &view.grids.back() && grid.title.starts_with("∂a");
    if (!jacobian && grid.row_role != Role::query) return;
    const Index row = jacobian ? view.row : done.clicked->row;
    out.push_back(view::SelectJacobianRow{row, done.clicked->column});
}

void draw_gradients_bar(const GradientsView& view, const Frame& frame, view::Actions& out) {
    const auto loss = static_cast<std::size_t>(view.loss);
    ImGui::AlignTextToFramePadding();
    words(frame, frame.fonts.body, frame.theme.muted, "L =");
    ImGui::SameLine(0.0F, frame.px(8));
    if (const auto n =
            combo(frame, "##loss", {view.losses, view.loss, view.losses[loss]}, frame.px(kLosses),
                  {"The loss", "Key: L. One output and its targets are chosen in Step"}, out))
        out.push_back(view::SetLoss{static_cast<view::LossKind>(*n)});
    flow(frame, frame.px(kRows));
    const auto row = static_cast<std::size_t>(view.row);
    if (row < view.row_names.size())
        if (const auto n =
                combo(frame, "##row", {view.row_names, view.row, "row: " + view.row_names[row]},
                      frame.px(kRows), {"The row whose Jacobian is drawn", "Keys: ↑ and ↓"}, out))
            out.push_back(view::SelectJacobianRow{*n, 0});
    if (view.badge.empty()) return;
    flow(frame, frame.text_width(frame.fonts.body, view.badge));
    ImGui::AlignTextToFramePadding();
    words(frame, frame.fonts.body, frame.theme.good, view.badge);
    tooltip(frame, view.badge, view.badge_tip);
}

void draw_gradients_body(const GradientsView& view, const Box& box, const Frame& frame,
                         view::Actions& out) {
    const float point = draw_point(view.point, box, frame);
    std::vector<std::string> notes = view.notes;
    if (box.size().y < frame.px(kLowBody) && notes.size() > 1) notes.resize(1);
    const float top = draw_notes(notes, {{box.low.x, point}, box.high}, frame) + frame.px(kSpace8);
    if (!view.ready) return;
    const bool narrow = box.size().x < frame.px(kFewUnits);
    const float split = box.low.x + box.size().x * (narrow ? kWideChain : kChain);
    const Box chain{{box.low.x, top}, {split - frame.px(kGap), box.high.y}};
    panel("chain", chain, [&] { draw_chain(view, chain, frame, out); });
    const float room = box.high.y - top;
    const float hero = std::min(std::max(room * kCompetition, frame.px(kLeastHero)), room);
    const Box competition{{split, top}, {box.high.x, top + hero}};
    panel("competition", competition,
          [&] { draw_competition(view.competition, competition, frame, out); });
    const Box grids{{split, competition.high.y + frame.px(kGap)}, box.high};
    panel("grids", grids, [&] { draw_gradient_grids(view, grids, frame, out); });
}

}  // namespace

std::string draw_gradients_workspace(const view::AppState& state, const WorkArea& r,
                                     const Frame& frame, view::Actions& out) {
    const GradientsView view = build_gradients_view(state);
    const Box whole{{r.work.low.x + r.margin, r.work.low.y + frame.px(16)},
                    {r.work.high.x - r.margin - r.inspector, r.work.high.y - frame.px(kSpace8)}};
    if (!view.lacks.empty()) {
        panel("lacks", whole,
              [&] { wrapped_words(frame, frame.fonts.title, frame.theme.muted, view.lacks); });
        return {};
    }
    float top = r.work.low.y;
    if (r.chrome) {
        const Frame chrome = around(frame);
        top += frame.px(kBar);
        panel("bar",
              {{r.work.low.x + r.margin, r.work.low.y + frame.px(6)},
               {r.work.high.x - r.margin, top}},
              [&] { draw_gradients_bar(view, chrome, out); });
        chrome.painter.line({r.work.low.x, top}, {r.work.high.x, top}, chrome.theme.line,
                            chrome.px(1));
    }
    const Box box{{whole.low.x, top + frame.px(12)}, whole.high};
    panel("gradients", box, [&] { draw_gradients_body(view, box, frame, out); });
    side_inspector(state, r, top, frame, out);
    return view.status;
}

extern const WorkspacePanel kGradientsPanel;
const WorkspacePanel kGradientsPanel{"gradients", draw_gradients_workspace};

}  // namespace attn::ui

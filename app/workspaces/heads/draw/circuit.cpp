#include <fmt/format.h>

#include "app/common/actions.h"
#include "app/common/document/swept.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/grid_set.h"
#include "app/common/draw/items.h"
#include "app/common/map/draw/parts.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/heads/draw/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kBars = 132.0F, kLeastHero = 200.0F, kBarHeight = 48.0F, kWidestBar = 24.0F,
                kPairRow = 24.0F, kPairGap = 20.0F, kWidestToken = 88.0F;

/// Under the picture: singular values as bars, the copying score beside their title.
void draw_values(const HeadCircuitView& circuit, const Box& box, const Frame& frame) {
    const GridView& grid = *circuit.values;
    ImVec2 cell{frame.px(kWidestBar), frame.px(kBarHeight)};
    const GridMargins around = grid_margins(grid, frame, cell);
    const float space = box.size().x - around.left - around.right;
    cell.x = within(space / static_cast<float>(std::max<Index>(grid.columns, 1)), 1.0F,
                    frame.px(kWidestBar));
    cell.y = within(box.size().y - around.top - frame.px(kSmallRow), 1.0F, frame.px(kBarHeight));
    const GridPlace place{{std::round(box.low.x + around.left), std::round(box.low.y + around.top)},
                          cell};
    draw_grid(grid, {}, place, frame, {true, false, false});
    const float bottom = place.origin.y + cell.y + frame.px(4);
    draw_fitted(frame, frame.fonts.small, {box.low.x, bottom},
                {box.high.x, bottom + frame.px(kSmallRow)}, Align::left, frame.theme.muted,
                circuit.text);
}

/// Where the n-th token of a row stands.
Box token_box(const Box& box, std::size_t n, std::size_t count, float top, const Frame& frame) {
    const float pitch = std::min(box.size().x / static_cast<float>(std::max<std::size_t>(count, 1)),
                                 frame.px(kWidestToken));
    const float left = box.low.x + pitch * static_cast<float>(n);
    return {{left, top}, {left + pitch - frame.px(2), top + frame.px(kPairRow)}};
}

std::optional<Index> draw_token_row(const std::vector<std::string>& tokens, const char* id,
                                    const std::optional<Index>& chosen, const Box& box, float top,
                                    const Frame& frame) {
    std::optional<Index> clicked;
    ImGui::PushID(id);
    for (std::size_t n = 0; n < tokens.size(); ++n) {
        const Box at = token_box(box, n, tokens.size(), top, frame);
        ImGui::PushID(static_cast<int>(n));
        ImGui::SetCursorScreenPos(at.low);
        if (invisible_button("token", {std::max(at.size().x, 1.0F), at.size().y}))
            clicked = static_cast<Index>(n);
        tooltip(frame, fmt::format("{} {}", n, tokens[n]),
                "Click a token above, then its partner below; click a pair to remove it");
        ImGui::PopID();
        const bool marked = chosen == static_cast<Index>(n);
        frame.painter.rect(at.low, at.high, frame.theme.raised, frame.px(3));
        if (marked)
            frame.painter.outline(at.low, at.high, frame.theme.accent, frame.px(2), frame.px(3));
        draw_fitted(frame, frame.fonts.small, at.low, at.high, Align::center, frame.theme.text,
                    tokens[n]);
    }
    ImGui::PopID();
    return clicked;
}

/// The text's tokens, the other text's beneath them, and a line for each pair.
void draw_pairs(const TokenPairs& pairs, const Box& box, const Frame& frame, Actions& out) {
    const float below = box.low.y + frame.px(kPairRow + kPairGap);
    for (const auto& [here, there] : pairs.pairs) {
        const Box a =
            token_box(box, static_cast<std::size_t>(here), pairs.here.size(), box.low.y, frame);
        const Box b =
            token_box(box, static_cast<std::size_t>(there), pairs.there.size(), below, frame);
        frame.painter.line({(a.low.x + a.high.x) / 2, a.high.y},
                           {(b.low.x + b.high.x) / 2, b.low.y}, frame.theme.muted, frame.px(1.5F));
    }
    const auto here = draw_token_row(pairs.here, "here", pairs.chosen, box, box.low.y, frame);
    const auto there = draw_token_row(pairs.there, "there", {}, box, below, frame);
    if (here) out.push_back(ChooseToPair{here});
    if (!there || !pairs.chosen) return;
    const std::string text = view::repaired(pairs.pairs, *pairs.chosen, *there);
    if (text.empty())
        out.push_back(Notify{{"At least one pair must remain.", Severity::warning}});
    else
        out.push_back(PairTokens{text});
}

}  // namespace

void draw_head_circuit(const AllHeadsView& view, const MapLook& look, const Box& box,
                       const Frame& frame, Actions& out) {
    const HeadCircuitView& circuit = *view.circuit;
    if (circuit.edges)
        return draw_head_edges(*circuit.edges, view.here, view.hovered_circuit, box, frame, out);
    const bool bars = circuit.values && box.size().y > frame.px(kBars + kLeastHero);
    const float bottom = box.high.y - (bars ? frame.px(kBars) : 0.0F);
    const Box hero{box.low, {box.high.x, bottom}};
    std::optional<large::Cell> clicked;
    if (circuit.maps.empty()) {
        const GridResult done =
            draw_grid_set(circuit.grids, hero.low, hero.high, frame, view.hovered_circuit);
        clicked = place_of(done.clicked);
        if (const auto hovered = place_of(done.hovered); hovered != view.hovered_circuit)
            out.push_back(HoverCircuit{hovered});
    } else {
        clicked = draw_maps(circuit.maps, look, hero, frame, out).clicked;
    }
    if (clicked) out.push_back(SelectCircuitCell{clicked->row, clicked->column});
    if (bars) draw_values(circuit, {{box.low.x, bottom + frame.px(kSpace12)}, box.high}, frame);
}

void draw_head_sweep(const AllHeadsView& view, const Box& box, const Frame& frame, Actions& out) {
    const SweepView& sweep = *view.sweep;
    const float pairs = sweep.pairs ? frame.px(2 * kPairRow + kPairGap + kSpace12) : 0.0F;
    const float bottom = box.high.y - pairs;
    if (sweep.pairs)
        draw_pairs(*sweep.pairs,
                   {{box.low.x, bottom + frame.px(kSpace12)},
                    {box.high.x - frame.px(kSpace24), box.high.y}},
                   frame, out);
    if (!sweep.grid) {
        ImGui::SetCursorScreenPos({box.low.x, box.low.y});
        return wrapped_text(frame, frame.fonts.title, frame.theme.muted, sweep.missing_data);
    }
    const bool heads = view.controls.part.key() == "heads";
    std::optional<large::Cell> cursor;
    if (view.hovered && heads) cursor = large::Cell{view.hovered->layer, view.hovered->head};
    const GridResult done =
        draw_grid_set(std::span(&*sweep.grid, 1), box.low, {box.high.x, bottom}, frame, cursor);
    if (done.clicked && heads) press_head({done.clicked->row, done.clicked->column}, false, out);
    if (done.clicked && !heads) out.push_back(SelectSwept{done.clicked->row, done.clicked->column});
    const auto place = done.hovered && heads
                           ? std::optional(HeadPlace{done.hovered->row, done.hovered->column})
                           : std::nullopt;
    if (place != view.hovered) out.push_back(HoverHead{place});
}

}  // namespace attn::ui

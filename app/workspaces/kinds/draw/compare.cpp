#include "app/common/draw/grid_set.h"
#include "app/common/draw/math.h"
#include "app/workspaces/kinds/actions.h"
#include "app/workspaces/kinds/draw/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kFormula = 18.0F;  // what a formula at the end of a title needs above the cells
constexpr float kLow = 200.0F;     // a lower matrix has none

/// What the scores are, at the right end of the title. Returns where the title begins.
float draw_score_formula(const std::string& tex, const GridView& grid, const Box& box,
                         const Frame& frame) {
    if (tex.empty() || box.size().y < frame.px(kLow)) return box.low.y;
    const float title = frame.text_width(frame.fonts.strong, grid.title) +
                        frame.text_width(frame.fonts.small, grid.shape);
    float labels = frame.px(kSpace48);  // the title begins behind the words of the rows
    for (const std::string& label : grid.row_labels)
        labels = std::max(labels, frame.text_width(frame.fonts.body, label) + frame.px(kSpace48));
    const float space = box.size().x - title - labels - frame.px(kSpace24);
    const auto formula = fitted_math(frame, tex, kSmallFormula, space);
    if (!formula || formula->width > space) return box.low.y;
    const float height = formula->ascent + formula->descent;
    if (height > frame.px(kFormula + kTitleRow)) return box.low.y;
    draw_formula(frame, *formula, {box.high.x - formula->width, box.low.y + formula->ascent});
    return box.low.y + std::max(height - frame.px(kTitleRow), 0.0F);
}

}  // namespace

void draw_kinds(const KindsView& view, std::span<const GridView> grids, std::size_t first,
                const Box& box, const Frame& frame, Actions& out) {
    const std::string* const tex[] = {&view.a.tex, &view.b.tex};
    const auto count = static_cast<float>(grids.size());
    const float gap = frame.px(kSpace24);
    const float each = std::floor((box.size().x - gap * (count - 1.0F)) / count);
    const auto slot_of = [&](std::size_t n) {
        const float left = box.low.x + static_cast<float>(n) * (each + gap);
        return Box{{left, box.low.y}, {left + each, box.high.y}};
    };
    float top = box.low.y;  // of all the same: one size of cells
    for (std::size_t n = 0; n < grids.size(); ++n)
        if (first + n < std::size(tex))
            top = std::max(top, draw_score_formula(*tex[first + n], grids[n], slot_of(n), frame));
    for (std::size_t n = 0; n < grids.size(); ++n) {
        const Box slot = slot_of(n);
        ImGui::PushID(static_cast<int>(first + n));
        const auto clicked =
            draw_grid_set({&grids[n], 1}, {slot.low.x, top}, slot.high, frame).clicked;
        ImGui::PopID();
        if (clicked) out.push_back(SelectKindsPair{clicked->row, clicked->column});
    }
}

void draw_kinds_maps(const KindsView& view, const MapLook& look, std::size_t first,
                     std::size_t count, const Box& box, const Frame& frame, Actions& out) {
    const MapsPointed done =
        draw_maps(std::span(view.maps).subspan(first, count), look, box, frame, out);
    if (done.clicked) out.push_back(SelectKindsPair{done.clicked->row, done.clicked->column});
}

}  // namespace attn::ui

#include "app/common/draw/math.h"

#include "app/common/draw/draw.h"
#include "app/common/draw/items.h"
#include "app/common/draw/typeset.h"
#include "app/common/glossary.h"

namespace attn::ui {
namespace {

std::optional<MathBox> math_of(const Frame& frame, const std::string& tex, float units) {
    auto box = lay_out_math(tex, {frame.px(units), frame.px(kLeastScript), frame.px(kLeastText)},
                            frame.painter);
    if (!box || box->width <= 0.0F) return std::nullopt;
    return std::move(*box);
}

}  // namespace

std::optional<MathBox> fitted_math(const Frame& frame, const std::string& tex, float units,
                                   float width) {
    auto box = math_of(frame, tex, units);
    if (!box || box->width <= width) return box;
    const float smaller = units * std::max(width, 0.0F) / box->width;
    return math_of(frame, tex, std::max(kLeastText, std::floor(smaller)));
}

std::optional<OperandId> draw_formula(const Frame& frame, const MathBox& box, ImVec2 baseline) {
    const bool pointed = ImGui::IsWindowHovered() && !frame.quiet;
    const auto under = pointed ? operand_at(box, baseline, ImGui::GetMousePos()) : std::nullopt;
    draw_math(box, baseline, frame.theme, under, frame.painter);
    if (const GlossaryTerm* term = under ? view::term_of(*under) : nullptr)
        tooltip_at_pointer(frame, term->symbol + ": " + term->term, term->definition);
    return under;
}

std::optional<OperandId> formula_item(const Frame& frame, const std::string& tex,
                                      const std::string& plain, float units) {
    const float space = ImGui::GetContentRegionAvail().x;
    const auto box = fitted_math(frame, tex, units, space);
    if (!box || box->width > space) {
        wrapped_text(frame, frame.fonts.body, frame.theme.muted, plain);
        return std::nullopt;
    }
    const ImVec2 at = ImGui::GetCursorScreenPos();
    leave_space({box->width, box->ascent + box->descent + frame.px(4)});
    return draw_formula(frame, *box, {at.x, at.y + box->ascent + frame.px(2)});
}

}  // namespace attn::ui

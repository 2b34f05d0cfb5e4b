#include "app/ui/saturation/side.h"

#include <algorithm>
#include <string>

#include "app/ui/common/draw.h"
#include "app/ui/saturation/bars.h"

namespace attn::ui {
namespace {

using view::Readout;
using view::SaturationSideView;

// Design units.
constexpr float kHeading = 32.0F;
constexpr float kVerdict = 32.0F;
constexpr float kRule = 18.0F;  // more, where the rule stands below
constexpr float kNote = 20.0F;
constexpr float kLine = 22.0F;      // a read-out with its formula beside its name
constexpr float kTwoLines = 38.0F;  // or below it

float label_column(const SaturationSideView& side, const Frame& frame) {
    float width = 0.0F;
    for (const Readout& readout : side.readouts)
        width = std::max(width, frame.text_width(frame.fonts.body, readout.label));
    return width + frame.px(12);
}

/// Whether every formula fits between its name and its value. Asked with room to spare for the
/// widest d_k, so that dragging never changes the layout.
bool formulas_fit(const SaturationSideView& side, float width, const Frame& frame) {
    const std::string widest = "p_max(1 − p_max) / √4096";
    return label_column(side, frame) + frame.text_width(frame.fonts.small, widest) +
               frame.text_width(frame.fonts.digits, "100.0 %") + frame.px(8) <=
           width;
}

view::Color verdict_color(view::Verdict verdict, const view::Theme& theme) {
    switch (verdict) {
        case view::Verdict::healthy:
            return theme.good;
        case view::Verdict::saturating:
            return theme.warning;
        case view::Verdict::saturated:
            return theme.bad;
    }
    return theme.text;
}

void draw_heading(const SaturationSideView& side, ImVec2 low, float width, const Frame& frame) {
    const Font& font = frame.fonts.title;
    const float title = frame.text_width(font, side.title);
    frame.painter.text(font, low, frame.theme.role(side.role), side.title);
    if (side.focused)
        frame.painter.rect({low.x, low.y + font.px + frame.px(4)},
                           {low.x + title, low.y + font.px + frame.px(6)}, frame.theme.accent);
    const float after = title + frame.px(12);
    frame.painter.text(
        frame.fonts.body, {low.x + after, low.y + (font.px - frame.fonts.body.px) * 0.85F},
        frame.theme.muted, fit_text(frame, frame.fonts.body, side.formula, width - after));
}

std::string verdict_text(const std::string& words) { return "● " + words; }

/// Room for the rule beside the longest verdict; asked of that one, so that no verdict changes the
/// layout.
bool rule_fits(const SaturationSideView& side, float width, const Frame& frame) {
    return frame.text_width(frame.fonts.strong, verdict_text("saturating")) + frame.px(10) +
               frame.text_width(frame.fonts.small, side.verdict_rule) <=
           width;
}

/// ● healthy, and the rule beside it or below.
void draw_verdict(const SaturationSideView& side, ImVec2 low, float width, const Frame& frame) {
    const view::Color color = verdict_color(side.verdict, frame.theme);
    const float height = frame.px(kVerdict);
    const std::string words = verdict_text(side.verdict_words);
    draw_text_in(frame, frame.fonts.strong, low, {low.x + width, low.y + height}, Align::left,
                 color, words);
    const float after = frame.text_width(frame.fonts.strong, words) + frame.px(10);
    const ImVec2 rule = rule_fits(side, width, frame) ? ImVec2{low.x + after, low.y}
                                                      : ImVec2{low.x, low.y + frame.px(kRule)};
    draw_text_in(frame, frame.fonts.small, rule, {low.x + width, rule.y + height}, Align::left,
                 frame.theme.muted,
                 fit_text(frame, frame.fonts.small, side.verdict_rule, low.x + width - rule.x));
}

float verdict_height(const SaturationSideView& side, float width, const Frame& frame) {
    return frame.px(kVerdict) + (rule_fits(side, width, frame) ? 0.0F : frame.px(kRule));
}

void draw_readout(const Readout& readout, ImVec2 low, float width, float labels, bool one_line,
                  const Frame& frame) {
    const float height = frame.px(kLine);
    const ImVec2 high{low.x + width, low.y + height};
    draw_text_in(frame, frame.fonts.body, low, high, Align::left, frame.theme.text, readout.label);
    draw_text_in(frame, frame.fonts.digits, low, high, Align::right, frame.theme.text,
                 readout.text);
    const ImVec2 formula = one_line ? ImVec2{low.x + labels, low.y}
                                    : ImVec2{low.x, low.y + frame.px(kTwoLines - kLine) + 1};
    draw_text_in(frame, frame.fonts.small, formula, {high.x, formula.y + height}, Align::left,
                 frame.theme.muted,
                 fit_text(frame, frame.fonts.small, readout.formula, high.x - formula.x));
}

void draw_readouts(const SaturationSideView& side, ImVec2 low, float width, const Frame& frame) {
    const bool one_line = formulas_fit(side, width, frame);
    const float height = frame.px(one_line ? kLine : kTwoLines);
    const float labels = label_column(side, frame);
    for (std::size_t n = 0; n < side.readouts.size(); ++n) {
        const Readout& readout = side.readouts[n];
        ImGui::SetCursorScreenPos(low);
        ImGui::PushID(static_cast<int>(n));
        ImGui::InvisibleButton("readout", {width, height});
        tooltip(frame, readout.label + ": " + readout.formula, readout.tooltip);
        ImGui::PopID();
        draw_readout(readout, low, width, labels, one_line, frame);
        low.y += height;
    }
}

}  // namespace

float side_texts_height(const SaturationSideView& side, float width, const Frame& frame) {
    const float line = formulas_fit(side, width, frame) ? kLine : kTwoLines;
    return frame.px(kHeading + kNote + kVerdict + line * static_cast<float>(side.readouts.size()));
}

void draw_side(const SaturationSideView& side, const SidePlace& place, const Frame& frame) {
    ImGui::PushID(side.title.c_str());
    draw_heading(side, place.low, place.width, frame);
    ImVec2 low{place.low.x, place.low.y + frame.px(kHeading)};
    const ImVec2 high{low.x + place.width, low.y + place.bars_height};
    const bool numbered = draw_bars(side.bars, frame.theme.role(side.role), low, high, frame);
    low.y = high.y;
    if (numbered)
        draw_text_in(frame, frame.fonts.small, low, {high.x, low.y + frame.px(kNote)}, Align::right,
                     frame.theme.muted, side.rounding_note);
    low.y += frame.px(kNote);
    draw_verdict(side, low, place.width, frame);
    low.y += verdict_height(side, place.width, frame);
    draw_readouts(side, low, place.width, frame);
    ImGui::PopID();
}

}  // namespace attn::ui

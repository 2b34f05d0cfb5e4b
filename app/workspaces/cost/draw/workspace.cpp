#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/items.h"
#include "app/common/draw/measured.h"
#include "app/common/draw/parts.h"
#include "app/common/draw/plot.h"
#include "app/workspaces/cost/actions.h"
#include "app/workspaces/cost/view.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kName = 0.2F;  // of the width
constexpr double kShareInk = 0.16;
constexpr float kGap = 14.0F, kCard = 54.0F, kTimes = 236.0F;
constexpr float kMostStages = 0.45F;  // of the canvas: more of them scroll
constexpr float kNarrow = 760.0F;     // below it the times stand under the table
constexpr float kPreset = 250.0F;

// --- sizes

void draw_presets(const CostView& view, ControlBar& bar) {
    const Tip tip{"Preset sizes", "The current document, 2³¹ weights, or a known model."};
    const auto chosen =
        bar.combo("##sizes", {view.preset_names, view.preset, view.preset_shown}, kPreset, tip);
    if (!chosen || static_cast<std::size_t>(*chosen) >= view.presets.size()) return;
    bar.out.push_back(SetCostPreset{view.presets[*chosen].key});
}

void draw_cost_controls(const CostView& view, ControlBar& bar) {
    draw_presets(view, bar);
    const Tip tip{"The number of heads that share keys and values",
                  "MHA: none, G = H. GQA: some. MQA: all, G = 1."};
    if (const auto n = bar.choice("sharing", view.sharing_names, view.sharing, tip))
        bar.out.push_back(shared_heads(view.controls.sizes, static_cast<HeadSharing>(*n)));
    bar.field<SetCostPass>(view.controls);
    bar.field<ShowCostRows>(view.look);
    for (const CostFieldView& field : view.fields) {
        const std::string id = "##" + field.label;
        if (!bar.take(number_width(bar.frame, field.label, std::max<Index>(field.value, 9999))))
            continue;
        if (const auto value = number_field(
                bar.frame, id.c_str(), field.label.c_str(), field.value, field.low, field.high,
                number_width(bar.frame, field.label, std::max<Index>(field.value, 9999)),
                {field.heading, field.text}, bar.out))
            bar.out.push_back(SetCostSize{field.size, *value});
    }
}

// --- the table of stages

using Decimals = std::array<float, 5>;

/// `after`: the free space at the right of each column.
void draw_cells(const Box& line, const Font& font, Color color, const Frame& frame,
                const std::array<std::string, 5>& texts, const Decimals& after = {}) {
    const float width = line.size().x * (1.0F - kName) / static_cast<float>(texts.size());
    for (std::size_t n = 0; n < texts.size(); ++n) {
        const float right = line.low.x + line.size().x * kName + width * static_cast<float>(n + 1);
        const float end = right - frame.px(8) - after[n];
        draw_text_in(frame, font, {right - width, line.low.y}, {end, line.high.y}, Align::right,
                     color, fit_text(frame, font, texts[n], end - right + width));
    }
}

std::string_view decimals_of(std::string_view text) {
    return text.substr(std::min(text.find('.'), text.size()));
}

/// The widest decimals of each column, with their point.
Decimals decimals_in(const CostView& view, const Frame& frame) {
    Decimals widest{};
    for (const CostRowView& row : view.rows)
        for (std::size_t n = 0; n < widest.size(); ++n)
            widest[n] = std::max(
                widest[n], frame.text_width(frame.fonts.digits_small, decimals_of(row.numbers[n])));
    return widest;
}

void draw_row(const CostRowView& row, const Box& line, Decimals decimals, const Frame& frame,
              Actions& out) {
    ImGui::SetCursorScreenPos(line.low);
    const bool clicked = invisible_button(row.name.c_str(), line.size());
    const bool hovered = ImGui::IsItemHovered();
    if (clicked || pressed_by_key(frame)) out.push_back(SelectCost{row.item});
    if (row.selected || hovered)
        frame.painter.rect(line.low, line.high, frame.theme.raised, frame.px(4));
    const float share = line.size().x * static_cast<float>(within(row.share, 0.0, 1.0));
    if (row.item != CostItem::total)
        frame.painter.rect(line.low, {line.low.x + share, line.high.y},
                           view::translucent(frame.theme.muted, kShareInk));
    const Font& font = row.item == CostItem::total ? frame.fonts.strong : frame.fonts.body;
    draw_text_in(frame, font, {line.low.x + frame.px(8), line.low.y}, line.high, Align::left,
                 row.selected ? frame.theme.accent : frame.theme.text, row.name);
    for (std::size_t n = 0; n < decimals.size(); ++n)
        decimals[n] -= frame.text_width(frame.fonts.digits_small, decimals_of(row.numbers[n]));
    draw_cells(line, frame.fonts.digits_small, frame.theme.text, frame, row.numbers, decimals);
    tooltip(frame, row.name, row.tooltip);
}

float table_height(const CostView& view, const Frame& frame) {
    return frame.px(kTitleRow + kTableRow * static_cast<float>(view.rows.size()));
}

void draw_cost_table(const CostView& view, const Box& at, const Frame& frame, Actions& out) {
    Box line{at.low, {at.high.x, at.low.y + frame.px(kTitleRow)}};
    draw_text_in(frame, frame.fonts.small, {line.low.x + frame.px(8), line.low.y}, line.high,
                 Align::left, frame.theme.muted, view.rows_title);
    draw_cells(line, frame.fonts.small, frame.theme.muted, frame, view.titles);
    frame.painter.line({line.low.x, line.high.y - 1}, {line.high.x, line.high.y - 1},
                       frame.theme.line, frame.px(1));
    ImGui::PushID("stages");
    const Decimals decimals = decimals_in(view, frame);
    for (const CostRowView& row : view.rows) {
        line = {{line.low.x, line.high.y}, {line.high.x, line.high.y + frame.px(kTableRow)}};
        draw_row(row, line, decimals, frame, out);
    }
    ImGui::PopID();
    record_rect_for_tests(frame.painter, Measuring::Kind::labels, at.low, line.high);
}

void draw_cost_times(const CostView& view, const Box& at, const Frame& frame, Actions& out) {
    const CostMeasureView& measure = view.measure;
    ImGui::SetCursorScreenPos(at.low);
    begin_child("times", at.size(), ImGuiWindowFlags_NoBackground);
    if (measure.possible || !measure.times.empty())
        put_text(frame, frame.fonts.strong, frame.theme.text, "Predicted → measured here");
    if (measure.possible &&
        button(frame, "measure", measure.busy ? "measuring…" : "measure",
               {"Runs the engine at these sizes, in fp32", "Key: M. It runs only on request."}))
        out.push_back(MeasureCost{});
    wrapped_text(frame, frame.fonts.small, measure.fault ? frame.theme.warning : frame.theme.muted,
                 measure.text);
    if (!measure.machine.empty())
        wrapped_text(frame, frame.fonts.small, frame.theme.muted, measure.machine);
    for (const CostTimeView& time : measure.times) {
        put_text(frame, frame.fonts.body, frame.theme.text, time.title);
        tooltip(frame, time.title, time.tooltip);
        put_text(frame, frame.fonts.digits, frame.theme.text,
                 time.predicted + " → " + time.measured);
        ImGui::SameLine(0.0F, frame.px(8));
        put_text(frame, frame.fonts.small, frame.theme.muted, time.ratio);
    }
    ImGui::EndChild();
}

// --- curves and cards

/// To whole tokens while the mouse holds it, to powers of two with the arrows.
void draw_curves(const CostView& view, const Box& at, const Frame& frame, Actions& out) {
    const PlotInput input = draw_plot(view.plot, "memory", at.low, at.high, false, frame);
    follow<SetCostTokens>(input, view.tokens, view::nearest_tokens, view::next_tokens, out);
}

void draw_card(const CostCardView& card, const Box& at, const Frame& frame, Actions& out) {
    ImGui::SetCursorScreenPos(at.low);
    const bool clicked = invisible_button(card.title.c_str(), at.size());
    const bool hovered = ImGui::IsItemHovered();
    if (clicked || pressed_by_key(frame)) out.push_back(SelectCost{card.item});
    const Theme& theme = frame.theme;
    frame.painter.rect(at.low, at.high, hovered ? theme.raised : theme.surface, frame.px(6));
    if (card.selected)
        frame.painter.outline(at.low, at.high, theme.accent, frame.px(1.5F), frame.px(6));
    const float pad = frame.px(10);
    const float left = at.low.x + pad;
    const float right = at.high.x - pad;
    float y = at.low.y + frame.px(6);
    const auto line = [&](const Font& font, float height, Color color, Align align,
                          const std::string& text) {
        draw_text_in(frame, font, {left, y}, {right, y + frame.px(height)}, align, color,
                     fit_text(frame, font, text, right - left));
    };
    line(frame.fonts.strong, 20, theme.role(card.role), Align::left, card.title);
    line(frame.fonts.strong, 20, card.fits ? theme.text : theme.bad, Align::right, card.value);
    y += frame.px(22);
    if (!card.limit.starts_with("T ≤"))
        line(frame.fonts.small, 16, theme.muted, Align::left, card.limit);
    else {  // with the ring that is at the longest T in the plot
        const float radius = frame.px(4), begin = left + 2.0F * radius + frame.px(kSpace8);
        frame.painter.ring({left + radius, y + frame.px(8)}, radius, theme.role(card.role),
                           frame.px(2));
        draw_fitted(frame, frame.fonts.small, {begin, y}, {right, y + frame.px(16)}, Align::left,
                    theme.muted, card.limit);
    }
    tooltip(frame, card.title, card.tooltip);
}

void draw_cards(const CostView& view, const Box& at, const Frame& frame, Actions& out) {
    const float gap = frame.px(8);
    const auto count = static_cast<float>(view.cards.size());
    const float width = (at.size().x - gap * (count - 1.0F)) / count;
    for (std::size_t n = 0; n < view.cards.size(); ++n) {
        const float x = at.low.x + (width + gap) * static_cast<float>(n);
        draw_card(view.cards[n], {{x, at.low.y}, {x + width, at.high.y}}, frame, out);
    }
}

/// The times beside the table of stages, or under it.
void draw_stages(const CostView& view, const Box& box, const Frame& frame, Actions& out) {
    const float gap = frame.px(kGap);
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const CostMeasureView& measure = view.measure;
    if (!measure.possible && measure.times.empty() && measure.text.empty() &&
        measure.machine.empty()) {
        draw_cost_table(view, {low, {box.high.x, low.y + table_height(view, frame)}}, frame, out);
        ImGui::SetCursorScreenPos({low.x, low.y + table_height(view, frame) - 1.0F});
        return leave_space({1.0F, 1.0F});
    }
    const bool narrow = box.size().x < frame.px(kNarrow);
    const float split = narrow ? box.high.x : box.high.x - frame.px(kTimes);
    const float bottom = low.y + table_height(view, frame);
    draw_cost_table(view, {low, {narrow ? box.high.x : split - gap, bottom}}, frame, out);
    const float times = narrow ? bottom + gap : low.y;
    const float end = times + (bottom - low.y);
    draw_cost_times(view, {{narrow ? low.x : split, times}, {box.high.x, end}}, frame, out);
    ImGui::SetCursorScreenPos({low.x, end - 1.0F});
    leave_space({1.0F, 1.0F});
}

/// The cards stay; what is under them scrolls.
void draw_numbers(const CostView& view, const Box& box, const Frame& frame, Actions& out) {
    const float bottom = box.low.y + frame.px(kCard);
    draw_cards(view, {box.low, {box.high.x, bottom}}, frame, out);
    const Box under{{box.low.x, bottom + frame.px(kGap)}, box.high};
    const bool scrolls = table_height(view, frame) > under.size().y;
    const float right = under.high.x - (scrolls ? ImGui::GetStyle().ScrollbarSize : 0.0F);
    panel("stage by stage", under, [&] {
        draw_stages(view, {under.low, {right, under.high.y}}, frame, out);
    });
}

}  // namespace

std::string draw_cost_workspace(const AppState& state, const WorkArea& r, const Frame& frame,
                                Actions& out) {
    const CostView view = build_cost_view(state);
    const Parts parts{.heading = {view.sentence, view.note, view.notes},
                      .hero = {"memory", "memory over tokens",
                               [&](const Box& box) { draw_curves(view, box, frame, out); }},
                      .others = {{"stages", "stage by stage",
                                  [&](const Box& box) { draw_numbers(view, box, frame, out); },
                                  CanvasPart::Where::below, 0.0F,
                                  [&](ImVec2 space) {
                                      return std::min(
                                          frame.px(kCard + kGap) + table_height(view, frame),
                                          kMostStages * space.y);
                                  }}},
                      .controls = [&](ControlBar& bar) { draw_cost_controls(view, bar); },
                      .status = view.status};
    return draw_parts(state, r, parts, frame, out);
}

extern const WorkspacePanel kCostPanel{"cost", draw_cost_workspace};

}  // namespace attn::ui

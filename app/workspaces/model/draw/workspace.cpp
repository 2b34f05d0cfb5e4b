#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "app/common/actions.h"
#include "app/common/colormap.h"
#include "app/common/document/actions.h"
#include "app/common/draw/axis_labels.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/grid_set.h"
#include "app/common/draw/items.h"
#include "app/common/draw/measured.h"
#include "app/common/draw/open_model.h"
#include "app/common/draw/parts.h"
#include "app/common/draw/word_field.h"
#include "app/common/inspector.h"
#include "app/common/state.h"
#include "app/workspaces/model/actions.h"
#include "app/workspaces/model/view.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kNames = 172.0F, kSpine = 40.0F;         // left of the words' columns
constexpr float kCosts = 132.0F;                         // right of them
constexpr float kLeastBars = 200.0F, kBarsShare = 0.3F;  // of the width
constexpr float kRowGap = 5.0F, kLeastRow = 3.0F, kHighestRow = 60.0F;
constexpr float kAnswerRow = 19.0F, kStagesRow = 18.0F;
constexpr float kBarRow = 16.0F;  // of a folded layer, which has a number
constexpr std::ptrdiff_t kFewFolded = 3;
constexpr float kTextField = 300.0F;
constexpr float kWordPitch = 1.5F;  // of a line: in narrower columns tokens have their usual place
// Heights of rows as parts of a common one.
constexpr float kFoldedShare = 0.42F, kHeadsShare = 2.6F, kWideShare = 1.5F;

/// Where everything stands.
struct StackLayout {
    float names = 0.0F, spine = 0.0F, low = 0.0F, high = 0.0F;  // low … high: the words' columns
    float costs = 0.0F, bars_low = 0.0F, bars_high = 0.0F;
    float top = 0.0F, bottom = 0.0F;  // of the rows
    std::vector<Box> rows;            // from the tokens up
    float pitch = 0.0F;               // of words
};

float share_of(const ModelRow& row) {
    switch (row.kind) {
        case ModelRowKind::layers:
            return kFoldedShare;
        case ModelRowKind::heads:
            return kHeadsShare;
        case ModelRowKind::answers:
        case ModelRowKind::stages:
            return 0.0F;
        case ModelRowKind::stage:
            break;
    }
    const bool wide = row.stage == ModelStage::mlp_hidden || row.stage == ModelStage::mlp_act ||
                      row.stage == ModelStage::mlp_gate;
    return wide ? kWideShare : 1.0F;
}

float gap_above(const ModelRow& row, const Frame& frame) {
    return row.kind == ModelRowKind::layers ? 1.0F : frame.px(kRowGap);
}

/// Heights as the space allows; answers have rows of their own height.
void lay_out_rows(const ModelView& view, StackLayout& at, const Frame& frame) {
    const float answers =
        view.answers.empty()
            ? 0.0F
            : std::min(frame.px(kAnswerRow) *
                           static_cast<float>(std::min<std::size_t>(view.answers.size(), 5)),
                       (at.bottom - at.top) * 0.24F);
    const float stages =
        std::min(frame.px(kStagesRow), std::max((at.bottom - at.top) * 0.05F, 2.0F));
    const auto folded =
        std::ranges::count(view.rows, ModelRowKind::layers, &ModelRow::kind) <= kFewFolded;
    // A few folded layers are high enough for the numbers of their bars.
    const auto named = [&](const ModelRow& row) {
        return folded && row.kind == ModelRowKind::layers
                   ? frame.px(kBarRow) * static_cast<float>(row.bars.size())
                   : 0.0F;
    };
    float shares = 0.0F, fixed = answers;
    for (const ModelRow& row : view.rows) {
        shares += named(row) > 0.0F ? 0.0F : share_of(row);
        fixed += gap_above(row, frame) + named(row);
        if (row.kind == ModelRowKind::stages) fixed += stages;
    }
    const float unit = within((at.bottom - at.top - fixed) / std::max(shares, 1.0F),
                              frame.px(kLeastRow), frame.px(kHighestRow));
    float y = at.bottom;
    for (const ModelRow& row : view.rows) {
        const float height = row.kind == ModelRowKind::answers  ? answers
                             : row.kind == ModelRowKind::stages ? stages
                             : named(row) > 0.0F                ? named(row)
                                                 : std::max(unit * share_of(row), 2.0F);
        at.rows.push_back({{at.low, std::round(y - height)}, {at.high, std::round(y)}});
        y -= height + gap_above(row, frame);
    }
    at.top = y;
}

std::vector<std::string> words_of(const ModelView& view) { return view.tokens; }

StackLayout lay_out_stack(const ModelView& view, const Box& box, const Frame& frame) {
    StackLayout at;
    const float width = box.size().x;
    at.names = box.low.x;
    at.spine = box.low.x + std::min(frame.px(kNames), width * 0.24F);
    at.low = at.spine + frame.px(kSpine);
    const bool bars = view.sum_high > view.sum_low;
    const float bars_width = bars ? std::max(frame.px(kLeastBars), width * kBarsShare) : 0.0F;
    at.bars_high = box.high.x - frame.px(kSpace8);
    at.bars_low = at.bars_high - bars_width;
    at.costs = at.bars_low - frame.px(kCosts);
    at.high = std::max(at.costs - frame.px(kSpace16), at.low + frame.px(60));
    at.pitch =
        (at.high - at.low) / static_cast<float>(std::max<std::size_t>(view.tokens.size(), 1));
    const auto words = words_of(view);
    const AxisLabels labels{words, at.pitch, Role::query, view.token, {}};
    at.bottom = box.high.y - column_labels_height(labels, frame);
    at.top = box.low.y + frame.px(kTextRow);
    lay_out_rows(view, at, frame);
    return at;
}

float middle(const Box& box) { return (box.low.y + box.high.y) / 2; }

// ---- the stream

/// The residual stream as a line that passes by what a layer computes, and where that joins it.
void draw_stream(const ModelView& view, const StackLayout& at, const Frame& frame) {
    const Color ink = frame.theme.role(Role::input);
    const float x = at.spine + frame.px(kSpine) * 0.36F;
    const float branch = at.low - frame.px(7);
    float last = -1.0F,
          from = -1.0F;  // middles of the last residual, and of the branch's first row
    for (std::size_t n = 0; n < view.rows.size(); ++n) {
        const ModelRow& row = view.rows[n];
        const float y = middle(at.rows[n]);
        if (!row.computed) break;
        if (last > 0.0F) frame.painter.line({x, y}, {x, last}, ink, frame.px(2.5F));
        if (row.in_layer && !row.adds && !row.residual && from < 0.0F && last > 0.0F) {
            from = y;
            frame.painter.line({x, (y + last) / 2}, {branch, (y + last) / 2}, frame.theme.control,
                               frame.px(1.5F));
            frame.painter.line({branch, (y + last) / 2}, {branch, y}, frame.theme.control,
                               frame.px(1.5F));
        } else if (from > 0.0F && last > 0.0F) {
            frame.painter.line({branch, y}, {branch, from}, frame.theme.control, frame.px(1.5F));
        }
        if (row.adds && from > 0.0F)
            frame.painter.line({branch, y}, {x, y}, frame.theme.control, frame.px(1.5F));
        if (row.residual) {
            frame.painter.line({x, y}, {at.low - frame.px(2), y}, ink, frame.px(2.5F));
            if (!row.adds) frame.painter.circle({x, y}, frame.px(3), ink);
        }
        if (row.adds) {
            const float r = frame.px(6);
            frame.painter.circle({x, y}, r, frame.theme.background);
            frame.painter.ring({x, y}, r, ink, frame.px(1.5F));
            frame.painter.line({x - r * 0.6F, y}, {x + r * 0.6F, y}, ink, frame.px(1.5F));
            frame.painter.line({x, y - r * 0.6F}, {x, y + r * 0.6F}, ink, frame.px(1.5F));
            from = -1.0F;
        }
        last = y;
    }
}

/// Behind the rows of the layer that is unfolded.
void draw_layer_box(const ModelView& view, const StackLayout& at, const Frame& frame) {
    float top = HUGE_VALF, bottom = -HUGE_VALF;
    for (std::size_t n = 0; n < view.rows.size(); ++n)
        if (view.rows[n].in_layer) {
            top = std::min(top, at.rows[n].low.y);
            bottom = std::max(bottom, at.rows[n].high.y);
        }
    if (bottom < top) return;
    const float out = frame.px(3);
    frame.painter.rect({at.names, top - out}, {at.bars_high, bottom + out}, frame.theme.surface,
                       frame.px(6));
    if (bottom - top < frame.px(60)) return;
    draw_rotated_text(frame, frame.fonts.small,
                      {at.names + frame.px(kSpace12), bottom - frame.px(kSpace8)}, -90.0F,
                      frame.theme.muted, fmt::format("layer {}", view.layer));
}

// ---- rows

void draw_name(const ModelRow& row, const Box& box, const StackLayout& at, const Frame& frame) {
    if (box.size().y < frame.fonts.small.px * 0.8F) return;
    const Color ink =
        row.kind == ModelRowKind::layers ? frame.theme.muted : frame.theme.role(row.role);
    const float inset = row.in_layer ? frame.px(24) : frame.px(4);
    draw_fitted(frame, row.residual ? frame.fonts.strong : frame.fonts.small,
                {at.names + inset, box.low.y}, {at.spine, box.high.y}, Align::right, ink, row.name);
}

/// A thin bar under the norm of a gradient.
void draw_gradient(const ModelRow& row, const Box& box, const StackLayout& at, const Frame& frame) {
    if (row.gradient.empty()) return;
    const float high = at.bars_low - frame.px(kSpace8);
    const float thick = std::min(frame.px(3), box.size().y);
    const float y = std::min(middle(box) + frame.fonts.small.px / 2, box.high.y - thick);
    const auto share = static_cast<float>(within(row.gradient_share, 0.0, 1.0));
    frame.painter.rect({at.costs, y},
                       {at.costs + std::max((high - at.costs) * share, 1.0F), y + thick},
                       frame.theme.role(Role::score));
    if (box.size().y >= frame.fonts.small.px * 0.8F)
        draw_fitted(frame, frame.fonts.small, {at.costs, box.low.y}, {high, box.high.y - thick},
                    Align::left, frame.theme.text, row.gradient);
    ImGui::SetCursorScreenPos({at.costs, box.low.y});
    invisible_button("gradient", {high - at.costs, box.size().y});
    tooltip(frame, row.name, row.gradient_tip);
}

void draw_cost(const ModelRow& row, const Box& box, const StackLayout& at, const Frame& frame) {
    if (row.cost.empty() || box.size().y < frame.fonts.small.px * 0.8F) return;
    draw_fitted(frame, frame.fonts.small, {at.costs, box.low.y},
                {at.bars_low - frame.px(kSpace8), box.high.y}, Align::left, frame.theme.muted,
                row.cost);
}

/// The token and column of a stage under the pointer.
large::Cell pointed_cell(const ModelRow& row, const Box& box) {
    const ImVec2 mouse = ImGui::GetMousePos();
    const auto part = [](float at, float low, float high, Index count) {
        const auto n = static_cast<Index>((at - low) / (high - low) * static_cast<float>(count));
        return std::clamp<Index>(n, 0, std::max<Index>(count, 1) - 1);
    };
    return {part(mouse.x, box.low.x, box.high.x, row.columns),
            part(mouse.y, box.low.y, box.high.y, row.rows)};
}

void draw_matrix(const ModelView& view, const ModelRow& row, const Box& box, const Frame& frame,
                 Actions& out) {
    ImGui::SetCursorScreenPos(box.low);
    const bool clicked = invisible_button("matrix", box.size());
    const bool pressed = pressed_by_key(frame, box.low, box.high);
    const bool hovered = ImGui::IsItemHovered();
    const Titled titled(frame.painter, [&] { return row.name; });
    frame.painter.image(row.pictures.front(), box.low, box.high);
    if (hovered) frame.painter.outline(box.low, box.high, frame.theme.text, frame.px(1));
    tooltip(frame, fmt::format("{}: {} × {}", row.name, row.columns, row.rows), row.tip);
    if (!clicked && !pressed) return;
    if (row.kind == ModelRowKind::layers) return out.push_back(ShowLayer{row.layer});
    const large::Cell cell = pressed ? large::Cell{view.token, 0} : pointed_cell(row, box);
    out.push_back(ShowModelStage{std::string(attn::info(*row.stage).key), cell.row, cell.column});
}

/// A square for each head, side by side.
void draw_heads(const ModelView& view, const ModelRow& row, const Box& box, const Frame& frame,
                Actions& out) {
    const auto count = static_cast<float>(row.pictures.size());
    const float gap = frame.px(kSpace4);
    const float pitch = std::min((box.size().x + gap) / count, (box.size().y + gap) * 2.0F);
    const ImVec2 size{std::max(pitch - gap, 2.0F), box.size().y};
    const float side = std::min(size.x, size.y);
    for (std::size_t head = 0; head < row.pictures.size(); ++head) {
        const ImVec2 low{box.low.x + pitch * static_cast<float>(head), box.low.y};
        const ImVec2 high{low.x + side, low.y + side};
        ImGui::PushID(static_cast<int>(head));
        ImGui::SetCursorScreenPos(low);
        const bool clicked = invisible_button("head", {side, side});
        const bool pressed = pressed_by_key(frame, low, high);
        frame.painter.image(row.pictures[head], low, high);
        const auto bar = std::ranges::find(row.bars, static_cast<Index>(head), &ModelBar::head);
        const bool chosen = static_cast<Index>(head) == view.shown_head;
        if (chosen || ImGui::IsItemHovered())
            frame.painter.outline({low.x - 1, low.y - 1}, {high.x + 1, high.y + 1},
                                  chosen ? frame.theme.accent : frame.theme.text, frame.px(1.5F));
        tooltip(frame, fmt::format("Head {}: {}", head, row.name), row.tip);
        if (clicked || pressed) {
            if (bar != row.bars.end()) out.push_back(SelectModelPart{bar->part});
            out.push_back(ShowHead{static_cast<Index>(head), {}, view.layer});
        }
        ImGui::PopID();
    }
}

/// The stages of attention side by side: a click shows one in Step.
void draw_stages(const ModelRow& row, const Box& box, const Frame& frame, Actions& out) {
    const Font& font = frame.fonts.small;
    const float pad = frame.px(kSpace8);
    float x = box.low.x;
    for (const AttentionStep& step : row.steps) {
        const float width = frame.text_width(font, step.text) + 2 * pad;
        if (x + width > box.high.x) break;  // of the rest Step's ribbon has the names
        const Box chip{{x, box.low.y}, {x + width, box.high.y}};
        ImGui::PushID(attn::info(step.stage).key.data());
        ImGui::SetCursorScreenPos(chip.low);
        const bool clicked = invisible_button("attention stage", chip.size());
        const bool pressed = pressed_by_key(frame, chip.low, chip.high);
        if (clicked || pressed) out.push_back(ShowAttentionStage{step.stage});
        const bool hovered = ImGui::IsItemHovered();
        tooltip(frame, step.text, step.tip);
        frame.painter.rect(chip.low, chip.high,
                           hovered ? frame.theme.raised : frame.theme.background, frame.px(4));
        frame.painter.outline(chip.low, chip.high,
                              step.selected ? frame.theme.accent : frame.theme.control,
                              frame.px(step.selected ? 1.5F : 1.0F), frame.px(4));
        draw_text_in(frame, font, chip.low, chip.high, Align::center, frame.theme.text, step.text);
        ImGui::PopID();
        x += width + frame.px(kSpace4);
    }
}

void draw_answers(const ModelView& view, const Box& box, const Frame& frame, Actions& out) {
    const float row = std::min(frame.px(kAnswerRow), box.size().y);
    const auto fit = static_cast<std::size_t>(std::max(box.size().y / row, 1.0F));
    const float name = std::min(box.size().x * 0.34F, frame.px(150));
    const float number = frame.px(56);
    for (std::size_t n = 0; n < std::min(fit, view.answers.size()); ++n) {
        const ModelAnswerBar& answer = view.answers[n];
        const float y = box.low.y + row * static_cast<float>(n);
        const Box line{{box.low.x, y}, {box.high.x, y + row}};
        ImGui::PushID(static_cast<int>(n));
        ImGui::SetCursorScreenPos(line.low);
        const bool clicked = invisible_button("answer", line.size());
        const bool pressed = pressed_by_key(frame, line.low, line.high);
        if (clicked || pressed) out.push_back(ExplainAnswer{answer.id});
        if (answer.selected || ImGui::IsItemHovered())
            frame.painter.rect(line.low, line.high, frame.theme.raised, frame.px(3));
        tooltip(frame, fmt::format("“{}”", answer.text), "Click to see its softmax and its logit.");
        draw_fitted(frame, n == 0 ? frame.fonts.strong : frame.fonts.body,
                    {line.low.x + frame.px(kSpace4), line.low.y},
                    {line.low.x + name - frame.px(kSpace8), line.high.y}, Align::right,
                    frame.theme.text, answer.text);
        const float space = line.size().x - name - number;
        const auto share = static_cast<float>(within(answer.probability, 0.0, 1.0));
        frame.painter.rect(
            {line.low.x + name, line.low.y + frame.px(4)},
            {line.low.x + name + std::max(space * share, 1.0F), line.high.y - frame.px(4)},
            frame.theme.role(Role::output), frame.px(2));
        draw_fitted(frame, frame.fonts.digits_small, {line.high.x - number, line.low.y}, line.high,
                    Align::right, frame.theme.muted, answer.number);
        ImGui::PopID();
    }
}

// ---- the sum

constexpr double kLeastNamed = 0.005;

float place_of_sum(const ModelView& view, const StackLayout& at, const Frame& frame, double value) {
    const float inset = frame.px(44);  // for numbers beside the bars
    const double share = (value - view.sum_low) / (view.sum_high - view.sum_low);
    return at.bars_low + inset +
           static_cast<float>(share) * (at.bars_high - at.bars_low - 2 * inset);
}

void draw_bar_of_sum(const ModelView& view, const ModelBar& bar, const Box& line,
                     const StackLayout& at, const Frame& frame, Actions& out) {
    const float from = place_of_sum(view, at, frame, bar.start);
    const float to = place_of_sum(view, at, frame, bar.end);
    ImGui::SetCursorScreenPos(line.low);
    const bool clicked = invisible_button("bar", line.size());
    const bool pressed = pressed_by_key(frame, line.low, line.high);
    const bool hovered = ImGui::IsItemHovered();
    if ((clicked || pressed) && !bar.part) out.push_back(ShowLayer{bar.layer});
    if ((clicked || pressed) && bar.part) {
        out.push_back(SelectModelPart{bar.part});
        if (bar.head >= 0) out.push_back(ShowHead{bar.head, {}, bar.layer});
    }
    tooltip(frame, bar.name, bar.tip);
    const Color ink =
        view::color_at(ColorScale::diverging, bar.end >= bar.start ? 0.86 : 0.14, frame.theme.name);
    const float inset = line.size().y > frame.px(8) ? frame.px(1) : 0.0F;
    const float low = std::min(from, to), high = std::max({from, to, low + 1.0F});
    frame.painter.rect({low, line.low.y + inset}, {high, line.high.y - inset}, ink);
    if (bar.selected || hovered)
        frame.painter.outline({low - 1, line.low.y}, {high + 1, line.high.y},
                              bar.selected ? frame.theme.accent : frame.theme.text, frame.px(1.5F));
    if (line.size().y < frame.fonts.small.px * 0.92F) return;
    if (std::abs(bar.end - bar.start) < kLeastNamed) return;  // it would read 0.00
    const bool right = bar.end >= bar.start;
    // With its name, where a side has space for it.
    std::string text = bar.name + " " + bar.text;
    const float space = std::max(at.bars_high - high, low - at.bars_low);
    if (frame.text_width(frame.fonts.small, text) + frame.px(kSpace4) > space) text = bar.text;
    const float width = frame.text_width(frame.fonts.small, text) + frame.px(kSpace4);
    const bool fits_right = high + width <= at.bars_high;
    const float x =
        right == fits_right || low - width < at.bars_low ? high + frame.px(kSpace4) : low - width;
    draw_text_in(frame, frame.fonts.small, {x, line.low.y}, {x + width, line.high.y}, Align::left,
                 frame.theme.text, text);
}

/// Bars from sum to sum, the first at the bottom, with a line from each to the next.
void draw_sum(const ModelView& view, const StackLayout& at, const Frame& frame, Actions& out) {
    if (view.sum_high <= view.sum_low) return;
    const float zero = place_of_sum(view, at, frame, 0.0);
    float x = zero, y = at.bottom;
    frame.painter.line({zero, at.top}, {zero, at.bottom}, frame.theme.line, frame.px(1));
    int id = 0;
    for (std::size_t n = 0; n < view.rows.size(); ++n) {
        const ModelRow& row = view.rows[n];
        if (!row.computed) return;
        const auto count = static_cast<float>(std::max<std::size_t>(row.bars.size(), 1));
        const bool answers = row.kind == ModelRowKind::answers;
        const float height =
            std::min(at.rows[n].size().y / count, answers ? frame.px(kAnswerRow) : HUGE_VALF);
        for (std::size_t k = 0; k < row.bars.size(); ++k) {
            const float bottom = at.rows[n].high.y - height * static_cast<float>(k);
            const Box line{{at.bars_low, bottom - height}, {at.bars_high, bottom}};
            frame.painter.line({x, y}, {x, bottom}, frame.theme.control, frame.px(1));
            ImGui::PushID(id++);
            draw_bar_of_sum(view, row.bars[k], line, at, frame, out);
            ImGui::PopID();
            x = place_of_sum(view, at, frame, row.bars[k].end);
            y = bottom - height;
        }
    }
    if (view.rows.empty() || view.rows.back().kind != ModelRowKind::answers) return;
    const Box& top = at.rows.back();
    const float end = middle(top) - frame.px(kTextRow) / 2;
    frame.painter.line({x, y}, {x, end + frame.px(kTextRow)}, frame.theme.text, frame.px(1.5F));
    const float half = frame.px(60);
    const float centre = within(x, at.bars_low + half, at.bars_high - half);
    draw_text_in(frame, frame.fonts.strong, {centre - half, end},
                 {centre + half, end + frame.px(kTextRow)}, Align::center, frame.theme.text,
                 view.sum_text);
}

/// The titles of the columns at the right.
void draw_heads_of_columns(const ModelView& view, const Box& box, const StackLayout& at,
                           const Frame& frame) {
    const float bottom = box.low.y + frame.px(kTextRow);
    const auto head = [&](float low, float high, Align align, const std::string& text) {
        draw_fitted(frame, frame.fonts.small, {low, box.low.y}, {high, bottom}, align,
                    frame.theme.muted, text);
    };
    head(at.costs, at.bars_low - frame.px(kSpace8), Align::left,
         view.gradients ? "‖∂L/∂ output‖" : "parameters · FLOP");
    if (view.sum_high > view.sum_low)
        head(at.bars_low, at.bars_high, Align::center, "sum: " + view.sum_name);
    if (!view.answers.empty()) head(at.low, at.high, Align::left, view.answers_name);
}

// ---- the picture

/// Beneath its column a word rises to it and ends there.
void draw_tokens_beneath(const AxisLabels& labels, const StackLayout& at, float height,
                         const Frame& frame) {
    const Font& font = frame.fonts.small;
    if (height <= 2.0F * font.px || labels.pitch < font.px * kWordPitch)
        return draw_column_labels(labels, frame, at.low, at.bottom + height);
    const float half = std::numbers::sqrt2_v<float> / 2;
    float middle = at.low + at.pitch / 2 + font.px / 4;
    for (Index n = 0; n < std::ssize(labels.text); ++n, middle += at.pitch) {
        const std::string& word = labels.text[static_cast<std::size_t>(n)];
        const float width = std::min(frame.text_width(font, word), (height - font.px) / half);
        draw_rotated_text(
            frame, font, {middle - width * half, at.bottom + font.px / 2 + width * half}, -45.0F,
            labels.focus == n || labels.selected == n ? frame.theme.query : frame.theme.text,
            fit_text(frame, font, word, width + 1.0F));
    }
    record_rect_for_tests(frame.painter, Measuring::Kind::labels, {at.names, at.bottom},
                          {middle, at.bottom + height});
}

void draw_words(const ModelView& view, const StackLayout& at, const Frame& frame, Actions& out) {
    const auto words = words_of(view);
    const AxisLabels labels{words, at.pitch, Role::query, view.token, {}};
    const float height = column_labels_height(labels, frame);
    draw_tokens_beneath(labels, at, height, frame);
    for (std::size_t t = 0; t < view.tokens.size(); ++t) {
        const float x = at.low + at.pitch * static_cast<float>(t);
        ImGui::PushID(static_cast<int>(t));
        ImGui::SetCursorScreenPos({x, at.bottom});
        const bool clicked = invisible_button("word", {at.pitch, height});
        const bool pressed =
            pressed_by_key(frame, {x, at.bottom}, {x + at.pitch, at.bottom + height});
        if (clicked || pressed) out.push_back(SelectModelToken{static_cast<Index>(t)});
        tooltip(frame, view.tokens[t], "Click to see what happens to this token.");
        ImGui::PopID();
    }
}

void draw_stack(const ModelView& view, const Box& box, const Frame& frame, Actions& out) {
    const StackLayout at = lay_out_stack(view, box, frame);
    draw_heads_of_columns(view, box, at, frame);
    draw_layer_box(view, at, frame);
    draw_stream(view, at, frame);
    for (std::size_t n = 0; n < view.rows.size(); ++n) {
        const ModelRow& row = view.rows[n];
        const Box& place = at.rows[n];
        draw_name(row, place, at, frame);
        if (row.marked)
            frame.painter.rect({at.names, place.low.y}, {at.names + frame.px(3), place.high.y},
                               frame.theme.accent);
        if (!view.gradients) draw_cost(row, place, at, frame);
        if (!row.computed) {
            frame.painter.outline(place.low, place.high, frame.theme.line, frame.px(1));
            continue;
        }
        ImGui::PushID(static_cast<int>(n));
        if (view.gradients) draw_gradient(row, place, at, frame);
        if (row.kind == ModelRowKind::answers)
            draw_answers(view, place, frame, out);
        else if (row.kind == ModelRowKind::stages)
            draw_stages(row, place, frame, out);
        else if (row.kind == ModelRowKind::heads)
            draw_heads(view, row, place, frame, out);
        else
            draw_matrix(view, row, place, frame, out);
        ImGui::PopID();
    }
    ImGui::PushID("sum");
    draw_sum(view, at, frame, out);
    ImGui::PopID();
    draw_words(view, at, frame, out);
    const float x = at.low + at.pitch * static_cast<float>(view.token);
    for (std::size_t n = 0; n < view.rows.size(); ++n)
        if (view.rows[n].rows > 0 && view.rows[n].kind != ModelRowKind::heads)
            frame.painter.outline({x, at.rows[n].low.y - 1}, {x + at.pitch, at.rows[n].high.y + 1},
                                  frame.theme.accent, frame.px(1.5F));
    record_rect_for_tests(frame.painter, Measuring::Kind::cells, {at.low, at.top},
                          {at.high, at.bottom});
    record_rect_for_tests(frame.painter, Measuring::Kind::labels, box.low, box.high);
}

// ---- one matrix

void draw_map(const ModelView& view, const view::ModelLook& look, const Box& box,
              const Frame& frame, Actions& out) {
    const float top = box.low.y + frame.px(kTitleRow);
    draw_fitted(frame, frame.fonts.strong, box.low, {box.high.x, top}, Align::left,
                frame.theme.text,
                fmt::format("{}: {} tokens across", view.map_title, view.map_shape));
    const auto words = words_of(view);
    const float pitch = box.size().x / static_cast<float>(std::max<std::size_t>(words.size(), 1));
    const AxisLabels labels{words, pitch, Role::query, view.token, {}};
    const float height = column_labels_height(labels, frame);
    const Box cells{{box.low.x, top}, {box.high.x, box.high.y - height}};
    draw_column_labels(labels, frame, cells.low.x, box.high.y);
    ModelRow row;
    row.rows = view.map_columns;
    row.columns = view.map_rows;
    ImGui::SetCursorScreenPos(cells.low);
    const bool clicked = invisible_button("map", cells.size());
    frame.painter.image(*view.map, cells.low, cells.high);
    const large::Cell cell = pointed_cell(row, cells);
    tooltip(frame, fmt::format("[{}, {}]", cell.row, cell.column), "Click to see its arithmetic.");
    if (clicked) out.push_back(ShowModelStage{look.stage, cell.row, cell.column});
    const float across = (static_cast<float>(view.token) + 0.5F) * pitch;
    if (!look.column) return;
    const float down = (static_cast<float>(*look.column) + 0.5F) /
                       static_cast<float>(std::max<Index>(view.map_columns, 1)) * cells.size().y;
    frame.painter.ring({cells.low.x + across, cells.low.y + down}, frame.px(7), frame.theme.accent,
                       frame.px(2));
    record_rect_for_tests(frame.painter, Measuring::Kind::cells, cells.low, cells.high);
}

void draw_one_matrix(const ModelView& view, const view::ModelLook& look, const Box& box,
                     const Frame& frame, Actions& out) {
    if (view.map) return draw_map(view, look, box, frame, out);
    const auto done = draw_grid_set({&*view.grid, 1}, box.low, box.high, frame);
    if (done.clicked)
        out.push_back(ShowModelStage{look.stage, done.clicked->row, done.clicked->column});
}

// ---- without a model

constexpr float kKnownName = 120.0F, kKnownCount = 72.0F, kKnownPairs = 64.0F;  // columns
constexpr float kHighestKnown = 120.0F;                                         // of a row

Color part_color(std::size_t part, const Theme& theme) {
    constexpr Role kRoles[] = {Role::input, Role::query, Role::value, Role::score};
    return theme.role(kRoles[part % std::size(kRoles)]);
}

/// Names of the parts in their colours, and of the columns at the right.
void draw_known_heads(const ModelView& view, const Box& line, float low, float high,
                      const Frame& frame) {
    float x = low;
    for (std::size_t part = 0; part < view.known_parts.size(); ++part) {
        const float square = frame.px(10);
        const float y = middle(line) - square / 2;
        const float needed = frame.text_width(frame.fonts.small, view.known_parts[part]);
        if (x + square + frame.px(kSpace8) + needed > high) break;  // the numbers begin there
        frame.painter.rect({x, y}, {x + square, y + square}, part_color(part, frame.theme),
                           frame.px(2));
        x += square + frame.px(kSpace8);
        draw_text_in(frame, frame.fonts.small, {x, line.low.y}, {x + needed, line.high.y},
                     Align::left, frame.theme.text, view.known_parts[part]);
        x += needed + frame.px(kSpace16);
    }
    const float caption = line.low.y - line.size().y;
    draw_text_in(frame, frame.fonts.small, {high, caption}, {line.high.x, line.low.y}, Align::right,
                 frame.theme.muted, view.known_caption);
    for (std::size_t n = 0; n < view.known_contexts.size(); ++n) {
        const float left = high + frame.px(kKnownPairs) * static_cast<float>(n);
        draw_text_in(frame, frame.fonts.small, {left, line.low.y},
                     {left + frame.px(kKnownPairs), line.high.y}, Align::right, frame.theme.muted,
                     view.known_contexts[n]);
    }
}

void draw_known_row(const KnownModelRow& row, const Box& line, float low, float high,
                    const Frame& frame) {
    ImGui::SetCursorScreenPos(line.low);
    invisible_button("known", line.size());
    tooltip(frame, row.name, row.tip);
    draw_fitted(frame, frame.fonts.strong, line.low, {low, line.high.y}, Align::left,
                frame.theme.text, row.name);
    draw_fitted(frame, frame.fonts.digits, line.low, {low - frame.px(kSpace12), line.high.y},
                Align::right, frame.theme.muted, row.parameters);
    const float height = std::min(line.size().y * 0.62F, frame.px(36));
    float x = low;
    for (std::size_t part = 0; part < row.shares.size(); ++part) {
        const float to =
            x + (high - frame.px(kSpace16) - low) * static_cast<float>(row.shares[part]);
        const Box bar{{x, middle(line) - height / 2}, {to, middle(line) + height / 2}};
        frame.painter.rect(bar.low, {std::max(to - 1.0F, x + 1.0F), bar.high.y},
                           part_color(part, frame.theme));
        const float width = frame.text_width(frame.fonts.small, row.texts[part]);
        if (to - x > width + frame.px(kSpace8))
            draw_text_in(frame, frame.fonts.small, bar.low, bar.high, Align::center,
                         frame.theme.background, row.texts[part]);
        x = to;
    }
    for (std::size_t n = 0; n < row.pairs.size(); ++n) {
        const float left = high + frame.px(kKnownPairs) * static_cast<float>(n);
        draw_text_in(frame, frame.fonts.digits, {left, line.low.y},
                     {left + frame.px(kKnownPairs), line.high.y}, Align::right, frame.theme.text,
                     row.pairs[n]);
    }
}

void draw_known(const ModelView& view, const Box& box, const Frame& frame) {
    const float low = box.low.x + frame.px(kKnownName + kKnownCount);
    const float high =
        box.high.x - frame.px(kKnownPairs) * static_cast<float>(view.known_contexts.size());
    const float line = frame.px(kTitleRow);
    const Box heads{{box.low.x, box.low.y + line}, {box.high.x, box.low.y + 2 * line}};
    draw_known_heads(view, heads, low, high, frame);
    const float row = std::min((box.high.y - heads.high.y) / static_cast<float>(view.known.size()),
                               frame.px(kHighestKnown));
    float y = heads.high.y;
    for (std::size_t n = 0; n < view.known.size(); ++n, y += row) {
        ImGui::PushID(static_cast<int>(n));
        draw_known_row(view.known[n], {{box.low.x, y}, {box.high.x, y + row}}, low, high, frame);
        ImGui::PopID();
    }
    record_rect_for_tests(frame.painter, Measuring::Kind::chart, {low, heads.high.y}, {high, y});
    record_rect_for_tests(frame.painter, Measuring::Kind::labels, box.low, {box.high.x, y});
}

// ---- the bar

void draw_model_bar(const AppState& state, const ModelView& view, ControlBar& bar) {
    if (view.can_open) {
        open_model_button(bar, "pronouns");
        if (bar.button("open", "Open a model…", {"Open a model's folder", "Key: Ctrl+O"}))
            bar.out.push_back(ShowPrompt{PromptKind::open});
        return;
    }
    if (view.shows_known) {
        if (bar.button("known", "Back to the model", {"Show the opened model again", "Key: Esc"}))
            bar.out.push_back(ShowKnownModels{false});
        return;
    }
    const bool large = view.grid || view.map;
    if (large &&
        bar.button("back", "Back to the stack", {"Show the whole model again", "Key: Esc"}))
        bar.out.push_back(ShowModelStage{});
    if (!view.back.empty() &&
        bar.button("return", "Back to " + view.back,
                   {"Return to the number explained before", "Keys: Backspace, Esc"}))
        if (const auto before = view::previous_cell(state)) bar.out.push_back(*before);
    if (view.steps > 0 && bar.button("stages", "Stages of attention",
                                     {"Go through the attention of this layer in Step", "Key: W"}))
        bar.out.push_back(ShowAttentionStage{});
    if (view.reads_text && bar.take(bar.frame.px(kTextField)))
        model_text_field("##text", state.sentence_draft, bar.frame.px(kTextField),
                         view::vocabulary_of(state), bar.frame, bar.out);
    if (!large && view.steps > 0 &&
        bar.button("compute", "Compute upward",
                   {"Compute the picture from the tokens up, one row at a time", "Key: Space"})) {
        const Index next = view.until.value_or(0) + 1;
        bar.out.push_back(ComputeModelTo{next < view.steps ? std::optional(next) : std::nullopt});
    }
    if (view.layers > 1)
        if (const auto layer = bar.number("##layer", "layer", view.layer, 0, view.layers - 1,
                                          {"Layer that is unfolded", "Keys: ↑ ↓"}))
            bar.out.push_back(ShowLayer{*layer});
    if (view.has_difference) bar.field<ShowLogitDifference>(view::model_look(state));
    if (!view.answers.empty()) bar.field<ShowBlockGradients>(view::model_look(state));
    if (!view.head.empty() &&
        bar.button("head", view.head, {"Show this head in the workspace Heads", "Key: Enter"}))
        bar.out.push_back(SetWorkspace{"heads"});
    if (bar.button("known", "Known models",
                   {"Parameters of GPT-2, GPT-3, Llama 3 and DeepSeek-V3", "Key: K"}))
        bar.out.push_back(ShowKnownModels{true});
}

std::string draw_model_workspace(const AppState& state, const WorkArea& area, const Frame& frame,
                                 Actions& out) {
    const ModelView view = build_model_view(state);
    const view::ModelLook& look = view::model_look(state);
    Parts parts{.missing_data = view.missing_data,
                .heading = {view.headline, view.muted},
                .hero = {"model", "whole model",
                         [&](const Box& box) {
                             if (view.shows_known)
                                 draw_known(view, box, frame);
                             else if (view.grid || view.map)
                                 draw_one_matrix(view, look, box, frame, out);
                             else
                                 draw_stack(view, box, frame, out);
                         }},
                .status = view.status};
    parts.controls = [&](ControlBar& bar) { draw_model_bar(state, view, bar); };
    return draw_parts(state, area, parts, frame, out);
}

}  // namespace

extern const WorkspacePanel kModelPanel{"model", draw_model_workspace};

}  // namespace attn::ui

#include <cmath>

#include <fmt/format.h>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/items.h"
#include "app/common/draw/math.h"
#include "app/common/draw/measured.h"
#include "app/common/draw/parts.h"
#include "app/common/draw/plot.h"
#include "app/common/format.h"
#include "app/workspaces/numerics/actions.h"
#include "app/workspaces/numerics/view.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kLeastSlot = 3.0F, kWidestBar = 44.0F;
constexpr float kNumbered = 40.0F;  // of a slot that has its number
constexpr double kNanInk = 0.35;
constexpr float kRow = 172.0F;
constexpr float kFormats = 92.0F;  // width of their names
constexpr float kHeading = 44.0F, kLeastCell = 30.0F, kLeastCause = 40.0F;
constexpr float kVerdict = 52.0F, kLowCell = 68.0F;  // a lower one has its verdict beside its bars
constexpr float kPlotShare = 0.3F;                   // of the height
constexpr float kNumericsKeys = 16.0F;               // height of the numbers of keys

/// Where the bars stand: between 0 and `end`, cut into slots of one or more keys.
struct Slots {
    const NumericsCellView& cell;
    double end;  // weight of the highest bar
    ImVec2 low, high;
    std::size_t count = 1;

    float width() const { return (high.x - low.x) / static_cast<float>(count); }
    float left(std::size_t n) const { return low.x + width() * static_cast<float>(n); }
    float y(double weight) const {
        return high.y - (high.y - low.y) * static_cast<float>(within(weight / end, 0.0, 1.0));
    }
    std::size_t first_key(std::size_t n) const { return n * cell.bars.size() / count; }
    std::size_t slot_of(std::size_t key) const {
        std::size_t n = key * count / cell.bars.size();
        while (n + 1 < count && first_key(n + 1) <= key) ++n;
        return n;
    }
    /// NaN before all, else the key with the largest weight.
    std::size_t shown_key(std::size_t n) const {
        std::size_t best = first_key(n);
        for (std::size_t j = best; j < first_key(n + 1); ++j) {
            if (std::isnan(cell.bars[j].weight)) return j;
            if (cell.bars[j].weight > cell.bars[best].weight) best = j;
        }
        return best;
    }
    std::size_t key_under(float x) const {
        const float at = (x - low.x) / std::max(width(), 1e-3F);
        const auto n = static_cast<std::size_t>(within(at, 0.0F, static_cast<float>(count - 1)));
        return shown_key(n);
    }
};

float bar_width(const Slots& slots, const Frame& frame) {
    const float gap = slots.width() > frame.px(8) ? frame.px(4) : slots.width() * 0.2F;
    return std::min(slots.width() - gap, frame.px(kWidestBar));
}

/// NaN fills its slot in the colour of NaN.
void draw_nan(const Slots& slots, std::size_t n, const Frame& frame) {
    const float x = slots.left(n) + (slots.width() - bar_width(slots, frame)) / 2;
    const ImVec2 low{x, slots.low.y};
    const ImVec2 high{x + bar_width(slots, frame), slots.high.y};
    frame.painter.rect(low, high, view::translucent(frame.theme.nan, kNanInk));
}

/// Above the bar and the mark of the exact weight, in the softmax that is explained.
void draw_number(const Slots& slots, std::size_t n, const NumericsBar& bar, const Frame& frame) {
    const Font& font = frame.fonts.digits_small;
    if (!slots.cell.selected || slots.width() < frame.px(kNumbered)) return;
    const float bottom = slots.y(std::fmax(bar.weight, bar.exact)) - frame.px(1);
    draw_text_in(frame, font, {slots.left(n), bottom - font.px},
                 {slots.left(n) + slots.width(), bottom}, Align::center, frame.theme.text,
                 view::weight_text(bar.weight));
}

void draw_bar(const Slots& slots, std::size_t n, const Frame& frame) {
    const NumericsBar& bar = slots.cell.bars[slots.shown_key(n)];
    if (std::isnan(bar.weight)) return draw_nan(slots, n, frame);
    const float width = bar_width(slots, frame);
    const float x = slots.left(n) + (slots.width() - width) / 2;
    const float top = std::min(slots.y(bar.weight), slots.high.y - frame.px(1));
    frame.painter.rect({x, top}, {x + width, slots.high.y}, frame.theme.role(Role::weight));
    draw_number(slots, n, bar, frame);
}

/// Where the exact weight is: a line across the slot.
void draw_exact(const Slots& slots, std::size_t n, const Frame& frame) {
    const NumericsBar& bar = slots.cell.bars[slots.shown_key(n)];
    if (std::isnan(bar.exact)) return;
    const float y = std::round(slots.y(bar.exact));
    frame.painter.line({slots.left(n) + frame.px(1), y},
                       {slots.left(n) + slots.width() - frame.px(1), y}, frame.theme.text,
                       frame.px(1));
}

void draw_cross(ImVec2 at, const Frame& frame) {
    const float arm = frame.px(4);
    const Color color = frame.theme.bad;
    frame.painter.line({at.x - arm, at.y - arm}, {at.x + arm, at.y + arm}, color, frame.px(2));
    frame.painter.line({at.x - arm, at.y + arm}, {at.x + arm, at.y - arm}, color, frame.px(2));
}

void draw_keys(const Slots& slots, float top, const Frame& frame) {
    const Font& font = frame.fonts.digits_small;
    const float needed =
        frame.text_width(font, std::to_string(slots.cell.bars.size())) + frame.px(6);
    const auto stride = static_cast<std::size_t>(std::max(1.0F, std::ceil(needed / slots.width())));
    for (std::size_t n = 0; n < slots.count; n += stride)
        draw_text_in(frame, font, {slots.left(n), top},
                     {slots.left(n) + slots.width(), top + frame.px(kNumericsKeys)}, Align::center,
                     frame.theme.key, std::to_string(slots.first_key(n)));
}

/// A ring around the key that is explained.
void draw_selected(const Slots& slots, const Frame& frame) {
    if (!slots.cell.selected) return;
    const float left = slots.left(slots.slot_of(static_cast<std::size_t>(*slots.cell.selected)));
    const float right = left + std::max(slots.width(), frame.px(3));
    draw_ring(frame.painter, {left, slots.low.y - frame.fonts.digits_small.px},
              {right, slots.high.y + frame.px(3)}, frame.theme, frame.scale);
}

/// × above the key where the row broke.
void draw_broken(const Slots& slots, const Frame& frame) {
    const std::size_t n = slots.slot_of(static_cast<std::size_t>(*slots.cell.broken_key));
    draw_cross({slots.left(n) + slots.width() / 2, slots.low.y - frame.px(6)}, frame);
}

/// How far off it is; where it broke also why.
void draw_head(const NumericsCellView& cell, ImVec2 low, ImVec2 high, const Frame& frame) {
    const Theme& theme = frame.theme;
    const Color colors[] = {theme.good, theme.warning, theme.bad};
    const ImVec2 bottom{high.x, low.y + frame.px(kTableRow)};
    const std::string text = "● " + cell.text.substr(0, cell.text.find(" ulp"));
    const float width = frame.text_width(frame.fonts.strong, text) + frame.px(10);
    draw_text_in(frame, frame.fonts.strong, low, bottom, Align::left,
                 colors[static_cast<std::size_t>(cell.verdict)], text);
    const float space = high.x - low.x - width;
    if (cell.verdict != NumericsVerdict::broken || space < frame.px(kLeastCause)) return;
    draw_text_in(frame, frame.fonts.small, {low.x + width, low.y}, bottom, Align::left,
                 frame.theme.muted, fit_text(frame, frame.fonts.small, cell.cause, space));
}

void explain(const Slots& slots, const Frame& frame) {
    const std::size_t j = slots.key_under(ImGui::GetMousePos().x);
    const NumericsBar& bar = slots.cell.bars[j];
    tooltip(frame, fmt::format("key {}: {}", j, view::number(bar.weight)),
            fmt::format("exact {}\n{}: {}", view::number(bar.exact), slots.cell.text,
                        slots.cell.cause));
}

void read(const Slots& slots, ImVec2 low, ImVec2 high, const Frame& frame, Actions& out) {
    const NumericsCellView& cell = slots.cell;
    ImGui::SetCursorScreenPos(low);
    ImGui::PushID(static_cast<int>(cell.algorithm) * 16 + static_cast<int>(cell.format));
    const bool clicked = invisible_button("cell", {high.x - low.x, high.y - low.y});
    const auto select = [&](Index key) {
        out.push_back(SelectNumericsCell{cell.algorithm, cell.format, key});
    };
    if (clicked) select(static_cast<Index>(slots.key_under(ImGui::GetMousePos().x)));
    explain(slots, frame);
    if (focus_stop(frame)) {
        const int steps = arrow_steps(frame);
        const Index from = cell.selected.value_or(0);
        if (steps != 0 || take_key(frame, Key::enter))
            select(within<Index>(from + steps, 0, std::ssize(cell.bars) - 1));
    }
    ImGui::PopID();
}

/// One softmax in one format, within `low` … `high`: its verdict, and a bar for each key with a mark where the exact
/// weight is. Of more keys than there is room for, some share a bar: the largest weight, NaN before all.
/// A click selects the key; so do ← and → while it has the keyboard. `end`: weight of the highest bar there can be;
/// `numbers`: of the keys, beneath the box.
void draw_numerics_cell(const NumericsCellView& cell, ImVec2 low, ImVec2 high, double end,
                        bool numbers, const Frame& frame, Actions& out) {
    const float pad = frame.px(kSpace8);
    if (cell.selected) frame.painter.rect(low, high, frame.theme.raised, frame.px(6));
    const ImVec2 inner{low.x + pad, low.y + frame.px(2)};
    const bool beside = high.y - low.y < frame.px(kLowCell);
    const float number = frame.fonts.digits_small.px;  // of a bar as high as can be
    const float above = beside ? frame.px(kSpace8) : frame.px(kTableRow) + number;
    Slots slots{cell,
                end,
                {inner.x + (beside ? frame.px(kVerdict) : 0.0F), inner.y + above},
                {high.x - pad, high.y - frame.px(5)}};
    slots.high.y = std::max(slots.high.y, slots.low.y + frame.px(8));
    const float space = (slots.high.x - slots.low.x) / frame.px(kLeastSlot);
    slots.count =
        within<std::size_t>(static_cast<std::size_t>(std::max(space, 1.0F)), 1, cell.bars.size());
    draw_head(cell, inner, {beside ? slots.low.x : high.x - pad, high.y}, frame);
    frame.painter.line({slots.low.x, slots.high.y}, slots.high, frame.theme.control, frame.px(1));
    for (std::size_t n = 0; n < slots.count; ++n) draw_bar(slots, n, frame);
    for (std::size_t n = 0; n < slots.count; ++n) draw_exact(slots, n, frame);
    if (numbers) draw_keys(slots, high.y, frame);
    draw_selected(slots, frame);
    if (cell.broken_key) draw_broken(slots, frame);
    read(slots, low, high, frame, out);
}

// --- the row of logits

void draw_rows(const NumericsView& view, ControlBar& bar) {
    const Tip tip{"The row of logits",
                  "Example rows, or the row of the document that is selected in Step."};
    const auto chosen =
        bar.combo("##row", {view.row_names, view.row_choice, view.row_shown}, kRow, tip);
    if (chosen) bar.out.push_back(view::chosen_row(static_cast<std::size_t>(*chosen)));
}

void draw_logits(const NumericsView& view, ControlBar& bar) {
    const Tip tip{"the logits x, one for each key",
                  "Click to type comma-separated numbers; inf, -inf and nan are allowed."};
    if (auto logits = bar.logits("x", view.logits, Logits::any, tip))
        bar.out.push_back(SetNumericsLogits{*std::move(logits)});
}

void draw_numerics_controls(const NumericsView& view, ControlBar& bar) {
    draw_rows(view, bar);
    draw_logits(view, bar);
    bar.field<SetNumericsGain>(view.controls);
}

// --- the matrix

/// Columns of algorithms, right of the formats' names.
struct Columns {
    float left, width, gap;
    float x(std::size_t n) const { return left + (width + gap) * static_cast<float>(n); }
};

Columns columns_in(const Box& at, std::size_t count, const Frame& frame) {
    const float gap = frame.px(kSpace12);
    const float left = at.low.x + frame.px(kFormats);
    const auto n = static_cast<float>(count);
    return {left, std::max(1.0F, (at.high.x - left - gap * (n - 1.0F)) / n), gap};
}

/// "naive", and its formula in what is left of the width.
void draw_heading(const NumericsColumn& column, const Box& at, const Frame& frame) {
    const bool large = frame.text_width(frame.fonts.title, column.title) <= at.size().x;
    const Font& font = large ? frame.fonts.title : frame.fonts.strong;
    draw_text_in(frame, font, at.low, at.high, Align::left, frame.theme.text, column.title);
    const float after = at.low.x + frame.text_width(font, column.title) + frame.px(14);
    const auto box = fitted_math(frame, column.tex, kSmallFormula, at.high.x - after);
    if (!box || box->width > at.high.x - after) return;
    const float slack = std::max(at.high.y - at.low.y - box->ascent - box->descent, 0.0F) / 2;
    draw_formula(frame, *box, {after, at.low.y + slack + box->ascent});
}

void draw_format(const NumericsFormatRow& row, const Box& at, const Frame& frame) {
    ImGui::SetCursorScreenPos(at.low);
    invisible_button(row.title.c_str(), at.size());
    tooltip(frame, row.title, row.tooltip);
    const float y = at.low.y + frame.px(4);
    const float line = y + frame.px(22);
    const float bottom = line + frame.fonts.small.px + frame.px(2);
    draw_text_in(frame, frame.fonts.strong, {at.low.x, y}, {at.high.x, line}, Align::left,
                 frame.theme.role(row.role), row.title);
    if (bottom <= at.high.y)
        draw_text_in(frame, frame.fonts.small, {at.low.x, line}, {at.high.x, bottom}, Align::left,
                     frame.theme.muted, row.largest);
}

void draw_matrix(const NumericsView& view, const Columns& columns, const Box& at,
                 const Frame& frame, Actions& out) {
    const float gap = frame.px(kSpace4);
    const auto rows = static_cast<float>(view.rows.size());
    const float numbers = frame.px(kNumericsKeys);
    const float height = (at.high.y - at.low.y - numbers - gap * (rows - 1.0F)) / rows;
    for (std::size_t f = 0; f < view.rows.size(); ++f) {
        const float top = at.low.y + (height + gap) * static_cast<float>(f);
        draw_format(view.rows[f], {{at.low.x, top}, {columns.left - gap, top + height}}, frame);
        for (std::size_t a = 0; a < view.columns.size(); ++a)
            draw_numerics_cell(view.cells[f][a], {columns.x(a), top},
                               {columns.x(a) + columns.width, top + height}, view.bar_end,
                               f + 1 == view.rows.size(), frame, out);
    }
}

// --- the curves

void draw_plots(const NumericsView& view, const Columns& columns, const Box& at, const Frame& frame,
                Actions& out) {
    for (std::size_t a = 0; a < view.columns.size(); ++a) {
        const NumericsColumn& column = view.columns[a];
        // the first plot's ticks stand under the names of the formats
        const float left = a == 0 ? columns.x(a) - frame.px(kFormats * 0.6F) : columns.x(a);
        const PlotInput input =
            draw_plot(column.plot, ("plot " + column.title).c_str(), {left, at.low.y},
                      {columns.x(a) + columns.width, at.high.y}, view.stale, frame);
        follow<SetNumericsGain>(input, view.controls.gain, view::nearest_gain, view::next_gain,
                                out);
    }
}

/// Headings over the matrix of formats and algorithms.
void draw_rounded(const NumericsView& view, const Box& box, const Frame& frame, Actions& out) {
    const float bottom = box.low.y + frame.px(kHeading);
    const auto rows = static_cast<float>(view.rows.size());
    const float matrix =
        std::max(box.high.y - bottom, rows * frame.px(kLeastCell + kSpace4));  // lower, it scrolls
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float right = low.x + ImGui::GetContentRegionAvail().x;  // beside the bar of what scrolls
    const Columns columns = columns_in({low, {right, low.y}}, view.columns.size(), frame);
    for (std::size_t a = 0; a < view.columns.size(); ++a)
        draw_heading(view.columns[a],
                     {{columns.x(a) + frame.px(8), low.y},
                      {columns.x(a) + columns.width, low.y + frame.px(kHeading)}},
                     frame);
    const float top = low.y + frame.px(kHeading);
    draw_matrix(view, columns, {{low.x, top}, {right, top + matrix}}, frame, out);
    record_rect_for_tests(frame.painter, Measuring::Kind::chart, {low.x, top},
                          {right, top + matrix});
    ImGui::SetCursorScreenPos({low.x, top + matrix - 1.0F});
    leave_space({1.0F, 1.0F});
}

}  // namespace

std::string draw_numerics_workspace(const AppState& state, const WorkArea& r, const Frame& frame,
                                    Actions& out) {
    const NumericsView view = build_numerics_view(state);
    const Parts parts{.heading = {.headline = view.sentence,
                                  .why = "Errors in ulp. " + view.note + "\n" + view.why},
                      .hero = {"formats", "formats",
                               [&](const Box& box) { draw_rounded(view, box, frame, out); }},
                      .others = {{"curves", "error over the gain",
                                  [&](const Box& box) {
                                      const Columns columns =
                                          columns_in(box, view.columns.size(), frame);
                                      draw_plots(view, columns, box, frame, out);
                                  },
                                  CanvasPart::Where::below, kPlotShare}},
                      .controls = [&](ControlBar& bar) { draw_numerics_controls(view, bar); },
                      .status = view.status};
    return draw_parts(state, r, parts, frame, out);
}

extern const WorkspacePanel kNumericsPanel{"numerics", draw_numerics_workspace};

}  // namespace attn::ui

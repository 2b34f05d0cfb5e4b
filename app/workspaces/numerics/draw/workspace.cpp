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
constexpr float kNumbered = 52.0F;  // of a slot that has its number
constexpr double kNanInk = 0.35;
constexpr float kRow = 172.0F;
constexpr float kAxis = 64.0F;  // width of its labels
constexpr float kHeading = 44.0F, kLeastCell = 90.0F;
constexpr float kPlotShare = 0.3F;      // of the height
constexpr float kNumericsKeys = 16.0F;  // height of the numbers of keys

/// The places of the bars: slots of one or more keys, along the axis of errors.
struct Slots {
    const NumericsCellView& cell;
    const NumericsAxis& axis;
    ImVec2 low, high;
    std::size_t count = 1;

    float width() const { return (high.x - low.x) / static_cast<float>(count); }
    float left(std::size_t n) const { return low.x + width() * static_cast<float>(n); }
    /// On the log scale; smaller errors are at its foot.
    float y(double error) const {
        const double share = std::log(error / axis.low) / std::log(axis.high / axis.low);
        return high.y - (high.y - low.y) * static_cast<float>(within(share, 0.0, 1.0));
    }
    std::size_t first_key(std::size_t n) const { return n * cell.bars.size() / count; }
    std::size_t slot_of(std::size_t key) const {
        std::size_t n = key * count / cell.bars.size();
        while (n + 1 < count && first_key(n + 1) <= key) ++n;
        return n;
    }
    /// NaN before all, else the key with the largest error.
    std::size_t shown_key(std::size_t n) const {
        std::size_t best = first_key(n);
        for (std::size_t j = best; j < first_key(n + 1); ++j) {
            if (std::isnan(cell.bars[j].weight)) return j;
            if (cell.bars[j].error > cell.bars[best].error) best = j;
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

/// The error, above the bar and the mark of 1 ulp.
void draw_number(const Slots& slots, std::size_t n, const NumericsBar& bar, const Frame& frame) {
    const Font& font = frame.fonts.digits_small;
    if (slots.width() < frame.px(kNumbered)) return;
    const float bottom = slots.y(std::fmax(bar.error, bar.ulp)) - frame.px(2);
    draw_text_in(frame, font, {slots.left(n), bottom - font.px},
                 {slots.left(n) + slots.width(), bottom}, Align::center, frame.theme.text,
                 bar.error == 0.0 ? "0" : view::significant(bar.error, 2));
}

/// From the foot of the axis to the error; an error of 0 has none.
void draw_bar(const Slots& slots, std::size_t n, const Frame& frame) {
    const NumericsBar& bar = slots.cell.bars[slots.shown_key(n)];
    if (std::isnan(bar.weight)) return draw_nan(slots, n, frame);
    if (std::isnan(bar.error)) return;
    const float width = bar_width(slots, frame);
    const float x = slots.left(n) + (slots.width() - width) / 2;
    const float top = std::min(slots.y(bar.error), slots.high.y - frame.px(1));
    if (bar.error > 0.0)
        frame.painter.rect({x, top}, {x + width, slots.high.y},
                           bar.off ? frame.theme.bad : frame.theme.control);
    draw_number(slots, n, bar, frame);
}

/// Where 1 ulp is: a line across the slot.
void draw_ulp(const Slots& slots, std::size_t n, const Frame& frame) {
    const NumericsBar& bar = slots.cell.bars[slots.shown_key(n)];
    if (!(bar.ulp > slots.axis.low) || bar.ulp > slots.axis.high) return;
    const float y = std::round(slots.y(bar.ulp));
    frame.painter.line({slots.left(n) + frame.px(1), y},
                       {slots.left(n) + slots.width() - frame.px(1), y}, frame.theme.text,
                       frame.px(1));
}

float bars_top(const Box& at, const Frame& frame) {
    return at.low.y + frame.px(2 * kTableRow + kSpace4);
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
    draw_ring(frame.painter, {left, slots.low.y}, {right, slots.high.y + frame.px(3)}, frame.theme,
              frame.scale);
}

/// × at the top of the key where the row broke.
void draw_broken(const Slots& slots, const Frame& frame) {
    const std::size_t n = slots.slot_of(static_cast<std::size_t>(*slots.cell.broken_key));
    draw_cross({slots.left(n) + slots.width() / 2, slots.low.y + frame.px(8)}, frame);
}

/// The format, and beneath it how far off it is: in large letters where they fit.
void draw_head(const NumericsCellView& cell, const NumericsFormatRow& format, const Box& at,
               const Frame& frame) {
    const Theme& theme = frame.theme;
    const Color colors[] = {theme.good, theme.bad, theme.bad};  // as the bars
    const float middle = at.low.y + frame.px(kTableRow);
    const float width = at.size().x;
    const bool wide = frame.text_width(frame.fonts.strong, format.title) <= width;
    std::string title = format.title;
    if (frame.text_width(frame.fonts.small, title) > width && title.starts_with("fp"))
        title.erase(1, 1);  // "f64"
    draw_text_in(frame, wide ? frame.fonts.strong : frame.fonts.small, at.low, {at.high.x, middle},
                 Align::left, theme.role(format.role), title);
    std::string text = "● " + cell.text;
    if (frame.text_width(frame.fonts.small, text) > width) text = text.substr(0, text.find(" ulp"));
    const Font& font =
        frame.text_width(frame.fonts.body, text) > width ? frame.fonts.small : frame.fonts.body;
    if (frame.text_width(font, text) > width) text = "●";
    draw_text_in(frame, font, {at.low.x, middle}, {at.high.x, middle + frame.px(kTableRow)},
                 Align::left, colors[static_cast<std::size_t>(cell.verdict)], text);
}

void explain(const Slots& slots, const Frame& frame) {
    const std::size_t j = slots.key_under(ImGui::GetMousePos().x);
    const NumericsBar& bar = slots.cell.bars[j];
    tooltip(frame, fmt::format("key {}: {}", j, view::number(bar.weight)),
            fmt::format("exact {}\nerror {}, 1 ulp {}\n{}: {}", view::number(bar.exact),
                        view::significant(bar.error, 2), view::significant(bar.ulp, 2),
                        slots.cell.text, slots.cell.cause));
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

/// One softmax in one format within `at`: its verdict, and for each key a bar of its error. Of more keys than there is
/// room for, some share a bar: the largest error, NaN before all. A click selects the key; so do ← and → while it has the
/// keyboard.
void draw_numerics_cell(const NumericsCellView& cell, const NumericsView& view, const Box& at,
                        const Frame& frame, Actions& out) {
    const float pad = frame.px(kSpace4);
    const float top = bars_top(at, frame);
    if (cell.selected) frame.painter.rect(at.low, at.high, frame.theme.raised, frame.px(6));
    Slots slots{
        cell,
        view.axis,
        {at.low.x + pad, top},
        {at.high.x - pad, std::max(at.high.y - frame.px(kNumericsKeys), top + frame.px(8))}};
    const float space = (slots.high.x - slots.low.x) / frame.px(kLeastSlot);
    slots.count =
        within<std::size_t>(static_cast<std::size_t>(std::max(space, 1.0F)), 1, cell.bars.size());
    draw_head(cell, view.rows[static_cast<std::size_t>(cell.format)],
              {{at.low.x + pad, at.low.y}, {at.high.x - pad, top}}, frame);
    frame.painter.line({slots.low.x, slots.high.y}, slots.high, frame.theme.control, frame.px(1));
    for (std::size_t n = 0; n < slots.count; ++n) draw_bar(slots, n, frame);
    for (std::size_t n = 0; n < slots.count; ++n) draw_ulp(slots, n, frame);
    // The keys are those of every format: numbered in the first and in the selected one.
    if (cell.selected || cell.format == FloatFormat::fp16)
        draw_keys(slots, slots.high.y + frame.px(2), frame);
    draw_selected(slots, frame);
    if (cell.broken_key) draw_broken(slots, frame);
    read(slots, {at.low.x, top}, at.high, frame, out);
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

// --- a panel for each algorithm, a column for each format

/// Columns right of the labels of an axis.
struct Columns {
    float left, width, gap;
    float x(std::size_t n) const { return left + (width + gap) * static_cast<float>(n); }
};

Columns columns_in(float low, float high, std::size_t count, float gap) {
    const auto n = static_cast<float>(count);
    return {low, std::max(1.0F, (high - low - gap * (n - 1.0F)) / n), gap};
}

Columns algorithms_in(const Box& at, std::size_t count, const Frame& frame) {
    return columns_in(at.low.x + frame.px(kAxis), at.high.x, count, frame.px(kSpace24));
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

/// Over the bars of a format: its bits and its range.
void tell_format(const NumericsFormatRow& row, const Box& at, std::size_t panel,
                 const Frame& frame) {
    ImGui::SetCursorScreenPos(at.low);
    ImGui::PushID(static_cast<int>(panel));
    invisible_button(row.title.c_str(), at.size());
    tooltip(frame, row.title, row.largest + "\n" + row.tooltip);
    ImGui::PopID();
}

/// Lines across all columns at the labelled errors.
void draw_error_axis(const NumericsView& view, const Box& at, const Frame& frame) {
    const Font& font = frame.fonts.digits_small;
    const NumericsAxis& axis = view.axis;
    const float right = at.low.x + frame.px(kAxis - kSpace8);
    draw_text_in(frame, frame.fonts.small, {at.low.x, at.low.y - frame.px(2 * kTableRow)},
                 {right + frame.px(kSpace8), at.low.y - frame.px(kTableRow)}, Align::left,
                 frame.theme.muted, "|a − exact|");
    for (std::size_t n = 0; n < axis.ticks.size(); ++n) {
        const double share = std::log(axis.ticks[n] / axis.low) / std::log(axis.high / axis.low);
        const float y = std::round(at.high.y - at.size().y * static_cast<float>(share));
        frame.painter.line({at.low.x + frame.px(kAxis), y}, {at.high.x, y}, frame.theme.line,
                           frame.px(1));
        draw_text_in(frame, font, {at.low.x, y - font.px}, {right, y + font.px}, Align::right,
                     frame.theme.muted, axis.labels[n]);
    }
}

void draw_matrix(const NumericsView& view, const Columns& panels, const Box& at, const Frame& frame,
                 Actions& out) {
    const float top = bars_top(at, frame);
    draw_error_axis(view, {{at.low.x, top}, {at.high.x, at.high.y - frame.px(kNumericsKeys)}},
                    frame);
    for (std::size_t a = 0; a < view.columns.size(); ++a) {
        const float left = panels.x(a);
        const Columns formats =
            columns_in(left, left + panels.width, view.rows.size(), frame.px(kSpace4));
        for (std::size_t f = 0; f < view.rows.size(); ++f) {
            const Box column{{formats.x(f), at.low.y}, {formats.x(f) + formats.width, at.high.y}};
            tell_format(view.rows[f], {column.low, {column.high.x, top}}, a, frame);
            draw_numerics_cell(view.cells[f][a], view, column, frame, out);
        }
    }
}

// --- the curves

/// The formats' colours and the marks, once for all plots.
void draw_legend(const NumericsView& view, const Columns& columns, const Box& at,
                 const Frame& frame) {
    const Font& font = frame.fonts.small;
    float x = columns.x(0);
    const auto add = [&](Color color, const std::string& text) {
        if (x + frame.text_width(font, text) > at.high.x) return;
        draw_text_in(frame, font, {x, at.low.y}, {at.high.x, at.high.y}, Align::left, color, text);
        x += frame.text_width(font, text) + frame.px(kSpace16);
    };
    for (const NumericsFormatRow& row : view.rows)
        add(frame.theme.role(row.role), "— " + row.title);
    add(frame.theme.muted, "× NaN or all 0");
    add(frame.theme.muted, "on the foot: at most 0.1 ulp");
}

void draw_plots(const NumericsView& view, const Columns& columns, const Box& box,
                const Frame& frame, Actions& out) {
    const float legend = frame.px(kTableRow);
    draw_legend(view, columns, {box.low, {box.high.x, box.low.y + legend}}, frame);
    const Box at{{box.low.x, box.low.y + legend}, box.high};
    for (std::size_t a = 0; a < view.columns.size(); ++a) {
        const NumericsColumn& column = view.columns[a];
        // the first plot's ticks are under those of the errors
        const float left = a == 0 ? columns.x(a) - frame.px(kAxis * 0.8F) : columns.x(a);
        const PlotInput input =
            draw_plot(column.plot, ("plot " + column.title).c_str(), {left, at.low.y},
                      {columns.x(a) + columns.width, at.high.y}, view.stale, frame);
        follow<SetNumericsGain>(input, view.controls.gain, view::nearest_gain, view::next_gain,
                                out);
    }
}

/// Headings over the columns of errors.
void draw_rounded(const NumericsView& view, const Box& box, const Frame& frame, Actions& out) {
    const float bottom = box.low.y + frame.px(kHeading);
    const float matrix =
        std::max(box.high.y - bottom, frame.px(2 * kTableRow + kLeastCell));  // lower, it scrolls
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float right = low.x + ImGui::GetContentRegionAvail().x;  // beside the bar of what scrolls
    const Columns columns = algorithms_in({low, {right, low.y}}, view.columns.size(), frame);
    for (std::size_t a = 0; a < view.columns.size(); ++a)
        draw_heading(view.columns[a],
                     {{columns.x(a) + frame.px(kSpace4), low.y},
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
    const Parts parts{.heading = {.headline = view.sentence, .why = view.note + "\n" + view.why},
                      .hero = {"formats", "error of each key",
                               [&](const Box& box) { draw_rounded(view, box, frame, out); }},
                      .others = {{"curves", "error over the gain",
                                  [&](const Box& box) {
                                      const Columns columns =
                                          algorithms_in(box, view.columns.size(), frame);
                                      draw_plots(view, columns, box, frame, out);
                                  },
                                  CanvasPart::Where::below, kPlotShare}},
                      .controls = [&](ControlBar& bar) { draw_numerics_controls(view, bar); },
                      .status = view.status};
    return draw_parts(state, r, parts, frame, out);
}

extern const WorkspacePanel kNumericsPanel{"numerics", draw_numerics_workspace};

}  // namespace attn::ui

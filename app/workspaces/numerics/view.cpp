#include "app/workspaces/numerics/view.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/format.h"
#include "app/common/logits.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/workspaces/numerics/actions.h"
#include "app/workspaces/numerics/row.h"
#include "app/workspaces/numerics/text.h"
#include "core/tex.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

std::string description_of(const CheckedRun& checked) {
    const Outcome outcome = checked.run.outcome();
    return outcome == Outcome::nan     ? "NaN"
           : outcome == Outcome::zeros ? "all 0"
                                       : ulp_text(checked.error.ulp);
}

// --- the curves

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kLeastUlp = 0.1;  // of the axis: what is closer stands on it
constexpr double kLeastTop = 100.0;

PlotView empty_plot(SoftmaxAlgorithm algorithm, Index gain) {
    PlotView plot;
    const bool first = algorithm == SoftmaxAlgorithm::naive;
    plot.title = title_of(algorithm);
    plot.x_low = 1.0;
    plot.x_high = static_cast<double>(kMostGain);
    plot.x_label = first ? "gain" : "";
    plot.labels = CurveLabels::none;  // a legend names them once
    for (const int power : {0, 4, 8, 12, 16}) {
        plot.x_ticks.push_back(std::exp2(power));
        plot.x_tick_labels.push_back(power == 16 ? "" : std::to_string(1 << power));
    }
    plot.log_y = true;
    plot.marker_x = static_cast<double>(gain);
    return plot;
}

/// Every so many decades, so that there are six ticks at most.
void set_y_axis(PlotView& plot, double most) {
    const int decades = static_cast<int>(std::ceil(std::log10(std::max(kLeastTop, 2.0 * most))));
    plot.y_low = kLeastUlp;
    plot.y_high = std::pow(10.0, decades);
    const int stride = std::max(1, decades / 4);
    for (int decade = 0; decade <= decades; decade += stride) {
        plot.y_ticks.push_back(std::pow(10.0, decade));
        plot.y_tick_labels.push_back(plot.x_label.empty() ? ""
                                     : decade == 0        ? "1 ulp"
                                     : decade == 1        ? "10"
                                                          : power_of_ten(decade));
    }
}

CurveView curve_of(FloatFormat format, const std::vector<NumericsPoint>& points) {
    CurveView curve;
    curve.label = info(format).name;
    curve.role = role_of(format);
    curve.parted = true;
    for (const NumericsPoint& point : points) {
        curve.x.push_back(static_cast<double>(point.gain));
        curve.y.push_back(std::isnan(point.ulp) ? kNone : std::max(point.ulp, kLeastUlp));
    }
    return curve;
}

void add_format(PlotView& plot, FloatFormat format, const CheckedRun& here,
                const std::vector<NumericsPoint>& points) {
    plot.curves.push_back(curve_of(format, points));
    const bool broken = here.run.outcome() != Outcome::finite;
    plot.marker_ys.push_back(broken ? kNone : std::max(here.error.ulp, kLeastUlp));
    plot.marker_texts.push_back(description_of(here));
}

/// On the upper edge, which a curve leaves the area by; lower where another stands there already.
double mark_height(const PlotView& plot, double gain) {
    const auto near = [&](const PlotMark& mark) {
        return std::abs(std::log2(mark.x / gain)) < 0.8;
    };
    const auto others = static_cast<double>(std::ranges::count_if(plot.marks, near));
    return plot.y_high * std::pow(plot.y_high / plot.y_low, -0.09 * others);
}

/// Where each format breaks.
void add_breaks(PlotView& plot, SoftmaxAlgorithm algorithm, const NumericsSweep& sweep) {
    for (const FloatFormat format : kFloatFormats) {
        const auto from = sweep.break_of(algorithm, format);
        if (!from) continue;
        const auto gain = static_cast<double>(*from);
        plot.marks.push_back({gain, mark_height(plot, gain), role_of(format), "", true});
    }
}

double largest_error(const NumericsRuns& here, const NumericsSweep* sweep) {
    double most = 0.0;
    const auto take = [&](double ulp) { most = std::isfinite(ulp) ? std::max(most, ulp) : most; };
    for (const CheckedRun& checked : here.runs) take(checked.error.ulp);
    if (sweep == nullptr) return most;
    for (const auto& formats : sweep->curves)
        for (const auto& points : formats)
            for (const NumericsPoint& point : points) take(point.ulp);
    return most;
}

/// Error over the gain, and from where on an algorithm breaks. `sweep` null: not computed yet.
/// `most`: the largest error of all plots, which share one axis.
PlotView error_plot(SoftmaxAlgorithm algorithm, const NumericsRuns& here,
                    const NumericsSweep* sweep, double most) {
    PlotView plot = empty_plot(algorithm, here.gain);
    const std::vector<NumericsPoint> none;
    for (const FloatFormat format : kFloatFormats)
        add_format(plot, format, here.of(algorithm, format),
                   sweep ? sweep->of(algorithm, format) : none);
    set_y_axis(plot, most);
    if (sweep) add_breaks(plot, algorithm, *sweep);
    return plot;
}

/// "× fails: fp16 from gain 4, bf16 from gain 30".
std::string break_text(SoftmaxAlgorithm algorithm, const NumericsSweep* sweep) {
    if (sweep == nullptr) return "computing…";
    std::vector<std::string> found;
    for (const FloatFormat format : kFloatFormats)
        if (const auto from = sweep->break_of(algorithm, format))
            found.push_back(fmt::format("{} from gain {}", info(format).name, grouped(*from)));
    if (found.empty()) return fmt::format("no format fails up to a gain of {}", grouped(kMostGain));
    return fmt::format("× fails: {}", fmt::join(found, ", "));
}

// --- the matrix

constexpr std::string_view kTex[] = {
    R"(a_j = \frac{e^{s_j}}{\sum_k e^{s_k}})",
    R"(a_j = \frac{e^{s_j - m}}{\sum_k e^{s_k - m}})",
    R"(a_j = e^{s_j - \mathrm{lse}})",
};

/// What the additions that changed nothing would have added.
double lost_of(const SoftmaxRun& run) {
    const std::vector<double>& e = *run.find(SoftmaxStep::exps);
    const std::vector<double>& l = *run.find(SoftmaxStep::sum);
    double lost = 0.0;
    for (std::size_t j = 1; j < e.size(); ++j)
        if (l[j] == l[j - 1]) lost += e[j];
    return lost;
}

/// Why finite weights are far off, where one rounding alone explains it; "" where none does.
std::string loss_text(const SoftmaxRun& run) {
    const double l = run.find(SoftmaxStep::sum)->back();
    const auto spacing = static_cast<double>(ulp_at(run.format, l));
    if (lost_of(run) > kRightUlp * spacing)
        return fmt::format("{} of {} terms did not change the sum", grouped(run.absorbed),
                           grouped(std::ssize(run.weights())));
    const std::vector<double>* const lse = run.find(SoftmaxStep::lse);
    if (lse == nullptr) return {};
    return fmt::format("near lse = {}, adjacent floats are {} apart", significant(lse->front(), 4),
                       significant(static_cast<double>(ulp_at(run.format, lse->front())), 2));
}

/// Beside the verdict: why it broke, or where it is worst.
std::string cause_of(const CheckedRun& checked) {
    if (std::string why = cause_text(checked.run); !why.empty()) return why;
    if (checked.error.ulp > kRightUlp)
        if (std::string why = loss_text(checked.run); !why.empty()) return why;
    if (checked.error.ulp == 0.0) return "exact";
    return fmt::format("worst at key {}: off by {}", checked.error.key,
                       significant(checked.error.absolute, 2));
}

NumericsBar bar_of(FloatFormat format, double weight, long double exact) {
    NumericsBar bar{weight, static_cast<double>(exact), kNone, kNone, false};
    if (std::isnan(exact)) return bar;
    const long double ulp = ulp_at(format, exact);
    bar.ulp = static_cast<double>(ulp);
    if (std::isnan(weight)) return bar;
    const long double error = std::abs(static_cast<long double>(weight) - exact);
    bar.error = static_cast<double>(error);
    bar.off = error > static_cast<long double>(kRightUlp) * ulp;
    return bar;
}

NumericsCellView cell_view(const NumericsRuns& runs, SoftmaxAlgorithm algorithm, FloatFormat format,
                           const NumericsLook& look) {
    const CheckedRun& checked = runs.of(algorithm, format);
    NumericsCellView cell;
    cell.algorithm = algorithm;
    cell.format = format;
    cell.verdict = checked.run.outcome() != Outcome::finite ? NumericsVerdict::broken
                   : checked.error.ulp <= kRightUlp         ? NumericsVerdict::right
                                                            : NumericsVerdict::off;
    cell.text = description_of(checked);
    cell.cause = cause_of(checked);
    const std::vector<double>& weights = checked.run.weights();
    for (std::size_t j = 0; j < weights.size(); ++j)
        cell.bars.push_back(bar_of(format, weights[j], runs.exact[j]));
    if (const FaultPlace* place = checked.run.breaking()) cell.broken_key = place->key;
    if (look.algorithm == algorithm && look.format == format)
        cell.selected = std::min<Index>(look.key, std::ssize(runs.logits) - 1);
    return cell;
}

NumericsFormatRow format_row(FloatFormat format) {
    const FloatFormatInfo& of = info(format);
    NumericsFormatRow row;
    row.title = of.name;
    row.largest = "≤ " + largest_description(format);
    row.tooltip = fmt::format(
        "1 sign bit, {} exponent bits, {} fraction bits\nlargest {}, e^s overflows from s = {}\n"
        "smallest normal {}, smallest subnormal {}\n"
        "Every operation is rounded once: to nearest, ties to even.\n"
        "1 ulp is the format's spacing at the exact weight.",
        of.exponent_bits, of.fraction_bits, largest_description(format),
        significant(std::log(of.largest()), 5), significant(of.smallest_normal(), 3),
        significant(of.smallest(), 3));
    row.role = role_of(format);
    return row;
}

// --- the row

int lesson_of(const NumericsControls& controls) {
    if (controls.row == LogitRow::document) return static_cast<int>(lesson_rows().size());
    const auto found = std::ranges::find_if(lesson_rows(), [&](const LessonRow& lesson) {
        return same_numbers(lesson.logits, controls.logits);
    });
    return found == lesson_rows().end() ? -1 : static_cast<int>(found - lesson_rows().begin());
}

void set_controls(NumericsView& view, const AppState& state, const NumericsRuns& runs) {
    const NumericsControls& controls = numerics_controls(state);
    view.controls = controls;
    for (const LessonRow& lesson : lesson_rows()) view.row_names.emplace_back(lesson.text);
    view.row_names.emplace_back("of the document");
    view.row_choice = lesson_of(controls);
    view.row_shown = view.row_choice < 0 ? "typed by hand" : view.row_names[view.row_choice];
    view.logits = written_logits(runs.logits);
}

/// From a tenth of the finest format's spacing at the largest weight, which is that of the smallest error there can be
/// but 0, to 1, or to the largest error where that is more.
NumericsAxis axis_of(const NumericsView& view) {
    constexpr int kMostTicks = 7;
    double least = HUGE_VAL, most = 0.0;
    for (const auto& row : view.cells)
        for (const NumericsCellView& cell : row) {
            double ulp = 0.0;  // at the largest weight
            for (const NumericsBar& bar : cell.bars) {
                if (std::isfinite(bar.error)) most = std::max(most, bar.error);
                if (std::isfinite(bar.ulp)) ulp = std::max(ulp, bar.ulp);
            }
            if (ulp > 0.0) least = std::min(least, ulp);
        }
    if (std::isinf(least)) return {};  // no weight is defined
    const int from = static_cast<int>(std::floor(std::log10(least))) - 1;
    const int to = most > 1.0 ? static_cast<int>(std::ceil(std::log10(most))) : 0;
    const int stride = (to - from + kMostTicks - 1) / kMostTicks;
    NumericsAxis axis{std::pow(10.0, from), std::pow(10.0, to), {}, {}};
    for (int decade = to; decade >= from; decade -= stride) {
        axis.ticks.push_back(std::pow(10.0, decade));
        axis.labels.push_back(decade == 0 ? "1" : power_of_ten(decade));
    }
    return axis;
}

/// What the numbers of the sentence are.
std::string note_of(const AppState& state, const NumericsRuns& runs) {
    std::string row = fmt::format("{} {}", grouped(std::ssize(runs.logits)),
                                  runs.logits.size() == 1 ? "logit" : "logits");
    if (const std::string why = row_missing_data(state); !why.empty())
        row = sentence(why + "; the typed logits are shown instead");
    else if (numerics_controls(state).row == LogitRow::document)
        row += " of " + document_row_text(state);
    return row.ends_with('.') ? row : row + ".";
}

void set_matrix(NumericsView& view, const AppState& state, const NumericsRuns& runs) {
    const NumericsSweep* const sweep = numerics_curves(state).sweep.get();
    const double most = largest_error(runs, sweep);
    for (std::size_t a = 0; a < kSoftmaxAlgorithmCount; ++a) {
        const auto algorithm = static_cast<SoftmaxAlgorithm>(a);
        NumericsColumn& column = view.columns[a];
        column.title = title_of(algorithm);
        column.tex = kTex[a];
        column.formula = tex::plain_text(column.tex);
        column.plot = error_plot(algorithm, runs, sweep, most);
        column.breaks = job_status_text(state, "numerics", break_text(algorithm, sweep));
        column.plot.tooltip =
            column.breaks +
            "\nThe largest |a − exact| of the row, in units of the format's spacing at the exact "
            "weight; both axes are log. × marks the gain from which the weights are NaN or all 0. "
            "Drag, or press ← "
            "and →, to change the gain.";
        for (std::size_t f = 0; f < kFloatFormatCount; ++f)
            view.cells[f][a] =
                cell_view(runs, algorithm, static_cast<FloatFormat>(f), numerics_look(state));
    }
    for (std::size_t f = 0; f < kFloatFormatCount; ++f)
        view.rows[f] = format_row(static_cast<FloatFormat>(f));
}

std::string status_of(const AppState& state, bool stale) {
    if (stale) return "computing the errors over the gain…";
    const double ms = numerics_curves(state).elapsed_ms;
    return ms > 0.0 ? fmt::format("{:.1f} ms", ms) : std::string();
}

}  // namespace

Role role_of(FloatFormat format) {
    constexpr Role kRoles[] = {Role::first, Role::second, Role::third, Role::fourth};
    return kRoles[static_cast<std::size_t>(format)];
}

Action chosen_row(std::size_t choice) {
    if (choice < lesson_rows().size()) return SetNumericsLogits{lesson_rows()[choice].logits};
    return SetNumericsRow{LogitRow::document};
}

Index nearest_gain(double gain) {
    const std::vector<Index> gains = numerics_gains();
    return *std::ranges::min_element(gains, {}, [&](Index stop) {
        return std::abs(std::log(static_cast<double>(stop) / std::max(gain, 1.0)));
    });
}

Index next_gain(Index gain, int steps) {
    const double power = std::log2(static_cast<double>(std::max<Index>(gain, 1)));
    const double next = steps > 0 ? std::floor(power) + 1.0 : std::ceil(power) - 1.0;
    return static_cast<Index>(
        std::exp2(std::clamp(next, 0.0, std::log2(static_cast<double>(kMostGain)))));
}

NumericsView build_numerics_view(const AppState& state) {
    const NumericsRuns runs = run_all(shown_logits(state), numerics_controls(state).gain);
    NumericsView view;
    set_controls(view, state, runs);
    view.sentence = numerics_sentence(runs);
    view.note = note_of(state, runs);
    view.why = fmt::format(
        "A bar is the error |a − exact| of one key. A line marks 1 ulp, the format's spacing at "
        "the "
        "exact weight; above {:g} ulp the bar is red.",
        kRightUlp);
    set_matrix(view, state, runs);
    view.axis = axis_of(view);

    view.stale =
        !numerics_curves(state).sweep || !same_numbers(numerics_curves(state).logits, runs.logits);
    view.status = job_status_text(state, "numerics", status_of(state, view.stale));
    return view;
}

}  // namespace attn::view

#include <cmath>

#include <fmt/format.h>

#include "app/common/document/heads.h"
#include "app/common/format.h"
#include "app/common/state.h"
#include "app/workspaces/learn/recording.h"
#include "app/workspaces/learn/text.h"
#include "app/workspaces/learn/view.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

using train::Record;
using Records = std::vector<std::shared_ptr<const Record>>;

constexpr double kPointsPerOctave = 16.0;  // of the log axis; what lies between two is averaged
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct MeasureInfo {
    std::string title, tip;
    Role role = Role::score;
    bool log = false;
    double high = 1.0;
};

/// What one step measured; NaN where this run has no such head.
using ValueOf = std::function<double(const Record&)>;

std::string head_title(const LearnLook& look, std::string_view what) {
    return fmt::format("{} of {}", what, head_name({look.layer, look.head}));
}

MeasureInfo measure_info(const LearnLook& look, const LearnControls& controls,
                         LearnMeasure measure) {
    const double even = std::log(static_cast<double>(controls.a.tokens));
    const std::array<MeasureInfo, kLearnMeasureCount> infos{{
        {"right answers", "Fraction of the answers in each batch that have the largest logit",
         Role::output},
        {"loss, nats", "Mean of −ln softmax(logits)[answer] over the answers of a batch",
         Role::score, false, 0.0},
        {"saturated rows",
         "Among the rows of all heads that have at least two keys: the fraction whose largest "
         "weight is above 0.99",
         Role::weight},
        {head_title(look, "entropy"),
         "Mean of H = −Σ a ln a, in nats, over the head's rows of at least two keys", Role::weight,
         false, even},
        {head_title(look, "mean largest weight"),
         "Mean of the largest weight of each row of at least two keys", Role::weight},
        {"‖∇‖ of all weights", "Norm of the gradient of all matrices, before clipping", Role::query,
         true},
        {fmt::format("‖∂L/∂W_Q‖ + ‖∂L/∂W_K‖ of layer {}", look.layer),
         "Frobenius norms: the gradient through this layer's softmax to queries and keys",
         Role::query, true},
        {fmt::format("‖∂L/∂W_V‖ + ‖∂L/∂W_O‖ of layer {}", look.layer),
         "Frobenius norms: the gradient that bypasses this layer's softmax", Role::value, true},
        {"held-out answers",
         "Fraction of answers with the largest logit, in texts that training never reads",
         Role::output},
    }};
    return infos[static_cast<std::size_t>(measure)];
}

/// Sum of the gradient norms of the matrices whose names end so, of the layer that is looked at.
ValueOf gradients_of(const LearnLook& look, const LearnSide& side,
                     std::initializer_list<std::string_view> names) {
    std::vector<std::size_t> places;
    for (std::size_t m = 0; m < side.matrices.size(); ++m)
        for (const std::string_view name : names)
            if (side.matrices[m].name == fmt::format("layers.{}.{}", look.layer, name))
                places.push_back(m);
    return [places](const Record& record) {
        double sum = 0.0;
        for (const std::size_t m : places)
            if (m < record.gradient_norms.size()) sum += record.gradient_norms[m];
        return sum > 0.0 ? sum : kNone;
    };
}

ValueOf value_of(const LearnLook& look, const train::Spec& spec, const LearnSide& side,
                 LearnMeasure measure) {
    const auto head = static_cast<std::size_t>(look.layer * spec.heads + look.head);
    const bool has_head = look.layer < spec.layers && look.head < spec.heads;
    const auto of_head = [=](float train::HeadRecord::*value) {
        return [=](const Record& record) {
            return has_head ? static_cast<double>(record.heads[head].*value) : kNone;
        };
    };
    switch (measure) {
        case LearnMeasure::accuracy:
            return &Record::accuracy;
        case LearnMeasure::loss:
            return &Record::loss;
        case LearnMeasure::saturated:
            return &Record::saturated;
        case LearnMeasure::entropy:
            return of_head(&train::HeadRecord::entropy);
        case LearnMeasure::max_probability:
            return of_head(&train::HeadRecord::max_probability);
        case LearnMeasure::gradient:
            return [](const Record& record) {
                return record.gradient_norm > 0.0 ? record.gradient_norm : kNone;
            };
        case LearnMeasure::w_q:
            return gradients_of(look, side, {"w_q", "w_k"});
        case LearnMeasure::w_v:
            return gradients_of(look, side, {"w_v", "w_o"});
        case LearnMeasure::held_out:
            break;  // held_out_curve()
    }
    return [](const Record&) { return kNone; };
}

/// Steps as a log axis has them: evenly spaced points, each the mean of its steps with the least and the largest of them.
CurveView curve_of(const Records& records, Index first, const ValueOf& value) {
    CurveView curve;
    double sum = 0.0, low = 0.0, high = 0.0, steps = 0.0;
    Index count = 0;
    double place = -1.0;
    const auto flush = [&] {
        if (count == 0) return;
        curve.x.push_back(steps / static_cast<double>(count));
        curve.y.push_back(sum / static_cast<double>(count));
        curve.low.push_back(low);
        curve.high.push_back(high);
        count = 0;
    };
    for (Index n = first; n < std::ssize(records); ++n) {
        const double y = value(*records[n]);
        if (!std::isfinite(y)) continue;
        const auto x = static_cast<double>(n + 1);
        const double here = std::floor(std::log2(x) * kPointsPerOctave);
        if (here != place) flush();
        place = here;
        low = count == 0 ? y : std::min(low, y);
        high = count == 0 ? y : std::max(high, y);
        sum = count == 0 ? y : sum + y;
        steps = count == 0 ? x : steps + x;
        ++count;
    }
    flush();
    return curve;
}

/// Of held-out texts; after 0 steps at 1, where a log axis begins.
CurveView held_out_curve(const LearnSide& side, Index first) {
    CurveView curve;
    for (const LearnHeldOut& each : side.held_out) {
        if (each.step < first) continue;
        curve.x.push_back(static_cast<double>(std::max<Index>(each.step, 1)));
        curve.y.push_back(each.right);
    }
    return curve;
}

void set_step_axis(PlotView& plot, Index steps) {
    plot.x_label = "step";
    plot.x_low = 1.0;
    plot.x_high = std::max(10.0, static_cast<double>(steps));
    for (double tick = 1.0; tick <= plot.x_high; tick *= 10.0)
        for (const double part : {1.0, 3.0}) {
            if (tick * part > plot.x_high) continue;
            plot.x_ticks.push_back(tick * part);
            plot.x_tick_labels.push_back(grouped(static_cast<Index>(tick * part)));
        }
}

/// A round number at or above `value`, of 1, 2 and 5 times a power of ten.
double rounded_up(double value) {
    const double power = std::pow(10.0, std::floor(std::log10(std::max(value, 1e-12))));
    for (const double part : {1.0, 2.0, 5.0})
        if (part * power >= value) return part * power;
    return 10.0 * power;
}

void set_linear_axis(PlotView& plot, double high) {
    plot.y_low = 0.0;
    plot.y_high = high;
    for (int n = 0; n <= 4; ++n) {
        const double y = high * n / 4.0;
        plot.y_ticks.push_back(y);
        plot.y_tick_labels.push_back(significant(y, 3));
    }
}

void set_log_axis(PlotView& plot) {
    double low = std::numeric_limits<double>::infinity(), high = 0.0;
    for (const CurveView& curve : plot.curves)
        for (std::size_t n = 0; n < curve.y.size(); ++n) {
            low = std::min(low, curve.low.empty() ? curve.y[n] : curve.low[n]);
            high = std::max(high, curve.high.empty() ? curve.y[n] : curve.high[n]);
        }
    if (!(high > 0.0)) low = 0.1, high = 10.0;
    plot.log_y = true;
    const int first = static_cast<int>(std::floor(std::log10(low)));
    const int last = std::max(static_cast<int>(std::ceil(std::log10(high))), first + 1);
    plot.y_low = std::pow(10.0, first);
    plot.y_high = std::pow(10.0, last);
    const int stride = std::max(1, (last - first + 4) / 5);
    for (int power = first; power <= last; power += stride) {
        plot.y_ticks.push_back(std::pow(10.0, power));
        plot.y_tick_labels.push_back(power_of_ten(power));
    }
}

void set_y_axis(PlotView& plot, const MeasureInfo& info) {
    if (info.log) return set_log_axis(plot);
    double high = info.high;
    if (high <= 0.0) {
        for (const CurveView& curve : plot.curves)
            for (const double y : curve.high) high = std::max(high, y);
        high = rounded_up(std::max(high, 1e-6));
    }
    set_linear_axis(plot, high);
}

std::string value_description(const MeasureInfo& info, LearnMeasure measure, double value) {
    if (!std::isfinite(value)) return "–";
    const bool share = measure == LearnMeasure::accuracy || measure == LearnMeasure::saturated ||
                       measure == LearnMeasure::held_out;
    if (share) return percent(value);
    return info.log ? significant(value, 3) : number(value);
}

/// With ÷√d_k as weights are drawn, without as words are; where both are alike A and B.
Role role_of(const LearnControls& controls, std::size_t run) {
    const bool first =
        controls.a.scaling != controls.b.scaling ? controls.of(run).scaling : run == 0;
    return first ? Role::weight : Role::input;
}

void add_curves(const AppState& state, PlotView& plot, const MeasureInfo& info,
                LearnMeasure measure) {
    const LearnLook& look = learn_look(state);
    if (!look.series) return;
    const LearnSeries& series = *look.series;
    const LearnControls& controls = series.request.plan.controls;
    const Index shown = shown_learn_step(state);
    for (std::size_t run = 0; run < controls.count(); ++run) {
        const LearnSide& side = series.sides[run];
        const ValueOf value = value_of(look, controls.of(run), side, measure);
        const bool held_out = measure == LearnMeasure::held_out;
        CurveView curve = held_out ? held_out_curve(side, 0) : curve_of(side.records, 0, value);
        curve.label = learn_name(series.request.plan, run);
        if (curve.label.empty()) curve.label = "A";
        curve.role = role_of(controls, run);
        plot.curves.push_back(std::move(curve));
        const bool there = shown > 0 && shown <= std::ssize(side.records);
        const LearnHeldOut* const measured = held_out_at(side, shown);
        const double here = held_out ? (measured ? measured->right : kNone)
                            : there  ? value(*side.records[shown - 1])
                                     : kNone;
        plot.marker_ys.push_back(here);
        plot.marker_texts.push_back(value_description(info, measure, here));
    }
    if (!look.before || look.before->request.plan.controls != controls) return;
    for (std::size_t run = 0; run < controls.count(); ++run) {
        const auto& now = series.request.plan.switches[run];
        const auto& was = look.before->request.plan.switches[run];
        if (now == was || now.empty()) continue;
        const LearnSide& before = look.before->sides[run];
        const Index first = now.back().step;
        CurveView curve = measure == LearnMeasure::held_out
                              ? held_out_curve(before, first)
                              : curve_of(before.records, first,
                                         value_of(look, controls.of(run), before, measure));
        curve.label = run == 0 ? "A before" : "B before";
        curve.role = role_of(controls, run);
        curve.dashed = true;
        curve.low.clear();
        curve.high.clear();
        plot.curves.push_back(std::move(curve));
        plot.marker_ys.push_back(kNone);
        plot.marker_texts.emplace_back();
    }
}

PlotView plot_of(const AppState& state, LearnMeasure measure, Index steps) {
    const MeasureInfo info = measure_info(learn_look(state), planned(state), measure);
    PlotView plot;
    plot.title = info.title;
    plot.tooltip =
        info.tip +
        (measure == LearnMeasure::held_out
             ? ". Measured at the points of the curve. Drag to choose the step."
             : ". Each point is a mean over steps; the band shows the range. Drag to choose "
               "the step.");
    set_step_axis(plot, steps);
    plot.marker_x = static_cast<double>(std::max<Index>(shown_learn_step(state), 1));
    add_curves(state, plot, info, measure);
    set_y_axis(plot, info);
    return plot;
}

}  // namespace

void add_learn_plots(const AppState& state, LearnView& view) {
    const LearnLook& look = learn_look(state);
    Index steps = std::max(view.until, view.steps);
    if (look.series)
        for (const LearnSide& side : look.series->sides)
            steps = std::max<Index>(steps, std::ssize(side.records));
    const LearnMeasure large = shown_measure(state);
    std::vector<LearnMeasure> list{large};
    const LearnMeasure third = is_recorded(state) ? LearnMeasure::loss : LearnMeasure::w_q;
    for (const LearnMeasure each : {LearnMeasure::accuracy, LearnMeasure::saturated, third})
        if (each != large && list.size() < 3) list.push_back(each);
    for (const LearnMeasure each : list) view.plots.push_back(plot_of(state, each, steps));
}

}  // namespace attn::view

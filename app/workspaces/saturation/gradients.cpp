#include "app/workspaces/saturation/gradients.h"

#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/state.h"
#include "app/workspaces/saturation/actions.h"
#include "app/workspaces/saturation/parts.h"
#include "app/workspaces/saturation/text.h"
#include "core/tex.h"

namespace attn::view {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kFloor = 1e-5;  // of the log axes

struct GradientInfo {
    const char* tex;
    const char* text;
    const char* tip;
};
constexpr GradientInfo kInfo[kGradientsOf] = {
    {R"(\|\partial L / \partial z\|)", "before softmax",
     "With respect to the logits z that enter softmax: ∂L/∂z_j = a_j (∂L/∂a_j − Σ_i a_i ∂L/∂a_i)"},
    {R"(\|\partial L / \partial s\|)", "the raw score",
     "With respect to the raw scores s = q·k: ∂L/∂z, divided by √d_k where z = s/√d_k"},
    {R"(\|\partial L / \partial q\|)", "the query", "∂L/∂q = Σ_j ∂L/∂s_j k_j"},
    {R"(\|\partial L / \partial W_Q\|)", "of a batch",
     "Norm of ∂L/∂W_Q for a batch of 64 rows with one-hot tokens: √Σ_i ‖∂L/∂q_i‖²"},
};
const GradientInfo& info_of(GradientOf of) { return kInfo[static_cast<std::size_t>(of)]; }

/// "0.270", "0.0004", "7.7·10⁻⁶".
std::string short_number(double value) {
    if (value == 0.0) return "0";
    if (value >= 9.995) return fmt::format("{:.1f}", value);
    if (value >= 0.0995) return fmt::format("{:.3f}", value);
    if (value >= 0.00095) return fmt::format("{:.4f}", value);
    return significant(value, 2);
}

std::string share_text(double share) {
    const bool valid = (share > 0.0 && share < 0.0995) || (share >= 0.985 && share < 1.0);
    return valid ? percent(share) : fmt::format("{:.0f} %", 100.0 * share);
}

/// What there is, of the widths that are wanted.
struct Have {
    std::vector<GradientPoint> points;
    GradientSampling sampling;
    Index d_k = 1;

    const GradientPoint* here() const {
        const auto found = std::ranges::find(points, d_k, &GradientPoint::d_k);
        return found == points.end() ? nullptr : &*found;
    }
};

Have have_of(const AppState& state) {
    const SaturationGradients& drawn = saturation_gradients(state);
    Have have{{}, drawn.sampling, shown_saturation(state).d_k};
    if (!drawn.points) return have;
    const std::vector<Index> widths = wanted_widths(shown_saturation(state));
    for (const GradientPoint& point : *drawn.points)
        if (std::ranges::binary_search(widths, point.d_k)) have.points.push_back(point);
    return have;
}

template <class Value>
void add_width_curve(PlotView& plot, std::string label, Role role, bool dashed, const Have& have,
                     Value value) {
    CurveView curve{std::move(label), role, dashed, {}, {}, {}, {}};
    for (const GradientPoint& point : have.points) {
        curve.x.push_back(static_cast<double>(point.d_k));
        curve.y.push_back(value(point));
    }
    const GradientPoint* here = have.here();
    plot.marker_ys.push_back(here ? value(*here) : kUnknown);
    plot.marker_texts.push_back(here ? short_number(value(*here)) : "…");
    plot.curves.push_back(std::move(curve));
}

/// The next power of ten above all that is drawn of that gradient.
int top_power(const Have& have, GradientOf of) {
    double most = 1.0;
    for (const GradientPoint& point : have.points)
        for (const GradientSide* side : {&point.scaled, &point.unscaled})
            most = std::max({most, spread_in(*side, of).mean, spread_in(*side, of).median()});
    return static_cast<int>(std::ceil(std::log10(most)));
}

/// "0.001", "10⁻⁵", "100".
std::string power_label(int power) {
    return std::abs(power) < 5 ? significant(std::pow(10.0, power), 3) : power_of_ten(power);
}

PlotView empty_width_plot(const Have& have, int top) {
    PlotView plot;
    plot.x_low = 1.0;
    plot.x_high = static_cast<double>(kWidestSweep);
    for (const Index d_k : sweep_widths()) {
        plot.x_ticks.push_back(static_cast<double>(d_k));
        plot.x_tick_labels.push_back(std::to_string(d_k));
    }
    plot.marker_x = static_cast<double>(have.d_k);
    plot.log_y = true;
    plot.y_low = kFloor;
    plot.y_high = std::pow(10.0, top);
    for (int power = -5; power <= top; ++power) {
        plot.y_ticks.push_back(std::pow(10.0, power));
        plot.y_tick_labels.push_back(power_label(power));
    }
    return plot;
}

void add_medians(PlotView& plot, const Have& have, GradientOf of) {
    add_width_curve(plot, "median, with", Role::weight, false, have,
                    [of](const GradientPoint& p) { return spread_in(p.scaled, of).median(); });
    add_width_curve(plot, "median, without", Role::input, false, have,
                    [of](const GradientPoint& p) { return spread_in(p.unscaled, of).median(); });
}

PlotView large_plot(const Have& have, GradientOf of, int top) {
    PlotView plot = empty_width_plot(have, top);
    plot.title = info_of(of).text;
    plot.tooltip = info_of(of).tip;
    add_medians(plot, have, of);
    add_width_curve(plot, "mean, with", Role::weight, true, have,
                    [of](const GradientPoint& p) { return spread_in(p.scaled, of).mean; });
    add_width_curve(plot, "mean, without", Role::input, true, have,
                    [of](const GradientPoint& p) { return spread_in(p.unscaled, of).mean; });
    return plot;
}

GradientTab tab_of(const Have& have, GradientOf of, int top) {
    GradientTab tab;
    tab.of = of;
    tab.tex = info_of(of).tex;
    tab.plain = tex::plain_text(tab.tex);
    tab.text = info_of(of).text;
    tab.plot = empty_width_plot(have, top);
    add_medians(tab.plot, have, of);
    tab.plot.labels = CurveLabels::none;
    tab.tooltip = info_of(of).tip;
    return tab;
}

void add_dead(const Have& have, GradientsOverWidth& view) {
    double most = 0.0;
    for (const GradientPoint& point : have.points) {
        if (point.d_k != nearest_stop(static_cast<double>(point.d_k))) continue;
        view.dead.push_back({point.d_k, point.unscaled.z.dead, share_text(point.unscaled.z.dead)});
        most = std::max(most, point.scaled.z.dead);
    }
    view.dead_text = "rows with almost no gradient: ‖∂L/∂z‖ < 0.001, without scaling";
    if (view.dead.empty()) return;
    view.dead_scaled = most == 0.0 ? "with scaling: 0 % everywhere"
                                   : fmt::format("with scaling: at most {}", share_text(most));
}

GradientNumber number_of(const char* tex, std::string scaled, std::string unscaled,
                         const char* tip) {
    return {tex, tex::plain_text(tex), std::move(scaled), std::move(unscaled), tip};
}

void add_table(const GradientPoint& here, GradientsOverWidth& view) {
    const auto pair = [&](const char* tex, const char* tip, const auto& value) {
        return number_of(tex, short_number(value(here.scaled)), short_number(value(here.unscaled)),
                         tip);
    };
    for (std::size_t n = 0; n < kGradientsOf; ++n) {
        const auto of = static_cast<GradientOf>(n);
        view.medians.push_back(pair(kInfo[n].tex, kInfo[n].tip, [of](const GradientSide& s) {
            return spread_in(s, of).median();
        }));
        view.means.push_back(pair(kInfo[n].tex, kInfo[n].tip,
                                  [of](const GradientSide& s) { return spread_in(s, of).mean; }));
    }
    view.none = {"", "almost no gradient", share_text(here.scaled.z.dead),
                 share_text(here.unscaled.z.dead), "‖∂L/∂z‖ below 0.001"};
}

void add_strips(const GradientPoint& here, GradientOf of, GradientsOverWidth& view) {
    for (std::size_t n = 0; n < 2; ++n) {
        const Spread& spread = spread_in(n == 0 ? here.scaled : here.unscaled, of);
        view.strips[n] = {n == 0 ? "with" : "without",
                          n == 0,
                          {spread.percentiles.begin() + 1, spread.percentiles.end() - 1},
                          spread.median(),
                          spread.mean};
    }
    view.strip_text = fmt::format("{} at d_k = {}: one tick for each percent of the {}",
                                  tex::plain_text(info_of(of).tex), here.d_k,
                                  of == GradientOf::w_q ? "batches" : "rows");
    view.strip_low = kFloor;
    double most = 1.0;
    for (const GradientStrip& strip : view.strips) most = std::max(most, strip.ticks.back());
    const int top = static_cast<int>(std::ceil(std::log10(most)));
    view.strip_high = std::pow(10.0, top);
    view.strip_ends = {"≤ " + view.plot.y_tick_labels.front(), power_label(top)};
}

std::string status_of(const SaturationGradients& drawn, bool stale) {
    if (!drawn.points) return "computing the gradients…";
    if (stale) return "computing… (the numbers belong to the previous settings)";
    std::string text =
        fmt::format("{} rows × {} widths", grouped(drawn.sampling.rows), drawn.points->size());
    return drawn.elapsed_ms > 0.0 ? fmt::format("{} in {:.0f} ms", text, drawn.elapsed_ms) : text;
}

}  // namespace

GradientsOverWidth build_gradients_over_width(const AppState& state) {
    const Have have = have_of(state);
    const GradientPoint* here = have.here();
    const SaturationSettings& settings = saturation_controls(state).settings;
    const GradientOf of = saturation_look(state).gradient;
    GradientsOverWidth view;
    view.tab = static_cast<std::size_t>(of);
    view.ready = here != nullptr;
    view.stale =
        !view.ready || have.sampling.keys != settings.keys || have.sampling.seed != settings.seed;
    int top = 0;
    for (std::size_t n = 0; n < kGradientsOf; ++n)
        top = std::max(top, top_power(have, static_cast<GradientOf>(n)));
    for (std::size_t n = 0; n < kGradientsOf; ++n)
        view.tabs.push_back(tab_of(have, static_cast<GradientOf>(n), top));
    view.plot = large_plot(have, of, top_power(have, of));
    add_dead(have, view);
    view.note = fmt::format(
        "{} rows, {} keys; q, k and ∂L/∂a from N(0, 1), seed {}. Solid: median, dashed: mean.",
        grouped(have.sampling.rows), have.sampling.keys, have.sampling.seed);
    if (saturation_look(state).sentence) view.sentence_at = sentence_at_width(state);
    view.caption = "median";
    view.status = job_status_text(state, "gradients over d_k",
                                  status_of(saturation_gradients(state), view.stale));
    if (here == nullptr) {
        view.sentence = fmt::format("Computing at d_k = {}…", have.d_k);
        return view;
    }
    view.sentence = gradient_sentence(of, *here);
    view.closing = gradient_closing(of, *here);
    const double with = spread_in(here->scaled, of).median();
    const double without = spread_in(here->unscaled, of).median();
    view.typical = change_text(with, without);
    if (without < with)
        view.lost = of == GradientOf::w_q ? "lost by the median batch" : "lost by the median row";
    add_table(*here, view);
    add_strips(*here, of, view);
    return view;
}

}  // namespace attn::view

#include "app/workspaces/cost/view.h"

#include <cmath>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/format.h"
#include "app/common/state.h"
#include "app/workspaces/cost/actions.h"
#include "core/memory.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

constexpr std::array kStorages{Holding::materialised, Holding::chunked, Holding::fused,
                               Holding::kv_cache};
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::string_view title_of(Holding storage) {
    constexpr std::string_view kTitles[] = {"materialised", "chunked", "fused", "KV cache"};
    return kTitles[static_cast<std::size_t>(storage)];
}

/// "KV cache, 32 layers": only the cache is counted for all layers.
std::string title_with_layers(Holding storage, const CostSizes& sizes) {
    const Index layers = storage == Holding::kv_cache ? sizes[CostSize::layers] : 1;
    return fmt::format("{}, {} layer{}", title_of(storage), layers, layers == 1 ? "" : "s");
}

Role role_of(Holding storage) {
    constexpr Role kRoles[] = {Role::first, Role::second, Role::third, Role::fourth};
    return kRoles[static_cast<std::size_t>(storage)];
}

// --- the curves

PlotView empty_plot(const CostSizes& sizes) {
    PlotView plot;
    plot.title = sizes[CostSize::tq] == sizes[CostSize::tk]
                     ? "Memory over T = Tq = Tk"
                     : fmt::format("Memory over T = Tk, Tq = {}", grouped(sizes[CostSize::tq]));
    plot.tooltip =
        "Memory besides Q, K, V and the context; both axes log. materialised: every weight. "
        "chunked: the weights "
        "of c queries at a time. fused: one logsumexp per row. KV cache: keys and values of all "
        "layers. A ring marks the largest T that fits into memory with Q, K, V and the context. "
        "Drag to set T.";
    plot.labels = CurveLabels::names;
    plot.x_low = 16.0;
    plot.x_high = static_cast<double>(kMostCostTokens);
    plot.x_label = "T";
    for (int power = 4; power <= 24; power += 2) {
        plot.x_ticks.push_back(std::exp2(power));
        const Index tokens = Index{1} << power;
        plot.x_tick_labels.push_back(power < 10   ? std::to_string(tokens)
                                     : power < 20 ? fmt::format("{}k", tokens >> 10)
                                                  : fmt::format("{}M", tokens >> 20));
    }
    plot.log_y = true;
    plot.marker_x = static_cast<double>(std::max<Index>(sizes[CostSize::tk], 16));
    return plot;
}

CurveView curve_of(Holding storage, const CostSizes& sizes) {
    CurveView curve;
    curve.label = title_with_layers(storage, sizes);
    curve.role = role_of(storage);
    for (int step = 8; step <= 48; ++step) {
        const auto tokens = static_cast<Index>(std::llround(std::exp2(step / 2.0)));
        curve.x.push_back(static_cast<double>(tokens));
        curve.y.push_back(estimate_of(stored_bytes(storage), with_tokens(sizes, tokens)));
    }
    return curve;
}

/// Powers of 1024 that hold all that is drawn.
void set_y_axis(PlotView& plot, double memory) {
    double low = memory;
    double high = memory;
    for (const CurveView& curve : plot.curves) {
        low = std::min(low, *std::ranges::min_element(curve.y));
        high = std::max(high, *std::ranges::max_element(curve.y));
    }
    high = std::min(high, memory * std::exp2(14));  // what no machine has is cut off
    const int first = static_cast<int>(std::floor(std::log2(std::max(low, 1.0)) / 10.0));
    const int last = static_cast<int>(std::ceil(std::log2(high) / 10.0));
    plot.y_low = std::exp2(10 * first);
    plot.y_high = std::exp2(10 * last);
    for (int power = first; power <= last; ++power) {
        plot.y_ticks.push_back(std::exp2(10 * power));
        plot.y_tick_labels.push_back(cost_bytes(std::exp2(10 * power)));
    }
}

/// Up to where a curve fits into the memory of this machine, Q, K, V and the context with it.
void add_limit(PlotView& plot, Holding storage, const CostSizes& sizes, double memory) {
    const auto tokens = tokens_within(storage, sizes, memory, kMostCostTokens);
    if (!tokens || *tokens == kMostCostTokens || *tokens < 16) return;
    plot.marks.push_back({static_cast<double>(*tokens),
                          estimate_of(stored_bytes(storage), with_tokens(sizes, *tokens)),
                          role_of(storage), "", false});
}

PlotView plot_of(const CostSizes& sizes, double memory) {
    PlotView plot = empty_plot(sizes);
    for (const Holding storage : kStorages) {
        plot.curves.push_back(curve_of(storage, sizes));
        const double here = estimate_of(stored_bytes(storage), sizes);
        plot.marker_ys.push_back(sizes[CostSize::tk] < 16 ? kNone : here);
        plot.marker_texts.push_back(cost_bytes(here));
    }
    set_y_axis(plot, memory);
    plot.levels.push_back({memory, "this machine’s memory, " + cost_bytes(memory) + ""});
    for (const Holding storage : kStorages) add_limit(plot, storage, sizes, memory);
    return plot;
}

// --- cards and table

CostCardView card_of(Holding storage, const AppState& state, double memory) {
    const CostSizes& sizes = cost_controls(state).sizes;
    const CostFormula formula = stored_bytes(storage);
    CostCardView card;
    card.item = item_of(storage);
    card.title = title_with_layers(storage, sizes);
    card.value = cost_bytes(estimate_of(formula, sizes));
    card.formula = formula_text(formula);
    card.role = role_of(storage);
    card.fits = estimate_of(held_bytes(storage), sizes) <= memory;
    card.selected = cost_look(state).item == card.item;
    const auto limit = tokens_within(storage, sizes, memory, kMostCostTokens);
    card.limit = !limit                      ? "fits for no T"
                 : *limit == kMostCostTokens ? "fits for every T of the plot"
                                             : "T ≤ " + grouped(*limit);
    if (const Index layers = sizes[CostSize::layers]; storage == Holding::kv_cache && layers > 1)
        card.limit = fmt::format(
            "{} a layer; {}", cost_bytes(estimate_of(formula, sizes) / static_cast<double>(layers)),
            card.limit);
    card.tooltip = fmt::format(
        "{}\n{}. The memory limit counts {}. Click to see the numbers.",
        cost_text(card.item, cost_controls(state).pass), card.formula,
        storage == Holding::kv_cache ? "the cache alone" : "Q, K, V and the context as well");
    return card;
}

std::string intensity_text(double flop, double bytes) {
    return bytes > 0.0 ? significant(flop / bytes, 3) : "0";
}

/// FLOP, read, written, kept.
using Counts = std::array<double, 4>;
Counts counts_of(const CostSum& cost, const CostSizes& sizes) {
    return {estimate_of(cost.flop, sizes), estimate_of(cost.read, sizes),
            estimate_of(cost.written, sizes), estimate_of(cost.stored, sizes)};
}

CostRowView row_view(CostItem item, std::string name, const Counts& counts,
                     const std::array<CostUnit, 4>& units) {
    CostRowView row;
    row.item = item;
    row.name = std::move(name);
    for (std::size_t n = 0; n < counts.size(); ++n) row.numbers[n] = in_unit(counts[n], units[n]);
    row.numbers.back() = intensity_text(counts[0], counts[1] + counts[2]);
    return row;
}

/// Each column in the unit of its largest number.
void set_operations(CostView& view, const CostSizes& sizes, CostItem selected) {
    std::vector<std::array<double, 3>> counts;  // FLOP, cache, each token
    std::array<double, 3> most{};
    for (const CostOperationInfo& row : cost_operations()) {
        const OperationCounts of = operation_counts(row.operation);
        counts.push_back({estimate_of(of.flop, sizes), estimate_of(of.held, sizes),
                          estimate_of(of.each_token, sizes)});
        for (std::size_t n = 0; n < most.size(); ++n) most[n] = std::max(most[n], counts.back()[n]);
    }
    const std::array units{flop_unit(most[0]), bytes_unit(most[1]), bytes_unit(most[2])};
    view.rows_title = "forward; shade: FLOP";
    view.titles = {std::string(units[0].name), fmt::format("cache, {}", units[1].name),
                   fmt::format("each token, {}", units[2].name), "FLOP / softmax",
                   "cache / softmax"};
    for (const CostOperationInfo& of : cost_operations()) {
        const auto& own = counts[view.rows.size()];
        CostRowView& row = view.rows.emplace_back();
        row.item = item_of(of.operation);
        row.name = of.title;
        for (std::size_t n = 0; n < own.size(); ++n) row.numbers[n] = in_unit(own[n], units[n]);
        for (const std::size_t n : {0, 1})
            row.numbers[3 + n] = significant(own[n] / counts.front()[n], 3);
        row.share = most[0] > 0.0 ? own[0] / most[0] : 0.0;
        row.selected = row.item == selected;
        row.tooltip = std::string(of.text) +
                      " The shade is its fraction of the most FLOP. Click for its formulas.";
    }
}

/// Each column in the unit of its largest stage.
void set_rows(CostView& view, const CostControls& controls, CostItem selected) {
    const auto stages = stage_costs(controls.pass, controls.sizes);
    const Counts all = counts_of(sum_of(stages), controls.sizes);
    std::vector<Counts> counts;
    Counts most{};
    for (const StageCost& stage : stages) {
        counts.push_back(
            counts_of({stage.flop, stage.read, stage.written, stage.stored}, controls.sizes));
        for (std::size_t n = 0; n < most.size(); ++n) most[n] = std::max(most[n], counts.back()[n]);
    }
    const std::array units{flop_unit(most[0]), bytes_unit(most[1]), bytes_unit(most[2]),
                           bytes_unit(most[3])};
    view.rows_title = "stage; shade: FLOP";
    view.titles = {std::string(units[0].name), fmt::format("read, {}", units[1].name),
                   fmt::format("written, {}", units[2].name),
                   fmt::format("kept, {}", units[3].name), "FLOP/byte"};
    for (std::size_t n = 0; n < stages.size(); ++n) {
        view.rows.push_back(row_view(item_of(stages[n].stage),
                                     std::string(info(stages[n].stage).key), counts[n], units));
        view.rows.back().share = all[0] > 0.0 ? counts[n][0] / all[0] : 0.0;
    }
    if (controls.pass == CostPass::backward) {
        std::ranges::reverse(view.rows);
        for (CostRowView& row : view.rows) row.name = "d_" + row.name;
    }
    view.rows.push_back(row_view(CostItem::total, "all", all, units));
    view.rows.back().share = 1.0;
    for (CostRowView& row : view.rows) {
        row.selected = row.item == selected;
        row.tooltip = cost_text(row.item, controls.pass) +
                      " The shade is its fraction of all FLOP. Click for its formulas.";
    }
}

// --- controls

CostFieldView field_of(CostSize size, const CostSizes& sizes) {
    const CostSizeInfo& of = info(size);
    CostFieldView field;
    field.size = size;
    field.label = of.symbol;
    field.value = sizes[size];
    field.low = of.least;
    field.high = of.most;
    field.heading = fmt::format("{}: {}", of.symbol, of.text);
    field.text =
        fmt::format("{} to {}. Double-click to type.", grouped(of.least), grouped(of.most));
    return field;
}

void set_controls(CostView& view, const AppState& state) {
    const CostControls& controls = cost_controls(state);
    view.presets = cost_presets();
    view.preset_shown = "custom sizes";
    for (std::size_t n = 0; n < view.presets.size(); ++n) {
        view.preset_names.push_back(view.presets[n].text);
        const auto document = document_sizes(state);
        const bool same = view.presets[n].sizes ? *view.presets[n].sizes == controls.sizes
                                                : document && *document == controls.sizes;
        if (!same || view.preset >= 0) continue;
        view.preset = static_cast<int>(n);
        view.preset_shown = view.presets[n].text;
    }
    view.sharing_names = {"MHA", "GQA", "MQA"};
    view.sharing = static_cast<int>(sharing_of(controls.sizes));
    view.controls = controls;
    view.tokens = controls.sizes[CostSize::tk];
    view.look = cost_look(state);
    const bool operations = view.look.rows == CostRows::operations;
    for (std::size_t n = 0; n < kCostSizeCount; ++n)
        if (const auto size = static_cast<CostSize>(n); operations || size < CostSize::latent)
            view.fields.push_back(field_of(size, controls.sizes));
}

// --- measured

std::string time_text(double ms) {
    return ms < 999.5 ? significant(ms, 3) + " ms" : significant(ms * 1e-3, 3) + " s";
}

CostTimeView time_view(std::string title, double predicted, double measured, std::string tooltip) {
    CostTimeView time;
    time.title = std::move(title);
    time.predicted = time_text(predicted);
    time.measured = time_text(measured);
    time.ratio = percent(predicted / measured) + " of the roofline";
    time.tooltip = std::move(tooltip);
    return time;
}

void set_times(CostMeasureView& view, const CostMeasurement& last) {
    view.machine = fmt::format("{} GFLOP/s, {} GB/s (10⁹)", significant(last.peak_gflops, 3),
                               significant(last.stream_gbytes, 3));
    view.times.push_back(time_view(
        "every stage stored", predicted_staged_ms(last.of, last.peak_gflops, last.stream_gbytes),
        last.staged_ms,
        "staged: the predicted time is the sum over the stages of the longer of FLOP / peak and "
        "bytes / bandwidth."));
    view.times.push_back(time_view(
        "fused", predicted_fused_ms(last.of, last.peak_gflops, last.stream_gbytes), last.fused_ms,
        "fused: the predicted time is the longer of FLOP of the products / peak and bytes of the "
        "operands / bandwidth."));
    const CostSizes& sizes = last.of.sizes;
    view.text = fmt::format(
        "{} of B {}, H {}, G {}, Tq {}, Tk {}, d_k {}, d_v {}, fp32; median of {} runs",
        last.of.pass == CostPass::forward ? "Forward" : "Backward", sizes[CostSize::batch],
        sizes[CostSize::heads], sizes[CostSize::kv_heads], grouped(sizes[CostSize::tq]),
        grouped(sizes[CostSize::tk]), sizes[CostSize::d_k], sizes[CostSize::d_v], last.runs);
}

CostMeasureView measure_view(const AppState& state) {
    CostMeasureView view;
    const std::string failure = failure_of(state, "cost");
    view.busy = cost_look(state).measures && failure.empty();
    const auto& last = cost_look(state).last;
    const std::string why = no_measure_text(cost_controls(state));
    if (last && last->fault.empty() && last->of == measured_part(cost_controls(state))) {
        set_times(view, *last);
        return view;
    }
    view.possible = why.empty();
    view.fault = !why.empty() || !failure.empty() || (last && !last->fault.empty());
    view.text = !why.empty()                   ? ""  // M says why
                : !failure.empty()             ? failure
                : last && !last->fault.empty() ? last->fault
                : last ? "The last measurement used other settings. Press M to measure again."
                       : "Not measured yet. Press M to run the engine at these sizes.";
    return view;
}

}  // namespace

CostSum sum_of(const std::vector<StageCost>& stages) {
    CostSum sum;
    const auto add = [](CostFormula& to, const CostFormula& from) {
        to.insert(to.end(), from.begin(), from.end());
    };
    for (const StageCost& stage : stages) {
        add(sum.flop, stage.flop);
        add(sum.read, stage.read);
        add(sum.written, stage.written);
        add(sum.stored, stage.stored);
    }
    return sum;
}

Index next_tokens(Index tokens, int steps) {
    const double power = std::log2(static_cast<double>(std::max<Index>(tokens, 1)));
    const double next = steps > 0 ? std::floor(power) + 1.0 : std::ceil(power) - 1.0;
    return static_cast<Index>(std::exp2(std::clamp(next, 0.0, 24.0)));
}

Index nearest_tokens(double tokens) {
    const double power = std::exp2(std::round(std::log2(std::max(tokens, 1.0))));
    if (std::abs(std::log2(tokens / power)) < 0.12) return static_cast<Index>(power);
    const double unit = std::pow(10.0, std::max(0.0, std::floor(std::log10(tokens)) - 1.0));
    return static_cast<Index>(std::round(tokens / unit) * unit);
}

SetCostSize shared_heads(const CostSizes& sizes, HeadSharing sharing) {
    const Index heads = sizes[CostSize::heads];
    Index shared = heads;
    if (sharing == HeadSharing::multi_query) shared = 1;
    if (sharing == HeadSharing::grouped)
        for (const Index by :
             {7, 5, 3, 2, 8, 4})  // the last that divides: groups of 4 where they can be
            if (heads % by == 0 && heads > by) shared = heads / by;
    return {CostSize::kv_heads, shared};
}

CostView build_cost_view(const AppState& state, double memory) {
    const CostControls& controls = cost_controls(state);
    CostView view;
    set_controls(view, state);
    view.sentence = cost_sentence(controls);
    view.note = cost_note(controls, memory);
    view.notes = cost_notes(controls);
    view.plot = plot_of(controls.sizes, memory);
    for (const Holding storage : kStorages) view.cards.push_back(card_of(storage, state, memory));
    if (view.look.rows == CostRows::operations)
        set_operations(view, controls.sizes, view.look.item);
    else
        set_rows(view, controls, view.look.item);
    view.measure = measure_view(state);
    view.status = view.measure.busy ? "measuring…" : view.measure.possible ? "counted" : "";
    if (!view.measure.times.empty()) view.status = "counted and measured";
    return view;
}

CostView build_cost_view(const AppState& state) {
    return build_cost_view(state, static_cast<double>(memory_bytes()));
}

}  // namespace attn::view

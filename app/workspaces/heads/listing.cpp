#include <fmt/format.h>

#include "app/common/actions.h"
#include "app/common/document/heads.h"
#include "app/common/format.h"
#include "app/common/state.h"
#include "app/workspaces/heads/compute.h"
#include "app/workspaces/heads/text.h"
#include "app/workspaces/heads/view.h"
#include "core/io/npy.h"
#include "core/scores/score.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

constexpr int kTicks = 5;

std::string terms_of(const HeadsFilter& filter) {
    std::string text;
    if (filter.label == kUnlabelled)
        text = "no label";
    else if (const auto label = find_head_measure(filter.label))
        text = fmt::format("label {}", label_titles(*label));
    if (const auto measure = find_head_measure(filter.measure))
        text += fmt::format("{}{} ≥ {}", text.empty() ? "" : ", ", info(*measure).title,
                            measure_text(*measure, filter.least));
    return text;
}

HeadMeasure measure_of(const std::string& key) {
    return find_head_measure(key).value_or(HeadMeasure::entropy);
}

/// Where an axis ends: 1 of shares, else the largest that is defined.
double end_of(const HeadsResult& result, HeadMeasure measure) {
    double end = info(measure).upper_bound == 1.0 ? 1.0 : 0.0;
    for (const HeadFacts& facts : result.heads)
        end = std::max(end, facts.measures[measure].value_or(0.0));
    return end > 0.0 ? end : 1.0;
}

ScatterAxis axis_of(HeadMeasure measure, double end) {
    ScatterAxis axis;
    axis.title = info(measure).title;
    axis.formula = info(measure).formula;
    for (int n = 0; n < kTicks; ++n) axis.ticks.push_back(tick(end * n / (kTicks - 1)));
    axis.current = static_cast<int>(measure);
    return axis;
}

}  // namespace

HeadsScatter heads_scatter(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    const HeadMeasure x = measure_of(look.scatter_x);
    const HeadMeasure y = measure_of(look.scatter_y);
    const double x_end = end_of(*look.result, x);
    const double y_end = end_of(*look.result, y);
    HeadsScatter scatter{axis_of(x, x_end), axis_of(y, y_end), {}, {}};
    Index without = 0;
    for (const HeadFacts& facts : look.result->heads) {
        if (!passes(look.filter, facts)) continue;
        const auto& across = facts.measures[x];
        const auto& up = facts.measures[y];
        if (!across || !up) {
            ++without;
            continue;
        }
        scatter.dots.push_back({facts.place, static_cast<float>(*across / x_end),
                                static_cast<float>(*up / y_end), facts.place == head_here(state),
                                pin_letter(look, facts.place)});
    }
    if (without > 0)
        scatter.note = fmt::format("{} head{} not drawn: a measure is not defined", without,
                                   without == 1 ? "" : "s");
    return scatter;
}

HeadsTable heads_table(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    HeadsTable table;
    table.sort = look.sort;
    const auto measures = heads_measures(state.document());
    for (const HeadMeasureInfo& each : measures)
        table.columns.push_back({std::string(each.key), std::string(each.title),
                                 fmt::format("{}\n{}", each.formula, each.source)});
    const HeadsResult* const alone = current_measures(state);
    const HeadsResult& result = alone != nullptr ? *alone : *look.result;
    for (const HeadPlace place : heads_in_order(result, look.sort)) {
        const HeadFacts& facts = *result.find(place);
        if (!passes(look.filter, facts)) continue;
        HeadsTableRow row{place,
                          head_name(place),
                          facts.label ? std::string(title_of(*facts.label)) : "",
                          {},
                          place == head_here(state)};
        for (const HeadMeasureInfo& each : measures)
            row.cells.push_back(measured(facts.measures[each.measure]));
        table.rows.push_back(std::move(row));
    }
    return table;
}

bool passes(const HeadsFilter& filter, const HeadFacts& facts) {
    const bool is_named = facts.label && info(facts.label->name).key == filter.label;
    const bool is_unnamed = filter.label == kUnlabelled && !facts.label;
    if (!filter.label.empty() && !is_named && !is_unnamed) return false;
    const auto measure = find_head_measure(filter.measure);
    if (!measure) return true;
    const auto& value = facts.measures[*measure];
    return value && *value >= filter.least;
}

std::string shown_count(const HeadsLook& look) {
    if (!look.filter.filters() || !look.result) return {};
    const auto& heads = look.result->heads;
    const auto count = std::ranges::count_if(
        heads, [&](const HeadFacts& facts) { return passes(look.filter, facts); });
    return fmt::format("{} of {} shown", count, heads.size());
}

std::string filter_text(const AppState& state) {
    const HeadsFilter& filter = heads_look(state).filter;
    if (!filter.filters()) return "All heads are shown.";
    const std::string count = shown_count(heads_look(state));
    if (count.empty()) return fmt::format("Only heads with {}.", terms_of(filter));
    return fmt::format("{}: {}.", count, terms_of(filter));
}

}  // namespace attn::view

#include "app/workspaces/numerics/row.h"

#include <cmath>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/workspaces/numerics/state.h"
#include "core/stages.h"
#include "core/trace.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

/// What softmax is given; what scaled it alone where a backend keeps no more.
Stage input_stage(const AppState& state) {
    for (const Stage stage : {Stage::masked, Stage::biased, Stage::scaled})
        if (is_stored_stage(state, stage)) return stage;
    return Stage::masked;
}

/// The query that Step looks at.
Index shared_query(const AppState& state, Index queries) {
    const auto& selected = state.selected;
    const Stage* const stage = selected ? std::get_if<Stage>(&selected->tensor) : nullptr;
    const bool is_query = stage && info(*stage).rows == Axis::query;
    return is_query && selected->row >= 0 && selected->row < queries ? selected->row : 0;
}

}  // namespace

Result<std::vector<double>> document_logits(const AppState& state) {
    if (const std::string why = stages_lack(state.document()); !why.empty())
        return bad_input("the document has no stages here: " + why);
    const Stage stage = input_stage(state);
    if (!is_stored_stage(state, stage))
        return bad_input(
            "the backend stores no scores of the document; press 1 S, then select another");
    const auto values = sheet_of(state, stage).values;
    if (values.rows < 1 || values.columns < 1) return bad_input("the document has no scores");
    const Tensor& sinks = state.document().inputs->params[Param::sinks];
    const Index keys = kMostNumericsKeys - (sinks.empty() ? 0 : 1);
    if (values.columns > keys)
        return bad_input(fmt::format("the document's row has {} keys; at most {} are shown here",
                                     grouped(values.columns), grouped(keys)));
    const auto row = values.row(shared_query(state, values.rows));
    std::vector<double> logits(row.begin(), row.end());
    if (!sinks.empty()) logits.push_back(sinks(0, 0, 0, state.head));
    return logits;
}

std::string document_row_text(const AppState& state) {
    const Index queries = state.document().size.tq;
    const bool sinks = has_sinks(state.document());
    return fmt::format("query {}, {}{}",
                       axis_label(state, Axis::query, shared_query(state, queries)),
                       head_description(state.head, state.document().size.heads),
                       sinks ? "; the last one is the sink" : "");
}

std::vector<double> shown_logits(const AppState& state) {
    const NumericsControls& controls = numerics_controls(state);
    if (controls.row == LogitRow::document)
        if (auto row = document_logits(state)) return *std::move(row);
    return controls.logits;
}

std::string row_missing_data(const AppState& state) {
    if (numerics_controls(state).row == LogitRow::typed) return {};
    const auto row = document_logits(state);
    return row ? "" : row.error().text();
}

Result<void> check_logits(const std::vector<double>& logits) {
    const auto keys = std::ssize(logits);
    if (keys < 1 || keys > kMostNumericsKeys)
        return bad_input(
            fmt::format("the number of logits is {}: it must be 1 to {}", keys, kMostNumericsKeys));
    constexpr double kMost = 1e300;  // that the gain may multiply
    for (const double x : logits)
        if (std::isfinite(x) && std::abs(x) > kMost)
            return bad_input(
                fmt::format("a logit is {}: it must be ±∞, NaN or at most 10³⁰⁰", number(x)));
    return {};
}

std::span<const LessonRow> lesson_rows() {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    static const std::vector<LessonRow> rows{
        {"six keys", teaching_logits()},
        {"all below 0", {-3.0, -2.5, -2.75, -4.0, -2.625}},
        {"far from 0", {1000.0, 1001.0, 1002.0, 1000.5}},
        {"4096 equal keys", std::vector<double>(4096, 1.0)},
        {"one key masked", {1.0, -kInf, 2.0, 0.5}},
    };
    return rows;
}

}  // namespace attn::view

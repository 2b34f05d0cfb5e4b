#include <cmath>

#include <fmt/format.h>

#include "app/common/document/heads.h"
#include "app/common/format.h"
#include "app/common/inspector.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/workspaces/learn/actions.h"
#include "app/workspaces/learn/recording.h"
#include "app/workspaces/learn/text.h"
#include "app/workspaces/learn/view.h"
#include "core/note.h"
#include "core/text.h"
#include "core/train/language.h"
#include "core/train/own_data.h"
#include "core/train/task_table.h"
#include "core/train/trainer.h"

namespace attn::view {
namespace {

/// The record of the step shown; nullptr before the first.
const train::Record* record_of(const AppState& state, std::size_t run) {
    const Index step = shown_learn_step(state);
    const auto& records = learn_look(state).series->sides[run].records;
    if (step < 1 || step > std::ssize(records)) return nullptr;
    return records[step - 1].get();
}

/// What a run answers at a position, and how sure it is.
std::string answer_text(const LearnSeries& series, const train::Probe& probe, Index position) {
    const auto at = static_cast<std::size_t>(position);
    const auto word = [&](Index token) { return shown_token(series.vocabulary[token]); };
    const Index target = probe.example.targets[at];
    std::string text = fmt::format("answer “{}”", word(probe.answers[at]));
    if (target == train::kNoTarget) return text;
    return text + fmt::format("; the right answer “{}” has probability {}", word(target),
                              number(probe.shares[at]));
}

InspectorView row_page(const AppState& state) {
    const LearnLook& look = learn_look(state);
    const LearnSeries& series = *look.series;
    const LearnControls& controls = series.request.plan.controls;
    const bool recorded = is_recorded(state);  // its answers and rows are in the picture
    const Index i = recorded ? shown_word(state) : look.cell.row;
    const Index j = look.cell.column;
    const train::Probe& first = *series.sides[0].probe;
    if (i >= std::ssize(first.example.tokens) || j >= std::ssize(first.example.tokens))
        return only_hint("Click a cell of a map to compare its row here.");
    const auto word = [&](Index n) {
        const Index token = first.example.tokens[n];
        return shown_token(series.vocabulary[token]);
    };
    InspectorView view = titled(fmt::format("A[{} {}, {} {}] of {}", i, word(i), j, word(j),
                                            head_name({look.layer, look.head})),
                                Role::weight);
    InspectorTable table{fmt::format("weights of row {}", i), "key", {}, {}, std::nullopt};
    std::vector<MatrixView<const float>> rows;
    for (std::size_t run = 0; run < controls.count(); ++run) {
        const train::Spec& spec = controls.of(run);
        const train::Probe& probe = *series.sides[run].probe;
        if (!recorded)
            view.add(learn_title(series.request.plan, run), answer_text(series, probe, i));
        if (look.layer >= spec.layers || look.head >= spec.heads) continue;
        rows.push_back(probe.weights[look.layer].matrix(0, look.head));
        table.columns.push_back({run == 0 ? "A" : "B", Role::weight});
    }
    for (Index key = 0; key < std::ssize(first.example.tokens); ++key) {
        TableRow row{fmt::format("{} {}", key, word(key)), {}};
        for (const auto& weights : rows)
            row.cells.push_back({cell_number(weights(i, key), 4), Role::weight, {}});
        row.chosen = key == j;
        row.muted = train::info(controls.a.task).causal && key > i;
        row.bar = rows.empty() ? 0.0 : rows[0](i, key);
        table.rows.push_back(std::move(row));
    }
    if (!rows.empty()) view.value = number(rows[0](i, j));
    if (rows.size() == 2) view.value = fmt::format("A {}, B {}", view.value, number(rows[1](i, j)));
    view.formula = "a_ij = softmax_j(q_i·k_j · factor / τ), factor 1/√d_k or 1";
    if (!recorded) view.table = std::move(table);
    return view;
}

InspectorView heads_page(const AppState& state) {
    const LearnLook& look = learn_look(state);
    const LearnSeries& series = *look.series;
    const LearnControls& controls = series.request.plan.controls;
    if (record_of(state, 0) == nullptr)
        return only_hint(
            "After the first step, entropy and largest weight of every head appear here.");
    InspectorView view =
        titled(fmt::format("heads at step {}", grouped(shown_learn_step(state))), Role::weight);
    view.formula =
        "H = −Σ a ln a, in nats. p_max: largest weight. >0.99: fraction of rows whose p_max is "
        "above 0.99. Means over "
        "the rows of the batch that may attend to at least two keys.";
    InspectorTable table{"", "head", {}, {}, std::nullopt};
    for (std::size_t run = 0; run < series.request.plan.controls.count(); ++run)
        for (const char* name : {"H", "p_max", ">0.99"})
            table.columns.push_back({fmt::format("{} {}", run == 0 ? "A" : "B", name), Role::weight,
                                     std::string_view(name) == ">0.99"});
    for (const auto [layer, head] : each_cell(controls.layers(), controls.heads())) {
        TableRow row{head_name({layer, head}), {}};
        for (std::size_t run = 0; run < series.request.plan.controls.count(); ++run) {
            const train::Spec& spec = controls.of(run);
            const train::Record* record = record_of(state, run);
            const bool there = record && layer < spec.layers && head < spec.heads;
            if (!there) {
                row.cells.resize(row.cells.size() + 3, {"–", {}, {}});
                continue;
            }
            const train::HeadRecord& now = record->heads[layer * spec.heads + head];
            for (const float each : {now.entropy, now.max_probability, now.saturated})
                row.cells.push_back({cell_number(each, 3), Role::weight, {}});
        }
        row.chosen = layer == look.layer && head == look.head;
        for (TableCell& cell : row.cells) cell.on_click = {ShowLearnHead{layer, head}};
        table.rows.push_back(std::move(row));
    }
    view.table = std::move(table);
    return view;
}

/// Norm of a matrix's gradient at the step shown, of each run; then how far batches agree on it.
TableRow matrix_row(const AppState& state, const std::string& name) {
    const LearnSeries& series = *learn_look(state).series;
    const LearnControls& controls = series.request.plan.controls;
    TableRow row{name, {}};
    const auto add = [&](double value, int digits) {
        row.cells.push_back(
            {std::isfinite(value) ? significant(value, digits) : "–", Role::query, {}});
    };
    for (std::size_t run = 0; run < controls.count(); ++run) {
        const auto& own = series.sides[run].matrices;
        const auto found = std::ranges::find(own, name, &train::Matrix::name);
        const train::Record* record = record_of(state, run);
        const auto m = static_cast<std::size_t>(found - own.begin());
        const bool there = record && found != own.end() && m < record->gradient_norms.size();
        add(there ? static_cast<double>(record->gradient_norms[m]) : std::nan(""), 3);
    }
    for (std::size_t run = 0; run < controls.count(); ++run)
        add(learn_agreement(series.sides[run], controls.of(run), shown_learn_step(state), name), 2);
    return row;
}

InspectorView matrices_page(const AppState& state) {
    const LearnSeries& series = *learn_look(state).series;
    const LearnControls& controls = series.request.plan.controls;
    if (record_of(state, 0) == nullptr)
        return only_hint("After the first step, the gradient norm of every matrix appears here.");
    InspectorView view =
        titled(fmt::format("gradients at step {}", grouped(shown_learn_step(state))), Role::query);
    view.formula = fmt::format(
        "‖∂L/∂W‖ (Frobenius) of the step's batch, before clipping. agree: agreement of batches on "
        "it, 1 identical, {} noise.",
        significant(learn_noise(controls.a), 2));
    InspectorTable table{"", "matrix", {}, {}, std::nullopt};
    for (const char* what : {"", " agree"})
        for (std::size_t run = 0; run < controls.count(); ++run)
            table.columns.push_back({fmt::format("{}{}", run == 0 ? "A" : "B", what), Role::query});
    const auto& names = series.sides[0].matrices.size() >= series.sides[1].matrices.size()
                            ? series.sides[0].matrices
                            : series.sides[1].matrices;
    for (const train::Matrix& matrix : names) table.rows.push_back(matrix_row(state, matrix.name));
    view.table = std::move(table);
    return view;
}

/// The lines, by the answer's probability without each of them.
InspectorView lines_page(const AppState& state) {
    const train::Influences* const influences = shown_influences(state);
    if (influences == nullptr)
        return only_hint(
            left_out_request_of(state)
                ? "Press F to train again with each line left out in turn, and see how the "
                  "answer's probability changes."
                : "Train on your own lines to see the influence of each line.");
    const train::Influences& found = *influences;
    const LeftOutRequest& request = shown_left_out(state)->request;
    const auto data = train::read_own_data(request.spec.language->own_text());
    InspectorView view = titled("influence of each line", Role::output);
    view.value = percent_text(found.answer.probability);
    view.formula = fmt::format(
        "probability of the answer with all lines; below: after {} steps without the line, the "
        "largest change first",
        grouped(request.steps));
    InspectorTable table{"", "line", {{"without it", Role::output}}, {}, std::nullopt};
    for (const train::LineInfluence& each : found.lines) {
        const train::OwnLine& line = data->lines[each.line];
        TableRow row{fmt::format("{} {}", line.number, line.typed),
                     {{percent_text(each.probability), Role::output, {}}}};
        row.bar = each.change(found.answer.probability);
        table.rows.push_back(std::move(row));
    }
    view.table = std::move(table);
    return view;
}

}  // namespace

InspectorView learn_inspector(const AppState& state) {
    const LearnLook& look = learn_look(state);
    if (look.page == LearnPage::lines) {
        InspectorView lines = lines_page(state);
        if (!lines.empty) lines.as_text = lines.as_latex = lines.as_python = text_of(lines);
        return lines;
    }
    if (!look.series || !look.series->sides[0].probe)
        return only_hint("Press Space to train. The selected row appears here.");
    const bool is_row = look.page != LearnPage::heads && look.page != LearnPage::matrices;
    if (is_recorded(state) && !is_row)
        return only_hint(
            "The recorded run does not have these numbers. “Train it here” computes them.");
    InspectorView view = look.page == LearnPage::heads      ? heads_page(state)
                         : look.page == LearnPage::matrices ? matrices_page(state)
                                                            : row_page(state);
    if (!view.empty) view.as_text = view.as_latex = view.as_python = text_of(view);
    return view;
}

}  // namespace attn::view

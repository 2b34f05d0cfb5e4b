#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/inspector.h"
#include "app/common/state.h"
#include "app/workspaces/cost/view.h"
#include "core/note.h"
#include "core/tex.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

/// "FLOP": the formula, its numbers, the exact count, and the same in a unit.
Line count_line(std::string label, const CostFormula& formula, const CostSizes& sizes,
                std::string (*text)(double)) {
    if (formula.empty()) return text_line(std::move(label), "0");
    const auto count = count_of(formula, sizes);
    Line line = text_line(std::move(label), fmt::format("{} = {} = {}", formula_text(formula),
                                                        numbers_text(formula, sizes),
                                                        count ? grouped(*count) : "above 2⁶³ − 1"));
    line.pieces.push_back({" = " + text(estimate_of(formula, sizes)), {}, false, {}});
    return line;
}

Holding storage_of(CostItem item) {
    return static_cast<Holding>(static_cast<int>(item) - static_cast<int>(CostItem::materialised));
}

/// The stage's cost, or the sum; an empty one where Q, K and V are given and so are not computed.
CostSum cost_of(CostItem item, const CostControls& controls) {
    auto stages = stage_costs(controls.pass, controls.sizes);
    if (item != CostItem::total)
        std::erase_if(stages, [&](const StageCost& cost) { return item_of(cost.stage) != item; });
    return sum_of(stages);
}

void explain_storage(InspectorView& view, Holding storage, const CostControls& controls) {
    const CostFormula formula = stored_bytes(storage);
    view.value = cost_bytes(estimate_of(formula, controls.sizes));
    view.tex = formula_tex(formula);
    view.lines.push_back(count_line("bytes", formula, controls.sizes, cost_bytes));
    if (storage == Holding::kv_cache) return;
    view.lines.push_back(count_line("FLOP of the products", product_flop(controls.pass, storage),
                                    controls.sizes, flop_text));
}

void explain_operation(InspectorView& view, CostOperation operation, const CostControls& controls) {
    const OperationCounts counts = operation_counts(operation);
    view.value = flop_text(estimate_of(counts.flop, controls.sizes));
    view.tex = formula_tex(counts.flop);
    view.lines.push_back(count_line("FLOP", counts.flop, controls.sizes, flop_text));
    const bool grows = !counts.each_token.empty();
    view.lines.push_back(count_line(grows ? "bytes of the cache" : "bytes of the state",
                                    counts.held, controls.sizes, cost_bytes));
    if (grows)
        view.lines.push_back(
            count_line("bytes of each token", counts.each_token, controls.sizes, cost_bytes));
    else
        view.add("bytes of each token", "0: the state does not grow.");
}

void explain_stage(InspectorView& view, CostItem item, const CostControls& controls) {
    const CostSum cost = cost_of(item, controls);
    const double flop = estimate_of(cost.flop, controls.sizes);
    view.value = flop_text(flop);
    if (item != CostItem::total) view.tex = formula_tex(cost.flop);
    if (cost.written.empty())
        return view.add("", item == CostItem::output
                                ? "O = 0: there is no W_O, so nothing is computed."
                                : "E = 0: Q, K and V are given, so nothing is computed.");
    if (item == CostItem::total) {
        for (const auto& [label, formula] :
             {std::pair("read", &cost.read), {"written", &cost.written}, {"kept", &cost.stored}})
            view.add(label, cost_bytes(estimate_of(*formula, controls.sizes)));
    } else {
        view.lines.push_back(count_line("FLOP", cost.flop, controls.sizes, flop_text));
        view.lines.push_back(count_line("bytes read", cost.read, controls.sizes, cost_bytes));
        view.lines.push_back(count_line("bytes written", cost.written, controls.sizes, cost_bytes));
        view.lines.push_back(count_line(controls.pass == CostPass::forward
                                            ? "kept for the backward pass"
                                            : "gradients of parameters",
                                        cost.stored, controls.sizes, cost_bytes));
    }
    const double bytes =
        estimate_of(cost.read, controls.sizes) + estimate_of(cost.written, controls.sizes);
    view.add("arithmetic intensity", fmt::format("{} / {} = {} FLOP per byte", flop_text(flop),
                                                 cost_bytes(bytes), significant(flop / bytes, 3)));
}

/// A line for each letter of the formula: "Tq: queries = 8,192".
void explain_letters(InspectorView& view, const CostFormula& formula, const CostSizes& sizes) {
    for (std::size_t n = 0; n < kCostSizeCount; ++n) {
        const auto size = static_cast<CostSize>(n);
        const auto has = [&](const CostTerm& term) {
            return std::ranges::find(term.sizes, size) != term.sizes.end();
        };
        if (std::ranges::any_of(formula, has))
            view.add(std::string(info(size).symbol),
                     fmt::format("{}: {}", info(size).text, grouped(sizes[size])));
    }
}

/// The sizes as variables, and the count as their product.
std::string python_of(const CostFormula& formula, const CostSizes& sizes) {
    std::string text;
    for (std::size_t n = 0; n < kCostSizeCount; ++n)
        text += fmt::format("{} = {}\n", info(static_cast<CostSize>(n)).symbol,
                            count_of({{1, {static_cast<CostSize>(n)}}}, sizes).value_or(0));
    std::string sum;
    for (const CostTerm& term : formula) {
        sum += sum.empty() ? "" : " + ";
        sum += std::to_string(term.factor);
        for (const CostSize size : term.sizes) sum += fmt::format(" * {}", info(size).symbol);
    }
    return text + fmt::format("print({})\n", sum.empty() ? "0" : sum);
}

}  // namespace

InspectorView cost_inspector(const AppState& state) {
    const CostControls& controls = cost_controls(state);
    const CostItem item = cost_look(state).item;
    constexpr const char* kTitles[] = {
        "Q",       "K",       "V",      "scores",     "scaled",         "masked",
        "weights", "context", "output", "all stages", "weights stored", "weights by chunks",
        "fused",   "KV cache"};
    InspectorView view;
    view.empty = false;
    const CostOperationInfo* const operation = operation_of(item);
    view.title = operation ? operation->title : kTitles[static_cast<std::size_t>(item)];
    if (operation)
        view.title += ", forward";
    else if (!is_storage(item))
        view.title += controls.pass == CostPass::forward ? ", forward" : ", backward";
    view.role = Role::weight;
    if (operation)
        explain_operation(view, operation->operation, controls);
    else if (is_storage(item))
        explain_storage(view, storage_of(item), controls);
    else
        explain_stage(view, item, controls);
    view.formula = view.tex.empty() ? "" : tex::plain_text(view.tex);
    const CostFormula formula = operation          ? operation_counts(operation->operation).flop
                                : is_storage(item) ? stored_bytes(storage_of(item))
                                                   : cost_of(item, controls).flop;
    explain_letters(view, formula, controls.sizes);
    view.as_text = text_of(view);
    view.as_latex = fmt::format("${} = {}$\n", formula_tex(formula),
                                count_of(formula, controls.sizes).value_or(0));
    view.as_python = python_of(formula, controls.sizes);
    return view;
}

}  // namespace attn::view

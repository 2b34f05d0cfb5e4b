#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/words.h"
#include "app/workspaces/heads/grids.h"
#include "app/workspaces/heads/view.h"
#include "app/workspaces/heads/words.h"

namespace attn::view {
namespace {

std::string difference_name(const SweptModel& swept) {
    return fmt::format("logit {} − logit {}", swept.a, swept.b);
}

double shown_of(const HeadsLook& look, const HeadSweep& sweep, const SweptHead& head) {
    return look.sweep_show == SweepShow::kl ? head.kl : sweep.change(head);
}

std::string lacks_words(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    if (model_of(state.document()) == nullptr)
        return "A sweep changes each head of a trained model in turn: open a model's folder.";
    const SweptModel* const swept = current_sweep(state);
    if (swept == nullptr)
        return fmt::format("Each of {} in turn is changed, and the model goes on from there: {}.",
                           counted(std::ssize(look.result->heads), "head"),
                           percent(look.sweep_done));
    return swept->fault.empty() ? std::string() : sentence(swept->fault);
}

std::string title_of(const HeadsLook& look, const SweptModel& swept) {
    return look.sweep_show == SweepShow::kl ? "KL of the next token"
                                            : fmt::format("Δ({})", difference_name(swept));
}

GridView grid_of(const AppState& state, const SweptModel& swept) {
    const HeadsLook& look = heads_look(state);
    const HeadSweep& sweep = swept.sweep;
    std::vector<float> values;
    Sheet sheet;
    sheet.id = Stage::weights;
    for (const SweptHead& head : sweep.swept)
        values.push_back(static_cast<float>(shown_of(look, sweep, head)));
    sheet.values = {values.data(), sweep.layers, sweep.heads, sweep.heads};
    for (Index n = 0; n < sweep.layers; ++n) sheet.row_labels.push_back(fmt::format("layer {}", n));
    for (Index n = 0; n < sweep.heads; ++n)
        sheet.column_labels.push_back(fmt::format("head {}", n));
    sheet.role = Role::score;
    const bool kl = look.sweep_show == SweepShow::kl;
    GridView grid =
        make_grid(state, sheet, {kl ? ColorScale::unit : ColorScale::diverging, false, {}});
    ColorRange range = grid.range;
    if (kl) {
        range.high = 0.0;
        for (const float value : values)
            if (std::isfinite(value)) range.high = std::max(range.high, double{value});
        if (range.high == 0.0) range.high = 1.0;
    }
    color_grid(grid, {range, {}}, state.theme);
    grid.title = title_of(look, swept);
    grid.tooltip = fmt::format("context {}: {}", ablation_words(look), sweep_formula(look));
    grid.editable = false;
    grid.selected = {head_here(state).layer, head_here(state).head};
    return grid;
}

std::string largest_words(const HeadsLook& look, const SweptModel& swept, const SweptHead& most,
                          Index others) {
    if (look.sweep_show == SweepShow::kl)
        return fmt::format(
            "KL(untouched‖changed) of the next token is largest where the context of {} is {}: {} "
            "nats{}.",
            head_name(most.at), ablation_words(look), number(most.kl), as_much_words(others));
    return fmt::format("{} changes most where the context of {} is {}: by {} from {}{}.",
                       difference_name(swept), head_name(most.at), ablation_words(look),
                       number(swept.sweep.change(most)), number(swept.sweep.difference),
                       as_much_words(others));
}

}  // namespace

std::string_view ablation_words(const HeadsLook& look) {
    return look.ablation == Ablation::mean ? "its mean over positions" : "0";
}

std::string_view sweep_formula(const HeadsLook& look) {
    return look.sweep_show == SweepShow::kl
               ? "KL = Σ p ln(p / q) of the next token, p untouched, q changed, in nats"
               : "logit A − logit B of the next token, changed less untouched; A and B are its two "
                 "likeliest, untouched";
}

SweepView head_sweep(const AppState& state) {
    SweepView view{lacks_words(state), {}};
    if (view.lacks.empty()) view.grid = grid_of(state, *current_sweep(state));
    return view;
}

std::string sweep_point(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    const SweptModel* const swept = current_sweep(state);
    if (look.list != HeadsList::sweep || swept == nullptr || swept->sweep.swept.empty()) return {};
    const auto size = [&](const SweptHead& head) {
        return std::abs(shown_of(look, swept->sweep, head));
    };
    const auto& heads = swept->sweep.swept;
    if (!std::ranges::all_of(heads,
                             [&](const SweptHead& each) { return std::isfinite(size(each)); }))
        return {};
    const SweptHead& most = *std::ranges::max_element(heads, {}, size);
    if (size(most) == 0.0)
        return fmt::format("No head whose context is {} changes {}.", ablation_words(look),
                           look.sweep_show == SweepShow::kl ? "the next token's probabilities"
                                                            : difference_name(*swept));
    return largest_words(look, *swept, most, std::ranges::count(heads, size(most), size) - 1);
}

std::string swept_words(const AppState& state, HeadPlace place) {
    const SweptModel* const swept = current_sweep(state);
    if (heads_look(state).list != HeadsList::sweep || swept == nullptr) return {};
    const auto& heads = swept->sweep.swept;
    const auto found = std::ranges::find(heads, place, &SweptHead::at);
    if (found == heads.end()) return {};
    return fmt::format("{} is {}, untouched {}; KL(untouched‖changed) {} nats",
                       difference_name(*swept), number(found->difference),
                       number(swept->sweep.difference), number(found->kl));
}

}  // namespace attn::view

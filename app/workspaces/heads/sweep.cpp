#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/heads.h"
#include "app/common/document/model_text.h"
#include "app/common/document/swept.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/workspaces/heads/grids.h"
#include "app/workspaces/heads/shown.h"
#include "app/workspaces/heads/text.h"
#include "app/workspaces/heads/view.h"

namespace attn::view {
namespace {

double shown_of(const HeadsLook& look, const HeadSweep& sweep, const SweptHead& head) {
    return look.sweep_show == SweepShow::kl ? head.kl : sweep.change(head);
}

bool is_of_heads(const HeadSweep& sweep) { return sweep.part == SweepPart::heads; }

/// Columns of the picture.
Index columns_of(const HeadSweep& sweep) {
    return is_of_heads(sweep) ? sweep.heads : sweep.positions;
}

/// Nothing stands for its position in the other text.
bool is_unpaired(const HeadSweep& sweep, const SweptHead& each) {
    return !is_of_heads(sweep) && sweep.ablation == Ablation::patch &&
           sweep.alignment[each.position] < 0;
}

std::string missing_data_text(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    if (model_of(state.document()) == nullptr)
        return "A sweep changes each head of a trained model in turn: open a model's folder.";
    if (look.ablation == Ablation::patch && look.from.empty())
        return "A patch needs another text: type it after “from”.";
    const SweptModel* const swept = current_sweep(state);
    if (std::string why = failure_of(state, "head sweep"); swept == nullptr && !why.empty())
        return why;
    if (swept == nullptr && look.part != SweepPart::heads)
        return fmt::format(
            "Changing each of {} at each position, then running the rest of the model: {}.",
            counted(std::ssize(state.document().layers), "layer"), percent(look.sweep_done));
    if (swept == nullptr)
        return fmt::format("Changing each of {} in turn, then running the rest of the model: {}.",
                           counted(std::ssize(look.result->heads), "head"),
                           percent(look.sweep_done));
    return swept->fault.empty() ? std::string() : sentence(swept->fault);
}

std::string title_of(const AppState& state, const SweptModel& swept) {
    return heads_look(state).sweep_show == SweepShow::kl
               ? fmt::format("KL of the {}", read_out_noun(state.document()))
               : fmt::format("Δ({})", difference_name(swept));
}

GridView grid_of(const AppState& state, const SweptModel& swept) {
    const HeadsLook& look = heads_look(state);
    const HeadSweep& sweep = swept.sweep;
    const Index columns = columns_of(sweep);
    std::vector<float> values;
    IsMasked unpaired;
    Sheet sheet;
    sheet.id = Stage::weights;
    for (const SweptHead& each : sweep.swept) {
        const bool none = is_unpaired(sweep, each);
        values.push_back(none ? 0.0F : static_cast<float>(shown_of(look, sweep, each)));
        unpaired.push_back(none ? 1 : 0);
    }
    sheet.values = {values.data(), sweep.layers, columns, columns};
    for (Index n = 0; n < sweep.layers; ++n) sheet.row_labels.push_back(fmt::format("L{}", n));
    for (Index n = 0; n < columns && is_of_heads(sweep); ++n)
        sheet.column_labels.push_back(fmt::format("H{}", n));
    if (!is_of_heads(sweep)) sheet.column_labels = axis_labels(state, Axis::query, columns);
    sheet.role = Role::score;
    const bool kl = look.sweep_show == SweepShow::kl;
    GridView grid = make_grid(
        state, sheet, {kl ? ColorScale::unit : ColorScale::diverging, false, std::move(unpaired)});
    ColorRange range = grid.range;
    if (kl) {
        range.high = 0.0;
        for (const float value : values)
            if (std::isfinite(value)) range.high = std::max(range.high, double{value});
        if (range.high == 0.0) range.high = 1.0;
    }
    color_grid(grid, {range, {}}, state.theme);
    grid.title = title_of(state, swept);
    grid.tooltip =
        fmt::format("{}: {}; {}", part_text(look), ablation_text(look), sweep_formula(state));
    grid.editable = false;
    grid.selected = {head_here(state).layer, head_here(state).head};
    if (!is_of_heads(sweep)) {
        const large::Cell& cell = look.swept_cell;
        grid.selected.reset();
        if (cell.row < grid.rows && cell.column < grid.columns)
            grid.selected = {cell.row, cell.column};
    }
    return grid;
}

/// "the context of L0 H1", "the input of layer 2 at cat".
std::string place_description(const AppState& state, const HeadSweep& sweep,
                              const SweptHead& each) {
    if (is_of_heads(sweep)) return fmt::format("the context of {}", head_name(each.at));
    const std::string token = axis_labels(state, Axis::query, sweep.positions)[each.position];
    return sweep.part == SweepPart::mlp
               ? fmt::format("the MLP output of layer {} at {}", each.at.layer, token)
               : fmt::format("the input of layer {} at {}", each.at.layer, token);
}

std::string largest_description(const AppState& state, const SweptModel& swept,
                                const SweptHead& most, Index others) {
    const HeadsLook& look = heads_look(state);
    const std::string place = place_description(state, swept.sweep, most);
    if (look.sweep_show == SweepShow::kl)
        return fmt::format(
            "KL(untouched‖changed) of the {} is largest when {} is replaced by {}: {} nats{}.",
            read_out_noun(state.document()), place, ablation_text(look), number(most.kl),
            as_much_text(others));
    return fmt::format("{} changes most when {} is replaced by {}: by {} from {}{}.",
                       difference_name(swept), place, ablation_text(look),
                       number(swept.sweep.change(most)), number(swept.sweep.difference),
                       as_much_text(others));
}

/// The rows of tokens, once those of the other text are known.
std::optional<TokenPairs> pairs_view(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    const SweptModel* const swept = current_sweep(state);
    if (look.ablation != Ablation::patch || swept == nullptr || swept->others.empty())
        return std::nullopt;
    TokenPairs pairs;
    pairs.here = axis_labels(state, Axis::query, state.document().size.tq);
    for (const std::string& token : swept->others) pairs.there.push_back(shown_token(token));
    pairs.pairs = swept->fault.empty() ? pairs_of(swept->sweep.alignment)
                                       : parse_pairs(look.pairs).value_or(PairedTokens{});
    std::erase_if(pairs.pairs, [&](const auto& each) {
        return each.first >= std::ssize(pairs.here) || each.second >= std::ssize(pairs.there);
    });
    pairs.chosen = look.pairing;
    return pairs;
}

std::string difference_text(const SweptModel& swept, const SweptHead& each) {
    return fmt::format("{} is {}, untouched {}; KL(untouched‖changed) {} nats",
                       difference_name(swept), number(each.difference),
                       number(swept.sweep.difference), number(each.kl));
}

/// The sweep that is shown and has numbers; null: none.
const SweptModel* shown_sweep(const AppState& state) {
    const SweptModel* const swept = current_sweep(state);
    const bool there = swept != nullptr && !swept->sweep.swept.empty();
    return there && heads_look(state).list == HeadsList::sweep ? swept : nullptr;
}

}  // namespace

std::string difference_name(const SweptModel& swept) {
    return fmt::format("logit {} − logit {}", swept.a, swept.b);
}

std::string_view ablation_text(const HeadsLook& look) {
    constexpr std::string_view kDescriptions[] = {"0", "its mean over positions",
                                                  "its counterpart in the other text"};
    return kDescriptions[static_cast<std::size_t>(look.ablation)];
}

std::string_view part_text(const HeadsLook& look) {
    constexpr std::string_view kDescriptions[] = {"Each head's context",
                                                  "The input of each layer at each position",
                                                  "The output of each MLP at each position"};
    return kDescriptions[static_cast<std::size_t>(look.part)];
}

std::string sweep_formula(const AppState& state) {
    const std::string_view noun = read_out_noun(state.document());
    return heads_look(state).sweep_show == SweepShow::kl
               ? fmt::format("KL = Σ p ln(p / q) of the {}, p untouched, q changed, in nats", noun)
               : fmt::format(
                     "change of logit A − logit B of the {}; A and B are the two "
                     "most probable answers of the untouched run",
                     noun);
}

SweepView head_sweep(const AppState& state) {
    SweepView view{missing_data_text(state), {}, pairs_view(state)};
    if (view.missing_data.empty()) view.grid = grid_of(state, *current_sweep(state));
    return view;
}

std::string repaired(PairedTokens pairs, Index here, Index there) {
    const bool were = std::ranges::find(pairs, std::pair{here, there}) != pairs.end();
    std::erase_if(pairs,
                  [&](const auto& each) { return each.first == here || each.second == there; });
    if (!were) pairs.emplace_back(here, there);
    std::ranges::sort(pairs);
    return pairs_text(pairs);
}

std::string sweep_point(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    const SweptModel* const swept = current_sweep(state);
    if (look.list != HeadsList::sweep || swept == nullptr || swept->sweep.swept.empty()) return {};
    const auto size = [&](const SweptHead& head) {
        return std::abs(shown_of(look, swept->sweep, head));
    };
    std::vector<SweptHead> changed = swept->sweep.swept;
    std::erase_if(changed, [&](const SweptHead& each) { return is_unpaired(swept->sweep, each); });
    if (changed.empty() || !std::ranges::all_of(changed, [&](const SweptHead& each) {
            return std::isfinite(size(each));
        }))
        return {};
    const SweptHead& most = *std::ranges::max_element(changed, {}, size);
    const auto others = std::ranges::count(changed, size(most), size) - 1;
    if (size(most) > 0.0) return largest_description(state, *swept, most, others);
    const std::string what =
        look.sweep_show == SweepShow::kl
            ? fmt::format("the {}'s probabilities", read_out_noun(state.document()))
            : difference_name(*swept);
    if (!is_of_heads(swept->sweep))
        return fmt::format("No {} at one position changes {} if it is replaced by {}.",
                           swept->sweep.part == SweepPart::mlp ? "MLP output" : "layer's input",
                           what, ablation_text(look));
    return fmt::format("No head changes {} if its context is replaced by {}.", what,
                       ablation_text(look));
}

std::string swept_text(const AppState& state, HeadPlace place) {
    const SweptModel* const swept = shown_sweep(state);
    if (swept == nullptr || !is_of_heads(swept->sweep)) return {};
    const auto& heads = swept->sweep.swept;
    const auto found = std::ranges::find(heads, place, &SweptHead::at);
    return found == heads.end() ? std::string() : difference_text(*swept, *found);
}

std::optional<std::pair<std::string, std::string>> swept_cell_text(const AppState& state) {
    const SweptModel* const swept = shown_sweep(state);
    if (swept == nullptr || is_of_heads(swept->sweep)) return std::nullopt;
    const HeadSweep& sweep = swept->sweep;
    const large::Cell cell = heads_look(state).swept_cell;
    if (cell.row >= sweep.layers || cell.column >= sweep.positions) return std::nullopt;
    const auto n = static_cast<std::size_t>(cell.row * sweep.positions + cell.column);
    const SweptHead& each = sweep.swept[n];
    return std::pair{place_description(state, sweep, each),
                     is_unpaired(sweep, each) ? "not paired with a token of the other text"
                                              : difference_text(*swept, each)};
}

}  // namespace attn::view

#include <fmt/format.h>

#include "app/common/document/heads.h"
#include "app/common/format.h"
#include "app/common/pair_grid.h"
#include "app/common/state.h"
#include "app/workspaces/heads/grids.h"
#include "app/workspaces/heads/shown.h"
#include "app/workspaces/heads/text.h"
#include "app/workspaces/heads/view.h"
#include "core/scores/score.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

/// Eight that are told apart by colour-blind eyes (Okabe and Ito 2008), darker on paper.
constexpr Color kDark[kMostOver] = {{230, 159, 0, 255},   {86, 180, 233, 255}, {0, 190, 140, 255},
                                    {240, 228, 66, 255},  {90, 140, 255, 255}, {240, 110, 40, 255},
                                    {220, 140, 185, 255}, {200, 200, 200, 255}};
constexpr Color kLight[kMostOver] = {{160, 100, 0, 255},  {30, 120, 180, 255}, {0, 115, 85, 255},
                                     {125, 115, 0, 255},  {0, 60, 140, 255},   {175, 70, 0, 255},
                                     {165, 65, 120, 255}, {70, 70, 70, 255}};

bool is_as_large(const HeadsResult& result, HeadPlace a, HeadPlace b) {
    const auto one = result.weights(a), two = result.weights(b);
    return one.rows == two.rows && one.columns == two.columns;
}

}  // namespace

Color head_color(std::size_t n, ThemeName theme) {
    return theme == ThemeName::dark ? kDark[n] : kLight[n];
}

std::vector<HeadPlace> heads_together(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    const bool form = look.form == HeadForm::matrix || look.form == HeadForm::lines ||
                      look.form == HeadForm::alignment;
    const bool compares = look.pinned[0] && look.pinned[1];
    if (look.of == HeadsOf::head || !form || compares || !look.result) return {};
    const HeadPlace here = head_here(state);
    if (look.result->find(here) == nullptr) return {};
    std::vector<HeadPlace> places;
    for (const HeadFacts& facts : look.result->heads) {
        const bool taken = look.of == HeadsOf::layer ? facts.place.layer == here.layer
                                                     : passes(look.filter, facts);
        if (taken && is_as_large(*look.result, here, facts.place)) places.push_back(facts.place);
    }
    return places;
}

std::string together_text(const AppState& state, const std::vector<HeadPlace>& places) {
    if (places.size() == 1) return head_name(places.front());
    const std::string heads = counted(std::ssize(places), "head");
    return heads_look(state).of == HeadsOf::layer
               ? fmt::format("mean of {} of layer {}", heads, head_here(state).layer)
               : fmt::format("mean of {}", heads);
}

MeanMatrix mean_of_heads(const AppState& state, const std::vector<HeadPlace>& places) {
    const HeadsLook& look = heads_look(state);
    MeanMatrix mean;
    std::vector<double> sums;
    for (const HeadPlace place : places) {
        const HeadMatrix matrix = head_matrix(*look.result, look.show, place);
        if (!matrix.missing_data.empty()) {
            mean.missing_data = fmt::format("{} is not defined for {}: {}.", info(look.show).title,
                                            head_name(place), matrix.missing_data);
            return mean;
        }
        mean.rows = matrix.values.rows, mean.columns = matrix.values.columns;
        sums.resize(mean.rows * mean.columns, 0.0);
        for (const auto [i, j] : each_cell(mean)) sums[i * mean.columns + j] += matrix.values(i, j);
    }
    for (const double sum : sums)
        mean.values.push_back(static_cast<float>(sum / static_cast<double>(places.size())));
    mean.masked.assign(mean.values.size(), 1);
    for (const HeadPlace place : places) {
        const auto& allowed = look.result->allowed(place);
        for (std::size_t n = 0; n < mean.masked.size(); ++n)
            if (allowed.empty() || allowed[n] != 0 || std::isnan(mean.values[n]))
                mean.masked[n] = 0;
    }
    return mean;
}

ColorRange mean_range(const HeadsLook& look, const std::vector<HeadPlace>& places,
                      const MeanMatrix& mean, const ColorLook& colors) {
    ColorRange range = head_colors(look, places.front(), colors).range;
    if (!look.own_range) return range;
    const double largest = largest_of(key_largest(mean.matrix()), {});
    range.high = largest == 0.0 ? 1.0 : largest;
    if (info(look.show).has_sign) range.low = -range.high;
    return range;
}

GridView mean_grid(const AppState& state, const std::vector<HeadPlace>& places) {
    const HeadsLook& look = heads_look(state);
    const MeanMatrix mean = mean_of_heads(state, places);
    GridView grid = pair_grid(
        state, mean.matrix(),
        {info(look.show).has_sign ? ColorScale::diverging : ColorScale::unit, false, mean.masked},
        together_text(state, places));
    look_at(grid, look.pair, look.hovered_pair);
    grid.tooltip = fmt::format("Σ_h {} / n over {}", info(look.show).title,
                               counted(std::ssize(places), "head"));
    color_grid(grid, {mean_range(look, places, mean, color_look(state)), {}}, state.theme);
    return grid;
}

HeadLinesView lines_together(const AppState& state, const std::vector<HeadPlace>& places) {
    HeadLinesView view;
    const std::size_t count = std::min(places.size(), kMostOver);
    for (std::size_t n = 0; n < count; ++n) {
        HeadLinesView one = head_lines(state, places[n]);
        for (HeadLine& line : one.lines) line.color = head_color(n, state.theme);
        std::vector<HeadLine> all = std::move(view.lines);
        all.insert(all.end(), one.lines.begin(), one.lines.end());
        auto heads = std::move(view.heads);
        heads.emplace_back(head_name(places[n]), head_color(n, state.theme));
        view = std::move(one);
        view.lines = std::move(all);
        view.heads = std::move(heads);
    }
    std::ranges::stable_sort(view.lines, {}, &HeadLine::strength);
    view.title = count == places.size()
                     ? fmt::format("{} overlaid", counted(std::ssize(places), "head"))
                     : fmt::format("the first {} of {} heads", count, places.size());
    view.legend.resize(std::min<std::size_t>(view.legend.size(), 1));
    return view;
}

}  // namespace attn::view

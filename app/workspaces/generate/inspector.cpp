#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/inspector.h"
#include "app/common/state.h"
#include "app/workspaces/generate/view.h"
#include "core/tex.h"

namespace attn::view {
namespace {

/// Σ of p before it among those that top-k keeps, after temperature: what top-p compares.
double sum_before(const GenerateShown& shown, std::size_t place) {
    const auto& all = shown.candidates.all;
    const std::size_t retained =
        shown.how.top_k ? std::min(all.size(), static_cast<std::size_t>(*shown.how.top_k))
                        : all.size();
    const double most = all.front().logit;
    double whole = 0.0, before = 0.0;
    for (std::size_t n = 0; n < retained; ++n) {
        const double weight = std::exp((all[n].logit - most) / shown.how.temperature);
        whole += weight;
        if (n < place) before += weight;
    }
    return before / whole;
}

void add_settings(const GenerateShown& shown, std::size_t place, InspectorView& view) {
    const Candidate& it = shown.candidates.all[place];
    const Sampling& how = shown.how;
    if (how.greedy())
        return view.add("greedy", place == 0 ? "the largest logit, so it is taken"
                                             : fmt::format("{} ranked higher",
                                                           grouped(static_cast<Index>(place))));
    view.add("z / T", fmt::format("{} / {} = {}", number(it.logit), number(how.temperature),
                                  number(it.logit / how.temperature)));
    const bool in_k = !how.top_k || static_cast<Index>(place) < *how.top_k;
    if (how.top_k)
        view.add(fmt::format("top-k {}", *how.top_k),
                 fmt::format("{} ranked higher; {}", grouped(static_cast<Index>(place)),
                             in_k ? "kept" : "excluded"));
    if (how.top_p && in_k)
        view.add(fmt::format("top-p {}", number(*how.top_p)),
                 fmt::format("higher-ranked tokens have total probability {}; {}",
                             number(sum_before(shown, place)), it.retained ? "kept" : "excluded"));
    double sum = 0.0;
    for (Index n = 0; n < shown.candidates.retained; ++n) sum += shown.candidates.all[n].before;
    view.add("kept",
             fmt::format("{} of {} tokens, {} of softmax(z)", grouped(shown.candidates.retained),
                         grouped(std::ssize(shown.candidates.all)), percent(sum)));
}

/// Where u of the step falls among the kept tokens: the first whose sum of p, from the likeliest on, exceeds u.
void add_draw(const GenerateShown& shown, std::size_t place, InspectorView& view) {
    if (shown.how.greedy() || !shown.candidates.all[place].retained) return;
    double below = 0.0;
    for (std::size_t n = 0; n < place; ++n) below += shown.candidates.all[n].after;
    view.add("cumulative p", fmt::format("{} to {}", number(below),
                                         number(below + shown.candidates.all[place].after)));
    view.add("u",
             fmt::format(
                 "{} (seed {}, step {}): {}", number(shown.u), shown.how.seed, shown.at,
                 place == shown.next ? "in this interval, so selected" : "not in this interval"));
}

}  // namespace

InspectorView generate_inspector(const AppState& state) {
    if (cannot_generate(state))
        return only_hint("A model that predicts the next token shows its arithmetic here.");
    const auto shown = shown_of(state);
    const std::size_t place = explained_of(state);
    if (place >= shown->candidates.all.size()) return only_hint("There is nothing to sample here.");
    const Candidate& it = shown->candidates.all[place];
    InspectorView view = titled(quoted_token(state, it.id), Role::output);
    view.value = number(it.after);
    view.tex = shown->how.greedy()
                   ? R"(p_i = 1 \quad \mathrm{where} \quad z_i = \max_j z_j)"
                   : R"(p_i = \frac{e^{z_i / T}}{\sum_{j \,\mathrm{kept}} e^{z_j / T}})";
    view.formula = tex::plain_text(view.tex);
    view.add("token",
             fmt::format("{} of {}", grouped(it.id), grouped(std::ssize(shown->candidates.all))));
    view.add("logit z", number(it.logit));
    view.add("softmax of z", number(it.before));
    add_settings(*shown, place, view);
    view.add("p after sampling settings", it.retained ? number(it.after) : "0 (excluded)");
    add_draw(*shown, place, view);
    if (std::string experts = experts_text(state); !experts.empty())
        view.add("experts of the layer", std::move(experts));
    view.as_text = text_of(view);
    view.as_latex = fmt::format("${}$, $p = {}$\n", view.tex, exact(it.after));
    view.as_python = fmt::format("logit, p, p_after = {}, {}, {}\n", exact(it.logit),
                                 exact(it.before), exact(it.after));
    return view;
}

}  // namespace attn::view

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/workspaces/lookup/compute.h"
#include "app/workspaces/lookup/view.h"

namespace attn::view {

namespace {

std::vector<std::string> memory_reasons(const LookupControls& controls) {
    const MemoryRead read = memory_read(controls);
    const auto name = [&](Index n) { return shown_token(controls.pairs[n].key, kMostNamed); };
    std::vector<std::string> reasons;
    std::vector<Index> order;
    for (Index n = 0; n < std::ssize(read.scores); ++n) order.push_back(n);
    std::ranges::stable_sort(order, std::greater<>(), [&](Index n) { return read.scores[n]; });
    if (read.best.size() > 1) {
        reasons.emplace_back("Equal scores get equal weights.");
    } else if (order.size() > 1) {
        const double lead = read.scores[order[0]] - read.scores[order[1]];
        const double factor = std::exp(lead / controls.temperature);
        const std::string tau = significant(controls.temperature, 3);
        reasons.push_back(fmt::format("The score of “{}” leads that of “{}” by {}.", name(order[0]),
                                      name(order[1]), number(lead)));
        if (std::isfinite(factor))
            reasons.push_back(
                fmt::format("Softmax compares differences: with τ = {}, this lead makes the weight "
                            "e^({} / {}) = {} times as large.",
                            tau, number(lead), tau, significant(factor, 3)));
    }
    reasons.emplace_back(
        "A hard lookup returns one value. Attention returns a weighted average, which has a "
        "gradient and can be trained.");
    reasons.emplace_back(
        "A dictionary without the key fails. A soft lookup always returns an average, even if no "
        "key fits.");
    return reasons;
}

}  // namespace

std::vector<std::string> lookup_reasons(const AppState& state) {
    const LookupControls& controls = lookup_controls(state);
    switch (lookup_look(state).page) {
        case LookupPage::memory:
            return memory_reasons(controls);
        case LookupPage::capacity:
            return {
                fmt::format("Random directions in d_k = {} dimensions have cosines of mean 0 "
                            "and standard deviation 1/√{} = {}.",
                            controls.width, controls.width,
                            significant(1.0 / std::sqrt(static_cast<double>(controls.width)), 3)),
                "With more dimensions, random keys are closer to orthogonal and disturb a lookup "
                "less."};
        case LookupPage::similarity:
        case LookupPage::alignment:
            return {"A dot product is the cosine times both lengths.",
                    "A long key can therefore win over a key whose direction is closer to the "
                    "query's."};
        case LookupPage::permutation:
            return {"A dot product depends on two vectors, not on their places.",
                    "Without positions and without a mask, reordering the tokens only reorders "
                    "rows and columns.",
                    "A positional encoding or a causal mask makes positions matter."};
    }
    return {};
}

}  // namespace attn::view

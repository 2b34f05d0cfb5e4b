#include "app/workspaces/heads/filter.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/workspaces/heads/words.h"

namespace attn::view {
namespace {

bool has_label(const HeadsFilter& filter, const HeadFacts& facts) {
    if (filter.label.empty()) return true;
    if (filter.label == kUnlabelled) return !facts.label;
    return facts.label && info(facts.label->name).key == filter.label;
}

bool has_measure(const HeadsFilter& filter, const HeadFacts& facts) {
    const auto measure = find_head_measure(filter.measure);
    if (!measure) return true;
    const auto& value = facts.measures[*measure];
    return value && *value >= filter.least;
}

std::string terms_of(const HeadsFilter& filter) {
    std::string words;
    if (filter.label == kUnlabelled)
        words = "no label";
    else if (const auto label = find_head_measure(filter.label))
        words = fmt::format("label {}", info(*label).title);
    if (const auto measure = find_head_measure(filter.measure))
        words += fmt::format("{}{} ≥ {}", words.empty() ? "" : ", ", info(*measure).title,
                             measure_text(*measure, filter.least));
    return words;
}

}  // namespace

bool passes(const HeadsFilter& filter, const HeadFacts& facts) {
    return has_label(filter, facts) && has_measure(filter, facts);
}

std::string shown_count(const HeadsLook& look) {
    if (!look.filter.filters() || !look.result) return {};
    const auto& heads = look.result->heads;
    const auto count = std::ranges::count_if(
        heads, [&](const HeadFacts& facts) { return passes(look.filter, facts); });
    return fmt::format("{} of {} shown", count, heads.size());
}

std::string filter_words(const AppState& state) {
    const HeadsFilter& filter = heads_look(state).filter;
    if (!filter.filters()) return "All heads are shown.";
    const std::string count = shown_count(heads_look(state));
    if (count.empty()) return fmt::format("Only heads with {}.", terms_of(filter));
    return fmt::format("{}: {}.", count, terms_of(filter));
}

}  // namespace attn::view

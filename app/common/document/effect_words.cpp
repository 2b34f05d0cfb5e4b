#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/document/effect.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/state.h"

namespace attn::view {
namespace {

/// A stage in a sentence: "Q", "scaled scores", "weights after dropout".
std::string noun_of(Stage stage) {
    switch (stage) {
        case Stage::scaled:
            return "scaled scores";
        case Stage::masked:
            return "masked scores";
        case Stage::weights:
            return "weights";
        case Stage::dropped:
            return "weights after dropout";
        case Stage::output:
            return "output";
        default:
            return name_of(stage);
    }
}

bool is_plural(Stage stage) { return pair_stages()[index_of(stage)]; }

/// "Q, K and scores". Scaled and masked scores go without saying after a list's scores.
std::string list_of(const std::vector<Stage>& stages) {
    std::vector<std::string> nouns;
    for (const Stage stage : stages) {
        const bool said = (stage == Stage::scaled && std::ranges::count(stages, Stage::scores)) ||
                          (stage == Stage::masked && std::ranges::count(stages, Stage::scaled));
        if (!said) nouns.push_back(noun_of(stage));
    }
    if (nouns.size() < 2) return nouns.empty() ? "" : nouns.front();
    const std::string last = nouns.back();
    nouns.pop_back();
    return fmt::format("{} and {}", fmt::join(nouns, ", "), last);
}

bool is_singular(const std::vector<Stage>& stages) {
    return stages.size() == 1 && !is_plural(stages.front());
}

/// Given, not computed: X, and Q, K and V of a file that brings them.
bool is_given(const Document& document, Stage stage) {
    if (stage == Stage::x || stage == Stage::x_kv) return true;
    const bool projected = stage == Stage::q || stage == Stage::k || stage == Stage::v;
    return projected && !document.inputs->projects();
}

// ---- the row that is looked at

/// The largest weight of one row that is a number; nullopt: none is.
struct Largest {
    Index key = 0;
    float weight = 0.0F;
};
std::optional<Largest> largest_of(std::span<const float> row) {
    std::optional<Largest> largest;
    for (std::size_t j = 0; j < row.size(); ++j)
        if (!std::isnan(row[j]) && (!largest || row[j] > largest->weight))
            largest = {static_cast<Index>(j), row[j]};
    return largest;
}

Index looked_at(const AppState& state, Index rows) {
    const auto& cell = state.selected;
    const Stage* const stage = cell ? std::get_if<Stage>(&cell->tensor) : nullptr;
    const bool query = stage != nullptr && info(*stage).rows == Axis::query;
    return query && cell->row < rows ? cell->row : 0;
}

/// Both with as many decimals as it takes to tell them apart.
std::pair<std::string, std::string> told_apart(float before, float after) {
    for (const int decimals : {2, 3, 4, 6}) {
        std::string was = cell_number(before, decimals);
        std::string is = cell_number(after, decimals);
        if (was != is) return {was, is};
    }
    return {exact(before), exact(after)};
}

/// "sat 0.40 → 0.52", "The 0.40 → sat 0.52".
std::string from_to(const AppState& state, const Largest& was, const Largest& is) {
    const auto [before, after] = told_apart(was.weight, is.weight);
    const std::string old_key = axis_label(*state.effect->before.document, Axis::key, was.key);
    const std::string key = axis_label(state.document(), Axis::key, is.key);
    if (was.key == is.key && was.weight == is.weight)
        return fmt::format("still {} {}", key, cell_number(is.weight, 2));
    if (old_key == key) return fmt::format("{} {} → {}", key, before, after);
    return fmt::format("{} {} → {} {}", old_key, before, key, after);
}

/// What the row of A that is looked at was and is; "" where the weights did not change.
std::string row_words(const AppState& state) {
    const StageChange* const change = change_of(state, Stage::weights);
    if (change == nullptr || change->fate == Fate::cannot || change->fate == Fate::same) return {};
    const MatrixView<const float> is = sheet_of(state, Stage::weights).values;
    if (is.rows == 0 || is.columns == 0) return {};
    const Index row = looked_at(state, is.rows);
    const std::string query = axis_label(state.document(), Axis::query, row);
    const auto isnan = [](float weight) { return std::isnan(weight); };
    if (std::ranges::any_of(is.row(row), isnan))
        return fmt::format("weights of {} are NaN: a NaN or ∞ reached softmax, or no key is left",
                           query);
    const auto now = largest_of(is.row(row));
    if (!now || now->weight == 0.0F) return fmt::format("{} may attend to no key", query);
    const Tensor& old = (*state.effect->before.trace)[Stage::weights];
    const bool there =
        state.batch < old.shape().b && state.head < old.shape().h && row < old.shape().t;
    const auto was =
        there ? largest_of(old.matrix(state.batch, state.head).row(row)) : std::nullopt;
    if (!was || was->weight == 0.0F)
        return fmt::format("largest weight of {}: {} {}", query,
                           axis_label(state.document(), Axis::key, now->key),
                           cell_number(now->weight, 2));
    return fmt::format("largest weight of {}: {}", query, from_to(state, *was, *now));
}

/// "head 1: " where there are several: the sentence speaks of the one shown.
std::string part_words(const AppState& state) {
    const Dimensions& size = state.document().size;
    std::string words;
    if (size.batch > 1) words += fmt::format("sequence {}, ", state.batch);
    if (size.heads > 1) words += fmt::format("head {}, ", state.head);
    return words.empty() ? "" : "in " + words;
}

/// Heads whose part of the stage changed, though the one shown did not: "1, 3".
std::string other_heads(const AppState& state, Stage stage) {
    std::vector<Index> heads;
    for (Index h = 0; h < state.effect->heads; ++h) {
        const Fate fate = state.effect->at(state.batch, h, stage).fate;
        if (fate == Fate::changed || fate == Fate::resized) heads.push_back(h);
    }
    return fmt::format("{}", fmt::join(heads, ", "));
}

}  // namespace

EffectStages effect_stages(const AppState& state) {
    EffectStages stages;
    for (const Stage stage : ribbon_stages(state.document())) {
        const StageChange* const change = change_of(state, stage);
        if (change == nullptr || is_given(state.document(), stage) || !is_kept(state, stage))
            continue;
        if (change->fate == Fate::cannot)
            stages.cannot.push_back(stage);
        else if (change->fate == Fate::same)
            stages.same.push_back(stage);
        else
            stages.change.push_back(stage);
    }
    return stages;
}

std::string effect_words(const AppState& state) {
    const EffectStages stages = effect_stages(state);
    if (stages.change.empty() && stages.cannot.empty() && stages.same.empty()) return {};
    std::vector<std::string> parts{
        stages.change.empty() ? "no computed number changes"
                              : fmt::format("{} {}", list_of(stages.change),
                                            is_singular(stages.change) ? "changes" : "change")};
    if (!stages.cannot.empty()) parts.push_back(list_of(stages.cannot) + " cannot");
    if (!stages.same.empty())
        parts.push_back(fmt::format("{} could, but {} not, to float precision",
                                    list_of(stages.same),
                                    is_singular(stages.same) ? "does" : "do"));
    if (const std::string row = row_words(state); !row.empty()) parts.push_back(row);
    return fmt::format("{}{}", part_words(state), fmt::join(parts, "; "));
}

std::string change_words(const AppState& state, Stage stage) {
    const StageChange* const change = change_of(state, stage);
    if (change == nullptr || !is_kept(state, stage)) return {};
    std::string words;
    switch (change->fate) {
        case Fate::changed: {
            const auto [was, is] = told_apart(change->before, change->after);
            return fmt::format("● changed by the last edit, most at {}: {} → {}",
                               cell_name(state, {stage, change->row, change->column}), was, is);
        }
        case Fate::resized:
            return "● another size since the last edit";
        case Fate::same:
            words = "○ the same: the last edit leads here, but no number changed";
            break;
        case Fate::cannot:
            words = "○ the same: nothing that was edited leads here";
            break;
    }
    if (const std::string others = other_heads(state, stage); !others.empty())
        words += fmt::format("; changed in head {}", others);
    return words;
}

}  // namespace attn::view

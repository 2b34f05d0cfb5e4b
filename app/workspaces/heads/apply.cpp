#include "app/common/document/edits.h"
#include "app/common/document/heads.h"
#include "app/common/document/intervention_effects.h"
#include "app/common/document/place.h"
#include "app/common/format.h"
#include "app/common/pair.h"
#include "app/common/sheet.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/heads/compute.h"
#include "app/workspaces/heads/set_name.h"
#include "app/workspaces/heads/text.h"
#include "app/workspaces/heads/view.h"
#include "core/scores/score.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

void report_unknown_measure(AppState& state, const std::string& key) {
    show_error(state, "There is no measure '{}' of heads.", key);
}

}  // namespace

void carry_out(AppState& state, const SortHeads& action) {
    const auto measure = find_head_measure(action.measure);
    if (!measure && !action.measure.empty()) return report_unknown_measure(state, action.measure);
    heads_look(state).sort = action.measure;
    show_message(state, measure ? fmt::format("Heads by {}, largest first: {}.",
                                              info(*measure).title, info(*measure).formula)
                                : "Heads by layer.");
}

void carry_out(AppState& state, const SetHeadsRange& action) {
    heads_look(state).own_range = action.own;
    show_message(state, action.own ? "Each head has its own colour scale."
                                   : "One colour scale for all heads.");
}

void carry_out(AppState& state, const PinHead& action) {
    const HeadPlace place{action.layer, action.head};
    auto& [a, b] = heads_look(state).pinned;
    if (!action.on) {
        if (b == place) b.reset();
        if (a == place) a = std::exchange(b, std::nullopt);
        return show_message(state, "Unpinned {}.", head_name(place));
    }
    if (!is_there(state.document(), place))
        return warn(state, missing_head_text(state.document(), place));
    if (a == place || b == place) return;
    (a ? b : a) = place;
    show_message(state, b ? fmt::format("A is {}, B is {}: X swaps them, Esc unpins.",
                                        head_name(*a), head_name(*b))
                          : fmt::format("A is {}: pin another to compare.", head_name(*a)));
}

void carry_out(AppState& state, const UnpinHeads&) {
    heads_look(state).pinned = {};
    show_message(state, "No head is pinned.");
}

void carry_out(AppState& state, const SwapPins&) {
    auto& [a, b] = heads_look(state).pinned;
    if (!a || !b) return warn(state, "Pin two heads before you swap them.");
    std::swap(a, b);
    show_message(state, "A is {}, B is {}.", head_name(*a), head_name(*b));
}

void carry_out(AppState& state, const SelectHeadsPair& action) {
    const large::Cell cell{action.row, action.column};
    const Pair pair{cell.row, cell.column};
    if (!has_pair(state, pair)) return warn(state, no_pair_text(state, pair, "the weights are"));
    heads_look(state).pair = cell;
    choose_pair(state, cell);
    const CellRef weight{Stage::weights, cell.row, cell.column};
    auto value = value_at(state, weight);
    if (!value && has_current_heads(state) && heads_look(state).result->find(head_here(state)))
        value = heads_look(state).result->weights(head_here(state))(cell.row, cell.column);
    if (value) show_message(state, "{} = {}.", cell_name(state, weight), number(*value));
}

void carry_out(AppState& state, const ShowHeadsAs& action) {
    const auto show = find_head_show(action.show);
    if (!show) return show_error(state, "Heads cannot be shown as '{}'.", action.show);
    heads_look(state).show = *show;
    show_message(state, "{}: {}. {}", info(*show).title, info(*show).formula, info(*show).caution);
}

void carry_out(AppState& state, const SetHeadsCurve& action) {
    if (!set_name(state, kColorCurves, action.curve, heads_look(state).curve, "colour curve"))
        return;
    const ColorCurve curve = heads_look(state).curve;
    show_message(
        state,
        curve == ColorCurve::log
            ? fmt::format("Log colour scale, from {} of the largest weight.", tick(kLogFloor))
            : fmt::format("Colour scale: {}.",
                          curve == ColorCurve::root ? "square root" : "the number"));
}

void carry_out(AppState& state, const ClipSinks& action) {
    if (!(action.limit > 0.0 && action.limit <= 1.0))
        return show_error(
            state, "The mean weight for clipping is {}; expected a number above 0 and at most 1.",
            number(action.limit));
    if (!set_name(state, kSinkClips, action.by, heads_look(state).clip, "mode of sink clipping"))
        return;
    heads_look(state).clip_limit = action.limit;
    const SinkClip clip = heads_look(state).clip;
    show_message(state,
                 clip == SinkClip::none ? "No key is outside the colour scale."
                 : clip == SinkClip::first
                     ? "Key 0 is outside the colour scale."
                     : fmt::format("The colour scale leaves out keys of mean weight {} or more.",
                                   number(action.limit)));
}

void carry_out(AppState& state, const SetHeadForm& action) {
    if (!set_name(state, kHeadForms, action.form, heads_look(state).form, "form of a head")) return;
    heads_look(state).hovered_pair.reset();
    constexpr const char* kDescriptions[] = {
        "The head as a matrix: rows are queries, columns keys.",
        "Lines from queries (left) to keys; wider means larger.",
        "Tokens or image patches, coloured by the weights of one query; click to choose the query.",
        "The product of each dimension in the score q·k, for one query and every key.",
        "The head as products of its weights: QK and OV.",
        "Source words above, target words below; a line is a weight from target to source."};
    show_message(state, kDescriptions[static_cast<std::size_t>(heads_look(state).form)]);
}

void carry_out(AppState& state, const PartTextAt& action) {
    heads_look(state).parting = action.token;
    const AlignedParts parts = aligned_parts(state);
    if (!parts.missing_data.empty()) return warn(state, parts.missing_data);
    show_message(state, "{} and {}.", counted(std::ssize(parts.keys), "source word"),
                 counted(std::ssize(parts.queries), "target word"));
}

void carry_out(AppState& state, const SetHeadsList& action) {
    if (!set_name(state, kHeadsLists, action.list, heads_look(state).list, "list of heads")) return;
    constexpr const char* kDescriptions[] = {
        "All heads as small pictures.", "Heads by two measures: a dot is a head.",
        "All heads with every measure.", "The model's output with each part changed in turn.",
        "All heads over the texts of a corpus."};
    show_message(state, kDescriptions[static_cast<std::size_t>(heads_look(state).list)]);
}

void carry_out(AppState& state, const FilterHeadsByLabel& action) {
    if (!action.label.empty() && action.label != kUnlabelled && !find_head_measure(action.label))
        return report_unknown_measure(state, action.label);
    heads_look(state).filter.label = action.label;
    show_message(state, filter_text(state));
}

void carry_out(AppState& state, const FilterHeadsByMeasure& action) {
    if (!action.measure.empty() && !find_head_measure(action.measure))
        return report_unknown_measure(state, action.measure);
    if (!std::isfinite(action.least))
        return show_error(state, "The filter's minimum is not a finite number.");
    heads_look(state).filter.measure = action.measure;
    heads_look(state).filter.least = action.least;
    show_message(state, filter_text(state));
}

void carry_out(AppState& state, const ScatterHeads& action) {
    for (const std::string& key : {action.x, action.y})
        if (!find_head_measure(key)) return report_unknown_measure(state, key);
    HeadsLook& look = heads_look(state);
    look.scatter_x = action.x;
    look.scatter_y = action.y;
    look.list = HeadsList::scatter;
    const HeadMeasureInfo& x = info(*find_head_measure(action.x));
    const HeadMeasureInfo& y = info(*find_head_measure(action.y));
    show_message(state, "Across {}: {}. Up {}: {}.", x.title, x.formula, y.title, y.formula);
}

void carry_out(AppState& state, const HeadsReady& action) {
    if (!action.result || action.document != state.shared_document()) return;
    HeadsLook& look = heads_look(state);
    look.done = 0.0;
    if (has_only_measures(state)) {
        look.measured = action.result;
        look.measured_of = action.document;
        look.measured_by = action.backend;
        return;
    }
    look.result = action.result;
    look.result_of = action.document;
    look.result_by = action.backend;
}

void carry_out(AppState& state, const HeadsCorpusRead& action) {
    heads_look(state).corpus_read = action.corpus;
}

void carry_out(AppState& state, const HeadAnswerRead& action) {
    heads_look(state).answer = action.answer;
}

void carry_out(AppState& state, const CopyHeadMeasures&) {
    const HeadsResult* const measures =
        has_current_heads(state) ? heads_look(state).result.get() : current_measures(state);
    if (measures == nullptr) return warn(state, "There are no measures yet: open Heads (3 H).");
    state.effects.clipboard = heads_csv(*measures, heads_look(state).sort);
    show_message(state, "Copied the measures of {} as CSV.",
                 counted(std::ssize(measures->heads), "head"));
}

}  // namespace attn::view

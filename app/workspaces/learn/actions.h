#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/common/action.h"
#include "app/workspaces/learn/state.h"

namespace attn::view {

// What is trained next; undone.

/// One field of the specification by its name, `value` as JSON has it: "64", "true", "\"rotary\"". Of A, and of B unless B differs in
/// it; or of B where B differs in it.
struct SetLearnField {
    std::string run, field, value;
    static constexpr Meta kMeta{
        "set_learn_field", Kind::drag,
        fields<&SetLearnField::run, &SetLearnField::field, &SetLearnField::value>};
    friend void carry_out(AppState& state, const SetLearnField& action);
};
/// The field in which B differs; "": A alone.
struct SetLearnDifference {
    std::string field;
    static constexpr Meta kMeta{"set_learn_difference", Kind::edit,
                                fields<&SetLearnDifference::field>};
    friend void carry_out(AppState& state, const SetLearnDifference& action);
};
/// By its key: see learn_experiments().
struct LoadExperiment {
    std::string key;
    static constexpr Meta kMeta{"load_experiment", Kind::edit};
    friend void describe(Visitor& visit, LoadExperiment& action) {
        visit("experiment", action.key);
    }
    friend void carry_out(AppState& state, const LoadExperiment& action);
};

// Training.

/// So many steps in all: on, or back to an earlier one, from which other switches then lead elsewhere. Begins where nothing was trained.
struct TrainTo {
    Index until;
    static constexpr Meta kMeta{"train_to", Kind::plain, fields<&TrainTo::until>};
    friend void carry_out(AppState& state, const TrainTo& action);
};
/// Leaves what was trained, and begins with the settings.
struct NewTraining {
    static constexpr Meta kMeta{"new_training", Kind::plain};
    friend void carry_out(AppState& state, const NewTraining& action);
};
/// From that step on; what was trained after it is trained anew.
struct SwitchScaling {
    std::string run;
    Index from;
    bool on;
    static constexpr Meta kMeta{
        "switch_scaling", Kind::plain,
        fields<&SwitchScaling::run, &SwitchScaling::from, &SwitchScaling::on>};
    friend void carry_out(AppState& state, const SwitchScaling& action);
};
/// A head whose output counts, or is 0, from that step on.
struct SwitchLearnHead {
    std::string run;
    Index from, layer, head;
    bool on;
    static constexpr Meta kMeta{
        "switch_learn_head", Kind::plain,
        fields<&SwitchLearnHead::run, &SwitchLearnHead::from, &SwitchLearnHead::layer,
               &SwitchLearnHead::head, &SwitchLearnHead::on>};
    friend void carry_out(AppState& state, const SwitchLearnHead& action);
};
/// Runs of so many seeds, for the spread.
struct TrainSeeds {
    Index seeds;
    static constexpr Meta kMeta{"train_seeds", Kind::plain, fields<&TrainSeeds::seeds>};
    friend void carry_out(AppState& state, const TrainSeeds& action);
};
/// The model after so many steps as a document, in that workspace. In Compare, another moment that is open until then is
/// pinned as the baseline.
struct OpenLearnMoment {
    std::string run, workspace;
    Index step;
    static constexpr Meta kMeta{"open_learn_moment", Kind::plain};
    friend void describe(Visitor& visit, OpenLearnMoment& action) {
        visit("run", action.run);
        visit("workspace", action.workspace);
        visit("from", action.step);
    }
    friend void carry_out(AppState& state, const OpenLearnMoment& action);
};
// What is looked at.

struct ShowLearnStep {
    std::optional<Index> step;
    static constexpr Meta kMeta{"show_learn_step", Kind::plain, fields<&ShowLearnStep::step>};
    friend void carry_out(AppState& state, const ShowLearnStep& action);
};
struct ShowLearnHead {
    Index layer, head;
    static constexpr Meta kMeta{"show_learn_head", Kind::plain,
                                fields<&ShowLearnHead::layer, &ShowLearnHead::head>};
    friend void carry_out(AppState& state, const ShowLearnHead& action);
};
struct ShowLearnMeasure {
    LearnMeasure measure;
    static constexpr Meta kMeta{"show_learn_measure", Kind::plain};
    friend void describe(Visitor& visit, ShowLearnMeasure& action) {
        visit("learn_measure", action.measure, kLearnMeasures);
    }
    friend void carry_out(AppState& state, const ShowLearnMeasure& action);
};
struct ShowLearnPage {
    LearnPage page;
    static constexpr Meta kMeta{"show_learn_page", Kind::plain};
    friend void describe(Visitor& visit, ShowLearnPage& action) {
        visit("learn_page", action.page, kLearnPages);
    }
    friend void carry_out(AppState& state, const ShowLearnPage& action);
};
struct SelectLearnCell {
    Index row, column;
    static constexpr Meta kMeta{"select_learn_cell", Kind::plain,
                                fields<&SelectLearnCell::row, &SelectLearnCell::column>};
    friend void carry_out(AppState& state, const SelectLearnCell& action);
};
/// What the maps are of; "": the sequence that is the same at every step.
struct SetLearnSentence {
    std::string text;
    static constexpr Meta kMeta{"set_learn_sentence", Kind::plain, fields<&SetLearnSentence::text>};
    friend void carry_out(AppState& state, const SetLearnSentence& action);
};
struct DraftLearnSentence {
    std::string text;
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const DraftLearnSentence& action);
};
struct DraftLearnText {
    std::string text;
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const DraftLearnText& action);
};
struct HoverLearnCell {
    std::optional<large::Cell> cell;
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const HoverLearnCell& action);
};
struct LearnProgress {
    std::shared_ptr<const LearnSeries> series{};
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const LearnProgress& action);
};

using LearnActions =
    ActionList<SetLearnField, SetLearnDifference, LoadExperiment, TrainTo, NewTraining,
               SwitchScaling, SwitchLearnHead, TrainSeeds, OpenLearnMoment, ShowLearnStep,
               ShowLearnHead, ShowLearnMeasure, ShowLearnPage, SelectLearnCell, SetLearnSentence,
               DraftLearnSentence, DraftLearnText, HoverLearnCell, LearnProgress>;

}  // namespace attn::view

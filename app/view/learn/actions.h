#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/view/common/action.h"
#include "app/view/state.h"

namespace attn::view {

// What is trained next; undone.

/// One field of the specification by its name, `value` as JSON has it: "64", "true", "\"rotary\"". Of A, and of B unless B differs in
/// it; or of B where B differs in it.
struct SetLearnField {
    std::string run, field, value;
    static constexpr auto kMeta =
        meta("set_learn_field", Kind::drag, attn::view::field("run", &SetLearnField::run),
             attn::view::field("field", &SetLearnField::field),
             attn::view::field("value", &SetLearnField::value));
    friend void carry_out(AppState& state, const SetLearnField& action);
};
/// The field in which B differs; "": A alone.
struct SetLearnDifference {
    std::string field;
    static constexpr auto kMeta = meta("set_learn_difference", Kind::edit,
                                       attn::view::field("field", &SetLearnDifference::field));
    friend void carry_out(AppState& state, const SetLearnDifference& action);
};
/// By its key: see learn_experiments().
struct LoadExperiment {
    std::string key;
    static constexpr auto kMeta =
        meta("load_experiment", Kind::edit, field("experiment", &LoadExperiment::key));
    friend void carry_out(AppState& state, const LoadExperiment& action);
};

// Training.

/// So many steps in all: on, or back to an earlier one, from which other switches then lead elsewhere. Begins where nothing was trained.
struct TrainTo {
    Index until;
    static constexpr auto kMeta = meta("train_to", Kind::plain, field("until", &TrainTo::until));
    friend void carry_out(AppState& state, const TrainTo& action);
};
/// Leaves what was trained, and begins with the settings.
struct NewTraining {
    static constexpr auto kMeta = meta("new_training", Kind::plain);
    friend void carry_out(AppState& state, const NewTraining& action);
};
/// From that step on; what was trained after it is trained anew.
struct SwitchScaling {
    std::string run;
    Index from;
    bool on;
    static constexpr auto kMeta =
        meta("switch_scaling", Kind::plain, field("run", &SwitchScaling::run),
             field("from", &SwitchScaling::from), field("on", &SwitchScaling::on));
    friend void carry_out(AppState& state, const SwitchScaling& action);
};
/// A head whose output counts, or is 0, from that step on.
struct SwitchLearnHead {
    std::string run;
    Index from, layer, head;
    bool on;
    static constexpr auto kMeta =
        meta("switch_learn_head", Kind::plain, field("run", &SwitchLearnHead::run),
             field("from", &SwitchLearnHead::from), field("layer", &SwitchLearnHead::layer),
             field("head", &SwitchLearnHead::head), field("on", &SwitchLearnHead::on));
    friend void carry_out(AppState& state, const SwitchLearnHead& action);
};
/// Runs of so many seeds, for the spread.
struct TrainSeeds {
    Index seeds;
    static constexpr auto kMeta =
        meta("train_seeds", Kind::plain, field("seeds", &TrainSeeds::seeds));
    friend void carry_out(AppState& state, const TrainSeeds& action);
};
/// The model after so many steps as a document, in that workspace. In Compare, another moment that is open until then is
/// pinned as the baseline.
struct OpenLearnMoment {
    std::string run, workspace;
    Index step;
    static constexpr auto kMeta = meta(
        "open_learn_moment", Kind::plain, field("run", &OpenLearnMoment::run),
        field("workspace", &OpenLearnMoment::workspace), field("from", &OpenLearnMoment::step));
    friend void carry_out(AppState& state, const OpenLearnMoment& action);
};
/// A and B as `attnscope train` saves runs, into folders run-a and run-b of that one.
struct SaveRuns {
    std::string path;
    bool overwrite = false;  // runs that are there
    static constexpr auto kMeta = meta("save_runs", Kind::plain, field("path", &SaveRuns::path),
                                       field("overwrite", &SaveRuns::overwrite));
    friend void carry_out(AppState& state, const SaveRuns& action);
};

// What is looked at.

struct ShowLearnStep {
    std::optional<Index> step;
    static constexpr auto kMeta =
        meta("show_learn_step", Kind::plain, field("step", &ShowLearnStep::step));
    friend void carry_out(AppState& state, const ShowLearnStep& action);
};
struct ShowLearnHead {
    Index layer, head;
    static constexpr auto kMeta =
        meta("show_learn_head", Kind::plain, field("layer", &ShowLearnHead::layer),
             field("head", &ShowLearnHead::head));
    friend void carry_out(AppState& state, const ShowLearnHead& action);
};
struct ShowLearnMeasure {
    LearnMeasure measure;
    static constexpr auto kMeta =
        meta("show_learn_measure", Kind::plain, field("learn_measure", &ShowLearnMeasure::measure));
    friend void carry_out(AppState& state, const ShowLearnMeasure& action);
};
struct ShowLearnPage {
    LearnPage page;
    static constexpr auto kMeta =
        meta("show_learn_page", Kind::plain, field("learn_page", &ShowLearnPage::page));
    friend void carry_out(AppState& state, const ShowLearnPage& action);
};
struct SelectLearnCell {
    Index row, column;
    static constexpr auto kMeta =
        meta("select_learn_cell", Kind::plain, field("row", &SelectLearnCell::row),
             field("column", &SelectLearnCell::column));
    friend void carry_out(AppState& state, const SelectLearnCell& action);
};
/// What the maps are of; "": the sequence that is the same at every step.
struct SetLearnSentence {
    std::string text;
    static constexpr auto kMeta =
        meta("set_learn_sentence", Kind::plain, field("text", &SetLearnSentence::text));
    friend void carry_out(AppState& state, const SetLearnSentence& action);
};
struct DraftLearnSentence {
    std::string text;
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const DraftLearnSentence& action);
};
struct DraftLearnText {
    std::string text;
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const DraftLearnText& action);
};
struct HoverLearnCell {
    std::optional<large::Cell> cell;
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const HoverLearnCell& action);
};
struct LearnProgress {
    std::shared_ptr<const LearnSeries> series{};
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const LearnProgress& action);
};

using LearnActions =
    ActionList<SetLearnField, SetLearnDifference, LoadExperiment, TrainTo, NewTraining,
               SwitchScaling, SwitchLearnHead, TrainSeeds, OpenLearnMoment, SaveRuns, ShowLearnStep,
               ShowLearnHead, ShowLearnMeasure, ShowLearnPage, SelectLearnCell, SetLearnSentence,
               DraftLearnSentence, DraftLearnText, HoverLearnCell, LearnProgress>;

}  // namespace attn::view

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/common/action.h"
#include "app/common/set_field.h"
#include "app/workspaces/learn/state.h"

namespace attn {
struct RunControl;
}  // namespace attn

namespace attn::view {

// What is trained next; undone.

/// One field of the specification by its name, `value` as JSON has it: "64", "true", "\"rotary\"". Of A, and of B unless B differs in
/// it; or of B where B differs in it.
struct SetLearnField {
    std::string run, field, value;
    static constexpr auto kJournalNames = journal_names("set_learn_field", "run", "field", "value");
};
/// The field in which B differs; "": A alone.
struct SetLearnDifference {
    std::string field;
    static constexpr auto kJournalNames = journal_names("set_learn_difference", "field");
};
/// Own data, a text a line: see core/train/own_data.h. A alone learns it.
struct SetOwnData {
    std::string text;
    static constexpr auto kJournalNames = journal_names("set_own_data", "text");
};
/// By its key: see learn_experiments().
struct LoadExperiment {
    std::string experiment;
    static constexpr auto kJournalNames = journal_names("load_experiment", "experiment");
};

// Training.

/// Total number of steps: trains further, or goes back to an earlier step, from which other switches can start. Starts the training if necessary.
struct TrainTo {
    Index until;
    static constexpr auto kJournalNames = journal_names("train_to", "until");
};
/// Trains the recorded run here, from nothing, with its settings.
struct TrainRecordedRun {
    static constexpr auto kJournalNames = journal_names("train_recorded_run");
};
/// Shows the recorded run, from its first step. Not where something was trained.
struct PlayRecordedRun {
    std::optional<Index> step{};  // from which it plays; nullopt: the first
    static constexpr auto kJournalNames = journal_names("play_recorded_run", "step");
};
/// Discards the training and restarts with the settings.
struct NewTraining {
    static constexpr auto kJournalNames = journal_names("new_training");
};
/// From step `from` on; later steps are trained again.
struct SwitchScaling {
    std::string run;
    Index from;
    bool on;
    static constexpr auto kJournalNames = journal_names("switch_scaling", "run", "from", "on");
};
/// A head whose output counts, or is 0, from that step on.
struct SwitchLearnHead {
    std::string run;
    Index from, layer, head;
    bool on;
    static constexpr auto kJournalNames =
        journal_names("switch_learn_head", "run", "from", "layer", "head", "on");
};
/// Trains runs with this number of seeds, for the spread.
struct TrainSeeds {
    Index seeds;
    static constexpr auto kJournalNames = journal_names("train_seeds", "seeds");
};
/// The model after so many steps as a document, in that workspace. In Compare, another moment that is open until then is
/// pinned as the baseline.
struct OpenLearnMoment {
    std::string run, workspace;
    Index from;  // number of steps
    static constexpr auto kJournalNames =
        journal_names("open_learn_moment", "run", "workspace", "from");
};
/// Trains the model of own data again without each line, to the step shown.
struct ExplainLearnAnswer {
    static constexpr auto kJournalNames = journal_names("explain_learn_answer");
};
/// The lines of own data to the clipboard.
struct CopyOwnData {
    static constexpr auto kJournalNames = journal_names("copy_own_data");
};
/// The command line that writes the recorded run as an animated PNG, to the clipboard.
struct CopyLearnClip {
    static constexpr auto kJournalNames = journal_names("copy_learn_clip");
};
// What is looked at.

struct ShowLearnStep {
    std::optional<Index> step;
    static constexpr auto kJournalNames = journal_names("show_learn_step", "step");
};
struct ShowLearnHead {
    Index layer, head;
    static constexpr auto kJournalNames = journal_names("show_learn_head", "layer", "head");
};
using ShowLearnMeasure =
    Put<learn_look, &LearnLook::measure, "show_learn_measure", "learn_measure">;
using ShowLearnPage = Put<learn_look, &LearnLook::page, "show_learn_page", "learn_page">;
using ShowLearnPicture =
    Put<learn_look, &LearnLook::picture, "show_learn_picture", "learn_picture">;
struct SelectLearnCell {
    Index row, column;
    static constexpr auto kJournalNames = journal_names("select_learn_cell", "row", "column");
};
/// What the maps are of; "": the sequence that is the same at every step.
struct SetLearnSentence {
    std::string text;
    static constexpr auto kJournalNames = journal_names("set_learn_sentence", "text");
};
using DraftLearnSentence = Put<learn_look, &LearnLook::draft>;
using DraftLearnText = Put<learn_look, &LearnLook::text_draft>;
using DraftOwnData = Put<learn_look, &LearnLook::lines_draft>;
/// The box of own data has, or has not, to take the keyboard.
using OpenOwnData = Put<learn_look, &LearnLook::lines_open>;
struct LearnLeftOutMade {
    std::shared_ptr<const LearnLeftOut> left_out{};
};
using HoverLearnCell = Put<learn_look, &LearnLook::hovered>;
struct LearnProgress {
    std::shared_ptr<const LearnSeries> series{};
};

using LearnActions =
    ActionList<ViewActions<TrainTo, NewTraining, SwitchScaling, SwitchLearnHead, TrainSeeds,
                           OpenLearnMoment, ShowLearnStep, ShowLearnHead, ShowLearnMeasure,
                           ShowLearnPage, ShowLearnPicture, SelectLearnCell, ExplainLearnAnswer,
                           CopyOwnData, SetLearnSentence, PlayRecordedRun, CopyLearnClip>,
               EditActions<SetLearnDifference, LoadExperiment, SetOwnData, TrainRecordedRun>,
               DragActions<SetLearnField>,
               TransientActions<DraftLearnSentence, DraftLearnText, DraftOwnData, OpenOwnData,
                                HoverLearnCell, LearnProgress, LearnLeftOutMade>>;
template <ListedIn<LearnActions> A>
inline constexpr Meta kMetaOf<A> = LearnActions::kMeta<A>;

/// What is to be trained, or shown of what was. nullopt: all of it is there. app/jobs answers it again and again as the
/// training goes on.
std::optional<LearnRequest> requested_learning(const AppState& state);
/// LearnProgress, when all of it is done; of one that was stopped, what there is. For whoever has no window.
Action run(const LearnRequest& request, const RunControl& control);

/// Of the shown step: nullopt without own data, before the first step.
std::optional<LeftOutRequest> left_out_request_of(const AppState& state);
/// The models of the shown step without each line; nullptr: they are not there.
const LearnLeftOut* shown_left_out(const AppState& state);
/// Of the shown step and sentence; nullptr: they are not there.
const train::Influences* shown_influences(const AppState& state);
void follow_learn(AppState& state);
/// Made by itself at the end of a training of few lines, otherwise by hand.
std::optional<LeftOutRequest> requested_left_out(const AppState& state);
Action run(const LeftOutRequest& request, const RunControl& control);

}  // namespace attn::view

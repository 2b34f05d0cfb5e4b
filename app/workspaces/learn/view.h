#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/common/forward.h"
#include "app/common/grid.h"
#include "app/common/plot.h"
#include "app/workspaces/learn/state.h"

namespace attn::view {

inline constexpr Index kMostLearnSteps = 100'000;
inline constexpr Index kMostLearnSeeds = 9;
/// Rows of a map that is drawn cell by cell.
inline constexpr Index kMostLearnTokens = 128;
/// Of seeds that “spread” trains.
inline constexpr Index kSpreadSeeds = 5;

/// A setting as a panel offers it, of one run.
struct LearnFieldView {
    std::string_view run;  // "a", "b"
    std::string key, label, tip;
    std::string value;  // as JSON
    double number = 0.0;
    double low = 0.0, high = 0.0;
    bool log = false;
    std::vector<std::string> names;  // to choose from
    int current = -1;
    int kind = 0;  // LearnFieldKind
};

struct LearnRunView {
    std::string name;      // "A", "B"
    bool scaling = true;   // at the step shown
    bool head_on = true;   // of the head shown
    bool has_head = true;  // this model has the head shown
};

/// Own data as the panel offers it.
struct LearnLinesView {
    std::string draft;                  // the lines
    std::string summary;                // the forms of a line
    bool learnt = false;                // the model learns lines
    std::string sentence;               // hint of the field for a test sentence
    std::string answer;                 // of the shown step; "": none yet
    std::string unknown;                // words that are in no line
    std::vector<std::string> scores;    // lines that the model gets right
    std::vector<std::string> failures;  // lines that it gets wrong when it did not read them
    bool can_explain = false;
    std::string progress;  // of the trainings without each line; "": none
};

struct LearnView {
    std::string point;               // the headline
    std::vector<std::string> notes;  // lines beneath it
    std::string missing_data;        // why nothing is trained; "": it can be

    std::vector<std::string> experiment_names;
    std::vector<std::string> experiment_keys;
    int experiment = -1;  // -1: changed since
    std::vector<LearnRunView> runs;
    bool training = false;
    bool started = false;  // steps were made
    bool changed = false;  // the settings differ from those of the training
    bool scrubbed = false;
    bool recorded = false;   // the run was not trained here
    bool replaying = false;  // and it plays
    bool can_replay = false;
    Index stride = 1;      // steps between those that can be shown
    Index done = 0;        // steps that all runs made
    Index until = 0;       // that were requested
    Index steps = 0;       // of the settings
    Index shown = 0;       // step of the curves' marker
    Index pause_at = 0;    // where training stops when it is paused now
    std::string progress;  // "step 137 of 400, 52 steps/s"

    std::vector<std::string> measures;
    std::vector<LearnMeasure> measure_keys;
    int measure = 0;
    std::vector<PlotView> plots;  // the large one, then the others

    std::vector<GridView> maps;  // of A and B
    bool by_head = false;        // a row of a map is a head, with the weights of `word`
    Index word = 0;
    std::vector<Index> map_heads;  // heads of a layer, by map
    std::string map_text;  // "layer 0, head 1 at step 400 of: a b c"; or why the maps are missing
    Index layers = 1, heads = 1;  // of the model that has more
    Index layer = 0, head = 0;
    std::string sentence;  // draft
    std::string sentence_hint;
    std::optional<large::Cell> hovered;

    std::vector<std::string> picture_names;  // empty: one choice only
    int picture = 0;
    LearnLinesView lines;
    std::vector<std::string> page_names;
    int page = 0;
    std::vector<LearnFieldView> fields;
    std::vector<std::string> difference_names;
    int difference = 0;
    bool seeds_requested = false;
};

LearnView build_learn_view(const AppState& state);
/// Of the plan; before there is one those that it would begin with.
const LearnControls& planned(const AppState& state);
/// Steps that every run of the plan made.
Index learn_steps_done(const AppState& state);
/// Steps that every run is to make: of the plan, or of the recorded run.
Index learn_until(const AppState& state);
/// Steps were requested; the recorded run does not count.
bool is_trained(const AppState& state);
/// Steps are still to be made.
bool is_learning(const AppState& state);
/// The step whose numbers are shown: the chosen one, or the latest.
Index shown_learn_step(const AppState& state);
/// The step at which training stops when it is paused now: some are on their way.
Index learn_pause_step(const AppState& state);
/// Some texts of the language are held out of training.
bool has_held_out(const train::Spec& spec);
/// The last measurement at or before that step; nullptr: no measurement.
const LearnHeldOut* held_out_at(const LearnSide& side, Index step);
/// The curve that is shown: of a task without held-out texts right answers in their place.
LearnMeasure shown_measure(const AppState& state);
/// Those that the shown runs have.
std::vector<LearnMeasure> learn_measures(const AppState& state);
/// The position of the word that is shown in every head.
Index shown_word(const AppState& state);
/// The plots: the large one first.
void add_learn_plots(const AppState& state, LearnView& view);
InspectorView learn_inspector(const AppState& state);
/// The settings, a field a line.
std::vector<LearnFieldView> learn_field_views(const LearnControls& controls);

void clamp_learn(AppState& state);

/// See WorkspaceInfo::reasons.
std::vector<std::string> learn_reasons(const AppState& state);

}  // namespace attn::view

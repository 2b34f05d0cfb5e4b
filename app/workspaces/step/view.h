#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/common/answer.h"
#include "app/common/document/call_actions.h"
#include "app/common/document/loss.h"
#include "app/common/document/model_place.h"
#include "app/common/document/model_text.h"
#include "app/common/document/preset.h"
#include "app/common/forward.h"
#include "app/common/grid.h"
#include "app/common/map/state.h"
#include "app/common/map/view.h"
#include "app/common/readout.h"
#include "app/common/vocabulary.h"
#include "app/workspaces/step/sentence.h"
#include "app/workspaces/step/state.h"

namespace attn::view {

enum class Progress : std::uint8_t { done, current, ahead };
/// After an edit: whether the stage changed; none before the first one, and where the stage is not kept.
enum class Mark : std::uint8_t { none, changed, same };
struct RibbonItem {
    Stage stage;
    std::string label;    // "QKᵀ", "÷√d_k"
    std::string shape;    // "4 × 4"
    std::string tooltip;  // title, formula, full shape
    Role role;
    Progress progress;
    Mark mark = Mark::none;
    std::optional<ModelPlace> place = {};  // before or after attention, in place of a stage
};

/// What is said of one row of weights.
struct RowReadouts {
    std::string row;  // token
    std::vector<Readout> readouts;
    double evenness = 0.0;  // H / ln n; NaN where the row has fewer than two keys
};

struct ControlsView {
    std::vector<Preset> presets;
    std::string preset;  // key of the present one; "" when edited
    std::string sentence_draft;
    Index d_model, d_k, heads, head;
    bool scaling;
    std::string scale_description;  // "÷ √4 = 2", without the temperature
    double temperature;
    bool causal;
    std::uint64_t seed;
    bool gradients;
    bool model_open = false;                           // the popover
    std::string badge;                                 // "toy weights, not trained"
    std::string title = {};                            // of the document
    bool toy = true;                                   // its sizes and seed can be set
    bool reads_image = false;                          // a model, whose image is named
    bool reads_text = false;                           // a model, which reads what is typed
    std::span<const VocabularyClass> vocabulary = {};  // whose words the text field completes
    GroupsView groups = {};                            // of a model of two stacks
    bool projects = true;                              // heads are a way to split X W
    Index tokens = 0;                                  // the longer side of the score matrix
    Index batch = 0, batches = 1;
    Index layer = 0, layers = 1;
    std::optional<Index> window = {};  // |i − j| ≤ window
    bool windowed = false;             // by any window
    std::string window_text = {};      // of its switch
    LossView loss = {};
    std::string heads_text = {};  // "0: same word, 1: first token"; "": nothing is known of them
    CallSettings call = {};
    std::vector<std::string> score_titles = {};  // in the enum's order
    std::vector<CallField> call_fields = {};     // that can be set and mean something here
    std::optional<Index> padding = {};           // valid keys of the sequence shown
    std::string scale_widest =
        "÷ √8888 = 88.88";  // that scale_description have room for, whatever the number
};

/// A part of the headline, in the colour of a role or of text.
struct HeadlinePart {
    std::string text;
    std::optional<Role> role = {};
};

/// A number that was just edited.
struct FlashView {
    CellRef cell;
    std::string text;   // "1 → 3"
    double left = 1.0;  // 1 just now … 0 gone; under reduced motion 1 until it is gone
};

struct StepView {
    std::vector<RibbonItem> ribbon;
    std::string title;  // "Raw scores"
    std::vector<HeadlinePart>
        headline;                 // what the row looks at, in the title's place; empty: the title
    std::string headline_tip;     // the same with all that it leaves out
    bool headline_warns = false;  // it tells of what goes wrong
    std::string read_out;         // what a model says of the text; "": nothing
    std::string tex;              // its formula, in the subset that core/tex.h reads
    std::string formula;          // the same as plain text: "scores[i,j] = q_i · k_j"
    std::string text;             // one plain sentence
    std::vector<std::string> reasons{};  // behind ⓘ; see WorkspaceInfo
    std::optional<AnswerLook> answer{};  // of a question, below the headline
    std::string hint;                    // first launch: what to press; "" afterwards
    bool start_buttons = false;          // what to do first is offered in its place
    OfferedText offered;                 // by the model, beside these
    bool has_tour = false;               // that can be started
    std::string unavailable;             // why the stage is not kept; "" when it is
    bool map = false;              // the result is the map that Large has: no operands, no `result`
    std::optional<MapView> cells;  // likewise a map, of the stage's own numbers
    std::optional<OperandId> highlighted;  // whose symbol is under the pointer
    std::vector<GridView> operands;        // and the focused row of some; each in its slot
    GridView result;  // in the hero's slot, or right of an operand that is there
    std::vector<std::string> queries,
        keys;                          // as along the scores: their place is kept at each stage
    std::optional<GridView> previous;  // what the result cross-fades from
    double fade = 1.0;
    SentenceView sentence;          // of weights: its words are the columns; else empty
    std::vector<RowReadouts> rows;  // weights: per-row metrics
    ControlsView controls;
    std::optional<FlashView> flash;
};

StepView build_step_view(const AppState& state);

/// One plain sentence about what the canvas shows at `stage`: there and on the bottom line.
std::string description_of(const AppState& state, Stage stage);

std::string step_missing_data(const AppState& state);
InspectorView step_inspector(const AppState& state);
/// The guess that stands, for a session. A guess of a row that the session does not look at is over, as in the window.
std::optional<Prediction> present_prediction(const AppState& state);
/// Ends the typing into a cell where the action is no part of it: takes what was typed; text that is no number, or the
/// same one, is dropped.
void end_typing(AppState& state, const Action& action);

/// What the map shows at `stage`; own: it is no stage of the map, drawn cell by cell or not at all.
MapForm map_form(const AppState& state, Stage stage);

/// See WorkspaceInfo::reasons.
std::vector<std::string> step_reasons(const AppState& state);

}  // namespace attn::view

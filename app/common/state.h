#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/dialogs.h"
#include "app/common/document/preset.h"
#include "app/common/gradients.h"
#include "app/common/place.h"
#include "app/common/slots.h"
#include "app/common/theme_name.h"
#include "app/common/workspace_list.h"
#include "core/forward.h"
#include "core/result.h"
#include "core/sizes.h"
#include "core/stage.h"

namespace attn {
enum class HeadAxis : std::uint8_t;
BackendList backends();
namespace train {
struct Run;
}
}  // namespace attn

namespace attn::view {

/// The backend that computes unless another is chosen.
inline constexpr std::string_view kAuto = "auto";

enum class Key : std::uint8_t;  // keys.h
struct ActionType;
struct Document;
struct OpenRequest;
class Action;
struct EditEffect;

/// What undo covers.
struct Edit {
    std::shared_ptr<const Document> document;
    Slots controls;      // of the workspaces
    std::string text;    // "scaling off": what the edit did, for the status line and undo's tooltip
    bool opens = false;  // another document than the step before
    bool typed = false;  // a model's text; what is typed on, in the same gesture, is the same step
};

/// Fields of a session's file that this version does not know: the JSON of each by its JSON pointer ("/window/hue").
using UnknownFields = std::map<std::string, std::string>;

/// A file that the world outside is asked to write.
struct FileRequest {
    std::string path;
    bool overwrite = false;  // where there is one already
    bool chrome = false;     // of a figure: the whole window, not the canvas alone
};
/// Runs into folders run-a, run-b, … of that one.
struct RunsRequest {
    FileRequest file;
    std::shared_ptr<const std::vector<train::Run>> runs;  // at least one
};
/// What apply() asks of the world outside; main does it and clears it.
struct Effects {
    bool quit = false;
    bool screenshot = false;
    std::optional<FileRequest> session;
    std::optional<FileRequest> figure;
    std::optional<std::string> clipboard;  // text to copy
    std::optional<RecoveryAnswer> recovery;
    std::optional<RunsRequest> runs;        // what was trained
    bool ask_quit = false;                  // to end, unless something is not saved
    std::optional<QuitAnswer> quit_answer;  // discard or keep: to end
};

struct Tour;
using TourList = std::vector<std::shared_ptr<const Tour>>;
/// What can be read of assets/tours.
TourList list_tours();
/// Where a person is in a tour.
struct TourLook {
    std::shared_ptr<const Tour> tour;  // null: none was started
    bool on = false;                   // false: put away; starting it again resumes at `page`
    Index page = 0;
    std::optional<Index> chosen;  // the prediction on this page
    bool done = false;            // what this page asks for was done
    std::string opened = {};  // the screen as the page opened, a session's JSON; "": not known yet
};

/// The list of terms, over the window.
struct GlossaryLook {
    bool shown = false;
    std::string query;
    std::size_t row = 0;  // of what the query finds
};

/// A drag that goes on: what BeginGesture opened.
struct Gesture {
    const ActionType* action = nullptr;  // once it edited something
    bool joins = false;  // the edit that is being carried out joins that action's step
};

/// Which control has the keyboard. Of the moment: in no journal and no session.
struct Focus {
    std::uint32_t control = 0;  // 0: none
    std::optional<Typing> typing;
    int row = 0;  // the current one of the open list
};

/// The document, its history, and all that was computed of it. Undone; saved as the session's document.
struct DocumentState {
    std::vector<Edit> history;  // history[now] is the present
    std::size_t now = 0;
    std::uint64_t edits = 0;  // how often the history was changed so far

    std::shared_ptr<const Trace> trace;  // of the present document; never null
    Gradients gradients;                 // of L, see document/loss.h
    double trace_ms = 0.0;
    std::string backend_used;  // for `trace`
    std::string gradients_by;
    /// The document of `trace` when a backend with a device computed it (see requests.h); else null.
    std::shared_ptr<const Document> device_document;
};

/// How the window looks; another session that the program makes (a tour, a lecture) leaves it.
struct WindowSettings {
    ThemeName theme = ThemeName::dark;
    double ui_scale = 1.0;  // 1.0 … 2.0
    bool reduced_motion = false;
    std::optional<bool> inspector;  // shown or hidden by hand; nullopt: by the width of the window
    bool presenter = false;         // P: the canvas alone, large
    std::string backend{kAuto};
};

/// The current view, as a session's file saves it.
struct ViewState : WindowSettings {
    std::string_view workspace = "step";  // key of the shown one
    bool show_help = false;               // F1
    bool show_about = false;              // version and licences
    bool show_palette = false;            // Ctrl+K
    std::string palette_query;
    GlossaryLook glossary;  // G
    Message message;
    UnknownFields unknown_fields;  // unknown fields of the session's file, written again

    // shared by all workspaces
    Stage stage = Stage::x;
    Index batch = 0;
    Index head = 0;
    std::optional<CellRef> selected;  // a cell that exists; none where the document has no cells
    std::optional<CellRef> chosen;    // by a person: also while the document has no such cell
    Places places;                    // the same of every kind of stage

    std::string sentence_draft;   // text of the sentence field
    bool show_gradients = false;  // ∂L/∂<stage> is shown in place of the stage
    Loss loss;                    // L as chosen; loss_of() has the valid one

    Slots looks;  // views of the workspaces, not undone
    TourLook tour;
};

/// The running program: what it found on this machine, its dialogs and the input. In no session and no journal.
struct ProgramState {
    WorkspaceList workspaces = view::workspaces();
    BackendList backends = attn::backends();  // to choose from
    /// Of the backends with a device that were tried: "", or why each cannot run here.
    std::map<std::string, std::string> device_reasons;
    std::vector<Preset> presets;  // as found at the start
    TourList tours;
    std::vector<std::string> recent;  // opened or saved files, the last first
    std::string session_file;         // where this session came from or was last saved; "": nowhere

    std::optional<Recovery> recovery;       // offered now
    bool recovery_shown = false;            // until it is answered
    std::optional<UnsavedWork> quit_asked;  // to be saved or not, until it is answered
    bool quits_when_saved = false;          // the answer to that
    std::optional<Prompt> prompt;
    std::optional<Message> notice;  // of the system; before `message` until the next action
    std::optional<Gesture> gesture;
    Focus focus;
    Key held{};  // Key::none; a group's digit was pressed: the letter of a workspace comes next
    bool narrow = false;  // too narrow for an inspector next to the canvas
    Effects effects;
    std::uint64_t opened = 0;  // requests so far
};

/// Ends with the document or with the next action. In no session and no journal.
struct TransientState {
    std::size_t palette_row = 0;
    std::optional<CellRef> hovered;
    std::shared_ptr<const OpenRequest> opening;  // the next document; null: none
    double opening_done = 0.0;                   // its progress, 0 … 1
    std::vector<FailedRequest> failures;         // of open requests, one of a job
    /// What the last edit, undo or redo did to every stage; null: none since the document was opened.
    std::shared_ptr<const EditEffect> effect;
    /// Why the chosen backend was left for "auto" since the last action; apply() shows it.
    std::string backend_failure;
};

/// One value: everything that decides what is on screen, by lifetime. Only apply() changes it.
struct AppState : DocumentState, ViewState, ProgramState, TransientState {
    /// Beside the canvas, or over it where the window is narrow.
    bool is_inspector_shown() const { return inspector.value_or(!narrow); }
    const Document& document() const { return *history[now].document; }
    const std::shared_ptr<const Document>& shared_document() const { return history[now].document; }
    /// Of the batch entry and head shown, in a tensor with that head axis.
    Index head_in(HeadAxis axis) const;
};

/// Why what is requested of that job stays without an answer; "": it does not.
std::string failure_of(const AppState& state, std::string_view job);
/// That, in the place where `words` say that it is being computed.
std::string job_status_text(const AppState& state, std::string_view job, std::string text);

/// Pixels of one design unit in a window `height` pixels high, on a screen of one pixel a unit: as set; while
/// presenting, so many that the window is 540 units high, from 1 to 2 in quarters.
double shown_scale(const AppState& state, double height);

/// Computes the trace of the present document, and its gradients where they are shown; else those wait until they are asked
/// for. An error leaves both as they were. A chosen
/// backend that fails is left for "auto"; one that computes no gradients leaves those to "auto". For one with a device
/// "auto" computes until that has answered (requests.h). A document that no workspace shows stage by stage
/// (stages_lack()) has an empty trace.
Result<void> compute(AppState& state);
/// The same of the gradients alone, where L has changed and the trace has not. An error leaves them as they were.
Result<void> compute_gradients(AppState& state);

/// The state of a first launch: "The cat sat down" at stage X. Never fails: with no readable preset
/// the same sentence is made from seeded weights, and the message says so.
AppState initial_state();
/// A state that looks at `document`, computed; everything else as at a first launch.
Result<AppState> state_of(Document document);

/// The stages on the ribbon for this document, in order: what is given or computed in it.
std::vector<Stage> ribbon_stages(const Document& document);

/// Brings along what follows from what changed: after each action, and once a session was read.
void follow_all(AppState& state);
/// What the clock has made due (the next step while playing): ordinary, journaled actions, so that a
/// replay needs no clock.
std::vector<Action> due_actions(const AppState& state);

/// True while something moves in the workspace that is shown: the frame loop goes on and sends Tick.
bool is_animating(const AppState& state);

}  // namespace attn::view

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/view/common/theme.h"
#include "app/view/document/document.h"
#include "app/view/large/look.h"
#include "core/backend.h"
#include "core/saturation.h"
#include "core/trace.h"

namespace attn::view {

/// The backend that computes unless another is chosen.
inline constexpr std::string_view kAuto = "auto";

enum class Workspace : std::uint8_t { step, saturation, large };

/// One cell of one tensor, in the coordinates of the head shown: of W_Q the head's own columns.
struct CellRef {
    OperandId tensor = Stage::x;
    Index row = 0;
    Index column = 0;
    bool operator==(const CellRef&) const = default;
};

/// A cell being typed into.
struct CellEdit {
    CellRef cell;
    std::string draft;
};

/// What the Step workspace looks at. Not undone.
struct StepLook {
    Stage stage = Stage::x;
    Stage previous = Stage::x;  // what the cross-fade comes from
    double fade = 1.0;          // 0 just stepped … 1 arrived
    bool playing = false;
    double play_clock_s = 0.0;  // since the last step while playing
    Index head = 0;
    std::optional<CellRef> selected;
    std::optional<CellRef> hovered;
    std::optional<CellEdit> editing;
    std::string sentence_draft;   // what stands in the sentence field
    bool stepped_once = false;    // hides the first-launch line
    bool show_gradients = false;  // the canvas shows d_<stage> of L = Σ output
};

/// Settings of the Saturation workspace; undone with the document.
struct SaturationControls {
    SaturationSettings settings;
    Index d_k = 64;
    bool scaling = true;  // the side in focus: its Jacobian is drawn
    Index draw = 0;       // trial shown in the sampled model; "re-draw" adds 1
    bool operator==(const SaturationControls&) const = default;
};

/// What undo covers.
struct Edit {
    std::shared_ptr<const Document> document;
    SaturationControls saturation;
    std::string words;  // "scaling off": what the edit did, for the status line and undo's tooltip
};

enum class Severity : std::uint8_t { info, warning, error };
/// The bottom line: what just happened, in plain language.
struct Message {
    std::string words;
    Severity severity = Severity::info;
};

/// What apply() asks of the world outside; main does it and clears it.
struct Requests {
    bool quit = false;
    bool screenshot = false;
    bool save_session = false;
    std::optional<std::string> clipboard;  // text to copy
};

/// One value: everything that decides what is on screen. Only apply() changes it.
struct AppState {
    Workspace workspace = Workspace::step;
    ThemeName theme = ThemeName::dark;
    double ui_scale = 1.0;  // 1.0 … 2.0
    bool reduced_motion = false;
    bool show_help = false;     // F1
    bool show_palette = false;  // Ctrl+K
    std::string palette_query;
    std::size_t palette_row = 0;

    std::vector<Edit> history;  // history[now] is the present
    std::size_t now = 0;
    /// The action (its place in the variant) whose drag goes on: its edits are one undo step.
    std::optional<std::size_t> gesture;

    StepLook step;
    LargeLook large;
    BackendList backends = attn::backends();  // what main has to choose from
    std::string backend{kAuto};
    std::shared_ptr<const Trace> trace;      // of the present document; never null
    std::shared_ptr<const Trace> gradients;  // of L = Σ output
    double trace_ms = 0.0;
    std::string backend_used;  // for `trace`
    std::string gradients_by;
    /// What `trace` is of when a backend with a device computed it (see requests.h); else null.
    std::shared_ptr<const Document> device_document;
    /// Of the backends with a device that were asked: "", or why each cannot run here.
    std::map<std::string, std::string> device_reasons;
    /// Why the chosen backend was left for "auto" since the last action; apply() tells the person.
    std::string backend_failure;

    std::shared_ptr<const std::vector<SaturationPoint>> sweep;  // null until the first one is ready
    SaturationSettings sweep_settings;                          // what `sweep` was computed for
    double sweep_ms = 0.0;

    std::vector<Preset> presets;  // as found at the start
    Message message;
    Requests requests;

    const Document& document() const { return *history[now].document; }
    const SaturationControls& saturation() const { return history[now].saturation; }
};

/// Computes trace and gradients of the present document. An error leaves both as they were. A chosen
/// backend that fails is left for "auto"; one that computes no gradients leaves those to "auto". For one with a device
/// "auto" computes until that has answered (requests.h). A document without tokens has an empty trace.
Result<void> compute(AppState& state);

/// The state of a first launch: "The cat sat down" at stage X. Never fails: with no readable preset
/// the same sentence is made from seeded weights, and the message says so.
AppState initial_state();
/// A state that looks at `document`, computed; everything else as at a first launch.
Result<AppState> state_of(Document document);

/// The stages on the ribbon for this document, in order (x_kv only with a source, dropped only
/// with dropout).
std::vector<Stage> ribbon_stages(const Document& document);

/// The settings whose sweep the screen wants and does not have; nullopt when it is up to date.
std::optional<SaturationSettings> wanted_sweep(const AppState& state);
/// d_k of the curves: 1, 2, 4, … 4096.
std::vector<Index> sweep_widths();

/// True while something moves (cross-fade, play): the frame loop goes on and sends Tick.
bool is_animating(const AppState& state);

}  // namespace attn::view

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/common/action.h"
#include "app/common/dialogs.h"
#include "app/common/theme_name.h"
#include "core/sizes.h"

namespace attn::view {

enum class Key : std::uint8_t;  // keys.h

// The window: workspaces, undo, theme, help, palette, files to write.

enum class CopyAs : std::uint8_t { text, latex, python };
template <>
inline constexpr std::string_view kNamesOf<CopyAs>[] = {"text", "latex", "python"};

/// By its key.
struct SetWorkspace {
    std::string workspace;
    static constexpr auto kJournalNames = journal_names("set_workspace", "workspace");
};
/// The mouse took hold of a slider.
struct BeginGesture {
    static constexpr auto kJournalNames = journal_names("begin_gesture");
};
/// And let go of it.
struct EndGesture {
    static constexpr auto kJournalNames = journal_names("end_gesture");
};
struct Undo {
    static constexpr auto kJournalNames = journal_names("undo");
};
struct Redo {
    static constexpr auto kJournalNames = journal_names("redo");
};
struct ClearSelection {
    static constexpr auto kJournalNames = journal_names("clear_selection");
};
/// Of the inspected cell.
struct CopyArithmetic {
    CopyAs format;
    static constexpr auto kJournalNames = journal_names("copy_arithmetic", "format");
};
struct SetTheme {
    ThemeName theme;
    static constexpr auto kJournalNames = journal_names("set_theme", "theme");
};
struct SetUiScale {
    double scale;
    static constexpr auto kJournalNames = journal_names("set_ui_scale", "scale");
};
/// The same before anything is seen: the first message stays.
struct StartAtScale {
    double scale;
    static constexpr auto kJournalNames = journal_names("start_at_scale", "scale");
};
/// nullopt: where it fits the window.
struct ShowInspector {
    std::optional<bool> on;
    static constexpr auto kJournalNames = journal_names("show_inspector", "on");
};
/// The window is too narrow for an inspector next to the canvas.
struct SetNarrow {
    bool on;
};
/// A group's digit was pressed: the next key is one of its letters. none: it no longer is.
struct HoldKey {
    Key key;
};
/// The message was read: empties the bottom line. A warning or an error stays until the next action.
struct FadeMessage {};
struct SetReducedMotion {
    bool on;
    static constexpr auto kJournalNames = journal_names("set_reduced_motion", "on");
};
/// Rail, controls, inspector and bottom line away; the canvas fills the screen.
struct SetPresenter {
    bool on;
    static constexpr auto kJournalNames = journal_names("set_presenter", "on");
};
struct ShowHelp {
    bool on;
    static constexpr auto kJournalNames = journal_names("show_help", "on");
};
struct ShowGlossary {
    bool on;
    static constexpr auto kJournalNames = journal_names("show_glossary", "on");
};
struct SetGlossaryQuery {
    std::string query;
    static constexpr auto kJournalNames = journal_names("set_glossary_query", "query");
};
/// A row of the results.
struct ChooseTerm {
    Index row;
    static constexpr auto kJournalNames = journal_names("choose_term", "row");
};
/// Version, licences, libraries and fonts.
struct ShowAbout {
    bool on;
    static constexpr auto kJournalNames = journal_names("show_about", "on");
};
struct ShowPalette {
    bool on;
    static constexpr auto kJournalNames = journal_names("show_palette", "on");
};
struct SetPaletteQuery {
    std::string query;
    static constexpr auto kJournalNames = journal_names("set_palette_query", "query");
};
struct MovePalette {
    int rows;
};
/// Work that an ended program left; nullopt: none.
struct OfferRecovery {
    std::optional<Recovery> recovery;
};
struct AnswerRecovery {
    RecoveryAnswer answer;
};
struct SetRecent {
    std::vector<std::string> files;
};
/// Asks for a path; nullopt: closes.
struct ShowPrompt {
    std::optional<PromptKind> kind;
    std::string path = {};
    bool confirmed = false;  // the file exists already, and the person was warned
};
/// Typing.
struct DraftPrompt {
    std::string path;
};
/// "": its own file, or a prompt for a path if it has none.
struct SaveSession {
    std::string path;
    bool overwrite = false;  // a file that is there
    static constexpr auto kJournalNames = journal_names("save_session", "path", "overwrite");
};
/// It was written.
struct SessionSaved {
    std::string path;
};
/// What was trained as `attnscope train` saves runs, into folders run-a and run-b of that one.
struct SaveRuns {
    std::string path;
    bool overwrite = false;  // runs that are there
    static constexpr auto kJournalNames = journal_names("save_runs", "path", "overwrite");
};
struct ExportFigure {
    std::string path;
    bool chrome = false;     // the whole window, not the canvas alone
    bool overwrite = false;  // a file that is there
    static constexpr auto kJournalNames =
        journal_names("export_figure", "path", "chrome", "overwrite");
};
/// Of a job that takes long.
struct JobProgress {
    std::string job;
    double done = 0.0;  // 0 … 1
};
/// An answer of any job.
struct RequestFailed {
    FailedRequest what;
};
/// A message of the system: "saved …", an error from outside.
struct Notify {
    Message message;
};
struct TakeScreenshot {
    static constexpr auto kJournalNames = journal_names("take_screenshot");
};
/// By its key; a tour that was closed resumes.
/// "": the first one.
struct StartTour {
    std::string name;
    static constexpr auto kJournalNames = journal_names("start_tour", "name");
};
/// From 0; the window is brought to where the page begins.
struct GoToTourPage {
    Index page;
    static constexpr auto kJournalNames = journal_names("go_to_tour_page", "page");
};
/// A choice of the page's question, from 0.
struct Predict {
    Index choice;
    static constexpr auto kJournalNames = journal_names("predict", "choice");
};
/// Carries out the task of the page.
struct ShowTourAction {
    static constexpr auto kJournalNames = journal_names("show_tour_action");
};
/// Puts the tour away; starting it again resumes it.
struct EndTour {
    static constexpr auto kJournalNames = journal_names("end_tour");
};
/// Ctrl+Q and the window's close button: ends at once where nothing is unsaved.
struct AskQuit {};
/// Asks the person about unsaved work.
struct OfferQuit {
    UnsavedWork work;
};
struct AnswerQuit {
    QuitAnswer answer;
};
struct Quit {
    static constexpr auto kJournalNames = journal_names("quit");
};
/// The keyboard is on that control; 0: on none.
struct FocusControl {
    std::uint32_t control;
};
/// Typing in place of a number; nullopt: it is over.
struct TypeInto {
    std::optional<Typing> typing;
};
/// The current row of the open list.
struct MoveInList {
    int row;
};
/// See due_actions().
struct Tick {
    double seconds;
};

using WindowActions = ActionList<
    ViewActions<SetWorkspace, BeginGesture, EndGesture, Undo, Redo, ClearSelection, CopyArithmetic,
                SetTheme, SetUiScale, StartAtScale, ShowInspector, SetReducedMotion, SetPresenter,
                ShowHelp, ShowAbout, ShowGlossary, SetGlossaryQuery, ChooseTerm, ShowPalette,
                SetPaletteQuery, SaveSession, SaveRuns, ExportFigure, TakeScreenshot, StartTour,
                GoToTourPage, Predict, ShowTourAction, EndTour, Quit>,
    TransientActions<SetNarrow, HoldKey, FadeMessage, MovePalette, OfferRecovery, AnswerRecovery,
                     SetRecent, ShowPrompt, DraftPrompt, SessionSaved, Notify, JobProgress,
                     RequestFailed, AskQuit, OfferQuit, AnswerQuit, FocusControl, TypeInto,
                     MoveInList, Tick>>;
template <ListedIn<WindowActions> A>
inline constexpr Meta kMetaOf<A> = WindowActions::kMeta<A>;

}  // namespace attn::view

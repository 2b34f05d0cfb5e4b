#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/common/action.h"
#include "app/common/state.h"

namespace attn::view {

// The window: workspaces, undo, theme, help, palette, files to write.

enum class CopyAs : std::uint8_t { text, latex, python };
inline constexpr std::string_view kCopyAsNames[] = {"text", "latex", "python"};

/// By its key.
struct SetWorkspace {
    std::string workspace;
    static constexpr Meta kMeta{"set_workspace", Kind::plain, fields<&SetWorkspace::workspace>};
    friend void carry_out(AppState& state, const SetWorkspace& action);
};
/// The mouse took hold of a slider.
struct BeginGesture {
    static constexpr Meta kMeta{"begin_gesture", Kind::plain};
    friend void carry_out(AppState& state, const BeginGesture& action);
};
/// And let go of it.
struct EndGesture {
    static constexpr Meta kMeta{"end_gesture", Kind::plain};
    friend void carry_out(AppState& state, const EndGesture& action);
};
struct Undo {
    static constexpr Meta kMeta{"undo", Kind::plain};
    friend void carry_out(AppState& state, const Undo& action);
};
struct Redo {
    static constexpr Meta kMeta{"redo", Kind::plain};
    friend void carry_out(AppState& state, const Redo& action);
};
struct ClearSelection {
    static constexpr Meta kMeta{"clear_selection", Kind::plain};
    friend void carry_out(AppState& state, const ClearSelection& action);
};
/// Of the inspected cell.
struct CopyArithmetic {
    CopyAs format;
    static constexpr Meta kMeta{"copy_arithmetic", Kind::plain};
    friend void describe(Visitor& visit, CopyArithmetic& action) {
        visit("format", action.format, kCopyAsNames);
    }
    friend void carry_out(AppState& state, const CopyArithmetic& action);
};
struct SetTheme {
    ThemeName theme;
    static constexpr Meta kMeta{"set_theme", Kind::plain};
    friend void describe(Visitor& visit, SetTheme& action) {
        visit("theme", action.theme, kThemeNames);
    }
    friend void carry_out(AppState& state, const SetTheme& action);
};
struct SetUiScale {
    double scale;
    static constexpr Meta kMeta{"set_ui_scale", Kind::plain, fields<&SetUiScale::scale>};
    friend void carry_out(AppState& state, const SetUiScale& action);
};
/// The same before anything is seen: the first message stays.
struct StartAtScale {
    double scale;
    static constexpr Meta kMeta{"start_at_scale", Kind::plain, fields<&StartAtScale::scale>};
    friend void carry_out(AppState& state, const StartAtScale& action);
};
/// nullopt: where the window has room.
struct ShowInspector {
    std::optional<bool> on;
    static constexpr Meta kMeta{"show_inspector", Kind::plain, fields<&ShowInspector::on>};
    friend void carry_out(AppState& state, const ShowInspector& action);
};
/// The window has no room for an inspector beside the canvas.
struct SetNarrow {
    bool narrow;
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const SetNarrow& action);
};
/// A group's digit was pressed: the next key is one of its letters. none: it no longer is.
struct HoldKey {
    Key key;
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const HoldKey& action);
};
/// What just happened was read: an empty bottom line. A warning or an error stays until the next action.
struct FadeMessage {
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const FadeMessage& action);
};
struct SetReducedMotion {
    bool on;
    static constexpr Meta kMeta{"set_reduced_motion", Kind::plain, fields<&SetReducedMotion::on>};
    friend void carry_out(AppState& state, const SetReducedMotion& action);
};
/// Rail, controls, inspector and bottom line away; the canvas fills the screen.
struct SetPresenter {
    bool on;
    static constexpr Meta kMeta{"set_presenter", Kind::plain, fields<&SetPresenter::on>};
    friend void carry_out(AppState& state, const SetPresenter& action);
};
struct ShowHelp {
    bool on;
    static constexpr Meta kMeta{"show_help", Kind::plain, fields<&ShowHelp::on>};
    friend void carry_out(AppState& state, const ShowHelp& action);
};
struct ShowGlossary {
    bool on;
    static constexpr Meta kMeta{"show_glossary", Kind::plain, fields<&ShowGlossary::on>};
    friend void carry_out(AppState& state, const ShowGlossary& action);
};
struct SetGlossaryQuery {
    std::string query;
    static constexpr Meta kMeta{"set_glossary_query", Kind::plain,
                                fields<&SetGlossaryQuery::query>};
    friend void carry_out(AppState& state, const SetGlossaryQuery& action);
};
/// Of what is found.
struct ChooseTerm {
    Index row;
    static constexpr Meta kMeta{"choose_term", Kind::plain, fields<&ChooseTerm::row>};
    friend void carry_out(AppState& state, const ChooseTerm& action);
};
/// Version, licences, libraries and fonts.
struct ShowAbout {
    bool on;
    static constexpr Meta kMeta{"show_about", Kind::plain, fields<&ShowAbout::on>};
    friend void carry_out(AppState& state, const ShowAbout& action);
};
struct ShowPalette {
    bool on;
    static constexpr Meta kMeta{"show_palette", Kind::plain, fields<&ShowPalette::on>};
    friend void carry_out(AppState& state, const ShowPalette& action);
};
struct SetPaletteQuery {
    std::string query;
    static constexpr Meta kMeta{"set_palette_query", Kind::plain, fields<&SetPaletteQuery::query>};
    friend void carry_out(AppState& state, const SetPaletteQuery& action);
};
struct MovePalette {
    int rows;
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const MovePalette& action);
};
/// What a program that was ended left; nullopt: no more.
struct OfferRecovery {
    std::optional<Recovery> recovery;
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const OfferRecovery& action);
};
struct AnswerRecovery {
    RecoveryAnswer answer;
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const AnswerRecovery& action);
};
struct SetRecent {
    std::vector<std::string> paths;
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const SetRecent& action);
};
/// Asks for a path; nullopt: closes.
struct ShowPrompt {
    std::optional<PromptKind> kind;
    std::string path = {};
    bool confirmed = false;  // the file is there already, and the person was told
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const ShowPrompt& action);
};
/// Typing.
struct DraftPrompt {
    std::string path;
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const DraftPrompt& action);
};
/// "": where it came from, else asks for a path.
struct SaveSession {
    std::string path;
    bool overwrite = false;  // a file that is there
    static constexpr Meta kMeta{"save_session", Kind::plain,
                                fields<&SaveSession::path, &SaveSession::overwrite>};
    friend void carry_out(AppState& state, const SaveSession& action);
};
/// It was written.
struct SessionSaved {
    std::string path;
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const SessionSaved& action);
};
/// What was trained as `attnscope train` saves runs, into folders run-a and run-b of that one.
struct SaveRuns {
    std::string path;
    bool overwrite = false;  // runs that are there
    static constexpr Meta kMeta{"save_runs", Kind::plain,
                                fields<&SaveRuns::path, &SaveRuns::overwrite>};
    friend void carry_out(AppState& state, const SaveRuns& action);
};
struct ExportFigure {
    std::string path;
    bool chrome = false;     // the whole window, not the canvas alone
    bool overwrite = false;  // a file that is there
    static constexpr Meta kMeta{
        "export_figure", Kind::plain,
        fields<&ExportFigure::path, &ExportFigure::chrome, &ExportFigure::overwrite>};
    friend void carry_out(AppState& state, const ExportFigure& action);
};
/// Of a job that takes long.
struct JobProgress {
    std::string job;
    double done = 0.0;  // 0 … 1
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const JobProgress& action);
};
/// What the system says: "saved …", an error from outside.
struct Notify {
    Message message;
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const Notify& action);
};
struct TakeScreenshot {
    static constexpr Meta kMeta{"take_screenshot", Kind::plain};
    friend void carry_out(AppState& state, const TakeScreenshot& action);
};
/// By its key; the one that was put away resumes.
/// "": the first one.
struct StartTour {
    std::string name;
    static constexpr Meta kMeta{"start_tour", Kind::plain, fields<&StartTour::name>};
    friend void carry_out(AppState& state, const StartTour& action);
};
/// From 0; the window is brought to where the page begins.
struct GoToTourPage {
    Index page;
    static constexpr Meta kMeta{"go_to_tour_page", Kind::plain, fields<&GoToTourPage::page>};
    friend void carry_out(AppState& state, const GoToTourPage& action);
};
/// A choice of the page's question, from 0.
struct Predict {
    Index choice;
    static constexpr Meta kMeta{"predict", Kind::plain, fields<&Predict::choice>};
    friend void carry_out(AppState& state, const Predict& action);
};
/// Does what the page asks for.
struct ShowTourAction {
    static constexpr Meta kMeta{"show_tour_action", Kind::plain};
    friend void carry_out(AppState& state, const ShowTourAction& action);
};
/// Puts the tour away; starting it again resumes it.
struct EndTour {
    static constexpr Meta kMeta{"end_tour", Kind::plain};
    friend void carry_out(AppState& state, const EndTour& action);
};
/// Ctrl+Q and the window's close button: ends at once where nothing is unsaved.
struct AskQuit {
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const AskQuit& action);
};
/// Something is not saved: the person is asked.
struct OfferQuit {
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const OfferQuit& action);
};
struct AnswerQuit {
    QuitAnswer answer;
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const AnswerQuit& action);
};
struct Quit {
    static constexpr Meta kMeta{"quit", Kind::plain};
    friend void carry_out(AppState& state, const Quit& action);
};
/// The keyboard is on that control; 0: on none.
struct FocusControl {
    std::uint32_t control;
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const FocusControl& action);
};
/// Typing in place of a number; nullopt: it is over.
struct TypeInto {
    std::optional<Typing> typing;
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const TypeInto& action);
};
/// The current row of the open list.
struct MoveInList {
    int row;
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const MoveInList& action);
};
/// See due_actions().
struct Tick {
    double seconds;
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const Tick& action);
};

using WindowActions =
    ActionList<SetWorkspace, BeginGesture, EndGesture, Undo, Redo, ClearSelection, CopyArithmetic,
               SetTheme, SetUiScale, StartAtScale, ShowInspector, SetNarrow, HoldKey, FadeMessage,
               SetReducedMotion, SetPresenter, ShowHelp, ShowAbout, ShowGlossary, SetGlossaryQuery,
               ChooseTerm, ShowPalette, SetPaletteQuery, MovePalette, OfferRecovery, AnswerRecovery,
               SetRecent, ShowPrompt, DraftPrompt, SaveSession, SessionSaved, SaveRuns,
               ExportFigure, Notify, JobProgress, TakeScreenshot, StartTour, GoToTourPage, Predict,
               ShowTourAction, EndTour, AskQuit, OfferQuit, AnswerQuit, Quit, FocusControl,
               TypeInto, MoveInList, Tick>;

}  // namespace attn::view

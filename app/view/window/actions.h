#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/view/common/action.h"
#include "app/view/state.h"

namespace attn::view {

// The window: workspaces, undo, theme, help, palette, files to write.

enum class CopyAs : std::uint8_t { text, latex, python };

/// By its key.
struct SetWorkspace {
    std::string workspace;
    static constexpr auto kMeta =
        meta("set_workspace", Kind::plain, field("workspace", &SetWorkspace::workspace));
    friend void carry_out(AppState& state, const SetWorkspace& action);
};
/// The mouse took hold of a slider.
struct BeginGesture {
    static constexpr auto kMeta = meta("begin_gesture", Kind::plain);
    friend void carry_out(AppState& state, const BeginGesture& action);
};
/// And let go of it.
struct EndGesture {
    static constexpr auto kMeta = meta("end_gesture", Kind::plain);
    friend void carry_out(AppState& state, const EndGesture& action);
};
struct Undo {
    static constexpr auto kMeta = meta("undo", Kind::plain);
    friend void carry_out(AppState& state, const Undo& action);
};
struct Redo {
    static constexpr auto kMeta = meta("redo", Kind::plain);
    friend void carry_out(AppState& state, const Redo& action);
};
struct ClearSelection {
    static constexpr auto kMeta = meta("clear_selection", Kind::plain);
    friend void carry_out(AppState& state, const ClearSelection& action);
};
/// Of the inspected cell.
struct CopyArithmetic {
    CopyAs format;
    static constexpr auto kMeta =
        meta("copy_arithmetic", Kind::plain, field("format", &CopyArithmetic::format));
    friend void carry_out(AppState& state, const CopyArithmetic& action);
};
struct SetTheme {
    ThemeName theme;
    static constexpr auto kMeta = meta("set_theme", Kind::plain, field("theme", &SetTheme::theme));
    friend void carry_out(AppState& state, const SetTheme& action);
};
struct SetUiScale {
    double scale;
    static constexpr auto kMeta =
        meta("set_ui_scale", Kind::plain, field("scale", &SetUiScale::scale));
    friend void carry_out(AppState& state, const SetUiScale& action);
};
/// The same before anything is seen: the first message stays.
struct StartAtScale {
    double scale;
    static constexpr auto kMeta =
        meta("start_at_scale", Kind::plain, field("scale", &StartAtScale::scale));
    friend void carry_out(AppState& state, const StartAtScale& action);
};
/// nullopt: where the window has room.
struct ShowInspector {
    std::optional<bool> on;
    static constexpr auto kMeta =
        meta("show_inspector", Kind::plain, field("on", &ShowInspector::on));
    friend void carry_out(AppState& state, const ShowInspector& action);
};
/// The window has no room for an inspector beside the canvas.
struct SetNarrow {
    bool narrow;
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const SetNarrow& action);
};
struct SetReducedMotion {
    bool on;
    static constexpr auto kMeta =
        meta("set_reduced_motion", Kind::plain, field("on", &SetReducedMotion::on));
    friend void carry_out(AppState& state, const SetReducedMotion& action);
};
/// Rail, controls, inspector and bottom line away; the canvas fills the screen.
struct SetPresenter {
    bool on;
    static constexpr auto kMeta =
        meta("set_presenter", Kind::plain, field("on", &SetPresenter::on));
    friend void carry_out(AppState& state, const SetPresenter& action);
};
struct ShowHelp {
    bool on;
    static constexpr auto kMeta = meta("show_help", Kind::plain, field("on", &ShowHelp::on));
    friend void carry_out(AppState& state, const ShowHelp& action);
};
struct ShowGlossary {
    bool on;
    static constexpr auto kMeta =
        meta("show_glossary", Kind::plain, field("on", &ShowGlossary::on));
    friend void carry_out(AppState& state, const ShowGlossary& action);
};
struct SetGlossaryQuery {
    std::string query;
    static constexpr auto kMeta =
        meta("set_glossary_query", Kind::plain, field("query", &SetGlossaryQuery::query));
    friend void carry_out(AppState& state, const SetGlossaryQuery& action);
};
/// Of what is found.
struct ChooseTerm {
    Index row;
    static constexpr auto kMeta = meta("choose_term", Kind::plain, field("row", &ChooseTerm::row));
    friend void carry_out(AppState& state, const ChooseTerm& action);
};
/// Version, licences, libraries and fonts.
struct ShowAbout {
    bool on;
    static constexpr auto kMeta = meta("show_about", Kind::plain, field("on", &ShowAbout::on));
    friend void carry_out(AppState& state, const ShowAbout& action);
};
struct ShowPalette {
    bool on;
    static constexpr auto kMeta = meta("show_palette", Kind::plain, field("on", &ShowPalette::on));
    friend void carry_out(AppState& state, const ShowPalette& action);
};
struct SetPaletteQuery {
    std::string query;
    static constexpr auto kMeta =
        meta("set_palette_query", Kind::plain, field("query", &SetPaletteQuery::query));
    friend void carry_out(AppState& state, const SetPaletteQuery& action);
};
struct MovePalette {
    int rows;
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const MovePalette& action);
};
/// What a program that was ended left; nullopt: no more.
struct OfferRecovery {
    std::optional<Recovery> recovery;
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const OfferRecovery& action);
};
struct AnswerRecovery {
    RecoveryAnswer answer;
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const AnswerRecovery& action);
};
struct SetRecent {
    std::vector<std::string> paths;
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const SetRecent& action);
};
/// Asks for a path; nullopt: closes.
struct ShowPrompt {
    std::optional<PromptKind> kind;
    std::string path = {};
    bool confirmed = false;  // the file is there already, and the person was told
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const ShowPrompt& action);
};
/// Typing.
struct DraftPrompt {
    std::string path;
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const DraftPrompt& action);
};
/// "": where it came from, else asks for a path.
struct SaveSession {
    std::string path;
    bool overwrite = false;  // a file that is there
    static constexpr auto kMeta =
        meta("save_session", Kind::plain, field("path", &SaveSession::path),
             field("overwrite", &SaveSession::overwrite));
    friend void carry_out(AppState& state, const SaveSession& action);
};
/// It was written.
struct SessionSaved {
    std::string path;
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const SessionSaved& action);
};
struct ExportFigure {
    std::string path;
    bool chrome = false;     // the whole window, not the canvas alone
    bool overwrite = false;  // a file that is there
    static constexpr auto kMeta =
        meta("export_figure", Kind::plain, field("path", &ExportFigure::path),
             field("chrome", &ExportFigure::chrome), field("overwrite", &ExportFigure::overwrite));
    friend void carry_out(AppState& state, const ExportFigure& action);
};
/// Of a job that takes long.
struct JobProgress {
    std::string job;
    double done = 0.0;  // 0 … 1
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const JobProgress& action);
};
/// What the system says: "saved …", an error from outside.
struct Notify {
    Message message;
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const Notify& action);
};
struct TakeScreenshot {
    static constexpr auto kMeta = meta("take_screenshot", Kind::plain);
    friend void carry_out(AppState& state, const TakeScreenshot& action);
};
/// By its key; the one that was put away resumes.
struct StartTour {
    std::string name;
    static constexpr auto kMeta = meta("start_tour", Kind::plain, field("name", &StartTour::name));
    friend void carry_out(AppState& state, const StartTour& action);
};
/// From 0; the window is brought to where the page begins.
struct GoToTourPage {
    Index page;
    static constexpr auto kMeta =
        meta("go_to_tour_page", Kind::plain, field("page", &GoToTourPage::page));
    friend void carry_out(AppState& state, const GoToTourPage& action);
};
/// A choice of the page's question, from 0.
struct Predict {
    Index choice;
    static constexpr auto kMeta = meta("predict", Kind::plain, field("choice", &Predict::choice));
    friend void carry_out(AppState& state, const Predict& action);
};
/// Does what the page asks for.
struct ShowTourAction {
    static constexpr auto kMeta = meta("show_tour_action", Kind::plain);
    friend void carry_out(AppState& state, const ShowTourAction& action);
};
/// Puts the tour away; starting it again resumes it.
struct EndTour {
    static constexpr auto kMeta = meta("end_tour", Kind::plain);
    friend void carry_out(AppState& state, const EndTour& action);
};
/// Ctrl+Q and the window's close button: ends at once where nothing is unsaved.
struct AskQuit {
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const AskQuit& action);
};
/// Something is not saved: the person is asked.
struct OfferQuit {
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const OfferQuit& action);
};
struct AnswerQuit {
    QuitAnswer answer;
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const AnswerQuit& action);
};
struct Quit {
    static constexpr auto kMeta = meta("quit", Kind::plain);
    friend void carry_out(AppState& state, const Quit& action);
};
/// The keyboard is on that control; 0: on none.
struct FocusControl {
    std::uint32_t control;
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const FocusControl& action);
};
/// Typing in place of a number; nullopt: it is over.
struct TypeInto {
    std::optional<Typing> typing;
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const TypeInto& action);
};
/// The current row of the open list.
struct MoveInList {
    int row;
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const MoveInList& action);
};
/// See due_actions().
struct Tick {
    double seconds;
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const Tick& action);
};

using WindowActions =
    ActionList<SetWorkspace, BeginGesture, EndGesture, Undo, Redo, ClearSelection, CopyArithmetic,
               SetTheme, SetUiScale, StartAtScale, ShowInspector, SetNarrow, SetReducedMotion,
               SetPresenter, ShowHelp, ShowAbout, ShowGlossary, SetGlossaryQuery, ChooseTerm,
               ShowPalette, SetPaletteQuery, MovePalette, OfferRecovery, AnswerRecovery, SetRecent,
               ShowPrompt, DraftPrompt, SaveSession, SessionSaved, ExportFigure, Notify,
               JobProgress, TakeScreenshot, StartTour, GoToTourPage, Predict, ShowTourAction,
               EndTour, AskQuit, OfferQuit, AnswerQuit, Quit, FocusControl, TypeInto, MoveInList,
               Tick>;

}  // namespace attn::view

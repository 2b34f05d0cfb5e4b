#include <cmath>

#include <fmt/format.h>

#include "app/common/actions.h"
#include "app/common/check_file.h"
#include "app/common/document/actions.h"
#include "app/common/document/edits.h"
#include "app/common/document/intervention_effects.h"
#include "app/common/glossary.h"
#include "app/common/parts.h"
#include "app/common/text.h"
#include "app/common/workspace.h"
#include "app/window/commands.h"
#include "app/window/rail.h"
#include "app/window/requests.h"
#include "app/window/tour.h"
#include "core/text.h"

namespace attn::view {
namespace {

/// One page over the window at a time.
void close_pages(AppState& state) {
    state.show_help = state.show_about = state.show_palette = state.glossary.shown = false;
}

/// An edit by its words, where they are long without what follows from it; with an arrow in them it is named as one, for
/// what it did is not what undoing it does.
std::string edit_description(const std::string& text) {
    constexpr std::size_t kLong = 48;
    const std::size_t end =
        text.size() > kLong ? std::min(text.find(": "), text.find("; ")) : text.npos;
    const std::string edit = text.substr(0, end);
    return edit.find("→") == edit.npos ? edit : "the edit “" + edit + "”";
}

/// "talk" is talk.json.
std::string session_path(const std::string& path) {
    return std::filesystem::path(path).extension().empty() ? path + ".json" : path;
}

bool is_typing(const AppState& state) {
    return state.gesture && state.gesture->action == &kActionType<TypeText>;
}

/// Within a gesture the edits of one kind of action are one step; anything else but what happens beside it ends it. Typing
/// is a gesture without a mouse: anything else ends it too.
void finish_gesture(AppState& state, const Action& action) {
    const Kind kind = kind_of(action);
    if (kind == Kind::moment || kind == Kind::answer) return;
    const bool types = action.is<TypeText>();
    if (kind != Kind::drag || (is_typing(state) && !types)) return state.gesture.reset();
    if (state.gesture) state.gesture->joins = state.gesture->action == &action.type();
}

/// A prompt says what went wrong with its own path. A session keeps the message, which is only hidden.
void clear_error(AppState& state) {
    if (state.notice && state.notice->severity == Severity::error) state.notice.reset();
    if (state.message.severity == Severity::error) state.notice = Message{};
}

/// What failed and is not requested any more may be tried again.
void clear_failures(AppState& state) {
    if (state.failures.empty()) return;
    const std::vector<RequestKind> kinds = all_requests();
    std::erase_if(state.failures, [&](const FailedRequest& failed) {
        const auto kind = std::ranges::find(kinds, failed.job, &RequestKind::name);
        return kind == kinds.end() || kind->requested(state) != *failed.request;
    });
}

/// It shows the present document; or, as Next token, is a workspace of models that has something to ask of this one.
bool shows_present(const WorkspaceInfo& shown, const AppState& state) {
    if (shown.shows_document) return shown.missing_data(state).empty();
    return shown.group == Group::model &&
           std::ranges::any_of(shown.requests, [&](const RequestKind& kind) {
               return kind.requested(state).has_value();
           });
}

}  // namespace

void carry_out(AppState& state, const SetWorkspace& action) {
    const WorkspaceInfo* const to = find_workspace(state.workspaces, action.workspace);
    if (!to)
        return show_error(state, "There is no workspace '{}': expected {}.", action.workspace,
                          workspace_keys(state.workspaces));
    state.workspace = to->key;
    parts_look(state).more = false;
    for (const WorkspaceInfo* workspace : state.workspaces) workspace->leave(state);
    to->enter(state);
}

void carry_out(AppState& state, const BeginGesture&) {
    state.gesture = Gesture{};
    for (const WorkspaceInfo* workspace : state.workspaces) workspace->gesture(state);
}
void carry_out(AppState& state, const EndGesture&) {
    state.gesture.reset();
    for (const WorkspaceInfo* workspace : state.workspaces) workspace->gesture(state);
}

void carry_out(AppState& state, const Undo&) {
    if (state.now == 0) return show_message(state, "Nothing to undo.");
    travel(state, state.now - 1,
           fmt::format("Undone: {}.", edit_description(state.history[state.now].text)));
}

void carry_out(AppState& state, const Redo&) {
    if (state.now + 1 == state.history.size()) return show_message(state, "Nothing to redo.");
    travel(state, state.now + 1,
           fmt::format("Redone: {}.", edit_description(state.history[state.now + 1].text)));
}

/// Back to what is looked at first: what was said spoke of another place.
void carry_out(AppState& state, const ClearSelection&) {
    state.message = {};
    shown_workspace(state).clear(state);
}

void carry_out(AppState& state, const CopyArithmetic& action) {
    const InspectorView view = shown_workspace(state).inspector(state);
    if (view.empty) return warn(state, "Nothing to copy: select a number first.");
    const std::string* texts[] = {&view.as_text, &view.as_latex, &view.as_python};
    const char* names[] = {"text", "LaTeX", "Python"};
    const auto n = static_cast<std::size_t>(action.format);
    state.effects.clipboard = *texts[n];
    show_message(state, "Copied {} as {}.", view.title, names[n]);
}

void carry_out(AppState& state, const SetTheme& action) { state.theme = action.theme; }
void carry_out(AppState& state, const ShowInspector& action) { state.inspector = action.on; }
void carry_out(AppState& state, const SetNarrow& action) { state.narrow = action.on; }
void carry_out(AppState& state, const HoldKey& action) { state.held = action.key; }
void carry_out(AppState& state, const SetRecent& action) { state.recent = action.files; }
void carry_out(AppState& state, const SetUiScale& action) {
    carry_out(state, StartAtScale{action.scale});
    show_message(state, "UI scale {:.0f} %", 100.0 * state.ui_scale);
}

void carry_out(AppState& state, const StartAtScale& action) {
    if (std::isfinite(action.scale)) state.ui_scale = std::clamp(action.scale, 1.0, 2.0);
}

/// An empty notice stands before the message, which stays: no journal knows the clock, and a session is the same with and
/// without it.
void carry_out(AppState& state, const FadeMessage&) {
    if (state.notice.value_or(state.message).severity == Severity::info) {
        state.notice.reset();
        if (state.message.severity == Severity::info) state.notice.emplace();
    }
    state.held = Key::none;
}

void carry_out(AppState& state, const SetReducedMotion& action) {
    state.reduced_motion = action.on;
    show_message(state, action.on ? "Reduced motion: stages change without animation."
                                  : "Stages are animated.");
}

/// Seen at once. What is typed has no field while presenting.
void carry_out(AppState& state, const SetPresenter& action) {
    state.presenter = action.on;
    state.focus = {};
    show_message(state,
                 action.on ? "Presenting. P or Escape shows the whole window." : "Whole window.");
}

void carry_out(AppState& state, const ShowHelp& action) {
    if (action.on) close_pages(state);
    state.show_help = action.on;
}

void carry_out(AppState& state, const ShowGlossary& action) {
    if (action.on) close_pages(state);
    state.glossary = {action.on, {}, 0};
}

void carry_out(AppState& state, const SetGlossaryQuery& action) {
    if (!state.glossary.shown) close_pages(state);
    state.glossary = {true, action.query, 0};
}

void carry_out(AppState& state, const ChooseTerm& action) {
    const Index last = std::max<Index>(std::ssize(found_terms(state)), 1) - 1;
    state.glossary.row = static_cast<std::size_t>(std::clamp<Index>(action.row, 0, last));
}

void carry_out(AppState& state, const ShowAbout& action) {
    if (action.on) close_pages(state);
    state.show_about = action.on;
}

void carry_out(AppState& state, const ShowPalette& action) {
    if (action.on) close_pages(state);
    state.show_palette = action.on;
    state.palette_query.clear();
    state.palette_row = 0;
}

void carry_out(AppState& state, const SetPaletteQuery& action) {
    state.palette_query = action.query;
    state.palette_row = 0;
}

void carry_out(AppState& state, const MovePalette& action) {
    const Index rows = static_cast<Index>(find_commands(state, state.palette_query).size());
    const Index to = static_cast<Index>(state.palette_row) + action.rows;
    state.palette_row =
        static_cast<std::size_t>(std::clamp(to, Index{0}, std::max(rows, Index{1}) - 1));
}

void carry_out(AppState& state, const OfferRecovery& action) {
    state.recovery = action.recovery;
    state.recovery_shown = action.recovery.has_value();
}

void carry_out(AppState& state, const AnswerRecovery& action) {
    if (!state.recovery_shown) return;
    state.recovery_shown = false;
    state.effects.recovery = action.answer;
}

void carry_out(AppState& state, const ShowPrompt& action) {
    state.prompt.reset();
    if (action.kind != PromptKind::save) state.quits_when_saved = false;
    if (!action.kind) return;
    close_pages(state);
    clear_error(state);
    state.prompt = Prompt{*action.kind, action.path, action.confirmed};
    if (!action.path.empty()) return;
    if (*action.kind == PromptKind::save) state.prompt->path = state.session_file;
    if (*action.kind == PromptKind::runs) state.prompt->path = "attnscope-runs";
    if (*action.kind == PromptKind::figure)
        state.prompt->path = figure_name(shown_workspace(state), state) + ".svg";
}

void carry_out(AppState& state, const DraftPrompt& action) {
    if (!state.prompt) return;
    clear_error(state);
    state.prompt->path = action.path;
    state.prompt->confirmed = false;
}

void carry_out(AppState& state, const SaveSession& action) {
    state.prompt.reset();
    const bool again = action.path.empty() || action.path == state.session_file;
    const std::string& path = again ? state.session_file : action.path;
    if (path.empty()) return carry_out(state, ShowPrompt{PromptKind::save});
    state.effects.session = FileRequest{session_path(path), action.overwrite};
}

void carry_out(AppState& state, const SessionSaved& action) {
    state.session_file = action.path;
    if (std::exchange(state.quits_when_saved, false)) state.effects.quit_answer = QuitAnswer::save;
}

void carry_out(AppState& state, const SaveRuns& action) {
    state.prompt.reset();
    auto runs = std::make_shared<std::vector<train::Run>>();
    for (const WorkspaceInfo* workspace : state.workspaces)
        for (train::Run& run : workspace->runs(state)) runs->push_back(std::move(run));
    if (runs->empty()) return warn(state, "Nothing is trained yet. Space starts training.");
    state.effects.runs = RunsRequest{{action.path, action.overwrite}, std::move(runs)};
}

void carry_out(AppState& state, const ExportFigure& action) {
    state.prompt.reset();
    state.effects.figure = FileRequest{action.path, action.overwrite, action.chrome};
}

void carry_out(AppState& state, const Notify& action) {
    state.notice = {shortened(action.message.text, kMostMessage), action.message.severity};
}
void carry_out(AppState& state, const JobProgress& action) {
    if (state.opening && action.job == "opening") state.opening_done = action.done;
    for (const WorkspaceInfo* workspace : state.workspaces)
        workspace->progress(state, action.job, action.done);
}

/// Said in the bottom line too. A document that cannot be opened is not requested any more.
void carry_out(AppState& state, const RequestFailed& action) {
    std::erase_if(state.failures,
                  [&](const FailedRequest& each) { return each.job == action.what.job; });
    state.failures.push_back(action.what);
    state.notice = {shortened(action.what.text, kMostMessage), Severity::error};
    if (action.what.job == "opening") state.opening.reset();
}

void carry_out(AppState& state, const TakeScreenshot&) { state.effects.screenshot = true; }
void carry_out(AppState& state, const AskQuit&) {
    leave_typed_text(state);
    if (state.quit_asked) return carry_out(state, AnswerQuit{QuitAnswer::keep});
    state.effects.ask_quit = true;
}
void carry_out(AppState& state, const OfferQuit& action) {
    close_pages(state);
    state.prompt.reset();
    state.quit_asked = action.work;
}
void carry_out(AppState& state, const AnswerQuit& action) {
    state.quit_asked.reset();
    state.quits_when_saved = action.answer == QuitAnswer::save;
    if (action.answer == QuitAnswer::save) return carry_out(state, SaveSession{""});
    if (action.answer != QuitAnswer::stay) state.effects.quit_answer = action.answer;
}
void carry_out(AppState& state, const Quit&) {
    leave_typed_text(state);
    state.effects.quit = true;
}

void carry_out(AppState& state, const Tick& action) {
    for (const WorkspaceInfo* workspace : state.workspaces) workspace->tick(state, action.seconds);
}

void carry_out(AppState& state, const FocusControl& action) {
    state.focus.control = action.control;
}
void carry_out(AppState& state, const TypeInto& action) { state.focus.typing = action.typing; }
void carry_out(AppState& state, const MoveInList& action) { state.focus.row = action.row; }

void follow_all(AppState& state) {
    for (const WorkspaceInfo* workspace : state.workspaces) workspace->follow(state);
    clear_failures(state);
    warn_of_backend(state);
}

void apply(AppState& state, const Action& action) {
    for (const WorkspaceInfo* workspace : state.workspaces) workspace->before(state, action);
    finish_gesture(state, action);
    const bool faded = state.notice && state.notice->text.empty();  // until something is said
    if (kind_of(action) != Kind::moment && !faded) state.notice.reset();
    const std::uint64_t before = state.edits;
    action.carry_out(state);
    const bool edited = state.edits != before;
    if (state.gesture && kind_of(action) == Kind::drag && (edited || action.is<TypeText>()))
        state.gesture->action = &action.type();
    if (state.gesture) state.gesture->joins = false;
    follow_all(state);
    continue_lines(state, action);
    if (kind_of(action) != Kind::moment) follow_tour(state);
}

Actions due_actions(const AppState& state) {
    if (is_example_due(state)) return {OpenExample{}};
    for (const WorkspaceInfo* workspace : state.workspaces)
        if (Actions due = workspace->due(state); !due.empty()) return due;
    return {};
}

void carry_out(AppState& state, const CheckFile& action) {
    if (state.prompt && state.prompt->kind == PromptKind::check) state.prompt.reset();
    for (const WorkspaceInfo* const workspace : state.workspaces)
        if (workspace->check != nullptr) workspace->check(state, action.path);
}

const WorkspaceInfo& shown_workspace(const AppState& state) {
    return *find_workspace(state.workspaces, state.workspace);
}

Key digit_of(Group group) {
    return static_cast<Key>(static_cast<int>(Key::digit1) + static_cast<int>(group));
}

Chord chord_of(const WorkspaceInfo& workspace) {
    return {workspace.letter, false, false, digit_of(workspace.group)};
}

const WorkspaceInfo* first_of(WorkspaceList among, Group group) {
    const auto found = std::ranges::find_if(
        among, [&](const WorkspaceInfo* row) { return row->group == group && !row->at_bottom; });
    return found == among.end() ? nullptr : *found;
}

const WorkspaceInfo* find_workspace(WorkspaceList among, std::string_view key) {
    const auto found = std::ranges::find_if(among, [&](const WorkspaceInfo* row) {
        return row->key == key || (!row->also.empty() && row->also == key);
    });
    return found == among.end() ? nullptr : *found;
}

std::string workspace_keys(WorkspaceList among) {
    std::string keys;
    for (std::size_t n = 0; n < among.size(); ++n) {
        keys += n == 0 ? "" : n + 1 == among.size() ? " or " : ", ";
        keys += among[n]->also.empty() ? among[n]->key : among[n]->also;
    }
    return keys;
}

void leave_unavailable_workspace(AppState& state) {
    if (shows_present(shown_workspace(state), state)) return;
    const auto shows = [&](const WorkspaceInfo* row) {
        return row->shows_document && row->missing_data(state).empty();
    };
    const WorkspaceInfo* to = nullptr;
    for (const WorkspaceInfo* row : state.workspaces)
        if (shows(row) && (to == nullptr || (row->shows_first && !to->shows_first))) to = row;
    if (to != nullptr) state.workspace = to->key;
}

SetWorkspace go_to(const WorkspaceInfo& workspace) { return {std::string(workspace.key)}; }

bool is_idle(const WorkspaceInfo& workspace, const AppState& state) {
    const auto failed = [&](const RequestKind& kind) {
        return !failure_of(state, kind.name).empty();
    };
    if (workspace.is_idle != nullptr)
        return workspace.is_idle(state) || std::ranges::any_of(workspace.requests, failed);
    return std::ranges::none_of(workspace.requests, [&](const RequestKind& kind) {
        return open_request(kind, state).has_value();
    });
}

std::string figure_name(const WorkspaceInfo& workspace, const AppState& state) {
    return workspace.figure_name ? workspace.figure_name(state) : std::string(workspace.key);
}

}  // namespace attn::view

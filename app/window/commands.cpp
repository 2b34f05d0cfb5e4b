#include "app/window/commands.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/actions.h"
#include "app/common/assets.h"
#include "app/common/clip.h"
#include "app/common/color_look.h"
#include "app/common/document/actions.h"
#include "app/common/document/document.h"
#include "app/common/glossary.h"
#include "app/common/state_text.h"
#include "app/common/vocabulary.h"
#include "app/common/workspace.h"
#include "app/window/journal.h"
#include "app/window/lecture.h"
#include "app/window/lecture_actions.h"
#include "app/window/questions.h"
#include "app/window/rail.h"
#include "app/window/tour.h"
#include "core/narrow.h"
#include "core/stages.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

constexpr double kScaleSteps = 10.0;      // in 1
constexpr std::size_t kLeastLetters = 4;  // of a word by which the nearest question is found

using Commands = std::vector<Command>;

bool is_side_shown(const AppState& state) {
    return shown_workspace(state).has_side(state) && state.is_inspector_shown();
}

/// What Esc does here: the nearest thing that can be closed; nullopt: nothing is open. A selection stays.
std::optional<Action> escape_action(const AppState& state) {
    if (state.recovery_shown) return AnswerRecovery{RecoveryAnswer::later};
    if (state.quit_asked) return AnswerQuit{QuitAnswer::stay};
    if (state.prompt) return ShowPrompt{std::nullopt};
    if (state.show_palette) return ShowPalette{false};
    if (state.show_help) return ShowHelp{false};
    if (state.glossary.shown) return ShowGlossary{false};
    if (state.show_about) return ShowAbout{false};
    if (state.held != Key::none) return HoldKey{Key::none};
    if (auto inner = shown_workspace(state).escape(state)) return inner;
    if (state.presenter) return SetPresenter{false};
    if (state.narrow && is_side_shown(state)) return inspector_action(state, false);
    return std::nullopt;
}

/// "Step, Masks, Lookup".
std::string titles_of(const AppState& state, Group group) {
    std::string titles;
    for (const WorkspaceInfo* workspace : state.workspaces)
        if (workspace->group == group && !workspace->at_bottom)
            titles += fmt::format("{}{}", titles.empty() ? "" : ", ", workspace->title);
    return titles;
}

void add_workspaces(const CommandAdder& add, const AppState& state) {
    for (const WorkspaceInfo* workspace : state.workspaces)
        add(std::string(workspace->title) + " workspace", chord_of(*workspace), go_to(*workspace),
            true, {}, workspace->former);
    for (std::size_t n = 0; n < std::size(kGroupNames); ++n)
        if (const auto* first = first_of(state.workspaces, static_cast<Group>(n)))
            add(fmt::format("{}: {}", kGroupNames[n], titles_of(state, first->group)),
                plain(digit_of(first->group)), go_to(*first));
}

void add_files(const CommandAdder& add, const AppState& state) {
    add("Open a file", ctrl(Key::o), ShowPrompt{PromptKind::open});
    for (const std::string& name : built_in_models())
        add(fmt::format("Open model: {}", name), {}, OpenFile{name});
    add("Save the session", ctrl(Key::s), SaveSession{""});
    add("Save the session as", {Key::s, true, true}, ShowPrompt{PromptKind::save});
    add("Export a figure", ctrl(Key::e), ShowPrompt{PromptKind::figure});
    add("Save screenshot", plain(Key::f12), TakeScreenshot{});
    const bool records = clip_look(state).records;
    add(records ? "End the clip and save it" : "Record a clip of the window", shift(Key::f12),
        RecordClip{!records});
    constexpr std::string_view kFormats[] = {"an animated PNG", "MP4, by ffmpeg",
                                             "WebM, by ffmpeg"};
    for (std::size_t n = 0; n < std::size(kFormats); ++n)
        add(fmt::format("Record a clip as {}", kFormats[n]), {},
            RecordClipAs{static_cast<ClipFormat>(n)}, !records);
    for (const std::string& path : state.recent)
        add(fmt::format("Open recent: {}", path), {}, OpenFile{path});
}

/// The whole vocabulary of a small model, to read in the palette.
void add_vocabulary(const CommandAdder& add, const AppState& state) {
    for (const VocabularyClass& each : vocabulary_of(state)) {
        const std::string text = fmt::format("Words of {}, {}: {}", state.document().title,
                                             each.name, fmt::join(each.entries, ", "));
        add(text, {}, Notify{{text, Severity::info}});
    }
}

void add_copies(const CommandAdder& add, const AppState& state) {
    // Asked where what cannot be done is left out or muted; the action itself says so too.
    const bool lists = state.show_palette || state.show_help;
    const bool any = !lists || !shown_workspace(state).inspector(state).empty;
    add("Copy the arithmetic as text", ctrl(Key::c), CopyArithmetic{CopyAs::text}, any);
    add("Copy the arithmetic as LaTeX", {}, CopyArithmetic{CopyAs::latex}, any);
    add("Copy the arithmetic as Python", {}, CopyArithmetic{CopyAs::python}, any);
    add("Copy this state as text", {}, CopyState{});
}

void add_color_looks(const CommandAdder& add, const ColorLook& look) {
    constexpr std::string_view kTexts[] = {"violet, the theme's own",
                                           "viridis, even steps of lightness",
                                           "cividis, for colour-blind eyes", "grey, for print"};
    for (std::size_t n = 0; n < std::size(kTexts); ++n)
        add(fmt::format("Colour map of weights: {}", kTexts[n]), {},
            SetColorMap{static_cast<ColorMap>(n)}, static_cast<std::size_t>(look.map) != n);
    add(look.to_one ? "Colours of weights from 0 to the largest weight"
                    : "Colours of weights from 0 to 1",
        {}, SetWeightsToOne{!look.to_one});
}

void add_looks(const CommandAdder& add, const AppState& state) {
    const bool dark = state.theme == ThemeName::dark;
    add(dark ? "Light theme" : "Dark theme", plain(Key::t),
        SetTheme{dark ? ThemeName::light : ThemeName::dark}, true, {}, plain(Key::f2));
    add_color_looks(add, color_look(state));
    const double step = std::round(state.ui_scale * kScaleSteps);  // tenths, as they are written
    add("Larger", ctrl(Key::plus), SetUiScale{(step + 1) / kScaleSteps}, state.ui_scale < 2.0);
    add("Smaller", ctrl(Key::minus), SetUiScale{(step - 1) / kScaleSteps}, state.ui_scale > 1.0);
    add("Normal size", ctrl(Key::zero), SetUiScale{1.0});
    add(state.is_inspector_shown() ? "Hide the inspector" : "Show the inspector", plain(Key::i),
        inspector_action(state, !state.is_inspector_shown()),
        shown_workspace(state).has_side(state));
    add(state.presenter ? "Stop presenting" : "Present: only the canvas, full window",
        plain(Key::p), SetPresenter{!state.presenter});
    const bool all = rail_look(state).all_tools;
    add(all ? "Fewer tools on the rail" : "All tools on the rail: Compare and Check too", {},
        ShowAllTools{!all});
    add(state.reduced_motion ? "Animate stages" : "Reduce motion", {},
        SetReducedMotion{!state.reduced_motion});
}

/// Of the n-th thing, from 0: "1".
Key digit_key(std::size_t n) { return static_cast<Key>(static_cast<std::size_t>(Key::digit1) + n); }

void add_tours(Commands& list, const AppState& state) {
    const CommandAdder add{list, "Tour"};
    const TourLook& look = state.tour;
    for (std::size_t n = 0; n < state.tours.size(); ++n) {
        const Tour& tour = *state.tours[n];
        const bool resumes = look.tour && !look.on && look.tour->key == tour.key;
        add(fmt::format("{}: {} ({} minutes)", resumes ? "Resume the tour" : "Tour", tour.title,
                        tour.minutes),
            n == 0 ? shift(Key::f1) : Chord{}, StartTour{tour.key}, !look.on);
    }
    if (!look.on) return;
    const auto pages = static_cast<Index>(look.tour->pages.size());
    add("Next page of the tour", ctrl(Key::right), GoToTourPage{look.page + 1},
        look.page + 1 < pages);
    const TourPage& page = look.tour->pages[static_cast<std::size_t>(look.page)];
    for (std::size_t n = 0; n < page.choices.size(); ++n)
        add("Predict: " + page.choices[n], ctrl(digit_key(n)), Predict{static_cast<Index>(n)});
    add("Previous page of the tour", ctrl(Key::left), GoToTourPage{look.page - 1}, look.page > 0);
    add("Show the task of this page", ctrl(Key::enter), ShowTourAction{});
    add("Close tour", {}, EndTour{});
}

/// By G where the workspace has no use for it; Shift+G everywhere.
void add_glossary(Commands& list, const AppState& state) {
    const bool free = std::ranges::none_of(
        list, [](const Command& command) { return command.chord == plain(Key::g); });
    const CommandAdder add{list, "Window"};
    add("Glossary: explain a term", shift(Key::g), ShowGlossary{!state.glossary.shown}, true, {},
        free ? plain(Key::g) : Chord{});
}

void add_window(Commands& list, const AppState& state) {
    const CommandAdder add{list, "Window"};
    add_workspaces(add, state);
    add("Undo", ctrl(Key::z), Undo{}, state.now > 0);
    add("Redo", ctrl(Key::y), Redo{}, state.now + 1 < state.history.size(), {},
        {Key::z, true, true});
    add_files(add, state);
    add_vocabulary(add, state);
    add_copies(add, state);
    add_looks(add, state);
    add("Start: what to do first", {}, ShowStart{});
    add("Find", ctrl(Key::k), ShowPalette{!state.show_palette});
    add("Keys and commands", plain(Key::f1), ShowHelp{!state.show_help});
    add("About: version, licences, libraries and fonts", ctrl(Key::f1),
        ShowAbout{!state.show_about});
    const auto escape = escape_action(state);
    add("Close the panel on top", plain(Key::escape), escape.value_or(ClearSelection{}),
        escape.has_value());
    add("Reset the selection", {}, ClearSelection{});
    add("Quit", ctrl(Key::q), AskQuit{});
}

/// Of the glossary, by their names among the commands, by their definitions after them; none where nothing is typed.
void add_terms(std::vector<std::pair<int, Command>>& scored, std::string_view query) {
    const std::vector<std::string> text = search_words(query);
    if (text.empty()) return;
    for (const GlossaryTerm* term : find_terms(query, {}, {}))
        scored.emplace_back(
            match(term->term + " " + term->symbol, text),
            Command{"Glossary: " + term->term, "Glossary", {}, SetGlossaryQuery{term->term}});
}

/// The questions with every typed word.
void add_questions(std::vector<std::pair<int, Command>>& scored,
                   const std::vector<std::string>& text) {
    if (text.empty() || !questions()) return;
    for (const Question& each : *questions())
        if (const int points = match(each.question + " question " + each.synonyms, text);
            points > 0)
            scored.emplace_back(points,
                                Command{each.question, "Question", {}, AskQuestion{each.key}});
}

/// Where no command has every typed word: the questions with most of them.
Commands nearest_to(const std::vector<std::string>& text) {
    std::vector<std::pair<int, Command>> scored;
    const auto add = [&](const std::string& given, const Command& command) {
        const auto known = std::ranges::count_if(text, [&](const std::string& word) {
            return word.size() >= kLeastLetters && match(given, {word}) > 0;
        });
        if (known > 0) scored.emplace_back(static_cast<int>(known), command);
    };
    if (questions())
        for (const Question& each : *questions())
            add(each.question + " " + each.synonyms,
                {each.question, "Question", {}, AskQuestion{each.key}});
    std::ranges::stable_sort(scored, std::greater(), &std::pair<int, Command>::first);
    Commands found;
    for (auto& [known, command] : scored)
        if (known == scored.front().first) found.push_back(std::move(command));
    return found;
}

}  // namespace

std::string keys_of(const Command& command) {
    std::string text = to_string(command.chord);
    if (command.also.key != Key::none) text += ", " + to_string(command.also);
    return text;
}

Action inspector_action(const AppState& state, bool shown) {
    if (shown == !state.narrow) return ShowInspector{std::nullopt};
    return ShowInspector{shown};
}

Commands commands(const AppState& state) {
    Commands list;
    shown_workspace(state).add_commands(list, state);
    add_tours(list, state);
    add_lecture_commands(list, state);
    for (const WorkspaceInfo* workspace : state.workspaces)
        workspace->add_commands_everywhere(list, state);
    add_glossary(list, state);
    add_window(list, state);
    return list;
}

Commands find_commands(const AppState& state, std::string_view query) {
    if (const auto pasted = query.find_first_not_of(" \t\r\n");
        pasted != query.npos && is_state_text(query.substr(pasted)))
        return {
            {"Open the pasted state", "Window", {}, OpenFile{std::string(query.substr(pasted))}}};
    const std::vector<std::string> text = search_words(query);
    std::vector<std::pair<int, Command>> scored;
    for (Command& command : commands(state))
        if (const int points = match(command.text, text);
            points > 0 && (command.enabled || !command.why_not.empty()))
            scored.emplace_back(points, std::move(command));
    add_questions(scored, text);
    add_terms(scored, query);
    if (scored.empty()) return nearest_to(text);
    std::stable_sort(scored.begin(), scored.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    Commands found;
    for (auto& [points, command] : scored) found.push_back(std::move(command));
    return found;
}

std::vector<const GlossaryTerm*> found_terms(const AppState& state) {
    std::optional<OperandId> operand;
    if (state.workspace == "step") operand = state.stage;
    return find_terms(state.glossary.query, shown_workspace(state).key, operand);
}

std::string place_description(const AppState& state, const GlossaryTerm& term) {
    const WorkspaceInfo* const workspace = find_workspace(state.workspaces, term.workspace);
    const std::string title(workspace != nullptr ? workspace->title : term.workspace);
    const Stage* const stage = term.operand ? std::get_if<Stage>(&*term.operand) : nullptr;
    return stage != nullptr ? fmt::format("{}, stage {}", title, info(*stage).step) : title;
}

Actions chosen(const GlossaryTerm& term) {
    Actions actions{ShowGlossary{false}, SetWorkspace{term.workspace}};
    const Stage* const stage = term.operand ? std::get_if<Stage>(&*term.operand) : nullptr;
    if (stage != nullptr) actions.push_back(GoToStage{*stage});
    for (const std::string& line : term.actions)
        if (auto action = from_journal(line)) actions.push_back(*std::move(action));
    return actions;
}

Actions chosen(const Command& command) {
    if (command.enabled) return {ShowPalette{false}, command.action};
    return {ShowPalette{false},
            Notify{{fmt::format("{}: {}", command.text, command.why_not), Severity::warning}}};
}

}  // namespace attn::view

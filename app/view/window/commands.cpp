#include "app/view/window/commands.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/view/workspaces.h"
#include "core/text.h"

namespace attn::view {
namespace {

constexpr double kScaleStep = 0.1;

using Commands = std::vector<Command>;

bool is_side_shown(const AppState& state) {
    return shown_workspace(state).has_side(state) && state.is_inspector_shown();
}

/// What Esc does here: the nearest thing that can be closed.
Action escape_action(const AppState& state) {
    if (state.recovery_shown) return AnswerRecovery{RecoveryAnswer::later};
    if (state.prompt) return ShowPrompt{std::nullopt};
    if (state.show_palette) return ShowPalette{false};
    if (state.show_help) return ShowHelp{false};
    if (auto inner = shown_workspace(state).escape(state)) return *std::move(inner);
    if (state.presenter) return SetPresenter{false};
    if (state.narrow && is_side_shown(state)) return inspector_action(state, false);
    return ClearSelection{};
}

void add_workspaces(const CommandAdder& add, const AppState& state) {
    for (const WorkspaceInfo* workspace : state.workspaces)
        add(std::string(workspace->title) + " workspace", plain(workspace->digit),
            go_to(*workspace));
}

void add_files(const CommandAdder& add, const AppState& state) {
    add("Open a file", ctrl(Key::o), ShowPrompt{PromptKind::open});
    add("Save the session", ctrl(Key::s), SaveSession{""});
    add("Save the session as", {Key::s, true, true}, ShowPrompt{PromptKind::save});
    add("Export a figure", ctrl(Key::e), ShowPrompt{PromptKind::figure});
    add("Save screenshot", plain(Key::f12), TakeScreenshot{});
    for (const std::string& path : state.recent)
        add(fmt::format("Open recent: {}", path), {}, OpenFile{path});
}

void add_copies(const CommandAdder& add, const AppState& state) {
    const bool any = !shown_workspace(state).inspector(state).empty;
    add("Copy the arithmetic as text", ctrl(Key::c), CopyArithmetic{CopyAs::text}, any);
    add("Copy the arithmetic as LaTeX", {}, CopyArithmetic{CopyAs::latex}, any);
    add("Copy the arithmetic as Python", {}, CopyArithmetic{CopyAs::python}, any);
}

void add_looks(const CommandAdder& add, const AppState& state) {
    const bool dark = state.theme == ThemeName::dark;
    add(dark ? "Light theme" : "Dark theme", plain(Key::t),
        SetTheme{dark ? ThemeName::light : ThemeName::dark});
    add("Larger", ctrl(Key::plus), SetUiScale{state.ui_scale + kScaleStep}, state.ui_scale < 2.0);
    add("Smaller", ctrl(Key::minus), SetUiScale{state.ui_scale - kScaleStep}, state.ui_scale > 1.0);
    add("Normal size", ctrl(Key::zero), SetUiScale{1.0});
    add(state.is_inspector_shown() ? "Hide the inspector" : "Show the inspector", plain(Key::i),
        inspector_action(state, !state.is_inspector_shown()),
        shown_workspace(state).has_side(state));
    add(state.presenter ? "Stop presenting" : "Present: the canvas alone, filling the window",
        plain(Key::p), SetPresenter{!state.presenter});
    add(state.reduced_motion ? "Animate stages" : "Reduce motion", {},
        SetReducedMotion{!state.reduced_motion});
}

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
    add("Previous page of the tour", ctrl(Key::left), GoToTourPage{look.page - 1}, look.page > 0);
    add("Show what this page asks for", ctrl(Key::enter), ShowTourAction{});
    add("Put the tour away", {}, EndTour{});
}

void add_window(Commands& list, const AppState& state) {
    const CommandAdder add{list, "Window"};
    add_workspaces(add, state);
    add("Undo", ctrl(Key::z), Undo{}, state.now > 0);
    add("Redo", ctrl(Key::y), Redo{}, state.now + 1 < state.history.size(), {},
        {Key::z, true, true});
    add_files(add, state);
    add_copies(add, state);
    add_looks(add, state);
    add("Find a command", ctrl(Key::k), ShowPalette{!state.show_palette});
    add("Keys and commands", plain(Key::f1), ShowHelp{!state.show_help});
    add("Close, or clear the selection", plain(Key::escape), escape_action(state));
    add("Quit", ctrl(Key::q), Quit{});
}

/// By B where the workspace has no use for it; Ctrl+B everywhere. Compare has its own.
void add_pin(Commands& list) {
    const auto same = [](const Command& command) {
        return std::holds_alternative<PinBaseline>(command.action);
    };
    if (std::ranges::any_of(list, same)) return;
    const auto takes_b = [](const Command& command) { return command.chord == plain(Key::b); };
    const bool free = std::ranges::none_of(list, takes_b);
    const CommandAdder add{list, "Window"};
    add("Pin what is shown as the baseline of Compare", ctrl(Key::b), PinBaseline{}, true, {},
        free ? plain(Key::b) : Chord{});
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 'a' - 'A') : c; }

/// Latin letters with accents, in the order of U+00C0 … U+00FF; '.' where it is none.
constexpr std::string_view kPlainLetters =
    "aaaaaa.ceeeeiiiidnooooo.ouuuuy..aaaaaa.ceeeeiiiidnooooo.ouuuuy.y";

bool is_digit(std::string_view text, std::size_t n) {
    return n < text.size() && text[n] >= '0' && text[n] <= '9';
}

/// As matching compares words: "4,096" as "4096", "d_k" as "d k", "Créer" as "creer".
std::string folded(std::string_view text) {
    std::string plain;
    for (std::size_t n = 0; n < text.size();) {
        const CodePoint next = first_code_point(text.substr(n));
        const bool groups =
            next.value == U',' && n > 0 && is_digit(text, n - 1) && is_digit(text, n + 1);
        const char32_t accented = next.value - 0xC0;  // wraps where it is below
        n += next.bytes;
        if (groups) continue;
        if (accented < kPlainLetters.size() && kPlainLetters[accented] != '.')
            plain += kPlainLetters[accented];
        else if (next.value < 0x80)
            plain += next.value == U'_' ? ' ' : lower(static_cast<char>(next.value));
        else
            append_code_point(plain, next.value);
    }
    return plain;
}

/// Higher is better: 0 when a word of the query is missing.
int score(const Command& command, const std::vector<std::string>& words) {
    const std::string text = folded(command.words);
    int total = 1;
    for (const std::string& word : words) {
        const std::size_t at = text.find(word);
        if (at == text.npos) return 0;
        if (at == 0)
            total += 3;
        else if (text[at - 1] == ' ')
            total += 2;
    }
    return total;
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
    add_pin(list);
    add_window(list, state);
    return list;
}

Commands find_commands(const AppState& state, std::string_view query) {
    const std::vector<std::string> words = tokenize(folded(query));
    std::vector<std::pair<int, Command>> scored;
    for (Command& command : commands(state))
        if (const int points = score(command, words);
            points > 0 && (command.enabled || !command.why_not.empty()))
            scored.emplace_back(points, std::move(command));
    std::stable_sort(scored.begin(), scored.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    Commands found;
    for (auto& [points, command] : scored) found.push_back(std::move(command));
    return found;
}

Actions chosen(const Command& command) {
    if (command.enabled) return {ShowPalette{false}, command.action};
    return {ShowPalette{false},
            Notify{{fmt::format("{}: {}", command.words, command.why_not), Severity::warning}}};
}

}  // namespace attn::view

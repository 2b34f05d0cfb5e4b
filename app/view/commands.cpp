#include "app/view/commands.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "app/view/common/sheet.h"
#include "app/view/large/words.h"

namespace attn::view {
namespace {

constexpr double kScaleStep = 0.1;
constexpr double kZoomStep = 2.0;
constexpr double kPanStep = 0.25;  // of the canvas

Chord plain(Key key) { return {key, false, false}; }
Chord ctrl(Key key) { return {key, true, false}; }
Chord shift(Key key) { return {key, false, true}; }

using Commands = std::vector<Command>;

void add_stepping(Commands& list, const AppState& state) {
    const char* play = state.step.playing ? "Stop playing" : "Play the stages";
    list.push_back({"Next stage", "Step", plain(Key::right), StepBy{1}});
    list.push_back({"Previous stage", "Step", plain(Key::left), StepBy{-1}});
    list.push_back({"First stage", "Step", plain(Key::home), GoToEnd{false}});
    list.push_back({"Last stage", "Step", plain(Key::end), GoToEnd{true}});
    list.push_back({play, "Step", plain(Key::space), TogglePlay{}});
}

void add_selection(Commands& list, const AppState& state) {
    const auto& selected = state.step.selected;
    const bool editable = selected && is_editable(selected->tensor);
    list.push_back({"Select the number above", "Step", shift(Key::up), MoveSelection{-1, 0}});
    list.push_back({"Select the number below", "Step", shift(Key::down), MoveSelection{1, 0}});
    list.push_back(
        {"Select the number to the left", "Step", shift(Key::left), MoveSelection{0, -1}});
    list.push_back(
        {"Select the number to the right", "Step", shift(Key::right), MoveSelection{0, 1}});
    list.push_back({"Edit the selected number", "Step", plain(Key::enter),
                    BeginCellEdit{selected.value_or(CellRef{})}, editable});
    const bool any = selected.has_value();
    list.push_back(
        {"Copy the arithmetic as text", "Step", ctrl(Key::c), CopyArithmetic{CopyAs::text}, any});
    list.push_back(
        {"Copy the arithmetic as LaTeX", "Step", {}, CopyArithmetic{CopyAs::latex}, any});
    list.push_back(
        {"Copy the arithmetic as Python", "Step", {}, CopyArithmetic{CopyAs::python}, any});
}

void add_model(Commands& list, const AppState& state) {
    const Document& document = state.document();
    const bool scaling = document.spec.scale != ScaleKind::none;
    const bool causal = document.spec.mask.causal.has_value();
    const bool gradients = state.step.show_gradients;
    list.push_back(
        {scaling ? "Scaling off" : "Scaling on", "Step", plain(Key::s), SetScaling{!scaling}});
    list.push_back(
        {causal ? "Causal mask off" : "Causal mask on", "Step", plain(Key::m), SetCausal{!causal}});
    list.push_back({gradients ? "Show values" : "Show gradients", "Step", plain(Key::g),
                    ShowGradients{!gradients}});
    list.push_back({"New random weights", "Step", plain(Key::r), SetSeed{document.seed + 1}});
    const Index next = (state.step.head + 1) % document.heads;
    list.push_back({"Next head", "Step", plain(Key::h), ShowHead{next}, document.heads > 1});
    for (const Backend* backend : state.backends) {
        const std::string name(backend->name());
        const auto asked = state.device_reasons.find(name);
        const bool runs = asked == state.device_reasons.end() || asked->second.empty();
        list.push_back({"Compute with the backend " + name,
                        "Step",
                        {},
                        SetBackend{name},
                        name != state.backend && runs,
                        runs ? "" : "cannot run here: " + asked->second});
    }
}

void add_jumps(Commands& list, const AppState& state) {
    for (const Stage stage : ribbon_stages(state.document()))
        list.push_back({fmt::format("Go to {}: {}", info(stage).step, info(stage).title),
                        "Step",
                        {},
                        GoToStage{stage}});
    for (const Preset& preset : state.presets)
        list.push_back({"Preset: " + preset.title, "Step", {}, LoadPreset{preset.key}});
}

void add_saturation(Commands& list, const AppState& state) {
    const SaturationControls& controls = state.saturation();
    const bool sampled = controls.settings.model == SaturationModel::sampled;
    list.push_back({controls.scaling ? "Look at the unscaled side" : "Look at the scaled side",
                    "Saturation", plain(Key::s), SetSaturationScaling{!controls.scaling}});
    list.push_back(
        {sampled ? "Model: fixed logits" : "Model: sampled q and k", "Saturation", plain(Key::m),
         SetSaturationModel{sampled ? SaturationModel::fixed_logits : SaturationModel::sampled}});
    const Index widest = sweep_widths().back();
    list.push_back({"Double d_k", "Saturation", plain(Key::right),
                    SetSaturationWidth{std::min(2 * controls.d_k, widest)}});
    list.push_back({"Halve d_k", "Saturation", plain(Key::left),
                    SetSaturationWidth{std::max(controls.d_k / 2, Index{1})}});
    list.push_back({"Smallest d_k", "Saturation", plain(Key::home), SetSaturationWidth{1}});
    list.push_back({"Largest d_k", "Saturation", plain(Key::end), SetSaturationWidth{widest}});
    list.push_back({"Draw again", "Saturation", plain(Key::r), Redraw{}, sampled});
}

MapColors pooled_next(MapColors colors) {
    constexpr int kPoolings = 3;
    colors.pooling =
        static_cast<large::Pooling>((static_cast<int>(colors.pooling) + 1) % kPoolings);
    return colors;
}

MapColors on_scale(MapColors colors, bool log_scale) {
    colors.log_scale = log_scale;
    return colors;
}

void add_large_moves(Commands& list, const LargeLook& look) {
    const auto large = [&](std::string words, Key key, Action action, bool enabled = true) {
        list.push_back({std::move(words), "Large", plain(key), std::move(action), enabled});
    };
    const bool there = look.input != nullptr;
    large("Zoom in", Key::plus, ZoomMap{kZoomStep}, there);
    large("Zoom out", Key::minus, ZoomMap{1.0 / kZoomStep}, there);
    large("The whole matrix", Key::f, FitMap{}, there);
    large("The whole matrix (also)", Key::home, FitMap{}, there);
    large("Move up", Key::up, PanMap{-kPanStep, 0.0}, there);
    large("Move down", Key::down, PanMap{kPanStep, 0.0}, there);
    large("Move left", Key::left, PanMap{0.0, -kPanStep}, there);
    large("Move right", Key::right, PanMap{0.0, kPanStep}, there);
    large("Go to a cell", Key::g, ShowGoTo{true}, there);
    large("Go to the needle", Key::n, GoToNeedle{}, there && look.input->needle.has_value());
}

void add_large(Commands& list, const AppState& state) {
    const LargeLook& look = state.large;
    const auto large = [&](std::string words, Key key, Action action, bool enabled = true) {
        list.push_back({std::move(words), "Large", plain(key), std::move(action), enabled});
    };
    add_large_moves(list, look);
    const MapColors next = pooled_next(look.colors);
    large(fmt::format("Show {} of a texel", pooling_words(next.pooling)), Key::p,
          SetMapColors{next});
    large(look.colors.log_scale ? "Linear colours" : "Logarithmic colours", Key::l,
          SetMapColors{on_scale(look.colors, !look.colors.log_scale)});
    const bool wanted = wants_full_pass(look);
    large(wanted ? "Pause the exact pass" : "Go on with the exact pass", Key::space,
          SetFullPass{!wanted}, look.input != nullptr);
    const auto cell = look.selected.value_or(large::Cell{});
    using Of = large::Search::Of;
    large("What attends to the selected key", Key::a,
          SearchMap{large::Search{Of::key, cell.column}}, look.selected.has_value());
    large("What the selected query attends to", Key::q,
          SearchMap{large::Search{Of::query, cell.row}}, look.selected.has_value());
    const Index heads = look.input ? look.input->source.size.heads : 1;
    large("Next head", Key::h, ShowMapHead{{look.head.b, (look.head.h + 1) % heads}}, heads > 1);
    for (const Index tokens : kPlantedSizes) {
        large::PlantedSpec spec = look.draft;
        spec.tokens = tokens;
        large(fmt::format("Generate {} tokens", grouped(tokens)), Key::none, OpenPlanted{spec});
    }
}

/// What Esc does here: the nearest thing that can be closed.
Action escape_action(const AppState& state) {
    if (state.show_palette) return ShowPalette{false};
    if (state.show_help) return ShowHelp{false};
    if (state.workspace == Workspace::large) {
        if (state.large.go_to_open) return ShowGoTo{false};
        if (state.large.search) return SearchMap{std::nullopt};
        return ClearSelection{};
    }
    if (state.step.editing) return CancelCellEdit{};
    return ClearSelection{};
}

void add_window(Commands& list, const AppState& state) {
    const bool dark = state.theme == ThemeName::dark;
    const auto window = [&](std::string words, Chord chord, Action action, bool enabled = true) {
        list.push_back({std::move(words), "Window", chord, std::move(action), enabled});
    };
    window("Step workspace", plain(Key::digit1), SetWorkspace{Workspace::step});
    window("Saturation workspace", plain(Key::digit2), SetWorkspace{Workspace::saturation});
    window("Large workspace", plain(Key::digit3), SetWorkspace{Workspace::large});
    window("Undo", ctrl(Key::z), Undo{}, state.now > 0);
    window("Redo", ctrl(Key::y), Redo{}, state.now + 1 < state.history.size());
    window("Redo (also)", {Key::z, true, true}, Redo{}, state.now + 1 < state.history.size());
    window(dark ? "Light theme" : "Dark theme", plain(Key::t),
           SetTheme{dark ? ThemeName::light : ThemeName::dark});
    window("Larger", ctrl(Key::plus), SetUiScale{state.ui_scale + kScaleStep},
           state.ui_scale < 2.0);
    window("Smaller", ctrl(Key::minus), SetUiScale{state.ui_scale - kScaleStep},
           state.ui_scale > 1.0);
    window("Normal size", ctrl(Key::zero), SetUiScale{1.0});
    window(state.reduced_motion ? "Animate stages" : "Reduce motion", {},
           SetReducedMotion{!state.reduced_motion});
    window("Find an action", ctrl(Key::k), ShowPalette{!state.show_palette});
    window("Help: all keys", plain(Key::f1), ShowHelp{!state.show_help});
    window("Picture of the window", plain(Key::f12), TakeScreenshot{});
    window("Save the session", ctrl(Key::s), SaveSession{});
    window("Close, or clear the selection", plain(Key::escape), escape_action(state));
    window("Quit", ctrl(Key::q), Quit{});
}

std::string lower(std::string_view text) {
    std::string small(text);
    for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return small;
}

/// Higher is better: 0 when a word of the query is missing.
int score(const Command& command, const std::vector<std::string>& words) {
    const std::string text = lower(command.words);
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

Commands commands(const AppState& state) {
    Commands list;
    if (state.workspace == Workspace::step) {
        add_stepping(list, state);
        add_selection(list, state);
        add_model(list, state);
        add_jumps(list, state);
    } else if (state.workspace == Workspace::saturation) {
        add_saturation(list, state);
    } else {
        add_large(list, state);
    }
    add_window(list, state);
    return list;
}

Commands find_commands(const AppState& state, std::string_view query) {
    const std::vector<std::string> words = tokenize(lower(query));
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

}  // namespace attn::view

#include "app/cli/start.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "app/files/standard.h"
#include "app/view/common/json.h"
#include "app/view/common/sheet.h"
#include "app/view/large/camera.h"
#include "app/view/session.h"
#include "core/io/json.h"

namespace attn::cli {
namespace {

/// The value of that name; `names` are in the order of the enum.
template <class Enum>
Result<Enum> find_named(std::string_view option, std::span<const std::string_view> names,
                        std::string_view name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<Enum>(found - names.begin());
    return bad_input(
        fmt::format("{} is '{}'; expected {}", option, name, fmt::join(names, " or ")));
}

/// A stage or a parameter by its key.
Result<OperandId> find_operand(std::string_view option, std::string_view key) {
    if (const auto operand = view::find_operand(key)) return *operand;
    std::string keys;
    for (const StageInfo& stage : stage_table()) keys += fmt::format(" {}", stage.key);
    return bad_input(fmt::format("{} is '{}'; expected one of the stages:{}", option, key, keys));
}

Result<Stage> parse_stage(std::string_view key) {
    auto operand = find_operand("--stage", key);
    if (!operand) return tl::unexpected(std::move(operand.error()));
    if (const Stage* stage = std::get_if<Stage>(&*operand)) return *stage;
    return bad_input(fmt::format("--stage is '{}', which is a parameter; expected a stage", key));
}

/// Whole numbers between separators: "1600x1000", "1,2". nullopt unless it is exactly two.
std::optional<std::pair<int, int>> two_numbers(std::string_view text, char separator) {
    std::pair<int, int> numbers;
    const char* const end = text.data() + text.size();
    const auto [middle, fault] = std::from_chars(text.data(), end, numbers.first);
    if (fault != std::errc{} || middle == end || *middle != separator) return std::nullopt;
    const auto [stop, second] = std::from_chars(middle + 1, end, numbers.second);
    if (second != std::errc{} || stop != end) return std::nullopt;
    return numbers;
}

Result<view::CellRef> parse_cell(std::string_view text) {
    const auto colon = text.find(':');
    const auto cell =
        colon == std::string_view::npos ? std::nullopt : two_numbers(text.substr(colon + 1), ',');
    if (!cell)
        return bad_input(fmt::format(
            "--select is '{}'; expected a stage, row and column, as in scores:1,2", text));
    auto operand = find_operand("--select", text.substr(0, colon));
    if (!operand) return tl::unexpected(std::move(operand.error()));
    return view::CellRef{*operand, cell->first, cell->second};
}

/// Appends make(value) when the value is good.
template <class T, class Make>
Result<void> append(Result<T> value, view::Actions& actions, Make make) {
    if (!value) return tl::unexpected(std::move(value.error()));
    actions.push_back(make(*value));
    return {};
}

Result<void> append_window_options(const StartOptions& options, view::Actions& actions) {
    if (options.scale) actions.push_back(view::SetUiScale{*options.scale});
    if (!options.theme.empty()) {
        auto done = append(find_named<view::ThemeName>("--theme", view::kThemeNames, options.theme),
                           actions, [](view::ThemeName theme) { return view::SetTheme{theme}; });
        if (!done) return done;
    }
    if (options.workspace.empty()) return {};
    return append(
        find_named<view::Workspace>("--workspace", view::kWorkspaceNames, options.workspace),
        actions, [](view::Workspace workspace) { return view::SetWorkspace{workspace}; });
}

Result<void> append_map_options(const StartOptions& options, view::Actions& actions) {
    if (options.planted && !options.map_file.empty())
        return bad_input(fmt::format("'{}' and --planted {}; expected one of the two",
                                     options.map_file, *options.planted));
    if (options.planted &&
        (*options.planted < large::kLeastPlanted || *options.planted > large::kMostPlanted))
        return bad_input(fmt::format("--planted is {}; expected {} to {} tokens", *options.planted,
                                     large::kLeastPlanted, large::kMostPlanted));
    std::error_code fault;
    if (!options.map_file.empty() && !files::is_standard(options.map_file) &&
        !std::filesystem::is_regular_file(options.map_file, fault))
        return bad_input(fmt::format("{}: {}; expected an .npz file with Q and K", options.map_file,
                                     fault ? fault.message() : "not a file"));
    large::PlantedSpec spec;
    spec.tokens = options.planted.value_or(spec.tokens);
    if (options.planted) actions.push_back(view::OpenPlanted{spec});
    if (!options.map_file.empty()) actions.push_back(view::OpenMapFile{options.map_file});
    return {};
}

Result<void> append_go_to(const StartOptions& options, view::Actions& actions) {
    if (options.go_to.empty()) return {};
    const auto cell = view::parse_map_cell(options.go_to);
    if (!cell)
        return bad_input(fmt::format("--go-to is '{}'; expected a query and a key, as in 70001,5",
                                     options.go_to));
    const bool elsewhere =
        !options.planted && options.map_file.empty() && options.workspace.empty();
    if (elsewhere) actions.push_back(view::SetWorkspace{view::Workspace::large});
    actions.push_back(view::GoToCell{*cell});
    return {};
}

Result<void> append_step_options(const StartOptions& options, view::Actions& actions) {
    if (!options.backend.empty()) actions.push_back(view::SetBackend{options.backend});
    if (!options.preset.empty()) actions.push_back(view::LoadPreset{options.preset});
    if (!options.sentence.empty()) actions.push_back(view::SetSentence{options.sentence});
    if (!options.stage.empty()) {
        auto done = append(parse_stage(options.stage), actions,
                           [](Stage stage) { return view::GoToStage{stage}; });
        if (!done) return done;
    }
    if (options.select.empty()) return {};
    return append(parse_cell(options.select), actions,
                  [](const view::CellRef& cell) { return view::SelectCell{cell}; });
}

Result<void> append_replay(const StartOptions& options, view::Actions& actions) {
    if (options.replay.empty()) return {};
    auto lines = read_journal(options.replay);
    if (!lines) return tl::unexpected(std::move(lines.error()));
    actions.insert(actions.end(), lines->begin(), lines->end());
    return {};
}

/// Of an .npz, whatever it is called: a zip.
bool holds_tensors(const std::string& path) {
    if (!files::is_standard(path)) return std::filesystem::path(path).extension() == ".npz";
    const Result<std::string>& bytes = files::standard_input();
    return bytes && bytes->starts_with("PK");
}

/// The one FILE goes where --session or --map go.
Result<void> take_file(StartOptions& options) {
    if (options.files.empty()) return {};
    const std::string& file = options.files.front();
    if (options.files.size() > 1)
        return bad_input(fmt::format("{} files, '{}' and '{}' first; expected one at a time",
                                     options.files.size(), file, options.files[1]));
    if (!options.session.empty())
        return bad_input(
            fmt::format("'{}' and --session '{}'; expected one of the two", file, options.session));
    if (!options.map_file.empty())
        return bad_input(
            fmt::format("'{}' and --map '{}'; expected one of the two", file, options.map_file));
    (holds_tensors(file) ? options.map_file : options.session) = file;
    options.files.clear();
    return {};
}

Result<void> check_standard_input(std::span<const files::NamedFile> inputs) {
    const auto standard = [](const files::NamedFile& file) {
        return files::is_standard(file.path);
    };
    if (std::ranges::count_if(inputs, standard) <= 1) return {};
    return bad_input("- is given twice; expected once: standard input is one file");
}

/// No output is a file that is read; only a session is saved where it came from.
Result<void> check_files(const StartOptions& options, std::span<const files::NamedFile> outputs) {
    const files::NamedFile inputs[] = {
        {"--session", options.session}, {"--replay", options.replay}, {"--map", options.map_file}};
    if (auto fine = check_standard_input(inputs); !fine) return fine;
    if (auto fine = files::check_outputs({}, outputs); !fine) return fine;
    for (const files::NamedFile& output : outputs) {
        const bool saves = output.name == "--save-session";
        if (auto fine =
                files::check_outputs(std::span(inputs).subspan(saves ? 1 : 0), {&output, 1});
            !fine)
            return fine;
    }
    return {};
}

constexpr double kLeastScale = 1.0;
constexpr double kMostScale = 2.0;

}  // namespace

Result<void> settle_start(StartOptions& options, std::span<const files::NamedFile> outputs) {
    if (auto taken = take_file(options); !taken) return taken;
    if (options.scale && !(*options.scale >= kLeastScale && *options.scale <= kMostScale))
        return bad_input(fmt::format("--scale is {}; expected {} to {}", *options.scale,
                                     kLeastScale, kMostScale));
    return check_files(options, outputs);
}

void add_start_options(CLI::App& app, StartOptions& options) {
    app.add_option("FILE", options.files,
                   "a saved session, a preset, or tensors (.npz, as trace reads them); - for "
                   "standard input");
    app.add_option("--session", options.session, "start from a saved session")->type_name("FILE");
    app.add_option("--replay", options.replay, "do what a journal says")->type_name("FILE");
    app.add_option("--preset", options.preset, "a preset, by its key")->type_name("KEY");
    app.add_option("--sentence", options.sentence, "a sentence with toy vectors")
        ->type_name("TEXT");
    app.add_option("--workspace", options.workspace, "step, saturation or large")->type_name("W");
    app.add_option("--map", options.map_file,
                   "queries and keys (.npz, as trace reads them) for the Large workspace")
        ->type_name("FILE");
    app.add_option("--planted", options.planted,
                   "the Large workspace with a generated matrix of so many tokens")
        ->type_name("N");
    app.add_option("--go-to", options.go_to, "the cell of a large matrix to look at")
        ->type_name("QUERY,KEY");
    app.add_option("--stage", options.stage, "the stage to show")->type_name("KEY");
    app.add_option("--select", options.select, "the cell to explain")
        ->type_name("STAGE:ROW,COLUMN");
    app.add_option("--theme", options.theme, "dark or light")->type_name("T");
    app.add_option("--backend", options.backend, "what computes, by its name")->type_name("NAME");
    app.add_option("--scale", options.scale, "size of everything, 1 to 2")->type_name("S");
    app.add_option("--size", options.size, "pixels, 1600x1000 unless given")->type_name("WxH");
}

Result<Start> read_start(const StartOptions& options, BackendList backends) {
    Start start;
    if (options.session.empty()) {
        start.state = view::initial_state();
    } else {
        auto state = read_session(options.session, backends);
        if (!state) return tl::unexpected(std::move(state.error()));
        start.state = std::move(*state);
    }
    start.state.backends = backends;
    for (const auto part :
         {append_map_options, append_window_options, append_go_to, append_step_options})
        if (auto done = part(options, start.actions); !done)
            return tl::unexpected(std::move(done.error()));
    start.asked = start.actions.size();
    if (auto done = append_replay(options, start.actions); !done)
        return tl::unexpected(std::move(done.error()));
    return start;
}

Result<gl::Size> parse_size(std::string_view text) {
    if (text.empty()) return gl::Size{1600, 1000};
    const auto numbers = two_numbers(text, 'x');
    if (!numbers || numbers->first < 1 || numbers->second < 1)
        return bad_input(fmt::format(
            "--size is '{}'; expected width x height in pixels, as in 1600x1000", text));
    return gl::Size{numbers->first, numbers->second};
}

Result<view::Actions> read_journal(const std::filesystem::path& path) {
    auto text = files::read_text(path);
    if (!text) return tl::unexpected(std::move(text.error()));
    view::Actions actions;
    std::string_view rest = *text;
    for (int number = 1; !rest.empty(); ++number) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        if (line.empty()) continue;
        auto action = view::from_journal(line);
        if (!action)
            return bad_input(fmt::format("{}, line {}: {}", files::shown_input(path.string()),
                                         number, action.error().sentence));
        actions.push_back(std::move(*action));
    }
    return actions;
}

Result<view::AppState> read_session(const std::filesystem::path& path, BackendList backends) {
    auto text = files::read_text(path);
    if (!text) return tl::unexpected(std::move(text.error()));
    const std::string shown = files::shown_input(path.string());
    const auto json = parse_json(*text, shown);
    if (!json) return tl::unexpected(json.error());
    // A session holds a document; a preset is one.
    if (json->contains("document")) return view::session_from_json(*text, shown, backends);
    return view::document_from_json(*text, shown).and_then(view::state_of);
}

}  // namespace attn::cli

#include "app/cli/start.h"
#include "app/common/assets.h"
#include "app/common/check_file.h"
#include "app/common/document/document.h"
#include "app/common/document/intervention_actions.h"
#include "app/common/document/model_text.h"
#include "app/common/map/actions.h"
#include "app/common/or_throw.h"
#include "app/window/journal.h"
#include "app/window/lecture_actions.h"
#include "app/window/tour.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <iterator>
#include <set>

#include "app/cli/arguments.h"
#include "app/cli/interventions.h"
#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/fields.h"
#include "app/common/map/camera.h"
#include "app/common/sheet.h"
#include "app/common/state_text.h"
#include "app/common/workspace.h"
#include "app/files/axes.h"
#include "app/files/model.h"
#include "app/files/standard.h"
#include "app/files/text.h"
#include "app/window/lecture.h"
#include "core/io/arrays/array_file.h"
#include "core/io/paths.h"
#include "core/models/groups.h"
#include "core/stages.h"
#include "core/text.h"

namespace attn::cli {
namespace {

view::ThemeName parse_theme(std::string_view name) {
    const auto& names = view::kNamesOf<view::ThemeName>;
    const auto found = std::ranges::find(names, name);
    if (found != std::end(names)) return static_cast<view::ThemeName>(found - std::begin(names));
    throw bad_input(fmt::format("--theme is '{}'; expected {}", name, fmt::join(names, " or ")));
}

/// A stage or a parameter by its key.
OperandId find_operand(std::string_view option, std::string_view key) {
    if (const auto operand = view::find_operand(key)) return *operand;
    std::string keys;
    for (const StageInfo& stage : stage_table()) keys += fmt::format(" {}", stage.key);
    throw bad_input(fmt::format("{} is '{}'; expected one of the stages:{}", option, key, keys));
}

Stage parse_stage(std::string_view key) {
    auto operand = find_operand("--stage", key);
    if (const Stage* stage = std::get_if<Stage>(&operand)) return *stage;
    throw bad_input(fmt::format("--stage is '{}', which is a parameter; expected a stage", key));
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

view::CellRef parse_cell(std::string_view text) {
    const auto colon = text.find(':');
    const auto cell =
        colon == std::string_view::npos ? std::nullopt : two_numbers(text.substr(colon + 1), ',');
    if (!cell)
        throw bad_input(fmt::format(
            "--select is '{}'; expected a stage, row and column, as in scores:1,2", text));
    auto operand = find_operand("--select", text.substr(0, colon));
    return view::CellRef{operand, cell->first, cell->second};
}

constexpr double kLeastScale = 1.0;
constexpr double kMostScale = 2.0;
constexpr std::uintmax_t kPromptBytes = std::uintmax_t{1} << 26;  // opened before the first frame

void append_window_options(const StartOptions& options, Streams io, Start& start) {
    view::Actions& actions = start.actions;
    if (options.scale) actions.push_back(view::StartAtScale{*options.scale});
    if (!options.theme.empty()) actions.push_back(view::SetTheme{parse_theme(options.theme)});
    const bool map = !options.map_file.empty() || options.planted || !options.go_to.empty();
    const std::string key = !options.workspace.empty() ? options.workspace
                            : map                      ? "large"
                            : !options.check.empty()   ? "verify"
                                                       : "";
    if (!options.check.empty()) {
        if (!std::filesystem::exists(options.check))
            throw bad_input(fmt::format("--check is '{}'; expected an existing file of results",
                                        options.check));
        actions.push_back(view::CheckFile{options.check});
    }
    if (key.empty()) return;
    if (!view::find_workspace(io.workspaces, key))
        throw bad_input(fmt::format("--workspace is '{}'; expected {}", key,
                                    view::workspace_keys(io.workspaces)));
    actions.push_back(view::SetWorkspace{key});
}

/// The file that is opened at the start; "": none.
std::string one_file(const StartOptions& options) {
    std::string named;
    for (const auto& [option, path] :
         {std::pair{"FILE", &options.file}, std::pair{"--session", &options.session},
          std::pair{"--map", &options.map_file}}) {
        if (path->empty()) continue;
        if (!named.empty())
            throw bad_input(
                fmt::format("'{}' and {} '{}'; expected one file", named, option, *path));
        named = *path;
    }
    if (!named.empty() && options.planted)
        throw bad_input(
            fmt::format("'{}' and --planted {}; expected one of the two", named, *options.planted));
    return named;
}

/// The first of the options that are for a model's folder; "": none is given.
std::string_view model_option(const StartOptions& options) {
    if (options.text) return "--text";
    if (!options.token_ids.empty()) return "--token-ids";
    if (options.image) return "--image";
    if (options.audio) return "--audio";
    if (!options.decoder.empty()) return "--decoder";
    if (!options.off.empty()) return "--off";
    if (!options.rows.empty()) return "--row";
    return options.patches.empty() ? "" : "--patch";
}

/// --text, --token-ids, --image, --audio, --off, --row and --patch are for a model's folder, and it reads one of the first four.
void check_text(const StartOptions& options) {
    const auto path = one_file(options);
    if (options.audio)
        check_audio(*options.audio, path,
                    options.text || options.image || !options.token_ids.empty());
    const bool pairs = reads_pairs(path);
    if (!options.token_ids.empty() && (options.text || (options.image && !pairs)))
        throw bad_input(fmt::format("--token-ids '{}' and {}; expected one of them",
                                    shortened(options.token_ids),
                                    options.text ? "--text" : "--image"));
    if (options.text && options.image && !pairs)
        throw bad_input(fmt::format("--text '{}' and --image '{}'; expected one of the two",
                                    shortened(*options.text), *options.image));
    if (model_option(options).empty() || is_model(path))
        return check_decoder(options.decoder, path);
    const std::string given = path.empty() ? "no file is given" : fmt::format("'{}' is none", path);
    throw bad_input(fmt::format(
        "{} is for a trained model, a folder whose config.json has a model_type, or a .gguf; {}",
        model_option(options), given));
}

/// What was given of the options of `trace`, as JSON; "": nothing.
std::string reading_json(const StartOptions& options) {
    auto given = nlohmann::ordered_json::object();
    for (const auto& [name, value] : options.reading)
        given[name] = name == "tokens" ? std::filesystem::absolute(value).string() : value;
    return given.empty() ? "" : given.dump();
}

/// They are for a file of tensors.
void check_reading(const StartOptions& options) {
    if (options.reading.empty()) return;
    if (options.reading.size() == 1 && options.reading.contains("group") &&
        is_model(one_file(options)))
        return;                  // of its attention: what there is, the model says
    files::OptionValues values;  // a wrong one is named as it was typed
    for (const auto& [name, value] : options.reading)
        values[name] = {fmt::format("--{}", name), value};
    files::check_values(values);
    const auto path = one_file(options);
    const bool model = is_model(path);
    if (!path.empty() && files::holds_tensors(path) && !model) return;
    throw bad_input(fmt::format(
        "--{} is for a file of tensors; {}", options.reading.begin()->first,
        path.empty() ? "no file is given"
                     : fmt::format("'{}' is {}", path, model ? "a trained model" : "none")));
}

/// No output is a file that is read; only a session is saved where it came from.
void check_files(const StartOptions& options, std::span<const files::NamedFile> outputs) {
    const auto tokens = options.reading.find("tokens");
    const files::NamedFile inputs[] = {
        {"FILE", options.file},
        {"--tokens", tokens == options.reading.end() ? std::string() : tokens->second},
        {"--session", options.session},
        {"--map", options.map_file},
        {"--check", options.check},
        {"--replay", options.replay}};
    if (std::ranges::count(inputs, "-", &files::NamedFile::path) > 1)
        throw bad_input("- is given twice; standard input is one file");
    or_throw(files::check_outputs({}, outputs));
    std::vector<files::NamedFile> read;  // with what stands behind them
    for (const files::NamedFile& input : inputs)
        std::ranges::copy(files::files_of(input), std::back_inserter(read));
    const bool session_first = options.file.empty() || !files::holds_tensors(options.file);
    for (const files::NamedFile& output : outputs) {
        const bool saves = output.name == "--save-session" && session_first;
        const auto session = [&](const files::NamedFile& input) {
            return saves && (input.name == "FILE" || input.name == "--session");
        };
        std::vector<files::NamedFile> retained;
        std::ranges::remove_copy_if(read, std::back_inserter(retained), session);
        or_throw(files::check_outputs(retained, {&output, 1}));
    }
}

/// Of a file, or of all that it stands for; 0 where nothing can be read.
std::uintmax_t bytes_behind(const std::string& path) {
    std::uintmax_t bytes = 0;
    for (const auto& file : files_behind(path)) {
        std::error_code fault;
        const auto size = std::filesystem::file_size(file, fault);
        if (!fault) bytes += size;
    }
    return bytes;
}

/// `--group` is of a model's attention, or of a file's arrays.
view::OpenFile opened_by(const StartOptions& options, const std::string& path) {
    view::OpenFile open{path, options.text, {}, options.image};
    if (!options.decoder.empty()) open.second_input = options.decoder;
    const auto group = options.reading.find("group");
    const bool of_model = group != options.reading.end() && is_model(path);
    const std::string shown = group_of_given(
        path, {options.text.has_value(), options.image.has_value(), !options.decoder.empty()});
    if (of_model || !shown.empty()) open.group = of_model ? group->second : shown;
    if ((open.second_input || open.group || reads_among_text(path)) && !open.text &&
        (!open.image || reads_pairs(path)))
        open.text = files::text_if_none(path);
    if (const std::string reading = reading_json(options); !reading.empty() && !of_model)
        open.options = reading;
    return open;
}

/// No option chooses a part of the file.
bool names_no_place(const StartOptions& options) {
    const std::string* const places[] = {&options.stage, &options.select, &options.go_to,
                                         &options.check, &options.replay};
    constexpr std::string_view kWithPair[] = {"", "step", "masks", "heads", "gradients", "compare"};
    return std::ranges::count(kWithPair, options.workspace) > 0 && !options.layer &&
           !options.head && std::ranges::all_of(places, &std::string::empty);
}

/// The weights that give a trained model's answer. False: it has none.
bool append_answer(const view::Document& document, Start& start) {
    const auto place = view::answer_place(document);
    if (!place) return false;
    start.actions.push_back(view::ShowHead{place->head, {}, place->layer});
    start.actions.push_back(view::GoToStage{Stage::weights});
    start.actions.push_back(view::SelectCell{{Stage::weights, place->query, place->key}});
    return true;
}

void append_file(const StartOptions& options, Streams, Start& start) {
    const auto path = one_file(options);
    if (path.empty()) return;
    const view::OpenFile open = opened_by(options, path);
    const std::string reading = open.options.value_or("");
    start.actions.push_back(open);
    const bool whole = path == "-" || bytes_behind(path) <= kPromptBytes;
    view::DocumentReady ready{path, "", nullptr};
    if (whole) {
        view::OpenRequest request{path, 0, reading};
        if (auto model = view::model_text_of(open)) request.what = *std::move(model);
        auto opened = or_throw(start.open(request, {}));
        const std::string& why = opened.document->no_attention;
        const bool table = options.workspace.empty() || options.workspace == "tensors";
        if (!why.empty() && !opened.session &&
            ((options.file.empty() && files::holds_tensors(path)) || !table ||
             options.needs_attention))
            throw bad_input(fmt::format("{}: {}", path, why));
        for (const Note& note : opened.notes)
            start.warnings.emplace_back(
                note.text.starts_with(path) ? note.text : fmt::format("{}: {}", path, note.text),
                note.code);
        ready.opened = std::make_shared<const view::Opened>(std::move(opened));
    }
    start.actions.push_back(ready);
    if (ready.opened && !ready.opened->session && names_no_place(options))
        append_answer(*ready.opened->document, start);
}

/// One run of the model under all of them.
void append_interventions(const StartOptions& options, Streams, Start& start) {
    if (options.off.empty() && options.rows.empty() && options.patches.empty()) return;
    const auto with = parse_interventions(options.off, options.rows, options.patches);
    for (const HeadPlace& at : std::set<HeadPlace>(with.off.begin(), with.off.end()))
        start.actions.push_back(view::SwitchHead{at.layer, at.head, false});
    for (const RowIntervention& row : with.rows)
        start.actions.push_back(
            view::ReplaceRow{row.at.layer, row.at.head, row.query, row.weights});
    for (const TypedPatch& patch : with.patches)
        start.actions.push_back(
            view::PatchHead{patch.at.layer, patch.at.head, patch.part, patch.text});
    start.actions.push_back(view::DocumentReady{options.file, "", nullptr});
}

void append_planted(const StartOptions& options, Streams, Start& start) {
    if (!options.planted) return;
    large::PlantedSpec spec;
    spec.tokens = *options.planted;
    // As the example of Long context: the sink on key 0 would fill the list.
    start.actions.push_back(view::SetTopCells{{.skip_first_key = true, .one_per_query = true}});
    start.actions.push_back(view::OpenPlanted{spec});
    start.actions.push_back(view::DocumentReady{"", "", nullptr});
}

void append_go_to(const StartOptions& options, Streams, Start& start) {
    if (options.go_to.empty()) return;
    const auto cell = view::parse_map_cell(options.go_to);
    if (!cell)
        throw bad_input(fmt::format("--go-to is '{}'; expected a query and a key, as in 70001,5",
                                    options.go_to));
    start.actions.push_back(view::GoToCell{*cell});
}

void append_step_options(const StartOptions& options, Streams, Start& start) {
    view::Actions& actions = start.actions;
    if (!options.backend.empty()) actions.push_back(view::SetBackend{options.backend});
    if (!options.preset.empty()) actions.push_back(view::LoadPreset{options.preset});
    if (!options.sentence.empty()) actions.push_back(view::SetSentence{options.sentence});
    if (options.layer || options.head)
        actions.push_back(view::ShowHead{options.head.value_or(0), {}, options.layer});
    if (!options.stage.empty()) actions.push_back(view::GoToStage{parse_stage(options.stage)});
    if (!options.select.empty()) actions.push_back(view::SelectCell{parse_cell(options.select)});
}

void append_tour(const StartOptions& options, Streams, Start& start) {
    if (options.tour.empty()) return;
    const auto& tours = start.state.tours;
    if (std::ranges::none_of(tours, [&](const auto& tour) { return tour->key == options.tour; })) {
        std::vector<std::string> keys;
        for (const auto& tour : tours) keys.push_back(tour->key);
        throw bad_input(
            fmt::format("--tour is '{}'; expected {}", options.tour, fmt::join(keys, " or ")));
    }
    start.actions.push_back(view::StartTour{options.tour});
}

void append_lecture(const StartOptions& options, Streams, Start& start) {
    if (options.lecture.empty()) return;
    start.actions.push_back(view::StartLecture{lecture_named(options.lecture).key});
}

/// A file that a journal opens is looked for beside the journal first. What is not found is asked for as it stands: the
/// window says that it cannot be opened.
view::Action found_from(const std::filesystem::path& journal, const view::Action& action,
                        std::vector<Note>& warnings) {
    const auto* const open = action.as<view::OpenFile>();
    const auto* const check = action.as<view::CheckFile>();
    const auto* const image = action.as<view::ReadImage>();
    const std::string path = open ? open->path : check ? check->path : image ? image->path : "";
    const bool named = open != nullptr && files::model_path(path) != path;  // a model of ours
    if (named || path.empty() || view::is_state_text(path) || files::is_standard(journal.string()))
        return action;
    const auto folder = std::filesystem::absolute(journal).parent_path();
    auto found = attn::find_named(folder, path, "");
    if (!found) {
        warnings.push_back(journal.string() + ": " + found.error().text());
        return action;
    }
    if (check) return view::CheckFile{*std::move(found)};
    if (image) return view::ReadImage{*std::move(found)};
    view::OpenFile there = *open;
    there.path = *std::move(found);
    if (!open->image || open->image->empty()) return there;
    there.image = with_parts(*open->image, [&](const std::string& file) {
        auto picture = attn::find_named(folder, file, "");
        if (picture) return *std::move(picture);
        warnings.push_back(journal.string() + ": " + picture.error().text());
        return file;
    });
    return there;
}

}  // namespace

const view::Lecture& lecture_named(const std::string& name) {
    std::vector<std::string> keys;
    for (const view::Lecture& lecture : or_throw(view::lectures())) keys.push_back(lecture.key);
    if (name.empty())
        throw bad_input(fmt::format("no lecture was named; expected {}", choices(keys)));
    if (const view::Lecture* const found = view::find_lecture(name)) return *found;
    throw bad_input(fmt::format("there is no lecture '{}'{}; expected {}", name,
                                files::did_you_mean(name, keys), choices(keys)));
}

Result<void> resolve_start(StartOptions& options, std::span<const files::NamedFile> outputs) {
    if (options.files.size() > 1)
        return bad_input(fmt::format("{} files, '{}' and '{}' first; expected one at a time",
                                     options.files.size(), options.files[0], options.files[1]));
    if (!options.files.empty()) options.file = files::model_path(options.files[0]);
    if (const auto model = view::built_in_model(options.preset);
        !model.empty() && options.file.empty()) {
        options.file = model.string();
        options.preset.clear();
    }
    return caught([&] {
        check_text(options);
        if (!options.token_ids.empty()) options.text = text_of_token_ids(options.token_ids);
        if (options.audio) options.text = options.audio;
        check_reading(options);
        check_files(options, outputs);
    });
}

void add_model_options(CLI::App& app, StartOptions& options) {
    add_value(app, "--text", options.text, "TEXT", "text for a model; FILE is its folder or .gguf");
    add_value(app, "--token-ids", options.token_ids, "N,..",
              "token numbers for a model, instead of --text");
    add_value(app, "--image", options.image, "FILE.png",
              "image for a model, or for CLIP beside --text; FILE is its folder");
    add_value(app, "--audio", options.audio, "FILE.wav",
              "16 kHz sound for a model that reads sounds; FILE is its folder");
    add_value(app, "--decoder", options.decoder, "TEXT",
              "text of a T5's decoder so far; --group encoder|decoder|cross is shown");
    add_value(app, "--off", options.off, "LAYER.HEAD,..", "heads of the model to switch off");
    add_head_options(app, options.rows, options.patches);
}

void add_start_options(CLI::App& app, StartOptions& options) {
    app.add_option(
        "FILE", options.files,
        fmt::format(
            "tensors ({}, as trace reads them), a model's folder or .gguf, a saved session or a "
            "preset (.json), a state that was copied (attnscope:…); - for standard input",
            array_format_text()));
    add_value(app, "--session", options.session, "FILE", "a saved session; the same as FILE");
    add_value(app, "--replay", options.replay, "FILE", "replay the actions of a journal");
    add_value(app, "--preset", options.preset, "KEY", "a preset or a built-in model, by its name");
    add_value(app, "--sentence", options.sentence, "TEXT", "a sentence with toy vectors");
    add_model_options(app, options);
    add_value(app, "--workspace", options.workspace, "W", view::workspace_keys(view::workspaces()));
    add_value(app, "--check", options.check, "FILE",
              "a file of results to compare with FILE, or with the reference, in Verify");
    add_value(app, "--map", options.map_file, "FILE", "a file to open in Long context");
    add_number(app, "--planted", options.planted, "N",
               files::whole_numbers(large::kLeastPlanted, large::kMostPlanted),
               "open Long context with a generated matrix of N tokens");
    add_value(app, "--go-to", options.go_to, "QUERY,KEY", "cell of a large matrix to show");
    add_value(app, "--tour", options.tour, "NAME", "a guided tour, by its key: attention");
    add_number(app, "--layer", options.layer, "N", files::whole_numbers(0, files::kMostLayer),
               "the layer to show, from 0");
    add_number(app, "--head", options.head, "N", files::whole_numbers(0, files::kMostHeads),
               "the head to show, from 0");
    add_value(app, "--lecture", options.lecture, "NAME",
              "a lecture to present: PgDn shows the next screen");
    add_value(app, "--stage", options.stage, "KEY", "the stage to show");
    add_value(app, "--select", options.select, "STAGE:ROW,COLUMN", "the cell to explain");
    add_value(app, "--theme", options.theme, "T", "dark or light");
    add_value(app, "--backend", options.backend, "NAME", "backend, by its name");
    add_number(app, "--scale", options.scale, "S", files::real_numbers(kLeastScale, kMostScale),
               "scale of the user interface");
    add_value(app, "--size", options.size, "WxH", "pixels, 1600x1000 unless given");
    add_call_options(app, options.reading);
}

bool is_default_start(const StartOptions& options) {
    const std::string* const names[] = {
        &options.file,     &options.session, &options.map_file,  &options.replay, &options.preset,
        &options.sentence, &options.check,   &options.workspace, &options.go_to,  &options.tour,
        &options.stage,    &options.select,  &options.lecture};
    return !options.planted && model_option(options).empty() &&
           std::ranges::all_of(names, &std::string::empty);
}

void append_first_screen(Start& start) {
    const std::string name = "pronouns";  // a journal has no path of this machine
    auto opened = start.open(view::OpenRequest{name}, {});
    if (!opened || !view::answer_place(*opened->document))
        return start.actions.push_back(view::GoToStage{Stage::weights});
    const auto shared = std::make_shared<const view::Opened>(*std::move(opened));
    start.actions.push_back(view::OpenFile{name});
    start.actions.push_back(view::DocumentReady{name, "", shared});
    append_answer(*shared->document, start);
    if (auto offers = view::from_journal(R"({"action":"show_doors","on":true})"))
        start.actions.push_back(*std::move(offers));
}

Result<Start> read_start(const StartOptions& options, Streams io) {
    Start start;
    start.state = view::initial_state();
    start.open = files::opener(io.backends, io.workspaces, options.by);
    start.state.backends = io.backends;
    start.state.workspaces = io.workspaces;
    return caught([&] {
        for (const auto part :
             {append_file, append_interventions, append_planted, append_window_options,
              append_step_options, append_go_to, append_tour, append_lecture})
            part(options, io, start);
        if (!options.replay.empty())
            start.replay = or_throw(read_journal(options.replay, start.warnings));
        return std::move(start);
    });
}

Result<gl::Size> parse_size(std::string_view text) {
    if (text.empty()) return gl::Size{1600, 1000};
    const auto numbers = two_numbers(text, 'x');
    if (!numbers || numbers->first < 1 || numbers->second < 1)
        return bad_input(fmt::format(
            "--size is '{}'; expected width x height in pixels, as in 1600x1000", text));
    return gl::Size{numbers->first, numbers->second};
}

Result<view::Actions> read_journal(const std::filesystem::path& path, std::vector<Note>& warnings) {
    auto text = files::read_text(path.string());
    if (!text) return tl::unexpected(std::move(text.error()));
    view::Actions actions;
    std::vector<std::string> torn;
    std::string_view rest = *text;
    for (int number = 1; !rest.empty(); ++number) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        auto action = view::from_journal(line);
        if (action)
            actions.push_back(found_from(path, *action, warnings));
        else
            torn.push_back(fmt::format("{}, line {}: {}", files::shown_input(path.string()), number,
                                       line.empty() ? "is blank" : action.error().text()));
    }
    if (actions.empty() && !torn.empty()) return bad_input(torn.front());
    warnings.insert(warnings.end(), torn.begin(), torn.end());
    return actions;
}

}  // namespace attn::cli

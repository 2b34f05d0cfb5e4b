#include "app/files/open.h"

#include <new>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/common/action.h"
#include "app/common/document/model_read.h"
#include "app/common/document/swept.h"
#include "app/common/format.h"
#include "app/common/or_throw.h"
#include "app/files/circuits.h"
#include "app/files/layers.h"
#include "app/files/model.h"
#include "app/files/results.h"
#include "app/files/standard.h"
#include "app/files/tensors.h"
#include "app/window/session.h"
#include "app/window/state_text.h"
#include "core/bias.h"
#include "core/corpus/file.h"
#include "core/corpus/texts.h"
#include "core/io/arrays/array_file.h"
#include "core/io/arrays/foreign.h"
#include "core/io/arrays/mapped.h"
#include "core/io/json.h"
#include "core/kernels/projections.h"
#include "core/large/planted.h"
#include "core/text.h"
#include "core/train/course.h"
#include "core/train/own_data.h"
#include "core/train/task_table.h"

namespace attn::files {
namespace {

using view::Document, view::Opened;

Opened alone(Document document, std::vector<Note> notes = {}) {
    return {std::make_shared<const Document>(std::move(document)), nullptr, std::move(notes)};
}

std::string sizes_text(const Dimensions& size) {
    std::string text = fmt::format("{} head{}", size.heads, size.heads == 1 ? "" : "s");
    if (size.batch > 1) text = fmt::format("{} sequences, {}", size.batch, text);
    if (size.kv_heads != size.heads) text += fmt::format(", {} of keys and values", size.kv_heads);
    text += fmt::format(", {} × {}", view::grouped(size.tq), view::grouped(size.tk));
    if (size.d_k > 0) text += fmt::format(", d_k {}", size.d_k);
    return text;
}

/// "in.npz: " before a sentence, which the title says already.
std::string without_path(std::string sentence, const std::string& path) {
    const std::string before = shown_input(path) + ": ";
    if (sentence.starts_with(before)) sentence.erase(0, before.size());
    return sentence;
}

/// The error as a front end shows it. The --scale of a command that draws the window is the window's, no remedy.
Error in_style(Error error, OptionsBy by) {
    error.style = by == OptionsBy::controls ? OptionStyle::controls : OptionStyle::flags;
    if (by == OptionsBy::window_flags)
        std::erase_if(error.remedies, [](const Remedy& each) { return each.option == "scale"; });
    return error;
}

/// A document of a file's name, and why no attention can be made of it.
Document named_alone(const std::string& path, const std::string& options, std::string why) {
    Document document;
    document.origin = view::FileOrigin{path, options};
    const std::filesystem::path named(path);
    document.name = named.stem().string();
    document.title = named.filename().string();
    document.no_attention = std::move(why);
    document.note = fmt::format("it gives no attention to compute: {}", document.no_attention);
    document.inputs = std::make_shared<const Inputs>();
    document.layers = {document.inputs};
    return document;
}

/// Of arrays that no attention can be made of: a document of their names alone.
Opened open_arrays_alone(const std::string& path, const std::string& options, Error why,
                         std::optional<view::FileQuestion> question, OptionsBy by) {
    const bool listed = why.kind == ErrorKind::input && !is_standard(path);
    const auto file = listed ? open_arrays(path) : Result<Arrays>(tl::unexpected(why));
    if (!file || (*file)->names().empty()) throw Failure(std::move(why));
    Document document =
        named_alone(path, options, without_path(in_style(std::move(why), by).text(), path));
    document.question = std::move(question);
    return alone(std::move(document));
}

/// The options of a file, as FileOrigin has them.
OptionValues options_given(const std::string& options, const std::string& path) {
    if (options.empty()) return OptionValues{};
    return options_from_json(options, path);
}

constexpr double kMostAtOnce = 8.0 * (1 << 30);  // bytes of weights

/// Bytes of the arrays of a model.
double weights_of(const std::string& path) {
    double bytes = 0.0;
    std::error_code fault;
    for (const auto& file : files_behind(path))
        if (std::filesystem::is_regular_file(file, fault))
            bytes += static_cast<double>(std::filesystem::file_size(file, fault));
    return bytes;
}

/// A model by its path alone: over a text of its own; of a large one only the table of its arrays, which no number is read for.
Opened open_any_model(ModelCache& models, const std::string& path, const RunControl& control) {
    const double bytes = weights_of(path);
    if (bytes <= kMostAtOnce) return or_throw(open_model(models, path, control));
    return alone(named_alone(
        path, "",
        fmt::format("its {:.1f} GB of weights are read once there is a text: attnscope {} --text "
                    "TEXT; heads and trace take --stream, which reads them layer by layer",
                    bytes / 1e9, path)));
}

Opened open_tensors(const std::string& path, const std::string& options, OptionsBy by) {
    const auto given = options_given(options, path);
    std::optional<view::FileQuestion> question;
    auto file = read_tensors(path, given, Values::optional, &question);
    if (!file) return open_arrays_alone(path, options, file.error(), std::move(question), by);
    if (file->operation)
        file->notes.push_back(fmt::format(
            "operation {} is for trace: the window shows softmax attention of the same tokens",
            info(file->operation->operation).key));
    std::vector<Note> notes = file->notes;
    Document document = or_throw(document_of(*std::move(file), path));
    document.origin = view::FileOrigin{path, options};
    return alone(std::move(document), std::move(notes));
}

/// "kept, not used: 'window.themee'": of fields that this version of the program does not know.
std::string unknown_text(const view::UnknownFields& unknown) {
    std::vector<std::string> names;
    for (const auto& [pointer, text] : unknown) {
        std::string name = pointer.substr(1);
        std::ranges::replace(name, '/', '.');
        names.push_back(fmt::format("'{}'", shortened(name)));
    }
    return names.empty() ? std::string()
                         : fmt::format("kept, not used: {}", fmt::join(names, ", "));
}

Opened whole(view::AppState session) {
    const auto document = session.shared_document();
    std::vector<Note> notes;
    if (std::string unknown = unknown_text(session.unknown_fields); !unknown.empty())
        notes.emplace_back(std::move(unknown));
    if (session.notice) notes.emplace_back(session.notice->text);
    return Opened{document, std::make_shared<const view::AppState>(std::move(session)),
                  std::move(notes)};
}

/// A session holds a document; a preset is one.
Opened open_json(const std::string& path, const view::SessionContext& context) {
    auto text = or_throw(read_text(path));
    const std::string shown = shown_input(path);
    const auto json = or_throw(parse_json(text, shown));
    if (!json.contains("document")) return alone(or_throw(view::document_from_json(text, shown)));
    view::SessionContext beside = context;
    if (!is_standard(path)) beside.folder = std::filesystem::absolute(path).parent_path();
    return whole(or_throw(view::session_from_json(text, shown, beside)));
}

/// Where a model that is named in a file beside others stands: as it was named, or from that file's folder on.
std::string model_beside(const std::string& model, const std::string& file) {
    std::error_code none;
    const std::filesystem::path beside = std::filesystem::path(file).parent_path() / model;
    return !std::filesystem::exists(model, none) && std::filesystem::exists(beside, none)
               ? beside.string()
               : model;
}

/// What a corpus is shown with: its model, reading the shortest text that shows an extreme; where there is no such model, nothing.
std::string corpus_session(const CorpusResult& result, const std::string& model,
                           const std::string& path) {
    std::optional<std::string> text;
    for (const CorpusHead& head : result.heads)
        for (const MeasureStatistics& of : head.measures)
            for (const auto& extreme : {of.least, of.most})
                if (extreme)
                    if (std::string read = extreme->text->as_read();
                        !text || read.size() < text->size())
                        text = std::move(read);
    const std::string file =
        is_standard(path) ? path : std::filesystem::absolute(path).lexically_normal().string();
    return nlohmann::json{
        {"window", {{"workspace", "heads"}}},
        {"heads", {{"list", "corpus"}, {"corpus", file}}},
        {"document", {{"model", model}, {"text", text.value_or(std::string(kModelText))}}}}
        .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Measures of heads over many texts: Heads with the model that made them.
Opened open_corpus(const std::string& path, const view::SessionContext& context) {
    const CorpusResult result = or_throw(read_corpus(path));
    const std::string model = model_beside(result.model.path, path);
    std::string fault = is_model(model) ? "" : fmt::format("the model {} was not found", model);
    view::SessionContext with = context;
    const auto shown = [&] {
        return view::session_from_json(corpus_session(result, model, path), path, with);
    };
    Result<view::AppState> session = fault.empty() ? shown() : bad_input(fault);
    if (!session) {  // its numbers are there all the same
        fault = without_path(session.error().text(), path);
        with.open = [&](const view::OpenRequest&, const RunControl&) -> Result<Opened> {
            return alone(named_alone(path, "", fault));
        };
        session = shown();
    }
    Opened opened = whole(or_throw(std::move(session)));
    if (!fault.empty())
        opened.notes = {fmt::format("no text can be read: {}", fault)};
    else if (or_throw(fingerprint(model)) != result.model.mark)
        opened.notes = {
            fmt::format("{} is not the model that was measured, or it has changed", model)};
    return opened;
}

Opened open_planted(const large::PlantedSpec& spec, const RunControl& control) {
    auto made = or_throw(large::plant(spec, control));
    Document document;
    document.origin = spec;
    document.name = "generated";
    document.title = fmt::format("generated, seed {}", spec.seed);
    document.note = fmt::format("{} tokens with planted structure{}", view::grouped(spec.tokens),
                                spec.causal ? ", causal" : "");
    document.spec = made.source.spec;
    document.size = made.source.size;
    document.heads = document.size.heads;
    document.d_k = document.size.d_k;
    document.landmarks = std::make_shared<const view::Landmarks>(
        view::Landmarks{std::move(made.token_ids), std::move(made.document_starts), made.needle});
    document.layers = {made.inputs};
    document.inputs = made.inputs;
    return alone(std::move(document));
}

/// The moment, trained to where it is not there yet.
train::Moment trained_moment(const view::TrainedOrigin& origin, const RunControl& control) {
    if (origin.moment) return origin.moment;
    auto course = or_throw(train::Course::make(origin.spec));
    course.set_switches(origin.switches);
    while (course.advance(origin.step, control.stop))
        if (control.progress)
            control.progress(static_cast<double>(course.step_count()) /
                             static_cast<double>(std::max<Index>(origin.step, 1)));
    if (course.step_count() != origin.step) throw failed("the training was stopped");
    return course.keep();
}

/// "; not divided by √d_k, τ = 2; heads that are 0: 0.1": what of the call is not as a person expects.
std::string call_text(const train::Spec& spec, const train::Switches& switches) {
    std::string text = switches.scaling ? "" : "; not divided by √d_k";
    if (spec.temperature != 1.0) text += fmt::format("; τ = {}", spec.temperature);
    std::string silenced;
    for (std::size_t n = 0; n < switches.silenced.size(); ++n)
        if (switches.silenced[n])
            silenced +=
                fmt::format("{} {}.{}", silenced.empty() ? "" : ",",
                            static_cast<Index>(n) / spec.heads, static_cast<Index>(n) % spec.heads);
    return silenced.empty() ? text : text + "; heads switched off, their output is 0:" + silenced;
}

/// The attention calls of a model that was trained here, on what it reads.
Opened open_trained(const view::TrainedOrigin& origin, const RunControl& control) {
    auto moment = trained_moment(origin, control);
    const auto example =
        or_throw(train::example_of(train::Sequences(origin.spec), origin.sentence));
    const train::State state = train::switched(origin.spec, *moment, origin.switches);
    train::Layers layers = train::layers_of(origin.spec, state, example);
    Document document;
    document.origin = origin;
    document.name = train::info(origin.spec.task).key;
    document.title =
        fmt::format("{}, step {}", train::info(origin.spec.task).title, view::grouped(origin.step));
    document.note = fmt::format("{} training step{} on {}, seed {}", view::grouped(origin.step),
                                origin.step == 1 ? "" : "s", document.name, origin.spec.seed) +
                    call_text(origin.spec, state.switches);
    document.tokens = std::move(layers.tokens);
    document.spec = layers.spec;
    document.layers = std::move(layers.inputs);
    document.layer = std::clamp<Index>(origin.layer, 0, std::ssize(document.layers) - 1);
    document.inputs = document.layers[document.layer];
    document.d_model = origin.spec.d_model;
    document.d_k = origin.spec.d_k;
    document.heads = origin.spec.heads;
    return alone(or_throw(with_size(std::move(document))));
}

/// A training goes on from its last moment.
Opened opened_run(train::Run run) {
    view::TrainedOrigin origin;
    origin.spec = run.spec;
    origin.switches = train::recorded_switches(run);
    origin.moment = run.moments.back();
    origin.step = origin.moment->step;
    Opened opened = open_trained(origin, {});
    opened.run = std::make_shared<const train::Run>(std::move(run));
    return opened;
}

Opened open_run(const std::string& path) {
    auto run = or_throw(train::open_run(path));
    if (run.moments.empty()) throw bad_input(path + " holds no checkpoint of its training");
    return opened_run(std::move(run));
}

/// A text file of own data: a training at step 0.
Opened open_own_data(const std::string& path) {
    const auto spec = train::own_spec(or_throw(read_text(path)));
    if (!spec) throw Failure(within(shown_input(path), spec.error()));
    return opened_run({*spec, {}, {or_throw(train::Trainer::make(*spec)).checkpoint()}});
}

Opened open_results(const view::ResultsOf& what, const std::string& options) {
    const auto given = options_given(options, what.path);
    Opened opened;
    opened.side = std::make_shared<const ResultFile>(
        or_throw(read_results(what.path, given, what.layer.value_or(kOnlyLayer))));
    return opened;
}

Opened open_generated(ModelCache& models, const view::GenerateText& wanted,
                      const std::string& options, const RunControl& control) {
    const auto entry = or_throw(models.open(wanted.path));
    Opened opened;
    opened.generated = options.empty() ? entry->writer.written(entry->model, wanted, control)
                                       : entry->writer.continued(entry->model, wanted, control);
    return opened;
}

Opened open_stages(ModelCache& models, const view::ReadModel& wanted, const RunControl& control) {
    view::SweptModel made;
    made.read = or_throw(read_model(models, wanted, control));
    Opened opened;
    opened.swept = std::make_shared<const view::SweptModel>(std::move(made));
    return opened;
}

/// ∂L/∂output of every layer: dY, or dO with its heads side by side where no W_O stands between; null where the file gives
/// none that can be. What is said of them goes into `note`.
std::vector<std::shared_ptr<const Tensor>> d_output_of(std::vector<Upstream> upstreams,
                                                       std::span<const Inputs> layers,
                                                       const Dimensions& size, std::string& note) {
    std::vector<std::shared_ptr<const Tensor>> made;
    std::string unused;
    for (std::size_t n = 0; n < upstreams.size(); ++n) {
        made.emplace_back();
        Tensor& given = upstreams[n].gradient;
        if (given.empty()) continue;
        const bool at_output = upstreams[n].stage == Stage::output;
        const Shape expected = at_output ? Shape{size.batch, 1, size.tq, size.d_out}
                                         : Shape{size.batch, size.heads, size.tq, size.d_v};
        if (given.shape() != expected)
            unused = fmt::format("{} is {}, expected {}", at_output ? "dY" : "dO",
                                 to_string(given.shape()), to_string(expected));
        else if (!at_output && !layers[n].params[Param::w_o].empty())
            unused = "dO: W_O is between context and output";
        else
            made.back() = std::make_shared<const Tensor>(at_output ? std::move(given)
                                                                   : join_heads({}, size, given));
    }
    if (std::ranges::any_of(made, [](const auto& each) { return each != nullptr; }))
        note += "; its gradient of the output can be the loss (in Step and Gradients)";
    if (!unused.empty()) note += fmt::format("; not used: {}", unused);
    return made;
}

/// What a library throws is an error of this file, not the end of the program.
template <class Open>
Result<Opened> caught_all(const Open& open) try {
    return caught(open);
} catch (const std::bad_alloc&) {
    throw;  // whoever asks says what was too large
} catch (const std::exception& thrown) {
    return failed(thrown.what());
}

view::Opener opener_over(const std::shared_ptr<ModelCache>& models, BackendList backends,
                         view::WorkspaceList workspaces, OptionsBy by) {
    const auto open = [=](const view::OpenRequest& request, const RunControl& control) {
        if (const auto* spec = std::get_if<large::PlantedSpec>(&request.what))
            return open_planted(*spec, control);
        if (const auto* text = std::get_if<view::ModelText>(&request.what)) {
            view::ModelOrigin model = text->model;
            model.path = model_path(model.path);
            return request.options.empty()
                       ? or_throw(open_text(*models, model, control))
                       : open_stages(*models, view::read_asked(model, request.options), control);
        }
        if (const auto* trained = std::get_if<view::TrainedOrigin>(&request.what))
            return open_trained(*trained, control);
        if (const auto* results = std::get_if<view::ResultsOf>(&request.what))
            return open_results(*results, request.options);
        if (const auto* text = std::get_if<view::GenerateText>(&request.what))
            return open_generated(*models, *text, request.options, control);
        if (const auto* swept = std::get_if<view::SweepModel>(&request.what)) {
            Opened opened;
            opened.swept = or_throw(sweep_model(*models, *swept, request.options, control));
            return opened;
        }
        const std::string path = model_path(std::get<std::string>(request.what));
        const auto beside = [=] {
            return view::SessionContext{
                backends, workspaces, opener_over(models, backends, workspaces, by), {}};
        };
        if (view::is_state_text(path))
            return whole(or_throw(view::state_from_text(path, beside())));
        if (train::is_run(path)) return open_run(path);
        if (is_model(path)) return open_any_model(*models, path, control);
        if (is_corpus(path)) return open_corpus(path, beside());
        if (holds_tensors(path)) return open_tensors(path, request.options, by);
        if (is_standard(path) || std::filesystem::path(path).extension() == ".json")
            return open_json(path, beside());
        if (std::filesystem::path(path).extension() == ".txt") return open_own_data(path);
        // Of files of other programs it says more than that they are none of ours.
        or_throw(check_readable(path));
        if (auto known = foreign_file(path); !known.empty()) throw bad_input(std::move(known));
        throw bad_input(
            fmt::format("{}; expected tensors ({}), a session, a preset (.json), a model's "
                        "folder or .gguf, or sentences to learn (.txt); an image (.png) needs an "
                        "open model that reads images",
                        path, array_format_text()));
    };
    return [=](const view::OpenRequest& request, const RunControl& control) {
        return caught_all([&] { return open(request, control); }).map_error([&](Error error) {
            return in_style(std::move(error), by);
        });
    };
}

}  // namespace

bool holds_tensors(const std::string& path) {
    if (!is_standard(path)) return find_format(path) != nullptr;
    const Result<std::string> first = standard_beginning();
    return first && find_format_of(*first) != nullptr;
}

Result<Document> document_of(TensorFile file, const std::filesystem::path& path) {
    Document document;
    document.origin = view::FileOrigin{path.string()};
    const std::filesystem::path named = path.has_filename() ? path : path.parent_path();
    document.name = named.stem().string();
    document.title = named.filename().string();
    document.note = sizes_text(file.size);
    if (file.layers.size() > 1)
        document.note = fmt::format("{} layers, {}", file.layers.size(), document.note);
    document.tokens = std::move(file.tokens);
    document.tokens_kv = std::move(file.tokens_kv);
    document.image = std::move(file.image);
    document.spec = file.spec_of(0);
    document.layer_specs = std::move(file.layer_specs);
    document.spec.mask = with_forbidden_in_mask(document.spec.mask, file.size);
    for (AttentionSpec& spec : document.layer_specs)
        spec.mask = with_forbidden_in_mask(spec.mask, file.size);
    document.d_output =
        d_output_of(std::move(file.upstreams), file.layers, file.size, document.note);
    for (Inputs& inputs : file.layers)
        document.layers.push_back(std::make_shared<const Inputs>(std::move(inputs)));
    for (GivenPairs& pairs : file.given)
        document.given.push_back(std::make_shared<const GivenPairs>(std::move(pairs)));
    document.roles = std::move(file.roles);
    document.inputs = document.layers.front();
    document.size = file.size;
    document.heads = file.size.heads;
    document.d_k = file.size.d_k;
    return with_size(std::move(document));
}

view::Opener opener(BackendList backends, view::WorkspaceList workspaces, OptionsBy by) {
    return opener_over(std::make_shared<ModelCache>(), backends, workspaces, by);
}

}  // namespace attn::files

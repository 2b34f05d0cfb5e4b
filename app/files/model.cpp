#include "app/files/model.h"

#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/assets.h"
#include "app/common/document/document.h"
#include "app/common/document/intervention_effects.h"
#include "app/common/document/interventions.h"
#include "app/common/document/model_read.h"
#include "app/common/or_throw.h"
#include "app/common/vocabulary.h"
#include "app/files/text.h"
#include "core/backend.h"
#include "core/given.h"
#include "core/models/family.h"
#include "core/models/image_prompt.h"
#include "core/models/weights.h"
#include "core/text.h"

namespace attn::files {
namespace {

constexpr std::size_t kNextTokens = 5;

/// `text`: or the file of an image. Of a layer its inputs are needed, and its weights where they are compared; of logits the
/// last.
ModelRun run_over(const Model& model, const Reading& reading, StageSet keep,
                  const RunControl& control, const Interventions& with = {}) {
    return or_throw(
        read_group(model, reading, *find_backend("staged"), keep, control, with, LogitRows::last));
}

Reading reading_of(const view::ModelOrigin& wanted) {
    return {wanted.text, wanted.second_input, wanted.group};
}

/// A part of the work, from `first` to `first` + `share` of it.
RunControl part_of(const RunControl& control, double first, double share) {
    RunControl part{control.stop, {}};
    if (control.progress)
        part.progress = [whole = control.progress, first, share](double done) {
            whole(first + share * done);
        };
    return part;
}

StageSet stages_of_untouched() {
    StageSet keep;
    for (const Stage stage : {Stage::weights, Stage::q, Stage::k, Stage::v})
        keep.set(index_of(stage));
    return keep;
}

constexpr double kMaxCached = 1 << 30;  // bytes of weights of one run; see ModelCache::Entry::runs

/// Tokens of the stack that is looked at; 0: the run says what is wrong with its text.
Index tokens_read(const Model& model, const Reading& reading) {
    const Model& stack = stack_of(model, reading.group);
    if (const auto& image = stack.config().image) return image->side() * image->side() + 1;
    if (const auto& sound = stack.config().sound) return sound->tokens();
    if (model.config().image_prompt) {
        const auto prompt = image_prompt(model, reading.text, reading.second_input);
        return prompt ? std::ssize(prompt->tokens) : 0;
    }
    const Model& reader = model.config().reads_text() ? model : stack;
    const auto tokens = reader.tokens_of(&stack == &model ? reading.text : reading.second_input);
    return tokens ? std::ssize(*tokens) : 0;
}

/// Throws where the weights of every layer, which a run is compared by, would be too many.
void check_retained(const Model& model, const Reading& reading) {
    const ModelConfig& config = stack_of(model, reading.group).config();
    const Index tokens = tokens_read(model, reading);
    if (tokens > stack_of(model, reading.group).most_tokens().value_or(tokens)) return;
    const double of_pair =
        static_cast<double>(config.layers * config.heads) * double{sizeof(float)};
    const double bytes = of_pair * static_cast<double>(tokens) * static_cast<double>(tokens);
    if (bytes <= kMaxCached) return;
    throw bad_input(
        fmt::format("the weights of {} layers of {} heads over {} tokens take {:.1f} GB, and all "
                    "are kept for comparison; expected at most {} tokens, which take {:.1f} GB",
                    config.layers, config.heads, tokens, bytes / 1e9,
                    static_cast<Index>(std::sqrt(kMaxCached / of_pair)), kMaxCached / 1e9));
}

ModelCache::RunKey key_of(const Model& model, const Reading& reading) {
    std::string files;
    std::vector<std::string> read;
    if (!model.config().reads_text())
        read = {reading.text};
    else if (stack_of(model, reading.group).config().image || model.config().image_prompt)
        read = parts_of(reading.second_input);
    for (const std::string& file : read) {
        if (file.empty()) continue;
        std::error_code fault;
        const auto size = std::filesystem::file_size(file, fault);
        const auto written = std::filesystem::last_write_time(file, fault).time_since_epoch();
        files += fmt::format("{} {}\n", size, written.count());
    }
    return {reading, files};
}

/// The vectors of its text at every position of one of so many tokens.
PatchIntervention patch_of(ModelCache::Entry& entry, const view::ModelOrigin& wanted,
                           const view::TextPatch& patch, Index tokens, const RunControl& control) {
    Reading reading = reading_of(wanted);  // another text of the stack that is looked at
    std::string& read = read_by_stack(entry.model, reading);
    read = patch.text;
    const auto source = untouched(entry, reading, control);
    const auto count = std::ssize(source->tokens);
    if (count != tokens)
        throw bad_input(fmt::format(
            "the text to patch from, '{}', has {} token{} and {} {}; expected the same number, "
            "because each vector keeps the position that it has in its own text",
            patch.text, count, count == 1 ? "" : "s",
            &read == &reading.text ? "the open text" : "the decoder's text", tokens));
    std::vector<Index> positions(tokens);
    std::iota(positions.begin(), positions.end(), Index{0});
    return or_throw(patch_from(*source, patch.at, patch.part, std::move(positions)));
}

Interventions interventions_of(ModelCache::Entry& entry, const view::ModelOrigin& wanted,
                               Index tokens, const RunControl& control) {
    Interventions made{wanted.changes.off, wanted.changes.rows, {}};
    for (const view::TextPatch& patch : wanted.changes.patches)
        made.patches.push_back(patch_of(entry, wanted, patch, tokens, control));
    return made;
}

/// A gated delta net's weights are shown as stored.
StageSet stages_for(const Model& model, const Reading& reading) {
    const auto groups = groups_of(model);
    const std::string_view group =
        groups.empty() || !reading.group.empty() ? reading.group : groups.front();
    return model.config().delta && group == "linear" ? only_stage(Stage::weights) : StageSet{};
}

/// A model's run under interventions, and what they changed.
struct Read {
    ModelRun run;
    std::optional<RunEffects> effects;
};
Read read_over(ModelCache::Entry& entry, const view::ModelOrigin& wanted,
               const RunControl& control) {
    const Model& model = entry.model;
    const Reading reading = reading_of(wanted);
    if (wanted.changes.empty()) {
        if (const auto known = entry.runs.find(key_of(model, reading))) return Read{**known, {}};
        return Read{run_over(model, reading, stages_for(model, reading), control), {}};
    }
    const auto before = untouched(entry, reading, part_of(control, 0.0, 0.5));
    const auto with =
        interventions_of(entry, wanted, std::ssize(before->tokens), {control.stop, {}});
    StageSet weights;
    weights.set(index_of(Stage::weights));
    auto run = run_over(model, reading, weights, part_of(control, 0.5, 0.5), with);
    const Model& stack = stack_of(model, wanted.group);
    RunEffects effects =
        effects_of(*before, run, stack.gives_logits() ? stack.answer_row(*before) : std::nullopt);
    return Read{std::move(run), std::move(effects)};
}

std::shared_ptr<const view::InterventionEffects> effects_in(const Model& model, const Read& read) {
    if (!read.effects) return nullptr;
    view::InterventionEffects effects{*read.effects, {}, {}};
    if (const auto& next = read.effects->next) {
        effects.before = model.answer_text(next->before);
        effects.after = model.answer_text(next->after);
    }
    return std::make_shared<const view::InterventionEffects>(std::move(effects));
}

/// Of the next token, or of the class.
view::ReadOut likeliest_of(const Model& model, const ModelRun& run) {
    view::ReadOut out;
    const std::optional<Index> row = model.answer_row(run);
    if (!row) return out;
    for (const TokenShare& share : likeliest(run.read_out.matrix(0, 0).row(*row), kNextTokens))
        out.next.push_back({model.answer_text(share.id), share.probability});
    if (model.config().family->read_out != ReadOut::token_classes) return out;
    out.word = run.tokens[*row].text;
    out.position = *row;
    return out;
}

/// Read with the same heads off; rows and patches belong to the tokens of one text. nullopt where the text before cannot
/// be read.
std::optional<Tensor> vector_before(ModelCache::Entry& entry, const view::ModelOrigin& wanted,
                                    const RunControl& control) {
    if (wanted.before.empty()) return std::nullopt;
    const view::ModelChanges off{wanted.changes.off};
    if (auto known = entry.vectors.find({wanted.before, off})) return known;
    auto run = caught([&] {
        return run_over(entry.model, {wanted.before}, {}, {control.stop, {}}, {off.off, {}, {}});
    });
    if (!run) return std::nullopt;
    entry.vectors.keep({wanted.before, off}, run->read_out);
    return std::move(run->read_out);
}

view::ReadOut sentence_vector(ModelCache::Entry& entry, const ModelRun& run,
                              const view::ModelOrigin& wanted, const RunControl& control) {
    view::ReadOut out;
    out.has_vector = true;
    entry.vectors.keep({wanted.text, wanted.changes}, run.read_out);
    if (const auto before = vector_before(entry, wanted, control))
        out.similarity = cosine(run.read_out.values(), before->values());
    return out;
}

view::ReadOut read_out_of(ModelCache::Entry& entry, const ModelRun& run,
                          const view::ModelOrigin& wanted, const RunControl& control) {
    const ReadOut kind = stack_of(entry.model, wanted.group).config().family->read_out;
    if (kind == ReadOut::projected && !wanted.group.empty()) return {};  // an image, or many
    if (kind == ReadOut::sentence || kind == ReadOut::projected)
        return sentence_vector(entry, run, wanted, control);
    return kind == ReadOut::none ? view::ReadOut{} : likeliest_of(entry.model, run);
}

/// "T5, trained weights: 6 layers, 8 heads; encoder".
/// A model of a language of its own is known by its name.
std::string note_over(const Model& model, const view::ModelOrigin& origin, const std::string& name,
                      const ModelRun& run) {
    const ModelConfig& config = model.config();
    const std::string what = config.default_text.empty() ? std::string(config.family->text) : name;
    std::string note = fmt::format("{}, trained weights: {} layers, {} heads", what,
                                   run.layers.size(), run.layers.front().spec.heads);
    if (const auto groups = groups_of(model); !groups.empty())
        note += fmt::format("; {}", origin.group.empty() ? groups.front() : origin.group);
    if (!run.numbers.empty()) note += fmt::format(" in layers {}", fmt::join(run.numbers, ", "));
    if ((origin.image || config.sound) && !origin.text.empty())
        note += fmt::format(", reads {}", std::filesystem::path(origin.text).filename().string());
    if (!run.note.empty()) note += fmt::format("; {}", run.note);
    if (!origin.changes.empty()) note += fmt::format("; {}", view::changes_text(origin.changes));
    return note;
}

/// Adds a layer whose weights do not come from a softmax, with V.
void add_given(view::Document& document, ModelLayer& layer) {
    Inputs values;
    values.v = layer.inputs->v;
    GivenPairs given{Stage::weights, std::move(layer.trace[Stage::weights])};
    document.size = or_throw(sizes_from(given.stage, given.values.shape(), values, layer.spec));
    document.heads = document.size.heads;
    document.given.push_back(std::make_shared<const GivenPairs>(std::move(given)));
    document.layers.push_back(std::make_shared<const Inputs>(std::move(values)));
}

view::Document document_over(const Model& whole, const view::ModelOrigin& origin, ModelRun run) {
    const std::filesystem::path named(origin.path);
    const ModelConfig& config = stack_of(whole, origin.group).config();
    view::Document document;
    document.origin = origin;
    document.name = (named.has_filename() ? named : named.parent_path()).filename().string();
    document.title = document.name;
    document.note = note_over(whole, origin, document.name, run);
    for (const std::string_view group : groups_of(whole)) document.groups.emplace_back(group);
    document.reads_sound = whole.config().sound.has_value();
    document.own_heads = run.layers.front().spec.heads;
    document.own_kv_heads = run.layers.front().spec.kv_heads;
    for (ModelToken& token : run.tokens) document.tokens.push_back(std::move(token.text));
    for (ModelToken& token : run.tokens_kv) document.tokens_kv.push_back(std::move(token.text));
    document.spec = run.layers.front().spec;
    document.image = std::move(run.image);
    for (std::size_t n = 0; n < run.layers.size(); ++n) {
        ModelLayer& layer = run.layers[n];
        if (!config.windowed.empty()) document.layer_specs.push_back(layer.spec);
        if (config.is_delta(run.number(n)))
            add_given(document, layer);
        else
            document.layers.push_back(std::move(layer.inputs));
    }
    document.inputs = document.layers.front();
    return document;
}

view::Opened opened_over(ModelCache::Entry& entry, const view::ModelOrigin& wanted,
                         const RunControl& control) {
    const Model& model = entry.model;
    if (const bool image = model.config().image.has_value(); image != wanted.image)
        throw bad_input(fmt::format("{}: {} reads {}, and '{}' is {}", wanted.path,
                                    model.config().family->text, image ? "an image" : "a text",
                                    shortened(wanted.text), image ? "a text" : "an image"),
                        {image ? Remedy{"image", "FILE.png"} : Remedy{"text", "TEXT"}});
    const std::vector<std::string> of_model = model.notes();
    std::vector<Note> notes(of_model.begin(), of_model.end());
    if (wanted.image && wanted.text.empty())
        notes.emplace_back("drop a PNG, or open one (Ctrl+O), and the model reads it");
    if (model.config().sound && wanted.text.empty())
        notes.emplace_back("drop a WAV, or open one (Ctrl+O), and the model reads it");
    auto read = read_over(entry, wanted, control);
    if (auto note = vocabulary_note(model, read.run.tokens); !note.empty())
        notes.emplace_back(std::move(note));
    const view::ReadOut read_out = read_out_of(entry, read.run, wanted, control);
    const auto effects = effects_in(model, read);
    auto made = or_throw(with_size(document_over(model, wanted, std::move(read.run))));
    made.read_out = read_out;
    made.default_text = model.config().default_text;
    made.contrast_text = model.config().contrast_text;
    made.effects = effects;
    return {std::make_shared<const view::Document>(std::move(made)), nullptr, std::move(notes)};
}

// --- its stages

/// The weights of all heads are kept where they are at most this many numbers.
constexpr double kMostWeights = 1 << 24;

StageSet stages_read(const Model& stack, Index tokens) {
    const ModelConfig& config = stack.config();
    StageSet keep = model_stage_set();
    if (static_cast<double>(config.layers * config.heads) * static_cast<double>(tokens) *
            static_cast<double>(tokens) <=
        kMostWeights)
        keep.set(index_of(Stage::weights));
    return keep;
}

std::shared_ptr<const ModelRun> stage_run(ModelCache::Entry& entry, const view::ModelOrigin& wanted,
                                          const RunControl& control) {
    const Reading reading = reading_of(wanted);
    const std::pair key{key_of(entry.model, reading), wanted.changes};
    if (auto known = entry.stages.find(key)) return *known;
    const Index tokens = tokens_read(entry.model, reading);
    auto run = std::make_shared<const ModelRun>(
        run_over(entry.model, reading, stages_read(stack_of(entry.model, wanted.group), tokens),
                 control, interventions_of(entry, wanted, tokens, {control.stop, {}})));
    entry.stages.keep(key, run);
    return run;
}

/// The same run with that head off too.
std::shared_ptr<const ModelRun> run_without(ModelCache::Entry& entry, view::ModelOrigin model,
                                            HeadPlace at, const RunControl& control) {
    auto& off = model.changes.off;
    if (std::ranges::find(off, at) == off.end()) off.push_back(at);
    std::ranges::sort(off);
    return stage_run(entry, model, control);
}

}  // namespace

std::shared_ptr<const ModelRun> untouched(ModelCache::Entry& entry, const Reading& reading,
                                          const RunControl& control) {
    const ModelCache::RunKey key = key_of(entry.model, reading);
    if (auto known = entry.runs.find(key)) return *known;
    check_retained(entry.model, reading);
    auto run = std::make_shared<const ModelRun>(
        run_over(entry.model, reading, stages_of_untouched(), control));
    entry.runs.keep(key, run);
    return run;
}

std::string model_path(const std::string& given) {
    const std::filesystem::path folder = view::built_in_model(given);
    return folder.empty() ? given : folder.string();
}

std::string default_text(const std::string& path) {
    if (!is_model_folder(path)) return {};
    const auto config = read_model_config(std::filesystem::path(path) / "config.json");
    return config ? config->default_text : "";
}

std::string text_if_none(const std::string& path) {
    return reads_sounds(path) ? "" : std::string(kModelText);
}

std::string vocabulary_note(const Model& model, std::span<const ModelToken> tokens) {
    const std::vector<std::string> unknown = model.outside_vocabulary(tokens);
    if (unknown.empty()) return {};
    std::vector<std::string> known;
    for (Index id = 1; id < model.tokenizer()->size(); ++id) known.push_back(model.shown(id));
    return view::unknown_tokens_text(unknown, known, model.shown(0));
}

std::vector<ModelCache::File> ModelCache::files_of(const std::string& path) {
    std::vector<File> files;
    std::error_code fault;
    const auto add = [&](const std::filesystem::directory_entry& entry) {
        if (!entry.is_regular_file(fault)) return;
        const auto size = entry.file_size(fault);
        const auto written = entry.last_write_time(fault);
        files.emplace_back(entry.path().string(), size, written);
    };
    add(std::filesystem::directory_entry(path, fault));  // a model in one file
    for (const auto& entry : std::filesystem::directory_iterator(path, fault)) add(entry);
    std::ranges::sort(files);
    return files;
}

Result<std::shared_ptr<ModelCache::Entry>> ModelCache::open(const std::string& path) {
    const std::scoped_lock lock(mutex_);
    std::vector<File> files = files_of(path);
    if (last_ && last_->path == path && files == files_) return last_;
    last_.reset();  // no two at once in memory
    if (!is_model(path))
        return bad_input(fmt::format(
            "{}: expected a trained model, a folder whose config.json has a model_type, or a .gguf",
            path));
    auto model = Model::open(path);
    if (!model) return tl::unexpected(model.error());
    files_ = std::move(files);
    last_ = std::make_shared<Entry>(*std::move(model), path);
    return last_;
}

Result<std::shared_ptr<const view::ModelRead>> read_model(ModelCache& cache,
                                                          const view::ReadModel& wanted,
                                                          const RunControl& control) {
    return caught([&] {
        const auto entry = or_throw(cache.open(wanted.model.path));
        auto run = stage_run(*entry, wanted.model, control);
        const auto without =
            wanted.off ? run_without(*entry, wanted.model, *wanted.off, control) : nullptr;
        const std::shared_ptr<const Model> stack(entry,
                                                 &stack_of(entry->model, wanted.model.group));
        return std::make_shared<const view::ModelRead>(
            or_throw(view::model_read(wanted, stack, std::move(run), without.get())));
    });
}

Result<view::Opened> open_text(ModelCache& cache, const view::ModelOrigin& wanted,
                               const RunControl& control) {
    return caught([&] { return opened_over(*or_throw(cache.open(wanted.path)), wanted, control); });
}

Result<view::Opened> open_model(ModelCache& cache, const std::string& path,
                                const RunControl& control) {
    return caught([&] {
        const auto entry = or_throw(cache.open(path));
        const bool image = entry->model.config().image.has_value();
        const std::string& own = entry->model.config().default_text;
        const bool sound = entry->model.config().sound.has_value();
        const std::string text = !own.empty() || sound ? own : std::string(kModelText);
        return opened_over(*entry, {path, image ? "" : text, "", {}, image}, control);
    });
}

}  // namespace attn::files

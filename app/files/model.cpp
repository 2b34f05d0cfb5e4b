#include "app/files/model.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/view/document/model_text.h"
#include "core/models/read_out.h"

namespace attn::files {
namespace {

constexpr std::size_t kMostVectors = 8;
constexpr std::size_t kNextTokens = 5;

/// Of a layer its inputs are needed, and its weights where they are compared.
Result<ModelRun> run_over(const Model& model, const std::string& text,
                          const std::vector<ModelHead>& off, StageSet keep,
                          const RunControl& control) {
    return model.tokens_of(text).and_then([&](std::vector<ModelToken> tokens) {
        return model.run(std::move(tokens), *find_backend("staged"), keep, control, {off, {}, {}});
    });
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

/// A model's run with heads off, and what that changed.
struct Read {
    ModelRun run;
    std::optional<RunEffects> effects;
};
Result<Read> read_over(const Model& model, const view::ModelOrigin& wanted,
                       const RunControl& control) {
    if (wanted.off.empty())
        return run_over(model, wanted.text, {}, {}, control).map([](ModelRun&& run) {
            return Read{std::move(run), {}};
        });
    StageSet weights;
    weights.set(index_of(Stage::weights));
    const auto on = run_over(model, wanted.text, {}, weights, part_of(control, 0.0, 0.5));
    if (!on) return tl::unexpected(on.error());
    auto run = run_over(model, wanted.text, wanted.off, weights, part_of(control, 0.5, 0.5));
    if (!run) return tl::unexpected(run.error());
    RunEffects effects =
        effects_of(*on, *run, model.config().family->read_out == ReadOut::next_token);
    return Read{*std::move(run), std::move(effects)};
}

std::string token_text(const Model& model, Index id) {
    std::string text = model.tokenizer()->shown(id);
    return text.empty() ? fmt::format("#{}", id) : text;
}

std::shared_ptr<const view::OffEffects> off_effects(const Model& model, const Read& read) {
    if (!read.effects) return nullptr;
    view::OffEffects effects{*read.effects, {}, {}};
    if (const auto& next = read.effects->next) {
        effects.before = token_text(model, next->before);
        effects.after = token_text(model, next->after);
    }
    return std::make_shared<const view::OffEffects>(std::move(effects));
}

view::ReadOut next_tokens(const Model& model, const ModelRun& run) {
    view::ReadOut out;
    const Index last = run.read_out.shape().t - 1;
    for (const TokenShare& share : likeliest(run.read_out.matrix(0, 0).row(last), kNextTokens))
        out.next.push_back({token_text(model, share.id), share.probability});
    return out;
}

/// Read with the same heads off; nullopt where the text before cannot be read.
std::optional<Tensor> vector_before(ModelCache::Entry& entry, const view::ModelOrigin& wanted,
                                    const RunControl& control) {
    if (wanted.before.empty()) return std::nullopt;
    if (auto known = entry.vector_of(wanted.before, wanted.off)) return known;
    auto run = run_over(entry.model, wanted.before, wanted.off, {}, {control.stop, {}});
    if (!run) return std::nullopt;
    entry.keep(wanted.before, wanted.off, run->read_out);
    return std::move(run->read_out);
}

view::ReadOut sentence_vector(ModelCache::Entry& entry, const ModelRun& run,
                              const view::ModelOrigin& wanted, const RunControl& control) {
    view::ReadOut out;
    out.has_vector = true;
    entry.keep(wanted.text, wanted.off, run.read_out);
    if (const auto before = vector_before(entry, wanted, control))
        out.similarity = cosine(run.read_out.values(), before->values());
    return out;
}

view::ReadOut read_out_of(ModelCache::Entry& entry, const ModelRun& run,
                          const view::ModelOrigin& wanted, const RunControl& control) {
    switch (entry.model.config().family->read_out) {
        case ReadOut::next_token:
            return next_tokens(entry.model, run);
        case ReadOut::sentence:
            return sentence_vector(entry, run, wanted, control);
        case ReadOut::none:
            break;
    }
    return {};
}

view::Document document_over(const Model& model, const view::ModelOrigin& origin, ModelRun run) {
    const std::filesystem::path named(origin.path);
    const ModelConfig& config = model.config();
    view::Document document;
    document.origin = origin;
    document.name = (named.has_filename() ? named : named.parent_path()).filename().string();
    document.title = document.name;
    document.note = fmt::format("{}, trained weights: {} layers, {} heads", config.family->words,
                                config.layers, config.heads);
    if (!origin.off.empty())
        document.note += fmt::format("; without {}", view::off_words(origin.off));
    document.own_heads = config.heads;
    for (ModelToken& token : run.tokens) document.tokens.push_back(std::move(token.text));
    document.spec = layer_spec(config);
    for (ModelLayer& layer : run.layers) document.layers.push_back(std::move(layer.inputs));
    document.inputs = document.layers.front();
    return document;
}

}  // namespace

std::optional<Tensor> ModelCache::Entry::vector_of(const std::string& text,
                                                   const std::vector<ModelHead>& off) {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find(vectors_, Key{text, off}, &std::pair<Key, Tensor>::first);
    if (found == vectors_.end()) return std::nullopt;
    std::rotate(vectors_.begin(), found, found + 1);
    return vectors_.front().second;
}

void ModelCache::Entry::keep(const std::string& text, const std::vector<ModelHead>& off,
                             const Tensor& vector) {
    if (vector_of(text, off)) return;
    const std::scoped_lock lock(mutex_);
    vectors_.emplace_front(Key{text, off}, vector);
    if (vectors_.size() > kMostVectors) vectors_.pop_back();
}

std::vector<ModelCache::File> ModelCache::files_of(const std::string& path) {
    std::vector<File> files;
    std::error_code fault;
    for (const auto& entry : std::filesystem::directory_iterator(path, fault)) {
        if (!entry.is_regular_file(fault)) continue;
        const auto size = entry.file_size(fault);
        const auto written = entry.last_write_time(fault);
        files.emplace_back(entry.path().string(), size, written);
    }
    std::ranges::sort(files);
    return files;
}

Result<std::shared_ptr<ModelCache::Entry>> ModelCache::open(const std::string& path) {
    const std::scoped_lock lock(mutex_);
    std::vector<File> files = files_of(path);
    if (last_ && last_->path == path && files == files_) return last_;
    last_.reset();  // no two at once in memory
    if (!is_model_folder(path))
        return bad_input(fmt::format(
            "{}: expected a trained model, a folder whose config.json has a model_type", path));
    auto model = Model::open(path);
    if (!model) return tl::unexpected(model.error());
    files_ = std::move(files);
    last_ = std::make_shared<Entry>(*std::move(model), path);
    return last_;
}

Result<view::Opened> open_text(ModelCache& cache, const view::ModelOrigin& wanted,
                               const RunControl& control) {
    const auto entry = cache.open(wanted.path);
    if (!entry) return tl::unexpected(entry.error());
    const Model& model = (*entry)->model;
    auto read = read_over(model, wanted, control);
    if (!read) return tl::unexpected(read.error());
    const view::ReadOut read_out = read_out_of(**entry, read->run, wanted, control);
    const auto effects = off_effects(model, *read);
    return with_size(document_over(model, wanted, std::move(read->run)))
        .map([&](view::Document made) {
            made.read_out = read_out;
            made.effects = effects;
            return view::Opened{std::make_shared<const view::Document>(std::move(made)), nullptr,
                                fmt::format("{}", fmt::join(model.notes(), "; "))};
        });
}

}  // namespace attn::files

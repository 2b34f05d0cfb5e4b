#include "app/files/model.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/models/read_out.h"

namespace attn::files {
namespace {

constexpr std::size_t kMostVectors = 8;
constexpr std::size_t kNextTokens = 5;

/// Nothing of a layer but its inputs is needed.
Result<ModelRun> run_over(const Model& model, const std::string& text, const RunControl& control) {
    return model.tokens_of(text).and_then([&](std::vector<ModelToken> tokens) {
        return model.run(std::move(tokens), *find_backend("staged"), StageSet{}, control);
    });
}

view::ReadOut next_tokens(const Model& model, const ModelRun& run) {
    view::ReadOut out;
    const Index last = run.read_out.shape().t - 1;
    for (const TokenShare& share : likeliest(run.read_out.matrix(0, 0).row(last), kNextTokens)) {
        std::string text = model.tokenizer()->shown(share.id);
        if (text.empty()) text = fmt::format("#{}", share.id);
        out.next.push_back({std::move(text), share.probability});
    }
    return out;
}

/// nullopt where the text before cannot be read.
std::optional<Tensor> vector_before(ModelCache::Entry& entry, const std::string& text,
                                    const RunControl& control) {
    if (text.empty()) return std::nullopt;
    if (auto known = entry.vector_of(text)) return known;
    auto run = run_over(entry.model, text, {control.stop, {}});
    if (!run) return std::nullopt;
    entry.keep(text, run->read_out);
    return std::move(run->read_out);
}

view::ReadOut sentence_vector(ModelCache::Entry& entry, const ModelRun& run,
                              const view::ModelOrigin& wanted, const RunControl& control) {
    view::ReadOut out;
    out.has_vector = true;
    entry.keep(wanted.text, run.read_out);
    if (const auto before = vector_before(entry, wanted.before, control))
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
    for (ModelToken& token : run.tokens) document.tokens.push_back(std::move(token.text));
    document.spec = layer_spec(config);
    for (ModelLayer& layer : run.layers) document.layers.push_back(std::move(layer.inputs));
    document.inputs = document.layers.front();
    return document;
}

}  // namespace

std::optional<Tensor> ModelCache::Entry::vector_of(const std::string& text) {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find(vectors_, text, &std::pair<std::string, Tensor>::first);
    if (found == vectors_.end()) return std::nullopt;
    std::rotate(vectors_.begin(), found, found + 1);
    return vectors_.front().second;
}

void ModelCache::Entry::keep(const std::string& text, const Tensor& vector) {
    if (vector_of(text)) return;
    const std::scoped_lock lock(mutex_);
    vectors_.emplace_front(text, vector);
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
    auto run = run_over(model, wanted.text, control);
    if (!run) return tl::unexpected(run.error());
    const view::ReadOut read_out = read_out_of(**entry, *run, wanted, control);
    return with_size(document_over(model, wanted, *std::move(run))).map([&](view::Document made) {
        made.read_out = read_out;
        return view::Opened{std::make_shared<const view::Document>(std::move(made)), nullptr,
                            fmt::format("{}", fmt::join(model.notes(), "; "))};
    });
}

}  // namespace attn::files

// A model read from its files: one stack of blocks or two, kept in memory or read layer by layer.
#include "core/models/model.h"

#include <algorithm>
#include <utility>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <fmt/format.h>

#include "core/check.h"
#include "core/io/arrays/array_file.h"
#include "core/io/json.h"
#include "core/models/family.h"
#include "core/models/gguf.h"
#include "core/models/source.h"
#include "core/models/weights.h"
#include "core/text.h"

namespace attn {
namespace {

struct SecondStack {
    ModelConfig config;
    ModelWeights weights;
};
/// The other stack of a family that has two, with the embedding of the first; arrays that it uses are no longer unused.
Result<std::optional<SecondStack>> second_stack_of(const std::filesystem::path& path,
                                                   const ArrayFile& file, const ModelConfig& config,
                                                   LoadedBlocks retained, ModelWeights& first) {
    if (config.family->second == nullptr || config.alone) return std::nullopt;
    auto other = read_model_config(path / "config.json", Stack::second);
    if (!other) return tl::unexpected(other.error());
    if (auto valid = read_preparation(path, *other); !valid) return tl::unexpected(valid.error());
    const bool own = other->image || first.embedding.empty();
    const WeightMatrix* const embedding = own ? nullptr : &first.embedding;
    auto weights = retained == LoadedBlocks::all ? read_model_weights(file, *other, embedding)
                                                 : read_model_ends(file, *other, embedding);
    if (!weights) return tl::unexpected(weights.error());
    std::erase_if(first.unused, [&](const std::string& name) {
        return std::ranges::find(weights->unused, name) == weights->unused.end();
    });
    weights->unused.clear();
    if (!weights->project_out.weight.empty() &&
        weights->project_out.weight.shape().d != config.width)
        return bad_input(
            fmt::format("the projector makes vectors of {}; expected {}, as the embedding has",
                        counted(weights->project_out.weight.shape().d, "number"), config.width));
    return SecondStack{*std::move(other), *std::move(weights)};
}

/// What reading needed besides the weights, a tenth of them, would stay with the process.
void give_back_free_memory() {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

}  // namespace

bool is_model_folder(const std::filesystem::path& folder) {
    std::error_code ignored;
    const auto file = folder / "config.json";
    if (!std::filesystem::is_regular_file(file, ignored)) return false;
    const auto config = read_json_file(file);
    if (!config)  // open() says what is wrong with it
        return std::ranges::any_of(kWeightFiles,
                                   [&](std::string_view name) { return is_there(folder / name); });
    return config->is_object() && config->contains("model_type");
}

bool is_model(const std::filesystem::path& path) { return is_gguf(path) || is_model_folder(path); }

Result<Model> Model::open(const std::filesystem::path& path, LoadedBlocks retained) {
    auto source = is_gguf(path) ? open_gguf_model(path) : open_model_folder(path);
    if (!source) return tl::unexpected(source.error());
    auto& [config, values, file, notes] = *source;
    // Of a model whose blocks differ in width all are kept: the sentence encoder, which is small.
    if (!config.family->names.residual.empty() && retained == LoadedBlocks::one) {
        retained = LoadedBlocks::all;
        notes.push_back(
            "the weights of all layers are in memory: a model whose layers differ in width cannot "
            "be read layer by layer");
    }
    const bool all = retained == LoadedBlocks::all;
    auto weights = all ? read_model_weights(*file, config) : read_model_ends(*file, config);
    if (!weights) return tl::unexpected(weights.error());
    auto second = second_stack_of(path, *file, config, retained, *weights);
    if (!second) return tl::unexpected(second.error());
    const std::shared_ptr<const ArrayFile> blocks = all ? nullptr : std::move(file);
    file.reset();
    give_back_free_memory();
    if (config.image) {
        Model model(std::move(config), *std::move(weights), std::nullopt);
        model.source_ = blocks;
        return model;
    }
    auto tokenizer = values.empty()
                         ? tokenizer_of_folder(path)
                         : tokenizer_of_gguf(values, path.string()).map([](Tokenizer&& made) {
                               return std::optional(std::move(made));
                           });
    const WeightMatrix& table =
        config.sound && *second ? (*second)->weights.embedding : weights->embedding;
    if (tokenizer && *tokenizer && (*tokenizer)->size() > table.shape().t)
        return bad_input(fmt::format("{}: the tokenizer has {}, the embedding {}", path.string(),
                                     counted((*tokenizer)->size(), "token"),
                                     counted(table.shape().t, "row")));
    Model model(std::move(config), *std::move(weights),
                tokenizer ? *std::move(tokenizer) : std::nullopt);
    if (!tokenizer) model.tokenizer_fault_ = tokenizer.error().text();
    model.file_notes_ = std::move(notes);
    model.source_ = blocks;
    if (*second) {
        Model other(std::move((*second)->config), std::move((*second)->weights), model.tokenizer_);
        other.source_ = blocks;
        model.second_ = std::make_shared<const Model>(std::move(other));
    }
    return model;
}

void Model::let_blocks_go() {
    ATTN_CHECK(second_ == nullptr, "blocks of two stacks are run more than once");
    if (!keeps_blocks()) return;
    // A copy of this model keeps its blocks.
    const auto own = weights_.use_count() == 1 ? std::const_pointer_cast<ModelWeights>(weights_)
                                               : std::make_shared<ModelWeights>(*weights_);
    passing_ = std::make_shared<std::vector<BlockWeights>>(std::exchange(own->blocks, {}));
    weights_ = own;
}

Result<std::shared_ptr<const BlockWeights>> Model::block(Index layer, Index in) const {
    if (keeps_blocks())
        return std::shared_ptr<const BlockWeights>(weights_, &weights_->blocks[layer]);
    give_back_free_memory();
    if (passing_) {
        auto taken = std::exchange((*passing_)[layer], {});
        if (taken.attention[Param::w_q].empty())
            return failed(
                fmt::format("the weights of layer {} are gone with an earlier run", layer));
        return std::make_shared<const BlockWeights>(std::move(taken));
    }
    return read_block_weights(*source_, config_, layer, in).map([](BlockWeights&& read) {
        return std::make_shared<const BlockWeights>(std::move(read));
    });
}

}  // namespace attn

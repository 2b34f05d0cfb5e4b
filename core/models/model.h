#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/models/config.h"
#include "core/models/tokenizer.h"
#include "core/result.h"
#include "core/run_control.h"
#include "core/trace.h"

namespace attn {

class ArrayFile;
class Backend;
struct BlockWeights;
struct KvCache;
struct ModelWeights;
struct RgbImage;

/// One layer of a model as it computed a text.
struct ModelLayer {
    std::shared_ptr<const Inputs>
        inputs;  // of attention: normalised x and the layer's W, or Q, K, V where norms stand between
    AttentionSpec spec;
    Trace trace;      // the stages that were asked for
    Tensor residual;  // [1, 1, T, width] after the block
    Tensor routing =
        {};  // [1, 1, T, experts]: shares of the experts, 0 of one that is not taken; empty: no experts
};

struct ModelRun {
    std::vector<ModelToken> tokens;
    Tensor embedded;  // [1, 1, T, width] where the tokens enter
    std::vector<ModelLayer> layers;
    std::vector<ModelLayer> cross =
        {};  // of a decoder: each block's attention over the encoder; none of read_on()
    std::vector<ModelToken> tokens_kv = {};  // of read_group(): the keys', where they are others
    std::vector<Index> numbers = {};  // of read_group(): of each layer, where it has some of them
    Tensor
        read_out;  // [1, 1, T, vocabulary] logits, LogitRows::last [1, 1, 1, vocabulary], or [1, 1, 1, n] of the sentence or the classes; empty: the model has none
    std::string note = {};  // of read(): what is to be known of the image; "": nothing
    std::shared_ptr<const RgbImage> image = {};  // of read(): patched_part() of it; null: none

    /// Of the n-th layer, in the model.
    Index number(std::size_t n) const {
        return numbers.empty() ? static_cast<Index>(n) : numbers[n];
    }
};

struct Interventions;
/// An empty set.
const Interventions& no_interventions();

/// Of which tokens a run has the logits of the next one. One that has them of all may take much memory: tokens × vocabulary.
enum class LogitRows : std::uint8_t { all, last };
/// Whether the weights of blocks stay in memory, or those of one at a time are read whenever it is computed.
enum class LoadedBlocks : std::uint8_t { all, one };

/// A trained transformer: config.json, *.safetensors and a tokenizer, or a preprocessor_config.json, of one folder; or a GGUF file. Immutable; run() may be called on any thread.
class Model {
  public:
    /// Errors name file, key or array, value and what was expected.
    /// KeptBlocks::one: weights().blocks is empty, of second() too, and what looks at more than one run of a text is for other models.
    static Result<Model> open(const std::filesystem::path& path,
                              LoadedBlocks retained = LoadedBlocks::all);
    Model(ModelConfig config, ModelWeights weights, std::optional<Tokenizer> tokenizer);

    const ModelConfig& config() const { return config_; }
    const ModelWeights& weights() const { return *weights_; }
    bool keeps_blocks() const { return source_ == nullptr && passing_ == nullptr; }
    /// From now on the weights of a block go as soon as it was computed, so that one more run is possible. Not of two stacks.
    void let_blocks_go();
    /// Those that are in memory: all, those that are left, or, where they are read one at a time, none.
    const std::vector<BlockWeights>& blocks() const;
    /// That of a layer whose input has `in` columns; read from the file where it is not kept.
    Result<std::shared_ptr<const BlockWeights>> block(Index layer, Index in) const;
    /// nullptr: the folder has none, or none that can be read, and only token numbers can be run.
    const Tokenizer* tokenizer() const { return tokenizer_ ? &*tokenizer_ : nullptr; }
    /// What the folder holds and the model does not use.
    std::vector<std::string> notes() const;

    /// The model gives a logit for each next token or class.
    bool gives_logits() const;
    /// How many tokens a text may have; not set: any number.
    std::optional<Index> most_tokens() const;
    /// The token, or the class of an image, of that number; "#7" where it has no name.
    std::string shown(Index id) const;

    /// The name of a read-out's number: of a class that a token is read as, or shown().
    std::string answer_text(Index id) const;
    /// The row of the logits to report: the last; where each token is read as a class, the last row whose class is not the
    /// token's own text. nullopt: the run has none.
    std::optional<Index> answer_row(const ModelRun& run) const;
    /// The words of a text that a vocabulary of whole words does not have, as they were typed, each once.
    std::vector<std::string> outside_vocabulary(std::span<const ModelToken> tokens) const;

    /// What it adds to a text; without a tokenizer its number behind a space.
    std::string text_of(Index id) const;
    /// The token of that number, "#7", or that is shown or stands in a text so, the first of several. An error where there is none.
    Result<Index> token_named(std::string_view text) const;

    /// The other stack of a model of two, see groups.h; nullptr: it is one.
    const Model* second() const { return second_.get(); }
    /// Its blocks read another stack: what they add is not of their own heads and MLP alone.
    bool reads_across() const;
    /// This decoder, reading what the last block of its encoder gave, after the final norm: [1, 1, T, width].
    Model over(const Tensor& memory) const;
    /// This decoder, in which the first image tokens of a text have these vectors: [1, 1, their number, width].
    Model seeing(Tensor vectors) const;
    /// Of seeing(); empty: it reads no image.
    const Tensor& image_rows() const { return image_rows_; }

    /// Without a tokenizer a text is the numbers of tokens, "15496 995". An error where it is not, where there is no token in
    /// it, and of a model that reads images.
    Result<std::vector<ModelToken>> tokens_of(std::string_view text) const;
    /// Block after block. `keep`: the stages of each layer's trace. Errors: no token, more than the model takes, one that the
    /// embedding does not have, an intervention that cannot be (check_interventions). Fails soon after `control` was
    /// stopped. A patched layer is given its Q, K and V: it has no x. logsumexp stays that of the scores where a row of
    /// weights is replaced.
    Result<ModelRun> run(std::vector<ModelToken> tokens, const Backend& backend,
                         StageSet keep = all_stages(), const RunControl& control = {},
                         const Interventions& interventions = no_interventions(),
                         LogitRows logits = LogitRows::all) const;
    /// Rows of the tokens that follow those of `cache`, and of their next token: what run() gives of all of them together has
    /// these rows last, but for rounding, where no longer text turns otherwise (RopeRules::short_length). The cache takes them in,
    /// and where this fails is as it was. Of a layer, K and V are in the cache alone; q is after RoPE, and so is K; read_out is
    /// [1, 1, 1, vocabulary]. Errors: as of run(); a model that is not causal.
    Result<ModelRun> read_on(KvCache& cache, std::vector<ModelToken> tokens, const Backend& backend,
                             StageSet keep = all_stages(), const RunControl& control = {}) const;
    /// run() of an image, as pixels_of() makes it: the tokens are those of patch_tokens(). An error of a model that reads
    /// texts, and of pixels of another shape.
    Result<ModelRun> run_image(const Tensor& pixels, const Backend& backend,
                               StageSet keep = all_stages(), const RunControl& control = {},
                               const Interventions& interventions = no_interventions()) const;

    /// run() over a text; or over the PNG or the WAV of that name, where the model reads images or sounds; "": pixels that are
    /// all the mean, which is 0, or silence.
    Result<ModelRun> read(const std::string& text_or_file, const Backend& backend,
                          StageSet keep = all_stages(), const RunControl& control = {},
                          const Interventions& interventions = no_interventions(),
                          LogitRows logits = LogitRows::all) const;

    /// There are some, the model takes them behind so many others, and its embedding has each.
    Result<void> check_tokens(std::span<const ModelToken> tokens, Index before = 0) const;

  private:
    /// There are as many image tokens as vectors of an image; `begins`: or fewer, where more of the text follow.
    Result<void> check_image_tokens(std::span<const ModelToken> tokens, bool begins) const;
    struct BlockOptions;  // how blocks are run
    /// What is kept while a block is computed: its output, and q, k, v in place of weights that do not stay.
    StageSet needed_stages(StageSet keep) const;
    /// x: what the tokens are where they enter, and then leave the next block of `run`, which gets its layer.
    Result<void> run_block(Tensor& x, ModelRun& run, const BlockOptions& options) const;
    /// What a block's attention over the encoder gives to x, which has its own attention's.
    Result<Tensor> run_cross(const Tensor& x, const BlockWeights& block, ModelRun& run,
                             const BlockOptions& options) const;
    Result<ModelRun> read_image(const std::string& file, const BlockOptions& options) const;
    Result<ModelRun> read_sound(const std::string& file, const BlockOptions& options) const;
    /// The numbers that are added to scores by distance, of tokens behind those of a cache.
    void add_distances(Inputs& inputs, const KvCache* cache) const;
    Result<ModelRun> run_blocks(std::vector<ModelToken> tokens, Tensor x,
                                const BlockOptions& options) const;

    ModelConfig config_;
    std::shared_ptr<const ModelWeights> weights_;  // of its copies too
    std::optional<Tokenizer> tokenizer_;
    std::string tokenizer_fault_;                         // why that of the folder cannot be read
    std::vector<std::string> file_notes_;                 // of a model in one file
    std::shared_ptr<const ArrayFile> source_;             // of blocks that are not kept
    std::shared_ptr<std::vector<BlockWeights>> passing_;  // let_blocks_go(): those that are left
    std::shared_ptr<const Model> second_;
    Tensor memory_;      // of over(); empty: nothing
    Tensor image_rows_;  // of seeing(); empty: nothing
};

/// What a layer's attention does besides its tensors.
AttentionSpec layer_spec(const ModelConfig& config, Index layer);
/// The folder has a config.json with a model_type, or one that cannot be read beside a model's weights.
bool is_model_folder(const std::filesystem::path& folder);
/// Such a folder, or a GGUF file.
bool is_model(const std::filesystem::path& path);

}  // namespace attn

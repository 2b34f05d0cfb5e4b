#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/models/activation.h"
#include "core/result.h"
#include "core/spec.h"

namespace attn {

enum class Resampling : std::uint8_t;  // io/png_image.h
struct ModelFamily;

// What a transformer of blocks is: its family (a row of family.h) and the numbers of its config.json.

/// How an image becomes a model's input: patches.h has the formulas.
struct ImageInput {
    Index size = 0;           // pixels of a side after resizing
    Index patch = 0;          // of a patch's side
    Index leading = 1;        // tokens before the patches
    Index registers = 0;      // the last of them, which have no position
    Resampling resampling{};  // bilinear
    Index resized =
        0;  // of both sides, or of the shorter, before the middle is cut out; 0: as size
    bool keeps_shape = false;  // of the shorter
    Index channels = 3;        // 3: red, green, blue; 1: luminance
    double factor = 1.0 / 255.0;
    std::vector<double> mean, deviation;   // of each channel
    bool has_preparation = false;          // there is a preprocessor_config.json, which says them
    std::map<Index, std::string> classes;  // names by number, of id2label

    /// Patches along a side.
    Index side() const { return size / patch; }
};

/// How a sound becomes a model's input: sound.h has the formulas.
struct SoundInput {
    static constexpr Index kRate = 16000, kWindow = 400, kHop = 160;  // samples

    Index mels = 80;
    Index frames = 3000;  // of the spectrogram, each kHop samples after the last

    /// A second convolution leaves every other one.
    Index tokens() const { return frames / 2; }
    double seconds() const { return static_cast<double>(frames * kHop) / double{kRate}; }
};

/// How a decoder reads an image among its tokens: image_prompt.h has the formulas.
struct ImagePromptRules {
    Index token = 32000;            // the id of an image token
    std::vector<Index> layers{-2};  // hidden states: 0 enters the first block; below 0 from the end
    bool drops_class = true;        // the class token is left out
    Activation activation = Activation::gelu;
    bool bias = true;
};

/// Layers that are gated delta nets, and their sizes.
struct DeltaNet {
    Index key_heads = 16, value_heads = 32;
    Index key_width = 128, value_width = 128;
    Index kernel = 4;          // tokens that a column of q, k and v is summed over
    std::vector<bool> layers;  // which
};

/// How queries and keys turn.
struct RopeRules {
    RopePairs pairs = RopePairs::half;
    double base = 10000.0;
    std::optional<Index> dims;  // so many leading columns of a head; not set: all
    RopeScaling scaling = {};
    double magnitude = 1.0;  // what turns is multiplied by it
    // longrope: ω of each pair is divided by its own number, by another in texts of more tokens than short_length
    std::vector<double> divisors = {}, long_divisors = {};
    Index short_length = 0;

    /// The engine cannot turn so: it is given queries and keys that are turned.
    bool turned_before() const { return !divisors.empty() || (dims && magnitude != 1.0); }
};

/// Multi-head latent attention: DeepSeek-AI 2024, arXiv:2405.04434, §2.1.
struct LatentRules {
    std::optional<Index> query_rank;  // numbers of q's latent; not set: q is made of x
    Index rank = 0;                   // of the latent of k and v
    Index turned = 0, still = 0,
          value = 0;  // columns of a head's q and k that turn, the others; of v
};

struct ModelConfig {
    const ModelFamily* family = nullptr;
    Index width = 0;                      // of a token's vector where it enters
    std::optional<Index> embedded_width;  // of the tables that it is made of; not set: the same
    Index layers = 0;
    Index heads = 0;
    Index kv_heads = 0;
    std::optional<Index> head_width;  // not set: columns of W_Q / heads
    std::optional<LatentRules> latent;
    Index vocabulary = 0;  // 0 where images are read
    std::optional<Index> most_tokens;
    double epsilon = 1e-5;
    Activation activation = Activation::gelu;
    RopeRules rope;
    std::optional<RopeRules> window_rope;  // of layers with a window, where it is another
    std::vector<bool> still;               // which layers do not turn queries and keys; empty: none
    std::optional<Index> window;           // keys a query sees, itself one of them
    std::vector<bool> windowed;            // which layers have it; empty: all
    std::optional<DeltaNet> delta;         // not set: every layer is attention
    double embedding_factor = 1.0, residual_factor = 1.0, logit_factor = 1.0;
    std::optional<double> score_factor;  // not set: 1/√d_k
    std::optional<double> score_cap, logit_cap;
    bool parallel = false;     // the MLP reads what attention reads, not the sum with its output
    bool one_norm = false;     // and through the same norm
    bool two_norms = false;    // or through one of two that have names of their own
    bool plain_norms = false;  // norms have no weights
    std::optional<bool> norm_bias,
        head_norms;  // whether norms have shifts, and queries and keys norms; not set: where the file has one
    Index padding_id = 1;             // of families whose positions go on from it
    Index buckets = 0, farthest = 0;  // of distances: rows of the table, and where the last begins
    bool plain_mlp = false;           // no gate, where the family's MLP may have one
    Index start_id = 0;               // the token that a decoder begins with
    Index end_id = 0;                 // the token whose vector is the text's; 2: the largest id's
    Index projection = 0;             // numbers of the vector of a text or an image
    Index experts = 0, experts_per_token = 0;
    bool expert_shares_sum = true;  // the shares of those that are taken are divided by their sum
    double expert_factor = 1.0;     // and multiplied by it
    Index expert_groups = 1,
          groups_taken = 1;   // experts in a row are a group; they are taken from the best groups
    std::vector<bool> dense;  // which layers have one MLP in place of experts; empty: none
    std::optional<Index> expert_hidden,
        shared_hidden;  // width inside an expert, and inside that of all tokens; not set: as `hidden`
    Index groups =
        0;  // consecutive layers share weights: the number of different layers; 0: each has its own
    bool tied = false;  // the read-out is the embedding, unless the file has another one
    std::vector<Index> end_tokens = {};  // a text ends with one of them
    bool norms_as_computed =
        false;  // the file has a norm's weights as they multiply, whatever the family says
    std::map<Index, std::string> classes = {};  // of ReadOut::token_classes, by number: id2label
    std::string default_text = {};              // read if no text is given; "": none
    std::string contrast_text = {};  // another answer than that to default_text; "": none
    std::string other_task = {};     // the class of `architectures` that predicts no tokens
    std::optional<Index> hidden,
        kinds;  // width inside the MLP, rows of the kinds of tokens; not set: as the file has them
    // whether projections to q, k, v, from attention's heads, and of the MLP have a bias; not set: where the file has one
    std::optional<bool> qkv_bias, out_bias, mlp_bias;
    bool alone = false;               // the folder has the first of two stacks, and no other
    bool eight_bits = false;          // weights may be bitsandbytes' int8, with scales beside them
    std::optional<ImageInput> image;  // of families that read images
    std::optional<SoundInput> sound;  // of families that read sounds
    std::optional<ImagePromptRules>
        image_prompt;  // of a decoder that reads images, and of its tower
    std::vector<std::string>
        ignored;  // keys of other families, which this one's own code does not read
    std::vector<std::string> unknown;  // keys of which nothing is known

    bool reads_text() const { return !image && !sound; }
    Index columns_of_head() const { return head_width.value_or(width / std::max<Index>(heads, 1)); }
    Index columns_of_value() const { return latent ? latent->value : columns_of_head(); }
    bool has_window(Index layer) const { return window && (windowed.empty() || windowed[layer]); }
    bool is_delta(Index layer) const { return delta && delta->layers[layer]; }
    bool has_experts(Index layer) const { return experts > 0 && (dense.empty() || !dense[layer]); }
    /// Whether RoPE turns queries and keys of the layer.
    bool turns(Index layer) const;
    /// The layer whose weights this one has.
    Index stored_layer(Index layer) const { return groups > 0 ? layer * groups / layers : layer; }
    const RopeRules& rope_of(Index layer) const {
        return window_rope && has_window(layer) ? *window_rope : rope;
    }
};

/// `where` names the file in errors. A family that is not known is refused with those that are; so is a setting that would
/// change the numbers and is not computed here, such as rope_scaling of the type dynamic. What is not said
/// is as Hugging Face's configuration class of the family has it.
/// Of a family of two stacks, `stack` says which; the second is there where the family has one.
enum class Stack : std::uint8_t { first, second };
Result<ModelConfig> parse_model_config(std::string_view json, std::string_view where,
                                       Stack stack = Stack::first);
Result<ModelConfig> read_model_config(const std::filesystem::path& file,
                                      Stack stack = Stack::first);

/// What a preprocessor_config.json says of factor, mean and deviation, over what `image` has. Refused by its key: another
/// size than config.json's, another way of resizing than bilinear and bicubic, and images that are not resized.
Result<ImageInput> parse_image_preparation(std::string_view json, std::string_view where,
                                           ImageInput image);

/// Refuses settings of a preprocessor_config.json for sounds that are not computed here.
Result<void> check_sound_preparation(std::string_view json, std::string_view where,
                                     const SoundInput& sound);

/// "GPT-2, Llama, Mistral, …".
std::string model_family_text();

}  // namespace attn

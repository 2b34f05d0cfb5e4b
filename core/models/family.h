#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/models/activation.h"
#include "core/sizes.h"
#include "core/spec.h"

namespace attn {

// THE table of model families: what config.json does not say, and the names of tensors.

enum class Norm : std::uint8_t {
    layer,  // (x − mean) / √(variance + ε) · weight + bias; Ba et al. 2016, arXiv:1607.06450
    rms     // x / √(mean of squares + ε) · weight; Zhang & Sennrich 2019, arXiv:1910.07467
};

/// How a model represents the position of a token.
enum class Positions : std::uint8_t {
    none,
    learned,  // a row of a table is added
    sines,  // the same of sines, then cosines, of position / 10000^(2 i / width), where the file has no table
    waves,  // sines and cosines are added: Vaswani et al. 2017, §3.5, all sines before all cosines
    rope,   // queries and keys turn
    distances  // a number for the distance from query to key is added to their score: Raffel et al. 2020, §2.1
};

/// What a model says in the end.
enum class ReadOut : std::uint8_t {
    none,
    next_token,    // a logit for each token of the vocabulary, at every position
    sentence,      // one vector of length 1 for the whole text
    projected,     // the same, of one token's: the end's of a text, the class token's of an image
    classes,       // a logit for each class of the image, made of the class token alone
    token_classes  // a logit for each class, at every position: what each token is read as
};

/// The names of a family's tensors, {} for the layer; weight and bias are these with ".weight" and ".bias". "": it has none.
struct TensorNames {
    std::string_view prefix = {};  // may stand before all but read_out; several have spaces between
    std::string_view embedding = {}, positions = {}, kinds = {}, embedding_norm = {};
    std::string_view embedding_map =
        {};  // of a table that is not as wide as the model: after its norm
    // of images, in place of the embedding: the vector of the class token, and torch's convolution that reads a patch. The
    // class token and the positions of images have no ".weight" at their end.
    std::string_view class_token = {}, patches = {};
    std::string_view distillation_token = {};  // DeiT's second one
    // of sounds, in place of the embedding: two convolutions over time, of 3 frames each
    std::string_view sound_in = {}, sound_half = {};
    std::string_view register_tokens =
        {};  // behind the class token, without positions: "register_tokens"
    std::string_view attention_norm = {}, qkv = {}, q = {}, k = {}, v = {}, q_norm = {},
                     k_norm = {}, sinks = {};
    // of multi-head latent attention: x to the latent of q, its norm, the latent to q (without that latent x to q is `q`);
    // x to the latent of k and v and the part of k that turns, the latent's norm, the latent to k and v
    std::string_view q_down = {}, q_down_norm = {}, q_up = {}, kv_down = {}, kv_down_norm = {},
                     kv_up = {};
    std::string_view out = {}, residual = {};
    std::string_view mlp_norm = {}, gate = {}, up = {}, down = {};
    // of what attention and the MLP give, before it is added: a norm, a factor for each column
    std::string_view attention_out_norm = {}, mlp_out_norm = {};
    std::string_view attention_scale = {}, mlp_scale = {};
    // of experts: gate, up and down have "[]" for the expert; or stand for all of them, [expert, in, out]. A layer without
    // experts has its MLP under the same names less ".experts.[]"
    std::string_view router = {};
    std::string_view router_bias =
        {};  // one row without ".bias": added to scores where experts are chosen, not to their shares
    // "shared_expert": of an MLP that every token takes besides, in place of "experts.[]"; what σ makes its factor of
    std::string_view shared_expert = {}, shared_gate = {};
    // of a layer of linear attention: the name before ".conv1d", ".A_log", …; core/models/delta_net.h has the formulas
    std::string_view delta_net = {};
    // of a layer whose attention and MLP read two norms of the same x, where the configuration has two
    std::string_view parallel_attention_norm = {}, parallel_mlp_norm = {};
    std::string_view final_norm = {}, read_out = {};
    std::string_view logits_bias =
        {};  // one row that is added to logits, without ".bias", where the file has it
    std::string_view logit_scale = {};  // of a pair of towers: ln of what cosines are multiplied by
    std::string_view logit_bias = {};   // added to that product
    std::string_view pool = {};  // of images: attention of one query over all rows, and an MLP
    // of images that a decoder reads among its tokens: before ".linear_1" and ".linear_2"; the decoder has it, too
    std::string_view projector = {};
    std::string_view distances =
        {};  // of the first layer, for all: a row for each bucket of distances
    std::string_view plain_up = {};  // in place of gate and up, where the configuration has no gate
    // attention over what the other stack gave, between a block's own attention and its MLP; cross_norm is before it: of what
    // it reads alone, or, where norms come after, of the stream
    std::string_view cross_norm = {}, cross_q = {}, cross_k = {}, cross_v = {}, cross_out = {};
};

/// What a family makes of `sliding_window`.
enum class WindowRule : std::uint8_t {
    ignored,
    if_declared,  // none where it is not said
    always,       // `window_keys` where it is not said, none where it is null
    switched,  // none unless `use_sliding_window`; then in the layers that `layer_types` or `max_window_layers` say
    switched_whole,  // none unless `use_sliding_window`; then in every layer
    switched_even,  // the same; then in the layers of `layer_types`, else in each second before `max_window_layers`
    still,  // in the layers of `layer_types`; else with `use_sliding_window` in those that do not turn
    both_sides,  // in the layers of `layer_types`; else in all but 0, n, 2n, …; half of `local_attention` to each side
    by_layer     // in the layers that `layer_types` names; else in all but each `window_pattern`th
};

/// Which biases projections have.
enum class BiasRule : std::uint8_t {
    as_stored,
    none,
    of_qkv,       // of queries, keys and values alone
    if_declared,  // by `attention_bias` or `mlp_bias`; none where it is not said
    default_true  // by the same; all where it is not said
};

/// In which order one matrix has the columns of q, k and v.
enum class QkvOrder : std::uint8_t {
    parts,  // all of q, all of k, all of v
    heads   // of each key-value head the queries that read it, its key and its value
};

/// What one hidden number of a gated MLP is made of.
enum class Gated : std::uint8_t {
    apart,   // matrices of their own: activation(gate) · up
    halves,  // the same; the columns of one matrix are gate, then up
    clamped  // columns in turns: g = min(gate, 7), u = up from −7 to 7: g / (1 + e^(−1.702 g)) · (u + 1), of gpt-oss
};

/// What a router's products z become before the largest are taken.
enum class Routing : std::uint8_t {
    softmax,  // over all experts
    sigmoid   // each by itself: DeepSeek-AI 2024, arXiv:2412.19437, §2.1.2
};

struct ModelFamily {
    std::string_view key = {};   // "gpt2": `model_type` of config.json
    std::string_view text = {};  // "GPT-2"
    std::string_view epsilon_key = "layer_norm_eps";
    double epsilon = 1e-12;   // where it is not said
    Index kv_heads = 0;       // the same; 0: as many as query heads
    Index head_width = 0;     // the same, of those that turn; 0: width / heads
    bool even_heads = false;  // width / heads is the only one
    WindowRule window = WindowRule::ignored;
    Index window_keys = 4096, window_pattern = 2;
    Norm norm = Norm::layer;
    bool norms_after = false;    // the sum is normalised, not what goes into attention and MLP
    bool norms_add_one = false;  // a norm's weights are stored less 1
    bool joined_norms = false;   // queries and keys are normalised over all heads together
    bool plain_norms = false;    // norms have no weights
    bool first_norm = true;      // attention of the first layer reads a norm
    BiasRule attention_biases = BiasRule::as_stored, mlp_biases = BiasRule::as_stored;
    std::string_view attention_bias_key = "attention_bias", mlp_bias_key = "mlp_bias";
    bool qkv_bias_declared = false;  // BiasRule::of_qkv: none by default
    QkvOrder qkv_order = QkvOrder::parts;
    bool gated_heads =
        false;  // of each head W_Q has the columns of q, then those of a gate: its context times σ(gate)
    Gated gated = Gated::apart;
    bool embedding_root = false;   // the embedding is multiplied by √width
    bool embedding_twice = false;  // the embedding is multiplied by 2
    double query_scalar = 0.0;  // scores are divided by its root, where it is not said; 0: by √d_k
    double score_cap = 0.0, logit_cap = 0.0;  // where it is not said; 0: none
    bool caps_logits = true;                  // by `final_logit_softcapping`
    Positions positions = Positions::learned;
    bool after_padding = false;  // positions go on from `pad_token_id` (1 where it is not said)
    Index first_position = 0;    // the row of the first token's position in the table
    RopePairs rope_pairs = RopePairs::half;
    double rope_base = 10000.0;  // where it is not said
    bool partial_rope = false;   // a share of a head's columns may turn
    double rope_share = 1.0;     // that share, where it is not said
    bool yarn_scores = false;  // scores are multiplied by the square of what `mscale_all_dim` makes
    bool window_ropes = false;                 // layers with a window turn by a base of their own
    bool tied = false;                         // the same
    Index experts_per_token = 0, experts = 0;  // by default; 0: required
    bool expert_shares_sum =
        true;  // shares of the experts that are taken are divided by their sum, the same
    Routing routing = Routing::softmax;
    bool parallel = false;  // the MLP reads what attention reads, the same
    Activation activation = Activation::gelu;
    bool causal = false;
    bool rows_are_inputs =
        false;  // weights are stored [in, out], as TensorFlow and GPT-2 do; else torch's [out, in]
    bool reads_images = false;  // its tokens are patches of an image, and a class token before them
    ReadOut read_out = ReadOut::none;
    TensorNames names = {};
    std::string_view kin = {};   // the family whose keys of config.json are its own too
    std::string_view keys = {};  // more of its own keys, with spaces between
    bool read_out_bias = false;
    bool reads_last = false;  // the last token's vector is that of the text
    Index start_id = 0;       // the token that a decoder begins with, by default
    // of a model of two stacks of blocks; `section` also of one in a model of texts and images
    std::string_view stack = {};     // what the stack is called: "encoder"
    std::string_view section = {};   // the object of config.json that is about it
    std::string_view defaults = {};  // JSON of what that, or the file, has where it is not said
    const ModelFamily* second = nullptr;  // the other one, of the same configuration and file
    // of a family whose parts differ: `model_type` of `section`, by default that of the first row; and the next row
    std::string_view section_type = {};
    const ModelFamily* next = nullptr;
};
std::span<const ModelFamily> model_families();

}  // namespace attn

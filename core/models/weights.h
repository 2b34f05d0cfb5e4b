#pragma once

#include <string>
#include <vector>

#include "core/models/weight_matrix.h"
#include "core/result.h"
#include "core/trace.h"

namespace attn {

class ArrayFile;
struct ModelConfig;

// The numbers of a model, under the same names whatever its family calls them, weights [in, out]. Norms and biases are in
// float32; a WeightMatrix and attention's matrices are in the type of the file, see Tensor::narrow().

/// y = x W + b. An empty weight: it is not there.
struct LinearWeights {
    WeightMatrix weight;  // [1, 1, in, out]
    Tensor bias;          // [1, 1, 1, out], or empty
    bool there() const { return !weight.empty(); }
};

struct NormWeights {
    Tensor scale;  // [1, 1, 1, n]; empty: no norm
    Tensor shift;  // the same, or empty
    bool there() const { return !scale.empty(); }
};

struct MlpWeights {
    LinearWeights gate, up, down;
};

/// Multi-head latent attention. What projects is z = [q's latent, or x | the latent of k and v | the columns of k that turn],
/// each latent through its norm, whose ε is kLatentEpsilon. W_Q, W_K and W_V read z: those of the file in the rows of their
/// latent, 0 in the others, and in W_K a 1 for each column that turns, which all heads share. Those come first in q and k.
struct LatentWeights {
    LinearWeights q, kv;  // [width, rank]; [width, rank + columns that turn]; no q: z has x
    NormWeights q_norm, kv_norm;
    Index filled = 0;  // numbers of W_Q, W_K and W_V that the file does not have
    bool there() const { return kv.there(); }
};
inline constexpr double kLatentEpsilon = 1e-6;  // config.json has that of the other norms alone

/// A gated delta net has these besides w_q, w_k, w_v and w_o of Params; see delta_net.h.
struct DeltaWeights {
    LinearWeights z, b, a;  // [width, H · d_v], [width, H], [width, H]
    Tensor convolution;     // [1, 1, kernel, columns of q, k and v]
    Tensor a_log, dt_bias;  // [1, 1, 1, H]
    NormWeights norm;       // of d_v columns
    bool there() const { return !a_log.empty(); }
};

struct BlockWeights {
    NormWeights attention_norm;
    LatentWeights latent;        // or none
    Params attention;            // w_q, w_k, w_v, w_o and their biases, sinks
    NormWeights q_norm, k_norm;  // of each head, or of all together, before RoPE
    LinearWeights head_gate;     // [width, H · d_v]: σ of it times the context; not there: 1
    DeltaWeights delta;          // of a gated delta net in place of attention
    LinearWeights residual;  // what is added to attention's output is x through it; not there: x
    NormWeights attention_out_norm, mlp_out_norm;  // of what is added
    Tensor attention_scale, mlp_scale;             // of its columns, or empty
    NormWeights cross_norm;  // of a decoder's block, before the attention over the other stack
    Params cross;            // w_q, w_k, w_v, w_o of that; empty: there is none
    NormWeights mlp_norm;
    MlpWeights mlp;        // empty: there are experts
    LinearWeights router;  // [width, experts]
    Tensor router_bias;    // [1, 1, 1, experts] that is added where experts are chosen, or empty
    std::vector<MlpWeights> experts;  // some are taken for each token
    MlpWeights shared;                // the expert that every token takes besides; or none
    LinearWeights shared_gate;        // [width, 1]: σ(x W) is its factor; not there: 1

    /// Attention adds another product than concat(heads) W_O: output_of_heads() of delta_net.h makes it.
    bool gates_heads() const { return head_gate.there() || delta.there(); }
};

/// A vector of all rows of x: that of one query over them through `norm` and `mlp`, which is added to it.
struct PoolWeights {
    Tensor probe;      // [1, 1, 1, width]: the query before W_Q; empty: none
    Params attention;  // w_q, w_k, w_v, w_o and their biases
    NormWeights norm;
    MlpWeights mlp;
};

struct ModelWeights {
    WeightMatrix embedding;  // [1, 1, vocabulary, width]; empty: the model reads images or sounds
    Tensor class_token;      // of images: [1, 1, 1, width]
    Tensor distillation_token;  // DeiT's: the same, or empty
    Tensor register_tokens;     // [1, 1, registers, width], or empty
    LinearWeights patches;      // of images: [channels · patch · patch, width], see patches_of
    LinearWeights sound_in, sound_half;     // of sounds: [3 · mels, width], [3 · width, width]
    WeightMatrix positions;                 // [1, 1, positions, width], or empty
    Tensor distances;                       // [1, 1, buckets, heads], or empty
    Tensor logit_scale;                     // of the first of two towers: one number, or empty
    Tensor logit_bias;                      // the same
    PoolWeights pool;                       // of images, or none
    LinearWeights project_in, project_out;  // of images that a decoder reads, or none
    WeightMatrix kinds;                     // BERT's token types; the first is added to every token
    NormWeights embedding_norm, final_norm;
    LinearWeights
        embedding_map;  // from the width of the tables to that of the model; not there: they are one
    std::vector<BlockWeights> blocks;
    LinearWeights read_out;           // not there: the embedding, or nothing
    std::vector<std::string> unused;  // arrays of the file that mean nothing here
};

/// Every tensor that the family has, its shape checked against the others. An error names file, array, shape and what was
/// expected. A weight matrix that is stored the other way round is known by its shape (nanoGPT's c_attn is [3E, E]).
/// `embedding`: of the other stack, which is this one's too; null: it is read.
Result<ModelWeights> read_model_weights(const ArrayFile& file, const ModelConfig& config,
                                        const WeightMatrix* embedding = nullptr);
/// The same without its blocks; what the file has that means nothing is not known then.
Result<ModelWeights> read_model_ends(const ArrayFile& file, const ModelConfig& config,
                                     const WeightMatrix* embedding = nullptr);
/// One of the blocks, whose input has `in` columns.
Result<BlockWeights> read_block_weights(const ArrayFile& file, const ModelConfig& config,
                                        Index layer, Index in);

}  // namespace attn

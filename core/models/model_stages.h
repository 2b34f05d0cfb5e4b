#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/models/activation.h"
#include "core/result.h"
#include "core/sizes.h"
#include "core/stages.h"
#include "core/tensor.h"

namespace attn {

class Model;
struct ModelConfig;
struct ModelRun;

// The stages of a whole transformer around attention, whose own stages are in core/stages.h. A model has those that its
// family computes; a block's are those of one layer. T tokens, width d: every matrix is [1, 1, T, columns].

enum class ModelStage : std::uint8_t {
    embedding,        // of the token, times config.embedding_factor
    position,         // what is added by place
    entry,            // x where it enters the first block, before a norm
    entry_norm,       // that through the embedding's norm
    entry_map,        // that at the width of the model, where the tables have another
    norm1,            // what attention reads; of a family that normalises sums: norm of residual1
    attention,        // heads side by side, through W_O
    attention_added,  // that through a norm or column scale of its own
    residual_self,    // of a decoder over an encoder: x + its own attention
    cross_norm,       // what its attention over the encoder reads
    cross,            // what that gives
    residual1,        // x + attention
    norm2,            // what the MLP reads; of a family that normalises sums: norm of residual2
    mlp_gate,         // through the gate's matrix, before the activation
    mlp_hidden,       // through the MLP's first matrix
    mlp_act,          // after the activation, times what it gates
    routing,          // share of each expert
    expert_out,       // of each expert that a token takes, side by side, largest share first
    mlp_out,          // through the MLP's last matrix, or the experts' sum
    mlp_added,        // that through a norm or column scale of its own
    residual2,        // residual1 + MLP
    final_norm,
    logits,        // of one row: [1, 1, 1, vocabulary or classes]
    probabilities  // their softmax
};
inline constexpr std::size_t kModelStageCount = 24;

/// Where in the stack a stage is.
enum class StackPart : std::uint8_t { entry, attention, mlp, end };
/// How a number of a stage comes about; a stage of one model has one way.
enum class StageRule : std::uint8_t {
    given,       // a number of the file, or of the image
    sum,         // of numbers of other stages
    norm,        // of its row
    scale,       // a number times its column's factor
    heads,       // a sum over heads, each a product of its context and its rows of W_O
    product,     // a row times a column of weights, plus a bias
    activation,  // a function of one number, perhaps times another
    experts,     // a sum over experts, each times its share
    softmax      // of a row
};

/// One row of the table.
struct ModelStageInfo {
    ModelStage id;
    std::string_view key;     // "mlp_hidden"
    std::string_view symbol;  // "H"
    std::string_view title;   // "MLP hidden layer"
    StackPart part;
    Role role;
    ColorScale colors;
    std::string_view text;  // one sentence
};
const ModelStageInfo& info(ModelStage stage);
/// nullopt: no stage has that key.
std::optional<ModelStage> find_model_stage(std::string_view key);

/// The matrices around one layer's attention as one run of a text computed them.
struct ModelStages {
    Index layer = 0;  // whose block it is
    Index row = 0;    // of the token whose logits they are
    std::array<Tensor, kModelStageCount> values{};
    /// Those that the model has, from the tokens up to the answer; a block's are in the order of computation.
    std::vector<ModelStage> order{};

    const Tensor& operator[](ModelStage stage) const {
        return values[static_cast<std::size_t>(stage)];
    }
    Tensor& operator[](ModelStage stage) { return values[static_cast<std::size_t>(stage)]; }
    bool has(ModelStage stage) const { return !(*this)[stage].empty(); }
};
/// The stages that a run has to keep for it: output and context of every layer.
StageSet model_stage_set();
/// The last stage of a block is `run.layers[layer].residual` bit for bit, the logits are the run's but for the order of sums.
/// Memory: one block's, whatever the number of layers. Of a model that reads images `entry` is given; of classes the row is
/// the class token's, 0. Errors: a layer or row out of range; weights that are not in memory; a run that did not keep
/// model_stage_set().
Result<ModelStages> model_stages(const Model& model, const ModelRun& run, Index layer, Index row);
/// The residual where it enters the layer; layer = layers: what leaves the last one.
const Tensor& residual_into(const ModelRun& run, Index layer);
/// The experts that a token takes, largest share first, of equal ones the first. With experts mlp_gate, mlp_hidden, mlp_act and
/// expert_out have the columns of each of them side by side in this order.
std::vector<Index> taken_experts(const Tensor& routing, Index row);
/// The stage that leaves the block.
ModelStage block_output(const ModelConfig& config);

/// The rule of a stage of this model, and its formula in the subset of core/tex.h.
StageRule rule_of(const Model& model, ModelStage stage, Index layer);
std::string stage_tex(const Model& model, ModelStage stage, Index layer);

/// The cost of one part of the stack: its numbers, and the FLOP of its matrix products over a text, a multiplication and an
/// addition being 2. Nothing is skipped under a mask; of experts those that a token takes.
struct PartCost {
    Index parameters = 0;
    double flop = 0.0;
};
/// Of one layer, for tokens that attend to as many, or cross-attend to `tokens_kv`. A tied read-out has no numbers of its own.
PartCost part_cost(const Model& model, StackPart part, Index layer, Index tokens,
                   Index tokens_kv = 0);

/// The terms of one number of a stage, in float64 from the operands as the model has them.
struct CellTerms {
    struct Added {
        std::optional<ModelStage> source;  // nullopt: a number of the weights
        std::string name = {};             // "head 3", "expert 1", "bias", "W_O's bias"
        double factor = 1.0;               // 1 where there is none
        double value = 0.0;
        std::optional<Index> column = {};  // in `source`; nullopt: the same
    };
    struct NormTerms {
        double x = 0.0, mean = 0.0, variance = 0.0;  // of RMSNorm: mean 0, mean of squares
        double epsilon = 0.0, scale = 1.0;
        std::optional<double> shift{};
        bool centred = true;                 // LayerNorm; false: RMSNorm
        std::optional<ModelStage> source{};  // nullopt: the residual where it enters the layer
    };
    struct ProductTerms {
        std::vector<double> left, right;
        double bias = 0.0, factor = 1.0;  // factor · (left · right) + bias
        std::optional<double> cap;        // cap · tanh(that / cap)
        bool has_bias = false;
        std::optional<ModelStage> source;  // of `left`; nullopt: as above
        Index first_column = 0;            // of `left` in its row there
        std::string_view weights;          // "W_up"
    };
    struct ActivationTerms {
        Activation kind = Activation::relu;
        double argument = 0.0;
        double slope = 0.0;             // what the argument is multiplied by: Φ(x), σ(x), 0 or 1
        std::optional<double> times{};  // what the result is multiplied by
        ModelStage source = ModelStage::mlp_hidden;  // of the argument
        Index column = 0, times_column = 0;          // of it, and of `times` in mlp_hidden
    };
    struct SoftmaxTerms {
        double logit = 0.0, largest = 0.0, sum = 0.0;  // Σ exp(logit − largest)
        Index count = 0;                               // of entries of the sum
    };

    StageRule rule = StageRule::given;
    double value = 0.0;        // as the model computed it, in float32
    double computed = 0.0;     // from the terms
    std::vector<Added> added;  // of sum, heads and experts
    std::optional<NormTerms> norm;
    std::optional<double> column_scale;  // of scale, and after a norm that has one
    double scaled = 0.0;                 // what it multiplies
    std::optional<ModelStage> source;    // of `scaled`, of the rule scale
    std::optional<ProductTerms> product;
    std::optional<ActivationTerms> activation;
    std::optional<SoftmaxTerms> softmax;
};
/// Errors: a cell out of range.
Result<CellTerms> terms_of(const Model& model, const ModelRun& run, const ModelStages& stages,
                           ModelStage stage, Index row, Index column);

}  // namespace attn

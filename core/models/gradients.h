#pragma once

#include <vector>

#include "core/result.h"
#include "core/stage.h"
#include "core/tensor.h"

namespace attn {

class Model;
struct ModelRun;

// Gradients of a loss by the output of each block of a model, from one run.

/// ∂L by the term of attention in the residual stream, by that of the MLP, and by the stream after the block: [1, 1, T, width] each.
struct BlockGradients {
    TensorD attention, mlp, residual;
};
struct ModelGradients {
    double loss = 0.0;  // in nats
    TensorD embedded;   // by the stream where the tokens enter
    std::vector<BlockGradients> layers;
};
/// The stages that a run has to keep for it.
inline StageSet gradient_stages() { return only_stage(Stage::output); }
/// L = −ln softmax(logits of the row)[target], backwards in float64 from the float32 numbers of the run. Of a classifier the
/// targets are its classes. Accuracy: central differences differ by less than 0.2 % (tests/models/gradients_test.cpp).
/// Errors: a row or target out of range; a run that kept too little; weights that are not in
/// memory; experts, a decoder over an encoder, a layer that was given Q, K and V, a clamped gate.
Result<ModelGradients> model_gradients(const Model& model, const ModelRun& run, Index row,
                                       Index target);

}  // namespace attn

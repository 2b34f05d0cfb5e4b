#pragma once

#include <array>

#include "core/train/task_table.h"
#include "core/train/trainer.h"

namespace attn::train {

/// Which matrix of a block is meant; those that a model does not have are not in the list.
enum class Part : std::uint8_t {
    norm_scale,
    norm_shift,
    w_q,
    w_k,
    w_v,
    w_o,
    mlp_norm_scale,
    mlp_norm_shift,
    w_up,
    b_up,
    w_down,
    b_down
};
inline constexpr std::size_t kParts = 12;
inline constexpr std::size_t kNoMatrix = static_cast<std::size_t>(-1);

/// A model's matrices and where each one is in the list.
struct Plan {
    Spec spec;
    Index vocabulary = 0;
    std::vector<Matrix> matrices;
    std::size_t embedding = kNoMatrix, positions = kNoMatrix;
    std::vector<std::array<std::size_t, kParts>> layers;  // by Part
    std::vector<float> waves;                             // of sinusoidal positions, [T, d_model]
    std::size_t norm_scale = kNoMatrix, norm_shift = kNoMatrix, out = kNoMatrix;

    std::size_t at(Index layer, Part part) const {
        return layers[layer][static_cast<std::size_t>(part)];
    }
    std::size_t weight_count() const {
        return matrices.back().offset +
               static_cast<std::size_t>(matrices.back().rows * matrices.back().columns);
    }
    bool causal() const { return info(spec.task).causal; }
};
Plan plan_of(const Spec& spec, Index vocabulary);

/// The first weights of the seed: entry n of a matrix comes from the seed and its name, whatever other matrices there are.
std::vector<float> first_weights(const Plan& plan);

}  // namespace attn::train

#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/sizes.h"

namespace attn {

/// A token of the vocabulary and how probable it is.
struct TokenShare {
    Index id = 0;
    double probability = 0.0;
};
/// softmax over the whole vocabulary in float64: p_i = exp(x_i − max x) / Σ exp(x_j − max x). Empty where a logit is NaN or
/// +inf, or none is finite.
std::vector<double> probabilities(std::span<const float> logits);
/// Σ p ln(p / q) in nats, at least 0; NaN where one of them is empty.
double divergence(std::span<const double> p, std::span<const double> q);
/// The most probable, best first; of equal ones the lower id. At most `count`.
std::vector<TokenShare> likeliest(std::span<const float> logits, std::size_t count);

/// x · y / (|x| |y|) in float64; nullopt where a length is 0 or something is not finite.
std::optional<double> cosine(std::span<const float> x, std::span<const float> y);

}  // namespace attn

#pragma once

#include <span>

#include "core/tensor.h"

namespace attn {

class Model;
class WeightMatrix;
struct ModelConfig;
struct ModelToken;

// Where tokens enter a model, and what it says in the end. x is [1, 1, T, width].

/// Rows of the embedding of the tokens from `first` on, with positions where they are added.
Tensor embedded(const Model& model, std::span<const ModelToken> tokens, Index first = 0);
/// What embedded() adds for each token, before the embedding's norm: the table's rows times the factor, the row of the token
/// type (empty: the model has none), the positions (empty: it adds none).
struct EmbeddedParts {
    Tensor token, type, position;
};
EmbeddedParts embedded_parts(const Model& model, std::span<const ModelToken> tokens);
/// The class token and a vector of each patch, with positions.
Tensor embedded_image(const Model& model, const Tensor& pixels);
/// A spectrogram, mel_spectrogram(), through both convolutions, with positions: GELU after each.
Tensor embedded_sound(const Model& model, const Tensor& spectrogram);

/// Whose row becomes the vector of a text or an image (ReadOut::projected).
Index read_row(const ModelConfig& config, std::span<const ModelToken> tokens);

/// x through the final norm, where there is one.
Tensor normalised_at_end(const Model& model, const Tensor& x);
/// The matrix whose rows are the tokens' directions: logits are factor · normalised x tableᵀ, then the soft cap.
const WeightMatrix& read_out_table(const Model& model);
/// ModelRun::read_out of what leaves the last block.
Tensor read_out_of(const Model& model, const Tensor& x);

}  // namespace attn

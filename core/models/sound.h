#pragma once

#include <string>
#include <vector>

#include "core/io/wav.h"
#include "core/models/tokenizer.h"
#include "core/result.h"
#include "core/tensor.h"

namespace attn {

struct SoundInput;

// The input of a model of sound: Radford et al. 2022, arXiv:2212.04356, §2.2, as WhisperFeatureExtractor of transformers 5.12
// computes it.

/// The spectrogram in mel of the sound's beginning, [1, 1, frames, mels]; silence follows a shorter one.
///   P[t, f] = |Σ_n w[n] x[160 t + n − 200] e^(−2πi f n / 400)|²,   w[n] = (1 − cos(2π n / 400)) / 2,   x reflected at its ends
///   y = log₁₀ max(10⁻¹⁰, Σ_f M[f, m] P[t, f]);   (max(y, max y − 8) + 4) / 4
/// M[·, m] is a triangle of area 1 between three neighbours of mels + 2 frequencies that are even in mel from 0 to 8,000 Hz;
/// mel(f) = 3 f / 200 below 1,000 Hz, 15 + 27 ln(f / 1,000) / ln 6.4 above (Slaney 1998). Sums in double.
/// An error names another rate than the model's.
Result<Tensor> mel_spectrogram(const Sound& sound, const SoundInput& input);

/// Of a time [1, 1, T, C]: the rows `stride` · t − 1 to + 1, channel by channel, [1, 1, T / stride, 3 C]; 0 outside.
Tensor neighbours_of(const Tensor& rows, Index stride);

/// When each of the encoder's tokens begins, in seconds: "0.00", "0.02", …
std::vector<ModelToken> sound_tokens(const SoundInput& input);

}  // namespace attn

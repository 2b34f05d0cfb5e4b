#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/result.h"
#include "core/spec_arrays.h"

namespace attn {

struct Dimensions;
struct Rope;

// RoPE of a call: queries and keys turn by Rope::tables where they are set, else by position times frequency. Then what makes tables.

/// The rows that turn: queries, whose row 0 is at the query offset, or keys, whose row 0 is at position 0.
enum class Rotated : std::uint8_t { queries, keys };

/// Queries [B,H,Tq,d_k] or keys [B,Hkv,Tk,d_k], each row turned: column pair (x, y) becomes (x cos − y sin, x sin + y cos).
/// `back` gives the derivative, the transposed turn (x cos + y sin, y cos − x sin); it undoes a turn where cos² + sin² = 1.
template <class Scalar>
TensorOf<Scalar> rotate(const Rope& rope, const TensorOf<Scalar>& rows, Rotated side,
                        Index query_offset, bool back = false);

/// Row t and column pair c of batch entry b.
struct RotaryPlace {
    Index b, t, c;
};
struct RotaryTurn {
    double cosine, sine;
};
/// The turn of one column pair of a row.
RotaryTurn rotary_turn(const Rope& rope, const Dimensions& size, Rotated side, RotaryPlace at);

/// The same RoPE for a call of batch entry b alone.
Rope rope_of_batch(Rope rope, Index b);

// ---- tables

/// Cosine and sine of each column pair of each row, [1 or B, 1, T, pairs].
struct RotaryTurns {
    Tensor cos, sin;
};
std::shared_ptr<const RotaryTables> make_rotary_tables(RotaryTurns queries, RotaryTurns keys);

/// Column pairs whose positions are on different axes. M-RoPE of Qwen2-VL: 16 pairs by time, then 24 by height, then 24 by width,
/// with frequencies that go on from section to section (Wang et al. 2024, arXiv:2409.12191). 2-D RoPE of vision encoders: half of
/// the pairs by each axis, with frequencies of its own, as if its pairs were all.
struct RotarySections {
    std::vector<Index> pairs;  // of each section, in order; empty: a token has one position
    bool own_frequencies = false;
    /// The sections take turns, t h w t h w … t t: pair c is of section s > 0 where c mod S = s and c < S · pairs[s], else of section 0
    /// (Qwen3-VL's interleaved M-RoPE).
    bool interleaved = false;
};
/// The turns at positions [1 or B, S, T, 1], S = 1 or the number of sections: pair c of a row turns by its section's position times
/// rope_frequency(). Positions are any finite numbers up to 2^40. An error names sections that do not have `dims`/2 pairs together.
Result<RotaryTurns> turns_at(const TensorD& positions, const Rope& rope, Index dims,
                             const RotarySections& sections = {});

/// Layers without RoPE whose queries grow with the logarithm of their position p: q (1 + scale · ln(1 + ⌊(p + 1) / floor⌋)), as
/// Llama 4's attn_temperature_tuning; Nakanishi 2025, arXiv:2501.19399.
struct LogTemperature {
    double floor = 8192.0, scale = 0.1;  // floor > 0
};
/// Tables that do so: cosines of that factor and sines of 0 for queries at positions [1 or B,1,Tq,1], at least −1; 1 and 0 for keys.
RotaryTables log_temperature_tables(const LogTemperature& temperature, const TensorD& positions,
                                    Index keys, Index dims);

/// Row p of a cache [1,1,P,pairs] for each position p of [1 or B,1,T,1]. An error names a position without a row.
Result<RotaryTurns> turns_of_cache(const RotaryTurns& cache, const TensorD& positions);

/// The columns of cos and sin: one for each pair, or one for each column that turns, so that both of a pair are equal. halves:
/// columns c and c + pairs, as Hugging Face's cat(freqs, freqs); neighbours: 2c and 2c + 1, as its repeat_interleave(freqs, 2).
enum class RotaryColumns : std::uint8_t { pairs, halves, neighbours };
/// Whether both columns of every pair are equal.
bool has_columns(const RotaryTurns& turns, RotaryColumns columns);
/// The same turns with one column for each pair.
RotaryTurns one_column_a_pair(const RotaryTurns& turns, RotaryColumns columns);
/// Of turns [1 or B, S, T, pairs], those of every position of each token: pair c of its own section.
RotaryTurns turns_of_sections(const RotaryTurns& turns, const RotarySections& sections);

}  // namespace attn

#pragma once

#include "core/kernels/into.h"
#include "core/matrix_view.h"
#include "core/rounding.h"

namespace attn {

// The SIMD part of a materialised trace: products of a block of rows, and the sweeps over one row of scores.
// W = panel_width() columns side by side are a "panel": two vectors.

Index panel_width();

/// Rows of a product are computed in tiles of at most this many: what it writes has room for a multiple of it.
constexpr Index kMostTileRows = 8;

/// How many panels hold `columns` columns, the last one filled up with zeros.
inline Index panel_count(Index columns) { return divide_up(columns, panel_width()); }

/// to[p][t][c] = from(t, p·W + c): the columns of `from` in panels of [from.rows, W].
void pack_columns(MatrixView<const float> from, float* to);
/// to[p][t][c] = from(p·W + c, t): its rows in panels of [from.columns, W].
void pack_rows(MatrixView<const float> from, float* to);

/// out(i, p·W + c) = Σ_t a(i, t) · panels[p][t][c], or += of it; a.rows at least 1, out.stride a multiple of W, out.data aligned and
/// with room for whole tiles. out.columns is not looked at.
void multiply_panels(MatrixView<const float> a, const float* panels, Index count,
                     MatrixView<float> out, Into into = Into::replace);

/// One row of scores on its way through the stages. A stage that is not kept is nullptr.
struct ScoreRow {
    float* values = nullptr;  // [n up to a whole vector], aligned; in: scores, out: masked
    Index n = 0;
    float factor = 1.0F;
    float cap = 0.0F;             // 0: none
    float slope = 0.0F;           // of ALiBi
    const float* bias = nullptr;  // [n up to a whole vector], −inf forbids as well; nullptr: none
    bool bias_first = false;      // it is added before the cap
    Index position = 0;           // of the query; of a far one, of the nearest key
    float far = 0.0F;             // what that adds to biased: slope times the distance left out
    Index begin = 0;              // keys before it and from `end` on are forbidden
    Index end = 0;
    const float* allow = nullptr;  // 0 forbids as well; [n up to a whole vector], or nullptr
    float* scores = nullptr;
    float* scaled = nullptr;
    float* biased = nullptr;
    float* masked = nullptr;
    bool past_cache = false;  // written around the caches: nobody reads the stages soon
};

/// What the next sweeps need to know of it.
struct ScoreRange {
    float max =
        0.0F;  // of masked; of no meaning where one is NaN, but then the sum of exponentials is NaN
    float lowest = 0.0F;  // of biased + far
};

/// scaled = scores · factor; biased = cap · tanh(scaled / cap) + bias − slope · |position − j| − far; masked = biased, −inf where
/// forbidden. `values` become masked + far.
ScoreRange scale_and_mask(const ScoreRow& row);

/// values[j] = exp(values[j] − max), [n]; returns their sum. 0 for values below max − 87.6; relative error <= 1.2e-7
/// above max − 87.3. NaN stays NaN.
float exponentials(float* values, Index n, float max);

/// values[j] *= factor, also into `weights` unless that is nullptr.
void normalise(float* values, Index n, float factor, float* weights, bool past_cache);

/// What was written around the caches is there for other threads to read.
void finish_writes();

}  // namespace attn

#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/run_control.h"
#include "core/sizes.h"

namespace attn {

struct NpyArray;

inline constexpr std::size_t kStatBins = 32;
inline constexpr Index kMostPreview = 128;  // rows and columns

/// What one look at all numbers of an array tells. Texts and empty arrays have none: `fault` says so.
struct ArrayStats {
    std::string fault;
    double count = 0, nans = 0, infs = 0, zeros = 0;
    std::vector<Index> first_nan, first_inf;  // index of the first; empty: there is none
    bool finite = false;  // low … deviation are of the finite numbers; false: there are none
    double low = 0.0, high = 0.0, mean = 0.0, deviation = 0.0;
    std::array<double, kStatBins> bins{};  // of the finite numbers, even from low to high

    // of the matrices of the last two axes
    double rows = 0, unit_rows = 0, least_sum = 0.0, most_sum = 0.0;
    bool nonnegative = false;
    bool lower = false;         // square, and 0 above every diagonal
    bool masked_above = false;  // square, and −inf or below −10⁴ above every diagonal

    /// The first matrix: of many rows or columns the number of largest size in each cell, NaN before all.
    Index preview_rows = 0, preview_columns = 0;
    std::vector<float> preview;
};

/// Mean over finite numbers in double; unit row: no number below 0 and |Σ − 1| ≤ 10⁻³. Stops when asked to.
ArrayStats measure_array(const NpyArray& array, const RunControl& control);

}  // namespace attn

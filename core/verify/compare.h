#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/forward.h"
#include "core/result.h"
#include "core/shape.h"
#include "core/tensor.h"

namespace attn::verify {

/// |actual − expected| ≤ absolute + relative · |expected|.
struct Tolerance {
    double absolute = 0.0;  // of `entries` the largest
    double relative = 0.0;
    /// Where set, the absolute part of each entry, in the shape of what is compared.
    std::shared_ptr<const TensorD> entries = nullptr;

    /// At most.
    double at(double expected) const { return absolute + relative * std::abs(expected); }
    double absolute_at(Index b, Index h, Index t, Index d) const {
        return entries ? (*entries)(b, h, t, d) : absolute;
    }
    double at(double expected, Index b, Index h, Index t, Index d) const {
        return absolute_at(b, h, t, d) + relative * std::abs(expected);
    }
    /// By entry where both are.
    Tolerance operator+(const Tolerance& other) const;
};

/// One number of a tensor [B,H,T,d] and what it should be.
struct Cell {
    Index b = 0;
    Index h = 0;
    Index t = 0;
    Index d = 0;
    double actual = 0.0;
    double expected = 0.0;
};

/// Cells where one side alone is NaN, or ±∞ meets anything but itself: no difference can be taken.
struct Mismatches {
    Index count = 0;
    Cell first;
};

/// How far some cells are off. NaN beside NaN is no error, nor is ∞ beside the same ∞.
struct Errors {
    Index count = 0;   // cells
    Index beyond = 0;  // beyond the tolerance, mismatches of NaN and ∞ among them
    double max = 0.0;  // over cells where both are finite, as all below
    double mean = 0.0;
    std::uint64_t ulp = 0;  // largest distance in float32 numbers, of the expected one rounded
    Cell
        worst;  // the first NaN on one side alone, else the first ∞, else that with the largest error
    Mismatches nan;
    Mismatches infinite;
    bool any() const { return max > 0.0 || nan.count + infinite.count > 0; }
    double rms = 0.0;  // a mismatch counts as the largest finite |expected|, at least 1
};

struct HeadErrors {
    Index b = 0;
    Index h = 0;
    Errors errors;
};
struct RowErrors {
    Index b = 0;
    Index h = 0;
    Index t = 0;
    Errors errors;
};

inline constexpr std::size_t kMostRows = 8;

struct Comparison {
    Shape shape;
    Tolerance tolerance;
    Errors all;
    double largest = 0.0;           // finite |expected|
    double relative = 0.0;          // all.max / largest; 0 where nothing is off
    std::vector<HeadErrors> heads;  // every one, in order
    std::vector<RowErrors> rows;    // at most kMostRows with cells beyond, the worst first
};

/// Of tensors of one shape; an error that names both shapes where they differ.
Result<Comparison> compare(const Tensor& actual, const TensorD& expected,
                           const Tolerance& tolerance);

/// The whole without its parts. The shapes must be the same.
Errors total_errors(const Tensor& actual, const TensorD& expected, const Tolerance& tolerance);

/// Whether total_errors() of `actual`, rounded to float32, has a cell beyond the tolerance.
bool any_beyond(const TensorD& actual, const TensorD& expected, const Tolerance& tolerance);

/// How many float32 numbers lie between two finite ones: 0 and −0 are one.
std::uint64_t ulp_distance(float a, float b);

}  // namespace attn::verify

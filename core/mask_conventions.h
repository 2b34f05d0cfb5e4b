#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/tensor.h"

namespace attn {

// The weights that other programs compute from the same scores and mask, in their arithmetic: float32 throughout.
// S scores of one head [Tq,Tk] before the mask, M masked scores, A weights; i query row, j key column.

/// How an array of 1 and 0 is read.
enum class MaskReading : std::uint8_t {
    keep,  // 1: may attend (here; scaled_dot_product_attention)
    hide,  // 1: forbidden (nn.MultiheadAttention, key_padding_mask)
    added,  // the numbers 1 and 0 are added to the scores: a float mask where a boolean one was meant
};
/// The number that replaces −∞ at a forbidden pair.
enum class MaskFill : std::uint8_t { minus_infinity, minus_1e9, minus_1e5, lowest, zero };
/// written: M = fill (masked_fill). added: M = S + fill, rounded to float32 (an additive mask).
enum class FillMode : std::uint8_t { written, added };
/// before: A = softmax(M). after: A = softmax(S), 0 at forbidden pairs. after_renormalised: that, divided by its row sum. never: A =
/// softmax(S), whatever the mask forbids.
enum class MaskMoment : std::uint8_t { before, after, after_renormalised, never };
/// A row whose every key is forbidden: as the arithmetic gives it, 0 everywhere, or 1/Tk everywhere.
enum class EmptyResult : std::uint8_t { computed, zero, uniform };

struct MaskConvention {
    MaskReading reading = MaskReading::keep;
    MaskFill fill = MaskFill::minus_infinity;
    FillMode mode = FillMode::written;
    MaskMoment moment = MaskMoment::before;
    EmptyResult empty = EmptyResult::computed;
};

/// The float32 number: −∞, −1e9, −1e5, −3.4028235e38 or 0.
float fill_value(MaskFill fill);

/// One head: S [Tq,Tk]; `mask` row-major, as long, 1 or 0; `sink` one more logit in each row's denominator.
struct ConventionInput {
    MatrixView<const float> scores;
    std::span<const std::uint8_t> mask;
    std::optional<float> sink;
};
struct ConventionResult {
    Tensor masked;            // M [1,1,Tq,Tk]; S where the mask comes after softmax
    Tensor weights;           // A [1,1,Tq,Tk]
    std::vector<float> max;   // of each row of M with the sink: m
    std::vector<float> sums;  // Σ_j exp(M[i,j] − m) with the sink's, left to right
};

/// Each row: m = max M, e = exp(M − m), A = e / Σ e; every operation is rounded to float32.
/// Edge: where all of M is −∞, −∞ − −∞ is NaN, and so is the row, unless `empty` sets another policy; it never does where
/// there is a sink. Renormalising a row whose sum is 0 is 0/0 = NaN. NaN and ∞ of the scores travel as they do in
/// these formulas: written over by a fill, not by an added one.
ConventionResult apply_convention(const MaskConvention& convention, const ConventionInput& input);

/// How far apart two conventions are in one row.
struct RowComparison {
    Index row = 0;
    bool differs = false;
    bool empty = false;                 // `mask` forbids every key
    Index key = 0;                      // where they differ most; the first such key
    std::array<double, 2> weight{};     // there
    double difference = 0.0;            // |a − b| there; ∞ where one of them alone is NaN
    std::array<double, 2> sum{};        // of the row
    std::array<double, 2> forbidden{};  // of its weights where `mask` forbids
    std::array<bool, 2> has_nan{};      // any NaN in the row
};
/// One a row. Two weights are the same when they differ by no more than rounding_of(Tk), or are both NaN.
std::vector<RowComparison> compare_rows(std::span<const std::uint8_t> mask, const Tensor& a,
                                        const Tensor& b);

/// The most that float32 softmaxes of one row may differ by: (Tk + 100) · 2⁻²³. A sum of Tk terms is off by up to Tk · 2⁻²⁴ of
/// itself; exp(x) by |x| · 2⁻²⁴ of itself, and at x < −100 it is smaller than that anyway.
double rounding_of(Index keys);

}  // namespace attn

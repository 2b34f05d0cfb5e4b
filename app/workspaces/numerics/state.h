#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <vector>

#include "app/common/names.h"
#include "app/common/slots.h"
#include "core/numerics.h"
#include "core/result.h"

namespace attn::view {

template <>
inline constexpr std::string_view kNamesOf<FloatFormat>[] = {"fp16", "bf16", "fp32", "fp64"};

template <>
inline constexpr std::string_view kNamesOf<SoftmaxAlgorithm>[] = {"naive", "stable", "log_sum_exp"};

/// Where the logits come from: typed by hand, or the row of the document that Step looks at.
enum class LogitRow : std::uint8_t { typed, document };

inline constexpr Index kMostNumericsKeys = 4096;

/// Six keys whose differences are small and whose size is not; every one of them times a power of two is a number of
/// every format.
inline std::vector<double> teaching_logits() { return {0.5, 3.0, 2.875, 2.0, 2.75, 1.5}; }

/// Bit by bit: NaN equals NaN.
inline bool same_numbers(const std::vector<double>& a, const std::vector<double>& b) {
    const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
    return std::ranges::equal(a, b, {}, bits, bits);
}

/// Settings of the Numerics workspace; undone with the document.
struct NumericsControls {
    LogitRow row = LogitRow::typed;
    std::vector<double> logits = teaching_logits();  // typed
    Index gain = 16;
    bool operator==(const NumericsControls& other) const {
        return row == other.row && gain == other.gain && same_numbers(logits, other.logits);
    }
};

/// Logits go to the typed row; the document's row must be there.
Result<void> prepare(const AppState& state, NumericsControls& next, std::string_view changed);
void describe(Visitor& visit, NumericsControls& controls);

/// The cell that the inspector explains.
struct NumericsLook {
    SoftmaxAlgorithm algorithm = SoftmaxAlgorithm::naive;
    FloatFormat format = FloatFormat::fp16;
    Index key = 1;
};
void describe(Visitor& visit, NumericsLook& look);

/// Errors over the gain, from a job.
struct NumericsCurves {
    std::shared_ptr<const NumericsSweep> sweep;  // null until the first one is ready
    std::vector<double> logits;                  // what it was computed for
    double elapsed_ms = 0.0;                     // 0: not told
};

inline constexpr Controls<NumericsControls> numerics_controls;
inline constexpr Look<NumericsLook> numerics_look;
inline constexpr Look<NumericsCurves> numerics_curves;

}  // namespace attn::view

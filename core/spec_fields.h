#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/spec.h"
#include "core/stage.h"

namespace attn {

// The table of the settings of an AttentionSpec. Options, saved files, comparisons and lists of differences are loops over it.

struct SpecField {
    std::string_view key;     // "window_left"
    std::string_view title;   // "window to the left"; "": a list of differences leaves it out
    std::string_view change;  // of a list of changed settings, "the mask"; "": not in the list
    std::string_view usual;   // the default in a list of differences: "none", "off", "1"
    /// The stage that it enters; nullopt: several do, as of the position of query 0.
    std::optional<Stage> stage;
    /// The value as text that reads back as the same value; "" at the default.
    std::string (*text)(const AttentionSpec& spec);
    std::optional<Index> MaskSpec::*count = nullptr;  // a mask rule that is one whole number
    Index least = 0;                                  // of `count`
    /// A number that has a range, where it is set; the range, and what validate() expects of it: "it must be ...".
    std::optional<double> (*number)(const AttentionSpec& spec) = nullptr;
    double low = 0.0, high = 0.0;  // both included
    std::string_view expected = {};
};

/// In the order of the stages, masks after positions. Heads and the mask's own array are not settings: tensors bring them.
std::span<const SpecField> spec_fields();

/// "temperature is 0: it must be a number from 1e-18 to 1e18": the first number out of its range; "": none.
std::string number_out_of_range(const AttentionSpec& spec);

/// So that a factor, a cap, their quotients and their products with log2 e are finite in float32, and none is 0.
inline constexpr double kLargestFactor = 1e18;

/// Whether both have the same value. Settings of dropout are the same where neither drops a weight.
bool same(const SpecField& field, const AttentionSpec& a, const AttentionSpec& b);
/// Whether all settings are the same that enter `stage`.
bool same_settings(Stage stage, const AttentionSpec& a, const AttentionSpec& b);

}  // namespace attn

#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "core/spec.h"

namespace attn {

// The table of the kinds of RopeScaling: options, checks, frequencies and texts are loops over it.

struct RopeScaleInfo {
    RopeScale kind;
    std::string_view key;      // "llama3"; "" of none
    std::size_t count;         // its numbers, the first ones of kRopeScaleNumbers
    std::string_view numbers;  // their names: "FACTOR,LOW,HIGH,ORIGINAL_LENGTH"
    std::string_view title;    // a format of its numbers: "YaRN, factor {}, from pair {} to {}"
    std::string_view effect;   // what becomes of ω, a format: ", over {} (linear scaling)"
    std::string_view
        help;  // after its key and numbers: " turns that share of the pairs"; "": it turns every pair slower
    bool (*valid)(const RopeScaling& scaling);
    std::string_view fault;  // of `low` and `high` that are not valid, a format
    /// ω of column pair c of `dims` columns, from ω without scaling.
    double (*frequency)(const RopeScaling& scaling, double omega, Index c, Index dims);
};
/// One row a RopeScale, in its order.
std::span<const RopeScaleInfo> rope_scale_table();
inline const RopeScaleInfo& info(RopeScale kind) {
    return rope_scale_table()[static_cast<std::size_t>(kind)];
}

inline constexpr double RopeScaling::*kRopeScaleNumbers[] = {
    &RopeScaling::factor, &RopeScaling::low, &RopeScaling::high, &RopeScaling::original_length};

}  // namespace attn

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace attn::view {

// The table of the axes that Q, K, V and dO have in a file. A row is the whole of a layout: its option, its help, its entry in
// Tensors, and how an array is read.

/// The order of the axes, which shapes alone do not give: the number of a row of head_axes_table(). The rows that other code
/// names come first; a later row needs no name here.
enum class HeadAxes : std::uint8_t { heads_first, tokens_first, joined, per_head };

/// Axes of one packed array of queries, keys and values.
struct PackedAxes {
    std::string_view letters;  // as place_letters() of app/files/axes.h reads them
    std::string_view title;    // "[T, 3, H, d]"
    bool needs_option = false;
};

struct HeadAxesInfo {
    std::string_view key;                     // "heads-first"
    std::string_view letters;                 // "bhtd", the axes as PyTorch's documents write them
    std::string_view title;                   // in Arrays
    std::string_view help;                    // after the key in the option's help
    std::span<const std::string_view> forms;  // letters of Q, K, V or dO alone; empty: packed only
    std::string_view expected;                // "[T, d], [H, T, d] or [B, H, T, d]"
    std::span<const PackedAxes> packed;
    std::string_view expected_packed;  // in an error; "": the packed axes without the option
};
std::span<const HeadAxesInfo> head_axes_table();
const HeadAxesInfo& info(HeadAxes axes);
/// By its key or its letters; nullopt: another text.
std::optional<HeadAxes> find_head_axes(std::string_view text);
/// The order of the axes of an array that is not packed: `axes`, or `own` where those are of packed arrays alone.
HeadAxes unpacked_axes(std::optional<HeadAxes> axes, HeadAxes own);
/// The help of the option.
std::string head_axes_help();

}  // namespace attn::view

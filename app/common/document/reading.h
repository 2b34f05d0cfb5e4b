#pragma once

#include <span>
#include <string_view>

namespace attn::view {

/// What an array of a file can be read as.
struct TensorRole {
    std::string_view key;   // "Q", "weights"; "-": not used
    std::string_view text;  // "queries"
};
std::span<const TensorRole> tensor_roles();

/// An option of an attention call that says what the arrays of a file are, wherever one is opened.
struct ReadingOption {
    std::string_view key;         // as FileOrigin::options has it
    std::string_view title = {};  // in Arrays; "": it has a control of its own there
    std::string_view tip = {};
    std::span<const std::string_view> values = {};  // empty: whatever is typed
    bool starts =
        true;  // the window and `render` take it too; --scale is the size of everything there
};
std::span<const ReadingOption> reading_options();

}  // namespace attn::view

#pragma once

#include <array>
#include <string_view>

namespace attn::cli {

// What --help and the man page both say of the program as a whole.

inline constexpr std::string_view kWhatItIs =
    "watch attention being computed, every stage, every number, every gradient";

struct ExitStatus {
    std::string_view code, text;
};
inline constexpr auto kExitStatuses = std::to_array<ExitStatus>({
    {"0", "done"},
    {"1", "failure: full disk, no OpenGL; of diff: not equal within tolerance"},
    {"2", "bad usage or input"},
    {"128 + N", "signal N ended the window"},
});

struct Example {
    std::string_view command, text;
};
inline constexpr auto kExamples = std::to_array<Example>({
    {"attnscope", "the window"},
    {"attnscope trace qkv.npz -o out.npz --causal --grad", "every stage and gradient"},
    {"attnscope trace x.npz -o out.npz --heads 8 --kv-heads 2 --keep weights,context",
     "two of the stages"},
    {"attnscope stages", "what the arrays of out.npz are"},
});

}  // namespace attn::cli

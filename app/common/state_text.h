#pragma once

#include <string_view>

namespace attn::view {

/// A state as a text that can be pasted begins so (app/window/state_text.h); where a file is named such a text may stand.
inline constexpr std::string_view kStateText = "attnscope:";

inline bool is_state_text(std::string_view path) { return path.starts_with(kStateText); }

/// What a message calls it.
inline constexpr std::string_view kStateTextWords = "the state that was pasted";

}  // namespace attn::view

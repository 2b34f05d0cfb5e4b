#pragma once

#include <string_view>

namespace attn::view {

/// The beginning of a state as text to paste (app/window/state_text.h); it is accepted in place of a file name.
inline constexpr std::string_view kStateText = "attnscope:";

inline bool is_state_text(std::string_view path) { return path.starts_with(kStateText); }

/// Its name in messages.
inline constexpr std::string_view kStateTextName = "the state that was pasted";

}  // namespace attn::view

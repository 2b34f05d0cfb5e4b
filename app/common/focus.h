#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace attn::view {

/// What is being typed in place of a slider's or a number field's value.
struct Typing {
    std::uint32_t control = 0;  // the ui's number of that control
    std::string text;
    bool selected = true;  // all of it at the start; false: its first letter was typed already
    bool operator==(const Typing&) const = default;
};

/// Which control has the keyboard. Of the moment: in no journal and no session.
struct Focus {
    std::uint32_t control = 0;  // 0: none
    std::optional<Typing> typing;
    int row = 0;  // the current one of the open list
};

}  // namespace attn::view

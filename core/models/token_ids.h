#pragma once

#include <string_view>

namespace attn {

/// Before the numbers of tokens that stand in place of a text, whatever tokenizer there is: "token-ids: 15496 995".
inline constexpr std::string_view kTokenIds = "token-ids:";

}  // namespace attn

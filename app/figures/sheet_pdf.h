#pragma once

#include <string>
#include <string_view>

#include "app/common/exercise/exercise.h"

namespace attn::figures {

enum class Paper : std::uint8_t { a4, letter };
inline constexpr std::string_view kPaperNames[] = {"a4", "letter"};

/// The sheet as the bytes of a PDF, with blanks to fill in by hand; `solutions`: with the answers in the blanks and the steps
/// beneath them. The same sheet gives the same bytes.
Result<std::string> sheet_pdf(const view::Exercise& exercise, Paper paper, bool solutions);

}  // namespace attn::figures

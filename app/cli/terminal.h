#pragma once

namespace attn::cli {

/// From now on what is written to std::cerr, and to std::cout where that is a terminal, is printable() (core/text.h): names and
/// paths come from files, and a terminal obeys the escape sequences in them. For main(), before anything is written.
void write_printable();

}  // namespace attn::cli

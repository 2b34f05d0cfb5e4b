#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace attn::files {

// "-" where a file is expected is standard input or output. A file of that name is "./-".

inline bool is_standard(std::string_view path) { return path == "-"; }

/// How a file to be read is named in sentences: "standard input", or the path itself.
std::string shown_input(std::string_view path);

/// The first bytes of standard input, by which its format is known; more of it is not waited for.
Result<std::string> standard_beginning();
/// All bytes of standard input. It can be read only once: every call gives the same bytes. An error where it does not end
/// within what its header promises, or a text or this machine holds.
const Result<std::string>& standard_input();

/// A text file as read_text_file() reads it, or standard input.
Result<std::string> read_text(const std::string& path);

}  // namespace attn::files

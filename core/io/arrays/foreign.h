#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace attn {

/// What a file of another program is, why it is not read and the Python that saves its arrays so that they are; "": it is
/// none that is known. By its first bytes, at most kFormatBytes of them, else by the extension of `path`. `what` names it in
/// the sentence.
std::string foreign_text(std::string_view what, const std::filesystem::path& path,
                         std::string_view bytes);
/// The same of a regular file that can be read; "" of any other.
std::string foreign_file(const std::filesystem::path& path);
/// The first kFormatBytes of a file, or all that it has.
std::string first_bytes(const std::filesystem::path& path);

/// The Python that widens floats of 8 bits of a .safetensors file, each by its scale.
std::string widening_code(const std::string& file);

/// A text as a literal of Python.
std::string python_text(std::string_view text);

}  // namespace attn

#pragma once

#include <optional>
#include <string>

namespace attn::fonts {

/// Ascent and descent over the em, from the tables head and hhea of a TrueType or OpenType file, or of
/// the index-th font of a collection. nullopt when it is none, or cannot be read.
std::optional<float> line_per_em(const std::string& path, int index);

}  // namespace attn::fonts

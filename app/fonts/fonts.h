#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/common/painter.h"

namespace attn::fonts {

// Which fonts of this machine set the faces of the window and of figures: one list for both.

enum class Cut : std::uint8_t { regular, bold, italic };
struct Family {
    std::string_view name;  // as fontconfig and CSS know it
    Cut cut = Cut::regular;
};

/// The families of a face, the best first: each lends the glyphs that those before it have not. The last
/// one is DejaVu's, which has them all.
std::span<const Family> families(view::Face face);

struct File {
    std::string path;
    int index = 0;             // in a collection
    float line_per_em = 1.0F;  // ascent and descent, as the file says
};

/// nullopt when this machine does not have the family in that cut. Asked once for each family; from any
/// thread, as everything here.
std::optional<File> find(const Family& family);

/// What the file holds, to the end of the program, read once; "" when it cannot be read.
std::string_view contents(const File& file);

/// A program that carries its fonts has a configuration next to them that also reads the system's: fontconfig takes it, unless
/// FONTCONFIG_FILE names another. Before any other use of fontconfig, and before there is a second thread.
void use_packed();

/// Finds and reads what all faces need: on another thread while something else is waited for.
void preload();

/// Ascent and descent over the em, from the tables head and hhea of a TrueType or OpenType file, or of
/// the index-th font of a collection. nullopt when it is none, or cannot be read.
std::optional<float> line_per_em(const std::string& path, int index);

}  // namespace attn::fonts

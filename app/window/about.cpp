#include "app/window/about.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "attn_libraries.h"
#include "attn_version.h"

namespace attn::view {
namespace {

std::string compiler_text() {
#if defined(__clang__)
    return fmt::format("Clang {}.{}", __clang_major__, __clang_minor__);
#else
    return fmt::format("GCC {}.{}", __GNUC__, __GNUC_MINOR__);
#endif
}

/// A row names one font or several: "DejaVu Sans, DejaVu Sans Mono".
bool has_family(std::string_view names, std::string_view family) {
    while (!names.empty()) {
        const std::size_t comma = std::min(names.find(", "), names.size());
        if (names.substr(0, comma) == family) return true;
        names.remove_prefix(std::min(comma + 2, names.size()));
    }
    return false;
}

}  // namespace

AboutView build_about_view(std::span<const std::string> families) {
    AboutView about;
    about.version = "attnscope " ATTN_VERSION;
    about.what =
        "Shows how attention is computed: every stage, the arithmetic of every number, every "
        "gradient.";
    about.licence = fmt::format("{}. Built by {} as C++20.", kProgramLicence, compiler_text());
    for (const LibraryRow& row : kLibraryRows)
        about.libraries.push_back({row.name, row.version, row.licence, row.purpose});
    for (const FontRow& row : kFontRows) {
        const bool there = std::ranges::any_of(
            families, [&](const std::string& family) { return has_family(row.names, family); });
        about.fonts.push_back(
            {row.names, there ? "in use" : "not installed", row.licence, row.purpose});
    }
    return about;
}

}  // namespace attn::view

#include "app/fonts/fonts.h"

namespace attn::fonts {
namespace {

constexpr Family kSans[] = {{"Inter"}, {"DejaVu Sans"}};
constexpr Family kBold[] = {{"Inter", Cut::bold}, {"DejaVu Sans", Cut::bold}, {"DejaVu Sans"}};
constexpr Family kMono[] = {{"JetBrains Mono"}, {"DejaVu Sans Mono"}, {"DejaVu Sans"}};
constexpr Family kItalic[] = {{"STIXGeneral", Cut::italic}, {"STIXGeneral"}, {"DejaVu Sans"}};
constexpr Family kRoman[] = {{"STIXGeneral"}, {"DejaVu Sans"}};

}  // namespace

std::span<const Family> families(view::Face face) {
    static constexpr std::span<const Family> kFaces[] = {kSans, kBold, kMono, kItalic, kRoman};
    return kFaces[static_cast<std::size_t>(face)];  // in order of the enum
}

}  // namespace attn::fonts

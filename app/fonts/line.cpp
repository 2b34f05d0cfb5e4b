#include "app/fonts/fonts.h"

#include <array>
#include <fstream>

namespace attn::fonts {
namespace {

// Numbers stand with their highest byte first.
// https://learn.microsoft.com/typography/opentype/spec/otff
class Reader {
  public:
    explicit Reader(const std::string& path) : file_(path, std::ios::binary) {}

    std::uint32_t number(std::uint64_t at, int bytes) {
        std::array<char, 4> raw{};
        file_.seekg(static_cast<std::streamoff>(at));
        file_.read(raw.data(), bytes);
        std::uint32_t value = 0;
        for (int n = 0; n < bytes; ++n) value = value << 8U | static_cast<unsigned char>(raw[n]);
        return value;
    }
    float signed_number(std::uint64_t at) {
        return static_cast<float>(static_cast<std::int16_t>(number(at, 2)));
    }
    bool good() const { return file_.good(); }

  private:
    std::ifstream file_;
};

constexpr std::uint32_t tag(std::string_view name) {
    std::uint32_t value = 0;
    for (const char c : name) value = value << 8U | static_cast<unsigned char>(c);
    return value;
}

/// Where a table begins; 0: there is none.
std::uint32_t table(Reader& file, std::uint32_t font, std::string_view name) {
    const std::uint32_t count = file.number(font + 4U, 2);
    for (std::uint32_t n = 0; n < count && file.good(); ++n) {
        const std::uint64_t row = font + 12U + std::uint64_t{16} * n;
        if (file.number(row, 4) == tag(name)) return file.number(row + 8U, 4);
    }
    return 0;
}

}  // namespace

std::optional<float> line_per_em(const std::string& path, int index) {
    Reader file(path);
    const bool collection = file.number(0, 4) == tag("ttcf");
    const auto place = std::uint64_t{12} + std::uint64_t{4} * static_cast<std::uint64_t>(index);
    const std::uint32_t font = collection ? file.number(place, 4) : 0;
    const std::uint32_t head = table(file, font, "head");
    const std::uint32_t hhea = table(file, font, "hhea");
    if (head == 0 || hhea == 0) return std::nullopt;
    const auto em = static_cast<float>(file.number(head + 18U, 2));
    const float line = file.signed_number(hhea + 4U) - file.signed_number(hhea + 6U);
    if (!file.good() || em <= 0.0F || line <= 0.0F) return std::nullopt;
    return line / em;
}

}  // namespace attn::fonts

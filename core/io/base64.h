#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace attn {

/// RFC 4648, with padding.
inline std::string base64(std::string_view bytes) {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t n = 0; n < bytes.size(); n += 3) {
        std::uint32_t three = 0;
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - n);
        for (std::size_t b = 0; b < count; ++b)
            three |= std::uint32_t{static_cast<unsigned char>(bytes[n + b])} << (16U - 8U * b);
        for (std::size_t d = 0; d < 4; ++d)
            out += d <= count ? kDigits[three >> (18U - 6U * d) & 0x3FU] : '=';
    }
    return out;
}

}  // namespace attn

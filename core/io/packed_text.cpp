#include "core/io/packed_text.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <cstdint>
#include <memory>

#include "core/stop.h"
#include "core/text.h"

namespace attn {
namespace {

constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::size_t kHead = 5;  // the form and the CRC-32
constexpr int kNoHeader = -MAX_WBITS;
constexpr std::string_view kDamaged =
    "a character was changed or left out, or the end is missing: copy all of it";

std::uint32_t crc_of(std::string_view bytes) {
    return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()),
                                                static_cast<z_size_t>(bytes.size())));
}

// ---- letters

std::string to_letters(std::string_view bytes) {
    std::string letters;
    std::uint32_t bits = 0;
    int held = 0;
    for (const char byte : bytes) {
        bits = (bits << 8U) | static_cast<unsigned char>(byte);
        for (held += 8; held >= 6; held -= 6)
            letters += kLetters[(bits >> static_cast<unsigned>(held - 6)) & 63U];
    }
    if (held > 0) letters += kLetters[(bits << static_cast<unsigned>(6 - held)) & 63U];
    return letters;
}

Result<std::string> from_letters(std::string_view letters) {
    std::string bytes;
    std::uint32_t bits = 0;
    int held = 0;
    for (std::size_t n = 0; n < letters.size(); ++n) {
        if (std::string_view(" \t\r\n").find(letters[n]) != std::string_view::npos) continue;
        const std::size_t value = kLetters.find(letters[n]);
        if (value == std::string_view::npos)
            return bad_input(fmt::format(
                "“{}” is not one of its characters: A-Z, a-z, 0-9, - and _",
                shortened(letters.substr(n, first_code_point(letters.substr(n)).bytes))));
        bits = (bits << 6U) | static_cast<std::uint32_t>(value);
        held += 6;
        if (held < 8) continue;
        held -= 8;
        bytes += static_cast<char>((bits >> static_cast<unsigned>(held)) & 255U);
    }
    const std::uint32_t left = bits & ((1U << static_cast<unsigned>(held)) - 1U);
    if (held >= 6 || left != 0) return bad_input(std::string(kDamaged));
    return bytes;
}

// ---- deflate

struct Ends {
    int (*end)(z_stream*);
    void operator()(z_stream* stream) const { end(stream); }
};
using Stream = std::unique_ptr<z_stream, Ends>;

void give(z_stream& stream, std::string_view bytes) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
}

/// "" where there is no memory for it.
std::string deflated(std::string_view text, std::string_view usual) {
    z_stream state{};
    constexpr int kMostMemory = 9;
    if (deflateInit2(&state, Z_BEST_COMPRESSION, Z_DEFLATED, kNoHeader, kMostMemory,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return {};
    const Stream stream(&state, {deflateEnd});
    if (deflateSetDictionary(&state,
                             reinterpret_cast<const Bytef*>(usual.empty() ? "" : usual.data()),
                             static_cast<uInt>(usual.size())) != Z_OK)
        return {};
    std::string bytes(deflateBound(&state, static_cast<uLong>(text.size())), '\0');
    give(state, text);
    state.next_out = reinterpret_cast<Bytef*>(bytes.data());
    state.avail_out = static_cast<uInt>(bytes.size());
    if (deflate(&state, Z_FINISH) != Z_STREAM_END) return {};
    bytes.resize(state.total_out);
    return bytes;
}

Result<std::string> inflated(std::string_view bytes, std::size_t most, std::string_view usual) {
    z_stream state{};
    if (inflateInit2(&state, kNoHeader) != Z_OK) return failed("there is not enough memory");
    const Stream stream(&state, {inflateEnd});
    if (inflateSetDictionary(&state,
                             reinterpret_cast<const Bytef*>(usual.empty() ? "" : usual.data()),
                             static_cast<uInt>(usual.size())) != Z_OK)
        return failed("there is not enough memory");
    std::array<char, 1 << 14> part;
    std::string text;
    give(state, bytes);
    for (int step = Z_OK; step != Z_STREAM_END;) {
        state.next_out = reinterpret_cast<Bytef*>(part.data());
        state.avail_out = static_cast<uInt>(part.size());
        end_if_stopped();
        step = inflate(&state, Z_NO_FLUSH);
        const std::size_t made = part.size() - state.avail_out;
        const bool stuck = step == Z_OK && made == 0 && state.avail_in == 0;
        if ((step != Z_OK && step != Z_STREAM_END) || stuck)
            return bad_input(std::string(kDamaged));
        if (text.size() + made > most)
            return bad_input(fmt::format("it holds more than {} bytes", most));
        text.append(part.data(), made);
    }
    if (state.avail_in > 0) return bad_input(std::string(kDamaged));
    return text;
}

}  // namespace

std::string packed_text(std::string_view text, std::string_view usual) {
    const std::string shorter = deflated(text, usual);
    const bool deflates = !shorter.empty() && shorter.size() < text.size();
    std::string bytes(1, deflates ? '\1' : '\0');
    for (const unsigned shift : {24U, 16U, 8U, 0U})
        bytes += static_cast<char>((crc_of(text) >> shift) & 255U);
    return to_letters(bytes.append(deflates ? std::string_view(shorter) : text));
}

Result<std::string> unpacked_text(std::string_view packed, std::size_t most,
                                  std::string_view usual) {
    if (packed.size() > 2 * most)
        return bad_input(fmt::format("it has {}, more than {} bytes can need",
                                     counted(packed.size(), "letter"), most));
    const Result<std::string> bytes = from_letters(packed);
    if (!bytes) return bytes;
    const auto form = bytes->empty() ? 2U : static_cast<unsigned>((*bytes)[0]);
    if (bytes->size() < kHead || form > 1) return bad_input(std::string(kDamaged));
    const std::string_view body = std::string_view(*bytes).substr(kHead);
    Result<std::string> text = form == 1 ? inflated(body, most, usual) : std::string(body);
    if (!text) return text;
    std::uint32_t crc = 0;
    for (std::size_t n = 1; n < kHead; ++n)
        crc = (crc << 8U) | static_cast<unsigned char>((*bytes)[n]);
    if (crc != crc_of(*text)) return bad_input(std::string(kDamaged));
    return text;
}

}  // namespace attn

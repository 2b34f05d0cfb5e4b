#include "core/io/wav.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "core/io/file.h"
#include "core/text.h"

namespace attn {
namespace {

/// Little-endian, from so many bytes; 0 beyond the end.
std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t count) {
    std::uint64_t value = 0;
    for (std::size_t n = 0; n < count && at + n < bytes.size(); ++n)
        value |= std::uint64_t{static_cast<unsigned char>(bytes[at + n])} << (8 * n);
    return value;
}

constexpr std::uint64_t kUntilEnd = 0xFFFFFFFF;

struct Coding {
    std::uint64_t kind = 0;  // 1: integers, 3: floats
    std::size_t channels = 0, bits = 0;
    Index rate = 0;
    bool known() const {
        return (kind == 1 && (bits == 8 || bits == 16 || bits == 24 || bits == 32)) ||
               (kind == 3 && (bits == 32 || bits == 64));
    }
};

Coding coding_of(std::string_view chunk) {
    constexpr std::uint64_t kExtensible = 0xFFFE;  // its kind stands in the chunk's second part
    Coding coding{number_at(chunk, 0, 2), static_cast<std::size_t>(number_at(chunk, 2, 2)),
                  static_cast<std::size_t>(number_at(chunk, 14, 2)),
                  static_cast<Index>(number_at(chunk, 4, 4))};
    if (coding.kind == kExtensible) coding.kind = number_at(chunk, 24, 2);
    return coding;
}

double sample_at(std::string_view bytes, std::size_t at, const Coding& coding) {
    const std::uint64_t value = number_at(bytes, at, coding.bits / 8);
    if (coding.kind == 3)
        return coding.bits == 64 ? std::bit_cast<double>(value)
                                 : std::bit_cast<float>(static_cast<std::uint32_t>(value));
    if (coding.bits == 8) return (static_cast<double>(value) - 128.0) / 128.0;
    const unsigned empty = 64 - static_cast<unsigned>(coding.bits);
    const auto whole = static_cast<std::int64_t>(value << empty) >> empty;
    return std::ldexp(static_cast<double>(whole), 1 - static_cast<int>(coding.bits));
}

}  // namespace

Result<Sound> parse_wav(std::string_view bytes, std::string_view where) {
    if (!bytes.starts_with("RIFF") || bytes.substr(0, 12).substr(8) != "WAVE")
        return bad_input(fmt::format(
            "{} is not a WAV file: it does not begin with RIFF and WAVE; ffmpeg makes one: "
            "ffmpeg -i SOUND -ar 16000 -ac 1 sound.wav",
            where));
    std::optional<Coding> coding;
    std::optional<std::string_view> data;
    for (std::size_t at = 12; at + 8 <= bytes.size() && !data;) {
        const std::string_view name = bytes.substr(at, 4);
        const std::string_view chunk = bytes.substr(at + 8);
        std::uint64_t size = number_at(bytes, at + 4, 4);
        if (size == kUntilEnd) size = chunk.size();
        if (name == "fmt " && size >= 16) coding = coding_of(chunk.substr(0, size));
        if (name == "data" && size > chunk.size())
            return bad_input(fmt::format("{} has {} bytes of samples; expected {}: it is cut short",
                                         where, chunk.size(), size));
        if (name == "data") data = chunk.substr(0, size);
        at += 8 + static_cast<std::size_t>(size + size % 2);
    }
    if (!coding || !data)
        return bad_input(fmt::format("{} has no chunk '{}'; expected a whole WAV file", where,
                                     coding ? "data" : "fmt "));
    if (!coding->known())
        return bad_input(fmt::format(
            "{} has samples of coding {} and {} bits; expected integers (1) of 8, 16, 24 or 32 "
            "bits, or floats (3) of 32 or 64",
            where, coding->kind, coding->bits));
    if (coding->channels == 0 || coding->rate == 0)
        return bad_input(
            fmt::format("{} has {} channels and {} samples a second; expected at least 1 of each",
                        where, coding->channels, coding->rate));
    const std::size_t of_one = coding->bits / 8;
    const std::size_t count = data->size() / (of_one * coding->channels);
    Sound sound{coding->rate, {}};
    sound.samples.reserve(count);
    for (std::size_t n = 0; n < count; ++n) {
        double sum = 0.0;
        for (std::size_t channel = 0; channel < coding->channels; ++channel)
            sum += sample_at(*data, (n * coding->channels + channel) * of_one, *coding);
        const double sample = sum / static_cast<double>(coding->channels);
        if (!std::isfinite(sample))
            return bad_input(
                fmt::format("{}: sample {} is {}; expected a finite number", where, n, sample));
        sound.samples.push_back(static_cast<float>(sample));
    }
    return sound;
}

Result<Sound> read_wav(const std::filesystem::path& file) {
    const auto bytes = read_text_file(file);
    if (!bytes) return tl::unexpected(bytes.error());
    return parse_wav(*bytes, file.string());
}

}  // namespace attn

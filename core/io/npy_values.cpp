#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/io/npy.h"

namespace attn {
namespace {

/// IEEE 754 binary16 to float; exact.
float from_half(std::uint16_t half) {
    const int exponent = (half >> 10) & 0x1F;
    const int fraction = half & 0x3FF;
    float magnitude = 0.0f;
    if (exponent == 31)
        magnitude = fraction == 0 ? INFINITY : NAN;
    else if (exponent == 0)
        magnitude = std::ldexp(static_cast<float>(fraction), -24);
    else
        magnitude = std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
    return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

template <class Raw>
Raw load(const char* from, bool swapped) {
    std::array<char, sizeof(Raw)> bytes;
    std::memcpy(bytes.data(), from, sizeof(Raw));
    if (swapped) std::reverse(bytes.begin(), bytes.end());
    return std::bit_cast<Raw>(bytes);
}

// Every item of a file, each one through `convert`.
template <class To, class Raw, class Convert>
std::vector<To> load_all(std::string_view data, bool swapped, Convert convert) {
    std::vector<To> values(data.size() / sizeof(Raw));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = convert(load<Raw>(data.data() + i * sizeof(Raw), swapped));
    return values;
}

template <class To, class Raw>
std::vector<To> load_all(std::string_view data, bool swapped) {
    return load_all<To, Raw>(data, swapped, [](Raw raw) { return static_cast<To>(raw); });
}

std::vector<float> load_floats(const NpyType& type, std::string_view data) {
    if (type.bytes == 2) return load_all<float, std::uint16_t>(data, type.swapped, from_half);
    return load_all<float, float>(data, type.swapped);
}

std::vector<double> load_signed(const NpyType& type, std::string_view data) {
    if (type.bytes == 1) return load_all<double, std::int8_t>(data, type.swapped);
    if (type.bytes == 2) return load_all<double, std::int16_t>(data, type.swapped);
    if (type.bytes == 4) return load_all<double, std::int32_t>(data, type.swapped);
    return load_all<double, std::int64_t>(data, type.swapped);
}

std::vector<double> load_unsigned(const NpyType& type, std::string_view data) {
    if (type.bytes == 2) return load_all<double, std::uint16_t>(data, type.swapped);
    if (type.bytes == 4) return load_all<double, std::uint32_t>(data, type.swapped);
    return load_all<double, std::uint64_t>(data, type.swapped);
}

void append_utf8(std::string& text, std::uint32_t c) {
    const auto tail = [&](int shift) {
        text.push_back(static_cast<char>(0x80 | ((c >> shift) & 0x3F)));
    };
    if (c < 0x80) {
        text.push_back(static_cast<char>(c));
    } else if (c < 0x800) {
        text.push_back(static_cast<char>(0xC0 | (c >> 6)));
        tail(0);
    } else if (c < 0x10000) {
        text.push_back(static_cast<char>(0xE0 | (c >> 12)));
        tail(6);
        tail(0);
    } else {
        text.push_back(static_cast<char>(0xF0 | (c >> 18)));
        tail(12);
        tail(6);
        tail(0);
    }
}

/// Bytes of the UTF-8 character that `text` starts with; 0 when it starts with none.
std::size_t character_bytes(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const std::size_t size = byte(0) < 0x80   ? 1
                             : byte(0) < 0xC2 ? 0
                             : byte(0) < 0xE0 ? 2
                             : byte(0) < 0xF0 ? 3
                             : byte(0) < 0xF5 ? 4
                                              : 0;
    if (size > text.size()) return 0;
    for (std::size_t i = 1; i < size; ++i)
        if (byte(i) >> 6 != 2) return 0;
    const bool overlong =
        (byte(0) == 0xE0 && byte(1) < 0xA0) || (byte(0) == 0xF0 && byte(1) < 0x90);
    const bool beyond = (byte(0) == 0xED && byte(1) > 0x9F) || (byte(0) == 0xF4 && byte(1) > 0x8F);
    return overlong || beyond ? 0 : size;
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t size = character_bytes(text);
        if (size == 0) return false;
        text.remove_prefix(size);
    }
    return true;
}

Result<std::string> load_text(const NpyType& type, std::string_view data, std::string_view what) {
    std::string text;
    if (type.kind == 'S') {
        if (!is_utf8(data))
            return bad_input(fmt::format("{} holds bytes that are not UTF-8", what));
        text = data;
    } else {
        for (const std::uint32_t c : load_all<std::uint32_t, std::uint32_t>(data, type.swapped)) {
            if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
                return bad_input(fmt::format("{} holds U+{:X}, which is not a character", what, c));
            append_utf8(text, c);
        }
    }
    text.erase(text.find_last_not_of('\0') + 1);  // numpy pads with zeros
    return text;
}

Result<void> check_texts(const NpyHeader& header, std::string_view what) {
    if (header.extents.size() > 1)
        return bad_input(
            fmt::format("{} is text of shape {}; expected a text scalar or one axis of texts", what,
                        to_string(header.extents)));
    if (header.items > kMaxTexts)
        return bad_input(
            fmt::format("{} holds {} texts; expected at most {}", what, header.items, kMaxTexts));
    return {};
}

Result<std::vector<std::string>> load_texts(const NpyHeader& header, std::string_view data,
                                            std::string_view what) {
    std::vector<std::string> texts(header.items);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        auto text =
            load_text(header.type, data.substr(i * header.type.bytes, header.type.bytes), what);
        if (!text) return tl::unexpected(std::move(text.error()));
        texts[i] = *std::move(text);
    }
    return texts;
}

/// Into `array`: a text of its own for a scalar, else a list.
Result<void> load_text_values(const NpyHeader& header, std::string_view data, std::string_view what,
                              NpyArray& array) {
    if (auto fine = check_texts(header, what); !fine) return fine;
    auto texts = load_texts(header, data, what);
    if (!texts) return tl::unexpected(std::move(texts.error()));
    if (header.extents.empty())
        array.values = std::move(texts->front());
    else
        array.values = *std::move(texts);
    return {};
}

// Column-major to row-major: walks the row-major order and keeps the offset in the other.
template <class T>
std::vector<T> to_c_order(const std::vector<T>& from, const std::vector<Index>& extents) {
    std::vector<Index> at(extents.size(), 0);
    std::vector<std::size_t> strides(extents.size(), 1);
    for (std::size_t axis = 1; axis < extents.size(); ++axis)
        strides[axis] = strides[axis - 1] * static_cast<std::size_t>(extents[axis - 1]);
    std::vector<T> to;
    to.reserve(from.size());
    std::size_t offset = 0;
    while (to.size() < from.size()) {
        to.push_back(from[offset]);
        for (std::size_t axis = extents.size(); axis-- > 0;) {
            offset += strides[axis];
            if (++at[axis] < extents[axis]) break;
            offset -= strides[axis] * static_cast<std::size_t>(extents[axis]);
            at[axis] = 0;
        }
    }
    return to;
}

std::string to_c_order(const std::string& text, const std::vector<Index>&) { return text; }

Result<NpyArray> load_values(const NpyHeader& header, std::string_view data,
                             std::string_view what) {
    const NpyType& type = header.type;
    NpyArray array{type.name, header.extents, {}};
    if (type.kind == 'U' || type.kind == 'S') {
        if (auto loaded = load_text_values(header, data, what, array); !loaded)
            return tl::unexpected(std::move(loaded.error()));
    } else if (type.kind == 'f' && type.bytes == 8) {
        array.values = load_all<double, double>(data, type.swapped);
    } else if (type.kind == 'f') {
        array.values = load_floats(type, data);
    } else if (type.kind == 'b') {
        array.values = load_all<std::uint8_t, std::uint8_t>(
            data, false, [](std::uint8_t raw) { return static_cast<std::uint8_t>(raw != 0); });
    } else if (type.kind == 'u' && type.bytes == 1) {
        array.values = load_all<std::uint8_t, std::uint8_t>(data, false);
    } else {
        array.values = type.kind == 'i' ? load_signed(type, data) : load_unsigned(type, data);
    }
    return array;
}

}  // namespace

Result<NpyArray> parse_npy(std::string_view bytes, std::string_view what) {
    const Result<NpyHeader> header = parse_npy_header(bytes, what);
    if (!header) return tl::unexpected(header.error());
    if (header->total_bytes != bytes.size())
        return bad_input(fmt::format("{} has {} bytes, but its header of {} {} promises {}", what,
                                     bytes.size(), header->type.name, to_string(header->extents),
                                     header->total_bytes));
    Result<NpyArray> array = load_values(*header, bytes.substr(header->data_offset), what);
    if (array && header->fortran_order)
        std::visit([&](auto& values) { values = to_c_order(values, array->extents); },
                   array->values);
    return array;
}

}  // namespace attn

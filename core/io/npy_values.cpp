#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "core/halves.h"
#include "core/io/array_memory.h"
#include "core/io/npy.h"
#include "core/shape.h"
#include "core/stop.h"
#include "core/text.h"

namespace attn {
namespace {

template <class Raw>
Raw load(const char* from, bool swapped) {
    std::array<char, sizeof(Raw)> bytes;
    std::memcpy(bytes.data(), from, sizeof(Raw));
    if (swapped) std::reverse(bytes.begin(), bytes.end());
    return std::bit_cast<Raw>(bytes);
}

/// Every item of `data`, each one through `convert`, to `to` and on.
template <class Raw, class To, class Convert>
void decode(std::string_view data, bool swapped, To* to, Convert convert) {
    constexpr std::size_t kPiece = std::size_t{1} << 20;  // bytes between two checks
    for (std::size_t first = 0; first < data.size(); first += kPiece) {
        end_if_stopped();
        for (std::size_t at = first; at < std::min(first + kPiece, data.size()); at += sizeof(Raw))
            *to++ = convert(load<Raw>(data.data() + at, swapped));
    }
}

template <class Raw, class To>
void decode(std::string_view data, bool swapped, To* to) {
    decode<Raw>(data, swapped, to, [](Raw raw) { return static_cast<To>(raw); });
}

void decode(const NpyType& type, std::string_view data, std::uint8_t* to) {
    const bool truth = type.kind == 'b';
    decode<std::uint8_t>(data, false, to, [truth](std::uint8_t raw) {
        return truth ? static_cast<std::uint8_t>(raw != 0) : raw;
    });
}

void decode(const NpyType& type, std::string_view data, float* to) {
    if (type.kind == 'f' && type.bytes == 2)
        decode<std::uint16_t>(data, type.swapped, to, from_half);
    else if (type.kind == 'B')
        decode<std::uint16_t>(data, type.swapped, to, from_bfloat16);
    else if (type.kind == 'f')
        decode<float>(data, type.swapped, to);
    else if (type.kind == 'u')
        decode<std::uint16_t>(data, type.swapped, to);
    else if (type.bytes == 2)
        decode<std::int16_t>(data, type.swapped, to);
    else
        decode<std::int8_t>(data, type.swapped, to);
}

void decode(const NpyType& type, std::string_view data, double* to) {
    if (type.kind == 'f')
        decode<double>(data, type.swapped, to);
    else if (type.kind == 'i' && type.bytes == 4)
        decode<std::int32_t>(data, type.swapped, to);
    else if (type.kind == 'i')
        decode<std::int64_t>(data, type.swapped, to);
    else if (type.bytes == 4)
        decode<std::uint32_t>(data, type.swapped, to);
    else
        decode<std::uint64_t>(data, type.swapped, to);
}

Result<std::string> load_text(const NpyType& type, std::string_view data, std::string_view what) {
    std::string text;
    if (type.kind == 'S') {
        if (valid_utf8(data) != data)
            return bad_input(fmt::format("{} holds bytes that are not UTF-8", what));
        text = data;
    } else {
        std::vector<std::uint32_t> points(data.size() / sizeof(std::uint32_t));
        decode<std::uint32_t>(data, type.swapped, points.data());
        for (const std::uint32_t c : points) {
            if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
                return bad_input(fmt::format("{} holds U+{:X}, which is not a character", what, c));
            append_code_point(text, c);
        }
    }
    text.erase(text.find_last_not_of('\0') + 1);  // numpy pads with zeros
    return text;
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

/// A text of its own for a scalar, else a list.
Result<NpyArray> load_text_array(const NpyHeader& header, std::string_view data,
                                 std::string_view what) {
    if (auto valid = check_text_memory(what, header, 0.0); !valid)
        return tl::unexpected(valid.error());
    auto texts = load_texts(header, data, what);
    if (!texts) return tl::unexpected(std::move(texts.error()));
    NpyArray array{header.type.name, header.extents, {}};
    if (header.extents.empty())
        array.values = std::move(texts->front());
    else
        array.values = *std::move(texts);
    return array;
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

/// Of bool and uint8 uint8; of float16, bfloat16, float32 and integers of up to 16 bits, which it holds exactly, float; else double.
NpyArray empty_array(const NpyHeader& header) {
    const NpyType& type = header.type;
    NpyArray array{type.name, header.extents, {}};
    const std::size_t bytes = bytes_of_value(type);
    if (bytes == 1)
        array.values = std::vector<std::uint8_t>(header.items);
    else if (bytes == sizeof(float))
        array.values = std::vector<float>(header.items);
    else
        array.values = std::vector<double>(header.items);
    return array;
}

}  // namespace

bool is_text(const NpyType& type) { return type.kind == 'U' || type.kind == 'S'; }

std::size_t bytes_of_value(const NpyType& type) {
    if (type.kind == 'b' || (type.kind == 'u' && type.bytes == 1)) return 1;
    const std::uint64_t exact_in_float = type.kind == 'f' ? 4 : 2;
    return type.bytes <= exact_in_float ? sizeof(float) : sizeof(double);
}

NpyNumbers::NpyNumbers(const NpyHeader& header) : header_(header), array_(empty_array(header)) {}

void NpyNumbers::add(std::string_view bytes) {
    const std::size_t item = header_.type.bytes;
    while (!rest_.empty() && !bytes.empty()) {
        const std::size_t missing = std::min(item - rest_.size(), bytes.size());
        rest_ += bytes.substr(0, missing);
        bytes.remove_prefix(missing);
        if (rest_.size() < item) return;
        add_whole(std::exchange(rest_, {}));
    }
    const std::size_t whole = bytes.size() / item * item;
    add_whole(bytes.substr(0, whole));
    rest_ = bytes.substr(whole);
}

void NpyNumbers::add_whole(std::string_view bytes) {
    const auto into = [&](auto& values) {
        if constexpr (requires { decode(header_.type, bytes, values.data()); })
            decode(header_.type, bytes, values.data() + done_);
    };
    std::visit(into, array_.values);
    done_ += bytes.size() / header_.type.bytes;
}

NpyArray NpyNumbers::finish() {
    const auto order = [&](auto& values) {
        if constexpr (requires { decode(header_.type, {}, values.data()); })
            values = to_c_order(values, array_.extents);
    };
    if (header_.fortran_order) std::visit(order, array_.values);
    return std::move(array_);
}

Result<NpyArray> parse_npy(std::string_view bytes, std::string_view what) {
    const Result<NpyHeader> header = parse_npy_header(bytes, what);
    if (!header) return tl::unexpected(header.error());
    if (header->type.kind == 'O')
        return bad_input(fmt::format("{} has values of Python; expected numbers or text", what));
    if (header->total_bytes != bytes.size())
        return bad_input(fmt::format("{} has {}, but its header of {} {} promises {}", what,
                                     counted(bytes.size(), "byte"), header->type.name,
                                     to_string(header->extents), header->total_bytes));
    const std::string_view data = bytes.substr(header->data_offset);
    if (is_text(header->type)) return load_text_array(*header, data, what);
    NpyNumbers numbers(*header);
    numbers.add(data);
    return numbers.finish();
}

std::string npy_of_texts(std::span<const std::string> texts) {
    std::vector<std::u32string> points(texts.size());
    std::size_t longest = 1;
    for (std::size_t n = 0; n < texts.size(); ++n) {
        for (std::string_view rest = texts[n]; !rest.empty();) {
            const CodePoint c = first_code_point(rest);
            points[n].push_back(c.value);
            rest.remove_prefix(c.bytes);
        }
        longest = std::max(longest, points[n].size());
    }
    const Index extent = std::ssize(texts);
    std::string file = npy_header(std::span(&extent, 1), fmt::format("<U{}", longest));
    for (std::u32string& text : points) {
        text.resize(longest, U'\0');
        for (const char32_t c : text)
            for (int shift = 0; shift < 32; shift += 8)
                file += static_cast<char>(c >> shift & 0xFF);
    }
    return file;
}

}  // namespace attn

#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>

// Files of arrays, byte by byte.

/// "\x00\x3c\x01": the bytes of a list of numbers, little-endian.
template <class Number>
std::string little(std::initializer_list<Number> numbers) {
    std::string bytes;
    for (const Number number : numbers) {
        char raw[sizeof(Number)];
        std::memcpy(raw, &number, sizeof raw);
        bytes.append(raw, sizeof raw);
    }
    return bytes;
}

/// The length of the header, the header, the data.
inline std::string safetensors(std::string_view header, std::string_view data = {}) {
    return little<std::uint64_t>({header.size()}) + std::string(header) + std::string(data);
}

/// A .npy of version 1.
inline std::string npy(std::string literal, std::string_view data) {
    literal.resize(118 - 1, ' ');
    literal += '\n';
    return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + literal + std::string(data);
}

inline void write_bytes(const std::filesystem::path& path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

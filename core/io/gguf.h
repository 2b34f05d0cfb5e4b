#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/io/arrays/array_file.h"
#include "core/result.h"

namespace attn {

// For whoever includes this: link attn::json too. GGUF, versions 2 and 3, of llama.cpp: "GGUF", the version, the counts of
// arrays and keys, the keys with their values, names and sizes of the arrays, their numbers. Little-endian.
// Source: github.com/ggml-org/ggml, docs/gguf.md.

/// How numbers are stored: a row of the table of gguf_types.cpp.
struct GgufType {
    std::uint32_t id = 0;
    std::string_view name = {};
    BlockCode code = {};  // each number rounded once; items 0: not read here
};
/// nullptr: an unknown type.
const GgufType* gguf_type(std::uint32_t id);
/// "F32, F16, Q4_0, …": the types that are read.
std::string gguf_types_text();

struct GgufTensor {
    std::string name;
    std::uint32_t type = 0;
    std::vector<Index> extents;  // slowest axis first
    std::uint64_t items = 0;
    std::uint64_t begin = 0;  // byte of the file
    std::uint64_t bytes = 0;  // 0 of a type that is not read here
};

struct GgufHeader {
    nlohmann::json values =
        nlohmann::json::object();     // by key: numbers, flags, texts, and lists of them
    std::vector<GgufTensor> tensors;  // as they lie in the file
};

/// Every count, length and offset is checked against the bytes before anything is allocated; arrays lie apart from each other.
/// A list in a list, a key that is there twice and more than these are refused. A float32 that stands alone is the shortest
/// decimal that rounds to it, as config.json had it.
Result<GgufHeader> parse_gguf_header(std::string_view bytes, std::string_view what);
inline constexpr std::uint64_t kMostGgufKeys = std::uint64_t{1} << 16;    // and as many arrays
inline constexpr std::uint64_t kMostGgufValues = std::uint64_t{1} << 21;  // of all lists together
inline constexpr std::uint64_t kMostGgufText = std::uint64_t{1}
                                               << 26;  // bytes, of all texts together

/// A file and the numbers of its arrays, under its own names; those of blocks in float32, 16-bit floats as they are. What is of
/// another type is refused by name when it is read.
struct GgufArrays {
    GgufHeader header;
    Arrays arrays;
};
/// Memory-mapped.
Result<GgufArrays> open_gguf(const std::filesystem::path& path);
/// The bytes must outlive it.
Result<GgufArrays> parse_gguf(std::string_view bytes, std::string_view what);

}  // namespace attn

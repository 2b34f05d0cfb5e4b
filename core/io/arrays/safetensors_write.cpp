#include "core/io/arrays/safetensors_write.h"

#include <bit>

#include <nlohmann/json.hpp>

#include "core/io/file.h"
#include "core/to_half.h"

namespace attn {
namespace {

void append_number(std::string& bytes, std::uint64_t number, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xFF);
}

}  // namespace

Result<void> write_safetensors(const std::filesystem::path& path,
                               std::span<const NamedMatrix> matrices,
                               std::span<const std::pair<std::string, std::string>> texts,
                               StoredFloat type) {
    const bool half = type == StoredFloat::float16;
    const std::size_t size = half ? sizeof(std::uint16_t) : sizeof(float);
    nlohmann::ordered_json header;
    for (const auto& [key, text] : texts) header["__metadata__"][key] = text;
    std::size_t at = 0;
    for (const NamedMatrix& matrix : matrices) {
        const std::size_t bytes = matrix.values.size() * size;
        nlohmann::ordered_json shape = {matrix.rows, matrix.columns};
        if (matrix.is_vector) shape = {matrix.columns};
        header[matrix.name] = {{"dtype", half ? "F16" : "F32"},
                               {"shape", std::move(shape)},
                               {"data_offsets", {at, at + bytes}}};
        at += bytes;
    }
    std::string json = header.dump();
    json.append((8 - json.size() % 8) % 8, ' ');  // numbers begin on a multiple of 8
    std::string bytes;
    bytes.reserve(8 + json.size() + at);
    append_number(bytes, json.size(), 8);
    bytes += json;
    for (const NamedMatrix& matrix : matrices)
        for (const float value : matrix.values)
            append_number(bytes, half ? to_half(value) : std::bit_cast<std::uint32_t>(value), size);
    return write_file_atomically(path, bytes);
}

}  // namespace attn

#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/sizes.h"

namespace attn {

/// One matrix to be written, row-major.
struct NamedMatrix {
    std::string name;
    Index rows = 0;
    Index columns = 0;
    std::span<const float> values;  // [rows · columns]
    bool is_vector = false;         // of one row, which the file has as [columns]
};

/// In which type a file has its numbers; float16 rounds them (core/to_half.h).
enum class StoredFloat : std::uint8_t { float32, float16 };

/// A .safetensors file with so many arrays [rows, columns] in their order and texts in its `__metadata__`, in place of what
/// was there, whole or not at all. Names differ.
Result<void> write_safetensors(const std::filesystem::path& path,
                               std::span<const NamedMatrix> matrices,
                               std::span<const std::pair<std::string, std::string>> texts,
                               StoredFloat type = StoredFloat::float32);

}  // namespace attn

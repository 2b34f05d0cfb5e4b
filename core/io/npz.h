#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/npy.h"

namespace attn {

/// What numpy.savez wrote: .npy files in a zip.
struct Npz {
    std::map<std::string, NpyArray> arrays;  // by name, without ".npy"
    std::vector<std::string> names;          // of everything in the file, read or not
};

/// An array of more bytes than this is refused.
inline constexpr std::uint64_t kMaxArrayBytes = std::uint64_t{1} << 34;

/// Reads the arrays named in `wanted` (all when it is empty) and only lists the others: a name that
/// is not in the file is no error. Refuses what is not a zip, encrypted or damaged entries (CRC), an
/// entry whose size is not what its shape makes, and arrays beyond kMaxArrayBytes, before it
/// allocates. Stored and deflated entries of any zip64 size are read.
Result<Npz> read_npz(const std::filesystem::path& path,
                     std::span<const std::string_view> wanted = {});
/// The same from memory; `what` names the bytes in errors.
Result<Npz> parse_npz(std::string_view bytes, std::string_view what);

/// One float32 array to write; the values stay with the caller.
struct NpzEntry {
    std::string name;  // without ".npy"
    std::vector<Index> extents;
    std::span<const float> values;
};

/// Stored, not compressed; no time stamps, so equal arrays make equal bytes. Atomic as
/// write_file_atomically is. numpy.load reads it.
Result<void> write_npz(const std::filesystem::path& path, std::span<const NpzEntry> entries);

}  // namespace attn

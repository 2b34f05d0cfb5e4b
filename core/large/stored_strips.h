#pragma once

#include <filesystem>

#include "core/large/cell.h"
#include "core/result.h"

namespace attn::large {

class Pyramid;
struct PooledRows;
struct WeightSource;

// The exact pass of a map in files, which another program computed: a strip of rows each, beside the Q and K that made
// it. A map reads what is there in place of computing it.

/// Where the strips of this matrix stand in `folder`: a name made of every bit of Q and K and of what makes weights of them,
/// so that another matrix never reads them.
std::filesystem::path strips_folder(const std::filesystem::path& folder,
                                    const WeightSource& source);
/// That folder where it exists, else "". Reads Q and K only where `folder` has strips of some matrix.
std::filesystem::path find_strips(const std::filesystem::path& folder, const WeightSource& source);

std::filesystem::path strip_file(const std::filesystem::path& strips, Head head, Index strip);

/// A file appears whole or not at all.
Result<void> write_strip(const std::filesystem::path& file, const PooledRows& pooled);
/// False where the file is not there, is damaged, or has other rows or blocks than `pyramid`'s strip.
bool read_strip(const std::filesystem::path& file, const Pyramid& pyramid, Index strip,
                const WeightSource& source, PooledRows& out);

}  // namespace attn::large

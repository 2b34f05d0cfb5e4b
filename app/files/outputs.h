#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace attn::files {

/// A file, and what a person named it by: {"--journal", "j.jsonl"}. An empty path: none was given.
struct NamedFile {
    std::string_view name;
    std::string path;
};

/// The files behind an input: itself, the shards of a model, the files of a folder.
std::vector<NamedFile> files_of(const NamedFile& input);

/// Refuses an output that is an input or another output, under whatever name, through symbolic and hard links,
/// and as standard input or output too: what is written there first would be lost. Devices and pipes are no
/// such files. Nothing is touched.
Result<void> check_outputs(std::span<const NamedFile> inputs, std::span<const NamedFile> outputs);

/// Refuses a path whose extension is none of these (".npz"). "-", and devices and pipes, may have any.
Result<void> check_extension(const NamedFile& output, std::span<const std::string_view> known);
Result<void> check_extension(const NamedFile& output, std::string_view known);

}  // namespace attn::files

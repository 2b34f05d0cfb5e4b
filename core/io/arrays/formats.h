#pragma once

#include "core/io/arrays/array_file.h"

namespace attn {

// One format a file; array_formats() has them as a table.

/// numpy.savez: a zip of .npy arrays. Sizes and CRC as NpzFile checks them.
Result<Arrays> open_npz(const std::filesystem::path& path);
Result<Arrays> parse_npz_file(std::string_view bytes, std::string_view what);

/// numpy.save: one array, by the name of its file. Memory-mapped.
Result<Arrays> open_npy(const std::filesystem::path& path);
Result<Arrays> parse_npy_file(std::string_view bytes, std::string_view what);

/// A u64 with the length of a JSON header, the header {"NAME": {"dtype", "shape", "data_offsets"}}, the numbers in row-major
/// order, little-endian. Memory-mapped. Every number of the header is checked against the file: offsets inside, apart from
/// each other, and as long as shape and dtype make them. Gaps and bytes at the end are let pass. A dtype that is not known
/// matters when that array is read. text(): of `__metadata__`.
Result<Arrays> open_safetensors(const std::filesystem::path& path);
Result<Arrays> parse_safetensors(std::string_view bytes, std::string_view what);
/// A longer header is refused; 2,000 arrays need about 256 KiB.
inline constexpr std::uint64_t kMaxSafetensorsHeader = std::uint64_t{1} << 22;

/// torch.save: tensors of a dict, a list or a module's state by their path, "layers.0.q". Views keep their strides; a pickle is
/// read as data (pickle.h) and nothing in it is run. text and numbers of Python are arrays too; None is left out.
Result<Arrays> open_torch(const std::filesystem::path& path);
Result<Arrays> parse_torch(std::string_view bytes, std::string_view what);

/// A pickle, or a .npy of Python's objects, with arrays of numpy in dicts and lists.
Result<Arrays> open_pickle(const std::filesystem::path& path);
Result<Arrays> parse_pickled(std::string_view bytes, std::string_view what);

/// The initialisers of an ONNX model by name. Numbers in another file are read from the model's folder alone.
Result<Arrays> open_onnx(const std::filesystem::path& path);
Result<Arrays> parse_onnx(std::string_view bytes, std::string_view what);

/// {"weight_map": {"NAME": "FILE.safetensors"}}: a model in several files of one folder.
Result<Arrays> open_shards(const std::filesystem::path& index);
/// The files that an index names, each once, in order. An error where they are not files of weights in its folder.
Result<std::vector<std::string>> shards_of(const std::filesystem::path& index);

/// Every file of the folder whose format is in_folders, by name; hidden files and folders inside are not looked at.
/// Names that several files have get the file's before them: "l0.Q" is Q of l0.npz, or "l0.npz.Q" if there is l0.npy.
/// text("tokens"): of the files, of tokens.json, or the lines of tokens.txt as JSON.
Result<Arrays> open_folder(const std::filesystem::path& folder);
/// Those files.
Result<std::vector<std::filesystem::path>> arrays_in(const std::filesystem::path& folder);
/// A folder of more files is refused.
inline constexpr std::size_t kMostFiles = 4096;

}  // namespace attn

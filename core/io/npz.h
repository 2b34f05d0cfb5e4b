#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/halves.h"
#include "core/io/npy.h"
#include "core/io/zip_file.h"

namespace attn {

/// What numpy.savez wrote: .npy files in a zip.
struct Npz {
    std::map<std::string, NpyArray> arrays;  // by name, without ".npy"
    std::vector<std::string> names;          // of everything in the file, read or not
};

/// An array of more bytes than this is refused.
inline constexpr std::uint64_t kMaxArrayBytes = std::uint64_t{1} << 34;

/// A file whose arrays are read one at a time. Refuses what is not a zip, and a name that is there twice.
class NpzFile {
  public:
    static Result<NpzFile> open(const std::filesystem::path& path);
    /// From memory, which must outlive it; `what` names the bytes in errors.
    static Result<NpzFile> open(std::string_view bytes, std::string_view what);

    /// Of everything in the file, in its order, without ".npy".
    const std::vector<std::string>& names() const { return names_; }
    bool contains(std::string_view name) const;
    /// Of one of names(), without its numbers.
    Result<NpyHeader> header(std::string_view name) const;
    /// One of names(), beside `held` bytes of what was read before. Refuses an encrypted or damaged entry (CRC), one whose size is not what its shape
    /// makes, and more than kMaxArrayBytes, before it allocates. Stored and deflated entries of any
    /// zip64 size are read.
    Result<NpyArray> read(std::string_view name, double held = 0.0) const;
    /// The whole .npy of an array of Python's objects, a header and a pickle; nullopt: it has numbers or texts.
    Result<std::optional<std::string>> objects(std::string_view name) const;

  private:
    explicit NpzFile(ZipFile zip) : zip_(std::move(zip)) {}
    Result<std::size_t> find(std::string_view name, const std::string& what) const;
    static Result<NpzFile> list(Result<ZipFile> zip);

    ZipFile zip_;
    std::vector<std::string> names_;
};

/// Reads the arrays named in `wanted` (all when it is empty) and only lists the others: a name that
/// is not in the file is no error. Refuses what NpzFile refuses.
Result<Npz> read_npz(const std::filesystem::path& path,
                     std::span<const std::string_view> wanted = {});
/// The same from memory; `what` names the bytes in errors.
Result<Npz> parse_npz(std::string_view bytes, std::string_view what);

/// One array to write: float32, float64, bool, or a list of texts. The values stay with the caller.
struct NpzEntry {
    std::string name;  // without ".npy"
    std::vector<Index> extents;
    std::span<const float> values;
    std::vector<std::string> texts = {};         // in place of the values where there are any
    std::span<const std::uint8_t> flags = {};    // the same: 0 and 1, written as bool
    std::span<const double> doubles = {};        // the same, written as float64
    std::span<const std::uint16_t> halves = {};  // the same, of 16 bits, written as float32
    HalfFormat format = HalfFormat::float16;     // of those
    std::span<const std::uint8_t> bytes = {};    // the same, written as uint8
};

/// Numbers of 16 bits are widened a piece at a time. Stored, not compressed; no time stamps, so equal arrays make equal bytes. Atomic as
/// replace_file() is, without waiting for the disk. numpy.load reads it.
Result<void> write_npz(const std::filesystem::path& path, std::span<const NpzEntry> entries);
/// The bytes of that file, for where no file can be; `what` names their target in errors.
Result<std::string> npz_bytes(std::span<const NpzEntry> entries, std::string_view what);

}  // namespace attn

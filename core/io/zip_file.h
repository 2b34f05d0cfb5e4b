#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace attn {

/// One entry of a zip while it is read, from its beginning on. `what` names it in errors.
class ZipEntry {
  public:
    ZipEntry(ZipEntry&&) noexcept;
    ZipEntry& operator=(ZipEntry&&) noexcept;
    ~ZipEntry();

    /// Its bytes when unpacked, as the zip declares them.
    std::uint64_t size() const { return size_; }
    /// Up to `size` bytes; less only at the end of the entry.
    Result<std::string> next(std::uint64_t size);
    /// The bytes that are left, in pieces, at most `size` of them and then the end, where the CRC is checked.
    Result<void> rest(std::uint64_t size, const std::function<void(std::string_view)>& take);
    /// Leaves `size` bytes out. A stored entry is not read for it.
    Result<void> skip(std::uint64_t size);

  private:
    friend class ZipFile;
    struct Open;
    ZipEntry(std::unique_ptr<Open> open, std::uint64_t size, std::string what);

    std::unique_ptr<Open> open_;
    std::uint64_t size_;
    std::string what_;
};

/// A zip whose entries are read one at a time, stored or deflated, of any zip64 size. Refuses other bytes, and an entry that
/// is encrypted or damaged.
class ZipFile {
  public:
    /// `as`: the format that the zip is read as, in errors: ".npz (a zip of .npy arrays)".
    static Result<ZipFile> open(const std::filesystem::path& path, std::string_view as);
    /// From memory, which must outlive it; `what` names the bytes in errors.
    static Result<ZipFile> open(std::string_view bytes, std::string_view what, std::string_view as);
    ZipFile(ZipFile&&) noexcept;
    ZipFile& operator=(ZipFile&&) noexcept;
    ~ZipFile();

    const std::string& what() const { return what_; }
    /// Of its entries, in the order of the file.
    const std::vector<std::string>& names() const { return names_; }
    /// The entry names()[index]; `what` names it in errors.
    Result<ZipEntry> entry(std::size_t index, const std::string& what) const;

  private:
    struct Zip;
    static Result<ZipFile> list(Result<std::unique_ptr<Zip>> zip, std::string_view what);
    ZipFile(std::unique_ptr<Zip> zip, std::string what);

    std::unique_ptr<Zip> zip_;
    std::string what_;
    std::vector<std::string> names_;
};

}  // namespace attn

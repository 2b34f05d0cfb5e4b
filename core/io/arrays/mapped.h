#pragma once

#include <filesystem>
#include <string_view>

#include "core/result.h"

namespace attn {

/// An error unless there is such a file and it may be read.
Result<void> check_readable(const std::filesystem::path& path);

/// The bytes of a regular file, which come from the disk when they are looked at.
class MappedFile {
  public:
    static Result<MappedFile> open(const std::filesystem::path& path);
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&& other) noexcept;
    ~MappedFile();

    std::string_view bytes() const { return {data_, size_}; }
    /// Before bytes() are looked at: an error once the file was cut shorter, for what is gone would end the program.
    Result<void> check_whole() const;
    /// These bytes of it were read: they need not stay in memory, and come from the file when they are looked at again.
    void let_go(std::string_view part) const;

  private:
    MappedFile(std::filesystem::path path, const char* data, std::size_t size)
        : path_(std::move(path)), data_(data), size_(size) {}

    std::filesystem::path path_;
    const char* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace attn

#pragma once

#include <filesystem>
#include <string_view>
#include <utility>

#include "core/result.h"

namespace attn {

/// What the lines of a file are, so that no other file is written over.
struct LineKind {
    std::string_view text;                  // "a journal"
    bool (*is_one)(std::string_view line);  // of the first line
};
extern const LineKind kJournalLines;
extern const LineKind kFrameLogLines;

/// A file that grows line by line. Each line is in it, whole, when write() returns: one write to a descriptor that
/// appends. While it is open no other process can open it as one.
class LineFile {
  public:
    /// For writing, locked; what is in it stays until begin(). "-": standard output. Refuses a file that another process
    /// writes to, and one that holds something else than `kind`. A file that was not there is gone again unless it begins.
    static Result<LineFile> open(const std::filesystem::path& path, const LineKind& kind);
    LineFile(LineFile&& other) noexcept { *this = std::move(other); }
    LineFile& operator=(LineFile&& other) noexcept;
    ~LineFile();

    /// Empties the file.
    Result<void> begin();
    Result<void> write(std::string_view line);

  private:
    LineFile() = default;
    Result<void> check_content(const LineKind& kind) const;

    std::filesystem::path path_;
    int fd_ = -1;
    bool is_new_ = false;
};

}  // namespace attn

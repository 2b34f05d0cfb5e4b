#pragma once

#include <filesystem>
#include <optional>
#include <utility>

namespace attn {

/// A file that another program writes again and again, whole each time.
class FollowedFile {
  public:
    explicit FollowedFile(std::filesystem::path path) : path_(std::move(path)), seen_(written()) {}

    /// Whether it was written since it was asked last. One that is gone was not.
    bool was_written() {
        const auto now = written();
        return now && now != std::exchange(seen_, now);
    }

  private:
    std::optional<std::filesystem::file_time_type> written() const {
        std::error_code fault;
        const auto time = std::filesystem::last_write_time(path_, fault);
        return fault ? std::nullopt : std::optional(time);
    }

    std::filesystem::path path_;
    std::optional<std::filesystem::file_time_type> seen_;
};

}  // namespace attn

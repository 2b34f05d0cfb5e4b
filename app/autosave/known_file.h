#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace attn::autosave {

/// The file that a window read or wrote last, to tell whether another program changed it since.
class KnownFile {
  public:
    /// The window knows what the file holds now. A file that is known already stays as it was known, unless it was `written`.
    void know(const std::string& path, bool written = false);
    /// Whether it holds what the window knows.
    bool holds_what_is_known(const std::string& path) const;

  private:
    struct State {
        std::filesystem::file_time_type changed;
        std::uintmax_t bytes = 0;
        bool operator==(const State&) const = default;
    };
    static std::optional<State> state_of(const std::string& path);

    std::string path_;
    std::optional<State> state_;  // nullopt: there is no file
};

}  // namespace attn::autosave

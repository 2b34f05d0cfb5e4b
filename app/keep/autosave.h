#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/view/state.h"
#include "core/result.h"

namespace attn::keep {

/// The work of a running program as a session file that outlives it, however it is ended. The file has a lock that the system
/// takes back with the process: a file without one was left by a program that did not end by itself.
class Autosave {
  public:
    /// In `folder`, which is made. `wake` is called from its thread when it has something to say.
    static Result<Autosave> open(const std::filesystem::path& folder, std::function<void()> wake);
    Autosave(Autosave&&) noexcept;
    Autosave& operator=(Autosave&&) noexcept;
    /// What was handed over is written first; see end().
    ~Autosave();

    /// The work as it is now. Written by a thread of its own, whole or not at all; of several the last one counts. "": there is
    /// nothing to keep, and no file.
    void save(std::string session);
    /// The last one that was handed over is on the disk.
    bool has_written() const;
    /// Once after the first failure: what happened. Later ones are not repeated.
    std::optional<std::string> take_failure();
    /// The program ends by itself: the file goes with it.
    void end();

  private:
    struct Parts;
    explicit Autosave(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

/// What programs that were ended left in `folder`, the newest first. Locked for this process, so that no other offers them too.
class Leftovers {
  public:
    explicit Leftovers(const std::filesystem::path& folder);
    Leftovers(const Leftovers&) = delete;
    Leftovers& operator=(const Leftovers&) = delete;
    ~Leftovers();

    /// The first one; nullopt: none is left.
    std::optional<view::Recovery> first() const;
    /// It was answered: forgotten, and its file removed unless it `stays`.
    void drop_first(bool stays);

  private:
    struct File {
        std::filesystem::path path;
        int lock = -1;
    };
    std::vector<File> files_;
};

}  // namespace attn::keep

#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/common/state.h"
#include "core/result.h"

namespace attn::autosave {

/// A session of a program that was ended. Its lock is held, so that no other program takes it too; closed with it.
class Leftover {
  public:
    Leftover(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}
    Leftover(Leftover&& other) noexcept { *this = std::move(other); }
    Leftover& operator=(Leftover&& other) noexcept;
    ~Leftover();
    const std::filesystem::path& path() const { return path_; }
    /// The file and its lock, gone for good.
    void remove();

  private:
    std::filesystem::path path_;
    int lock_ = -1;
};

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
    /// Goes on in the file of a program that was ended: what is handed over from now on replaces it, and it is never there twice.
    void adopt(Leftover left);
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

    /// The first one; nullopt: none is left.
    std::optional<view::Recovery> first() const;
    /// It was answered: it is no longer among them. There is one.
    Leftover take_first();

  private:
    std::vector<Leftover> files_;
};

}  // namespace attn::autosave

#include "app/keep/autosave.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/io/file.h"

namespace attn::keep {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStart = "unsaved-";

/// A descriptor that holds the lock of `session`; −1: another process has it, or it cannot be had.
int take_lock(const fs::path& session) {
    const fs::path lock = session.string() + ".lock";
    const int file = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0 && ::flock(file, LOCK_EX | LOCK_NB) == 0) return file;
    if (file >= 0) ::close(file);
    return -1;
}

/// The lock last: nobody takes a session for one that was left while it is removed.
void remove_with_lock(const fs::path& session, int lock) {
    std::error_code ignored;
    fs::remove(session, ignored);
    fs::remove(session.string() + ".lock", ignored);
    if (lock >= 0) ::close(lock);
}

/// What a person knows it by: when, and what was open.
std::string leftover_words(const fs::path& path) {
    std::string title = "a session";
    if (const auto text = read_text_file(path)) {
        const auto json = nlohmann::json::parse(*text, nullptr, false);
        const nlohmann::json::json_pointer at("/document/title");
        if (json.is_object() && json.contains(at) && json[at].is_string())
            title = json[at].get<std::string>();
    }
    struct ::stat status {};
    if (::stat(path.c_str(), &status) != 0) return title;
    return fmt::format("{}, {:%Y-%m-%d %H:%M}", title, fmt::localtime(status.st_mtime));
}

}  // namespace

struct Autosave::Parts {
    fs::path path;
    int lock = -1;
    std::function<void()> wake;

    std::mutex mutex;
    std::condition_variable_any changed;
    std::optional<std::string> next;
    bool busy = false;
    bool ends = false;  // the file goes
    bool failed = false;
    std::optional<std::string> failure;
    std::jthread thread;  // last: it uses all else

    void work(const std::stop_token& quit) {
        std::unique_lock held(mutex);
        while (true) {
            changed.wait(held, quit, [this] { return next.has_value(); });
            if (!next) return;
            const std::string text = *std::exchange(next, std::nullopt);
            busy = true;
            held.unlock();
            const auto done = write(text);
            held.lock();
            busy = false;
            if (!done && !std::exchange(failed, true)) failure = done.error().sentence;
            if (done) failed = false;
            wake();
        }
    }

    Result<void> write(const std::string& text) const {
        if (!text.empty()) return write_file_atomically(path, text);
        std::error_code ignored;
        fs::remove(path, ignored);
        return {};
    }

    ~Parts() {
        if (thread.joinable()) {
            thread.request_stop();
            changed.notify_all();
            thread.join();
        }
        if (ends)
            remove_with_lock(path, lock);
        else if (lock >= 0)
            ::close(lock);
    }
};

Autosave::Autosave(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Autosave::Autosave(Autosave&&) noexcept = default;
Autosave& Autosave::operator=(Autosave&&) noexcept = default;
Autosave::~Autosave() = default;

Result<Autosave> Autosave::open(const fs::path& folder, std::function<void()> wake) {
    std::error_code fault;
    fs::create_directories(folder, fault);
    auto parts = std::make_unique<Parts>();
    parts->path = folder / fmt::format("{}{}-{}.json", kStart, std::time(nullptr), ::getpid());
    parts->wake = std::move(wake);
    if (!fault) parts->lock = take_lock(parts->path);
    if (parts->lock < 0)
        return failed(fmt::format(
            "{}: {}: work that is not saved is lost where the program is ended", folder.string(),
            fault ? fault.message() : std::string(std::strerror(errno))));
    try {
        parts->thread =
            std::jthread([&own = *parts](const std::stop_token& quit) { own.work(quit); });
    } catch (const std::system_error& error) {
        parts->ends = true;
        return failed(fmt::format("no thread could be started to keep the work: {}", error.what()));
    }
    return Autosave(std::move(parts));
}

void Autosave::save(std::string session) {
    {
        const std::scoped_lock held(parts_->mutex);
        parts_->next = std::move(session);
    }
    parts_->changed.notify_all();
}

bool Autosave::has_written() const {
    const std::scoped_lock held(parts_->mutex);
    return !parts_->next && !parts_->busy && !parts_->failed;
}

std::optional<std::string> Autosave::take_failure() {
    const std::scoped_lock held(parts_->mutex);
    return std::exchange(parts_->failure, std::nullopt);
}

void Autosave::end() {
    const std::scoped_lock held(parts_->mutex);
    parts_->ends = true;
}

Leftovers::Leftovers(const fs::path& folder) {
    std::error_code fault;
    for (const auto& entry : fs::directory_iterator(folder, fault)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(kStart) || entry.path().extension() != ".json") continue;
        const int lock = take_lock(entry.path());
        if (lock >= 0) files_.push_back({entry.path(), lock});
    }
    std::ranges::sort(files_, std::greater(), &File::path);  // named by their time
    // Locks of programs that kept nothing.
    for (const auto& entry : fs::directory_iterator(folder, fault)) {
        if (entry.path().extension() != ".lock") continue;
        fs::path session = entry.path();
        session.replace_extension();
        if (fs::exists(session, fault)) continue;
        if (const int lock = take_lock(session); lock >= 0) remove_with_lock(session, lock);
    }
}

Leftovers::~Leftovers() {
    for (const File& file : files_) ::close(file.lock);
}

std::optional<view::Recovery> Leftovers::first() const {
    if (files_.empty()) return std::nullopt;
    const fs::path& path = files_.front().path;
    return view::Recovery{path.string(), leftover_words(path)};
}

void Leftovers::drop_first(bool stays) {
    if (files_.empty()) return;
    if (stays)
        ::close(files_.front().lock);
    else
        remove_with_lock(files_.front().path, files_.front().lock);
    files_.erase(files_.begin());
}

}  // namespace attn::keep

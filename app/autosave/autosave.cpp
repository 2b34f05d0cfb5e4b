#include "app/autosave/autosave.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <ctime>
#include <mutex>
#include <stop_token>
#include <thread>

#include <nlohmann/json.hpp>

#include "app/autosave/session_lock.h"
#include "app/common/or_throw.h"
#include "core/dimensions.h"
#include "core/io/file.h"

namespace attn::autosave {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStart = "unsaved-";

/// Of several of one process each has its own.
fs::path own_path(const fs::path& folder) {
    std::error_code ignored;
    const std::string start = fmt::format("{}{}-{}", kStart, std::time(nullptr), own_process());
    fs::path path = folder / (start + ".json");
    for (int n = 2; fs::exists(path.string() + ".lock", ignored); ++n)
        path = folder / fmt::format("{}-{}.json", start, n);
    return path;
}

/// What a person knows it by: when, and what was open.
std::string leftover_text(const fs::path& path) {
    std::string title = "a session";
    if (const auto text = read_text_file(path)) {
        const auto json = nlohmann::json::parse(*text, nullptr, false);
        const nlohmann::json::json_pointer at("/document/title");
        if (json.is_object() && json.contains(at) && json[at].is_string())
            title = json[at].get<std::string>();
    }
    const auto written = written_at(path);
    if (!written) return title;
    return fmt::format("{}, {:%Y-%m-%d %H:%M}", title, fmt::localtime(*written));
}

}  // namespace

Leftover& Leftover::operator=(Leftover&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(lock_, other.lock_);
    return *this;
}

Leftover::~Leftover() {
    if (lock_ >= 0) drop_lock(lock_);
}

/// The lock last: nobody takes a session for one that was left while it is removed.
void Leftover::remove() {
    std::error_code ignored;
    fs::remove(path_, ignored);
    fs::remove(path_.string() + ".lock", ignored);
    if (lock_ >= 0) drop_lock(std::exchange(lock_, -1));
}

struct Autosave::Parts {
    Leftover place;  // of this program, once it is ended
    std::function<void()> wake;
    Parts(Leftover own, std::function<void()> woken)
        : place(std::move(own)), wake(std::move(woken)) {}

    std::mutex mutex;
    std::condition_variable_any changed;
    std::optional<std::string> next;
    std::optional<Leftover> adopted;  // the place of what is next
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
            if (adopted) {
                place.remove();
                place = *std::exchange(adopted, std::nullopt);
            }
            held.unlock();
            const auto done = contained([&] { or_throw(write(text)); });
            held.lock();
            busy = false;
            if (!done && !std::exchange(failed, true)) failure = done.error().text();
            if (done) failed = false;
            wake();
        }
    }

    Result<void> write(const std::string& text) const {
        if (!text.empty()) return write_file_atomically(place.path(), text);
        std::error_code ignored;
        fs::remove(place.path(), ignored);
        return {};
    }

    ~Parts() {
        if (thread.joinable()) {
            thread.request_stop();
            changed.notify_all();
            thread.join();
        }
        if (!ends) return;
        place.remove();
        if (adopted) adopted->remove();
    }
};

Autosave::Autosave(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Autosave::Autosave(Autosave&&) noexcept = default;
Autosave& Autosave::operator=(Autosave&&) noexcept = default;
Autosave::~Autosave() = default;

Result<Autosave> Autosave::open(const fs::path& folder, std::function<void()> wake) {
    std::error_code fault;
    fs::create_directories(folder, fault);
    const fs::path path = own_path(folder);
    const int lock = fault ? -1 : take_lock(path);
    if (lock < 0)
        return failed(fmt::format("{}: {}: unsaved work is lost if the program ends",
                                  folder.string(),
                                  fault ? fault.message() : std::string(std::strerror(errno))));
    auto parts = std::make_unique<Parts>(Leftover(path, lock), std::move(wake));
    try {
        parts->thread =
            std::jthread([&own = *parts](const std::stop_token& quit) { own.work(quit); });
    } catch (const std::system_error& error) {
        parts->ends = true;
        return failed(fmt::format("no thread could be started to save the work: {}", error.what()));
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

void Autosave::adopt(Leftover left) {
    const std::scoped_lock held(parts_->mutex);
    parts_->adopted.emplace(std::move(left));
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
        if (!entry.is_regular_file(fault)) continue;
        if (const int lock = take_lock(entry.path()); lock >= 0)
            files_.emplace_back(entry.path(), lock);
    }
    std::ranges::sort(files_, std::greater(), [](const Leftover& left) {
        std::error_code gone;
        return fs::last_write_time(left.path(), gone);
    });
    // Locks of programs that kept nothing.
    for (const auto& entry : fs::directory_iterator(folder, fault)) {
        if (entry.path().extension() != ".lock") continue;
        fs::path session = entry.path();
        session.replace_extension();
        if (fs::exists(session, fault)) continue;
        if (const int lock = take_lock(session); lock >= 0) Leftover(session, lock).remove();
    }
}

std::optional<view::Recovery> Leftovers::first() const {
    if (files_.empty()) return std::nullopt;
    const fs::path& path = files_.front().path();
    return view::Recovery{path.string(), leftover_text(path)};
}

Leftover Leftovers::take_first() {
    Leftover taken = std::move(files_.front());
    files_.erase(files_.begin());
    return taken;
}

}  // namespace attn::autosave

#include "app/autosave/autosave.h"

#include <emscripten.h>

#include <cstdlib>

#include "app/common/document/opened.h"
#include "core/io/file.h"

// The work that is not saved lies in the browser's local storage, under the page's address: one, of the page used last.

namespace attn::autosave {
namespace {

namespace fs = std::filesystem;

EM_JS(int, attn_autosave_work, (const char* text), { return Module.attnKeep(UTF8ToString(text)); });
EM_JS(char*, attn_kept_work, (), { return stringToNewUTF8(Module.attnKept()); });

}  // namespace

Leftover& Leftover::operator=(Leftover&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(lock_, other.lock_);
    return *this;
}
Leftover::~Leftover() = default;

void Leftover::remove() {
    std::error_code ignored;
    fs::remove(path_, ignored);
    attn_autosave_work("");
}

struct Autosave::Parts {
    bool failed = false;
    bool reported = false;
};

Autosave::Autosave(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Autosave::Autosave(Autosave&&) noexcept = default;
Autosave& Autosave::operator=(Autosave&&) noexcept = default;
Autosave::~Autosave() = default;

Result<Autosave> Autosave::open(const fs::path&, std::function<void()>) {
    return Autosave(std::make_unique<Parts>());
}

void Autosave::save(std::string session) {
    parts_->failed = attn_autosave_work(session.c_str()) == 0;
}

void Autosave::adopt(Leftover) {}
bool Autosave::has_written() const { return !parts_->failed; }

std::optional<std::string> Autosave::take_failure() {
    if (!parts_->failed || std::exchange(parts_->reported, true)) return std::nullopt;
    return "this browser keeps nothing for this page: work that is not saved is lost when it is "
           "closed";
}

void Autosave::end() { attn_autosave_work(""); }

Leftovers::Leftovers(const fs::path& folder) {
    char* const kept = attn_kept_work();
    const std::string text = kept;
    std::free(kept);
    std::error_code ignored;
    fs::create_directories(folder, ignored);
    const fs::path path = folder / "unsaved.json";
    if (!text.empty() && write_file_atomically(path, text)) files_.emplace_back(path, 0);
}

std::optional<view::Recovery> Leftovers::first() const {
    if (files_.empty()) return std::nullopt;
    return view::Recovery{files_.front().path().string(), "this page"};
}

Leftover Leftovers::take_first() {
    Leftover taken = std::move(files_.front());
    files_.erase(files_.begin());
    return taken;
}

}  // namespace attn::autosave

#include "app/platform/file_dialog.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <vector>

extern char** environ;  // NOLINT: as POSIX has it

namespace attn {
namespace {

using view::PromptKind;

/// Its standard output goes to `output`. 0: it did not start.
pid_t started(const std::vector<std::string>& items, int output) {
    std::vector<char*> arguments;
    for (const std::string& word : items)
        arguments.push_back(const_cast<char*>(word.c_str()));  // NOLINT: as POSIX has it
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (output >= 0) posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    pid_t process = 0;
    const int fault =
        posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    return fault == 0 ? process : 0;
}

/// AppleScript, which answers with the path.
std::string script_of(PromptKind kind) {
    const bool saves = kind == PromptKind::save || kind == PromptKind::figure;
    const char* const asks = saves                      ? "choose file name"
                             : kind == PromptKind::runs ? "choose folder"
                                                        : "choose file";
    return std::string("POSIX path of (") + asks + ")";
}

}  // namespace

FileDialog::~FileDialog() {
    if (!is_open()) return;
    kill(process_, SIGTERM);
    end();
}

void FileDialog::end() {
    waitpid(process_, nullptr, 0);
    close(answer_);
    process_ = 0;
}

bool FileDialog::is_here() { return true; }

void FileDialog::ask(const view::Prompt& prompt) {
    std::array<int, 2> ends{};
    if (is_open() || pipe(ends.data()) != 0) return;
    for (const int end : ends) fcntl(end, F_SETFD, FD_CLOEXEC);
    kind_ = prompt.kind;
    process_ = started({"osascript", "-e", script_of(kind_)}, ends[1]);
    close(ends[1]);
    answer_ = ends[0];
    fcntl(answer_, F_SETFL, O_NONBLOCK);
    text_.clear();
    if (!is_open()) close(answer_);
}

std::optional<std::string> FileDialog::take(const std::optional<view::Prompt>& prompt) {
    if (!is_open()) return std::nullopt;
    if (!prompt || prompt->kind != kind_) {
        kill(process_, SIGTERM);
        end();
        return std::nullopt;
    }
    std::array<char, 4096> bytes{};
    ssize_t count = 0;
    while ((count = read(answer_, bytes.data(), bytes.size())) > 0)
        text_.append(bytes.data(), static_cast<std::size_t>(count));
    if (count < 0) return std::nullopt;  // nothing yet
    end();
    return text_.substr(0, text_.find('\n'));
}

void offer_download(const std::string&) {}

Result<void> open_with_desktop(const std::string& path) {
    // A name that begins with - would be an option.
    const pid_t process = started({"open", path.starts_with('-') ? "./" + path : path}, -1);
    if (process > 0) return {};
    return failed("macOS does not start the program to open it with.");
}

}  // namespace attn

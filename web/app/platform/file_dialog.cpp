#include "app/platform/file_dialog.h"

#include <emscripten.h>

#include <utility>

#include "app/common/document/opened.h"

namespace attn {
namespace {

// What the person chose; nullopt: nothing yet.
std::optional<std::string> chosen;

}  // namespace

// The browser's own choice of a file; page.js writes it into the page's files and answers.
EM_JS(void, attn_ask_file, (), { Module.attnAskFile(); });
EM_JS(void, attn_download, (const char* path), { Module.attnDownload(UTF8ToString(path)); });

extern "C" EMSCRIPTEN_KEEPALIVE void attn_file_chosen(const char* path) { chosen = path; }

FileDialog::~FileDialog() = default;

bool FileDialog::is_here() { return true; }

/// A name to save under is the one that stands there: where the file goes is the browser's to say.
void FileDialog::ask(const view::Prompt& prompt) {
    chosen.reset();
    process_ = 1;
    kind_ = prompt.kind;
    if (kind_ == view::PromptKind::save || kind_ == view::PromptKind::figure ||
        kind_ == view::PromptKind::runs)
        chosen = prompt.path;
    else
        attn_ask_file();
}

std::optional<std::string> FileDialog::take(const std::optional<view::Prompt>& prompt) {
    const bool asks = prompt && prompt->kind == kind_;
    if (!is_open() || (asks && !chosen)) return std::nullopt;
    process_ = 0;
    auto path = std::exchange(chosen, std::nullopt);
    return asks ? path : std::nullopt;
}

void offer_download(const std::string& path) { attn_download(path.c_str()); }

Result<void> open_with_desktop(const std::string& path) {
    offer_download(path);
    return {};
}

}  // namespace attn

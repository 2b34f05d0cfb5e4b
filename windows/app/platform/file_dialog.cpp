#include "app/platform/file_dialog.h"

#include <windows.h>
// after windows.h
#include <commdlg.h>
#include <shellapi.h>
#include <shlobj.h>

#include <array>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>

namespace attn {

struct FileDialog::Answer {
    std::mutex mutex;
    std::optional<std::string> path;  // "": none
};

namespace {

namespace fs = std::filesystem;
using view::PromptKind;

constexpr std::size_t kMostLetters = 32768;  // of a path, as Windows has it

std::string ask_file(PromptKind kind, const std::string& path) {
    const bool saves = kind == PromptKind::save || kind == PromptKind::figure;
    const fs::path from = fs::path(path).make_preferred();
    std::error_code ignored;
    const bool is_folder = fs::is_directory(from, ignored);
    const std::wstring folder = is_folder ? from.wstring() : from.parent_path().wstring();
    std::wstring name = is_folder ? std::wstring() : from.filename().wstring();
    name.resize(kMostLetters);
    OPENFILENAMEW dialog{};
    dialog.lStructSize = sizeof(dialog);
    dialog.lpstrFile = name.data();
    dialog.nMaxFile = static_cast<DWORD>(name.size());
    dialog.lpstrInitialDir = folder.empty() ? nullptr : folder.c_str();
    dialog.Flags = OFN_NOCHANGEDIR | OFN_EXPLORER | OFN_HIDEREADONLY |
                   (saves ? OFN_OVERWRITEPROMPT : OFN_FILEMUSTEXIST);
    const bool chosen = saves ? ::GetSaveFileNameW(&dialog) : ::GetOpenFileNameW(&dialog);
    return chosen ? fs::path(name.c_str()).string() : "";
}

std::string ask_folder() {
    std::array<wchar_t, MAX_PATH> name{};
    BROWSEINFOW dialog{};
    dialog.ulFlags = BIF_RETURNONLYFSDIRS | BIF_NEWDIALOGSTYLE;
    LPITEMIDLIST const chosen = ::SHBrowseForFolderW(&dialog);
    const bool named = chosen != nullptr && ::SHGetPathFromIDListW(chosen, name.data());
    if (chosen != nullptr) ::CoTaskMemFree(chosen);
    return named ? fs::path(name.data()).string() : "";
}

}  // namespace

bool FileDialog::is_here() { return true; }

void FileDialog::ask(const view::Prompt& prompt) {
    if (is_open()) return;
    kind_ = prompt.kind;
    answer_ = std::make_shared<Answer>();
    const auto work = [answer = answer_, kind = kind_, path = prompt.path] {
        ::CoInitializeEx(nullptr, COINIT_APARTMENTTHREADED);
        std::string chosen = kind == PromptKind::runs ? ask_folder() : ask_file(kind, path);
        ::CoUninitialize();
        const std::lock_guard lock(answer->mutex);
        answer->path = std::move(chosen);
    };
    try {
        std::thread(work).detach();
    } catch (const std::system_error&) {
        answer_.reset();
    }
}

std::optional<std::string> FileDialog::take(const std::optional<view::Prompt>& prompt) {
    if (!is_open()) return std::nullopt;
    const auto answer = answer_;
    const std::lock_guard lock(answer->mutex);
    if (!prompt || prompt->kind != kind_) {
        answer_.reset();
        return std::nullopt;
    }
    if (answer->path) answer_.reset();
    return answer->path;
}

void offer_download(const std::string&) {}

Result<void> open_with_desktop(const std::string& path) {
    constexpr INT_PTR kMostError = 32;
    const std::wstring file = fs::absolute(path).wstring();
    const HINSTANCE started =
        ::ShellExecuteW(nullptr, L"open", file.c_str(), nullptr, nullptr, SW_SHOWNORMAL);
    if (reinterpret_cast<INT_PTR>(started) > kMostError) return {};
    return failed("Windows has no program to open it with.");
}

}  // namespace attn

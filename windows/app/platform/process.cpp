#include "app/platform/process.h"

#include <fcntl.h>
#include <io.h>
#include <windows.h>
// after windows.h
#include <shellapi.h>

#include <cstdlib>
#include <filesystem>

namespace attn {
namespace {

UINT former_code_page = 0;  // of the console, which may outlive the program

void restore_code_page() { ::SetConsoleOutputCP(former_code_page); }

}  // namespace

/// Text is written in UTF-8, and its lines end in LF. The linker sets the size of stacks (windows/CMakeLists.txt).
Result<void> prepare_process() {
    for (const int stream : {0, 1, 2}) ::_setmode(stream, _O_BINARY);
    former_code_page = ::GetConsoleOutputCP();
    if (former_code_page == 0) return {};
    ::SetConsoleOutputCP(CP_UTF8);
    std::atexit(restore_code_page);
    return {};
}

/// Windows has the command line in UTF-16.
std::vector<std::string> arguments(int, char**) {
    int count = 0;
    wchar_t** const all = ::CommandLineToArgvW(::GetCommandLineW(), &count);
    std::vector<std::string> args;
    for (int n = 1; n < count; ++n) args.push_back(std::filesystem::path(all[n]).string());
    ::LocalFree(all);
    return args;
}

/// Windows opens one for a double click.
void close_own_console() {
    DWORD processes[2];
    if (::GetConsoleProcessList(processes, 2) == 1) ::FreeConsole();
}

}  // namespace attn

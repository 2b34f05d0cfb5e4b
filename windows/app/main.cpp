#include <fcntl.h>
#include <io.h>
#include <windows.h>
// after windows.h
#include <shellapi.h>

#include <filesystem>
#include <iostream>

#include "app/cli/desktop_options.h"
#include "app/cli/terminal.h"
#include "app/common/or_throw.h"
#include "app/desktop.h"
#include "app/files/held_signals.h"
#include "app/fonts/fonts.h"
#include "app/gl/compute_backend.h"
#include "app/studio.h"

namespace {

using Clock = std::chrono::steady_clock;

/// What is written is UTF-8; a console that outlives the program gets its own code page back.
class Console {
  public:
    Console() : before_(::GetConsoleOutputCP()) {
        if (before_ != 0) ::SetConsoleOutputCP(CP_UTF8);
        for (const int stream : {0, 1, 2}) ::_setmode(stream, _O_BINARY);
    }
    ~Console() {
        if (before_ != 0) ::SetConsoleOutputCP(before_);
    }
    Console(const Console&) = delete;
    Console& operator=(const Console&) = delete;

    /// Closes it where Windows opened it for this program alone, as it does for a double click.
    static void leave_own() {
        DWORD processes[2];
        if (::GetConsoleProcessList(processes, 2) == 1) ::FreeConsole();
    }

  private:
    UINT before_;
};

/// Those of the command line, which Windows has in UTF-16, in UTF-8.
std::vector<std::string> arguments() {
    int count = 0;
    wchar_t** const all = ::CommandLineToArgvW(::GetCommandLineW(), &count);
    std::vector<std::string> args;
    for (int n = 1; n < count; ++n) args.push_back(std::filesystem::path(all[n]).string());
    ::LocalFree(all);
    return args;
}

int run(attn::cli::Args args, attn::cli::Streams io, Clock::time_point started) {
    if (const auto code = attn::cli::run(args, io)) return *code;
    const auto options = attn::cli::parse_desktop(args, io);
    if (const int* code = std::get_if<int>(&options)) return *code;
    Console::leave_own();
    return attn::run_desktop(std::get<attn::cli::DesktopOptions>(options), io, started);
}

/// What was printed must have arrived: where it is closed, or a disk full, the exit code says that it did not.
int flushed(int code, attn::cli::Streams io) {
    if (io.out.flush() || code != attn::cli::kSuccess) return code;
    return attn::cli::report(
        {"standard output cannot be written in full: it is closed, or the disk is full",
         attn::ErrorKind::failure},
        "attnscope", io);
}

}  // namespace

int main() {
    const auto started = Clock::now();
    const Console console;
    attn::cli::write_printable();
    attn::files::hold_signals_while_saving();
    attn::fonts::use_packed();
    const attn::gl::ComputeBackend gl;
    std::vector<const attn::Backend*> backends(attn::backends().begin(), attn::backends().end());
    backends.push_back(&gl);
    const attn::cli::Streams io{std::cout, std::cerr, attn::open_studio, backends};
    const auto code = attn::contained([&] {
        const std::vector<std::string> args = arguments();
        return flushed(run(args, io, started), io);
    });
    return code ? *code : attn::cli::report(code.error(), "attnscope", io);
}

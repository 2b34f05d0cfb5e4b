#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <iostream>

#include "app/cli/desktop_options.h"
#include "app/cli/terminal.h"
#include "app/common/or_throw.h"
#include "app/desktop.h"
#include "app/files/held_signals.h"
#include "app/fonts/fonts.h"
#include "app/gl/compute_backend.h"
#include "app/platform/stack.h"
#include "app/studio.h"

namespace {

using Clock = std::chrono::steady_clock;

/// A stream that is closed from the start gets /dev/null: else the next file that is opened takes its
/// number, and what is printed goes into that file. Standard output gets it to read only, so that what is printed fails.
void open_closed_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) >= 0) continue;
        ::open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_RDWR);  // the lowest number: it
    }
}

int run(attn::cli::Args args, attn::cli::Streams io, Clock::time_point started) {
    if (const auto code = attn::cli::run(args, io)) return *code;
    const auto options = attn::cli::parse_desktop(args, io);
    if (const int* code = std::get_if<int>(&options)) return *code;
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

int main(int argc, char** argv) {
    const auto started = Clock::now();
    open_closed_streams();
    attn::cli::write_printable();
    if (const auto valid = attn::make_stack_usual(); !valid)
        return attn::cli::report(valid.error(), "attnscope", {std::cout, std::cerr});
    std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow further is an error like a full disk
    attn::files::hold_signals_while_saving();
    attn::fonts::use_packed();
    const attn::gl::ComputeBackend gl;
    std::vector<const attn::Backend*> backends(attn::backends().begin(), attn::backends().end());
    backends.push_back(&gl);
    const attn::cli::Streams io{std::cout, std::cerr, attn::open_studio, backends};
    const auto code = attn::contained([&] {
        const std::vector<std::string> args(argv + 1, argv + argc);
        return flushed(run(args, io, started), io);
    });
    return code ? *code : attn::cli::report(code.error(), "attnscope", io);
}

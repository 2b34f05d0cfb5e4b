#include <iostream>

#include "app/cli/desktop_options.h"
#include "app/cli/terminal.h"
#include "app/common/or_throw.h"
#include "app/desktop.h"
#include "app/files/held_signals.h"
#include "app/fonts/fonts.h"
#include "app/gl/compute_backend.h"
#include "app/platform/process.h"
#include "app/studio.h"

namespace {

using Clock = std::chrono::steady_clock;

int run(attn::cli::Args args, attn::cli::Streams io, Clock::time_point started) {
    if (const auto code = attn::cli::run(args, io)) return *code;
    const auto options = attn::cli::parse_desktop(args, io);
    if (const int* code = std::get_if<int>(&options)) return *code;
    attn::close_own_console();
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
    const auto prepared = attn::prepare_process();
    attn::cli::write_printable();
    if (!prepared) return attn::cli::report(prepared.error(), "attnscope", {std::cout, std::cerr});
    attn::files::hold_signals_while_saving();
    attn::fonts::use_packed();
    const attn::gl::ComputeBackend gl;
    std::vector<const attn::Backend*> backends(attn::backends().begin(), attn::backends().end());
    backends.push_back(&gl);
    const attn::cli::Streams io{std::cout, std::cerr, attn::open_studio, backends};
    const auto code = attn::contained([&] {
        const std::vector<std::string> args = attn::arguments(argc, argv);
        return flushed(run(args, io, started), io);
    });
    return code ? *code : attn::cli::report(code.error(), "attnscope", io);
}

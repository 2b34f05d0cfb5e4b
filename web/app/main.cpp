#include <chrono>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <variant>
#include <vector>

#include "app/cli/cli.h"
#include "app/cli/desktop_options.h"
#include "app/common/state_text.h"
#include "app/desktop.h"
#include "app/gl/compute_backend.h"
#include "app/gl/window_events.h"
#include "app/studio.h"

namespace {

/// What the window asks for as long as the page is open.
const attn::cli::Streams& streams() {
    static const attn::gl::ComputeBackend gl;
    static const std::vector<const attn::Backend*> backends = [] {
        std::vector<const attn::Backend*> all(attn::backends().begin(), attn::backends().end());
        all.push_back(&gl);
        return all;
    }();
    static const attn::cli::Streams io{std::cout, std::cerr, attn::open_studio, backends};
    return io;
}

int run(attn::cli::Args args) {
    const auto started = std::chrono::steady_clock::now();
    if (const auto code = attn::cli::run(args, streams())) return *code;
    const auto options = attn::cli::parse_desktop(args, streams());
    if (const int* code = std::get_if<int>(&options)) return *code;
    return attn::run_desktop(std::get<attn::cli::DesktopOptions>(options), streams(), started);
}

/// `args`: the state in the page's address, if it has one, then the words of the document that the page holds. A state that cannot
/// be read is opened once more over the document or the first screen, which reports the error as it does for a pasted state.
int open_page(attn::cli::Args args) {
    if (args.empty() || !attn::view::is_state_text(args.front())) return run(args);
    const int code = run(args.first(1));
    if (code == attn::cli::kSuccess) return code;
    attn_dropped(args.front().c_str());
    return run(args.subspan(1));
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::vector<std::string> args(argv + 1, argv + argc);
        return open_page(args);
    } catch (const std::bad_alloc&) {
        std::cerr << "attnscope: there is not enough memory\n";
    } catch (const std::exception& error) {
        std::cerr << "attnscope: " << error.what() << "\n";
    }
    return attn::cli::kFailure;
}

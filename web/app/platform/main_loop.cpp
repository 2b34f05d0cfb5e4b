#include "app/platform/main_loop.h"

#include <emscripten.h>

#include <utility>

#include "app/gl/window.h"

namespace attn {
namespace {

std::function<std::optional<double>()> retained_turn;

}  // namespace

/// Called by page.js: seconds until the next turn; negative: there is none.
extern "C" EMSCRIPTEN_KEEPALIVE double attn_turn() {
    if (!retained_turn) return -1.0;
    const auto rest = retained_turn();
    if (!rest) retained_turn = nullptr;
    return rest.value_or(-1.0);
}

void run_turns(gl::Window&, std::function<std::optional<double>()> turn) {
    retained_turn = std::move(turn);
    gl::Window::wake();
}

void end_within(LastResort) {}

std::future<void> begin_beside(std::function<void()>) { return {}; }

}  // namespace attn

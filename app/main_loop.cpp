#include "app/main_loop.h"

namespace attn {

void run_turns(gl::Window& window, std::function<std::optional<double>()> turn) {
    for (std::optional<double> rest = 0.0; rest; rest = turn()) window.wait_events(*rest);
}

std::future<void> begin_beside(std::function<void()> work) {
    return std::async(std::launch::async, std::move(work));
}

}  // namespace attn

#pragma once

#include <functional>
#include <future>
#include <optional>

#include "app/gl/window.h"

namespace attn {

/// Calls `turn` until it says nullopt; before each waits for as many seconds as the last one said, or until something happens.
/// In a browser, which calls for each turn itself, it returns at once and `turn` is kept.
void run_turns(gl::Window& window, std::function<std::optional<double>()> turn);

/// Runs `work` beside the caller, or not at all where there are no threads.
std::future<void> begin_beside(std::function<void()> work);

}  // namespace attn

#pragma once

#include <functional>
#include <future>
#include <optional>
#include <string>

#include "app/gl/window.h"

namespace attn {

/// Calls `turn` until it says nullopt; before each waits for as many seconds as the last one said, or until something happens.
/// In a browser, which calls for each turn itself, it returns at once and `turn` is kept.
void run_turns(gl::Window& window, std::function<std::optional<double>()> turn);

/// What happens to a program whose threads do not end.
struct LastResort {
    double seconds;
    int code;          // of the exit
    std::string text;  // written on standard error before it, unless ""
};
/// Ends the program in that many seconds, whatever still runs. Everything must be saved by then. Nothing where there are no
/// threads.
void end_within(LastResort last);

/// Runs `work` beside the caller, or not at all where there are no threads.
std::future<void> begin_beside(std::function<void()> work);

}  // namespace attn

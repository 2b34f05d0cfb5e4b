#include "app/platform/main_loop.h"

#include <unistd.h>

#include <chrono>
#include <iostream>
#include <system_error>
#include <thread>

namespace attn {

void run_turns(gl::Window& window, std::function<std::optional<double>()> turn) {
    for (std::optional<double> rest = 0.0; rest; rest = turn()) window.wait_events(*rest);
}

void end_within(LastResort last) {
    const auto end = [last = std::move(last)] {
        std::this_thread::sleep_for(std::chrono::duration<double>(last.seconds));
        if (!last.text.empty()) std::cerr << last.text << std::endl;
        ::_exit(last.code);  // no destructors: other threads still use what they would destroy
    };
    try {
        std::thread(end).detach();
    } catch (const std::system_error&) {  // no thread to be had: then no job has one either
    }
}

std::future<void> begin_beside(std::function<void()> work) {
    return std::async(std::launch::async, std::move(work));
}

}  // namespace attn

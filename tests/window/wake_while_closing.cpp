// Threads that wake the window while it opens and closes, as a signal or a job does that ends at the same moment. Under the
// address sanitizer, or often enough without it, a wake that uses the closed display ends the program.

#include <atomic>
#include <iostream>
#include <thread>
#include <vector>

#include "app/gl/window.h"

int main() {
    constexpr int kWindows = 30, kThreads = 3;
    std::atomic<bool> done = false;
    std::vector<std::jthread> threads;
    for (int n = 0; n < kThreads; ++n)
        threads.emplace_back([&done] {
            while (!done) attn::gl::Window::wake();
        });
    int opened = 0;
    for (int n = 0; n < kWindows; ++n) {
        auto window = attn::gl::Window::open({.title = "wake", .size = {320, 200}});
        if (!window) {
            std::cerr << window.error().text() << '\n';
            break;
        }
        (*window)->wait_events(0.0);
        ++opened;
    }
    done = true;
    threads.clear();
    std::cout << opened << " windows opened and closed\n";
    return opened == kWindows ? 0 : 1;
}

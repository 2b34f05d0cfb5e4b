// Threads that wake the window while it opens and closes, as a signal or a job does that ends at the same moment. Under the
// address sanitizer, or often enough without it, a wake that uses the closed display ends the program.

#include <atomic>
#include <iostream>
#include <thread>
#include <vector>

#include "app/gl/window.h"

int main() {
    constexpr int kWindows = 30, kThreads = 3, kWakes = 100;
    std::atomic<int> round = 0;  // of waking; negative: the end
    std::vector<std::jthread> threads;
    for (int n = 0; n < kThreads; ++n)
        threads.emplace_back([&round] {
            for (int seen = 0;;) {
                round.wait(seen);
                seen = round;
                if (seen < 0) return;
                for (int wakes = 0; wakes < kWakes; ++wakes) attn::gl::Window::wake();
            }
        });
    int closed = 0;
    while (closed < kWindows) {
        auto window = attn::gl::Window::open({.title = "wake", .size = {320, 200}});
        if (!window) {
            std::cerr << window.error().text() << '\n';
            break;
        }
        round = ++closed;
        round.notify_all();
        window->reset();  // while the threads wake it
    }
    round = -1;
    round.notify_all();
    threads.clear();
    std::cout << closed << " windows opened and closed\n";
    return closed == kWindows ? 0 : 1;
}

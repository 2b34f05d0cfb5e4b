#include "app/platform/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <utility>

namespace attn {
namespace {

// A signal handler is given nothing: what it needs is global. It wakes a thread by a pipe, since macOS has only named semaphores.
std::atomic<int> caught_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);
std::array<int, 2> news{-1, -1};  // a byte from the handler, and one at the end

constexpr int kEnding[] = {SIGTERM, SIGINT, SIGHUP};

void post() {
    const char byte = 0;
    while (::write(news[1], &byte, 1) < 0 && errno == EINTR) {
    }
}

void note(int signal) {
    const int before = errno;
    caught_signal = signal;
    post();
    errno = before;
}

bool is_ignored(int signal) {
    struct sigaction action {};
    return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

void handle(int signal, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = handler == note ? static_cast<int>(SA_RESETHAND | SA_RESTART) : 0;
    sigemptyset(&action.sa_mask);
    if (!is_ignored(signal)) sigaction(signal, &action, nullptr);
}

void wait_for_news() {
    char byte = 0;
    while (::read(news[0], &byte, 1) < 0 && errno == EINTR) {
    }
}

}  // namespace

EndingSignals::EndingSignals(std::function<void()> wake) {
    caught_signal = 0;
    if (::pipe(news.data()) != 0) return;
    for (const int end : news) ::fcntl(end, F_SETFD, FD_CLOEXEC);
    watcher_ = std::jthread([wake = std::move(wake)](const std::stop_token& end) {
        for (wait_for_news(); !end.stop_requested(); wait_for_news()) wake();
    });
    for (const int signal : kEnding) handle(signal, note);
}

EndingSignals::~EndingSignals() {
    for (const int signal : kEnding) handle(signal, SIG_DFL);
    if (!watcher_.joinable()) return;
    watcher_.request_stop();
    post();
    watcher_.join();
    for (int& end : news) ::close(std::exchange(end, -1));
}

int EndingSignals::caught() const { return caught_signal; }

}  // namespace attn

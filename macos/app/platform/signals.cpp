#include "app/platform/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <utility>

// As app/platform/signals.cpp, with a pipe in place of a semaphore: macOS has none without a name.

namespace attn {
namespace {

// A signal handler and a function of atexit() are given nothing: what they need is global.
std::atomic<int> caught_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);
std::array<int, 2> news{-1, -1};  // a byte from the handler, and one at the end

struct LastAct {
    std::function<void(Exiting)> save;
    std::thread::id thread;
};
LastAct last_act;

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

void act_last() {
    if (!last_act.save) return;
    const bool own = last_act.thread == std::this_thread::get_id();
    std::exchange(last_act.save, nullptr)(own ? Exiting::own_thread : Exiting::other_thread);
    ::_exit(EXIT_FAILURE);  // what else exit() ends is still in use by other threads
}

}  // namespace

EndingSignals::EndingSignals(std::function<void()> wake) {
    if (::pipe(news.data()) != 0) return;
    for (const int end : news) ::fcntl(end, F_SETFD, FD_CLOEXEC);
    caught_signal = 0;
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

AtExit::AtExit(std::function<void(Exiting)> save) {
    static const int registered = std::atexit(act_last);
    static_cast<void>(registered);
    last_act = {std::move(save), std::this_thread::get_id()};
}

AtExit::~AtExit() { last_act = {}; }

}  // namespace attn

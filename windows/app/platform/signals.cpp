#include "app/platform/signals.h"

#include <windows.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace attn {
namespace {

// Windows calls the handler on a thread of its own, and gives it nothing.
std::atomic<int> caught_signal{0};
std::mutex mutex;                   // of what follows
std::function<void()> wake_window;  // while EndingSignals lives
HANDLE ended = nullptr;             // set when it is gone

struct LastAct {
    std::function<void(Exiting)> save;
    std::thread::id thread;
};
LastAct last_act;

/// Ctrl+C and Ctrl+Break a second time end the program at once. When its console is closed or the person logs off, Windows ends
/// the program as soon as this returns, or after some seconds.
BOOL WINAPI note(DWORD event) {
    const bool is_key = event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT;
    if (caught_signal.exchange(is_key ? SIGINT : SIGTERM) != 0 && is_key) return FALSE;
    HANDLE end = nullptr;
    {
        const std::lock_guard lock(mutex);
        if (!wake_window) return FALSE;
        wake_window();
        end = ended;
    }
    if (!is_key) ::WaitForSingleObject(end, INFINITE);
    return TRUE;
}

void act_last() {
    if (!last_act.save) return;
    const bool own = last_act.thread == std::this_thread::get_id();
    std::exchange(last_act.save, nullptr)(own ? Exiting::own_thread : Exiting::other_thread);
    ::_exit(EXIT_FAILURE);  // what else exit() ends is still in use by other threads
}

}  // namespace

EndingSignals::EndingSignals(std::function<void()> wake) {
    const std::lock_guard lock(mutex);
    caught_signal = 0;
    wake_window = std::move(wake);
    if (ended == nullptr) ended = ::CreateEventW(nullptr, TRUE, FALSE, nullptr);
    ::ResetEvent(ended);
    ::SetConsoleCtrlHandler(note, TRUE);
}

EndingSignals::~EndingSignals() {
    ::SetConsoleCtrlHandler(note, FALSE);
    const std::lock_guard lock(mutex);
    wake_window = nullptr;
    ::SetEvent(ended);
}

int EndingSignals::caught() const { return caught_signal; }

AtExit::AtExit(std::function<void(Exiting)> save) {
    static const int registered = std::atexit(act_last);
    static_cast<void>(registered);
    last_act = {std::move(save), std::this_thread::get_id()};
}

AtExit::~AtExit() { last_act = {}; }

}  // namespace attn

#include "app/platform/signals.h"

#include <windows.h>

#include <atomic>
#include <csignal>
#include <mutex>
#include <utility>

namespace attn {
namespace {

// Windows calls the handler on a thread of its own, and gives it nothing.
std::atomic<int> caught_signal{0};
std::mutex mutex;                   // of what follows
std::function<void()> wake_window;  // while EndingSignals lives
HANDLE ended = nullptr;             // set when it is gone

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

}  // namespace attn

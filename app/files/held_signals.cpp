#include "app/files/held_signals.h"

#include <signal.h>

#include <array>
#include <atomic>
#include <mutex>

#include "core/io/file.h"

namespace attn::files {
namespace {

constexpr std::array kEndingSignals{SIGINT, SIGTERM, SIGHUP};

// A signal handler is given nothing: what it needs is global.
std::atomic<int> held_signal{0};  // the last that came while they were held
static_assert(std::atomic<int>::is_always_lock_free);

std::mutex mutex;  // of what follows
int holders = 0;   // files that are being replaced
std::array<struct sigaction, kEndingSignals.size()> before;

void note(int signal) { held_signal = signal; }

void begin() {
    const std::lock_guard lock(mutex);
    if (holders++ > 0) return;
    held_signal = 0;
    struct sigaction holding {};
    holding.sa_handler = note;
    holding.sa_flags = SA_RESTART;
    for (std::size_t n = 0; n < kEndingSignals.size(); ++n)
        if (sigaction(kEndingSignals[n], nullptr, &before[n]) == 0 &&
            before[n].sa_handler == SIG_DFL)
            sigaction(kEndingSignals[n], &holding, nullptr);
}

/// One that came meanwhile ends the program now.
void end() {
    const std::lock_guard lock(mutex);
    if (--holders > 0) return;
    for (std::size_t n = 0; n < kEndingSignals.size(); ++n)
        if (before[n].sa_handler == SIG_DFL) sigaction(kEndingSignals[n], &before[n], nullptr);
    if (const int signal = held_signal.exchange(0)) ::raise(signal);
}

bool is_held() { return held_signal != 0; }

}  // namespace

void hold_signals_while_saving() { set_save_guard({begin, end, is_held}); }

}  // namespace attn::files

#include "app/files/held_signals.h"

#include <windows.h>

#include <atomic>
#include <mutex>

#include "core/io/file.h"

namespace attn::files {
namespace {

// Windows calls the handler on a thread of its own.
std::atomic<bool> was_asked{false};  // to end, while a file was being replaced
std::mutex mutex;                    // of what follows
int holders = 0;                     // files that are being replaced

BOOL WINAPI note(DWORD) {
    was_asked = true;
    return TRUE;
}

void begin() {
    const std::lock_guard lock(mutex);
    if (holders++ > 0) return;
    was_asked = false;
    ::SetConsoleCtrlHandler(note, TRUE);
}

/// A Ctrl+C that came meanwhile ends the program now.
void end() {
    const std::lock_guard lock(mutex);
    if (--holders > 0) return;
    ::SetConsoleCtrlHandler(note, FALSE);
    if (was_asked.exchange(false)) ::ExitProcess(STATUS_CONTROL_C_EXIT);
}

bool is_held() { return was_asked; }

}  // namespace

void hold_signals_while_saving() { set_save_guard({begin, end, is_held}); }

}  // namespace attn::files

#include "app/platform/process.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "app/platform/stack.h"

namespace attn {
namespace {

/// A stream that is closed from the start gets /dev/null: else the next file that is opened takes its
/// number, and what is printed goes into that file. Standard output gets it to read only, so that what is printed fails.
void open_closed_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) >= 0) continue;
        ::open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_RDWR);  // the lowest number: it
    }
}

}  // namespace

Result<void> prepare_process() {
    open_closed_streams();
    std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow further is an error like a full disk
    return make_stack_usual();
}

std::vector<std::string> arguments(int argc, char** argv) { return {argv + 1, argv + argc}; }

void close_own_console() {}

}  // namespace attn

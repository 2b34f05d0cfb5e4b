#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace attn::test {

/// Runs `work` in a child of this process, which must be ended by a signal; its number.
template <class Work>
pid_t child_ended_by_signal(const Work& work) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        work();
        ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    return child;
}

}  // namespace attn::test

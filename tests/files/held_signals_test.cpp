#include "app/files/held_signals.h"

#include <doctest/doctest.h>
#include <signal.h>

#include <atomic>
#include <thread>

#include "core/io/file.h"
#include "core/io/npz.h"
#include "tests/io/scratch.h"
#include "tests/support/child.h"

using namespace attn;
using attn::test::child_ended_by_signal;

TEST_CASE_FIXTURE(OnDisk, "a signal that ends the program waits until the file is whole") {
    child_ended_by_signal([&] {
        files::hold_signals_while_saving();
        ::signal(SIGTERM, SIG_DFL);
        static_cast<void>(replace_file(scratch / "f", [](const std::filesystem::path& path) {
            ::raise(SIGTERM);
            return write_file_atomically(path, "whole");
        }));
    });
    CHECK(read_text_file(scratch / "f").value() == "whole");
    CHECK(scratch.files() == 1);
}

TEST_CASE_FIXTURE(OnDisk, "it waits too when it reaches another thread of the program") {
    child_ended_by_signal([&] {
        files::hold_signals_while_saving();
        ::signal(SIGINT, SIG_DFL);
        std::atomic<bool> running = false;
        // Of the two threads the system may choose only this one.
        sigset_t blocked;
        sigemptyset(&blocked);
        sigaddset(&blocked, SIGINT);
        std::thread other([&] {
            running = true;
            for (;;) ::pause();
        });
        while (!running) std::this_thread::yield();
        ::pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
        static_cast<void>(replace_file(scratch / "f", [](const std::filesystem::path& path) {
            ::kill(::getpid(), SIGINT);
            while (!interrupted()) std::this_thread::yield();
            return write_file_atomically(path, "whole");
        }));
        ::pthread_sigmask(SIG_UNBLOCK, &blocked, nullptr);
        ::_exit(0);  // the other thread is still there
    });
    CHECK(read_text_file(scratch / "f").value() == "whole");
    CHECK(scratch.files() == 1);
}

TEST_CASE_FIXTURE(OnDisk,
                  "an npz whose writing is interrupted is not there, and neither is a part of it") {
    const std::vector<float> values(1 << 16, 1.0F);
    const std::vector<NpzEntry> entries{{"q", {1 << 16}, values}};
    child_ended_by_signal([&] {
        files::hold_signals_while_saving();
        ::signal(SIGHUP, SIG_DFL);
        // Held by the write around it, so that it is there before the inner one begins.
        static_cast<void>(replace_file(scratch / "outer", [&](const std::filesystem::path& path) {
            ::raise(SIGHUP);
            const bool gave_up = interrupted() && !write_npz(scratch / "f.npz", entries);
            return write_file_atomically(path, gave_up ? "gave up" : "went on");
        }));
    });
    CHECK(read_text_file(scratch / "outer").value() == "gave up");
    CHECK(scratch.files() == 1);
    CHECK(!interrupted());
    CHECK(write_npz(scratch / "f.npz", entries));
}

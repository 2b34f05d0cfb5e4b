#include "core/io/file.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "core/io/npz.h"
#include "core/rng.h"
#include "tests/io/scratch.h"
#include "tests/support/child.h"
#include "tests/support/results.h"

using namespace attn;
using attn::test::child_ended_by_signal;

TEST_CASE_FIXTURE(OnDisk, "a written file reads back byte for byte") {
    const std::string bytes("a\0b\r\n\xff", 6);
    REQUIRE(write_file_atomically(scratch / "f", bytes));
    CHECK(read_text_file(scratch / "f").value() == bytes);
    CHECK(scratch.files() == 1);
}

TEST_CASE_FIXTURE(OnDisk, "writing replaces the old file and leaves no temporary one") {
    REQUIRE(write_file_atomically(scratch / "f", "old and long"));
    REQUIRE(write_file_atomically(scratch / "f", "new"));
    CHECK(read_text_file(scratch / "f").value() == "new");
    CHECK(scratch.files() == 1);
}

TEST_CASE_FIXTURE(OnDisk, "a symbolic link stays a link and its target is replaced") {
    REQUIRE(write_file_atomically(scratch / "target", "old"));
    std::filesystem::create_symlink("target", scratch / "link");
    REQUIRE(write_file_atomically(scratch / "link", "new"));
    CHECK(std::filesystem::is_symlink(scratch / "link"));
    CHECK(read_text_file(scratch / "target").value() == "new");
}

TEST_CASE_FIXTURE(OnDisk, "a writer that fails leaves the old file and nothing else") {
    REQUIRE(write_file_atomically(scratch / "f", "old"));
    const Result<void> written =
        replace_file(scratch / "f", [](const std::filesystem::path& path) -> Result<void> {
            REQUIRE(write_file_atomically(path, "half"));
            return failed("stopped");
        });
    REQUIRE(!written);
    CHECK(written.error().text() == "stopped");
    CHECK(read_text_file(scratch / "f").value() == "old");
    CHECK(scratch.files() == 1);
}

TEST_CASE_FIXTURE(OnDisk, "saving leaves the signals of the host alone, and tells its guard") {
    static std::string calls;
    calls.clear();
    const auto handlers = [] {
        std::vector<void (*)(int)> all;
        for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
            struct sigaction now {};
            ::sigaction(signal, nullptr, &now);
            all.push_back(now.sa_handler);
        }
        return all;
    };
    ::signal(SIGHUP, SIG_DFL);
    const auto before = handlers();
    set_save_guard({[] { calls += 'b'; }, [] { calls += 'e'; }, [] { return true; }});
    REQUIRE(replace_file(scratch / "f", [&](const std::filesystem::path& path) {
        CHECK((handlers() == before));
        CHECK(calls == "b");
        CHECK(interrupted());
        return write_file_atomically(path, "whole");
    }));
    CHECK(calls == "be");
    set_save_guard({});
    CHECK(!interrupted());
}

TEST_CASE_FIXTURE(OnDisk, "nothing is left of a file whose program is killed while it writes") {
    const std::vector<float> values(1 << 16, 1.0F);
    child_ended_by_signal([&] {
        static_cast<void>(replace_file(scratch / "f", [](const std::filesystem::path& path) {
            static_cast<void>(write_file_atomically(path, "half"));
            ::raise(SIGKILL);
            return Result<void>{};
        }));
    });
    child_ended_by_signal([&] {
        set_save_guard({nullptr, nullptr, [] { return ::raise(SIGKILL) == 0; }});
        static_cast<void>(
            write_npz(scratch / "f", std::vector<NpzEntry>{{"q", {1 << 16}, values}}));
    });
    CHECK(scratch.files() == 0);
}

TEST_CASE_FIXTURE(OnDisk,
                  "what a killed program left for a name goes with the next write of that name") {
    const pid_t child = child_ended_by_signal([] { ::raise(SIGKILL); });
    const std::string number = fmt::format("{:016x}", hash_text("f"));
    const auto put = [&](const std::string& name) { std::ofstream(scratch / name) << "half"; };
    put(fmt::format(".{}.{}.0.tmp", number, child));
    put(fmt::format(".{}.{}.0.tmp.vn3q6a", number, child));                            // libzip's
    const std::string retained[] = {fmt::format(".{}.{}.0.tmp", number, ::getppid()),  // it runs
                                    fmt::format(".{:016x}.{}.0.tmp", 1, child),  // of another name
                                    ".f.x.tmp"};  // of another program
    for (const std::string& name : retained) put(name);
    REQUIRE(write_file_atomically(scratch / "f", "whole"));
    CHECK(read_text_file(scratch / "f").value() == "whole");
    CHECK(scratch.files() == 4);
    for (const std::string& name : retained) CHECK(std::filesystem::exists(scratch / name));
}

TEST_CASE("a file keeps who may read it, and its name may be as long as the system allows") {
    namespace fs = std::filesystem;
    const Scratch scratch;
    for (const auto& name : {std::string("f"), std::string(255, 'n')})
        for (const fs::perms mode : {fs::perms(0600), fs::perms(0640), fs::perms(0604)}) {
            CAPTURE(name);
            const fs::path path = scratch / name;
            REQUIRE(write_file_atomically(path, "old"));
            fs::permissions(path, mode);
            REQUIRE(write_file_atomically(path, "new"));
            CHECK(fs::status(path).permissions() == mode);
            const std::vector<float> values{1.0F};
            REQUIRE(write_npz(path, std::vector<NpzEntry>{{"a", {1}, values}}));
            CHECK(fs::status(path).permissions() == mode);
        }
    const mode_t mask = ::umask(027);
    CHECK(write_file_atomically(scratch / "new", "x"));
    ::umask(mask);
    CHECK(fs::status(scratch / "new").permissions() == fs::perms(0640));
    CHECK(scratch.files() == 3);
}

TEST_CASE("a link that stands where the temporary file would is not followed") {
    namespace fs = std::filesystem;
    const Scratch scratch;
    REQUIRE(write_file_atomically(scratch / "other", "other"));
    for (int n = 0; n < 1000; ++n)
        fs::create_symlink(scratch / "other", scratch / fmt::format(".{:016x}.{}.{}.tmp",
                                                                    hash_text("f"), ::getpid(), n));
    REQUIRE(write_file_atomically(scratch / "f", "new"));
    CHECK(read_text_file(scratch / "other").value() == "other");
    CHECK(read_text_file(scratch / "f").value() == "new");
}

TEST_CASE_FIXTURE(OnDisk, "two that write one file at once have a temporary file each") {
    std::atomic<int> begun = 0;
    std::array<std::filesystem::path, 2> used;
    const auto write = [&](std::size_t n) {
        return replace_file(scratch / "f", [&, n](const std::filesystem::path& path) {
            used[n] = path;
            ++begun;
            while (begun < 2) std::this_thread::yield();
            return write_file_atomically(path, std::string(100, n == 0 ? 'a' : 'b'));
        });
    };
    std::thread other([&] { CHECK(write(1)); });
    CHECK(write(0));
    other.join();
    CHECK(used[0] != used[1]);
    CHECK(scratch.files() == 1);
}

TEST_CASE_FIXTURE(OnDisk,
                  "what cannot be written is a failure that names the file and the reason") {
    const auto full = must_fail(write_file_atomically("/dev/full", "x"));
    CHECK(full.kind == ErrorKind::failure);
    CHECK(full.text() == "cannot write /dev/full: No space left on device");
    CHECK(contains(write_file_atomically(scratch / "no/f", "x").error().text(),
                   "No such file or directory"));
    CHECK(contains(write_file_atomically(scratch.path(), "x").error().text(), "Is a directory"));
    CHECK(!write_file_atomically("", "x"));
    CHECK(scratch.files() == 0);
}

TEST_CASE_FIXTURE(OnDisk, "devices are written in place, files are not") {
    CHECK(writes_in_place("/dev/null"));
    CHECK(writes_in_place("/dev/stdout"));
    CHECK(!writes_in_place(scratch / "f"));
    CHECK(!writes_in_place(scratch.path()));
    CHECK(write_file_atomically("/dev/null", "x"));
}

TEST_CASE_FIXTURE(OnDisk,
                  "what cannot be read is an input error that names the file and the reason") {
    const auto missing = must_fail(read_text_file(scratch / "none"));
    CHECK(missing.kind == ErrorKind::input);
    CHECK(contains(missing.text(), "none: No such file or directory"));
    CHECK(contains(read_text_file(scratch.path()).error().text(), "Is a directory"));
    CHECK(contains(read_text_file("/dev/zero").error().text(), "larger than"));
}

// What windows/core does with memory and files, as a program of its own: windows_files.py compiles it and runs it under Wine.
#include <immintrin.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "core/io/file.h"
#include "core/platform.h"

namespace {

namespace fs = std::filesystem;

int faults = 0;

void check(bool holds, const char* what) {
    if (!holds) std::printf("FAILED: %s\n", what);
    if (!holds) ++faults;
}

/// More vectors than there are registers, so that some lie on the stack, which Windows aligns to 16 bytes.
__attribute__((target("avx512f"), noinline)) float sum_of_spilled(const float* from, int count) {
    volatile char shifts_the_stack[8] = {};
    __m512 all[40];
    for (auto& each : all) each = _mm512_loadu_ps(from + count);
    shifts_the_stack[count] = 1;
    __m512 sum = _mm512_setzero_ps();
    for (int round = 0; round < 3; ++round)
        for (auto& each : all) sum = _mm512_add_ps(sum, each = _mm512_add_ps(each, each));
    return _mm512_reduce_add_ps(sum) + static_cast<float>(shifts_the_stack[0]);
}

void check_memory() {
    using namespace attn::platform;
    constexpr std::size_t kBytes = std::size_t{4} << 20, kBoundary = std::size_t{2} << 20;
    auto* const pages = static_cast<char*>(map_pages(kBytes, kBoundary));
    check(reinterpret_cast<std::uintptr_t>(pages) % kBoundary == 0, "pages lie at the boundary");
    check(pages[0] == 0 && pages[kBytes - 1] == 0, "pages are zero");
    pages[kBytes - 1] = 7;
    offer_pages(pages, kBytes);
    pages[0] = 1;
    unmap_pages(pages, kBytes);
    check(physical_memory_bytes() > (1U << 28), "the machine has memory");
    check(free_memory_bytes().value_or(0) > 0, "some memory is free");
    check(resident_memory_bytes() > 0, "this process holds memory");
    check(program_path().extension() == ".exe", "the program has a path");
    lower_thread_priority();
}

void check_files(const fs::path& folder) {
    using namespace attn;
    const fs::path file = folder / fs::path(u8"ä 中.txt");
    check(fs::path("ä 中.txt") == file.filename(), "a path from char is UTF-8");
    check(file.filename().string() == "ä 中.txt", "a path gives UTF-8");
    check(write_file_atomically(file, "one\r\ntwo\n").has_value(), "a file is written");
    const auto read = read_text_file(file);
    check(read && *read == "one\r\ntwo\n", "it is read byte for byte");
    check(write_file_atomically(file, "three").has_value(), "it is replaced");
    check(read_text_file(file).value_or("") == "three", "the new text is read");
    check(!read_text_file(folder / "none"), "a missing file is an error");
    check(!read_text_file(folder), "a folder is an error");
    check(!write_file_atomically(folder, "x"), "a folder is not replaced");
    check(writes_in_place("NUL") && !writes_in_place(file), "NUL is written in place");
    check(write_file_atomically("NUL", "x").has_value(), "NUL takes bytes");

    const auto mapped = platform::map_file(file);
    check(mapped.size == 5 && std::string_view(mapped.data, 5) == "three", "it is mapped");
    platform::release_mapped(mapped.data, mapped.data + mapped.size);
    check(mapped.data[4] == 'e', "released pages come back");
    platform::unmap_file(mapped.data, mapped.size);
    check(platform::map_file(folder).status.kind == platform::FileKind::folder, "a folder is one");
    check(platform::readable_status(folder / "none").error == ENOENT, "a missing file is missing");
    const auto identity = platform::file_identity(file);
    check(identity && !identity->empty() &&
              identity == platform::file_identity(folder / "." / file.filename()),
          "two names of a file have one identity");
    check(!platform::file_identity(folder / "none"), "a missing file has none");

    const auto failing =
        replace_file(file, [](const fs::path&) -> Result<void> { return failed("no"); });
    check(!failing && read_text_file(file).value_or("") == "three",
          "a failed writer leaves the old file");
    int left = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) ++left;
    check(left == 1, "no temporary file is left");
}

}  // namespace

int main() {
    const fs::path folder = fs::current_path() / "files";
    fs::create_directories(folder);
    check_memory();
    check_files(folder);
    if (__builtin_cpu_supports("avx512f")) {
        const float ones[32] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
        float sum = 0.0F;
        std::thread([&] { sum = sum_of_spilled(ones, 3); }).join();
        check(sum == 16.0F * 40.0F * (2 + 4 + 8), "vectors of 64 bytes lie on the stack");
    }
    std::printf("%d faults\n", faults);
    return faults != 0 ? 1 : 0;
}

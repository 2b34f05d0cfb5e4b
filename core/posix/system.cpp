#include "core/posix/system.h"

#include <sys/mman.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/resource.h>
#include <sys/syscall.h>
#endif

#include <fstream>
#include <string>
#include <system_error>

#include "core/platform.h"

namespace attn::platform {

void ask_for_huge_pages(void* pages, std::size_t bytes) noexcept {
    ::madvise(pages, bytes, MADV_HUGEPAGE);
}

std::optional<double> free_memory_bytes() {
    std::ifstream lines("/proc/meminfo");  // "MemAvailable:   23469284 kB"
    std::string name;
    double kilobytes = 0.0;
    for (std::string rest; lines >> name >> kilobytes; std::getline(lines, rest))
        if (name == "MemAvailable:") return 1024.0 * kilobytes;
    return std::nullopt;
}

std::size_t resident_memory_bytes() {
    std::ifstream pages("/proc/self/statm");  // "all resident shared …"
    std::size_t all = 0;
    std::size_t resident = 0;
    return pages >> all >> resident ? resident * page_bytes() : 0;
}

void lower_thread_priority() {
#ifdef __linux__
    // Linux has a nice value for each thread; 10 gives about a tenth of a normal thread's time.
    constexpr int kNice = 10;
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kNice);
#endif
}

std::filesystem::path program_path() {
    std::error_code failed;
    auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
    return failed ? std::filesystem::path() : program;
}

}  // namespace attn::platform

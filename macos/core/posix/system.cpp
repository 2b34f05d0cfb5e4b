#include "core/posix/system.h"

#include <mach-o/dyld.h>
#include <mach/mach.h>
#include <pthread/qos.h>

#include <string>

#include "core/platform.h"

namespace attn::platform {

void ask_for_huge_pages(void*, std::size_t) noexcept {}

std::optional<double> free_memory_bytes() {
    vm_statistics64_data_t found{};
    mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
    const auto to = reinterpret_cast<host_info64_t>(&found);
    if (::host_statistics64(::mach_host_self(), HOST_VM_INFO64, to, &count) != KERN_SUCCESS)
        return std::nullopt;
    const auto pages = static_cast<double>(found.free_count) +
                       static_cast<double>(found.inactive_count) +
                       static_cast<double>(found.purgeable_count);
    return pages * static_cast<double>(page_bytes());
}

std::size_t resident_memory_bytes() {
    mach_task_basic_info_data_t found{};
    mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
    const auto to = reinterpret_cast<task_info_t>(&found);
    const auto code = ::task_info(::mach_task_self(), MACH_TASK_BASIC_INFO, to, &count);
    return code == KERN_SUCCESS ? found.resident_size : 0;
}

void lower_thread_priority() { ::pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0); }

std::filesystem::path program_path() {
    std::uint32_t bytes = 0;
    ::_NSGetExecutablePath(nullptr, &bytes);
    std::string name(bytes, '\0');
    if (::_NSGetExecutablePath(name.data(), &bytes) != 0) return {};
    std::error_code failed;
    auto program = std::filesystem::canonical(name.c_str(), failed);
    return failed ? std::filesystem::path() : program;
}

}  // namespace attn::platform

#include "core/platform.h"

#include <windows.h>
// after windows.h
#include <psapi.h>

#include <cerrno>
#include <new>

namespace attn::platform {
namespace {

constexpr std::size_t kGranularity = 65536;  // of the addresses that VirtualAlloc() gives
constexpr int kMostTries = 100;

constexpr DWORD kShared = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

class Handle {
  public:
    explicit Handle(HANDLE handle) : handle_(handle) {}
    ~Handle() {
        if (is_open()) ::CloseHandle(handle_);
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    bool is_open() const { return handle_ != nullptr && handle_ != INVALID_HANDLE_VALUE; }
    HANDLE get() const { return handle_; }

  private:
    HANDLE handle_;
};

int errno_of(DWORD code) {
    switch (code) {
        case ERROR_FILE_NOT_FOUND:
        case ERROR_PATH_NOT_FOUND:
        case ERROR_INVALID_NAME:
        case ERROR_BAD_NETPATH:
            return ENOENT;
        case ERROR_ACCESS_DENIED:
        case ERROR_SHARING_VIOLATION:
        case ERROR_LOCK_VIOLATION:
            return EACCES;
        case ERROR_NOT_ENOUGH_MEMORY:
        case ERROR_OUTOFMEMORY:
            return ENOMEM;
        default:
            return EIO;
    }
}

bool is_folder(const std::filesystem::path& path) {
    const DWORD attributes = ::GetFileAttributesW(path.c_str());
    return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

HANDLE open_to_read(const std::filesystem::path& path) {
    return ::CreateFileW(path.c_str(), GENERIC_READ, kShared, nullptr, OPEN_EXISTING,
                         FILE_ATTRIBUTE_NORMAL, nullptr);
}

FileKind kind_of(HANDLE file) {
    return ::GetFileType(file) == FILE_TYPE_DISK ? FileKind::file : FileKind::other;
}

MEMORYSTATUSEX memory_status() {
    MEMORYSTATUSEX status{};
    status.dwLength = sizeof(status);
    ::GlobalMemoryStatusEx(&status);
    return status;
}

void* allocate(void* at, std::size_t bytes) {
    return ::VirtualAlloc(at, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

}  // namespace

// Windows frees what it gave as a whole. So a range that holds an aligned one is found, freed, and the aligned one asked for:
// another thread may take it meanwhile.
void* map_pages(std::size_t bytes, std::size_t boundary) {
    if (bytes > SIZE_MAX - 2 * boundary) throw std::bad_alloc();
    if (boundary <= kGranularity) {
        void* const pages = allocate(nullptr, bytes);
        if (pages == nullptr) throw std::bad_alloc();
        return pages;
    }
    for (int n = 0; n < kMostTries; ++n) {
        void* const range = ::VirtualAlloc(nullptr, bytes + boundary, MEM_RESERVE, PAGE_NOACCESS);
        if (range == nullptr) break;
        const auto begin = reinterpret_cast<std::uintptr_t>(range);
        ::VirtualFree(range, 0, MEM_RELEASE);
        const std::uintptr_t aligned = (begin + boundary - 1) / boundary * boundary;
        if (void* const pages = allocate(reinterpret_cast<void*>(aligned), bytes)) return pages;
    }
    throw std::bad_alloc();
}

void unmap_pages(void* pages, std::size_t) noexcept { ::VirtualFree(pages, 0, MEM_RELEASE); }

void offer_pages(void* pages, std::size_t bytes) noexcept {
    ::VirtualAlloc(pages, bytes, MEM_RESET, PAGE_READWRITE);
}

std::size_t page_bytes() {
    SYSTEM_INFO info{};
    ::GetSystemInfo(&info);
    return info.dwPageSize;
}

std::size_t physical_memory_bytes() { return memory_status().ullTotalPhys; }

std::optional<double> free_memory_bytes() {
    return static_cast<double>(memory_status().ullAvailPhys);
}

std::size_t resident_memory_bytes() {
    PROCESS_MEMORY_COUNTERS counters{};
    if (!::K32GetProcessMemoryInfo(::GetCurrentProcess(), &counters, sizeof(counters))) return 0;
    return counters.WorkingSetSize;
}

void lower_thread_priority() {
    ::SetThreadPriority(::GetCurrentThread(), THREAD_PRIORITY_BELOW_NORMAL);
}

FileStatus readable_status(const std::filesystem::path& path) {
    if (is_folder(path)) return {FileKind::folder, 0};
    const Handle file(open_to_read(path));
    if (!file.is_open()) return {FileKind::file, errno_of(::GetLastError())};
    return {kind_of(file.get()), 0};
}

std::optional<std::string> file_identity(const std::filesystem::path& path) {
    if (is_folder(path)) return "";
    const Handle file(::CreateFileW(path.c_str(), 0, kShared, nullptr, OPEN_EXISTING,
                                    FILE_ATTRIBUTE_NORMAL, nullptr));
    if (!file.is_open()) return std::nullopt;
    if (kind_of(file.get()) != FileKind::file) return "";
    BY_HANDLE_FILE_INFORMATION found{};
    if (!::GetFileInformationByHandle(file.get(), &found)) return "";
    return std::to_string(found.dwVolumeSerialNumber) + ":" + std::to_string(found.nFileIndexHigh) +
           ":" + std::to_string(found.nFileIndexLow);
}

std::filesystem::path program_path() {
    std::wstring name(MAX_PATH, L'\0');
    for (;;) {
        const DWORD length =
            ::GetModuleFileNameW(nullptr, name.data(), static_cast<DWORD>(name.size()));
        if (length < name.size()) return name.substr(0, length);
        name.resize(2 * name.size());
    }
}

MappedBytes map_file(const std::filesystem::path& path) {
    MappedBytes mapped;
    if (is_folder(path)) {
        mapped.status.kind = FileKind::folder;
        return mapped;
    }
    const Handle file(open_to_read(path));
    if (!file.is_open()) {
        mapped.status.error = errno_of(::GetLastError());
        return mapped;
    }
    mapped.status.kind = kind_of(file.get());
    LARGE_INTEGER size{};
    if (mapped.status.kind != FileKind::file || !::GetFileSizeEx(file.get(), &size) ||
        size.QuadPart == 0)
        return mapped;
    mapped.size = static_cast<std::size_t>(size.QuadPart);
    const Handle mapping(::CreateFileMappingW(file.get(), nullptr, PAGE_READONLY, 0, 0, nullptr));
    if (mapping.is_open())
        mapped.data =
            static_cast<const char*>(::MapViewOfFile(mapping.get(), FILE_MAP_READ, 0, 0, 0));
    if (mapped.data == nullptr) mapped.status.error = errno_of(::GetLastError());
    return mapped;
}

void unmap_file(const char* data, std::size_t) noexcept { ::UnmapViewOfFile(data); }

// To unlock pages that are not locked takes them out of the working set.
void release_mapped(const char* begin, const char* end) noexcept {
    const std::uintptr_t page = page_bytes();
    const auto first = (reinterpret_cast<std::uintptr_t>(begin) + page - 1) / page * page;
    const auto last = reinterpret_cast<std::uintptr_t>(end) / page * page;
    if (first < last) ::VirtualUnlock(reinterpret_cast<void*>(first), last - first);
}

}  // namespace attn::platform

#include "app/files/standard.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <new>
#include <system_error>

#include "app/common/or_throw.h"
#include "core/io/file.h"

namespace attn::files {
namespace {

std::string read_all(int fd) try {
    std::string bytes;
    std::array<char, 1 << 16> chunk;
    for (;;) {
        const ssize_t got = ::read(fd, chunk.data(), chunk.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            throw bad_input(fmt::format("cannot read standard input: {}",
                                        std::generic_category().message(errno)));
        if (got == 0) return bytes;
        bytes.append(chunk.data(), static_cast<std::size_t>(got));
    }
} catch (const std::bad_alloc&) {
    throw failed("there is not enough memory to read standard input");
}

}  // namespace

std::string shown_input(std::string_view path) {
    return is_standard(path) ? "standard input" : std::string(path);
}

const Result<std::string>& standard_input() {
    static const Result<std::string> bytes = caught([] { return read_all(STDIN_FILENO); });
    return bytes;
}

Result<std::string> read_text(const std::string& path) {
    return is_standard(path) ? standard_input() : read_text_file(path);
}

}  // namespace attn::files

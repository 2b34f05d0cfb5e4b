#include "app/files/standard.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <optional>
#include <system_error>

#include "app/common/or_throw.h"
#include "core/io/arrays/array_file.h"
#include "core/io/file.h"
#include "core/memory.h"

namespace attn::files {
namespace {

/// Standard input, which can be read only once, as far as it was read.
class StandardInput {
  public:
    /// At least so many bytes, or all that there are.
    const std::string& first(std::size_t count) try {
        std::array<char, 1 << 16> chunk;
        while (!ended_ && bytes_.size() < count) {
            const std::size_t wanted = std::min(chunk.size(), count - bytes_.size());
            const ssize_t got = ::read(STDIN_FILENO, chunk.data(), wanted);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0)
                throw bad_input(fmt::format("cannot read standard input: {}",
                                            std::generic_category().message(errno)));
            ended_ = got == 0;
            bytes_.append(chunk.data(), static_cast<std::size_t>(got));
        }
        return bytes_;
    } catch (const std::bad_alloc&) {
        throw failed("there is not enough memory to read standard input");
    }

    /// All of it. More than its header promises, or than a text or this machine can hold, is not read.
    const std::string& all() {
        const ArrayFormat* const format = find_format_of(first(kFormatBytes));
        const std::size_t most =
            format ? static_cast<std::size_t>(memory_bytes()) / 2 : kMaxTextBytes;
        if (const auto promised = npy_bytes(format)) return first(std::min(most, *promised) + 1);
        if (first(most + 1).size() > most)
            throw bad_input(
                fmt::format("standard input has more than {} MiB; expected at most that much of "
                            "{}. Save it as a file and give its name.",
                            most >> 20, format ? "arrays in a stream" : "a text"));
        return bytes_;
    }

  private:
    /// Of a .npy, whose header says how long it is.
    std::optional<std::size_t> npy_bytes(const ArrayFormat* format) {
        if (!format || format->extension != ".npy") return std::nullopt;
        const auto header = parse_npy_header(first(kMaxNpyHeader), "standard input");
        return header ? std::optional(static_cast<std::size_t>(header->total_bytes)) : kFormatBytes;
    }

    std::string bytes_;
    bool ended_ = false;
};

StandardInput& input() {
    static StandardInput one;
    return one;
}

}  // namespace

std::string shown_input(std::string_view path) {
    return is_standard(path) ? "standard input" : std::string(path);
}

Result<std::string> standard_beginning() {
    return caught([] { return input().first(kFormatBytes).substr(0, kFormatBytes); });
}

const Result<std::string>& standard_input() {
    static const Result<std::string> bytes = caught([] { return input().all(); });
    return bytes;
}

Result<std::string> read_text(const std::string& path) {
    return is_standard(path) ? standard_input() : read_text_file(path);
}

}  // namespace attn::files

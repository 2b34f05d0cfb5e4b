#include "core/io/array_memory.h"

#include "core/io/npy.h"
#include "core/memory.h"
#include "core/shape.h"
#include "core/text.h"

namespace attn {

std::string with_sizes(std::string_view what, std::string_view dtype,
                       const std::vector<Index>& extents, std::uint64_t bytes) {
    return fmt::format("{}, {} {}, {} bytes", what, dtype, to_string(extents), bytes);
}

namespace {

Result<void> check_needed_memory(std::string_view what, const NpyHeader& header, double needed,
                                 double held) {
    constexpr double kGigabyte = 1e9;
    const auto available = static_cast<double>(memory_bytes());
    if (held + needed < available) return {};
    return bad_input(
        fmt::format("{} is {} {}: it needs {:.1f} GB besides the {:.1f} GB of the arrays before "
                    "it, and this machine has {:.1f} GB",
                    what, header.type.name, to_string(header.extents), needed / kGigabyte,
                    held / kGigabyte, available / kGigabyte));
}

}  // namespace

Result<void> check_array_memory(std::string_view what, const NpyHeader& header, double held) {
    const auto items = static_cast<double>(header.items);
    const double values = items * static_cast<double>(bytes_of_value(header.type));
    const double needed = values * (header.fortran_order ? 2.0 : 1.0) + items * sizeof(float);
    return check_needed_memory(what, header, needed, held);
}

Result<void> check_text_memory(std::string_view what, const NpyHeader& header, double held) {
    if (header.extents.size() > 1)
        return bad_input(
            fmt::format("{} is text of shape {}; expected a text scalar or one axis of texts", what,
                        to_string(header.extents)));
    if (header.items > kMaxTexts)
        return bad_input(fmt::format("{} holds {}; expected at most {}", what,
                                     counted(header.items, "text"), kMaxTexts));
    const auto bytes = static_cast<double>(header.total_bytes);
    const double strings = static_cast<double>(header.items) * sizeof(std::string);
    return check_needed_memory(what, header, 2.0 * bytes + strings, held);
}

Result<void> check_stored_memory(std::string_view what, const NpyHeader& header, double held) {
    const auto items = static_cast<double>(header.items);
    return check_needed_memory(what, header, items * static_cast<double>(header.type.bytes), held);
}

}  // namespace attn

#include "core/io/arrays/array_file.h"

#include <fmt/format.h>

#include "core/io/array_memory.h"
#include "core/text.h"

namespace attn {
namespace {

std::string place(const std::string& file, std::string_view name) {
    return fmt::format("{}: {}", file, shortened(name, 4 * kMostQuoted));
}

}  // namespace

Result<void> ArrayFile::set_names(std::vector<std::string> names) {
    names_ = std::move(names);
    for (std::size_t at = 0; at < names_.size(); ++at)
        if (!places_.emplace(names_[at], at).second)
            return bad_input(fmt::format("{} holds {} twice", what_, shortened(names_[at])));
    return {};
}

Result<std::size_t> ArrayFile::find(std::string_view name, const std::string& what) const {
    const auto found = places_.find(name);
    if (found == places_.end()) return bad_input(fmt::format("{} is not there", what));
    return found->second;
}

Result<ArrayInfo> ArrayFile::about(std::string_view name) const {
    const std::string what = place(what_, name);
    return find(name, what).and_then([&](std::size_t at) { return about_at(at, what); });
}

Result<NpyArray> ArrayFile::read(std::string_view name, double held) const {
    const std::string what = place(what_, name);
    return find(name, what).and_then([&](std::size_t at) {
        return within_memory([&] { return sized(at, what); },
                             [&] { return read_at(at, what, held); });
    });
}

Result<std::optional<HalfArray>> ArrayFile::read_halves(std::string_view name, double held) const {
    const std::string what = place(what_, name);
    return find(name, what).and_then([&](std::size_t at) {
        return within_memory([&] { return sized(at, what); },
                             [&] { return read_halves_at(at, what, held); });
    });
}

Result<std::optional<HalfArray>> ArrayFile::read_halves_at(std::size_t, const std::string&,
                                                           double) const {
    return std::nullopt;
}

Result<std::optional<CodeArray>> ArrayFile::read_codes(std::string_view name, double held) const {
    const std::string what = place(what_, name);
    return find(name, what).and_then([&](std::size_t at) {
        return within_memory([&] { return sized(at, what); },
                             [&] { return read_codes_at(at, what, held); });
    });
}

Result<std::optional<CodeArray>> ArrayFile::read_codes_at(std::size_t, const std::string&,
                                                          double) const {
    return std::nullopt;
}

std::string ArrayFile::sized(std::size_t at, const std::string& what) const {
    const Result<ArrayInfo> info = about_at(at, what);
    return info ? with_sizes(what, info->dtype, info->extents, info->bytes) : what;
}

Result<std::optional<std::string>> ArrayFile::text(std::string_view) const { return std::nullopt; }

}  // namespace attn

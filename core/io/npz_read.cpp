#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <ranges>
#include <set>
#include <system_error>
#include <type_traits>

#include "core/io/array_memory.h"
#include "core/io/npz.h"
#include "core/shape.h"
#include "core/text.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAs = ".npz (a zip of .npy arrays)";

std::string array_name(std::string_view entry) {
    if (entry.ends_with(".npy")) entry.remove_suffix(4);
    return std::string(entry);
}

// Before anything is allocated: the header's promise against the zip's.
Result<void> check_size(std::string_view what, const NpyHeader& header, std::uint64_t declared) {
    const bool sized = header.type.kind != 'O';  // a pickle has any length
    if (sized && header.total_bytes != declared)
        return bad_input(fmt::format("{} has {}, but its header of {} {} promises {}", what,
                                     counted(declared, "byte"), header.type.name,
                                     to_string(header.extents), header.total_bytes));
    if (declared > kMaxArrayBytes)
        return bad_input(fmt::format("{} has {}; at most {} GiB are read", what,
                                     counted(declared, "byte"), kMaxArrayBytes >> 30));
    return {};
}

/// An entry whose header was read.
struct Begun {
    ZipEntry entry;
    std::string begin;  // its first bytes
    NpyHeader header;
};

/// Then `begin` has the whole file.
Result<void> read_rest(Begun& begun) {
    std::string& bytes = begun.begin;
    const std::uint64_t rest =
        begun.entry.size() - std::min<std::uint64_t>(begun.entry.size(), bytes.size());
    return begun.entry.rest(rest, [&](std::string_view piece) { bytes += piece; });
}

Result<NpyArray> read_texts(Begun& begun, std::string_view what) {
    return read_rest(begun).and_then([&] { return parse_npy(begun.begin, what); });
}

Result<NpyArray> read_numbers(Begun& begun, std::string_view what) {
    const NpyHeader& header = begun.header;
    NpyNumbers numbers(header);
    std::uint64_t missing = header.total_bytes - header.data_offset;
    bool too_long = false;
    const auto take = [&](std::string_view piece) {
        too_long = too_long || piece.size() > missing;
        piece = piece.substr(0, missing);
        missing -= piece.size();
        numbers.add(piece);
    };
    take(std::string_view(begun.begin).substr(header.data_offset));
    const std::uint64_t rest = missing;
    if (auto read = begun.entry.rest(rest, take); !read) return tl::unexpected(read.error());
    if (missing > 0 || too_long)
        return bad_input(fmt::format("{} is damaged: its length does not match its header", what));
    return numbers.finish();
}

Result<Begun> begin_entry(const ZipFile& zip, std::size_t index, const std::string& what) {
    auto entry = zip.entry(index, what);
    if (!entry) return tl::unexpected(std::move(entry.error()));
    auto begin = entry->next(kMaxNpyHeader);
    if (!begin) return tl::unexpected(begin.error());
    const Result<NpyHeader> header = parse_npy_header(*begin, what);
    if (!header) return tl::unexpected(header.error());
    if (auto fits = check_size(what, *header, entry->size()); !fits)
        return tl::unexpected(fits.error());
    return Begun{*std::move(entry), *std::move(begin), *header};
}

/// `held`: bytes of what was read before.
Result<NpyArray> read_entry(Begun begun, std::string_view what, double held) {
    const bool texts = is_text(begun.header.type) || begun.header.type.kind == 'O';
    if (auto fits = (texts ? check_text_memory : check_array_memory)(what, begun.header, held);
        !fits)
        return tl::unexpected(fits.error());
    return texts ? read_texts(begun, what) : read_numbers(begun, what);
}

/// What the values of an array take.
double bytes_held(const NpyArray& array) {
    const auto bytes = [](const auto& values) {
        using Value = std::ranges::range_value_t<decltype(values)>;
        double sum = static_cast<double>(values.size()) * sizeof(Value);
        if constexpr (std::is_same_v<Value, std::string>)
            for (const std::string& text : values) sum += static_cast<double>(text.size());
        return sum;
    };
    return std::visit(bytes, array.values);
}

Result<Npz> read_arrays(const Result<NpzFile>& file, std::span<const std::string_view> wanted) {
    if (!file) return tl::unexpected(file.error());
    Npz npz;
    npz.names = file->names();
    double held = 0.0;
    for (const std::string& name : npz.names) {
        if (!wanted.empty() && std::ranges::count(wanted, name) == 0) continue;
        Result<NpyArray> array = file->read(name, held);
        if (!array) return tl::unexpected(std::move(array.error()));
        held += bytes_held(*array);
        npz.arrays.emplace(name, *std::move(array));
    }
    return npz;
}

}  // namespace

Result<NpzFile> NpzFile::open(const fs::path& path) { return list(ZipFile::open(path, kAs)); }

Result<NpzFile> NpzFile::open(std::string_view bytes, std::string_view what) {
    return list(ZipFile::open(bytes, what, kAs));
}

Result<NpzFile> NpzFile::list(Result<ZipFile> zip) {
    if (!zip) return tl::unexpected(std::move(zip.error()));
    NpzFile file(*std::move(zip));
    std::set<std::string> seen;
    for (const std::string& entry : file.zip_.names())
        if (!seen.insert(file.names_.emplace_back(array_name(entry))).second)
            return bad_input(
                fmt::format("{} holds {} twice", file.zip_.what(), file.names_.back()));
    return file;
}

Result<std::optional<std::string>> NpzFile::objects(std::string_view name) const {
    const std::string what = fmt::format("{}: {}", zip_.what(), name);
    return find(name, what)
        .and_then([&](std::size_t index) { return begin_entry(zip_, index, what); })
        .and_then([&](Begun&& begun) -> Result<std::optional<std::string>> {
            if (begun.header.type.kind != 'O') return std::nullopt;
            return read_rest(begun).map([&] { return std::optional(std::move(begun.begin)); });
        });
}

bool NpzFile::contains(std::string_view name) const {
    return std::ranges::find(names_, name) != names_.end();
}

Result<std::size_t> NpzFile::find(std::string_view name, const std::string& what) const {
    const auto at = std::ranges::find(names_, name);
    if (at == names_.end()) return bad_input(fmt::format("{} is not there", what));
    return static_cast<std::size_t>(at - names_.begin());
}

Result<NpyHeader> NpzFile::header(std::string_view name) const {
    const std::string what = fmt::format("{}: {}", zip_.what(), name);
    return find(name, what)
        .and_then([&](std::size_t index) { return begin_entry(zip_, index, what); })
        .map([](const Begun& begun) { return begun.header; });
}

Result<NpyArray> NpzFile::read(std::string_view name, double held) const {
    const std::string what = fmt::format("{}: {}", zip_.what(), name);
    const auto read = [&](Begun&& begun) {
        const NpyHeader header = begun.header;
        return within_memory(
            [&] {
                return with_sizes(what, header.type.name, header.extents,
                                  header.total_bytes - header.data_offset);
            },
            [&] { return read_entry(std::move(begun), what, held); });
    };
    return find(name, what)
        .and_then([&](std::size_t index) { return begin_entry(zip_, index, what); })
        .and_then(read);
}

Result<Npz> read_npz(const fs::path& path, std::span<const std::string_view> wanted) {
    return read_arrays(NpzFile::open(path), wanted);
}

Result<Npz> parse_npz(std::string_view bytes, std::string_view what) {
    return read_arrays(NpzFile::open(bytes, what), {});
}

}  // namespace attn

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <ranges>
#include <set>
#include <system_error>
#include <type_traits>

#include "core/io/array_memory.h"
#include "core/io/npz.h"
#include "core/stop.h"
#include "core/text.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

struct CloseEntry {
    void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};
using ZipEntry = std::unique_ptr<zip_file_t, CloseEntry>;

// Takes over `source`.
Result<zip_t*> open_zip(zip_source_t* source, zip_error_t& error, std::string_view what) {
    zip_t* const zip = source ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr;
    if (zip) return zip;
    const std::string reason = zip_error_strerror(&error);
    if (source) zip_source_free(source);
    zip_error_fini(&error);
    return bad_input(
        fmt::format("{} cannot be read as .npz (a zip of .npy arrays): {}", what, reason));
}

std::string array_name(std::string_view entry) {
    if (entry.ends_with(".npy")) entry.remove_suffix(4);
    return std::string(entry);
}

// One entry being read; `what` is "IN.npz: Q".
struct Reading {
    zip_file_t* entry;
    std::string what;

    /// Up to `size` bytes; less only at the end of the entry.
    Result<std::string> next(std::uint64_t size) {
        std::string bytes(size, '\0');
        std::size_t done = 0;
        constexpr std::uint64_t kMost = std::uint64_t{1} << 22;  // between two checks
        while (done < size) {
            end_if_stopped();
            const zip_int64_t got =
                zip_fread(entry, bytes.data() + done, std::min(size - done, kMost));
            if (got < 0)
                return bad_input(fmt::format("{} is damaged: {}", what, zip_file_strerror(entry)));
            if (got == 0) break;
            done += static_cast<std::size_t>(got);
        }
        bytes.resize(done);
        return bytes;
    }

    /// What is left, in pieces, at most `size` bytes; then the end, where libzip checks the CRC.
    Result<void> rest(std::uint64_t size, const std::function<void(std::string_view)>& take) {
        constexpr std::uint64_t kPiece = 1 << 20;
        while (true) {
            const std::uint64_t wanted = std::min(size + 1, kPiece);
            const auto piece = next(wanted);
            if (!piece) return tl::unexpected(piece.error());
            take(*piece);
            if (piece->size() < wanted) return {};
            size -= std::min<std::uint64_t>(piece->size(), size);
        }
    }
};

// Before anything is allocated: the header's promise against the zip's.
Result<void> check_size(std::string_view what, const NpyHeader& header, std::uint64_t declared) {
    if (header.total_bytes != declared)
        return bad_input(fmt::format("{} has {}, but its header of {} {} promises {}", what,
                                     counted(declared, "byte"), header.type.name,
                                     to_string(header.extents), header.total_bytes));
    if (declared > kMaxArrayBytes)
        return bad_input(fmt::format("{} has {}; at most {} GiB are read", what,
                                     counted(declared, "byte"), kMaxArrayBytes >> 30));
    return {};
}

Result<NpyArray> read_texts(Reading& reading, std::string bytes, std::uint64_t declared) {
    const std::uint64_t rest = declared - std::min<std::uint64_t>(declared, bytes.size());
    return reading.rest(rest, [&](std::string_view piece) { bytes += piece; }).and_then([&] {
        return parse_npy(bytes, reading.what);
    });
}

Result<NpyArray> read_numbers(Reading& reading, const NpyHeader& header, std::string_view begin) {
    NpyNumbers numbers(header);
    std::uint64_t missing = header.total_bytes - header.data_offset;
    bool too_long = false;
    const auto take = [&](std::string_view piece) {
        too_long = too_long || piece.size() > missing;
        piece = piece.substr(0, missing);
        missing -= piece.size();
        numbers.add(piece);
    };
    take(begin.substr(header.data_offset));
    const std::uint64_t rest = missing;
    if (auto read = reading.rest(rest, take); !read) return tl::unexpected(read.error());
    if (missing > 0 || too_long)
        return bad_input(
            fmt::format("{} is damaged: it ends elsewhere than its header says", reading.what));
    return numbers.finish();
}

/// An entry whose header was read.
struct Begun {
    ZipEntry entry;
    std::uint64_t size;  // as the zip declares it
    std::string begin;   // its first bytes
    NpyHeader header;
};

Result<Begun> begin_entry(zip_t* zip, zip_uint64_t index, std::string_view what) {
    zip_stat_t stat;
    if (zip_stat_index(zip, index, 0, &stat) != 0 || (stat.valid & ZIP_STAT_SIZE) == 0)
        return bad_input(fmt::format("{} is damaged: {}", what, zip_strerror(zip)));
    ZipEntry entry(zip_fopen_index(zip, index, 0));
    if (!entry) return bad_input(fmt::format("{} cannot be read: {}", what, zip_strerror(zip)));
    auto begin = Reading{entry.get(), std::string(what)}.next(kMaxNpyHeader);
    if (!begin) return tl::unexpected(begin.error());
    const Result<NpyHeader> header = parse_npy_header(*begin, what);
    if (!header) return tl::unexpected(header.error());
    if (auto fits = check_size(what, *header, stat.size); !fits)
        return tl::unexpected(fits.error());
    return Begun{std::move(entry), stat.size, *std::move(begin), *header};
}

/// `held`: bytes of what was read before.
Result<NpyArray> read_entry(Begun begun, std::string_view what, double held) {
    Reading reading{begun.entry.get(), std::string(what)};
    const bool texts = is_text(begun.header.type);
    if (auto fits = (texts ? check_text_memory : check_array_memory)(what, begun.header, held);
        !fits)
        return tl::unexpected(fits.error());
    if (texts) return read_texts(reading, std::move(begun.begin), begun.size);
    return read_numbers(reading, begun.header, begun.begin);
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

struct NpzFile::Zip {
    zip_t* zip;
    explicit Zip(zip_t* opened) : zip(opened) {}
    Zip(const Zip&) = delete;
    Zip& operator=(const Zip&) = delete;
    ~Zip() { zip_discard(zip); }
};

NpzFile::NpzFile(std::unique_ptr<Zip> zip, std::string what)
    : zip_(std::move(zip)), what_(std::move(what)) {}
NpzFile::NpzFile(NpzFile&&) noexcept = default;
NpzFile& NpzFile::operator=(NpzFile&&) noexcept = default;
NpzFile::~NpzFile() = default;

Result<NpzFile> NpzFile::open(const fs::path& path) {
    std::error_code missing;
    const fs::file_status status = fs::status(path, missing);
    if (missing)
        return bad_input(fmt::format("cannot read {}: {}", path.string(), missing.message()));
    if (fs::is_directory(status))
        return bad_input(fmt::format("{} is a folder; expected an .npz file", path.string()));
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* const source = zip_source_file_create(path.c_str(), 0, -1, &error);
    const Result<zip_t*> zip = open_zip(source, error, path.string());
    if (!zip) return tl::unexpected(zip.error());
    return list(std::make_unique<Zip>(*zip), path.string());
}

Result<NpzFile> NpzFile::open(std::string_view bytes, std::string_view what) {
    if (bytes.empty())  // libzip would call it a zip without entries
        return bad_input(fmt::format("{} is empty; expected an .npz file", what));
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* const source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
    const Result<zip_t*> zip = open_zip(source, error, what);
    if (!zip) return tl::unexpected(zip.error());
    return list(std::make_unique<Zip>(*zip), std::string(what));
}

Result<NpzFile> NpzFile::list(std::unique_ptr<Zip> zip, std::string what) {
    NpzFile file(std::move(zip), std::move(what));
    const zip_int64_t count = zip_get_num_entries(file.zip_->zip, 0);
    std::set<std::string_view> seen;
    file.names_.reserve(count);
    for (zip_int64_t i = 0; i < count; ++i) {
        const char* const name =
            zip_get_name(file.zip_->zip, static_cast<zip_uint64_t>(i), ZIP_FL_ENC_GUESS);
        if (!name)
            return bad_input(
                fmt::format("{} is damaged: {}", file.what_, zip_strerror(file.zip_->zip)));
        if (!seen.insert(file.names_.emplace_back(array_name(name))).second)
            return bad_input(fmt::format("{} holds {} twice", file.what_, file.names_.back()));
    }
    return file;
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
    const std::string what = fmt::format("{}: {}", what_, name);
    return find(name, what)
        .and_then([&](std::size_t index) { return begin_entry(zip_->zip, index, what); })
        .map([](const Begun& begun) { return begun.header; });
}

Result<NpyArray> NpzFile::read(std::string_view name, double held) const {
    const std::string what = fmt::format("{}: {}", what_, name);
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
        .and_then([&](std::size_t index) { return begin_entry(zip_->zip, index, what); })
        .and_then(read);
}

Result<Npz> read_npz(const fs::path& path, std::span<const std::string_view> wanted) {
    return read_arrays(NpzFile::open(path), wanted);
}

Result<Npz> parse_npz(std::string_view bytes, std::string_view what) {
    return read_arrays(NpzFile::open(bytes, what), {});
}

}  // namespace attn

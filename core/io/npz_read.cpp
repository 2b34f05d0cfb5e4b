#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <memory>
#include <new>
#include <set>
#include <stdexcept>
#include <system_error>

#include "core/io/npz.h"

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
    std::string bytes;

    /// Appends up to `size` bytes; less only at the end of the entry.
    Result<void> more(std::uint64_t size) {
        constexpr std::uint64_t kChunk = 1 << 20;
        while (size > 0) {
            const std::size_t before = bytes.size();
            const std::uint64_t step = std::min(size, kChunk);
            bytes.resize(before + step);
            const zip_int64_t got = zip_fread(entry, bytes.data() + before, step);
            bytes.resize(before + static_cast<std::size_t>(std::max<zip_int64_t>(got, 0)));
            if (got < 0)
                return bad_input(fmt::format("{} is damaged: {}", what, zip_file_strerror(entry)));
            if (got == 0) return {};
            size -= static_cast<std::uint64_t>(got);
        }
        return {};
    }
};

// Before anything is allocated: the header's promise against the zip's.
Result<void> check_size(std::string_view what, const NpyHeader& header, std::uint64_t declared) {
    if (header.total_bytes != declared)
        return bad_input(fmt::format("{} has {} bytes, but its header of {} {} promises {}", what,
                                     declared, header.type.name, to_string(header.extents),
                                     header.total_bytes));
    if (declared > kMaxArrayBytes)
        return bad_input(fmt::format("{} has {} bytes; at most {} GiB are read", what, declared,
                                     kMaxArrayBytes >> 30));
    return {};
}

Result<NpyArray> read_entry(zip_t* zip, zip_uint64_t index, std::string_view what) {
    zip_stat_t stat;
    if (zip_stat_index(zip, index, 0, &stat) != 0 || (stat.valid & ZIP_STAT_SIZE) == 0)
        return bad_input(fmt::format("{} is damaged: {}", what, zip_strerror(zip)));
    const ZipEntry entry(zip_fopen_index(zip, index, 0));
    if (!entry) return bad_input(fmt::format("{} cannot be read: {}", what, zip_strerror(zip)));
    Reading reading{entry.get(), std::string(what), {}};
    if (auto read = reading.more(kMaxNpyHeader); !read) return tl::unexpected(read.error());
    const Result<NpyHeader> header = parse_npy_header(reading.bytes, what);
    if (!header) return tl::unexpected(header.error());
    if (auto fits = check_size(what, *header, stat.size); !fits)
        return tl::unexpected(fits.error());
    reading.bytes.reserve(stat.size);
    // One byte more than there is: libzip checks the CRC when it meets the end.
    if (auto read = reading.more(stat.size + 1 - std::min(stat.size, reading.bytes.size())); !read)
        return tl::unexpected(read.error());
    return parse_npy(reading.bytes, what);
}

/// `read`, with a sentence where the memory ends.
template <class Read>
auto within_memory(std::string_view what, Read read) -> decltype(read()) {
    try {
        return read();
    } catch (const std::bad_alloc&) {
        return failed(fmt::format("there is not enough memory to read {}", what));
    } catch (const std::length_error&) {
        return failed(fmt::format("there is not enough memory to read {}", what));
    }
}

Result<Npz> read_arrays(const Result<NpzFile>& file, std::span<const std::string_view> wanted) {
    if (!file) return tl::unexpected(file.error());
    Npz npz;
    npz.names = file->names();
    for (const std::string& name : npz.names) {
        if (!wanted.empty() && std::ranges::count(wanted, name) == 0) continue;
        Result<NpyArray> array = file->read(name);
        if (!array) return tl::unexpected(std::move(array.error()));
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
    file.names_.reserve(static_cast<std::size_t>(count));
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

Result<NpyArray> NpzFile::read(std::string_view name) const {
    const std::string what = fmt::format("{}: {}", what_, name);
    const auto at = std::ranges::find(names_, name);
    if (at == names_.end()) return bad_input(fmt::format("{} is not there", what));
    const auto index = static_cast<zip_uint64_t>(at - names_.begin());
    return within_memory(what, [&] { return read_entry(zip_->zip, index, what); });
}

Result<Npz> read_npz(const fs::path& path, std::span<const std::string_view> wanted) {
    return read_arrays(NpzFile::open(path), wanted);
}

Result<Npz> parse_npz(std::string_view bytes, std::string_view what) {
    return read_arrays(NpzFile::open(bytes, what), {});
}

}  // namespace attn

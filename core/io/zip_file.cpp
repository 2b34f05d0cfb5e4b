#include "core/io/zip_file.h"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <system_error>

#include "core/stop.h"

namespace attn {

namespace fs = std::filesystem;

struct ZipEntry::Open {
    zip_file_t* file;
    explicit Open(zip_file_t* opened) : file(opened) {}
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;
    ~Open() { zip_fclose(file); }
};

struct ZipFile::Zip {
    zip_t* zip;
    explicit Zip(zip_t* opened) : zip(opened) {}
    Zip(const Zip&) = delete;
    Zip& operator=(const Zip&) = delete;
    ~Zip() { zip_discard(zip); }

    /// Takes over `source`.
    static Result<std::unique_ptr<Zip>> open(zip_source_t* source, zip_error_t& error,
                                             std::string_view what, std::string_view as) {
        zip_t* const zip = source ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr;
        if (zip) return std::make_unique<Zip>(zip);
        const std::string reason = zip_error_strerror(&error);
        if (source) zip_source_free(source);
        zip_error_fini(&error);
        return bad_input(fmt::format("{} cannot be read as {}: {}", what, as, reason));
    }
};

ZipEntry::ZipEntry(std::unique_ptr<Open> open, std::uint64_t size, std::string what)
    : open_(std::move(open)), size_(size), what_(std::move(what)) {}
ZipEntry::ZipEntry(ZipEntry&&) noexcept = default;
ZipEntry& ZipEntry::operator=(ZipEntry&&) noexcept = default;
ZipEntry::~ZipEntry() = default;

Result<std::string> ZipEntry::next(std::uint64_t size) {
    std::string bytes(size, '\0');
    std::size_t done = 0;
    constexpr std::uint64_t kMost = std::uint64_t{1} << 22;  // between two checks
    while (done < size) {
        end_if_stopped();
        const zip_int64_t got =
            zip_fread(open_->file, bytes.data() + done, std::min(size - done, kMost));
        if (got < 0)
            return bad_input(
                fmt::format("{} is damaged: {}", what_, zip_file_strerror(open_->file)));
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    bytes.resize(done);
    return bytes;
}

Result<void> ZipEntry::rest(std::uint64_t size, const std::function<void(std::string_view)>& take) {
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

Result<void> ZipEntry::skip(std::uint64_t size) {
    if (size == 0 || zip_fseek(open_->file, static_cast<zip_int64_t>(size), SEEK_CUR) == 0)
        return {};
    constexpr std::uint64_t kPiece = 1 << 20;
    while (size > 0) {
        const auto piece = next(std::min(size, kPiece));
        if (!piece) return tl::unexpected(piece.error());
        if (piece->empty()) break;
        size -= piece->size();
    }
    return {};
}

ZipFile::ZipFile(std::unique_ptr<Zip> zip, std::string what)
    : zip_(std::move(zip)), what_(std::move(what)) {}
ZipFile::ZipFile(ZipFile&&) noexcept = default;
ZipFile& ZipFile::operator=(ZipFile&&) noexcept = default;
ZipFile::~ZipFile() = default;

Result<ZipFile> ZipFile::open(const fs::path& path, std::string_view as) {
    std::error_code missing;
    const fs::file_status status = fs::status(path, missing);
    if (missing)
        return bad_input(fmt::format("cannot read {}: {}", path.string(), missing.message()));
    if (fs::is_directory(status))
        return bad_input(fmt::format("{} is a folder; expected {}", path.string(), as));
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* const source = zip_source_file_create(path.string().c_str(), 0, -1, &error);
    return list(Zip::open(source, error, path.string(), as), path.string());
}

Result<ZipFile> ZipFile::open(std::string_view bytes, std::string_view what, std::string_view as) {
    if (bytes.empty())  // libzip would call it a zip without entries
        return bad_input(fmt::format("{} is empty; expected {}", what, as));
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* const source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
    return list(Zip::open(source, error, what, as), what);
}

Result<ZipFile> ZipFile::list(Result<std::unique_ptr<Zip>> zip, std::string_view what) {
    if (!zip) return tl::unexpected(std::move(zip.error()));
    ZipFile file(*std::move(zip), std::string(what));
    const zip_int64_t count = zip_get_num_entries(file.zip_->zip, 0);
    file.names_.reserve(count);
    for (zip_int64_t i = 0; i < count; ++i) {
        const char* const name =
            zip_get_name(file.zip_->zip, static_cast<zip_uint64_t>(i), ZIP_FL_ENC_GUESS);
        if (!name)
            return bad_input(
                fmt::format("{} is damaged: {}", file.what_, zip_strerror(file.zip_->zip)));
        file.names_.emplace_back(name);
    }
    return file;
}

Result<ZipEntry> ZipFile::entry(std::size_t index, const std::string& what) const {
    zip_stat_t stat;
    if (zip_stat_index(zip_->zip, index, 0, &stat) != 0 || (stat.valid & ZIP_STAT_SIZE) == 0)
        return bad_input(fmt::format("{} is damaged: {}", what, zip_strerror(zip_->zip)));
    zip_file_t* const file = zip_fopen_index(zip_->zip, index, 0);
    if (!file)
        return bad_input(fmt::format("{} cannot be read: {}", what, zip_strerror(zip_->zip)));
    return ZipEntry(std::make_unique<ZipEntry::Open>(file), stat.size, what);
}

}  // namespace attn

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "core/io/file.h"
#include "core/io/npz.h"
#include "core/io/zip_target.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

// Where the zip goes: a file, or memory that outlives the zip.
struct FreeSource {
    void operator()(zip_source_t* source) const { zip_source_free(source); }
};
using Source = std::unique_ptr<zip_source_t, FreeSource>;
using Zip = std::unique_ptr<zip_t, decltype(&zip_discard)>;

Failure cannot_write(const fs::path& path, zip_error_t* error) {
    return failed(fmt::format("cannot write {}: {}", path.string(), zip_error_strerror(error)));
}

/// A header, and numbers of 16 bits as float32 after it: what a zip reads, a piece at a time. The zip deletes it.
class Widening {
  public:
    Widening(std::string header, const NpzEntry& entry)
        : header_(std::move(header)), halves_(entry.halves), format_(entry.format) {
        zip_error_init(&error_);
    }
    static zip_int64_t answer(void* self, void* data, zip_uint64_t length,
                              zip_source_cmd_t command) {
        auto* const widening = static_cast<Widening*>(self);
        switch (command) {
            case ZIP_SOURCE_OPEN:
                widening->ready_ = std::as_bytes(std::span(widening->header_));
                widening->next_ = 0;
                return 0;
            case ZIP_SOURCE_READ:
                return widening->read(
                    {static_cast<std::byte*>(data), static_cast<std::size_t>(length)});
            case ZIP_SOURCE_CLOSE:
                return 0;
            case ZIP_SOURCE_STAT:
                return widening->stat(*static_cast<zip_stat_t*>(data));
            case ZIP_SOURCE_ERROR:
                return zip_error_to_data(&widening->error_, data, length);
            case ZIP_SOURCE_FREE:
                delete widening;
                return 0;
            case ZIP_SOURCE_SUPPORTS:
                return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ,
                                                      ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT,
                                                      ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, -1);
            default:
                zip_error_set(&widening->error_, ZIP_ER_OPNOTSUPP, 0);
                return -1;
        }
    }

  private:
    zip_int64_t read(std::span<std::byte> to) {
        std::size_t done = 0;
        while (done < to.size()) {
            if (ready_.empty()) widen_next();
            if (ready_.empty()) break;
            const std::size_t count = std::min(ready_.size(), to.size() - done);
            std::ranges::copy(ready_.first(count), to.begin() + static_cast<std::ptrdiff_t>(done));
            ready_ = ready_.subspan(count);
            done += count;
        }
        return static_cast<zip_int64_t>(done);
    }
    void widen_next() {
        const std::size_t count = std::min(piece_.size(), halves_.size() - next_);
        const std::span<float> floats(piece_.data(), count);
        widen(halves_.subspan(next_, count), format_, floats);
        ready_ = std::as_bytes(floats);
        next_ += count;
    }
    zip_int64_t stat(zip_stat_t& stat) const {
        zip_stat_init(&stat);
        stat.size = stat.comp_size = header_.size() + halves_.size() * sizeof(float);
        stat.comp_method = ZIP_CM_STORE;
        stat.encryption_method = ZIP_EM_NONE;
        stat.valid =
            ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
        return sizeof(stat);
    }

    std::string header_;
    std::span<const std::uint16_t> halves_;
    HalfFormat format_;
    zip_error_t error_;
    std::span<const std::byte> ready_;  // of the header or the piece, what was not read yet
    std::size_t next_ = 0;              // of the numbers, the first that is in no piece yet
    std::array<float, 4096> piece_;
};

zip_source_t* widening_source(zip_t* zip, const NpzEntry& entry, std::string header) {
    auto widening = std::make_unique<Widening>(std::move(header), entry);
    zip_source_t* const source = zip_source_function(zip, &Widening::answer, widening.get());
    if (source) static_cast<void>(widening.release());
    return source;
}

// Header and data as they lie in memory: no number is copied. `header` must live until the zip closes.
bool add_entry(zip_t* zip, const NpzEntry& entry, std::string& header) {
    const bool flags = !entry.flags.empty(), doubles = !entry.doubles.empty(),
               whole = !entry.bytes.empty();
    header = !entry.texts.empty() ? npy_of_texts(entry.texts)
                                  : npy_header(entry.extents, flags     ? "|b1"
                                                              : doubles ? "<f8"
                                                              : whole   ? "|u1"
                                                                        : "<f4");
    const auto bytes = flags     ? std::as_bytes(entry.flags)
                       : doubles ? std::as_bytes(entry.doubles)
                       : whole   ? std::as_bytes(entry.bytes)
                                 : std::as_bytes(entry.values);
    const std::array<zip_buffer_fragment_t, 2> parts{{
        {reinterpret_cast<zip_uint8_t*>(header.data()), header.size()},
        {reinterpret_cast<zip_uint8_t*>(const_cast<std::byte*>(bytes.data())), bytes.size()},
    }};
    zip_source_t* const source =
        entry.halves.empty() ? zip_source_buffer_fragment(zip, parts.data(), parts.size(), 0)
                             : widening_source(zip, entry, header);
    if (!source) return false;
    const zip_int64_t index =
        zip_file_add(zip, (entry.name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
        zip_source_free(source);
        return false;
    }
    constexpr zip_uint16_t kFirstDay = (1 << 5) | 1;  // 1980-01-01, the earliest a zip can say
    const auto at = static_cast<zip_uint64_t>(index);
    return zip_set_file_compression(zip, at, ZIP_CM_STORE, 0) == 0 &&
           zip_file_set_dostime(zip, at, 0, kFirstDay, 0) == 0;
}

// Takes a reference of `target`, which the caller keeps.
Result<void> write_zip(zip_source_t* target, const fs::path& shown,
                       std::span<const NpzEntry> entries) {
    std::vector<std::string> headers(entries.size());  // the zip reads them until it is closed
    zip_error_t error;
    zip_error_init(&error);
    zip_source_keep(target);
    Zip zip(zip_open_from_source(target, ZIP_CREATE | ZIP_TRUNCATE, &error), &zip_discard);
    if (!zip) {
        zip_source_free(target);
        return cannot_write(shown, &error);
    }
    for (std::size_t i = 0; i < entries.size(); ++i)
        if (!add_entry(zip.get(), entries[i], headers[i]))
            return cannot_write(shown, zip_get_error(zip.get()));
    const auto give_up = [](zip_t*, void*) { return interrupted() ? 1 : 0; };
    zip_register_cancel_callback_with_state(zip.get(), give_up, nullptr, nullptr);
    if (zip_close(zip.get()) != 0) return cannot_write(shown, zip_get_error(zip.get()));
    static_cast<void>(zip.release());  // zip_close freed it
    return {};
}

Result<std::string> bytes_of(zip_source_t* source, const fs::path& shown) {
    zip_stat_t stat;
    if (zip_source_stat(source, &stat) != 0 || zip_source_open(source) != 0)
        return cannot_write(shown, zip_source_error(source));
    std::string bytes(stat.size, '\0');
    const zip_int64_t got = zip_source_read(source, bytes.data(), bytes.size());
    zip_source_close(source);
    if (got != static_cast<zip_int64_t>(bytes.size()))
        return cannot_write(shown, zip_source_error(source));
    return bytes;
}

Result<void> write_to_file(const fs::path& file, const fs::path& shown,
                           std::span<const NpzEntry> entries) {
    zip_error_t error;
    zip_error_init(&error);
    const Source target(zip_target(file, &error));
    return target ? write_zip(target.get(), shown, entries) : cannot_write(shown, &error);
}

}  // namespace

Result<std::string> npz_bytes(std::span<const NpzEntry> entries, std::string_view what) {
    const fs::path shown(what);
    zip_error_t error;
    zip_error_init(&error);
    const Source target(zip_source_buffer_create(nullptr, 0, 0, &error));
    if (!target) return cannot_write(shown, &error);
    if (auto written = write_zip(target.get(), shown, entries); !written)
        return tl::unexpected(std::move(written.error()));
    return bytes_of(target.get(), shown);
}

Result<void> write_npz(const fs::path& path, std::span<const NpzEntry> entries) {
    if (writes_in_place(path))  // devices and pipes cannot seek
        return npz_bytes(entries, path.string()).and_then([&](const std::string& bytes) {
            return write_file_atomically(path, bytes);
        });
    return replace_file(
        path, [&](const fs::path& temporary) { return write_to_file(temporary, path, entries); });
}

}  // namespace attn

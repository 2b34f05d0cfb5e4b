#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include <nlohmann/json.hpp>

#include "core/io/array_memory.h"
#include "core/io/arrays/foreign.h"
#include "core/io/arrays/formats.h"
#include "core/io/arrays/mapped.h"
#include "core/io/json.h"
#include "core/shape.h"
#include "core/stop.h"
#include "core/text.h"

// Format: a u64 N, little-endian; N bytes of JSON; the numbers. Offsets count from the end of the JSON.
// Source: github.com/huggingface/safetensors, README, Format.

namespace attn {
namespace {

using nlohmann::json;

constexpr std::size_t kLengthBytes = 8;

struct Dtype {
    std::string_view name;
    char kind;
    std::uint64_t bytes;
    std::string_view numpy;
};
constexpr Dtype kDtypes[] = {
    {"F64", 'f', 8, "float64"},
    {"F32", 'f', 4, "float32"},
    {"F16", 'f', 2, "float16"},
    {"BF16", 'B', 2, "bfloat16"},
    {"I64", 'i', 8, "int64"},
    {"I32", 'i', 4, "int32"},
    {"I16", 'i', 2, "int16"},
    {"I8", 'i', 1, "int8"},
    {"U64", 'u', 8, "uint64"},
    {"U32", 'u', 4, "uint32"},
    {"U16", 'u', 2, "uint16"},
    {"U8", 'u', 1, "uint8"},
    {"BOOL", 'b', 1, "bool"},
    // Codes of float8, a byte each; their scale may be another array.
    {"F8_E4M3", 'u', 1, "float8_e4m3fn"},
    {"F8_E5M2", 'u', 1, "float8_e5m2"},
    {"F8_E8M0", 'u', 1, "float8_e8m0fnu"},
};

std::string dtype_names() {
    std::vector<std::string_view> names;
    for (const Dtype& dtype : kDtypes) names.push_back(dtype.name);
    return fmt::format("{}", fmt::join(names, ", "));
}

/// One array of the header. `begin` and `end` count from the end of the JSON.
struct Entry {
    std::string name;
    std::string dtype;   // as the file has it
    bool known = false;  // the dtype; else its numbers count as one byte each
    NpyHeader header;    // of the numbers alone: data_offset 0
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

/// A value in an error; of a long or nested one only what it is.
std::string description_of(const json& value) {
    constexpr std::size_t kShort = 8;
    if (value.is_structured() && value.size() > kShort)
        return fmt::format("{} of {}", value.is_array() ? "a list" : "an object",
                           counted(value.size(), "value"));
    if (value.is_structured() && std::ranges::any_of(value, &json::is_structured))
        return value.is_array() ? "a list of lists" : "an object";
    return shortened(value.dump());
}

std::optional<Index> whole_number(const json& value) {
    if (!value.is_number_unsigned()) return std::nullopt;
    const auto number = value.get<std::uint64_t>();
    return std::in_range<Index>(number) ? std::optional(static_cast<Index>(number)) : std::nullopt;
}

/// A list of whole numbers; nullopt: it is none.
std::optional<std::vector<Index>> whole_numbers(const json& list) {
    if (!list.is_array() || list.size() > kMostAxes) return std::nullopt;
    std::vector<Index> numbers;
    for (const json& value : list) {
        const std::optional<Index> number = whole_number(value);
        if (!number) return std::nullopt;
        numbers.push_back(*number);
    }
    return numbers;
}

/// `what` is "FILE: NAME", of which "FILE: NAME has the shape ..., expected ...".
Result<void> read_shape(const json& row, const std::string& what, Entry& entry) {
    const auto dtype = row.find("dtype");
    const auto shape = row.find("shape");
    if (dtype == row.end() || !dtype->is_string())
        return bad_input(fmt::format("{} has no dtype; expected one of {}", what, dtype_names()));
    entry.dtype = dtype->get<std::string>();
    const auto extents = shape == row.end() ? std::nullopt : whole_numbers(*shape);
    if (!extents)
        return bad_input(fmt::format("{} has the shape {}; expected at most {} whole numbers", what,
                                     shape == row.end() ? "none" : description_of(*shape),
                                     kMostAxes));
    entry.header.extents = *extents;
    const auto known = std::ranges::find(kDtypes, entry.dtype, &Dtype::name);
    entry.known = known != std::end(kDtypes);
    entry.header.type = {'V', 1, kBigEndian, entry.dtype};
    if (entry.known)
        entry.header.type = {known->kind, known->bytes, kBigEndian, std::string(known->numpy)};
    if (measure(entry.header)) return {};
    return bad_input(
        fmt::format("{} claims the shape {}, more than 2^63 bytes", what, to_string(*extents)));
}

/// `data`: how many bytes stand after the JSON.
Result<void> read_offsets(const json& row, const std::string& what, std::uint64_t data,
                          Entry& entry) {
    const auto found = row.find("data_offsets");
    const auto offsets = found == row.end() ? std::nullopt : whole_numbers(*found);
    if (!offsets || offsets->size() != 2)
        return bad_input(fmt::format("{} has the data_offsets {}; expected two whole numbers", what,
                                     found == row.end() ? "none" : description_of(*found)));
    entry.begin = static_cast<std::uint64_t>(offsets->front());
    entry.end = static_cast<std::uint64_t>(offsets->back());
    if (entry.begin > entry.end)
        return bad_input(
            fmt::format("{} has the data_offsets {} to {}; expected the first to be "
                        "at most the second",
                        what, entry.begin, entry.end));
    if (entry.end > data)
        return bad_input(
            fmt::format("{} has the data_offsets {} to {}, but the file has {} of data: it "
                        "may be cut off",
                        what, entry.begin, entry.end, counted(data, "byte")));
    if (!entry.known || entry.end - entry.begin == entry.header.total_bytes) return {};
    return bad_input(fmt::format("{} has {}, but {} {} needs {}", what,
                                 counted(entry.end - entry.begin, "byte"), entry.dtype,
                                 to_string(entry.header.extents), entry.header.total_bytes));
}

Result<Entry> read_row(const std::string& file, const std::string& name, const json& row,
                       std::uint64_t data) {
    const std::string what = fmt::format("{}: {}", file, shortened(name, 4 * kMostQuoted));
    if (!row.is_object())
        return bad_input(fmt::format("{} is {}; expected dtype, shape and data_offsets", what,
                                     description_of(row)));
    Entry entry;
    entry.name = name;
    return read_shape(row, what, entry)
        .and_then([&] { return read_offsets(row, what, data, entry); })
        .map([&] { return std::move(entry); });
}

Result<void> check_apart(const std::string& file, const std::vector<Entry>& sorted) {
    const Entry* last = nullptr;  // that has bytes
    for (const Entry& entry : sorted) {
        if (entry.begin == entry.end) continue;
        if (last && entry.begin < last->end)
            return bad_input(fmt::format(
                "{}: {} begins at byte {} of the data, inside {}, which "
                "ends at {}",
                file, shortened(entry.name), entry.begin, shortened(last->name), last->end));
        last = &entry;
    }
    return {};
}

/// The JSON, which lies inside the file.
Result<std::string_view> find_header(std::string_view bytes, const std::string& file) {
    if (bytes.size() < kLengthBytes)
        return bad_input(
            fmt::format("{} has {}; a .safetensors file has at least {}, the "
                        "length of its header",
                        file, counted(bytes.size(), "byte"), kLengthBytes));
    std::uint64_t length = 0;
    for (std::size_t i = kLengthBytes; i-- > 0;)
        length = length << 8 | static_cast<unsigned char>(bytes[i]);
    const std::uint64_t rest = bytes.size() - kLengthBytes;
    if (length > rest)
        return bad_input(fmt::format(
            "{} claims a header of {}, but {} follow: it is cut off or not a .safetensors file",
            file, counted(length, "byte"), rest));
    if (length > kMaxSafetensorsHeader)
        return bad_input(fmt::format("{} has a header of {}; at most {} MiB are read", file,
                                     counted(length, "byte"), kMaxSafetensorsHeader >> 20));
    return bytes.substr(kLengthBytes, length);
}

using Texts = std::map<std::string, std::string, std::less<>>;

Result<Texts> read_metadata(const json& header, const std::string& file) {
    Texts texts;
    const auto found = header.find("__metadata__");
    if (found == header.end()) return texts;
    const auto is_text = [](const json& value) { return value.is_string(); };
    if (!found->is_object() || !std::ranges::all_of(*found, is_text))
        return bad_input(
            fmt::format("{}: __metadata__ is {}; expected an object whose values are strings", file,
                        description_of(*found)));
    for (const auto& [key, value] : found->items()) texts.emplace(key, value.get<std::string>());
    return texts;
}

class SafetensorsFile final : public ArrayFile {
  public:
    /// `mapped`: owns the bytes, or nothing does here.
    static Result<Arrays> list(std::optional<MappedFile> mapped, std::string_view bytes,
                               std::string what) {
        auto file = std::unique_ptr<SafetensorsFile>(new SafetensorsFile(std::move(what)));
        file->mapped_ = std::move(mapped);
        return file->read_header(bytes).map([&]() -> Arrays { return std::move(file); });
    }

    Result<std::optional<std::string>> text(std::string_view key) const override {
        const auto found = texts_.find(key);
        return found == texts_.end() ? std::nullopt : std::optional(found->second);
    }

  private:
    explicit SafetensorsFile(std::string what) : ArrayFile(std::move(what)) {}

    Result<void> read_header(std::string_view bytes) {
        const Result<std::string_view> text = find_header(bytes, what());
        if (!text) return tl::unexpected(text.error());
        data_ = bytes.substr(kLengthBytes + text->size());
        const auto header = parse_json(*text, fmt::format("{}: the header", what()));
        if (!header) return tl::unexpected(header.error());
        if (!header->is_object())
            return bad_input(fmt::format("{}: the header is {}; expected an object of arrays",
                                         what(), description_of(*header)));
        auto texts = read_metadata(*header, what());
        if (!texts) return tl::unexpected(std::move(texts.error()));
        texts_ = *std::move(texts);
        return read_rows(*header);
    }

    Result<void> read_rows(const json& header) {
        for (const auto& [name, row] : header.items()) {
            if (name == "__metadata__") continue;
            auto entry = read_row(what(), name, row, data_.size());
            if (!entry) return tl::unexpected(std::move(entry.error()));
            entries_.push_back(*std::move(entry));
        }
        std::ranges::stable_sort(entries_, {}, &Entry::begin);  // as they lie in the file
        std::vector<std::string> names;
        for (const Entry& entry : entries_) names.push_back(entry.name);
        return check_apart(what(), entries_).and_then([&] { return set_names(std::move(names)); });
    }

    Result<ArrayInfo> about_at(std::size_t at, const std::string&) const override {
        const Entry& entry = entries_[at];
        return ArrayInfo{entry.header.type.name, entry.header.extents, entry.end - entry.begin};
    }

    Result<NpyArray> read_at(std::size_t at, const std::string& what, double held) const override {
        const Entry& entry = entries_[at];
        if (!entry.known)
            return bad_input(fmt::format("{} has dtype '{}'; expected {}", what,
                                         shortened(entry.dtype), dtype_names()));
        const Result<void> whole = mapped_ ? mapped_->check_whole() : Result<void>();
        return whole.and_then([&] { return check_array_memory(what, entry.header, held); })
            .map([&] {
                const std::string_view bytes = data_.substr(entry.begin, entry.end - entry.begin);
                NpyNumbers numbers(entry.header);
                numbers.add(bytes);
                if (mapped_) mapped_->let_go(bytes);
                return numbers.finish();
            });
    }

    Result<std::optional<HalfArray>> read_halves_at(std::size_t at, const std::string& what,
                                                    double held) const override {
        const Entry& entry = entries_[at];
        const NpyType& type = entry.header.type;
        const bool halves = type.bytes == 2 && (type.kind == 'f' || type.kind == 'B');
        if (!halves) return std::nullopt;
        const Result<void> whole = mapped_ ? mapped_->check_whole() : Result<void>();
        return whole.and_then([&] { return check_stored_memory(what, entry.header, held); })
            .map([&] { return std::optional(halves_of(entry)); });
    }
    /// A piece of the file at a time is in memory beside them.
    HalfArray halves_of(const Entry& entry) const {
        constexpr std::size_t kPieceBytes = std::size_t{1} << 22;
        const NpyType& type = entry.header.type;
        HalfArray array{type.kind == 'B' ? HalfFormat::bfloat16 : HalfFormat::float16,
                        entry.header.extents, std::vector<std::uint16_t>(entry.header.items)};
        auto* const to = reinterpret_cast<char*>(array.values.data());
        const std::string_view bytes = data_.substr(entry.begin, entry.end - entry.begin);
        for (std::size_t first = 0; first < bytes.size(); first += kPieceBytes) {
            end_if_stopped();
            const std::string_view piece = bytes.substr(first, kPieceBytes);
            std::memcpy(to + first, piece.data(), piece.size());
            if (mapped_) mapped_->let_go(piece);
        }
        if (type.swapped)
            for (std::uint16_t& value : array.values)
                value = static_cast<std::uint16_t>(value << 8 | value >> 8);
        return array;
    }

    std::optional<MappedFile> mapped_;
    std::string_view data_;
    std::vector<Entry> entries_;  // in the order of names()
    Texts texts_;
};

}  // namespace

Result<Arrays> open_safetensors(const std::filesystem::path& path) {
    return MappedFile::open(path).and_then([&](MappedFile&& mapped) {
        const std::string_view bytes = mapped.bytes();
        return SafetensorsFile::list(std::move(mapped), bytes, path.string());
    });
}

Result<Arrays> parse_safetensors(std::string_view bytes, std::string_view what) {
    return SafetensorsFile::list(std::nullopt, bytes, std::string(what));
}

}  // namespace attn

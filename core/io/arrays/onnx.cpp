#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "core/io/array_memory.h"
#include "core/io/arrays/formats.h"
#include "core/io/arrays/mapped.h"
#include "core/shape.h"
#include "core/text.h"

// A protocol buffer: fields of (number << 3 | wire type) and a value. Source: onnx/onnx.proto3, ModelProto, GraphProto, TensorProto;
// protobuf.dev, Encoding.

namespace attn {
namespace {

constexpr std::size_t kMostInitialisers = 1 << 16;

/// Its numbers as TensorProto.DataType counts them.
struct OnnxType {
    int number;
    char kind;  // of NpyType; 0: its numbers are not read
    std::uint64_t bytes;
    std::string_view name;
};
constexpr OnnxType kOnnxTypes[] = {
    {1, 'f', 4, "float32"},   {2, 'u', 1, "uint8"},         {3, 'i', 1, "int8"},
    {4, 'u', 2, "uint16"},    {5, 'i', 2, "int16"},         {6, 'i', 4, "int32"},
    {7, 'i', 8, "int64"},     {8, 0, 1, "string"},          {9, 'b', 1, "bool"},
    {10, 'f', 2, "float16"},  {11, 'f', 8, "float64"},      {12, 'u', 4, "uint32"},
    {13, 'u', 8, "uint64"},   {14, 0, 8, "complex64"},      {15, 0, 16, "complex128"},
    {16, 'B', 2, "bfloat16"}, {17, 0, 1, "float8e4m3fn"},   {18, 0, 1, "float8e4m3fnuz"},
    {19, 0, 1, "float8e5m2"}, {20, 0, 1, "float8e5m2fnuz"}, {21, 0, 1, "uint4"},
    {22, 0, 1, "int4"},       {23, 0, 1, "float4e2m1"},
};

/// One field of a message.
struct ProtoField {
    std::uint64_t number = 0;
    int wire = 0;
    std::uint64_t value = 0;      // of a varint
    std::string_view bytes = {};  // of any other
};

/// Reads the fields of a message one after another. Errors are thrown as Failure.
class ProtoMessage {
  public:
    ProtoMessage(std::string_view bytes, std::string_view what) : rest_(bytes), what_(what) {}

    bool next(ProtoField& field) {
        if (rest_.empty()) return false;
        const std::uint64_t key = varint();
        field = {key >> 3, static_cast<int>(key & 7)};
        switch (field.wire) {
            case 0:
                field.value = varint();
                return true;
            case 1:
                field.bytes = take(8);
                return true;
            case 2:
                field.bytes = take(varint());
                return true;
            case 5:
                field.bytes = take(4);
                return true;
            default:
                damaged(fmt::format("a field has wire type {}", field.wire));
        }
    }
    std::uint64_t varint() {
        std::uint64_t value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            const auto byte = static_cast<unsigned char>(take(1)[0]);
            value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
            if (byte < 0x80) return value;
        }
        damaged("a number has more than 64 bits");
    }
    bool empty() const { return rest_.empty(); }

  private:
    [[noreturn]] void damaged(std::string_view why) const {
        throw bad_input(fmt::format("{} is damaged or not an ONNX model: {}", what_, why));
    }
    std::string_view take(std::uint64_t count) {
        if (count > rest_.size()) damaged("it is cut off");
        const std::string_view part = rest_.substr(0, count);
        rest_.remove_prefix(count);
        return part;
    }

    std::string_view rest_, what_;
};

/// One initialiser of a graph.
struct Initialiser {
    std::string name;
    NpyHeader header;           // of the numbers alone
    std::string unread = {};    // why they are not read
    std::string_view raw = {};  // as they lie in memory, little-endian
    std::string packed = {};    // the same of numbers that came as fields
    std::string location = {};  // the file of the model's folder that has them
    std::uint64_t offset = 0;
};

class OnnxReader {
  public:
    explicit OnnxReader(std::string what) : what_(std::move(what)) {}

    std::vector<Initialiser> model(std::string_view bytes) {
        ProtoMessage message(bytes, what_);
        ProtoField field;
        while (message.next(field))
            if (field.number == 7 && field.wire == 2) graph(field.bytes);
        return std::move(found_);
    }

  private:
    void graph(std::string_view bytes) {
        ProtoMessage message(bytes, what_);
        ProtoField field;
        while (message.next(field))
            if (field.number == 5 && field.wire == 2) tensor(field.bytes);
    }
    /// The whole numbers of a repeated field, packed or one a field.
    void add_numbers(const ProtoField& field, std::vector<std::uint64_t>& numbers) const {
        if (field.wire == 0) return numbers.push_back(field.value);
        ProtoMessage message(field.bytes, what_);
        while (!message.empty()) numbers.push_back(message.varint());
    }
    void tensor(std::string_view bytes) {
        if (found_.size() == kMostInitialisers)
            throw bad_input(
                fmt::format("{} has more than {} initialisers", what_, kMostInitialisers));
        Initialiser array;
        std::vector<std::uint64_t> extents, numbers;
        std::uint64_t type = 0;
        bool external = false;
        ProtoMessage message(bytes, what_);
        ProtoField field;
        while (message.next(field)) {
            switch (field.number) {
                case 1:
                    add_numbers(field, extents);
                    break;
                case 2:
                    type = field.value;
                    break;
                case 4:   // float_data
                case 10:  // double_data
                    array.packed += field.bytes;
                    break;
                case 5:   // int32_data
                case 7:   // int64_data
                case 11:  // uint64_data
                    add_numbers(field, numbers);
                    break;
                case 8:
                    array.name = valid_utf8(field.bytes);
                    break;
                case 9:
                    array.raw = field.bytes;
                    break;
                case 13:
                    external_entry(field.bytes, array);
                    break;
                case 14:
                    external = field.value == 1;
                    break;
                default:
                    break;
            }
        }
        if (!external) array.location.clear();
        describe(array, type, extents);
        pack(array, numbers);
        check(array, external);
        found_.push_back(std::move(array));
    }
    /// {key: "location", value: "weights.bin"}, {key: "offset", ...}.
    void external_entry(std::string_view bytes, Initialiser& array) const {
        ProtoMessage message(bytes, what_);
        ProtoField field;
        std::string_view key, value;
        while (message.next(field)) (field.number == 1 ? key : value) = field.bytes;
        if (key == "location") array.location = value;
        if (key == "offset")
            for (const char c : value)
                array.offset = array.offset * 10 + static_cast<std::uint64_t>(c - '0');
    }
    void describe(Initialiser& array, std::uint64_t number,
                  const std::vector<std::uint64_t>& extents) const {
        if (array.name.empty()) array.name = fmt::format("initializer_{}", found_.size());
        if (extents.size() > kMostAxes)
            throw bad_input(fmt::format("{} has {} axes; at most {} are read", place(array),
                                        extents.size(), kMostAxes));
        for (const std::uint64_t extent : extents) {
            if (!std::in_range<Index>(extent))
                throw bad_input(fmt::format("{} has a negative size", place(array)));
            array.header.extents.push_back(static_cast<Index>(extent));
        }
        const auto* const type = std::ranges::find(
            kOnnxTypes, static_cast<int>(std::min<std::uint64_t>(number, 99)), &OnnxType::number);
        const bool known = type != std::end(kOnnxTypes);
        array.header.type = {'V', 1, kBigEndian,
                             known ? std::string(type->name) : fmt::format("type {}", number)};
        if (known && type->kind != 0)
            array.header.type = {type->kind, type->bytes, kBigEndian, std::string(type->name)};
        else
            array.unread =
                fmt::format("has dtype {}; expected floats of 16 bits or more, integers or bool",
                            array.header.type.name);
        if (!measure(array.header))
            throw bad_input(fmt::format("{} claims the shape {}, more than 2^63 bytes",
                                        place(array), to_string(array.header.extents)));
    }
    /// Whole numbers as the type has them: int32_data holds all types of up to 32 bits, also the bits of float16 and bfloat16.
    void pack(Initialiser& array, const std::vector<std::uint64_t>& numbers) const {
        for (const std::uint64_t number : numbers)
            for (std::uint64_t byte = 0; byte < array.header.type.bytes && byte < 8; ++byte)
                array.packed += static_cast<char>(number >> 8 * byte & 0xFF);
        if (!array.packed.empty()) array.header.type.swapped = kBigEndian;
    }
    void check(Initialiser& array, bool external) const {
        if (!array.unread.empty()) return;
        if (external && array.location.empty())
            throw bad_input(
                fmt::format("{} is in another file that it does not name", place(array)));
        const std::uint64_t has = array.packed.empty() ? array.raw.size() : array.packed.size();
        if (!external && has != array.header.total_bytes)
            throw bad_input(fmt::format("{} has {}, but {} {} needs {}", place(array),
                                        counted(has, "byte"), array.header.type.name,
                                        to_string(array.header.extents), array.header.total_bytes));
    }
    std::string place(const Initialiser& array) const {
        return fmt::format("{}: {}", what_, shortened(array.name, 4 * kMostQuoted));
    }

    std::string what_;
    std::vector<Initialiser> found_;
};

class OnnxFile final : public ArrayFile {
  public:
    static Result<Arrays> list(std::optional<MappedFile> mapped, std::string_view bytes,
                               std::string what, std::filesystem::path folder) {
        auto file = std::unique_ptr<OnnxFile>(new OnnxFile(std::move(what)));
        file->mapped_ = std::move(mapped);
        file->folder_ = std::move(folder);
        try {
            file->arrays_ = OnnxReader(file->what()).model(bytes);
        } catch (const Failure& failure) {
            return failure;
        }
        if (file->arrays_.empty())
            return bad_input(fmt::format(
                "{} is an ONNX graph without initialisers; expected a model with its weights",
                file->what()));
        std::vector<std::string> names;
        for (const Initialiser& array : file->arrays_) names.push_back(array.name);
        return file->set_names(std::move(names)).map([&]() -> Arrays { return std::move(file); });
    }

  private:
    explicit OnnxFile(std::string what) : ArrayFile(std::move(what)) {}

    Result<ArrayInfo> about_at(std::size_t at, const std::string&) const override {
        const NpyHeader& header = arrays_[at].header;
        return ArrayInfo{header.type.name, header.extents, header.total_bytes};
    }
    Result<NpyArray> read_at(std::size_t at, const std::string& what, double held) const override {
        const Initialiser& array = arrays_[at];
        if (!array.unread.empty()) return bad_input(fmt::format("{} {}", what, array.unread));
        if (auto fits = check_array_memory(what, array.header, held); !fits)
            return tl::unexpected(fits.error());
        if (!array.location.empty()) return read_outside(array, what);
        const Result<void> whole = mapped_ ? mapped_->check_whole() : Result<void>();
        return whole.map([&] {
            return numbers_of(array,
                              array.packed.empty() ? array.raw : std::string_view(array.packed));
        });
    }
    static NpyArray numbers_of(const Initialiser& array, std::string_view bytes) {
        NpyNumbers numbers(array.header);
        numbers.add(bytes);
        return numbers.finish();
    }
    /// From a file of the model's folder, and of no other.
    Result<NpyArray> read_outside(const Initialiser& array, const std::string& what) const {
        const std::filesystem::path name(array.location);
        if (folder_.empty() || name.has_parent_path() || name == "..")
            return bad_input(
                fmt::format("{} is in the file {}; expected a file in the model's folder", what,
                            shortened(array.location)));
        return MappedFile::open(folder_ / name)
            .and_then([&](const MappedFile& file) -> Result<NpyArray> {
                const std::string_view bytes = file.bytes();
                if (array.offset > bytes.size() ||
                    array.header.total_bytes > bytes.size() - array.offset)
                    return bad_input(fmt::format("{} ends beyond its file {} of {}", what,
                                                 array.location, counted(bytes.size(), "byte")));
                return numbers_of(array, bytes.substr(array.offset, array.header.total_bytes));
            });
    }

    std::optional<MappedFile> mapped_;
    std::filesystem::path folder_;
    std::vector<Initialiser> arrays_;  // in the order of names()
};

}  // namespace

Result<Arrays> open_onnx(const std::filesystem::path& path) {
    return MappedFile::open(path).and_then([&](MappedFile&& mapped) {
        const std::string_view bytes = mapped.bytes();
        return OnnxFile::list(std::move(mapped), bytes, path.string(),
                              path.has_parent_path() ? path.parent_path() : ".");
    });
}

Result<Arrays> parse_onnx(std::string_view bytes, std::string_view what) {
    return OnnxFile::list(std::nullopt, bytes, std::string(what), {});
}

}  // namespace attn

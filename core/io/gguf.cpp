#include "core/io/gguf.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include <fmt/format.h>

#include "core/text.h"

namespace attn {
namespace {

using nlohmann::json;

/// Of a value.
enum : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, flag, text, list, u64, i64, f64, kKinds };
constexpr std::uint64_t kKindBytes[kKinds] = {1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8};  // at least

/// A power of two that is no more than a page of the largest.
constexpr std::uint64_t kMostAlignment = std::uint64_t{1} << 16;
constexpr std::uint32_t kMostGgufAxes = 4;

double shortest(float value) {
    const std::string digits = fmt::format("{}", value);
    auto found = static_cast<double>(value);
    std::from_chars(digits.data(), digits.data() + digits.size(), found);
    return found;
}

class GgufReader {
  public:
    GgufReader(std::string_view bytes, std::string_view what) : bytes_(bytes), what_(what) {}

    Result<GgufHeader> read() {
        read_beginning();
        for (std::uint64_t n = 0; n < keys_ && ok(); ++n) read_key();
        part_ = "its list of arrays";
        for (std::uint64_t n = 0; n < tensors_ && ok(); ++n) read_tensor();
        if (ok()) place_tensors();
        if (!ok()) return bad_input(std::move(fault_));
        return std::move(header_);
    }

  private:
    bool ok() const { return fault_.empty(); }
    void complain(std::string_view sentence) {
        if (ok()) fault_ = fmt::format("{} {}", what_, sentence);
    }
    std::uint64_t rest() const { return bytes_.size() - at_; }
    /// Whether so many bytes are left; the fault is kept where they are not.
    bool has(std::uint64_t count) {
        if (ok() && count <= rest()) return true;
        complain(
            fmt::format("ends at byte {}, inside {}: it may be cut off", bytes_.size(), part_));
        return false;
    }
    /// An unsigned number of so many bytes; 0 after a fault.
    std::uint64_t number(std::uint64_t count) {
        if (!has(count)) return 0;
        std::uint64_t value = 0;
        for (std::uint64_t n = count; n-- > 0;)
            value = value << 8 | static_cast<unsigned char>(bytes_[at_ + n]);
        at_ += count;
        return value;
    }
    std::uint32_t number32() { return static_cast<std::uint32_t>(number(4)); }
    std::string read_text() {
        const std::uint64_t length = number(8);
        if (!has(length)) return {};
        texts_ += length;
        if (texts_ > kMostGgufText) {
            complain(fmt::format("has more than {} MiB of strings", kMostGgufText >> 20));
            return {};
        }
        at_ += length;
        return valid_utf8(bytes_.substr(at_ - length, length));
    }

    void read_beginning() {
        if (!bytes_.starts_with("GGUF"))
            return complain("is not a GGUF file; expected \"GGUF\" at its beginning");
        at_ = 4;
        const std::uint32_t version = number32();
        if (version == 0x02000000 || version == 0x03000000)
            return complain("has its bytes in big-endian order; expected little-endian");
        if (ok() && version != 2 && version != 3)
            return complain(fmt::format("is of GGUF version {}; expected 2 or 3", version));
        tensors_ = number(8);
        keys_ = number(8);
        for (const auto& [count, text] : {std::pair{tensors_, "arrays"}, {keys_, "keys"}})
            if (count > kMostGgufKeys)
                complain(
                    fmt::format("claims {} {}; at most {} are read", count, text, kMostGgufKeys));
    }

    void read_key() {
        const std::string key = read_text();
        const std::uint32_t kind = number32();
        if (!ok()) return;
        part_ = fmt::format("the value of '{}'", shortened(key));
        json value = kind == list ? read_list(key) : read_value(key, kind);
        if (ok() && value.is_number_float() && kind == f32)
            value = shortest(static_cast<float>(value.get<double>()));
        if (ok() && !header_.values.emplace(key, std::move(value)).second)
            complain(fmt::format("has the key '{}' twice", shortened(key)));
        part_ = "its keys";
    }

    json read_value(const std::string& key, std::uint32_t kind) {
        if (kind == text) return read_text();
        if (kind == list || kind >= kKinds) {
            complain(
                fmt::format("has a value of type {} in '{}'; expected a number, a flag, a text or "
                            "a list of them",
                            kind, shortened(key)));
            return nullptr;
        }
        const std::uint64_t bits = number(kKindBytes[kind]);
        switch (kind) {
            case i8:
                return static_cast<std::int8_t>(bits);
            case i16:
                return static_cast<std::int16_t>(bits);
            case i32:
                return static_cast<std::int32_t>(bits);
            case i64:
                return static_cast<std::int64_t>(bits);
            case f32:
                return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
            case f64:
                return std::bit_cast<double>(bits);
            case flag:
                return bits != 0;
            default:
                return bits;
        }
    }

    json read_list(const std::string& key) {
        json values = json::array();
        const std::uint32_t kind = number32();
        const std::uint64_t count = number(8);
        if (!ok()) return values;
        if (kind >= kKinds || kind == list) return read_value(key, kind);
        if (count > rest() / kKindBytes[kind]) return has(rest() + 1), values;
        values_ += count;
        if (values_ > kMostGgufValues) {
            complain(fmt::format("has more than {} values in its lists", kMostGgufValues));
            return values;
        }
        auto& into = values.get_ref<json::array_t&>();
        into.reserve(count);
        for (std::uint64_t n = 0; n < count && ok(); ++n) into.push_back(read_value(key, kind));
        return values;
    }

    void read_tensor() {
        GgufTensor tensor;
        tensor.name = read_text();
        const std::string name = shortened(tensor.name, 4 * kMostQuoted);
        const std::uint32_t axes = number32();
        if (ok() && axes > kMostGgufAxes)
            return complain(fmt::format("has the array {} of {} axes; expected at most {}", name,
                                        axes, kMostGgufAxes));
        tensor.items = 1;
        for (std::uint32_t axis = 0; axis < axes && ok(); ++axis) {
            const std::uint64_t extent = number(8);
            constexpr auto kMost = static_cast<std::uint64_t>(1) << 60U;
            if (ok() && (extent == 0 || extent > kMost / tensor.items))
                return complain(
                    fmt::format("has the array {} with {} along an axis; expected 1 or "
                                "more, and at most 2^60 in all",
                                name, counted(extent, "number")));
            tensor.items *= extent == 0 ? 1 : extent;
            tensor.extents.insert(tensor.extents.begin(), static_cast<Index>(extent));
        }
        tensor.type = number32();
        tensor.begin = number(8);
        if (!ok()) return;
        const GgufType* const type = gguf_type(tensor.type);
        if (type != nullptr && type->code.items > 0) {
            const auto columns =
                static_cast<std::uint64_t>(tensor.extents.empty() ? 1 : tensor.extents.back());
            const auto items = static_cast<std::uint64_t>(type->code.items);
            if (columns % items != 0)
                return complain(
                    fmt::format("has the array {} of {} with {}; expected a multiple of {}", name,
                                type->name, counted(columns, "column"), items));
            tensor.bytes = tensor.items / items * static_cast<std::uint64_t>(type->code.bytes);
        }
        header_.tensors.push_back(std::move(tensor));
    }

    std::uint64_t alignment() {
        const auto found = header_.values.find("general.alignment");
        if (found == header_.values.end()) return 32;
        const std::uint64_t stated = found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
        if (std::has_single_bit(stated) && stated <= kMostAlignment) return stated;
        complain(fmt::format("has 'general.alignment' = {}; expected a power of two up to {}",
                             shortened(found->dump()), kMostAlignment));
        return 1;
    }

    /// Offsets count from the first aligned byte after the list of arrays.
    void place_tensors() {
        const std::uint64_t aligned = alignment();
        const std::uint64_t first = (at_ + aligned - 1) / aligned * aligned;
        const std::uint64_t data = bytes_.size() > first ? bytes_.size() - first : 0;
        for (GgufTensor& tensor : header_.tensors) {
            const std::string name = shortened(tensor.name, 4 * kMostQuoted);
            if (tensor.begin % aligned != 0)
                return complain(fmt::format(
                    "has the array {} at byte {} of the numbers; expected a multiple of {}", name,
                    tensor.begin, aligned));
            if (tensor.begin > data || tensor.bytes > data - tensor.begin)
                return complain(
                    fmt::format("has the array {} at byte {} of the numbers, {}, but there "
                                "are {}: it may be cut off",
                                name, tensor.begin, counted(tensor.bytes, "byte"), data));
            tensor.begin += first;
        }
        std::ranges::stable_sort(header_.tensors, {}, &GgufTensor::begin);
        const GgufTensor* last = nullptr;  // whose end is known
        for (const GgufTensor& tensor : header_.tensors) {
            if (last != nullptr && tensor.begin < last->begin + last->bytes)
                return complain(fmt::format("has the array {} inside {}", shortened(tensor.name),
                                            shortened(last->name)));
            if (tensor.bytes > 0) last = &tensor;
        }
    }

    std::string_view bytes_;
    std::string what_;
    std::uint64_t at_ = 0;
    std::uint64_t tensors_ = 0, keys_ = 0;  // as claimed
    std::uint64_t texts_ = 0, values_ = 0;  // so far
    std::string part_ = "its beginning";    // where the reader is
    std::string fault_;
    GgufHeader header_;
};

}  // namespace

Result<GgufHeader> parse_gguf_header(std::string_view bytes, std::string_view what) {
    return GgufReader(bytes, what).read();
}

}  // namespace attn

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>

#include "core/io/npy.h"
#include "core/text.h"

namespace attn {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::string_view kWanted = "expected float16, float32, float64, an integer, bool or text";

// Reads the Python dict literal of a header: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class Literal {
  public:
    explicit Literal(std::string_view text) : text_(text) {}

    bool take(char wanted) {
        skip_blanks();
        if (text_.empty() || text_.front() != wanted) return false;
        text_.remove_prefix(1);
        return true;
    }

    bool take(std::string_view word) {
        skip_blanks();
        if (!text_.starts_with(word)) return false;
        text_.remove_prefix(word.size());
        return true;
    }

    std::optional<std::string_view> quoted() {
        skip_blanks();
        const char quote = text_.empty() ? '\0' : text_.front();
        if (quote != '\'' && quote != '"') return std::nullopt;
        const std::size_t end = text_.find(quote, 1);
        if (end == text_.npos) return std::nullopt;
        const std::string_view inside = text_.substr(1, end - 1);
        text_.remove_prefix(end + 1);
        return inside;
    }

    /// A whole number of at most 63 bits.
    std::optional<Index> number() {
        skip_blanks();
        Index value = 0;
        const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
        if (error != std::errc{} || value < 0) return std::nullopt;
        text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
        take('L');  // Python 2
        return value;
    }

    std::optional<std::vector<Index>> tuple() {
        std::vector<Index> extents;
        if (!take('(')) return std::nullopt;
        while (!take(')')) {
            const std::optional<Index> extent = number();
            if (!extent || extents.size() == 32) return std::nullopt;
            extents.push_back(*extent);
            if (!take(',')) return take(')') ? std::optional(extents) : std::nullopt;
        }
        return extents;
    }

  private:
    void skip_blanks() {
        while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n'))
            text_.remove_prefix(1);
    }

    std::string_view text_;
};

struct Fields {
    std::optional<std::string_view> descr;
    std::optional<bool> fortran_order;
    std::optional<std::vector<Index>> shape;

    bool complete() const { return descr && fortran_order && shape; }
};

bool read_field(Literal& literal, std::string_view key, Fields& fields) {
    if (key == "descr") return (fields.descr = literal.quoted()).has_value();
    if (key == "shape") return (fields.shape = literal.tuple()).has_value();
    if (key != "fortran_order") return false;
    if (literal.take("True")) fields.fortran_order = true;
    if (literal.take("False")) fields.fortran_order = false;
    return fields.fortran_order.has_value();
}

std::optional<Fields> read_fields(std::string_view text) {
    Literal literal(text);
    Fields fields;
    if (!literal.take('{')) return std::nullopt;
    while (!literal.take('}')) {
        const std::optional<std::string_view> key = literal.quoted();
        if (!key || !literal.take(':') || !read_field(literal, *key, fields)) return std::nullopt;
        if (!literal.take(',') && !literal.take('}')) return std::nullopt;
        if (fields.complete()) break;
    }
    return fields.complete() ? std::optional(fields) : std::nullopt;
}

bool is_known(char kind, std::uint64_t bytes) {
    switch (kind) {
        case 'b':
            return bytes == 1;
        case 'f':
            return bytes == 2 || bytes == 4 || bytes == 8;
        case 'i':
        case 'u':
            return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
        case 'U':
        case 'S':
            return bytes <= (1 << 24);
        default:
            return false;
    }
}

std::string type_name(char kind, std::uint64_t bytes) {
    switch (kind) {
        case 'b':
            return "bool";
        case 'f':
            return fmt::format("float{}", 8 * bytes);
        case 'i':
            return fmt::format("int{}", 8 * bytes);
        case 'u':
            return fmt::format("uint{}", 8 * bytes);
        default:
            return "text";
    }
}

std::uint64_t little_endian(std::string_view bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;)
        value = value << 8 | static_cast<unsigned char>(bytes[i]);
    return value;
}

// The dict literal and where the data starts.
struct Frame {
    std::string_view literal;
    std::uint64_t data_offset;
};

Result<Frame> find_literal(std::string_view bytes, std::string_view what) {
    if (!bytes.starts_with(kMagic) || bytes.size() < 8)
        return bad_input(
            fmt::format("{} is not a .npy array: it does not start with \\x93NUMPY", what));
    const int version = static_cast<unsigned char>(bytes[6]);
    if (version < 1 || version > 3)
        return bad_input(
            fmt::format("{} is of .npy version {}; expected 1, 2 or 3", what, version));
    const std::size_t width = version == 1 ? 2 : 4;
    const std::uint64_t length =
        bytes.size() < 8 + width ? kMaxNpyHeader : little_endian(bytes.substr(8, width));
    if (length > bytes.size() - std::min(bytes.size(), 8 + width))
        return bad_input(fmt::format("{} is cut off inside its .npy header", what));
    return Frame{bytes.substr(8 + width, length), 8 + width + length};
}

/// numpy writes the two and one bytes of ml_dtypes' numbers as nameless void.
std::string text_of_void(std::string_view descr) {
    const std::string_view type = descr.substr(std::min<std::size_t>(1, descr.size()));
    if (type == "V2")
        return ", as numpy saves bfloat16, whose name it loses: save it as .astype(np.float32), or "
               "a "
               ".safetensors file, which has BF16";
    if (type == "V1")
        return ", as numpy saves 8-bit floats, whose name it loses: save it as .astype(np.float32)";
    return {};
}

}  // namespace

std::optional<NpyType> npy_type(std::string_view descr) {
    if (descr.size() < 3 || std::string_view("<>|=").find(descr[0]) == descr.npos)
        return std::nullopt;
    std::uint64_t size = 0;
    const char* const end = descr.data() + descr.size();
    const auto [stop, error] = std::from_chars(descr.data() + 2, end, size);
    const char kind = descr[1];
    if (error != std::errc{} || stop != end || size > (1 << 24)) return std::nullopt;
    const std::uint64_t bytes = kind == 'U' ? 4 * size : size;
    if (!is_known(kind, bytes)) return std::nullopt;
    constexpr char kForeign = std::endian::native == std::endian::little ? '>' : '<';
    return NpyType{kind, bytes, descr[0] == kForeign, type_name(kind, bytes)};
}

std::optional<std::uint64_t> npy_objects(std::string_view bytes) {
    const auto header = parse_npy_header(bytes.substr(0, kMaxNpyHeader), "");
    return header && header->type.kind == 'O' ? std::optional(header->data_offset) : std::nullopt;
}

bool measure(NpyHeader& header) {
    Index items = 1;
    Index bytes = 0;
    for (const Index extent : header.extents)
        if (__builtin_mul_overflow(items, extent, &items)) return false;
    if (__builtin_mul_overflow(items, static_cast<Index>(header.type.bytes), &bytes)) return false;
    if (__builtin_add_overflow(bytes, static_cast<Index>(header.data_offset), &bytes)) return false;
    header.items = static_cast<std::uint64_t>(items);
    header.total_bytes = static_cast<std::uint64_t>(bytes);
    return true;
}

std::uint64_t items_of(const NpyArray& array) {
    return std::visit(
        [](const auto& values) -> std::uint64_t {
            if constexpr (requires { values.c_str(); }) return 1;
            return values.size();
        },
        array.values);
}

std::string to_string(std::span<const Index> extents) {
    return fmt::format("[{}]", fmt::join(extents, ", "));
}

Result<NpyHeader> parse_npy_header(std::string_view bytes, std::string_view what) {
    const Result<Frame> frame = find_literal(bytes, what);
    if (!frame) return tl::unexpected(frame.error());
    if (frame->literal.find("'descr': [") != frame->literal.npos)
        return bad_input(fmt::format("{} is a structured array; {}", what, kWanted));
    const std::optional<Fields> fields = read_fields(frame->literal);
    if (!fields)
        return bad_input(fmt::format(
            "{} has a damaged .npy header; expected a dict with descr, fortran_order and shape",
            what));
    const std::optional<NpyType> type =
        *fields->descr == "|O" ? NpyType{'O', 1, false, "object"} : npy_type(*fields->descr);
    if (!type)
        return bad_input(fmt::format("{} has dtype '{}'{}; {}", what, shortened(*fields->descr),
                                     text_of_void(*fields->descr), kWanted));
    NpyHeader header{*type, *fields->fortran_order, *fields->shape, frame->data_offset, 0, 0};
    if (!measure(header))
        return bad_input(fmt::format("{} claims the shape {}, more than 2^63 bytes", what,
                                     to_string(*fields->shape)));
    return header;
}

std::string npy_header(std::span<const Index> extents, std::string_view dtype) {
    std::string shape = fmt::format("{}", fmt::join(extents, ", "));
    if (extents.size() == 1) shape += ',';
    std::string literal =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", dtype, shape);
    const std::size_t unpadded = 10 + literal.size() + 1;
    literal.append((64 - unpadded % 64) % 64, ' ').push_back('\n');
    const auto length = static_cast<std::uint16_t>(literal.size());
    std::string header(kMagic);
    header.append({'\1', '\0', static_cast<char>(length & 0xFF), static_cast<char>(length >> 8)});
    return header + literal;
}

}  // namespace attn

#include "app/files/arrays.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "app/files/renamed.h"
#include "app/files/standard.h"
#include "core/float8.h"
#include "core/halves.h"
#include "core/io/arrays/foreign.h"
#include "core/io/json.h"

namespace attn::files {
namespace {

/// nullopt: not a JSON array of strings.
std::optional<std::vector<std::string>> strings_of(const nlohmann::json& list) {
    if (!list.is_array()) return std::nullopt;
    std::vector<std::string> texts;
    for (const nlohmann::json& entry : list) {
        if (!entry.is_string()) return std::nullopt;
        texts.push_back(entry.get<std::string>());
    }
    return texts;
}

/// 8 and 16-bit integers, in which bits of floats are saved where a library has no type for them.
bool may_be_bits(std::string_view dtype) {
    constexpr std::string_view kTypes[] = {"int16", "uint16", "int8", "uint8"};
    return std::ranges::count(kTypes, dtype) > 0;
}
bool is_byte(std::string_view dtype) { return dtype == "int8" || dtype == "uint8"; }

/// The format of the codes of a safetensors file, by its own dtype.
std::optional<Bits> float8_of(std::string_view dtype) {
    if (dtype == "float8_e4m3fn") return Bits::float8_e4m3;
    if (dtype == "float8_e5m2") return Bits::float8_e5m2;
    return dtype == "float8_e8m0fnu" ? std::optional(Bits::float8_e8m0) : std::nullopt;
}

/// One code a byte.
bool is_float8(Bits bits) {
    return bits == Bits::float8_e4m3 || bits == Bits::float8_e5m2 || bits == Bits::float8_e8m0;
}
bool is_code(Bits bits) { return is_float8(bits) || bits == Bits::float4_e2m1; }
bool is_half_a_number(std::string_view dtype, Bits bits) {
    return is_byte(dtype) && (bits == Bits::bfloat16 || bits == Bits::float16);
}

/// The numbers of integers of 8 or 16 bits, whose bits are those of floats: of two bytes the lower half comes first.
std::vector<float> numbers_of_bits(const NpyArray& array, Bits bits) {
    const auto number = [bits](std::uint16_t code) {
        if (bits == Bits::float8_e4m3) return from_e4m3(static_cast<std::uint8_t>(code));
        if (bits == Bits::float8_e5m2) return from_e5m2(static_cast<std::uint8_t>(code));
        if (bits == Bits::float8_e8m0) return from_e8m0(static_cast<std::uint8_t>(code));
        return bits == Bits::float16 ? from_half(code) : from_bfloat16(code);
    };
    const auto convert = [&](const auto& from) {
        const auto bits_at = [&](std::size_t n) { return static_cast<int>(from[n]); };
        if (bits == Bits::float4_e2m1) {  // two a byte, the first in its lower half
            std::vector<float> values;
            values.reserve(2 * from.size());
            for (std::size_t n = 0; n < from.size(); ++n)
                for (const int shift : {0, 4})
                    values.push_back(
                        from_e2m1(static_cast<std::uint8_t>(bits_at(n) >> shift & 15)));
            return values;
        }
        const std::size_t each = is_half_a_number(array.dtype, bits) ? 2 : 1;
        std::vector<float> values(from.size() / each);
        for (std::size_t n = 0; n < values.size(); ++n)
            values[n] = number(static_cast<std::uint16_t>(
                each == 1 ? bits_at(n)
                          : (bits_at(2 * n) & 0xFF) | (bits_at(2 * n + 1) & 0xFF) << 8));
        return values;
    };
    if (const auto* const bytes = std::get_if<std::vector<std::uint8_t>>(&array.values))
        return convert(*bytes);
    return convert(std::get<std::vector<float>>(array.values));  // which holds these integers
}

std::vector<double> numbers_of(const NpyArray& array) {
    return std::visit(
        [](const auto& values) -> std::vector<double> {
            if constexpr (requires { values.front() + 1.0; }) return {values.begin(), values.end()};
            return {};
        },
        array.values);
}

std::string described(const NpyArray& array) {
    return fmt::format("{} {}", array.dtype, to_string(array.extents));
}

/// Arrays of a file, some replaced.
class ReplacedArrays final : public ArrayFile {
  public:
    static Arrays make(Arrays file, std::map<std::string, NpyArray> added,
                       const std::set<std::string>& removed) {
        auto made = std::unique_ptr<ReplacedArrays>(new ReplacedArrays(file->what()));
        std::vector<std::string> names;
        for (const std::string& name : file->names())
            if (!removed.contains(name) && !added.contains(name)) names.push_back(name);
        for (const auto& [name, array] : added) names.push_back(name);
        made->file_ = std::move(file);
        made->added_ = std::move(added);
        or_throw(made->set_names(std::move(names)));
        return made;
    }
    Result<std::optional<std::string>> text(std::string_view key) const override {
        return file_->text(key);
    }

  private:
    explicit ReplacedArrays(std::string what) : ArrayFile(std::move(what)) {}
    Result<ArrayInfo> about_at(std::size_t at, const std::string&) const override {
        const auto found = added_.find(names()[at]);
        if (found == added_.end()) return file_->about(names()[at]);
        return ArrayInfo{found->second.dtype, found->second.extents,
                         items_of(found->second) * sizeof(float)};
    }
    Result<NpyArray> read_at(std::size_t at, const std::string&, double held) const override {
        const auto found = added_.find(names()[at]);
        return found == added_.end() ? file_->read(names()[at], held) : found->second;
    }
    Result<std::optional<HalfArray>> read_halves_at(std::size_t at, const std::string&,
                                                    double held) const override {
        if (added_.contains(names()[at])) return std::nullopt;
        return file_->read_halves(names()[at], held);
    }

    Arrays file_;
    std::map<std::string, NpyArray> added_;
};

}  // namespace

void ArrayReader::replace(std::map<std::string, NpyArray> added,
                          const std::set<std::string>& removed) {
    file_ = ReplacedArrays::make(std::move(file_), std::move(added), removed);
}

ArrayReader ArrayReader::open(const std::string& path) {
    const std::string shown = shown_input(path);
    if (!is_standard(path)) return {or_throw(open_arrays(path)), shown};
    or_throw(check_begins_arrays(or_throw(standard_beginning()), shown));
    const Result<std::string>& bytes = standard_input();
    if (!bytes) throw Failure(bytes.error());
    return {or_throw(parse_arrays(*bytes, shown)), shown};
}

void ArrayReader::rename_others(const std::set<std::string>& fixed) {
    std::vector<OtherName> names = other_names(file_->names(), fixed);
    // One list of documents for queries and keys: cu_seqlens_k is the same, or the call is refused.
    if (has("cu_seqlens_q") && has("cu_seqlens_k") && !has("cu_seqlens") &&
        !fixed.contains("cu_seqlens_q")) {
        if (numbers_of(array("cu_seqlens_q")) != numbers_of(array("cu_seqlens_k")))
            throw bad_input(
                fmt::format("{}: cu_seqlens_q and cu_seqlens_k differ; expected one list of "
                            "documents for queries and keys. Save mask "
                            "[Tq, Tk], true = may attend",
                            path_));
        names.push_back({"cu_seqlens_q", "cu_seqlens"});
    }
    renamed_ = renamed_note(names, path_);
    file_ = renamed(std::move(file_), names);
}

void ArrayReader::set_dtypes(const std::map<std::string, Bits, std::less<>>& dtypes) {
    dtypes_ = dtypes;
    for (const auto& [name, bits] : dtypes) {
        if (!has(name)) continue;
        const std::string dtype = or_throw(file_->about(name)).dtype;
        if (!may_be_bits(dtype))
            throw bad_input(
                fmt::format("{0}: dtype names {1}, which is {2}; expected an array of int16, "
                            "uint16, int8 or uint8. Leave {1} out of it",
                            path_, name, dtype));
        if (is_code(bits) && !is_byte(dtype))
            throw bad_input(
                fmt::format("{}: dtype reads {} as float8, and it is {}; expected int8 or uint8, "
                            "a code each. Save tensor.view(torch.uint8)",
                            path_, name, dtype));
    }
}

std::optional<Bits> ArrayReader::bits_of(std::string_view name, std::string_view dtype) const {
    if (const auto own = float8_of(dtype)) return own;
    if (!may_be_bits(dtype)) return std::nullopt;
    auto found = dtypes_.find(name);
    if (found == dtypes_.end()) found = dtypes_.find("");
    if (found == dtypes_.end() || (is_code(found->second) && !is_byte(dtype))) return std::nullopt;
    return found->second;
}

std::string ArrayReader::dtype_of(std::string_view name) const {
    std::string dtype = or_throw(file_->about(name)).dtype;
    const auto bits = bits_of(name, dtype);
    if (!bits) return dtype;
    switch (*bits) {
        case Bits::bfloat16:
            return "bfloat16";
        case Bits::float16:
            return "float16";
        case Bits::float8_e4m3:
            return "float8_e4m3fn";
        case Bits::float8_e5m2:
            return "float8_e5m2";
        case Bits::float8_e8m0:
            return "float8_e8m0fnu";
        case Bits::float4_e2m1:
            return "float4_e2m1fn_x2";
        case Bits::integers:
            break;
    }
    return dtype;
}

std::vector<Index> ArrayReader::axes_of_bits(std::string_view name, const ArrayInfo& info) const {
    std::vector<Index> extents = info.extents;
    const auto bits = bits_of(name, info.dtype);
    if (bits == Bits::float4_e2m1 && !extents.empty()) {
        extents.back() = product(extents.back(), Index{2});
        return extents;
    }
    if (!bits || !is_half_a_number(info.dtype, *bits)) return extents;
    if (extents.empty() || extents.back() % 2 != 0)
        throw bad_input(fmt::format(
            "{}: {} is {} {}, and two entries of the last axis make a number of 16 bits; expected "
            "an even number of them",
            path_, name, info.dtype, to_string(extents)));
    extents.back() /= 2;
    return extents;
}

std::vector<Index> ArrayReader::axes_of(std::string_view name) const {
    auto info = or_throw(file_->about(name));
    info.extents = axes_of_bits(name, info);
    if (std::ranges::count(info.extents, 0) == 0) return info.extents;
    throw bad_input(fmt::format("{}: {} is {}; every axis must be at least 1", path_, name,
                                to_string(info.extents)));
}

std::vector<float> ArrayReader::numbers(std::string_view name) {
    auto array = or_throw(file_->read(name, held_));
    extents_.insert_or_assign(std::string(name),
                              axes_of_bits(name, {array.dtype, array.extents, 0}));
    auto values = floats(name, std::move(array));
    held_ += static_cast<double>(values.size()) * sizeof(float);
    return values;
}

Tensor ArrayReader::tensor(std::string_view name, const Axes& axes) {
    if (!has(name)) return Tensor{};
    const auto extents = axes_of(name);
    const std::optional<Placement> placement = place(extents, axes);
    if (!placement)
        throw bad_input(fmt::format("{}: {} is {}; expected {}", path_, name, to_string(extents),
                                    expected_axes(axes)));
    return gather(*placement, numbers(name));
}

std::vector<float> ArrayReader::floats(std::string_view name, NpyArray array) {
    const auto bits = bits_of(name, array.dtype);
    if (!bits && may_be_bits(array.dtype)) {
        undeclared_ = name;
        const auto describe = [&](std::string_view kind, std::string when) {
            return Remedy{.option = "dtype",
                          .value = fmt::format("{}={}", name, kind),
                          .when = std::move(when)};
        };
        std::vector<Remedy> remedies{describe("bf16", "it holds the bits of bfloat16"),
                                     describe("f16", "it holds the bits of float16")};
        if (is_byte(array.dtype)) {
            remedies.push_back(describe("e4m3", "it holds the codes of float8_e4m3fn"));
            remedies.push_back(describe("e5m2", "it holds the codes of float8_e5m2"));
        }
        remedies.push_back(describe("int", "it holds integers"));
        throw Failure(Error{.problem = fmt::format(
                                "{} is {}, which is how {} often saved", name, array.dtype,
                                is_byte(array.dtype) ? "bfloat16 and float8 are" : "bfloat16 is"),
                            .code = ErrorCode::ambiguous,
                            .where = path_,
                            .expected = "float16, bfloat16, float32 or float64",
                            .remedies = std::move(remedies)});
    }
    for (const std::string_view end : {"_scale", "_scale_inv"})
        if (const std::string scale = std::string(name) + std::string(end);
            float8_of(array.dtype) && name.ends_with("weight") && has(scale))
            throw bad_input(
                fmt::format("{}: {} is {}, to be multiplied by {}; expected float16, bfloat16 or "
                            "float32, which Python saves: {}",
                            path_, name, array.dtype, scale, widening_code(path_)));
    if (bits && bits != Bits::integers) return numbers_of_bits(array, *bits);
    if (auto* values = std::get_if<std::vector<float>>(&array.values)) return std::move(*values);
    if (const auto* values = std::get_if<std::vector<double>>(&array.values))
        return round(name, array.dtype, *values);
    const auto* bytes = std::get_if<std::vector<std::uint8_t>>(&array.values);
    if (!bytes || array.dtype == "bool")
        throw bad_input(
            fmt::format("{}: {} is {}; expected float16, float32, float64 or an integer type",
                        path_, name, array.dtype));
    return std::vector<float>(bytes->begin(), bytes->end());
}

// Values beyond float32 become infinite, and that is said.
std::vector<float> ArrayReader::round(std::string_view name, std::string_view dtype,
                                      const std::vector<double>& values) {
    std::vector<float> rounded(values.size());
    const auto finite = [](auto value) { return std::isfinite(value); };
    std::ranges::transform(values, rounded.begin(),
                           [](double value) { return static_cast<float>(value); });
    const auto lost =
        std::ranges::count_if(values, finite) - std::ranges::count_if(rounded, finite);
    if (lost > 0)
        overflows_.push_back(fmt::format(
            "too large for float32 and now infinite: {} of the numbers of {}", lost, name));
    rounded_.push_back(fmt::format("{} ({})", name, dtype));
    only_float64_ = only_float64_ && dtype == "float64";
    return rounded;
}

/// The array of that name, or the text beside the arrays as if it were one.
std::optional<NpyArray> ArrayReader::find_text(std::string_view name) const {
    if (has(name)) return array(name);
    auto text = or_throw(file_->text(name));
    if (!text) return std::nullopt;
    return NpyArray{"text", {}, *std::move(text)};
}

std::optional<std::string> ArrayReader::text(std::string_view name, std::string_view what) const {
    auto array = find_text(name);
    if (!array) return std::nullopt;
    if (auto* text = std::get_if<std::string>(&array->values)) return std::move(*text);
    auto* const list = std::get_if<std::vector<std::string>>(&array->values);
    if (list && list->size() == 1) return std::move(list->front());
    throw bad_input(fmt::format("{}: {} is {}; expected a text scalar with {}", path_, name,
                                described(*array), what));
}

std::optional<std::vector<std::string>> ArrayReader::texts(std::string_view name) const {
    auto array = find_text(name);
    if (!array) return std::nullopt;
    if (auto* list = std::get_if<std::vector<std::string>>(&array->values)) return std::move(*list);
    std::string found = described(*array);
    if (const auto* text = std::get_if<std::string>(&array->values)) {
        const auto json = or_throw(parse_json(*text, fmt::format("{}: {}", path_, name)));
        if (auto list = strings_of(json)) return list;
        found = json.dump().substr(0, 40);
    }
    throw bad_input(fmt::format(
        "{}: {} is {}; expected an array of strings, or a text scalar with a JSON array of strings",
        path_, name, found));
}

const std::vector<Index>& ArrayReader::extents(std::string_view name) const {
    return extents_.find(name)->second;
}

std::vector<Note> ArrayReader::notes() const {
    std::vector<Note> notes(overflows_.begin(), overflows_.end());
    if (!renamed_.empty()) notes.emplace_back(renamed_);
    if (!rounded_.empty())
        notes.emplace_back(fmt::format("{} converted to float32", fmt::join(rounded_, ", ")),
                           only_float64_ ? NoteCode::rounded_float64 : NoteCode::rounded);
    return notes;
}

}  // namespace attn::files

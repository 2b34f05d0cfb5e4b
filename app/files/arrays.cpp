#include "app/files/arrays.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "app/files/standard.h"
#include "core/io/json.h"

namespace attn::files {
namespace {

std::string_view expected_axes(Layout layout) {
    switch (layout) {
        case Layout::heads:
            return "[T, d], [H, T, d] or [B, H, T, d]";
        case Layout::tokens:
            return "[T, d], [B, T, d] or [B, 1, T, d]";
        case Layout::weight:
            return "[in, out]";
        case Layout::bias:
            return "[n] or [1, n]";
    }
    return "";
}

std::optional<Shape> shape_of(const std::vector<Index>& axes, Layout layout) {
    const std::size_t n = axes.size();
    const bool stacked = layout == Layout::heads || layout == Layout::tokens;
    if (layout == Layout::bias && n == 1) return Shape{1, 1, 1, axes[0]};
    if (n == 2 && (layout != Layout::bias || axes[0] == 1)) return Shape{1, 1, axes[0], axes[1]};
    if (n == 3 && layout == Layout::heads) return Shape{1, axes[0], axes[1], axes[2]};
    if (n == 3 && layout == Layout::tokens) return Shape{axes[0], 1, axes[1], axes[2]};
    if (n == 4 && stacked) return Shape{axes[0], axes[1], axes[2], axes[3]};
    return std::nullopt;
}

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

std::string described(const NpyArray& array) {
    return fmt::format("{} {}", array.dtype, to_string(array.extents));
}

}  // namespace

Result<ArrayReader> ArrayReader::open(const std::string& path) {
    const std::string shown = shown_input(path);
    const auto opened = [&]() -> Result<NpzFile> {
        if (!is_standard(path)) return NpzFile::open(path);
        const Result<std::string>& bytes = standard_input();
        if (!bytes) return tl::unexpected(bytes.error());
        return NpzFile::open(*bytes, shown);
    };
    return opened().map([&](NpzFile&& file) { return ArrayReader(std::move(file), shown); });
}

Result<Tensor> ArrayReader::tensor(std::string_view name, Layout layout) {
    if (!has(name)) return Tensor{};
    Result<NpyArray> array = file_.read(name);
    if (!array) return tl::unexpected(std::move(array.error()));
    const std::vector<Index>& axes =
        extents_.insert_or_assign(std::string(name), array->extents).first->second;
    const std::optional<Shape> shape = shape_of(axes, layout);
    if (!shape)
        return bad_input(fmt::format("{}: {} is {}; expected {}", path_, name, to_string(axes),
                                     expected_axes(layout)));
    if (std::ranges::count(axes, 0) > 0)
        return bad_input(fmt::format("{}: {} is {}; every axis must be at least 1", path_, name,
                                     to_string(axes)));
    return floats(name, *std::move(array)).map([&](std::vector<float>&& values) {
        return Tensor(*shape, std::move(values));
    });
}

Result<std::vector<float>> ArrayReader::floats(std::string_view name, NpyArray array) {
    if (array.dtype == "uint16")
        return bad_input(
            fmt::format("{}: {} is uint16, which is how bfloat16 is often saved; expected numbers: "
                        "convert it to float32 before saving",
                        path_, name));
    if (auto* values = std::get_if<std::vector<float>>(&array.values)) return std::move(*values);
    if (const auto* values = std::get_if<std::vector<double>>(&array.values))
        return round(name, array.dtype, *values);
    const auto* bytes = std::get_if<std::vector<std::uint8_t>>(&array.values);
    if (!bytes || array.dtype == "bool")
        return bad_input(
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
            "{} value(s) of {} are too large for float32 and became infinite", lost, name));
    rounded_.push_back(fmt::format("{} ({})", name, dtype));
    return rounded;
}

Result<std::optional<std::string>> ArrayReader::text(std::string_view name,
                                                     std::string_view what) const {
    if (!has(name)) return std::nullopt;
    Result<NpyArray> array = file_.read(name);
    if (!array) return tl::unexpected(std::move(array.error()));
    if (auto* text = std::get_if<std::string>(&array->values)) return std::move(*text);
    auto* const list = std::get_if<std::vector<std::string>>(&array->values);
    if (list && list->size() == 1) return std::move(list->front());
    return bad_input(fmt::format("{}: {} is {}; expected a text scalar with {}", path_, name,
                                 described(*array), what));
}

Result<std::optional<std::vector<std::string>>> ArrayReader::texts(std::string_view name) const {
    if (!has(name)) return std::nullopt;
    Result<NpyArray> array = file_.read(name);
    if (!array) return tl::unexpected(std::move(array.error()));
    if (auto* list = std::get_if<std::vector<std::string>>(&array->values)) return std::move(*list);
    std::string found = described(*array);
    if (const auto* text = std::get_if<std::string>(&array->values)) {
        const auto json = parse_json(*text, fmt::format("{}: {}", path_, name));
        if (!json) return tl::unexpected(json.error());
        if (auto list = strings_of(*json)) return list;
        found = json->dump().substr(0, 40);
    }
    return bad_input(fmt::format(
        "{}: {} is {}; expected an array of strings, or a text scalar with a JSON array of strings",
        path_, name, found));
}

const std::vector<Index>& ArrayReader::extents(std::string_view name) const {
    return extents_.find(name)->second;
}

std::vector<std::string> ArrayReader::notes() const {
    std::vector<std::string> notes = overflows_;
    if (!rounded_.empty())
        notes.push_back(fmt::format("{} rounded to float32", fmt::join(rounded_, ", ")));
    return notes;
}

}  // namespace attn::files

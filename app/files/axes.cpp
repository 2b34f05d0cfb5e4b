#include "app/files/axes.h"

#include <fmt/format.h>

#include "core/entries.h"

namespace attn::files {
namespace {

enum Part { kB, kH, kT, kD };

struct Row {
    std::span<const std::string_view> forms;
    std::string_view expected;
};

constexpr std::string_view kRows[] = {"Td", "HTd", "BHTd"};
constexpr std::string_view kTokens[] = {"Td", "BTd", "BHTd"};
constexpr std::string_view kWeight[] = {"Td"};
constexpr std::string_view kTransposed[] = {"dT"};
constexpr std::string_view kBias[] = {"d", "1d"};  // 1: an axis of 1

Row row_of(const Axes& axes) {
    switch (axes.layout) {
        case Layout::heads:
            return {info(axes.order).forms, info(axes.order).expected};
        case Layout::rows:
            return {kRows, "[T, d], [H, T, d] or [B, H, T, d]"};
        case Layout::tokens:
            return {kTokens, "[T, d], [B, T, d] or [B, 1, T, d]"};
        case Layout::weight:
            return {kWeight, "[in, out]"};
        case Layout::weight_transposed:
            return {kTransposed, "[out, in]"};
        case Layout::bias:
            return {kBias, "[n] or [1, n]"};
    }
    return {};
}

/// Axes read from the last to the first; `step` is the stride of the next one.
struct AxesReading {
    Placement placement{{1, 1, 1, 1}, {0, 0, 0, 0}, 0};
    Index step = 1;
    Index heads;
    Index which;

    void set(Part part, Index extent, Index stride) {
        Index* const extents[] = {&placement.shape.b, &placement.shape.h, &placement.shape.t,
                                  &placement.shape.d};
        *extents[part] = extent;
        placement.strides[part] = stride;
    }
    /// H heads of d columns each; `stride` from head to head.
    bool split(Index width, Index parts, Index stride_in_widths) {
        if (heads < 1) return false;
        const Index blocks = product(parts, heads);
        if (width % blocks != 0) return false;
        const Index d = width / blocks;
        set(kD, d, step);
        set(kH, heads, step * d * stride_in_widths);
        return true;
    }

    bool take(char letter, Index extent) {
        const std::size_t part = std::string_view("BHTd").find(letter);
        if (part != std::string_view::npos) return set(static_cast<Part>(part), extent, step), true;
        switch (letter) {
            case 'E':
                return split(extent, 1, 1);
            case 'J':
                placement.offset += which * step * (extent / 3);
                return split(extent, 3, 1);
            case 'N':
                if (!split(extent, 3, 3)) return false;
                placement.offset += which * step * placement.shape.d;
                return true;
            case '3':
                placement.offset += which * step;
                return extent == 3;
            default:
                return extent == 1;
        }
    }
};

bool is_contiguous(const Placement& placement) {
    const Shape& shape = placement.shape;
    const Index extents[] = {shape.b, shape.h, shape.t, shape.d};
    Index stride = 1;
    for (std::size_t part = 4; part-- > 0;) {
        if (extents[part] != 1 && placement.strides[part] != stride) return false;
        stride *= extents[part];
    }
    return placement.offset == 0;
}

/// One more than the largest offset that it reads.
Index end_of(const Placement& placement) {
    const Shape& shape = placement.shape;
    if (shape.count() == 0) return 0;
    const auto& [of_b, of_h, of_t, of_d] = placement.strides;
    return placement.offset + (shape.b - 1) * of_b + (shape.h - 1) * of_h + (shape.t - 1) * of_t +
           (shape.d - 1) * of_d + 1;
}

}  // namespace

std::string expected_axes(const Axes& axes) {
    const Row row = row_of(axes);
    const bool splits = !row.forms.empty() && row.forms.front().find('E') != std::string_view::npos;
    return fmt::format("{}{}", row.expected,
                       splits ? fmt::format(", of {} heads", axes.heads) : "");
}

std::optional<Placement> place_letters(const std::vector<Index>& extents, std::string_view names,
                                       Index heads, Index which) {
    if (extents.size() != names.size()) return std::nullopt;
    AxesReading reading{.heads = heads, .which = which};
    for (std::size_t axis = names.size(); axis-- > 0;) {
        if (!reading.take(names[axis], extents[axis])) return std::nullopt;
        reading.step = product(reading.step, extents[axis]);
    }
    return reading.placement;
}

std::optional<Placement> place(const std::vector<Index>& extents, const Axes& axes) {
    for (const std::string_view letters : row_of(axes).forms)
        if (auto placement = place_letters(extents, letters, axes.heads)) return placement;
    return std::nullopt;
}

Tensor gather(const Placement& placement, std::vector<float> values) {
    const Shape& shape = placement.shape;
    const bool whole = shape.count() == static_cast<Index>(values.size());
    if (whole && is_contiguous(placement)) return Tensor(shape, values);
    ATTN_CHECK(end_of(placement) <= static_cast<Index>(values.size()),
               "the placement lies within the values");
    Tensor tensor = Tensor::uninitialised(shape);
    float* to = tensor.data();
    const auto& [of_b, of_h, of_t, of_d] = placement.strides;
    for_each_entry(shape, [&](Index b, Index h, Index t, Index d) {
        *to++ = values[placement.offset + b * of_b + h * of_h + t * of_t + d * of_d];
    });
    return tensor;
}

}  // namespace attn::files

#include "app/common/document/mask_code.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/document/mask_rules.h"
#include "core/bias.h"

namespace attn::view {
namespace {

/// How one library says it.
struct Library {
    std::string_view import, range, ones, array, bools, use;
};
constexpr Library kNumpy{
    "import numpy as np", "np.arange",  "np.ones",
    "np.array",           "dtype=bool", "# masked = np.where(mask, scores, -np.inf)"};
constexpr Library kTorch{"import torch",
                         "torch.arange",
                         "torch.ones",
                         "torch.tensor",
                         "dtype=torch.bool",
                         "# scaled_dot_product_attention(q, k, v, attn_mask=mask);\n"
                         "# nn.MultiheadAttention reads True as forbidden: give it ~mask"};

const Library& library_of(MaskCode which) { return which == MaskCode::numpy ? kNumpy : kTorch; }

/// Sequences and heads that have a mask of their own; 1: all share it.
struct Sharing {
    Index batch = 1, heads = 1;
    bool any() const { return batch > 1 || heads > 1; }
};

Sharing sharing_of(const MaskSpec& mask) {
    Sharing own{std::max<Index>(std::ssize(mask.padding), 1), 1};
    const auto add = [&](const Shape& shape) {
        own.batch = std::max(own.batch, shape.b);
        own.heads = std::max(own.heads, shape.h);
    };
    if (mask.custom) add(mask.custom->shape());
    if (mask.bias_forbids()) add(mask.bias->values.shape());
    return own;
}

std::string ascii_shifted(std::string_view letter, Index by) {
    if (by == 0) return std::string(letter);
    return fmt::format("{} {} {}", letter, by > 0 ? '+' : '-', std::abs(by));
}

/// "(abs(p - j) <= 2)", with the global tokens.
std::string window_expression(const MaskSpec& mask, std::string_view p) {
    const WindowSides sides = window_sides(mask);
    std::string window;
    if (sides.left == sides.right) window = fmt::format("(abs({} - j) <= {})", p, *sides.left);
    if (sides.left != sides.right && sides.left)
        window = fmt::format("({} - j <= {})", p, *sides.left);
    if (sides.left != sides.right && sides.right)
        window += fmt::format("{}(j - {} <= {})", sides.left ? " & " : "", p, *sides.right);
    if (mask.global_tokens == 0) return window;
    return fmt::format("({0}) | (j < {1}) | (({2} >= 0) & ({2} < {1}))", window, mask.global_tokens,
                       p);
}

std::string padding_expression(const MaskSpec& mask, const Library& library) {
    if (mask.padding.size() == 1) return fmt::format("j < {}", mask.padding.front());
    return fmt::format("j < {}([{}])[:, None, None, None]", library.array,
                       fmt::join(mask.padding, ", "));
}

/// Where the bias is not −∞.
Mask allowed_by(const Tensor& bias) {
    Mask mask(bias.shape());
    std::ranges::transform(bias.values(), mask.values().begin(),
                           [](float value) { return value == kForbidding ? 0 : 1; });
    return mask;
}

/// Rows of 0 and 1, one a line.
std::string literal(const Mask& mask, const Library& library, bool four_axes) {
    std::string text = fmt::format("{}([\n", library.array);
    const auto values = mask.values();
    const auto width = static_cast<std::size_t>(mask.shape().d);
    for (std::size_t at = 0; at < values.size(); at += width)
        text += fmt::format("    [{}],\n", fmt::join(values.subspan(at, width), ", "));
    text += fmt::format("], {})", library.bools);
    const Shape& shape = mask.shape();
    if (four_axes)
        text += fmt::format(".reshape({}, {}, {}, {})", shape.b, shape.h, shape.t, shape.d);
    return text;
}

void add_rules(std::string& code, const Document& document, const Library& library,
               bool four_axes) {
    const MaskSpec& mask = document.spec.mask;
    const Index offset = document.size.query_offset;
    const auto add = [&](const std::string& expression, const std::string& comment) {
        code += fmt::format("mask &= {}  # {}\n", expression, comment);
    };
    if (mask.causal)
        add(fmt::format("j <= {}", ascii_shifted("i", causal_shift(document.size, *mask.causal))),
            "causal");
    const std::string_view p = offset == 0 ? "i" : "p";
    if ((mask.windowed() || mask.block) && offset != 0)
        code += fmt::format("p = {}  # positions of the queries\n", ascii_shifted("i", offset));
    if (mask.windowed())
        add(window_expression(mask, p),
            mask.global_tokens == 0 ? "window" : "window, and global tokens");
    if (mask.block) add(fmt::format("{0} // {1} == j // {1}", p, *mask.block), "blocks");
    if (!mask.padding.empty()) add(padding_expression(mask, library), "padding: valid keys");
    if (mask.custom)
        add(literal(*mask.custom, library, four_axes), document.painted ? "painted" : "given");
    if (mask.bias_forbids())
        add(literal(allowed_by(mask.bias->values), library, four_axes), "-inf of the bias");
}

}  // namespace

std::string mask_lines(const Document& document, MaskCode which) {
    const Library& library = library_of(which);
    const Dimensions& size = document.size;
    const Sharing own = sharing_of(document.spec.mask);
    const std::string shape =
        own.any() ? fmt::format("({}, {}, {}, {})", own.batch, own.heads, size.tq, size.tk)
                  : fmt::format("({}, {})", size.tq, size.tk);
    std::string code = fmt::format("i = {}({})[:, None]  # queries\n", library.range, size.tq);
    code += fmt::format("j = {}({})[None, :]  # keys\n", library.range, size.tk);
    code +=
        fmt::format("mask = {}({}, {})  # True: may attend\n", library.ones, shape, library.bools);
    add_rules(code, document, library, own.any());
    return code;
}

std::string mask_code(const Document& document, MaskCode which) {
    const Library& library = library_of(which);
    return fmt::format("{}\n\n{}{}\n", library.import, mask_lines(document, which), library.use);
}

}  // namespace attn::view

#include "app/common/document/mask_code.h"

#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/document/document.h"
#include "app/common/document/mask_rules.h"
#include "app/common/format.h"
#include "app/common/keys.h"
#include "core/bias.h"
#include "core/masks.h"
#include "core/scores/operands.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/trace.h"
#include "core/train/task_table.h"

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

/// How one library writes the arrays of a mask.
struct ArrayText {
    std::function<std::string(std::span<const Index> padding)>
        padding;  // valid keys of the sequence
    std::function<std::string(const Mask& mask, std::string_view name)> pairs;  // of the pair i, j
};

struct RuleText {
    std::string expression, comment;
};
/// One for each rule, with i and j, and p for the position of the query where that is not i.
std::vector<RuleText> rule_texts(const Document& document, std::string_view p,
                                 const ArrayText& arrays) {
    const MaskSpec& mask = document.spec.mask;
    std::vector<RuleText> rules;
    if (mask.causal)
        rules.push_back(
            {fmt::format("j <= {}", ascii_shifted("i", causal_shift(document.size, *mask.causal))),
             "causal"});
    if (mask.windowed())
        rules.push_back({window_expression(mask, p),
                         mask.global_tokens == 0 ? "window" : "window, and global tokens"});
    if (mask.block)
        rules.push_back({fmt::format("{0} // {1} == j // {1}", p, *mask.block), "blocks"});
    if (!mask.padding.empty())
        rules.push_back({"j < " + arrays.padding(mask.padding), "padding: valid keys"});
    if (mask.custom)
        rules.push_back(
            {arrays.pairs(*mask.custom, "given"), document.painted ? "painted" : "given"});
    if (mask.bias_forbids())
        rules.push_back(
            {arrays.pairs(allowed_by(mask.bias->values), "finite"), "-inf of the bias"});
    return rules;
}

bool uses_positions(const Document& document) {
    const MaskSpec& mask = document.spec.mask;
    return (mask.windowed() || mask.block) && document.size.query_offset != 0;
}

void add_rules(std::string& code, const Document& document, const Library& library,
               bool four_axes) {
    const bool positions = uses_positions(document);
    if (positions)
        code += fmt::format("p = {}  # positions of the queries\n",
                            ascii_shifted("i", document.size.query_offset));
    const ArrayText arrays{
        [&](std::span<const Index> padding) {
            if (padding.size() == 1) return std::to_string(padding.front());
            return fmt::format("{}([{}])[:, None, None, None]", library.array,
                               fmt::join(padding, ", "));
        },
        [&](const Mask& mask, std::string_view) { return literal(mask, library, four_axes); }};
    for (const RuleText& rule : rule_texts(document, positions ? "p" : "i", arrays))
        code += fmt::format("mask &= {}  # {}\n", rule.expression, rule.comment);
}

// ---- FlexAttention

/// "[b, 0, i, j]": 0 for an axis that broadcasts.
std::string flex_index(const Shape& shape) {
    return fmt::format("[{}, {}, {}, {}]", shape.b == 1 ? "0" : "b", shape.h == 1 ? "0" : "h",
                       shape.t == 1 ? "0" : "i", shape.d == 1 ? "0" : "j");
}

/// Parts of the call that neither function has, as a comment; "" if they have every part.
std::string flex_left_out(const Document& document) {
    const AttentionSpec& spec = document.spec;
    std::vector<std::string> parts;
    if (spec.score != Score::dot) parts.push_back(fmt::format("score {}", info(spec.score).key));
    if (!document.inputs || !document.inputs->params[Param::sinks].empty())
        parts.emplace_back(document.inputs ? "sinks" : "q, k and v");
    if (spec.drops()) parts.emplace_back("dropout");
    if (spec.empty_rows == EmptyRows::nan && spec.mask.any())
        parts.emplace_back("NaN in rows without a key");
    std::string text =
        parts.empty() ? "" : fmt::format("# not in this code: {}\n", fmt::join(parts, ", "));
    if (spec.qk_norm || spec.rope)
        text += fmt::format("# q and k are those after {}\n", spec.qk_norm && spec.rope
                                                                  ? "QK-norm and RoPE"
                                                              : spec.qk_norm ? "QK-norm"
                                                                             : "RoPE");
    return text;
}

/// The tensors that mask_mod reads, and its lines.
std::string flex_mask_mod(const Document& document) {
    std::string tensors;
    const ArrayText arrays{
        [&](std::span<const Index> padding) {
            if (padding.size() == 1) return std::to_string(padding.front());
            tensors += fmt::format("valid = torch.tensor([{}])  # keys of each sequence\n",
                                   fmt::join(padding, ", "));
            return std::string("valid[b]");
        },
        [&](const Mask& mask, std::string_view name) {
            tensors += fmt::format("{} = {}\n", name, literal(mask, kTorch, true));
            return fmt::format("{}{}", name, flex_index(mask.shape()));
        }};
    const bool positions = uses_positions(document);
    std::string lines = "    allowed = j >= 0\n";
    if (positions)
        lines += fmt::format("    p = {}  # position of the query\n",
                             ascii_shifted("i", document.size.query_offset));
    for (const RuleText& rule : rule_texts(document, positions ? "p" : "i", arrays))
        lines += fmt::format("    allowed = allowed & ({})  # {}\n", rule.expression, rule.comment);
    return fmt::format(
        "{}{}\n\ndef mask_mod(b, h, i, j):  # True: may attend\n{}    return allowed\n",
        tensors.empty() ? "" : "\n", tensors, lines);
}

/// The tensors that score_mod reads, and its lines; "" where the call changes no score.
std::string flex_score_mod(const Document& document) {
    const AttentionSpec& spec = document.spec;
    if (!spec.biases()) return {};
    std::string tensors, bias, cap, alibi;
    if (spec.mask.bias) {
        const Tensor& values = spec.mask.bias->values;
        const Shape& shape = values.shape();
        std::vector<std::string> numbers;
        for (const float value : values.values())  // −∞ is in mask_mod
            numbers.push_back(exact(value == kForbidding ? 0.0F : value));
        tensors += fmt::format("bias = torch.tensor([{}]).reshape({}, {}, {}, {})\n",
                               fmt::join(numbers, ", "), shape.b, shape.h, shape.t, shape.d);
        bias = fmt::format("    score = score + bias{}\n", flex_index(shape));
    }
    if (spec.softcap)
        cap = fmt::format("    score = {0} * torch.tanh(score / {0})  # soft cap\n",
                          exact(*spec.softcap));
    if (spec.alibi) {
        std::vector<std::string> slopes;
        for (Index h = 0; h < document.size.heads; ++h)
            slopes.push_back(exact(alibi_slope(h, document.size.heads)));
        tensors += fmt::format("slopes = torch.tensor([{}])\n", fmt::join(slopes, ", "));
        alibi = fmt::format("    score = score - slopes[h] * abs({} - j)  # ALiBi\n",
                            ascii_shifted("i", document.size.query_offset));
    }
    return fmt::format("{}{}\n\ndef score_mod(score, b, h, i, j):\n{}{}    return score\n",
                       tensors.empty() ? "" : "\n\n", tensors,
                       spec.bias_before_softcap ? bias + cap : cap + bias, alibi);
}

std::string flex_code(const Document& document) {
    const Dimensions& size = document.size;
    const Sharing own = sharing_of(document.spec.mask);
    const std::string score_mod = flex_score_mod(document);
    std::string code =
        "import torch\n"
        "from torch.nn.attention.flex_attention import create_block_mask, flex_attention\n";
    code += flex_left_out(document) + flex_mask_mod(document) + score_mod;
    code += fmt::format(
        "\n\nblock_mask = create_block_mask(mask_mod, {}, {}, {}, {}, device=\"cpu\")\n", own.batch,
        own.heads, size.tq, size.tk);
    if (size.d_k > 0)
        code += fmt::format("scale = {}\n", exact(product_factor(document.spec, size.d_k)));
    return code + fmt::format("# flex_attention(q, k, v, {}block_mask=block_mask{}{})\n",
                              score_mod.empty() ? "" : "score_mod=score_mod, ",
                              size.d_k > 0 ? ", scale=scale" : "",
                              size.heads != size.kv_heads ? ", enable_gqa=True" : "");
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
    if (which == MaskCode::flex_attention) return flex_code(document);
    const Library& library = library_of(which);
    return fmt::format("{}\n\n{}{}\n", library.import, mask_lines(document, which), library.use);
}

}  // namespace attn::view

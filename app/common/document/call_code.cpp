#include "app/common/document/call_code.h"

#include <cmath>

#include <fmt/ranges.h>

#include "app/common/document/call_actions.h"
#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/document/intervention_effects.h"
#include "app/common/format.h"
#include "core/bias.h"
#include "core/call.h"
#include "core/dropout.h"
#include "core/entries.h"
#include "core/scores/operands.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/stages.h"
#include "core/trace.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

constexpr std::size_t kMostNumbers = 20000;  // that are written out

/// How one library says it.
struct Spelling {
    std::string_view import, module, array, range, float64, retained, join, repeat, heads;
};
constexpr Spelling kInNumpy{"import numpy as np", "np",         "np.array",
                            "np.arange",          "np.float64", "axis=-1, keepdims=True",
                            "np.concatenate",     "np.repeat",  "axis=1"};
constexpr Spelling kInTorch{"import torch",  "torch",
                            "torch.tensor",  "torch.arange",
                            "torch.float64", "dim=-1, keepdim=True",
                            "torch.cat",     "torch.repeat_interleave",
                            "dim=1"};

/// One line for each row of the last axis.
std::string numbers_of(std::span<const float> values, Index width) {
    std::string text = "[\n";
    for (std::size_t at = 0; at < values.size(); at += static_cast<std::size_t>(width)) {
        std::vector<std::string> row;
        for (const float value : values.subspan(at, static_cast<std::size_t>(width)))
            row.push_back(exact(value));
        text += fmt::format("    {},\n", fmt::join(row, ", "));
    }
    return text + "]";
}

class CodeWriter {
  public:
    CodeWriter(const Document& document, MaskCode code)
        : document_(document),
          code_(code),
          library_(code == MaskCode::numpy ? kInNumpy : kInTorch),
          spec_(document.spec),
          inputs_(*document.inputs) {}

    std::string whole() {
        std::string title = fmt::format("{}: {}", document_.title, document_.note);
        for (char& c : title)
            if (static_cast<unsigned char>(c) < 0x20) c = ' ';
        text_ = fmt::format("# {}\n{}\n\n", title, library_.import);
        add_operands();
        if (spec_.qk_norm) add_qk_norm();
        if (spec_.rope) add_rope();
        add_key_heads();
        add_scores();
        add_mask();
        add_weights();
        add_output();
        return text_;
    }

  private:
    void line(std::string_view text) { (text_ += text) += '\n'; }
    const Tensor& param(Param which) const { return inputs_.params[which]; }
    std::string module(std::string_view function) const {
        return fmt::format("{}.{}", library_.module, function);
    }
    std::string array(const std::string& list) const {
        return fmt::format("{}({}, dtype={})", library_.array, list, library_.float64);
    }

    /// `name` of that tensor, all of its four axes or the last ones.
    void add_tensor(std::string_view name, const Tensor& tensor, int axes) {
        const Shape& shape = tensor.shape();
        const Index sizes[] = {shape.b, shape.h, shape.t, shape.d};
        const auto retained = std::span(sizes).last(axes);
        const std::string list = numbers_of(tensor.values(), std::max<Index>(shape.d, 1));
        line(fmt::format("{} = {}.reshape({})", name, array(list), fmt::join(retained, ", ")));
    }
    void add_param(Param which, int axes) {
        if (!param(which).empty()) add_tensor(info(which).npz, param(which), axes);
    }

    void add_operands() {
        if (!inputs_.projects()) {
            add_tensor("q", inputs_.q, 4);
            add_tensor("k", inputs_.k, 4);
            return add_tensor("v", inputs_.v, 4);
        }
        add_x("X", inputs_.x);
        if (!inputs_.x_kv.empty()) add_x("X_kv", inputs_.x_kv);
        line("\n\ndef heads(x, count):");
        line("    return x.reshape(x.shape[0], x.shape[1], count, -1).swapaxes(1, 2)\n\n");
        const std::string_view keys = inputs_.x_kv.empty() ? "X" : "X_kv";
        project("q", "X", Param::w_q, Param::b_q, document_.size.heads);
        project("k", keys, Param::w_k, Param::b_k, document_.size.kv_heads);
        project("v", keys, Param::w_v, Param::b_v, document_.size.kv_heads);
    }
    void add_x(std::string_view name, const Tensor& x) {
        const Shape& shape = x.shape();
        line(fmt::format("{} = {}.reshape({}, {}, {})", name,
                         array(numbers_of(x.values(), shape.d)), shape.b, shape.t, shape.d));
    }
    void project(std::string_view to, std::string_view from, Param weight, Param bias,
                 Index count) {
        add_param(weight, 2);
        add_param(bias, 1);
        const std::string plus = param(bias).empty() ? "" : fmt::format(" + {}", info(bias).npz);
        line(fmt::format("{} = heads({} @ {}{}, {})", to, from, info(weight).npz, plus, count));
    }

    void add_qk_norm() {
        line("\n\ndef norm(x):  # RMSNorm of each row");
        line(fmt::format("    return x * ((x * x).mean({}) + {}) ** -0.5\n\n", library_.retained,
                         exact(*spec_.qk_norm)));
        for (const auto& [name, weight] :
             {std::pair("q", Param::q_norm_weight), std::pair("k", Param::k_norm_weight)}) {
            add_param(weight, 1);
            line(fmt::format("{0} = norm({0}){1}", name,
                             param(weight).empty() ? "" : fmt::format(" * {}", info(weight).npz)));
        }
    }
    void add_rope() {
        const Rope& rope = *spec_.rope;
        const Index dims = rope.dims.value_or(document_.size.d_k);
        const bool half = rope.pairs == RopePairs::half;
        if (const RotaryTables* const tables = rope.tables.get()) {
            add_tensor("q_cos", tables->q_cos, 4);
            add_tensor("q_sin", tables->q_sin, 4);
            add_tensor("k_cos", tables->k_cos, 4);
            add_tensor("k_sin", tables->k_sin, 4);
            line("\n\ndef rotate(x, c, s):");
        } else {
            std::vector<std::string> omegas;
            for (Index c = 0; c < dims / 2; ++c)
                omegas.push_back(exact(rope_frequency(rope, c, dims)));
            line(fmt::format("omega = {}  # radians a position",
                             array(fmt::format("[{}]", fmt::join(omegas, ", ")))));
            line("\n\ndef rotate(x, p):");
            line("    angle = p[:, None] * omega");
            line(fmt::format("    c, s = {}(angle), {}(angle)", module("cos"), module("sin")));
        }
        line(half ? fmt::format("    a, b = x[..., :{0}], x[..., {0}:{1}]", dims / 2, dims)
                  : fmt::format("    a, b = x[..., 0:{0}:2], x[..., 1:{0}:2]", dims));
        line("    turned = [a * c - b * s, a * s + b * c]");
        if (!half)
            line(fmt::format("    turned = [{}(turned, -1).reshape(*a.shape[:-1], {})]",
                             module("stack"), dims));
        line(fmt::format("    return {}(turned + [x[..., {}:]], -1)\n\n", library_.join, dims));
        if (rope.tables) {
            line("q = rotate(q, q_cos, q_sin)");
            return line("k = rotate(k, k_cos, k_sin)");
        }
        line(fmt::format("q = rotate(q, {}({}) + {})", library_.range, document_.size.tq,
                         document_.size.query_offset));
        line(fmt::format("k = rotate(k, {}({}))", library_.range, document_.size.tk));
    }
    void add_key_heads() {
        const Index times = document_.size.heads / document_.size.kv_heads;
        if (times == 1) return;
        for (const std::string_view name : {"k", "v"})
            line(fmt::format("{0} = {1}({0}, {2}, {3})", name, library_.repeat, times,
                             library_.heads));
    }

    void add_scores() {
        for (const Param each : info(spec_.score).params) add_param(each, info(each).bias ? 1 : 2);
        if (spec_.scale == ScaleKind::q_and_k)
            line(fmt::format("q, k = q * {0}, k * {0}  # d_k ** (-1/4) each",
                             exact(operand_factor(spec_, document_.size.d_k))));
        line(score());
        const double factor = score_factor(spec_, document_.size.d_k);
        line(fmt::format("scaled = scores * {}{}", exact(factor),
                         spec_.scale == ScaleKind::sqrt_dk && spec_.temperature == 1.0
                             ? "  # 1/sqrt(d_k)"
                             : ""));
        const bool first = spec_.bias_before_softcap;
        if (first) add_bias();
        if (spec_.softcap)
            line(fmt::format("scaled = {0} * {1}(scaled / {0})  # soft cap", exact(*spec_.softcap),
                             module("tanh")));
        if (!first) add_bias();
        if (spec_.alibi) add_alibi();
    }
    std::string score() {
        return fmt::format(
            fmt::runtime(info(spec_.score).code), fmt::arg("np", library_.module),
            fmt::arg("keep", library_.retained), fmt::arg("queries", document_.size.tq),
            fmt::arg("keys", document_.size.tk), fmt::arg("last", document_.size.tq - 1));
    }
    /// Its −∞ is in the mask.
    void add_bias() {
        if (!spec_.mask.bias) return;
        Tensor bias = spec_.mask.bias->values;
        std::ranges::replace(bias.values(), kForbidding, 0.0F);
        add_tensor("bias", bias, 4);
        line("scaled = scaled + bias");
    }
    void add_alibi() {
        std::vector<std::string> slopes;
        for (Index h = 0; h < document_.size.heads; ++h)
            slopes.push_back(exact(alibi_slope(h, document_.size.heads)));
        line(fmt::format("slopes = {}.reshape(-1, 1, 1)",
                         array(fmt::format("[{}]", fmt::join(slopes, ", ")))));
        line(fmt::format("distance = abs({0}({1})[:, None] + {2} - {0}({3})[None, :])",
                         library_.range, document_.size.tq, document_.size.query_offset,
                         document_.size.tk));
        line("scaled = scaled - slopes * distance  # ALiBi");
    }

    void add_mask() {
        if (!spec_.mask.any()) return line("masked = scaled");
        text_ += mask_lines(document_, code_);
        line(code_ == MaskCode::numpy ? "masked = np.where(mask, scaled, -np.inf)"
                                      : "masked = scaled.masked_fill(~mask, -torch.inf)");
    }

    void add_weights() {
        const bool sinks = !param(Param::sinks).empty();
        if (sinks) {
            add_param(Param::sinks, 1);
            line(fmt::format("sink = {}(sinks.reshape(1, -1, 1, 1), masked[..., :1].shape)",
                             module("broadcast_to")));
        }
        line(fmt::format("logits = {}",
                         sinks ? fmt::format("{}([masked, sink], -1)", library_.join) : "masked"));
        if (code_ == MaskCode::numpy) {
            line(fmt::format("powers = np.exp(logits - logits.max({}))", library_.retained));
            line(fmt::format("weights = powers / powers.sum({})", library_.retained));
        } else {
            line("weights = torch.softmax(logits, -1)");
        }
        if (sinks) line("weights = weights[..., :-1]");
        if (spec_.mask.any() && !sinks && spec_.empty_rows == EmptyRows::zero) add_empty_rows();
        if (spec_.drops()) add_dropout();
    }
    /// A row without a key is 0.
    void add_empty_rows() {
        line(code_ == MaskCode::numpy
                 ? "weights = np.where(mask.any(-1, keepdims=True), weights, 0)"
                 : "weights = weights.masked_fill(~mask.any(-1, keepdim=True), 0)");
    }
    void add_dropout() {
        const Dimensions& size = document_.size;
        Tensor factors(Shape{size.batch, size.heads, size.tq, size.tk});
        for_each_pair(size, [&](Index b, Index h, Index i, Index j) {
            factors(b, h, i, j) = static_cast<float>(dropout_factor(spec_, size, b, h, i, j));
        });
        add_tensor("dropout", factors, 4);
    }

    void add_output() {
        line(spec_.drops() ? "context = (weights * dropout) @ v" : "context = weights @ v");
        line("joined = context.swapaxes(1, 2).reshape(context.shape[0], context.shape[2], -1)");
        add_param(Param::w_o, 2);
        add_param(Param::b_o, 1);
        std::string output = "joined";
        if (!param(Param::w_o).empty()) output += " @ W_O";
        if (!param(Param::b_o).empty()) output += " + b_O";
        line("output = " + output);
        line("print(output)");
    }

    const Document& document_;
    MaskCode code_;
    const Spelling& library_;
    const AttentionSpec& spec_;
    const Inputs& inputs_;
    std::string text_;
};

/// Calls `look` for every tensor that would be written out.
template <class Look>
void each_tensor(const Inputs& inputs, Look look) {
    for (const Tensor* tensor : {&inputs.x, &inputs.x_kv, &inputs.q, &inputs.k, &inputs.v})
        if (!tensor->empty()) look(*tensor);
    for (const Tensor& tensor : inputs.params.tensors)
        if (!tensor.empty()) look(tensor);
}

/// Whether a number of the bias is neither finite nor −∞.
bool is_spoilt(const PairBias& bias) {
    return std::ranges::any_of(bias.values.values(), [](float value) {
        return !std::isfinite(value) && value != kForbidding;
    });
}

}  // namespace

Result<std::string> call_code(const Document& document, MaskCode code) {
    if (code == MaskCode::flex_attention)
        return bad_input("FlexAttention takes functions of a mask and of a score: copy the mask");
    if (is_empty(document)) return bad_input(empty_text(document));
    if (is_without_values(document)) return bad_input("the call has no values: nothing to compute");
    std::size_t count = 0;
    bool finite = true;
    each_tensor(*document.inputs, [&](const Tensor& tensor) {
        count += tensor.values().size();
        for (const float value : tensor.values()) finite = finite && std::isfinite(value);
    });
    const auto& bias = document.spec.mask.bias;
    if (bias) count += static_cast<std::size_t>(bias->values.count());
    if (const auto& rope = document.spec.rope; rope && rope->tables)
        count +=
            2 * static_cast<std::size_t>(rope->tables->q_cos.count() + rope->tables->k_cos.count());
    if (bias) finite = finite && !is_spoilt(*bias);
    const Dimensions& size = document.size;
    const bool pairs = document.spec.drops() || document.spec.mask.custom;
    if (pairs) count += static_cast<std::size_t>(size.batch * size.heads * size.tq * size.tk);
    if (count > kMostNumbers)
        return bad_input(
            fmt::format("the call has {} numbers; expected at most {} for a copy. attnscope trace "
                        "saves any call",
                        count, kMostNumbers));
    if (!finite) return bad_input("the inputs hold NaN or infinity: expected numbers to copy");
    return CodeWriter(document, code).whole();
}

void carry_out(AppState& state, const CopyCall& action) {
    const auto code = call_code(state.document(), action.code);
    if (!code) return show_message(state, code.error());
    state.effects.clipboard = *code;
    show_message(state, "Copied the whole call as {}.",
                 action.code == MaskCode::numpy ? "NumPy" : "PyTorch");
}

}  // namespace attn::view

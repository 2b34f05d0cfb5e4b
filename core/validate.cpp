#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/call.h"
#include "core/check_mask.h"
#include "core/engine.h"
#include "core/rope_scale.h"
#include "core/rotary.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/spec_fields.h"
#include "core/stages.h"
#include "core/text.h"
#include "core/trace.h"

namespace attn {
namespace {

/// "(K [1, 2, 3, 4], Q [1, 2, 3, 5])".
struct Differing {
    std::string_view name;
    Shape shape;
    std::string_view other_name;
    Shape other;
};
/// "1 head", "4 heads".
struct Counted {
    Index count;
    std::string_view noun;
};

}  // namespace
}  // namespace attn

// Written when a sentence is, which a call that fits never needs.
template <>
struct fmt::formatter<attn::Shape> : fmt::formatter<std::string> {
    auto format(const attn::Shape& shape, fmt::format_context& context) const {
        return fmt::formatter<std::string>::format(attn::to_string(shape), context);
    }
};
template <>
struct fmt::formatter<attn::Differing> : fmt::formatter<std::string> {
    auto format(const attn::Differing& two, fmt::format_context& context) const {
        return fmt::format_to(context.out(), "({} {}, {} {})", two.name, two.shape, two.other_name,
                              two.other);
    }
};
template <>
struct fmt::formatter<attn::Counted> : fmt::formatter<std::string> {
    auto format(const attn::Counted& some, fmt::format_context& context) const {
        return fmt::formatter<std::string>::format(attn::counted(some.count, some.noun), context);
    }
};

namespace attn {
namespace {

// H query heads, Hkv key/value heads. A check returns the sentence of what is wrong, or "".

/// The first complaint of a list, in order.
std::string first_of(std::initializer_list<std::string> complaints) {
    for (const std::string& complaint : complaints)
        if (!complaint.empty()) return complaint;
    return {};
}

template <class... Args>
std::string unless(bool valid, fmt::format_string<Args...> sentence, Args&&... args) {
    if (valid) return {};
    return fmt::format(sentence, std::forward<Args>(args)...);
}

/// "" where it succeeded.
std::string sentence_of(const Result<void>& result) {
    return result ? std::string() : result.error().text();
}

// ---- options

std::string check_options(const AttentionSpec& spec) {
    return first_of({
        number_out_of_range(spec),
        unless(spec.scale != ScaleKind::q_and_k || spec.score == Score::dot,
               "scale is q_and_k with score {}: it scales the queries and keys of dot products, so "
               "score dot is expected",
               info(spec.score).key),
        unless(spec.heads >= 1, "heads is {}: it must be at least 1", spec.heads),
        unless(spec.kv_heads >= 1, "kv_heads is {}: it must be at least 1", spec.kv_heads),
    });
}

// ---- positions

/// One of Rope::tables, of `rows` rows.
std::string check_table(std::string_view name, const Tensor& table, Index rows, Index pairs,
                        const Dimensions& size) {
    const Shape shape = table.shape();
    const bool fits = (shape.b == 1 || shape.b == size.batch) && shape.h == 1 && shape.t == rows &&
                      shape.d == pairs;
    if (!fits)
        return fmt::format(
            "{} of rope.tables is {}: expected {}{}, a number for each column pair "
            "that turns",
            name, shape, Shape{1, 1, rows, pairs},
            size.batch == 1 ? "" : fmt::format(" or {}", Shape{size.batch, 1, rows, pairs}));
    const std::span<const float> values = table.values();
    const auto spoilt = std::ranges::find_if_not(values, [](float x) { return std::isfinite(x); });
    if (spoilt == values.end()) return {};
    const Index at = spoilt - values.begin();
    return fmt::format("{} of rope.tables is {} at [{}, 0, {}, {}]: finite numbers are expected",
                       name, *spoilt, at / (rows * pairs), at / pairs % rows, at % pairs);
}

std::string check_tables(const Rope& rope, Index dims, const Dimensions& size) {
    if (!rope.tables) return {};
    const RotaryTables& tables = *rope.tables;
    return first_of({check_table("q_cos", tables.q_cos, size.tq, dims / 2, size),
                     check_table("q_sin", tables.q_sin, size.tq, dims / 2, size),
                     check_table("k_cos", tables.k_cos, size.tk, dims / 2, size),
                     check_table("k_sin", tables.k_sin, size.tk, dims / 2, size)});
}

std::string check_positions(const AttentionSpec& spec, const Dimensions& size) {
    if (spec.query_offset && spec.mask.causal == CausalAlign::bottom_right &&
        *spec.query_offset != size.tk - size.tq)
        return fmt::format(
            "query_offset is {} but causal=bottom-right puts query 0 at Tk − Tq = {}: give one of "
            "the two",
            *spec.query_offset, size.tk - size.tq);
    if (!spec.rope) return {};
    // Pairs turn by at most p / base / factor: a double has digits of that left beyond whole turns.
    const Index dims = spec.rope->dims.value_or(size.d_k);
    const RopeScaling& scaling = spec.rope->scaling;
    const RopeScaleInfo& kind = info(scaling.kind);
    return first_of({
        unless(spec.rope->base >= 1e-6 && spec.rope->base <= kLargestFactor,
               "rope.base is {}: it must be a number from 1e-6 to 1e18", spec.rope->base),
        unless(scaling.factor >= 1e-3 && scaling.factor <= kLargestFactor,
               "the factor of RoPE's scaling is {}: it must be a number from 1e-3 to 1e18",
               scaling.factor),
        kind.valid(scaling) ? std::string()
                            : fmt::format(fmt::runtime(kind.fault), scaling.low, scaling.high),
        unless(dims >= 2 && dims % 2 == 0 && dims <= size.d_k,
               "rope.dims is {}: RoPE turns pairs of columns, so an even number from 2 to d_k = {} "
               "is expected",
               dims, size.d_k),
        check_tables(*spec.rope, dims, size),
    });
}

// ---- tensors

template <class Scalar>
std::string check_has_entries(std::string_view name, const TensorOf<Scalar>& tensor) {
    return unless(!tensor.empty() || tensor.shape() == Shape{},
                  "{} is {}: every axis must be at least 1", name, tensor.shape());
}

template <class Scalar>
std::string check_not_hollow(const InputsOf<Scalar>& inputs) {
    std::string complaint =
        first_of({check_has_entries("X", inputs.x), check_has_entries("X_kv", inputs.x_kv),
                  check_has_entries("Q", inputs.q), check_has_entries("K", inputs.k),
                  check_has_entries("V", inputs.v)});
    for (const ParamInfo& param : param_table())
        if (complaint.empty()) complaint = check_has_entries(param.npz, inputs.params[param.param]);
    return complaint;
}

/// X, W_Q, W_K, W_V on one side, Q, K, V on the other: exactly one of the two.
template <class Scalar>
std::string check_which_given(const InputsOf<Scalar>& in) {
    if (!in.projects()) {
        if (in.q.empty() || in.k.empty() || in.v.empty())
            return "give either X with W_Q, W_K and W_V, or all of Q, K and V";
        for (const ParamInfo& param : param_table())
            if (param.use == ParamUse::projection && !in.params[param.param].empty())
                return fmt::format("{} is given without X: it has nothing to act on", param.npz);
        return unless(in.x_kv.empty(), "X_kv is given without X");
    }
    for (const Param param : {Param::w_q, Param::w_k, Param::w_v})
        if (in.params[param].empty())
            return fmt::format("X is given without {}: W_Q, W_K and W_V are all needed",
                               info(param).npz);
    return unless(in.q.empty() && in.k.empty() && in.v.empty(),
                  "both X and Q, K or V are given: give one or the other");
}

/// A weight [1,1,in,out] with `rows` rows and columns that split into `parts` heads.
template <class Scalar>
std::string check_weight(const InputsOf<Scalar>& in, Param param, std::string_view input,
                         Index rows, Index parts) {
    const Shape shape = in.params[param].shape();
    const std::string_view name = info(param).npz;
    return first_of({
        unless(shape.b == 1 && shape.h == 1, "{} is {}: a weight matrix is [1, 1, in, out]", name,
               shape),
        unless(shape.t == rows || shape.d != rows,
               "{} is [{}, {}]; expected [{}, …]: is it torch's [out, in]? Transpose it", name,
               shape.t, shape.d, rows),
        unless(shape.t == rows, "{} is [{}, {}]; expected [{}, …]: {} has width {}", name, shape.t,
               shape.d, rows, input, rows),
        unless(shape.d % parts == 0, "{} has width {}, which does not split into {} heads", name,
               shape.d, parts),
    });
}

template <class Scalar>
std::string check_matrix(const InputsOf<Scalar>& in, Param param, Index rows, Index columns) {
    const Shape shape = in.params[param].shape();
    const Shape wanted{1, 1, rows, columns};
    return unless(shape == wanted, "{} is {}: expected {}", info(param).npz, shape, wanted);
}

template <class Scalar>
std::string check_bias(const InputsOf<Scalar>& in, Param bias, Param weight) {
    if (in.params[bias].empty()) return {};
    const Shape shape = in.params[bias].shape();
    const Shape wanted{1, 1, 1, in.params[weight].shape().d};
    return unless(shape == wanted, "{} is {}: expected one number per column of {}, {}",
                  info(bias).npz, shape, info(weight).npz, wanted);
}

template <class Scalar>
std::string check_tokens(const InputsOf<Scalar>& in) {
    const Shape x = in.x.shape();
    const Shape x_kv = in.x_kv.shape();
    return first_of({
        unless(x.h == 1, "X is {}: tokens are [B, 1, T, d_model]", x),
        unless(in.x_kv.empty() || x_kv.h == 1, "X_kv is {}: tokens are [B, 1, T, d_model]", x_kv),
        unless(in.x_kv.empty() || x_kv.b == x.b, "X_kv has batch {} but X has {} (X {}, X_kv {})",
               x_kv.b, x.b, x, x_kv),
    });
}

template <class Scalar>
std::string check_projections(const InputsOf<Scalar>& in, const AttentionSpec& spec) {
    const bool cross = !in.x_kv.empty();
    const Index width_kv = (cross ? in.x_kv : in.x).shape().d;
    const std::string_view name_kv = cross ? "X_kv" : "X";
    return first_of({
        check_tokens(in),
        check_weight(in, Param::w_q, "X", in.x.shape().d, spec.heads),
        check_weight(in, Param::w_k, name_kv, width_kv, spec.kv_heads),
        check_weight(in, Param::w_v, name_kv, width_kv, spec.kv_heads),
        check_bias(in, Param::b_q, Param::w_q),
        check_bias(in, Param::b_k, Param::w_k),
        check_bias(in, Param::b_v, Param::w_v),
    });
}

std::string check_qkv(const Shape& q, const Shape& k, const Shape& v) {
    return first_of({
        unless(k.b == q.b, "K has batch {} but Q has {} {}", k.b, q.b, Differing{"Q", q, "K", k}),
        unless(v.b == q.b, "V has batch {} but Q has {} {}", v.b, q.b, Differing{"Q", q, "V", v}),
        unless(k.h == v.h, "K has {} but V has {}: they share heads {}", Counted{k.h, "head"}, v.h,
               Differing{"K", k, "V", v}),
        unless(k.t == v.t, "K has {} but V has {}: each key has one value {}", Counted{k.t, "key"},
               v.t, Differing{"K", k, "V", v}),
        unless(k.d == q.d, "K has width {} but Q has width {}: q·k needs the same d_k {}", k.d, q.d,
               Differing{"Q", q, "K", k}),
    });
}

std::string check_groups(const Dimensions& size) {
    return unless(
        size.heads % size.kv_heads == 0,
        "{} query heads do not divide among {} key/value heads: H must be a multiple of Hkv",
        size.heads, size.kv_heads);
}

template <class Scalar>
std::string check_output(const InputsOf<Scalar>& in, const Dimensions& size) {
    if (in.params[Param::w_o].empty())
        return unless(in.params[Param::b_o].empty(), "b_O is given without W_O");
    return first_of({
        check_weight(in, Param::w_o, "the joined heads", size.heads * size.d_v, 1),
        check_bias(in, Param::b_o, Param::w_o),
    });
}

/// One number for each of `count` things.
template <class Scalar>
std::string check_row(const InputsOf<Scalar>& in, Param param, Index count, std::string_view of) {
    const Shape shape = in.params[param].shape();
    const Shape wanted{1, 1, 1, count};
    return unless(shape == wanted, "{} is {}: expected one number for each {}, {}", info(param).npz,
                  shape, of, wanted);
}

/// The score function's parameters are all there, and no other's.
template <class Scalar>
std::string check_score(const InputsOf<Scalar>& in, Score score, const Dimensions& size) {
    for (const ParamInfo& param : param_table()) {
        if (param.use != ParamUse::score) continue;
        const bool needed = std::ranges::count(info(score).params, param.param) > 0;
        if (needed == in.params[param.param].empty())
            return needed ? fmt::format("score {} needs {}, which is not given", info(score).key,
                                        param.npz)
                          : fmt::format("{} is given but score {} has no use for it", param.npz,
                                        info(score).key);
    }
    const Index hidden = in.params[Param::w_score_q].shape().d;
    const auto extent = [&](Axis axis) {
        return axis == Axis::hidden     ? hidden
               : axis == Axis::head     ? size.heads
               : axis == Axis::distance ? size.tq + size.tk - 1
                                        : size.d_k;
    };
    for (const Param param : info(score).params) {
        const ParamInfo& row = info(param);
        std::string fault = row.bias
                                ? check_row(in, param, extent(row.columns), "column of W_score_q")
                                : check_matrix(in, param, extent(row.rows), extent(row.columns));
        if (!fault.empty()) return fault;
    }
    return {};
}

template <class Scalar>
std::string check_sinks(const InputsOf<Scalar>& in, EmptyRows empty_rows, const Dimensions& size) {
    if (in.params[Param::sinks].empty()) return {};
    return first_of(
        {check_row(in, Param::sinks, size.heads, "query head"),
         unless(empty_rows == EmptyRows::zero,
                "empty_rows is nan, but with sinks no row is empty: a sink takes the whole "
                "weight of a row without keys")});
}

/// Weights of QK-norm are optional with it, and meaningless without it.
template <class Scalar>
std::string check_norm_weights(const InputsOf<Scalar>& in, const AttentionSpec& spec,
                               const Dimensions& size) {
    for (const Param param : {Param::q_norm_weight, Param::k_norm_weight}) {
        if (in.params[param].empty()) continue;
        if (!spec.qk_norm)
            return fmt::format(
                "{} is given without QK-norm, which it belongs to: expected qk_norm as well",
                info(param).npz);
        if (std::string fault = check_row(in, param, size.d_k, "column of q and k"); !fault.empty())
            return fault;
    }
    return {};
}

// ---- sizes

template <class Scalar>
Dimensions projected_dimensions(const InputsOf<Scalar>& in, const AttentionSpec& spec) {
    Dimensions size;
    const Shape x = in.x.shape();
    size.batch = x.b;
    size.heads = spec.heads;
    size.kv_heads = spec.kv_heads;
    size.tq = x.t;
    size.tk = in.x_kv.empty() ? x.t : in.x_kv.shape().t;
    size.d_k = in.params[Param::w_q].shape().d / spec.heads;
    size.d_v = in.params[Param::w_v].shape().d / spec.kv_heads;
    size.d_model = x.d;
    size.d_model_kv = in.x_kv.shape().d;
    return size;
}

Dimensions given_dimensions(const Shape& q, const Shape& k, const Shape& v) {
    Dimensions size;
    size.batch = q.b;
    size.heads = q.h;
    size.kv_heads = k.h;
    size.tq = q.t;
    size.tk = k.t;
    size.d_k = q.d;
    size.d_v = v.d;
    return size;
}

template <class Scalar>
std::string check_key_width(const InputsOf<Scalar>& in, const AttentionSpec& spec,
                            const Dimensions& size) {
    const Index key_width = in.params[Param::w_k].shape().d / spec.kv_heads;
    return unless(
        key_width == size.d_k,
        "W_K gives keys of width {} but W_Q gives queries of width {}: q·k needs the same "
        "d_k (W_Q {}, {}; W_K {}, {})",
        key_width, size.d_k, in.params[Param::w_q].shape(), Counted{spec.heads, "head"},
        in.params[Param::w_k].shape(), Counted{spec.kv_heads, "head"});
}

/// Pairs are indexed with 64 bits.
std::string check_countable(const Dimensions& size) {
    const double pairs = static_cast<double>(size.batch) * static_cast<double>(size.heads) *
                         static_cast<double>(size.tq) * static_cast<double>(size.tk);
    return unless(pairs < 0x1.0p62, "B·H·Tq·Tk = {}·{}·{}·{} is more pairs than can be counted",
                  size.batch, size.heads, size.tq, size.tk);
}

template <class Scalar>
Result<Dimensions> dimensions_of(const InputsOf<Scalar>& in, const AttentionSpec& spec) {
    const auto bad = [](std::string sentence) { return bad_input(std::move(sentence)); };
    if (auto wrong = first_of({check_options(spec), check_not_hollow(in), check_which_given(in)});
        !wrong.empty())
        return bad(std::move(wrong));
    if (auto wrong = in.projects() ? check_projections(in, spec)
                                   : check_qkv(in.q.shape(), in.k.shape(), in.v.shape());
        !wrong.empty())
        return bad(std::move(wrong));
    Dimensions size = in.projects() ? projected_dimensions(in, spec)
                                    : given_dimensions(in.q.shape(), in.k.shape(), in.v.shape());
    const bool mixes = !in.params[Param::w_o].empty();
    size.d_out = mixes ? in.params[Param::w_o].shape().d : size.heads * size.d_v;
    if (auto wrong =
            first_of({in.projects() ? check_key_width(in, spec, size) : "", check_groups(size),
                      check_output(in, size), check_countable(size),
                      sentence_of(check_mask(spec.mask, size)), check_positions(spec, size),
                      check_score(in, spec.score, size), check_sinks(in, spec.empty_rows, size),
                      check_norm_weights(in, spec, size)});
        !wrong.empty())
        return bad(std::move(wrong));
    size.query_offset = query_offset(spec, size);
    return size;
}

}  // namespace

Index length(Axis axis, const Dimensions& size) {
    switch (axis) {
        case Axis::query:
            return size.tq;
        case Axis::key:
            return size.tk;
        case Axis::d_model:
            return size.d_model;
        case Axis::d_k:
            return size.d_k;
        case Axis::d_v:
            return size.d_v;
        case Axis::d_out:
            return size.d_out;
        default:
            return 0;  // of parameters and operations alone
    }
}

bool exists(Exists when, const AttentionSpec& spec) {
    switch (when) {
        case Exists::always:
        case Exists::with_x:  // its width is 0 without
        case Exists::with_x_kv:
            return true;
        case Exists::with_qk_norm:
            return spec.qk_norm.has_value();
        case Exists::with_rope:
            return spec.rope.has_value();
        case Exists::with_bias:
            return spec.biases();
        case Exists::with_dropout:
            return spec.drops();
        case Exists::with_causal:
            return spec.mask.causal.has_value();
    }
    return true;
}

Shape stage_shape(Stage stage, const Dimensions& size, const AttentionSpec& spec) {
    if (!exists(info(stage).exists, spec)) return {};
    const StageInfo& row = info(stage);
    const Index heads = row.heads == HeadAxis::none    ? 1
                        : row.heads == HeadAxis::query ? size.heads
                                                       : size.kv_heads;
    const Index width = stage == Stage::x_kv ? size.d_model_kv : length(row.columns, size);
    return {size.batch, heads, length(row.rows, size), width};
}

Stage stage_or_source(Stage stage, const AttentionSpec& spec) {
    while (!exists(info(stage).exists, spec)) stage = std::get<Stage>(info(stage).operands[0]->id);
    return stage;
}

template <class Scalar>
Result<CallOf<Scalar>> validate(const InputsOf<Scalar>& inputs, const AttentionSpec& spec) {
    return dimensions_of(inputs, spec).map([&](const Dimensions& size) {
        return CallOf<Scalar>(inputs, spec, size);
    });
}
template Result<Call> validate(const Inputs& inputs, const AttentionSpec& spec);
template Result<CallD> validate(const InputsD& inputs, const AttentionSpec& spec);

template <class Scalar>
Result<void> validate_backward(const CallOf<Scalar>& call, const TraceOf<Scalar>& forward,
                               const UpstreamOf<Scalar>& upstream, StageSet stored) {
    if (upstream.stage != Stage::context && upstream.stage != Stage::output)
        return bad_input(
            fmt::format("the upstream gradient is given at {}: give it at context or "
                        "output",
                        info(upstream.stage).key));
    const Shape given = upstream.gradient.shape();
    const Shape wanted = stage_shape(upstream.stage, call.size(), call.spec());
    if (!upstream.gradient.empty() && given != wanted)
        return bad_input(fmt::format("the upstream gradient is {} but {} is {}", given,
                                     info(upstream.stage).key, wanted));
    for (const Stage stage :
         {Stage::q, Stage::k, Stage::v, Stage::q_norm, Stage::k_norm, Stage::q_rot, Stage::k_rot,
          Stage::weights, Stage::dropped, Stage::context}) {
        const Shape needed = stage_shape(stage, call.size(), call.spec());
        if (stored[index_of(stage)] && needed.count() != 0 && forward[stage].shape() != needed)
            return bad_input(
                fmt::format("the forward trace holds {} as {} but backward needs {}: "
                            "attend with every stage kept",
                            info(stage).key, forward[stage].shape(), needed));
    }
    return {};
}
template Result<void> validate_backward(const Call&, const Trace&, const Upstream&, StageSet);
template Result<void> validate_backward(const CallD&, const TraceD&, const UpstreamD&, StageSet);

}  // namespace attn

#include "core/large/weight_source.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "core/call.h"
#include "core/halves.h"
#include "core/kernels/projections.h"
#include "core/qk_norm.h"
#include "core/rotary.h"
#include "core/scores/operands.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/stages.h"
#include "core/stop.h"
#include "core/text.h"
#include "core/trace.h"

namespace attn::large {
namespace {

/// What a map needs of the inputs, with values one number wide: a call is not valid without values.
Inputs without_values(const Inputs& in, const AttentionSpec& spec) {
    Inputs needed;
    for (const ParamInfo& row : param_table())
        if (row.use == ParamUse::score || row.use == ParamUse::sink || row.use == ParamUse::norm)
            needed.params[row.param] = in.params[row.param];
    if (!in.projects()) {
        needed.q = in.q;
        needed.k = in.k;
        const Shape k = in.k.shape();
        if (!in.k.empty()) needed.v = Tensor(Shape{k.b, k.h, k.t, 1});
        return needed;
    }
    needed.x = in.x;
    needed.x_kv = in.x_kv;
    for (const Param param : {Param::w_q, Param::w_k, Param::b_q, Param::b_k})
        needed.params[param] = in.params[param];
    const Index width = (in.x_kv.empty() ? in.x : in.x_kv).shape().d;
    needed.params[Param::w_v] = Tensor(Shape{1, 1, width, std::max<Index>(spec.kv_heads, 1)});
    return needed;
}

Result<void> check_shown(const AttentionSpec& spec, Index keys) {
    if (spec.drops())
        return bad_input(fmt::format(
            "dropout is {}: a map shows weights before dropout, so 0 is expected", spec.dropout));
    if (spec.score == Score::relative && keys > kMostDistanceKeys)
        return bad_input(
            fmt::format("score relative has {}: a map of weights needs a column of operands for "
                        "each; expected at most {}",
                        counted(keys, "key"), kMostDistanceKeys));
    const auto has_operands = [](Score score) { return is_dot(score) || score == Score::relative; };
    if (has_operands(spec.score)) return {};
    std::vector<std::string> shown;
    for (const ScoreInfo& row : score_table())
        if (has_operands(row.score)) shown.emplace_back(row.key);
    return bad_input(
        fmt::format("the score is {}, but a map of weights needs dot products: {} is expected",
                    info(spec.score).key, choices(shown)));
}

using Operand = std::shared_ptr<const Tensor>;

Operand shared(Tensor&& tensor) { return std::make_shared<const Tensor>(std::move(tensor)); }

/// x with `more` columns, 0.
Tensor widened(const Tensor& x, Index more) {
    const Shape shape = x.shape();
    Tensor wide({shape.b, shape.h, shape.t, shape.d + more});
    for (Index n = 0; n < shape.b * shape.h * shape.t; ++n)
        std::copy_n(x.data() + n * shape.d, shape.d, wide.data() + n * (shape.d + more));
    return wide;
}

/// q_i · k_j + b: a query has the number of each key behind its own columns, a key has 1 in the column that is its own.
void add_distances(const Tensor& b, WeightSource& source) {
    const Dimensions& size = source.size;
    Tensor q = widened(*source.q, size.tk), k = widened(*source.k, size.tk);
    for (Index n = 0; n < size.batch; ++n) {
        for (Index h = 0; h < size.heads; ++h)
            for (Index i = 0; i < size.tq; ++i) {
                end_if_stopped();
                for (Index j = 0; j < size.tk; ++j)
                    q(n, h, i, size.d_k + j) = b(0, 0, h, j - i + size.tq - 1);
            }
        for (Index g = 0; g < size.kv_heads; ++g)
            for (Index j = 0; j < size.tk; ++j) k(n, g, j, size.d_k + j) = 1.0F;
    }
    const double scale = score_factor(source.spec, size.d_k) * source.spec.temperature;
    source.spec.score = Score::dot;
    source.spec.scale = ScaleKind::value;
    source.spec.scale_value = scale;
    source.size.d_k += size.tk;
    source.q = shared(std::move(q));
    source.k = shared(std::move(k));
}

/// From q and k to the operands of the dot product.
WeightSource make_source(Operand q, Operand k, const Params& params, const AttentionSpec& spec,
                         const Dimensions& size) {
    if (spec.qk_norm) {
        q = shared(normalise_rows(*q, params[Param::q_norm_weight], *spec.qk_norm));
        k = shared(normalise_rows(*k, params[Param::k_norm_weight], *spec.qk_norm));
    }
    if (spec.rope) {
        q = shared(rotate(*spec.rope, *q, Rotated::queries, size.query_offset));
        k = shared(rotate(*spec.rope, *k, Rotated::keys, size.query_offset));
    }
    Operands made = make_operands(spec, params, *q, *k);
    if (!made.q.empty()) q = shared(std::move(made.q));
    if (!made.k.empty()) k = shared(std::move(made.k));
    const std::span<const float> sinks = params[Param::sinks].values();
    WeightSource source{std::move(q), std::move(k), spec, size, {sinks.begin(), sinks.end()}};
    if (spec.score == Score::relative) add_distances(params[Param::b_score], source);
    return source;
}

WeightSource project_source(Inputs&& in, const AttentionSpec& spec, const Dimensions& size) {
    if (!in.projects())
        return make_source(shared(std::move(in.q)), shared(std::move(in.k)), in.params, spec, size);
    const auto projected = [&](Stage stage) {
        return shared(project(in, stage, stage_shape(stage, size, spec)));
    };
    return make_source(projected(Stage::q), projected(Stage::k), in.params, spec, size);
}

}  // namespace

Finish finish_of(const WeightSource& source, Head head) {
    const MaskSpec& mask = source.spec.mask;
    return {score_factor(source.spec, source.size.d_k), pair_rule(source.spec, source.size, head.h),
            source.size.query_offset, mask.bias ? &mask : nullptr, head};
}

double sink_of(const WeightSource& source, Head head) {
    return source.sinks.empty() ? -std::numeric_limits<double>::infinity() : source.sinks[head.h];
}

Result<WeightSource> weight_source(const Inputs& inputs, const AttentionSpec& spec) try {
    Inputs needed = without_values(inputs, spec);
    const Index keys = std::max(
        {needed.x_kv.shape().t, needed.k.shape().t, needed.x_kv.empty() ? needed.x.shape().t : 0});
    if (auto valid = check_shown(spec, keys); !valid) return tl::unexpected(valid.error());
    const Result<Call> call = validate(needed, spec);
    if (!call) return tl::unexpected(call.error());
    const Dimensions size = call->size();
    return project_source(std::move(needed), spec, size);
} catch (const std::bad_alloc&) {
    return failed("out of memory: a map of weights keeps its own Q and K");
}

Result<WeightSource> weight_source(const std::shared_ptr<const Inputs>& inputs,
                                   const AttentionSpec& spec, const Dimensions& size) try {
    if (inputs->projects()) return weight_source(*inputs, spec);
    if (auto valid = check_shown(spec, size.tk); !valid) return tl::unexpected(valid.error());
    return make_source(Operand(inputs, &inputs->q), Operand(inputs, &inputs->k), inputs->params,
                       spec, size);
} catch (const std::bad_alloc&) {
    return failed("out of memory: a map of weights keeps its own Q and K");
}

}  // namespace attn::large

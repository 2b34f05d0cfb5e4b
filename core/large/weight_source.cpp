#include "core/large/weight_source.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "core/kernels/projections.h"
#include "core/scores/score.h"

namespace attn::large {
namespace {

/// What a map needs of the inputs, with values one number wide: a call is not valid without values.
Inputs without_values(const Inputs& in, const AttentionSpec& spec) {
    Inputs needed;
    for (const Param param : {Param::w_score, Param::sinks})
        needed.params[param] = in.params[param];
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

Result<void> check_shown(const AttentionSpec& spec) {
    if (spec.drops())
        return bad_input(fmt::format(
            "dropout is {}: a map shows weights before dropout, so 0 is expected", spec.dropout));
    if (!is_dot(spec.score))
        return bad_input(fmt::format(
            "score {}: a map of weights needs scores that are dot products, so dot, cosine or "
            "general is expected",
            info(spec.score).key));
    return {};
}

using Operand = std::shared_ptr<const Tensor>;

Operand shared(Tensor&& tensor) { return std::make_shared<const Tensor>(std::move(tensor)); }

/// From q and k to the operands of the dot product.
WeightSource make_source(Operand q, Operand k, const Params& params, const AttentionSpec& spec,
                         const Dimensions& size) {
    if (spec.rope) {
        q = shared(rotate(*spec.rope, *q, size.query_offset));
        k = shared(rotate(*spec.rope, *k, 0));
    }
    Operands made = make_operands(spec, params, *q, *k);
    if (!made.q.empty()) q = shared(std::move(made.q));
    if (!made.k.empty()) k = shared(std::move(made.k));
    const std::span<const float> sinks = params[Param::sinks].values();
    return {std::move(q), std::move(k), spec, size, {sinks.begin(), sinks.end()}};
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
    return {score_factor(source.spec, source.size.d_k), pair_rule(source.spec, source.size, head.h),
            source.size.query_offset};
}

double sink_of(const WeightSource& source, Head head) {
    return source.sinks.empty() ? -std::numeric_limits<double>::infinity()
                                : source.sinks[static_cast<std::size_t>(head.h)];
}

Result<WeightSource> weight_source(const Inputs& inputs, const AttentionSpec& spec) try {
    Inputs needed = without_values(inputs, spec);
    if (auto fine = check_shown(spec); !fine) return tl::unexpected(fine.error());
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
    if (auto fine = check_shown(spec); !fine) return tl::unexpected(fine.error());
    return make_source(Operand(inputs, &inputs->q), Operand(inputs, &inputs->k), inputs->params,
                       spec, size);
} catch (const std::bad_alloc&) {
    return failed("out of memory: a map of weights keeps its own Q and K");
}

}  // namespace attn::large

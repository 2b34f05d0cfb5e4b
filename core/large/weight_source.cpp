#include "core/large/weight_source.h"

#include <algorithm>
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

/// A map shows exp(q·k · factor − logsumexp) before dropout and nothing else.
Result<void> check_shown(const AttentionSpec& spec, const Params& params) {
    if (spec.drops())
        return bad_input(fmt::format(
            "dropout is {}: a map shows weights before dropout, so 0 is expected", spec.dropout));
    const auto refused = features(spec, params, {"window_left", "window_right", "query_offset"});
    if (!refused.empty())
        return bad_input(fmt::format(
            "{}: a map of weights shows plain dot products of Q and K, so a call without it is "
            "expected",
            refused.front().key));
    return {};
}

WeightSource project_source(Inputs&& in, const AttentionSpec& spec, const Dimensions& size) {
    const auto shared = [](Tensor&& tensor) {
        return std::make_shared<const Tensor>(std::move(tensor));
    };
    if (!in.projects()) return {shared(std::move(in.q)), shared(std::move(in.k)), spec, size};
    const auto projected = [&](Stage stage) {
        return shared(project(in, stage, stage_shape(stage, size, spec)));
    };
    return {projected(Stage::q), projected(Stage::k), spec, size};
}

}  // namespace

Result<WeightSource> weight_source(const Inputs& inputs, const AttentionSpec& spec) try {
    Inputs needed = without_values(inputs, spec);
    if (auto fine = check_shown(spec, inputs.params); !fine) return tl::unexpected(fine.error());
    const Result<Call> call = validate(needed, spec);
    if (!call) return tl::unexpected(call.error());
    const Dimensions size = call->size();
    return project_source(std::move(needed), spec, size);
} catch (const std::bad_alloc&) {
    return failed("out of memory: a map of weights keeps its own Q and K");
}

Result<WeightSource> weight_source(const std::shared_ptr<const Inputs>& inputs,
                                   const AttentionSpec& spec, const Dimensions& size) {
    if (inputs->projects()) return weight_source(*inputs, spec);
    if (auto fine = check_shown(spec, inputs->params); !fine) return tl::unexpected(fine.error());
    return WeightSource{std::shared_ptr<const Tensor>(inputs, &inputs->q),
                        std::shared_ptr<const Tensor>(inputs, &inputs->k), spec, size};
}

}  // namespace attn::large

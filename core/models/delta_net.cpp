#include "core/models/delta_net.h"

#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/backend.h"
#include "core/call.h"
#include "core/cast.h"
#include "core/engine.h"
#include "core/kernels/projections.h"
#include "core/models/config.h"
#include "core/models/family.h"
#include "core/models/layers.h"
#include "core/models/weights.h"
#include "core/operations/operation.h"
#include "core/threads.h"

namespace attn {
namespace {

/// In place; `first`: of the columns of w [1, 1, K, columns] that are those of x [1, H, T, d].
void convolve(Tensor& x, const Tensor& w, Index first) {
    const Shape shape = x.shape();
    const Index kernel = w.shape().t;
    for (Index h = 0; h < shape.h; ++h)
        for (Index c = 0; c < shape.d; ++c)
            for (Index t = shape.t - 1; t >= 0;
                 --t) {  // from the end, so that earlier tokens are still there
                float sum = 0.0F;
                for (Index s = std::max<Index>(kernel - 1 - t, 0); s < kernel; ++s)
                    sum += w(0, 0, s, first + h * shape.d + c) * x(0, h, t - kernel + 1 + s, c);
                x(0, h, t, c) = sum;
            }
    activate(x, Activation::silu);
}

/// Each head as often as value heads read it, [1, H, T, d].
Tensor repeated(const Tensor& x, Index heads) {
    const Shape shape = x.shape();
    auto all = Tensor::uninitialised({1, heads, shape.t, shape.d});
    for (Index h = 0; h < heads; ++h)
        std::copy_n(x.matrix(0, h * shape.h / heads).data, shape.t * shape.d,
                    all.matrix(0, h).data);
    return all;
}

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double softplus(double x) { return x > 20.0 ? x : std::log1p(std::exp(x)); }

/// λ and β of one head, [1, 1, T, 1] each.
OperationParamsD rates_of(const Tensor& a, const Tensor& b, const DeltaWeights& delta, Index head) {
    OperationParamsD rates;
    rates.tensors.assign(2, TensorD(Shape{1, 1, a.shape().t, 1}));
    const double speed = std::exp(double{delta.a_log.data()[head]});
    for (Index t = 0; t < a.shape().t; ++t) {
        rates.tensors[0](0, 0, t, 0) =
            -speed * softplus(double{a(0, 0, t, head)} + double{delta.dt_bias.data()[head]});
        rates.tensors[1](0, 0, t, 0) = sigmoid(b(0, 0, t, head));
    }
    return rates;
}

TensorD one_head(const Tensor& x, Index head) {
    TensorD one(Shape{1, 1, x.shape().t, x.shape().d});
    const auto from = x.matrix(0, head);
    std::copy_n(from.data, one.count(), one.data());
    return one;
}

void put_head(const TensorD& one, Index head, Tensor& into) {
    for (Index n = 0; n < one.count(); ++n)
        into.matrix(0, head).data[n] = static_cast<float>(one.data()[n]);
}

/// Weights and context. One head at a time: the operation keeps the state after each token.
Result<Trace> delta_rule(const Inputs& heads, const AttentionSpec& spec, const Tensor& normal,
                         const DeltaWeights& delta, StageSet keep, const RunControl& control) {
    const Tensor a = through(normal, delta.a), b = through(normal, delta.b);
    const Shape values = heads.v.shape();
    AttentionSpec alone = spec;
    alone.heads = alone.kv_heads = 1;
    Trace trace;
    trace[Stage::context] = Tensor::uninitialised(values);
    trace[Stage::weights] = Tensor::uninitialised({1, values.h, values.t, values.t});
    OperationSpec operation;
    operation.operation = Operation::gated_delta;
    for (Index h = 0; h < values.h; ++h) {
        InputsD inputs;
        inputs.q = one_head(heads.q, h);
        inputs.k = one_head(heads.k, h);
        inputs.v = one_head(heads.v, h);
        const auto call = validate(inputs, alone);
        if (!call) return tl::unexpected(call.error());
        const auto made =
            run_operation_exact(operation, *call, rates_of(a, b, delta, h), {control.stop, {}});
        if (!made) return tl::unexpected(made.error());
        put_head((*made)["context"], h, trace[Stage::context]);
        put_head((*made)["implied"], h, trace[Stage::weights]);
    }
    for (const auto& [stage, given] : {std::pair{Stage::q, &heads.q}, std::pair{Stage::k, &heads.k},
                                       std::pair{Stage::v, &heads.v}})
        if (keep[index_of(stage)]) trace[stage] = *given;
    if (!keep[index_of(Stage::weights)]) trace[Stage::weights] = {};
    return trace;
}

/// [1, 1, T, width] of the context [1, H, T, d].
Tensor output_of_heads(Tensor context, const Tensor& normal, const BlockWeights& block,
                       const ModelConfig& config) {
    const bool delta = block.delta.there();
    const Shape shape = context.shape();
    if (delta)
        for (Index h = 0; h < shape.h; ++h) {  // each head by itself, through the same norm
            Tensor one = Tensor::uninitialised({1, 1, shape.t, shape.d});
            std::copy_n(context.matrix(0, h).data, one.count(), one.data());
            normalise_heads(one, block.delta.norm, Norm::rms, config.epsilon);
            std::copy_n(std::as_const(one).data(), one.count(), context.matrix(0, h).data);
        }
    Tensor y = through(normal, delta ? block.delta.z : block.head_gate);
    for (Index t = 0; t < shape.t; ++t)
        for (Index h = 0; h < shape.h; ++h)
            for (Index c = 0; c < shape.d; ++c) {
                float& gate = y(0, 0, t, h * shape.d + c);
                const float factor = (delta ? gate : 1.0F) / (1.0F + std::exp(-gate));
                gate = factor * context(0, h, t, c);
            }
    return through(y, {block.attention[Param::w_o], block.attention[Param::b_o]});
}

}  // namespace

Inputs delta_heads(const Tensor& normal, const BlockWeights& block, const ModelConfig& config) {
    const DeltaNet& net = *config.delta;
    Inputs projected, heads;
    projected.x = normal;
    projected.params = block.attention;
    const Index tokens = normal.shape().t;
    const Index keys = net.key_heads * net.key_width;
    const auto made = [&](Stage stage, Index count, Index width, Index first) {
        Tensor x = project(projected, stage, {1, count, tokens, width});
        convolve(x, block.delta.convolution, first);
        return x;
    };
    heads.q = repeated(made(Stage::q, net.key_heads, net.key_width, 0), net.value_heads);
    heads.k = repeated(made(Stage::k, net.key_heads, net.key_width, keys), net.value_heads);
    heads.v = made(Stage::v, net.value_heads, net.value_width, 2 * keys);
    return heads;
}

Result<Trace> attend_gated(const Inputs& inputs, const AttentionSpec& spec, const Tensor& normal,
                           const BlockWeights& block, const ModelConfig& config,
                           const Backend& backend, StageSet keep, const RunControl& control) {
    const StageSet needed = keep | only_stage(Stage::context);
    auto trace = block.delta.there()
                     ? delta_rule(inputs, spec, normal, block.delta, needed, control)
                     : attend(inputs, spec, backend, needed, {control.stop, {}});
    if (!trace) return trace;
    (*trace)[Stage::output] = output_of_heads((*trace)[Stage::context], normal, block, config);
    if (!keep[index_of(Stage::context)]) (*trace)[Stage::context] = {};
    return trace;
}

Result<void> check_heads_add_up(const ModelConfig& config, std::string_view what) {
    if (!config.family->gated_heads) return {};
    return bad_input(fmt::format(
        "{} of {} are not computed: the output of its heads is gated before W_O; expected a model "
        "that adds concat(heads) W_O",
        what, config.family->text));
}

}  // namespace attn

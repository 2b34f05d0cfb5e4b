#include "core/models/sweep_parts.h"

#include <algorithm>

#include "core/dimensions.h"
#include "core/kernels/matmul.h"
#include "core/kernels/projections.h"
#include "core/models/model.h"
#include "core/models/weights.h"

namespace attn {
namespace {

double count_of(const LinearWeights& linear) {
    return linear.there() ? static_cast<double>(linear.weight.shape().count()) : 0.0;
}
double count_of(const MlpWeights& mlp) {
    return count_of(mlp.gate) + count_of(mlp.up) + count_of(mlp.down);
}

}  // namespace

Tensor reshaped(Tensor x, Shape shape) {
    if (x.shape() == shape) return x;
    auto made = Tensor::uninitialised(shape);
    std::ranges::copy(std::as_const(x).values(), made.values().begin());
    return made;
}

Tensor one_row(const Tensor& x, Index row) {
    const Shape shape = x.shape();
    auto made = Tensor::uninitialised({shape.b, shape.h, 1, shape.d});
    for (Index b = 0; b < shape.b; ++b)
        for (Index h = 0; h < shape.h; ++h)
            std::ranges::copy(x.matrix(b, h).row(row), made.matrix(b, h).row(0).begin());
    return made;
}

Result<Tensor> context_of(const ModelLayer& layer) {
    if (!layer.trace[Stage::context].empty()) return layer.trace[Stage::context];
    const Tensor& weights = layer.trace[Stage::weights];
    const Tensor& v = layer.trace[Stage::v].empty() ? layer.inputs->v : layer.trace[Stage::v];
    if (weights.empty() || v.empty())
        return bad_input("the run kept neither 'context' nor both 'weights' and 'v'");
    const Shape shape = weights.shape();
    auto context = Tensor::uninitialised({1, shape.h, shape.t, v.shape().d});
    for (Index h = 0; h < shape.h; ++h)
        multiply({weights.matrix(0, h)}, {v.matrix(0, h * v.shape().h / shape.h)},
                 context.matrix(0, h));
    return context;
}

Result<Tensor> attended_of(const ModelLayer& layer) {
    const auto context = context_of(layer);
    if (!context) return context;
    const Shape shape = context->shape();
    Dimensions size{1, shape.h, shape.h, shape.t};
    size.d_v = shape.d;
    size.d_out = layer.inputs->params[Param::w_o].shape().d;
    return join_heads(*layer.inputs, size, *context);
}

void put_into(Tensor& all, const Tensor& one, Index n, Index parts) {
    const Shape shape = one.shape();
    if (one.empty()) return;
    if (n == 0) all = Tensor::uninitialised({parts, shape.h, shape.t, shape.d});
    std::ranges::copy(one.values(), all.data() + n * one.count());
}

BlockProducts products_of(const BlockWeights& block, const ModelConfig& config) {
    const auto of = [&](Param param) {
        return static_cast<double>(block.attention[param].count());
    };
    const double latents = count_of(block.latent.q) + count_of(block.latent.kv);
    BlockProducts products{of(Param::w_k) + of(Param::w_v) + latents,
                           of(Param::w_q) + of(Param::w_o), 0.0};
    products.rest = count_of(block.residual) + count_of(block.mlp) + count_of(block.router) +
                    count_of(block.shared) + count_of(block.shared_gate);
    if (!block.experts.empty())
        products.rest +=
            static_cast<double>(config.experts_per_token) * count_of(block.experts.front());
    return products;
}

}  // namespace attn

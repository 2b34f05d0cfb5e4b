#include "core/heads/sources.h"

#include <fmt/format.h>

#include "core/call.h"
#include "core/cast.h"
#include "core/engine.h"
#include "core/head_views.h"
#include "core/heads/all.h"
#include "core/text.h"
#include "core/threads.h"

namespace attn {
namespace {

std::string rollout_fault(const HeadsLayer& layer, Index tokens, Index n) {
    if (!layer.fault.empty()) return fmt::format("layer {} has no weights", n);
    if (layer.tq != layer.tk)
        return fmt::format(
            "layer {} has {} × {} weights, and rollout needs as many queries as keys", n, layer.tq,
            layer.tk);
    if (layer.offset != 0)
        return fmt::format(
            "query 0 of layer {} is at position {}, and rollout needs queries at the positions of "
            "keys",
            n, layer.offset);
    if (layer.tq != tokens)
        return fmt::format("layer {} has {}, and the first layer {}", n, counted(layer.tq, "token"),
                           tokens);
    return {};
}

}  // namespace

void find_norm_faults(const Trace& trace, const Inputs& inputs, HeadsLayer& layer) {
    const Tensor& v = trace[Stage::v];
    if (v.empty()) {
        layer.value_fault = layer.output_fault = "there are no values";
        return;
    }
    const Shape w_o = inputs.params[Param::w_o].shape();
    const Index width = v.shape().d;
    if (inputs.params[Param::w_o].empty())
        layer.output_fault = "there is no W_O";
    else if (w_o.t != layer.heads * width)
        layer.output_fault = fmt::format("W_O has {}, not heads × d_v = {}", counted(w_o.t, "row"),
                                         layer.heads * width);
}

void find_norms(const Trace& trace, const Inputs& inputs, Index batch, HeadsLayer& layer) {
    find_norm_faults(trace, inputs, layer);
    const Tensor& v = trace[Stage::v];
    if (v.empty()) return;
    const InFloats w_o(inputs.params[Param::w_o]);
    const Index width = v.shape().d;
    layer.value_norms.resize(layer.heads);
    if (layer.output_fault.empty()) layer.output_norms.resize(layer.heads);
    parallel_for(layer.heads, {}, [&](Index head, int) {
        const auto values = v.matrix(batch, head * v.shape().h / layer.heads);
        layer.value_norms[head] = row_norms(values);
        if (layer.output_fault.empty())
            layer.output_norms[head] =
                row_norms(values, w_o->matrix(0, 0).row_block(head * width, width));
    });
}

void find_gradient(const Call& call, const Backend& backend, const Trace& trace,
                   HeadsLayer& layer) {
    auto gradients = attend_backward(call, trace, Upstream{}, backend);
    if (!gradients)
        layer.gradient_fault = gradients.error().text();
    else
        layer.gradient = std::move((*gradients)[Stage::weights]);
    if (gradients && layer.gradient.empty())
        layer.gradient_fault = fmt::format("{} keeps no gradient of weights", backend.name());
}

void find_rollout(HeadsResult& result) {
    std::vector<double> flow;
    std::string fault;
    for (std::size_t n = 0; n < result.layers.size(); ++n) {
        HeadsLayer& layer = result.layers[n];
        if (fault.empty())
            fault = rollout_fault(layer, result.layers.front().tq, static_cast<Index>(n));
        layer.rollout_fault = fault;
        if (!fault.empty()) continue;
        flow = rollout_after(flow, mean_weights(layer.weights, result.batch), layer.tq);
        layer.rollout.assign(flow.begin(), flow.end());
    }
}

}  // namespace attn

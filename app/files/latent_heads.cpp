// Multi-head latent attention: the arrays that a cache and its up-projections have, as the call of ordinary attention (core/mla.h).

#include <cmath>

#include <fmt/format.h>

#include "app/files/inputs.h"
#include "core/mla.h"
#include "core/stages.h"

namespace attn::files {
namespace {

/// [1,H,d_c,d] of [H,d_c,d], or of [d_c,d] for one head.
Tensor up_projection(const LayerReader& layer, std::string_view role) {
    Tensor read;
    layer.read(role, {}, read);
    return read;
}

}  // namespace

bool has_latents(const LayerReader& layer) { return layer.reader.has(layer.name("c_kv")); }

Inputs read_latents(const LayerReader& layer, AttentionSpec& spec, std::vector<Note>& notes) {
    LatentHeads heads;
    const Axes queries = layer.heads_axes(layer.options.heads.value_or(1));
    layer.read("q_nope", queries, heads.q_nope);
    layer.read("q_rope", queries, heads.q_rope);
    layer.read("c_kv", {.layout = Layout::tokens}, heads.c_kv);
    layer.read("k_rope", {.layout = Layout::tokens}, heads.k_rope);
    heads.w_uk = up_projection(layer, "W_UK");
    heads.w_uv = up_projection(layer, "W_UV");
    for (const ParamInfo& param : param_table())
        layer.read(param.npz, {.layout = param.bias ? Layout::bias : Layout::weight},
                   heads.params[param.param]);
    const LatentForm form = layer.options.mla.value_or(LatentForm::expanded);
    auto call = latent_call(heads, form);
    if (!call) throw Failure(within(layer.shown(), call.error()));
    if (form == LatentForm::absorbed && spec.scale == ScaleKind::sqrt_dk) {
        spec.scale = ScaleKind::value;
        spec.scale_value =
            1.0 / std::sqrt(static_cast<double>(heads.q_rope.shape().d + heads.q_nope.shape().d));
    }
    const Index latents = cached_numbers(heads, LatentForm::absorbed);
    const Index expanded = cached_numbers(heads, LatentForm::expanded);
    notes.push_back(fmt::format(
        "{}: latent attention, {}: a cache has {} numbers a token, keys and values of all heads {}",
        layer.shown(),
        form == LatentForm::absorbed ? "W_UK in the queries and W_UV in W_O"
                                     : "keys and values made of the latents",
        latents, expanded));
    return *std::move(call);
}

}  // namespace attn::files

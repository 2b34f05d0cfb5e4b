#include "app/files/inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/files/axes.h"
#include "core/masks.h"

namespace attn::files {
namespace {

Index kv_heads_of(const CallOptions& options) {
    return options.kv_heads.value_or(options.heads.value_or(1));
}

/// Q, K and V of one array.
void read_packed(const LayerReader& layer, Inputs& in, std::vector<std::string>& notes) {
    const std::string name = layer.name("qkv");
    const std::string what = fmt::format("{}: {}", layer.reader.path(), name);
    const auto extents = layer.reader.axes_of(name);
    const auto packed = unpack(extents, layer.options, what);
    const auto values = layer.reader.numbers(name);
    in.q = gather(packed.parts[0], values);
    in.k = gather(packed.parts[1], values);
    in.v = gather(packed.parts[2], values);
    const Index heads = in.q.shape().h;
    notes.push_back(fmt::format("{} {} is read as {}: {} head{} of width {}", what,
                                to_string(extents), packed.words, heads, heads == 1 ? "" : "s",
                                in.q.shape().d));
}

void read_params(const LayerReader& layer, Inputs& in) {
    for (const ParamInfo& param : param_table()) {
        const Axes axes{.layout = param.bias ? Layout::bias : Layout::weight};
        layer.read(param.npz, axes, in.params[param.param]);
    }
}

}  // namespace

void read_mask(const ArrayReader& reader, const std::string& name, const Dimensions& size,
               std::string_view remedy, MaskSpec& mask) {
    if (!reader.has(name)) return;
    const NpyArray array = reader.array(name);
    const auto* const values = std::get_if<std::vector<std::uint8_t>>(&array.values);
    if (!values)
        throw bad_input(
            fmt::format("{}: mask is {}; expected bool or uint8, true where a query may attend{}",
                        reader.path(), array.dtype, remedy));
    const Result<Mask> read = mask_from_file(array.extents, *values, size);
    if (!read) throw bad_input(fmt::format("{}: {}", reader.path(), read.error().sentence));
    mask.custom = std::make_shared<const Mask>(*read);
}

std::string LayerReader::shown() const {
    return listing.numbered ? fmt::format("{}: layer {}", reader.path(), layer) : reader.path();
}

bool LayerReader::packed() const { return listing.packed && reader.has(name("qkv")); }

bool LayerReader::is_transposed(std::string_view array) const {
    return listing.transposed.contains(name(array));
}

void LayerReader::read(std::string_view array, const Axes& axes, Tensor& into) const {
    Axes as = axes;
    if (is_transposed(array)) as.layout = Layout::weight_transposed;
    into = reader.tensor(name(array), as);
}

Axes LayerReader::heads_axes(Index heads) const {
    const HeadAxes own = listing.hooks ? HeadAxes::tokens_first : HeadAxes::heads_first;
    return {Layout::heads, options.layout.value_or(own), heads};
}

Inputs read_inputs(const LayerReader& layer, std::vector<std::string>& notes) {
    Inputs in;
    struct Array {
        std::string_view name;
        Axes axes;
        Tensor& tensor;
    };
    const Axes tokens{.layout = Layout::tokens};
    const Axes queries = layer.heads_axes(layer.options.heads.value_or(1));
    const Axes keys = layer.heads_axes(kv_heads_of(layer.options));
    for (const Array& array : {Array{"X", tokens, in.x},
                               {"X_kv", tokens, in.x_kv},
                               {"Q", queries, in.q},
                               {"K", keys, in.k},
                               {"V", keys, in.v}})
        layer.read(array.name, array.axes, array.tensor);
    if (layer.packed()) read_packed(layer, in, notes);
    read_params(layer, in);
    return in;
}

ParamExtents extents_of_params(const LayerReader& layer, const Inputs& in) {
    ParamExtents extents;
    for (const ParamInfo& param : param_table()) {
        if (in.params[param.param].empty()) continue;
        extents[index_of(param.param)] = layer.reader.extents(layer.name(param.npz));
        if (layer.is_transposed(param.npz)) std::ranges::reverse(extents[index_of(param.param)]);
    }
    return extents;
}

Upstream read_upstream(const LayerReader& layer) {
    Upstream upstream;
    const bool at_context = layer.reader.has(layer.name("dO"));
    if (at_context && layer.reader.has(layer.name("dY")))
        throw bad_input(fmt::format(
            "{}: both dO (gradient of context) and dY (gradient of output) are given; give one",
            layer.shown()));
    upstream.stage = at_context ? Stage::context : Stage::output;
    const Axes axes = at_context ? layer.heads_axes(layer.options.heads.value_or(1))
                                 : Axes{.layout = Layout::tokens};
    layer.read(at_context ? "dO" : "dY", axes, upstream.gradient);
    return upstream;
}

}  // namespace attn::files

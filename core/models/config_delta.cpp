// Layers of linear attention among those of attention, as Qwen3-Next has them.

#include <algorithm>

#include "core/models/config.h"
#include "core/models/config_reader.h"
#include "core/models/family.h"

namespace attn {
namespace {

using nlohmann::json;

/// Of `layer_types`; else all but each `full_attention_interval`th.
std::vector<bool> linear_layers(ConfigReader& reader, const ModelConfig& config) {
    constexpr Index kMostLayers = 1 << 16;  // of any file
    std::vector<bool> linear;
    const Index interval = reader.size({"full_attention_interval"}).value_or(4);
    const json* types = reader.find({"layer_types"});
    if (config.layers > kMostLayers) {
        reader.complain(fmt::format("has {}; expected at most {}", counted(config.layers, "layer"),
                                    kMostLayers));
        return linear;
    }
    if (types != nullptr && (!types->is_array() || std::ssize(*types) != config.layers)) {
        reader.wrong(*types,
                     fmt::format("one type for each of {}", counted(config.layers, "layer")));
        types = nullptr;
    }
    for (Index layer = 0; layer < config.layers; ++layer) {
        if (types == nullptr) {
            linear.push_back((layer + 1) % interval != 0);
            continue;
        }
        const json& type = (*types)[layer];
        if (type != "full_attention" && type != "linear_attention")
            reader.wrong(*types, "\"full_attention\" or \"linear_attention\" for each layer");
        linear.push_back(type == "linear_attention");
    }
    return linear;
}

}  // namespace

void read_delta_net(ConfigReader& reader, ModelConfig& config) {
    if (config.family->names.delta_net.empty()) return;
    DeltaNet net;
    net.layers = linear_layers(reader, config);
    net.key_heads = reader.size({"linear_num_key_heads"}).value_or(net.key_heads);
    net.value_heads = reader.size({"linear_num_value_heads"}).value_or(net.value_heads);
    net.key_width = reader.size({"linear_key_head_dim"}).value_or(net.key_width);
    net.value_width = reader.size({"linear_value_head_dim"}).value_or(net.value_width);
    net.kernel = reader.size({"linear_conv_kernel_dim"}).value_or(net.kernel);
    constexpr Index kMost = 1 << 20;  // of each, so that their products fit
    for (const Index size : {net.key_heads, net.value_heads, net.key_width, net.value_width})
        if (size > kMost)
            reader.complain(
                fmt::format("has a size of {} in layers of linear attention; expected "
                            "at most {}",
                            size, kMost));
    if (net.value_heads % net.key_heads != 0)
        reader.complain(fmt::format(
            "has 'linear_num_value_heads' = {} and 'linear_num_key_heads' = {}; expected a divisor",
            net.value_heads, net.key_heads));
    if (std::ranges::count(net.layers, true) > 0) config.delta = std::move(net);
}

}  // namespace attn

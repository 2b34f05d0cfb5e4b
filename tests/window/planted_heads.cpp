// Writes attention of GPT-2's shape, 12 layers of 12 heads over 20 tokens, with random numbers but for one head that looks
// at the token before:   planted_heads FILE.npz [LAYER HEAD]

#include <fmt/format.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "core/io/npz.h"
#include "tests/support/random.h"

namespace {

using attn::Index;

constexpr Index kLayers = 12, kHeads = 12, kTokens = 20, kWidth = 64, kModel = 96;
constexpr float kScore = 400.0F;

struct Place {
    Index layer = 4, head = 7;
};

/// One layer's arrays; the head that is planted has q_i · k_{i−1} = kScore and 0 with every other key.
struct Layer {
    attn::Tensor q, k, v, w_o;
};
Layer layer_of(Index n, const Place& planted) {
    const attn::Shape shape{1, kHeads, kTokens, kWidth};
    const auto seed = static_cast<std::uint64_t>(10 * n);
    Layer layer{attn::test::normal_tensor<float>(shape, seed + 1),
                attn::test::normal_tensor<float>(shape, seed + 2),
                attn::test::normal_tensor<float>(shape, seed + 3),
                attn::test::normal_tensor<float>({1, 1, kHeads * kWidth, kModel}, seed + 4)};
    if (n != planted.layer) return layer;
    for (Index i = 0; i < kTokens; ++i)
        for (Index d = 0; d < kWidth; ++d) {
            layer.q(0, planted.head, i, d) = d == (i > 0 ? i - 1 : 0) ? kScore : 0.0F;
            layer.k(0, planted.head, i, d) = d == i ? 1.0F : 0.0F;
        }
    return layer;
}

}  // namespace

int main(int count, char** text) {
    if (count != 2 && count != 4) return 2;
    Place planted;
    if (count == 4) planted = {std::atoi(text[2]), std::atoi(text[3])};
    std::vector<Layer> layers;
    for (Index n = 0; n < kLayers; ++n) layers.push_back(layer_of(n, planted));
    std::vector<attn::NpzEntry> entries;
    for (Index n = 0; n < kLayers; ++n) {
        const Layer& layer = layers[n];
        const std::string name = fmt::format("l{}.", n);
        entries.push_back({name + "Q", {kHeads, kTokens, kWidth}, layer.q.values()});
        entries.push_back({name + "K", {kHeads, kTokens, kWidth}, layer.k.values()});
        entries.push_back({name + "V", {kHeads, kTokens, kWidth}, layer.v.values()});
        entries.push_back({name + "W_O", {kHeads * kWidth, kModel}, layer.w_o.values()});
    }
    std::vector<std::string> tokens;
    for (Index i = 0; i < kTokens; ++i) tokens.push_back(fmt::format("word{}", i));
    entries.push_back({"tokens", {kTokens}, {}, tokens});
    entries.push_back({"options", {}, {}, {"{\"causal\": true}"}});
    if (const auto written = attn::write_npz(text[1], entries); !written) {
        std::cerr << written.error().text() << '\n';
        return 1;
    }
}

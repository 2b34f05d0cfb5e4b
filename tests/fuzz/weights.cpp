// Bytes that nobody should trust, as a model's folder: a line of config.json, then model.safetensors. Weights that are read have the
// shapes that the configuration says, those of bitsandbytes' 8 bits too.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/io/arrays/formats.h"
#include "core/models/config.h"
#include "core/models/weights.h"

using namespace attn;

namespace {

void check_sentence(const Error& error) {
    if (error.text().empty() || error.text().size() > 4000) std::abort();
}

void check_weights(const ModelWeights& weights, const ModelConfig& config) {
    if (std::ssize(weights.blocks) != config.layers) std::abort();
    if (!config.image && weights.embedding.shape().d != config.width) std::abort();
    Index width = config.width;
    for (const BlockWeights& block : weights.blocks) {
        const Params& attention = block.attention;
        const Index latents = block.latent.kv.weight.shape().d +
                              (block.latent.q.there() ? block.latent.q.weight.shape().d : width);
        if (attention[Param::w_q].shape().t != (block.latent.there() ? latents : width))
            std::abort();
        if (attention[Param::w_q].shape().d % config.heads != 0) std::abort();
        width = attention[Param::w_o].shape().d;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const std::size_t line = bytes.find('\n');
    if (line == std::string_view::npos) return 0;
    const auto config = parse_model_config(bytes.substr(0, line), "fuzz");
    if (!config) return check_sentence(config.error()), 0;
    const auto file = parse_safetensors(bytes.substr(line + 1), "fuzz");
    if (!file) return check_sentence(file.error()), 0;
    if (const auto weights = read_model_weights(**file, *config))
        check_weights(*weights, *config);
    else
        check_sentence(weights.error());
    if (const auto ends = read_model_ends(**file, *config); !ends) check_sentence(ends.error());
    return 0;
}

// Bytes that nobody should trust, as a model's config.json: what is read can be computed with.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/models/config.h"
#include "core/models/family.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto config = attn::parse_model_config(
        std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
    if (!config) {
        if (config.error().text().size() > 2000) std::abort();
        return 0;
    }
    const bool sizes = config->family != nullptr && config->width > 0 && config->layers > 0 &&
                       config->heads > 0 && config->kv_heads > 0 && config->vocabulary > 0 &&
                       config->heads % config->kv_heads == 0;
    const bool numbers = config->epsilon > 0 && std::isfinite(config->epsilon) &&
                         config->rope.base > 0 && std::isfinite(config->rope.base);
    if (!sizes || !numbers) std::abort();
    return 0;
}

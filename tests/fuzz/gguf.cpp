// Bytes that nobody should trust, as GGUF: arrays fill their shapes, what is read as a configuration can be computed with, and a
// tokenizer that opens gives numbers below its size.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/models/gguf.h"

using namespace attn;

namespace {

void check_arrays(const ArrayFile& file) {
    for (const std::string& name : file.names()) {
        const auto array = file.read(name);
        if (!array) continue;
        std::size_t items = 1;
        for (const Index extent : array->extents) items *= static_cast<std::size_t>(extent);
        if (std::get<std::vector<float>>(array->values).size() != items) std::abort();
        const auto halves = file.read_halves(name);
        if (halves && *halves && (*halves)->values.size() != items) std::abort();
        const auto codes = file.read_codes(name);
        if (!codes || !*codes) continue;
        const BlockCode& code = *(*codes)->code;
        if (static_cast<Index>(items) / code.items * code.bytes != std::ssize((*codes)->bytes))
            std::abort();
    }
}

void check_tokens(const Tokenizer& tokenizer) {
    for (const std::string_view text :
         {"", " ", "The cat sat, didn't it?\n\t 123", "a\xFF\xE2\x28 \xF0\x9F\x98\x80 e\xCC\x81"})
        for (const ModelToken& token : tokenizer.encode(text))
            if (token.id < 0 || token.id >= tokenizer.size()) std::abort();
}

void check_sentence(const Error& error) {
    if (error.text().empty() || error.text().size() > 2000) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    auto file = parse_gguf(bytes, "fuzz");
    if (!file) return check_sentence(file.error()), 0;
    check_arrays(*file->arrays);
    if (const auto tokenizer = tokenizer_of_gguf(file->header.values, "fuzz"))
        check_tokens(*tokenizer);
    else
        check_sentence(tokenizer.error());
    std::vector<std::string> notes;
    const auto config = config_of_gguf(*file, "fuzz", notes);
    if (!config) return check_sentence(config.error()), 0;
    if (config->width < 1 || config->layers < 1 || config->heads < 1) std::abort();
    if (const auto weights = weights_of_gguf(*std::move(file), *config)) check_arrays(**weights);
    return 0;
}

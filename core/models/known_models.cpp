#include "core/models/known_models.h"

namespace attn {
namespace {

constexpr KnownModel kKnownModels[] = {
    {.name = "GPT-2",
     .source = "Radford et al. 2019, openai-community/gpt2",
     .layers = 12,
     .width = 768,
     .heads = 12,
     .kv_heads = 12,
     .key_width = 64,
     .value_width = 64,
     .hidden = 3072,
     .vocabulary = 50257,
     .positions = 1024,
     .biased = true,
     .tied = true},
    {.name = "GPT-3",
     .source = "Brown et al. 2020, arXiv:2005.14165, table 2.1",
     .layers = 96,
     .width = 12288,
     .heads = 96,
     .kv_heads = 96,
     .key_width = 128,
     .value_width = 128,
     .hidden = 49152,
     .vocabulary = 50257,
     .positions = 2048,
     .biased = true,
     .tied = true},
    {.name = "Llama 3 8B",
     .source = "Llama Team 2024, arXiv:2407.21783, table 3",
     .layers = 32,
     .width = 4096,
     .heads = 32,
     .kv_heads = 8,
     .key_width = 128,
     .value_width = 128,
     .hidden = 14336,
     .vocabulary = 128256,
     .gated = true},
    {.name = "Llama 3 70B",
     .source = "Llama Team 2024, arXiv:2407.21783, table 3",
     .layers = 80,
     .width = 8192,
     .heads = 64,
     .kv_heads = 8,
     .key_width = 128,
     .value_width = 128,
     .hidden = 28672,
     .vocabulary = 128256,
     .gated = true},
    {.name = "DeepSeek-V3",
     .source = "DeepSeek-AI 2024, arXiv:2412.19437, §4.2",
     .layers = 61,
     .width = 7168,
     .heads = 128,
     .kv_heads = 128,
     .key_width = 192,
     .value_width = 128,
     .hidden = 18432,
     .vocabulary = 129280,
     .gated = true,
     .experts = 256,
     .experts_used = 8,
     .shared_experts = 1,
     .expert_hidden = 2048,
     .dense_layers = 3,
     .query_rank = 1536,
     .kv_rank = 512,
     .turned = 64},
};

/// One part: entries of matrices that a token goes through, those that it does not, and vectors.
struct Part {
    Index used = 0, unused = 0, vectors = 0;
    Index total() const { return used + unused + vectors; }
};

Index norm_of(const KnownModel& m) { return (m.biased ? 2 : 1) * m.width; }

/// Of one layer, with the norm before it.
Part attention_of(const KnownModel& m) {
    const Index queries = m.heads * m.key_width, values = m.heads * m.value_width;
    Part part{0, 0, norm_of(m)};
    part.used = values * m.width;  // W_O
    if (m.query_rank > 0) {
        part.used += m.width * m.query_rank + m.query_rank * queries;
        part.used += m.width * (m.kv_rank + m.turned);
        part.used += m.kv_rank * m.heads * (m.key_width - m.turned + m.value_width);
        part.vectors += m.query_rank + m.kv_rank;  // their norms
        return part;
    }
    const Index shared = m.kv_heads * (m.key_width + m.value_width);
    part.used += m.width * (queries + shared);
    if (m.biased) part.vectors += queries + shared + m.width;
    return part;
}

/// Of one layer, with the norm before it.
Part mlp_of(const KnownModel& m, Index layer) {
    const Index matrices = m.gated ? 3 : 2;
    Part part{0, 0, norm_of(m)};
    if (m.experts == 0 || layer < m.dense_layers) {
        part.used = matrices * m.width * m.hidden;
        if (m.biased) part.vectors += m.hidden + m.width;
        return part;
    }
    const Index expert = matrices * m.width * m.expert_hidden;
    part.used = (m.experts_used + m.shared_experts) * expert + m.experts * m.width;
    part.unused = (m.experts - m.experts_used) * expert;
    part.vectors += m.experts;  // the router's bias, which balances them
    return part;
}

}  // namespace

std::span<const KnownModel> known_models() { return kKnownModels; }

KnownParameters parameters_of(const KnownModel& model) {
    KnownParameters counts;
    counts.embedding = (model.vocabulary + model.positions) * model.width;
    for (Index layer = 0; layer < model.layers; ++layer) {
        counts.attention += attention_of(model).total();
        counts.mlp += mlp_of(model, layer).total();
    }
    counts.read_out = norm_of(model) + (model.tied ? 0 : model.vocabulary * model.width);
    return counts;
}

KnownFlop flop_of(const KnownModel& model, Index context) {
    KnownFlop flop;
    flop.matrices = 2.0 * static_cast<double>(model.vocabulary * model.width);
    for (Index layer = 0; layer < model.layers; ++layer) {
        flop.matrices += 2.0 * static_cast<double>(attention_of(model).used);
        flop.matrices += 2.0 * static_cast<double>(mlp_of(model, layer).used);
        flop.pairs += 2.0 * static_cast<double>(context) *
                      static_cast<double>(model.heads * (model.key_width + model.value_width));
    }
    return flop;
}

}  // namespace attn

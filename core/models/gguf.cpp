#include "core/models/gguf.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/io/arrays/foreign.h"
#include "core/models/family.h"

namespace attn {
namespace {

/// What llama.cpp calls a tensor. Source: gguf-py/gguf/constants.py, TENSOR_NAMES.
constexpr struct {
    std::string_view gguf;  // after "blk.N." where the family's has {}
    std::string_view TensorNames::*name;
} kNames[] = {
    {"token_embd", &TensorNames::embedding},
    {"position_embd", &TensorNames::positions},
    {"output_norm", &TensorNames::final_norm},
    {"output", &TensorNames::read_out},
    {"attn_norm", &TensorNames::attention_norm},
    {"attn_qkv", &TensorNames::qkv},
    {"attn_q", &TensorNames::q},
    {"attn_k", &TensorNames::k},
    {"attn_v", &TensorNames::v},
    {"attn_q_norm", &TensorNames::q_norm},
    {"attn_k_norm", &TensorNames::k_norm},
    {"attn_output", &TensorNames::out},
    {"post_attention_norm", &TensorNames::attention_out_norm},
    {"ffn_norm", &TensorNames::mlp_norm},
    {"ffn_gate", &TensorNames::gate},
    {"ffn_up", &TensorNames::up},
    {"ffn_down", &TensorNames::down},
    {"post_ffw_norm", &TensorNames::mlp_out_norm},
};
/// Read with the keys.
constexpr std::string_view kDivisors[] = {"rope_freqs.weight", "rope_factors_long.weight",
                                          "rope_factors_short.weight"};

/// An array of the file under the family's name. `heads`: the rows of each are halves in turns; 0: they are as they should be.
struct StoredArray {
    std::string stored, name;
    Index heads = 0;
};

/// "blk.3.attn_q.bias" is layers.3.self_attn.q_proj.bias; what no family has keeps its name.
StoredArray stored_array(const std::string& stored, const ModelConfig& config) {
    std::string_view rest = stored;
    const std::size_t dot = rest.rfind('.');
    const std::string_view part = dot == std::string_view::npos ? "" : rest.substr(dot);
    rest.remove_suffix(part.size());
    std::string_view layer;
    if (rest.starts_with("blk.")) {
        layer = rest.substr(4, rest.find('.', 4) - 4);
        rest.remove_prefix(std::min(rest.size(), 4 + layer.size() + 1));
    }
    const auto* const row =
        std::ranges::find(kNames, rest, &std::remove_cvref_t<decltype(*kNames)>::gguf);
    std::string name(row == std::end(kNames) ? "" : config.family->names.*row->name);
    const auto gap = name.find("{}");
    if (name.empty() || (gap == std::string::npos) != layer.empty()) return {stored, stored};
    if (gap != std::string::npos) name.replace(gap, 2, layer);
    const bool turned = config.family->key == "llama" || config.family->key == "granite";
    const Index heads = !turned                        ? 0
                        : row->name == &TensorNames::q ? config.heads
                        : row->name == &TensorNames::k ? config.kv_heads
                                                       : 0;
    return {stored, name + std::string(part), heads};
}

/// Row 2 i + half of a head is row (half, i) of Hugging Face's: convert_hf_to_gguf.py, permute().
template <class Number>
void undo_turns(std::vector<Number>& values, Index rows, Index heads) {
    if (heads == 0 || rows % (2 * heads) != 0) return;  // the reader of weights says what is wrong
    const std::vector<Number> from = values;
    const Index columns = std::ssize(values) / rows, half = rows / heads / 2;
    for (Index row = 0; row < rows; ++row) {
        const Index head = row / (2 * half), at = row % (2 * half);
        const Index source = head * 2 * half + 2 * (at % half) + at / half;
        std::copy_n(from.begin() + source * columns, columns, values.begin() + row * columns);
    }
}

class GgufWeights final : public ArrayFile {
  public:
    static Result<Arrays> list(Arrays file, std::vector<StoredArray> places) {
        auto weights = std::unique_ptr<GgufWeights>(new GgufWeights(file->what()));
        weights->file_ = std::move(file);
        weights->places_ = std::move(places);
        std::vector<std::string> names;
        for (const StoredArray& place : weights->places_) names.push_back(place.name);
        return weights->set_names(std::move(names)).map([&]() -> Arrays {
            return std::move(weights);
        });
    }

  private:
    explicit GgufWeights(std::string what) : ArrayFile(std::move(what)) {}
    Result<ArrayInfo> about_at(std::size_t at, const std::string&) const override {
        return file_->about(places_[at].stored);
    }
    Result<NpyArray> read_at(std::size_t at, const std::string&, double held) const override {
        auto array = file_->read(places_[at].stored, held);
        if (!array || array->extents.empty()) return array;
        if (auto* const floats = std::get_if<std::vector<float>>(&array->values))
            undo_turns(*floats, array->extents.front(), places_[at].heads);
        return array;
    }
    Result<std::optional<HalfArray>> read_halves_at(std::size_t at, const std::string&,
                                                    double held) const override {
        auto array = file_->read_halves(places_[at].stored, held);
        if (array && *array && !(*array)->extents.empty())
            undo_turns((*array)->values, (*array)->extents.front(), places_[at].heads);
        return array;
    }

    Result<std::optional<CodeArray>> read_codes_at(std::size_t at, const std::string&,
                                                   double held) const override {
        auto array = file_->read_codes(places_[at].stored, held);
        if (array && *array && !(*array)->extents.empty())
            undo_turns((*array)->bytes, (*array)->extents.front(), places_[at].heads);
        return array;
    }

    Arrays file_;
    std::vector<StoredArray> places_;
};

/// "weights stay quantised in memory: 12 arrays of Q4_K, 1 of Q6_K"; "": none is of blocks.
std::string quantised_text(const GgufHeader& header) {
    std::map<std::string_view, std::size_t> counts;
    for (const GgufTensor& tensor : header.tensors)
        if (const GgufType* const type = gguf_type(tensor.type); type && type->code.items > 1)
            ++counts[type->name];
    std::vector<std::string> parts;
    for (const auto& [name, count] : counts)
        parts.push_back(fmt::format("{} array{} of {}", count, count == 1 ? "" : "s", name));
    if (parts.empty()) return {};
    return fmt::format("weights stay quantised in memory: {}", fmt::join(parts, ", "));
}

}  // namespace

bool is_gguf(const std::filesystem::path& file) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) return false;
    return file.extension() == ".gguf" || first_bytes(file).starts_with("GGUF");
}

Result<Arrays> weights_of_gguf(GgufArrays file, const ModelConfig& config) {
    std::vector<StoredArray> places;
    for (const std::string& stored : file.arrays->names())
        if (std::ranges::find(kDivisors, stored) == std::end(kDivisors))
            places.push_back(stored_array(stored, config));
    return GgufWeights::list(std::move(file.arrays), std::move(places));
}

Result<ModelSource> open_gguf_model(const std::filesystem::path& path) {
    auto file = open_gguf(path);
    if (!file) return tl::unexpected(file.error());
    ModelSource model;
    auto config = config_of_gguf(*file, path.string(), model.notes);
    if (!config) return tl::unexpected(config.error());
    model.config = *std::move(config);
    if (std::string text = quantised_text(file->header); !text.empty())
        model.notes.push_back(std::move(text));
    model.values = std::move(file->header.values);
    return weights_of_gguf(*std::move(file), model.config).map([&](Arrays&& weights) {
        model.weights = std::move(weights);
        return std::move(model);
    });
}

}  // namespace attn

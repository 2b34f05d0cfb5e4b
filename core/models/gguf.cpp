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
#include "core/io/arrays/joined.h"
#include "core/models/family.h"
#include "core/text.h"

namespace attn {
namespace {

/// What llama.cpp calls a tensor. Source: gguf-py/gguf/constants.py, TENSOR_NAMES.
constexpr struct {
    std::string_view gguf;  // after "blk.N." where the family's has {}
    std::string_view TensorNames::*name;
    bool shared = false;  // of the expert that every token takes
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
    {"ffn_gate_inp", &TensorNames::router},
    {"ffn_gate_inp_shexp", &TensorNames::shared_gate},
    {"ffn_gate_shexp", &TensorNames::gate, true},
    {"ffn_up_shexp", &TensorNames::up, true},
    {"ffn_down_shexp", &TensorNames::down, true},
};
/// Read with the keys.
constexpr std::string_view kDivisors[] = {"rope_freqs.weight", "rope_factors_long.weight",
                                          "rope_factors_short.weight"};

/// An array of the file under the family's name. `heads`: the rows of each are halves in turns; 0: they are as they should be.
struct StoredArray {
    std::string stored, name;
    Index heads = 0;
};

/// A family's name with one of its experts, "experts.3" or "shared_expert"; "": of a layer that has one MLP. "": the family has
/// no experts there.
std::string named_expert(std::string name, std::string_view expert) {
    constexpr std::string_view kEach = "experts.[]";
    const auto gap = name.find(kEach);
    if (gap == std::string::npos) return expert.empty() ? name : "";
    return expert.empty() ? name.erase(gap, kEach.size() + 1)
                          : name.replace(gap, kEach.size(), expert);
}

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
    std::string expert;
    if (const auto number = rest.find('.'); number != std::string_view::npos) {
        expert = fmt::format("experts.{}", rest.substr(number + 1));
        rest = rest.substr(0, number);
    }
    const auto* const row =
        std::ranges::find(kNames, rest, &std::remove_cvref_t<decltype(*kNames)>::gguf);
    std::string name;
    if (row != std::end(kNames)) {
        if (row->shared) expert = config.family->names.shared_expert;
        name = named_expert(std::string(config.family->names.*row->name), expert);
    }
    const auto gap = name.find("{}");
    if (name.empty() || (gap == std::string::npos) != layer.empty()) return {stored, stored};
    if (gap != std::string::npos) name.replace(gap, 2, layer);
    const std::string_view key = config.family->key;
    const bool turned = key == "llama" || key == "granite" || key == "mixtral";
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

namespace {

/// NAME-00001-of-00003.gguf of a model in three files.
std::string part_name(std::string_view stem, Index part, Index parts) {
    return fmt::format("{}-{:05}-of-{:05}.gguf", stem, part, parts);
}

/// Every part of a model of `parts` files, `path` among them, with the keys of the first.
Result<GgufArrays> open_parts(const std::filesystem::path& path, Index parts) {
    const std::string name = path.filename().string();
    const std::size_t ending = part_name("", 1, parts).size();
    const std::string stem = name.substr(0, name.size() - std::min(ending, name.size()));
    Index opened = 0;
    for (Index part = 1; part <= parts && opened == 0; ++part)
        if (name == part_name(stem, part, parts)) opened = part;
    if (opened == 0)
        return bad_input(fmt::format("{} is one of {} files; expected a name like {}",
                                     path.string(), parts, part_name("model", 1, parts)));
    GgufArrays whole;
    std::vector<Arrays> files;
    std::vector<std::string> names;
    std::vector<JoinedArrays::Place> places;
    for (Index part = 1; part <= parts; ++part) {
        const auto at = path.parent_path() / part_name(stem, part, parts);
        auto file = open_gguf(at);
        if (!file) return tl::unexpected(file.error());
        const auto number = file->header.values.find("split.no");
        if (number == file->header.values.end() || *number != part - 1)
            return bad_input(fmt::format(
                "{} has 'split.no' = {}; expected {}", at.string(),
                number == file->header.values.end() ? "nothing" : shortened(number->dump()),
                part - 1));
        for (const std::string& array : file->arrays->names()) {
            names.push_back(array);
            places.push_back({files.size(), array});
        }
        files.push_back(std::move(file->arrays));
        auto& tensors = whole.header.tensors;
        tensors.insert(tensors.end(), file->header.tensors.begin(), file->header.tensors.end());
        if (part == 1) whole.header.values = std::move(file->header.values);
    }
    whole.header.values["split.count"] = 1;
    return JoinedArrays::join(path.string(), std::move(files), std::move(names), std::move(places))
        .map([&](Arrays&& arrays) {
            whole.arrays = std::move(arrays);
            return std::move(whole);
        });
}

/// The file, or all files of a model that llama-gguf-split has split.
Result<GgufArrays> open_whole(const std::filesystem::path& path) {
    auto file = open_gguf(path);
    if (!file) return file;
    constexpr Index kMostParts = 9999;
    const auto parts = file->header.values.find("split.count");
    if (parts == file->header.values.end() || !parts->is_number_unsigned()) return file;
    const auto count = parts->get<std::uint64_t>();
    if (count < 2 || count > kMostParts) return file;  // config_of_gguf() refuses the latter
    return open_parts(path, static_cast<Index>(count));
}

}  // namespace

Result<ModelSource> open_gguf_model(const std::filesystem::path& path) {
    auto file = open_whole(path);
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

#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/io/arrays/array_file.h"
#include "core/io/arrays/foreign.h"
#include "core/models/weights.h"
#include "core/narrow.h"
#include "core/stop.h"

namespace attn {

struct ImageInput;
struct TensorNames;

/// How many entries an axis has; kAny: whatever it has.
inline constexpr Index kAny = -1;

inline std::string shown_extent(Index extent) {
    return extent == kAny ? "any" : fmt::format("{}", extent);
}

/// The n-th of several of that many numbers, one after the other.
auto nth_part(const auto& from, Index n, Index count) {
    const auto first = from.begin() + n * count;
    return std::vector(first, first + count);
}
/// A matrix of so many rows, the other way round.
auto turned_numbers(const auto& from, Index rows) {
    constexpr Index kTile = 32;
    const Index columns = std::ssize(from) / rows;
    std::vector to(from.begin(), from.end());
    for (Index top = 0; top < rows; top += kTile) {
        end_if_stopped();
        for (Index left = 0; left < columns; left += kTile)
            for (Index j = left; j < std::min(columns, left + kTile); ++j)
                for (Index i = top; i < std::min(rows, top + kTile); ++i)
                    to[j * rows + i] = from[i * columns + j];
    }
    return to;
}

/// Takes arrays out of a file by their names in a family, and remembers which.
class WeightReader {
  public:
    WeightReader(const ArrayFile& file, const ModelConfig& config)
        : file_(file), names_(config.family->names), config_(config) {
        for (std::string_view all = names_.prefix; !all.empty() && prefix_.empty();) {
            const std::string_view each = all.substr(0, all.find(' '));
            if (std::ranges::any_of(file.names(), [each](const std::string& name) {
                    return name.starts_with(each);
                }))
                prefix_ = each;
            all.remove_prefix(std::min(all.size(), each.size() + 1));
        }
        if (file.contains(fmt::format("language_model.{}.weight", names_.read_out)))
            read_out_prefix_ = "language_model.";
        if (file.contains(fmt::format("model.{}.linear_1.weight", names_.projector)))
            projector_prefix_ = "model.";
        rows_are_inputs_ = config.family->rows_are_inputs;
        add_one_ = config.family->norms_add_one && !config.norms_as_computed;
        qkv_bias_ = config.qkv_bias;
        out_bias_ = config.out_bias;
        mlp_bias_ = config.mlp_bias;
        eight_bits_ = config.eight_bits;
    }

    std::string full_name(std::string_view pattern, Index layer, std::string_view part) const {
        std::string name(pattern);
        if (const auto gap = name.find("{}"); gap != std::string::npos)
            name.replace(gap, 2, fmt::format("{}", config_.stored_layer(layer)));
        const std::string_view prefix = pattern == names_.read_out      ? read_out_prefix_
                                        : pattern == names_.logits_bias ? ""
                                        : is_of_projector(pattern)      ? projector_prefix_
                                                                        : prefix_;
        return fmt::format("{}{}{}", prefix, name, part);
    }
    bool contains(const std::string& name) const { return file_.contains(name); }
    bool has(std::string_view pattern, Index layer, std::string_view part = ".weight") const {
        return !pattern.empty() && file_.contains(full_name(pattern, layer, part));
    }

    /// [rows, columns] as stored, in float32; axes of length 1 before them are left out.
    Result<Tensor> matrix(const std::string& name, Index rows, Index columns) {
        auto array = numbers(name);
        if (!array) return tl::unexpected(array.error());
        const auto shape = matrix_shape(name, array->extents, rows, columns);
        if (!shape) return tl::unexpected(shape.error());
        return tensor(*array, *shape);
    }
    /// The same in the type of the file.
    Result<WeightMatrix> own_matrix(const std::string& name, Index rows, Index columns) {
        auto codes = codes_of(name);
        if (!codes) return tl::unexpected(codes.error());
        if (*codes)
            return matrix_shape(name, (*codes)->extents, rows, columns)
                .map(
                    [&](const Shape& shape) { return of_codes(std::move(**codes), shape, false); });
        auto halves = halves_of(name);
        if (!halves) return tl::unexpected(halves.error());
        if (!*halves) return as_weight_matrix(matrix(name, rows, columns));
        HalfArray& array = **halves;
        const auto shape = matrix_shape(name, array.extents, rows, columns);
        if (!shape) return tl::unexpected(shape.error());
        return WeightMatrix(Tensor::narrow(*shape, std::move(array.values), array.format));
    }
    /// x W + b with W in the type of the file. `as`: the family's name of it, where `pattern` is one of several of that name.
    Result<LinearWeights> linear(std::string_view pattern, Index layer, Index in, Index out,
                                 std::string_view as = {}) {
        auto weights = own_weight(full_name(pattern, layer, ".weight"), in, out);
        if (!weights) return tl::unexpected(weights.error());
        LinearWeights linear;
        linear.weight = *std::move(weights);
        const bool stored = has(pattern, layer, ".bias");
        const bool alone = stored || pattern.find(".experts.") == std::string_view::npos;
        if (!alone || !bias_of(as.empty() ? pattern : as).value_or(stored)) return linear;
        auto bias = matrix(full_name(pattern, layer, ".bias"), 1, linear.weight.shape().d);
        if (!bias) return tl::unexpected(bias.error());
        linear.bias = *std::move(bias);
        return linear;
    }
    /// torch's [out, channels, …] as a matrix [channels · …, out]; `kernel`: all extents but the first.
    Result<LinearWeights> convolution(std::string_view pattern, Index out,
                                      std::initializer_list<Index> kernel) {
        const std::string name = full_name(pattern, 0, ".weight");
        auto array = numbers(name);
        if (!array) return tl::unexpected(array.error());
        std::vector<Index> expected{out};
        expected.insert(expected.end(), kernel);
        if (array->extents != expected)
            return misfit(name, array->extents, to_string(std::span<const Index>(expected)));
        const Index in = std::accumulate(kernel.begin(), kernel.end(), Index{1}, std::multiplies{});
        const auto stored = tensor(*array, {1, 1, out, in});
        if (!stored) return tl::unexpected(stored.error());
        LinearWeights linear;
        linear.weight = turned_floats(*stored);
        if (!has(pattern, 0, ".bias")) return linear;
        auto bias = matrix(full_name(pattern, 0, ".bias"), 1, out);
        if (!bias) return tl::unexpected(bias.error());
        linear.bias = *std::move(bias);
        return linear;
    }
    /// Of experts in one array [experts, in, out], with biases [experts, out]; W in the type of the file.
    Result<std::vector<LinearWeights>> stacked(const std::string& name, Index count, Index in,
                                               Index out) {
        auto halves = halves_of(name);
        if (!halves) return tl::unexpected(halves.error());
        NpyArray array;
        if (!*halves) {
            auto read = numbers(name);
            if (!read) return tl::unexpected(read.error());
            array = *std::move(read);
        }
        const std::vector<Index>& extents = *halves ? (*halves)->extents : array.extents;
        const std::vector<Index> expected{count, in,
                                          out == kAny && !extents.empty() ? extents.back() : out};
        if (extents != expected)
            return misfit(name, extents, to_string(std::span<const Index>(expected)));
        const Shape shape{1, 1, in, expected.back()};
        auto biases = matrix(name + "_bias", count, shape.d);
        if (!biases) return tl::unexpected(biases.error());
        Tensor whole;
        if (!*halves) {
            auto floats = tensor(array, {1, count, in, shape.d});
            if (!floats) return tl::unexpected(floats.error());
            whole = *std::move(floats);
        }
        std::vector<LinearWeights> experts;
        for (Index n = 0; n < count; ++n)
            experts.push_back(
                {*halves ? Tensor::narrow(shape, nth_part((*halves)->values, n, shape.count()),
                                          (*halves)->format)
                         : Tensor::shared(shape, nth_part(whole.values(), n, shape.count())),
                 Tensor::shared({1, 1, 1, shape.d}, nth_part(biases->values(), n, shape.d))});
        return experts;
    }
    /// Older files of BERT say gamma and beta.
    Result<NormWeights> norm(std::string_view pattern, Index layer, Index width) {
        NormWeights norm;
        if (config_.plain_norms) {
            norm.scale = Tensor::shared({1, 1, 1, width},
                                        std::vector<float>(static_cast<std::size_t>(width), 1.0F));
            return norm;
        }
        const bool old = !has(pattern, layer) && has(pattern, layer, ".gamma");
        auto scale = matrix(full_name(pattern, layer, old ? ".gamma" : ".weight"), 1, width);
        if (!scale) return tl::unexpected(scale.error());
        norm.scale = *std::move(scale);
        if (add_one_)
            for (float& value : norm.scale.values()) value += 1.0F;
        const std::string_view part = old ? ".beta" : ".bias";
        if (!config_.norm_bias.value_or(has(pattern, layer, part))) return norm;
        auto shift = matrix(full_name(pattern, layer, part), 1, width);
        if (!shift) return tl::unexpected(shift.error());
        norm.shift = *std::move(shift);
        return norm;
    }
    /// nanoGPT has torch's layout under GPT-2's names: its q|k|v tells.
    void look_at_layout(const std::string& name, Index in) {
        const auto about = file_.about(name);
        if (!about || about->extents.size() != 2) return;
        if (about->extents[0] != in && about->extents[1] == in) rows_are_inputs_ = false;
    }
    std::vector<std::string> unused() const {
        std::vector<std::string> names;
        for (const std::string& name : file_.names())
            if (!used_.contains(name) && !is_known_rest(name)) names.push_back(name);
        return names;
    }

  private:
    /// GPT-2's and GPT-NeoX's causal mask, tables of positions that RoPE makes anew, the second copy of a tied read-out.
    bool is_known_rest(const std::string& name) const {
        return name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias") ||
               name.ends_with(".attention.bias") || name.ends_with(".attention.masked_bias") ||
               name.ends_with("rotary_emb.inv_freq") || name.ends_with("embeddings.position_ids") ||
               name.ends_with("embeddings.mask_token") ||
               name.ends_with("coder.embed_tokens.weight") ||  // T5's copies of 'shared'
               name.ends_with("EncDecAttention.relative_attention_bias.weight") ||
               (config_.image_prompt && config_.image &&  // after its hidden states
                (name.starts_with(fmt::format("{}post_layernorm.", prefix_)) ||
                 name.starts_with(fmt::format("{}head.", prefix_)))) ||
               name == full_name(names_.read_out, 0, ".weight");
    }
    bool is_of_projector(std::string_view pattern) const {
        return !names_.projector.empty() && pattern.starts_with(names_.projector);
    }
    Result<Shape> matrix_shape(const std::string& name, const std::vector<Index>& extents,
                               Index rows, Index columns) const {
        const auto [stored_rows, stored_columns] = sides(extents);
        if (stored_rows == 0 || (rows != kAny && stored_rows != rows) ||
            (columns != kAny && stored_columns != columns))
            return misfit(name, extents,
                          fmt::format("[{}, {}]", shown_extent(rows), shown_extent(columns)));
        return Shape{1, 1, stored_rows, stored_columns};
    }
    /// As it is stored.
    Result<Shape> weight_shape(const std::string& name, const std::vector<Index>& extents, Index in,
                               Index out) const {
        const auto [rows, columns] = sides(extents);
        const bool straight = rows_are_inputs_;
        if (rows == 0 || columns == 0 || (straight ? rows : columns) != in ||
            (out != kAny && (straight ? columns : rows) != out))
            return misfit(name, extents,
                          straight ? fmt::format("[{}, {}]", in, shown_extent(out))
                                   : fmt::format("[{}, {}]", shown_extent(out), in));
        return Shape{1, 1, rows, columns};
    }
    /// [in, out], turned where it is stored the other way round; in float32.
    Result<Tensor> weight(const std::string& name, Index in, Index out) {
        auto array = numbers(name);
        if (!array) return tl::unexpected(array.error());
        const auto shape = weight_shape(name, array->extents, in, out);
        if (!shape) return tl::unexpected(shape.error());
        auto stored = tensor(*array, *shape);
        if (!stored || rows_are_inputs_) return stored;
        return turned_floats(*stored);
    }
    /// The same in the type of the file.
    Result<WeightMatrix> own_weight(const std::string& name, Index in, Index out) {
        auto codes = codes_of(name);
        if (!codes) return tl::unexpected(codes.error());
        if (*codes)
            return weight_shape(name, (*codes)->extents, in, out).map([&](const Shape& shape) {
                return of_codes(std::move(**codes), shape, !rows_are_inputs_);
            });
        auto halves = halves_of(name);
        if (!halves) return tl::unexpected(halves.error());
        if (!*halves) return as_weight_matrix(weight(name, in, out));
        HalfArray& array = **halves;
        const auto shape = weight_shape(name, array.extents, in, out);
        if (!shape) return tl::unexpected(shape.error());
        if (rows_are_inputs_)
            return WeightMatrix(Tensor::narrow(*shape, std::move(array.values), array.format));
        return WeightMatrix(Tensor::narrow({1, 1, shape->d, shape->t},
                                           turned_numbers(array.values, shape->t), array.format));
    }
    static Result<WeightMatrix> as_weight_matrix(Result<Tensor> floats) {
        if (!floats) return tl::unexpected(floats.error());
        return WeightMatrix(*std::move(floats));
    }
    /// Whether the configuration says that there is one.
    std::optional<bool> bias_of(std::string_view pattern) const {
        const auto is = [pattern](std::initializer_list<std::string_view> names) {
            return std::ranges::find(names, pattern) != names.end();
        };
        if (is({names_.gate, names_.up, names_.plain_up, names_.down})) return mlp_bias_;
        if (pattern == names_.shared_gate) return false;
        if (is({names_.q_up, names_.kv_up}) || (pattern == names_.q && !names_.kv_down.empty()))
            return false;
        if (is({names_.qkv, names_.q, names_.k, names_.v, names_.q_down, names_.kv_down}))
            return qkv_bias_;
        if (pattern == names_.out) return out_bias_;
        if (is_of_projector(pattern)) return config_.image_prompt->bias;
        return std::nullopt;
    }
    /// nullopt: of another type, or not there; numbers() says so.
    Result<std::optional<HalfArray>> halves_of(const std::string& name) {
        if (!file_.contains(name)) return std::nullopt;
        auto array = file_.read_halves(name, held_);
        if (!array || !*array) return array;
        used_.insert(name);
        held_ += bytes_of((*array)->extents, sizeof(std::uint16_t));
        const unsigned endless = (*array)->format == HalfFormat::float16 ? 0x7C00U : 0x7F80U;
        const auto nans = std::ranges::count_if((*array)->values, [endless](std::uint16_t value) {
            return (value & 0x7FFFU) > endless;
        });
        if (nans > 0) return not_numbers(name, nans);
        return array;
    }
    /// nullopt: not quantised, or not there; numbers() says so.
    Result<std::optional<CodeArray>> codes_of(const std::string& name) {
        if (!file_.contains(name)) return std::nullopt;
        auto array = file_.read_codes(name, held_);
        if (!array || !*array) return array;
        used_.insert(name);
        const CodeArray& codes = **array;
        held_ += static_cast<double>(codes.bytes.size());
        constexpr Index kRun = 64;  // blocks
        std::vector<float> run(static_cast<std::size_t>(kRun * codes.code->items));
        const Index blocks = std::ssize(codes.bytes) / codes.code->bytes;
        std::ptrdiff_t nans = 0;
        for (Index block = 0; block < blocks; block += kRun) {
            const Index count = std::min(kRun, blocks - block);
            codes.code->widen(codes.bytes.data() + block * codes.code->bytes, count, run.data());
            nans += std::count_if(run.begin(), run.begin() + count * codes.code->items,
                                  [](float value) { return std::isnan(value); });
        }
        if (nans > 0) return not_numbers(name, nans);
        return array;
    }
    /// `shape`: as stored; turned, the matrix is its transpose.
    static WeightMatrix of_codes(CodeArray&& codes, const Shape& shape, bool turned) {
        const auto owner =
            std::make_shared<const std::vector<unsigned char>>(std::move(codes.bytes));
        const BlockMatrix blocks{codes.code, *owner, shape.t, shape.d, turned};
        return Tensor::stored(turned ? Shape{1, 1, shape.d, shape.t} : shape,
                              std::make_shared<const Narrow>(blocks, owner));
    }
    Result<NpyArray> numbers(const std::string& name) {
        if (!file_.contains(name))
            return bad_input(
                fmt::format("{} has no array '{}', which this model needs", file_.what(), name));
        used_.insert(name);
        auto array = file_.read(name, held_);
        if (!array) return array;
        held_ += bytes_of(array->extents, sizeof(float));
        if (array->dtype == "int8")
            if (auto valid = dequantise(name, *array); !valid) return tl::unexpected(valid.error());
        if (array->dtype.starts_with("float8"))
            return bad_input(fmt::format(
                "{}: array '{}' is {}, 8-bit floats, which are multiplied by a scale if there is "
                "one; expected float32, float16 or bfloat16, which Python saves: {}",
                file_.what(), name, array->dtype, widening_code(file_.what())));
        // uint8 is refused by tensor(): weight_format alone may be so.
        if (array->dtype != "uint8" && array->dtype.find("float") == std::string::npos)
            return bad_input(
                fmt::format("{}: array '{}' is {}; expected float32, float16 or bfloat16. Save it "
                            "as numbers, not as their bits or codes",
                            file_.what(), name, array->dtype));
        const auto* const floats = std::get_if<std::vector<float>>(&array->values);
        const auto* const doubles = std::get_if<std::vector<double>>(&array->values);
        const auto is_nan = [](auto value) { return std::isnan(value); };
        const auto nans = floats    ? std::ranges::count_if(*floats, is_nan)
                          : doubles ? std::ranges::count_if(*doubles, is_nan)
                                    : 0;
        if (nans > 0) return not_numbers(name, nans);
        return array;
    }
    /// bitsandbytes, LLM.int8(): q · SCB / 127, with an SCB for each row. Dettmers et al. 2022, arXiv:2208.07339.
    Result<void> dequantise(const std::string& name, NpyArray& array) {
        if (!eight_bits_ || !name.ends_with(".weight") || array.extents.size() != 2)
            return bad_input(
                fmt::format("{}: array '{}' is int8, which is read as a matrix of bitsandbytes "
                            "whose config.json has its 'quantization_config'",
                            file_.what(), name));
        const std::string layer = name.substr(0, name.size() - 6);
        if (file_.contains(layer + "weight_format")) {
            const auto format = numbers(layer + "weight_format");
            if (!format) return tl::unexpected(format.error());
            const auto* const layout = std::get_if<std::vector<std::uint8_t>>(&format->values);
            if (layout == nullptr || layout->size() != 1 || layout->front() != 0)
                return bad_input(fmt::format(
                    "{}: array '{}' is in another order than rows; expected 0 in '{}weight_format'",
                    file_.what(), name, layer));
        }
        const auto scales = matrix(layer + "SCB", 1, array.extents[0]);
        if (!scales) return tl::unexpected(scales.error());
        auto& values = std::get<std::vector<float>>(array.values);
        const auto columns = static_cast<std::size_t>(array.extents[1]);
        for (std::size_t n = 0; n < values.size(); ++n)
            values[n] =
                static_cast<float>(static_cast<double>(values[n]) *
                                   static_cast<double>(scales->data()[n / columns]) / 127.0);
        array.dtype = "float32";
        return {};
    }
    /// One NaN in a weight makes most of what the model says NaN.
    Failure not_numbers(const std::string& name, std::ptrdiff_t nans) const {
        return bad_input(fmt::format("{}: array '{}' has {} NaN; expected only numbers",
                                     file_.what(), name, nans));
    }
    static double bytes_of(const std::vector<Index>& extents, std::size_t of_one) {
        auto bytes = static_cast<double>(of_one);
        for (const Index extent : extents) bytes *= static_cast<double>(extent);
        return bytes;
    }
    static std::pair<Index, Index> sides(const std::vector<Index>& extents) {
        const std::size_t axes = extents.size();
        for (std::size_t n = 0; n + 2 < axes; ++n)
            if (extents[n] != 1) return {0, 0};
        if (axes == 0) return {1, 1};
        return {axes == 1 ? 1 : extents[axes - 2], extents[axes - 1]};
    }
    Failure misfit(const std::string& name, const std::vector<Index>& extents,
                   const std::string& expected) const {
        return bad_input(fmt::format("{}: array '{}' is {}; expected {}", file_.what(), name,
                                     to_string(std::span<const Index>(extents)), expected));
    }
    // Shared: every run of the model has them among its inputs.
    Result<Tensor> tensor(NpyArray& array, Shape shape) const {
        if (auto* floats = std::get_if<std::vector<float>>(&array.values))
            return Tensor::shared(shape, std::move(*floats));
        if (const auto* doubles = std::get_if<std::vector<double>>(&array.values))
            return Tensor::shared(shape, std::vector<float>(doubles->begin(), doubles->end()));
        return bad_input(fmt::format("{}: a weight is {}; expected float32, float16 or bfloat16",
                                     file_.what(), array.dtype));
    }
    static Tensor turned_floats(const Tensor& from) {
        const Shape shape = from.shape();
        return Tensor::shared({1, 1, shape.d, shape.t}, turned_numbers(from.values(), shape.t));
    }

    const ArrayFile& file_;
    const TensorNames& names_;
    const ModelConfig& config_;
    std::string_view prefix_ = {}, read_out_prefix_ = {}, projector_prefix_ = {};
    bool rows_are_inputs_ = false;
    bool add_one_ = false;
    std::optional<bool> qkv_bias_, out_bias_, mlp_bias_;
    bool eight_bits_ = false;
    double held_ = 0.0;  // bytes of what was read
    std::set<std::string, std::less<>> used_;
};

}  // namespace attn

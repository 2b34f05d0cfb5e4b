#include "core/models/weights.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace attn {
namespace {

/// How many entries an axis has; kAny: whatever it has.
constexpr Index kAny = -1;

std::string shown(Index extent) { return extent == kAny ? "any" : fmt::format("{}", extent); }

/// What attention has of its file.
struct Projected {
    Tensor weight;  // [1, 1, in, out]
    Tensor bias;    // [1, 1, 1, out], or empty
};

/// Takes arrays out of a file by their names in a family, and remembers which.
class WeightReader {
  public:
    WeightReader(const ArrayFile& file, const ModelConfig& config)
        : file_(file), names_(config.family->names) {
        prefixed_ = !names_.prefix.empty() &&
                    std::ranges::any_of(file.names(), [this](const std::string& name) {
                        return name.starts_with(names_.prefix);
                    });
        rows_are_inputs_ = config.family->rows_are_inputs;
        qkv_bias_ = config.qkv_bias;
        out_bias_ = config.out_bias;
        mlp_bias_ = config.mlp_bias;
    }

    std::string full_name(std::string_view pattern, Index layer, std::string_view part) const {
        std::string name(pattern);
        if (const auto gap = name.find("{}"); gap != std::string::npos)
            name.replace(gap, 2, fmt::format("{}", layer));
        const bool bare = !prefixed_ || pattern == names_.read_out;
        return fmt::format("{}{}{}", bare ? "" : names_.prefix, name, part);
    }
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
        auto halves = halves_of(name);
        if (!halves) return tl::unexpected(halves.error());
        if (!*halves) return as_weight_matrix(matrix(name, rows, columns));
        HalfArray& array = **halves;
        const auto shape = matrix_shape(name, array.extents, rows, columns);
        if (!shape) return tl::unexpected(shape.error());
        return WeightMatrix(HalfTensor::shared(*shape, std::move(array.values)), array.format);
    }
    /// x W + b with W in float32.
    Result<Projected> projected(std::string_view pattern, Index layer, Index in, Index out) {
        return with_bias<Projected>(weight(full_name(pattern, layer, ".weight"), in, out), pattern,
                                    layer);
    }
    /// With W in the type of the file.
    Result<LinearWeights> linear(std::string_view pattern, Index layer, Index in, Index out) {
        return with_bias<LinearWeights>(own_weight(full_name(pattern, layer, ".weight"), in, out),
                                        pattern, layer);
    }
    /// torch's [out, channels, patch, patch] as a matrix [channels · patch · patch, out].
    Result<LinearWeights> convolution(std::string_view pattern, Index out,
                                      const ImageInput& image) {
        const std::string name = full_name(pattern, 0, ".weight");
        auto array = numbers(name);
        if (!array) return tl::unexpected(array.error());
        const std::vector<Index> expected{out, image.channels, image.patch, image.patch};
        if (array->extents != expected)
            return misfit(name, array->extents, to_string(std::span<const Index>(expected)));
        const auto stored = tensor(*array, {1, 1, out, image.channels * image.patch * image.patch});
        if (!stored) return tl::unexpected(stored.error());
        LinearWeights linear;
        linear.weight = turned(*stored);
        if (!has(pattern, 0, ".bias")) return linear;
        auto bias = matrix(full_name(pattern, 0, ".bias"), 1, out);
        if (!bias) return tl::unexpected(bias.error());
        linear.bias = *std::move(bias);
        return linear;
    }
    /// Older files of BERT say gamma and beta.
    Result<NormWeights> norm(std::string_view pattern, Index layer, Index width) {
        NormWeights norm;
        const bool old = !has(pattern, layer) && has(pattern, layer, ".gamma");
        auto scale = matrix(full_name(pattern, layer, old ? ".gamma" : ".weight"), 1, width);
        if (!scale) return tl::unexpected(scale.error());
        norm.scale = *std::move(scale);
        const std::string_view part = old ? ".beta" : ".bias";
        if (!has(pattern, layer, part)) return norm;
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
    /// GPT-2's causal mask, tables of positions that RoPE makes anew, the second copy of a tied read-out.
    bool is_known_rest(const std::string& name) const {
        return name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias") ||
               name.ends_with("rotary_emb.inv_freq") || name.ends_with("embeddings.position_ids") ||
               name == full_name(names_.read_out, 0, ".weight");
    }
    Result<Shape> matrix_shape(const std::string& name, const std::vector<Index>& extents,
                               Index rows, Index columns) const {
        const auto [stored_rows, stored_columns] = sides(extents);
        if (stored_rows == 0 || (rows != kAny && stored_rows != rows) ||
            (columns != kAny && stored_columns != columns))
            return misfit(name, extents, fmt::format("[{}, {}]", shown(rows), shown(columns)));
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
                          straight ? fmt::format("[{}, {}]", in, shown(out))
                                   : fmt::format("[{}, {}]", shown(out), in));
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
        return turned(*stored);
    }
    /// The same in the type of the file.
    Result<WeightMatrix> own_weight(const std::string& name, Index in, Index out) {
        auto halves = halves_of(name);
        if (!halves) return tl::unexpected(halves.error());
        if (!*halves) return as_weight_matrix(weight(name, in, out));
        HalfArray& array = **halves;
        const auto shape = weight_shape(name, array.extents, in, out);
        if (!shape) return tl::unexpected(shape.error());
        HalfTensor stored = HalfTensor::shared(*shape, std::move(array.values));
        if (!rows_are_inputs_) stored = turned(stored);
        return WeightMatrix(std::move(stored), array.format);
    }
    static Result<WeightMatrix> as_weight_matrix(Result<Tensor> floats) {
        if (!floats) return tl::unexpected(floats.error());
        return WeightMatrix(*std::move(floats));
    }
    template <class Linear, class Matrix>
    Result<Linear> with_bias(Result<Matrix> weights, std::string_view pattern, Index layer) {
        if (!weights) return tl::unexpected(weights.error());
        Linear linear;
        linear.weight = *std::move(weights);
        if (!bias_of(pattern).value_or(has(pattern, layer, ".bias"))) return linear;
        auto bias = matrix(full_name(pattern, layer, ".bias"), 1, linear.weight.shape().d);
        if (!bias) return tl::unexpected(bias.error());
        linear.bias = *std::move(bias);
        return linear;
    }
    /// Whether the configuration says that there is one.
    std::optional<bool> bias_of(std::string_view pattern) const {
        const auto is = [pattern](std::initializer_list<std::string_view> names) {
            return std::ranges::find(names, pattern) != names.end();
        };
        if (is({names_.gate, names_.up, names_.down})) return mlp_bias_;
        if (is({names_.q, names_.k, names_.v})) return qkv_bias_;
        if (pattern == names_.out) return out_bias_;
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
    Result<NpyArray> numbers(const std::string& name) {
        if (!file_.contains(name))
            return bad_input(
                fmt::format("{} has no array '{}', which this model needs", file_.what(), name));
        used_.insert(name);
        auto array = file_.read(name, held_);
        if (!array) return array;
        held_ += bytes_of(array->extents, sizeof(float));
        const auto* const floats = std::get_if<std::vector<float>>(&array->values);
        const auto* const doubles = std::get_if<std::vector<double>>(&array->values);
        const auto is_nan = [](auto value) { return std::isnan(value); };
        const auto nans = floats    ? std::ranges::count_if(*floats, is_nan)
                          : doubles ? std::ranges::count_if(*doubles, is_nan)
                                    : 0;
        if (nans > 0) return not_numbers(name, nans);
        return array;
    }
    /// One NaN in a weight makes most of what the model says NaN.
    tl::unexpected<Error> not_numbers(const std::string& name, std::ptrdiff_t nans) const {
        return bad_input(fmt::format("{}: array '{}' holds {} NaN; expected numbers alone",
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
    tl::unexpected<Error> misfit(const std::string& name, const std::vector<Index>& extents,
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
    template <class Scalar>
    static TensorOf<Scalar> turned(const TensorOf<Scalar>& from) {
        constexpr Index kTile = 32;
        const Index rows = from.shape().t;
        const Index columns = from.shape().d;
        std::vector<Scalar> to(from.values().size());
        for (Index top = 0; top < rows; top += kTile)
            for (Index left = 0; left < columns; left += kTile)
                for (Index j = left; j < std::min(columns, left + kTile); ++j)
                    for (Index i = top; i < std::min(rows, top + kTile); ++i)
                        to[static_cast<std::size_t>(j * rows + i)] = from.data()[i * columns + j];
        return TensorOf<Scalar>::shared({1, 1, columns, rows}, std::move(to));
    }

    const ArrayFile& file_;
    const TensorNames& names_;
    bool prefixed_ = false;
    bool rows_are_inputs_ = false;
    std::optional<bool> qkv_bias_, out_bias_, mlp_bias_;
    double held_ = 0.0;  // bytes of what was read
    std::set<std::string, std::less<>> used_;
};

/// Columns first … first + count of a [in, out] weight or a [1, out] bias.
Tensor columns_of(const Tensor& from, Index first, Index count) {
    if (from.empty()) return {};
    std::vector<float> to;
    to.reserve(static_cast<std::size_t>(from.shape().t * count));
    for (Index row = 0; row < from.shape().t; ++row) {
        const auto columns = from.matrix(0, 0).column_block(first, count).row(row);
        to.insert(to.end(), columns.begin(), columns.end());
    }
    return Tensor::shared({1, 1, from.shape().t, count}, std::move(to));
}

/// How the columns of q|k|v fall to heads, where the file has one matrix for all three.
Result<void> split_qkv(const Projected& qkv, const ModelConfig& config, Params& params) {
    const Index out = qkv.weight.shape().d;
    const Index parts = config.heads + 2 * config.kv_heads;
    if (out % parts != 0)
        return bad_input(
            fmt::format("q|k|v has {} columns; expected a multiple of {} heads", out, parts));
    const Index width = out / parts;
    Index first = 0;
    for (const auto& [weight, bias, heads] :
         {std::tuple{Param::w_q, Param::b_q, config.heads},
          std::tuple{Param::w_k, Param::b_k, config.kv_heads},
          std::tuple{Param::w_v, Param::b_v, config.kv_heads}}) {
        params[weight] = columns_of(qkv.weight, first, heads * width);
        params[bias] = columns_of(qkv.bias, first, heads * width);
        first += heads * width;
    }
    return {};
}

/// Keeps the first error, so that a list of tensors is a list of lines.
class Steps {
  public:
    template <class T>
    void take(Result<T> result, T& into) {
        if (!result)
            keep(result.error());
        else if (!fault_)
            into = *std::move(result);
    }
    void keep(Error error) {
        if (!fault_) fault_ = std::move(error);
    }
    Result<void> finish() const {
        if (fault_) return tl::unexpected(*fault_);
        return {};
    }
    bool fine() const { return !fault_; }

  private:
    std::optional<Error> fault_;
};

void read_projections(WeightReader& reader, const ModelConfig& config, Index layer, Index in,
                      Params& params, Steps& steps) {
    const TensorNames& names = config.family->names;
    if (!names.qkv.empty()) {
        Projected qkv;
        steps.take(reader.projected(names.qkv, layer, in, kAny), qkv);
        if (steps.fine())
            if (auto split = split_qkv(qkv, config, params); !split) steps.keep(split.error());
        return;
    }
    const auto take = [&](std::string_view pattern, Index heads, Param weight, Param bias) {
        Projected projected;
        const Index out = config.head_width ? heads * *config.head_width : kAny;
        steps.take(reader.projected(pattern, layer, in, out), projected);
        params[weight] = std::move(projected.weight);
        params[bias] = std::move(projected.bias);
    };
    take(names.q, config.heads, Param::w_q, Param::b_q);
    take(names.k, config.kv_heads, Param::w_k, Param::b_k);
    take(names.v, config.kv_heads, Param::w_v, Param::b_v);
}

/// `in`: width of what comes into the block; returns the width that leaves it.
Index read_block(WeightReader& reader, const ModelConfig& config, Index layer, Index in,
                 BlockWeights& block, Steps& steps) {
    const TensorNames& names = config.family->names;
    const bool after = config.family->norms_after;
    read_projections(reader, config, layer, in, block.attention, steps);
    if (!steps.fine()) return 0;
    Projected out;
    steps.take(reader.projected(
                   names.out, layer,
                   block.attention[Param::w_v].shape().d * (config.heads / config.kv_heads), kAny),
               out);
    if (!steps.fine()) return 0;
    const Index width = out.weight.shape().d;
    block.attention[Param::w_o] = std::move(out.weight);
    block.attention[Param::b_o] = std::move(out.bias);
    steps.take(reader.norm(names.attention_norm, layer, after ? width : in), block.attention_norm);
    const Index head_width = block.attention[Param::w_q].shape().d / config.heads;
    if (!names.q_norm.empty())
        steps.take(reader.norm(names.q_norm, layer, head_width), block.q_norm);
    if (!names.k_norm.empty())
        steps.take(reader.norm(names.k_norm, layer, head_width), block.k_norm);
    if (reader.has(names.residual, layer))
        steps.take(reader.linear(names.residual, layer, in, width), block.residual);
    else if (width != in)
        steps.keep(Error{fmt::format(
            "layer {} makes {} numbers a token of {}; they cannot be added", layer, width, in)});
    steps.take(reader.norm(names.mlp_norm, layer, width), block.mlp_norm);
    steps.take(reader.linear(names.up, layer, width, config.hidden.value_or(kAny)), block.up);
    if (!steps.fine()) return 0;
    const Index hidden = block.up.weight.shape().d;
    if (!names.gate.empty())
        steps.take(reader.linear(names.gate, layer, width, hidden), block.gate);
    steps.take(reader.linear(names.down, layer, hidden, width), block.down);
    return width;
}

void read_ends(WeightReader& reader, const ModelConfig& config, Index width, ModelWeights& weights,
               Steps& steps) {
    const TensorNames& names = config.family->names;
    if (!names.final_norm.empty())
        steps.take(reader.norm(names.final_norm, 0, width), weights.final_norm);
    const ReadOut read_out = config.family->read_out;
    const bool classes = read_out == ReadOut::classes && reader.has(names.read_out, 0);
    if (read_out == ReadOut::sentence || classes)
        steps.take(reader.linear(names.read_out, 0, width, kAny), weights.read_out);
    else if (read_out == ReadOut::next_token && !config.tied && reader.has(names.read_out, 0)) {
        // torch's [out, in], whatever the blocks have.
        steps.take(reader.own_matrix(reader.full_name(names.read_out, 0, ".weight"), kAny, width),
                   weights.read_out.weight);
    }
}

/// Of a model of images: the class token, a vector for each place, and what makes a vector of each patch.
void read_patches(WeightReader& reader, const ModelConfig& config, ModelWeights& weights,
                  Steps& steps) {
    const TensorNames& names = config.family->names;
    const ImageInput& image = *config.image;
    const Index places = image.side() * image.side() + 1;
    steps.take(reader.matrix(reader.full_name(names.class_token, 0, ""), 1, config.width),
               weights.class_token);
    steps.take(reader.own_matrix(reader.full_name(names.positions, 0, ""), places, config.width),
               weights.positions);
    steps.take(reader.convolution(names.patches, config.width, image), weights.patches);
}

}  // namespace

Result<ModelWeights> read_model_weights(const ArrayFile& file, const ModelConfig& config) {
    const TensorNames& names = config.family->names;
    WeightReader reader(file, config);
    Steps steps;
    ModelWeights weights;
    const auto table = [&](std::string_view pattern, Index rows, WeightMatrix& into) {
        steps.take(reader.own_matrix(reader.full_name(pattern, 0, ".weight"), rows, config.width),
                   into);
    };
    if (config.image) read_patches(reader, config, weights, steps);
    if (!names.embedding.empty()) table(names.embedding, config.vocabulary, weights.embedding);
    if (!names.positions.empty() && !config.image)
        table(names.positions, config.most_tokens.value_or(kAny), weights.positions);
    if (!names.kinds.empty()) table(names.kinds, config.kinds.value_or(kAny), weights.kinds);
    if (!names.embedding_norm.empty())
        steps.take(reader.norm(names.embedding_norm, 0, config.width), weights.embedding_norm);
    if (!names.qkv.empty())
        reader.look_at_layout(reader.full_name(names.qkv, 0, ".weight"), config.width);
    Index width = config.width;
    for (Index layer = 0; layer < config.layers && steps.fine(); ++layer)
        width = read_block(reader, config, layer, width, weights.blocks.emplace_back(), steps);
    if (steps.fine()) read_ends(reader, config, width, weights, steps);
    if (auto fine = steps.finish(); !fine) return tl::unexpected(fine.error());
    weights.unused = reader.unused();
    return weights;
}

}  // namespace attn

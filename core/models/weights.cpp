#include "core/models/weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/models/config.h"
#include "core/models/family.h"
#include "core/models/layers.h"
#include "core/models/weight_reader.h"
#include "core/narrow.h"
#include "core/spec_arrays.h"
#include "core/text.h"

namespace attn {
namespace {

/// Runs of `count` rows of a matrix that is stored turned, which are columns of what it stands for.
Tensor rows_of_blocks(const BlockMatrix& from, const Shape& shape, std::span<const Index> firsts,
                      Index count) {
    std::vector<unsigned char> bytes;
    bytes.reserve(static_cast<std::size_t>(shape.d * from.row_bytes()));
    for (const Index first : firsts)
        bytes.insert(bytes.end(), from.row(first), from.row(first + count));
    const auto owner = std::make_shared<const std::vector<unsigned char>>(std::move(bytes));
    return Tensor::stored(shape,
                          std::make_shared<const Narrow>(
                              BlockMatrix{from.code, *owner, shape.d, shape.t, true}, owner));
}

/// Of a [in, out] weight or a [1, out] bias: `count` columns from each of `firsts` on, side by side.
Tensor columns_of(const Tensor& from, std::span<const Index> firsts, Index count) {
    if (from.empty()) return {};
    const Index rows = from.shape().t, columns = from.shape().d;
    const Shape shape{1, 1, rows, std::ssize(firsts) * count};
    const auto taken = [&]<class Scalar>(const Scalar* data) {
        std::vector<Scalar> to;
        to.reserve(shape.count());
        for (Index row = 0; row < rows; ++row)
            for (const Index first : firsts) {
                const Scalar* const begin = data + row * columns + first;
                to.insert(to.end(), begin, begin + count);
            }
        return to;
    };
    const Narrow* const narrow = from.narrow();
    if (narrow != nullptr && narrow->blocks() != nullptr && narrow->blocks()->turned)
        return rows_of_blocks(*narrow->blocks(), shape, firsts, count);
    if (narrow != nullptr && narrow->blocks() == nullptr)
        return Tensor::narrow(shape, taken(narrow->data()), narrow->format());
    return Tensor::shared(shape, taken(from.data()));
}

/// Of each key-value head the queries that read it, its key and its value, `width` columns each, side by side.
void split_heads(const LinearWeights& qkv, const ModelConfig& config, Index width, Params& params) {
    const Index queries = config.heads / config.kv_heads;
    for (const auto& [weight, bias, first, count] :
         {std::tuple{Param::w_q, Param::b_q, Index{0}, queries},
          std::tuple{Param::w_k, Param::b_k, queries, Index{1}},
          std::tuple{Param::w_v, Param::b_v, queries + 1, Index{1}}}) {
        std::vector<Index> firsts;
        for (Index group = 0; group < config.kv_heads; ++group)
            for (Index n = 0; n < count; ++n)
                firsts.push_back((group * (queries + 2) + first + n) * width);
        params[weight] = columns_of(qkv.weight.tensor(), firsts, width);
        params[bias] = columns_of(qkv.bias, firsts, width);
    }
}

/// How the columns of q|k|v fall to heads, where the file has one matrix for all three.
Result<void> split_qkv(const LinearWeights& qkv, const ModelConfig& config, Params& params) {
    const Index out = qkv.weight.shape().d;
    const Index parts = config.heads + 2 * config.kv_heads;
    if (out % parts != 0)
        return bad_input(fmt::format("q|k|v has {}; expected a multiple of {}",
                                     counted(out, "column"), counted(parts, "head")));
    const Index width = out / parts;
    if (config.head_width && width != *config.head_width)
        return bad_input(fmt::format("q|k|v has {}; expected {}, {} of each of {}",
                                     counted(out, "column"), parts * *config.head_width,
                                     *config.head_width, counted(parts, "head")));
    if (config.family->qkv_order == QkvOrder::heads) {
        split_heads(qkv, config, width, params);
        return {};
    }
    Index first = 0;
    for (const auto& [weight, bias, heads] :
         {std::tuple{Param::w_q, Param::b_q, config.heads},
          std::tuple{Param::w_k, Param::b_k, config.kv_heads},
          std::tuple{Param::w_v, Param::b_v, config.kv_heads}}) {
        params[weight] = columns_of(qkv.weight.tensor(), {&first, 1}, heads * width);
        params[bias] = columns_of(qkv.bias, {&first, 1}, heads * width);
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
    bool ok() const { return !fault_; }

  private:
    std::optional<Error> fault_;
};

/// Of matrices of their own; keys and values are made of what has `from` columns.
void read_q_k_v(WeightReader& reader, const ModelConfig& config, Index layer,
                std::initializer_list<std::string_view> names, std::pair<Index, Index> in_from,
                Params& params, Steps& steps) {
    const auto take = [&](std::string_view pattern, Index in, Index heads, Param weight,
                          Param bias) {
        LinearWeights linear;
        const Index parts = weight == Param::w_q && config.family->gated_heads ? 2 : 1;
        const Index out = config.head_width ? parts * heads * *config.head_width : kAny;
        steps.take(reader.linear(pattern, layer, in, out), linear);
        params[weight] = linear.weight.tensor();
        params[bias] = std::move(linear.bias);
    };
    const auto& [in, from] = in_from;
    const std::string_view* const name = names.begin();
    take(name[0], in, config.heads, Param::w_q, Param::b_q);
    take(name[1], from, config.kv_heads, Param::w_k, Param::b_k);
    take(name[2], from, config.kv_heads, Param::w_v, Param::b_v);
}

/// Columns of a matrix and their place in a larger one.
struct ColumnRun {
    Index first, target, count;
};
/// Zeros [rows, columns] with the runs of `from` from row `first` on, and 1 at each of `ones`, {row, column}.
Tensor spread(const Tensor& from, const Shape& shape, Index first, std::span<const ColumnRun> runs,
              std::span<const std::pair<Index, Index>> ones = {}) {
    const auto filled = [&]<class Scalar>(const Scalar* data, Scalar one) {
        std::vector<Scalar> to(static_cast<std::size_t>(shape.count()));
        for (Index row = 0; row < from.shape().t; ++row)
            for (const ColumnRun& run : runs)
                std::copy_n(data + row * from.shape().d + run.first, run.count,
                            to.data() + (first + row) * shape.d + run.target);
        for (const auto& [row, column] : ones) to[row * shape.d + column] = one;
        return to;
    };
    constexpr std::uint16_t kOneOfHalf = 0x3C00, kOneOfBrain = 0x3F80;
    const Narrow* const narrow = from.narrow();
    if (narrow == nullptr || narrow->blocks() != nullptr)
        return Tensor::shared(shape, filled(from.data(), 1.0F));
    return Tensor::narrow(
        shape,
        filled(narrow->data(), narrow->format() == HalfFormat::float16 ? kOneOfHalf : kOneOfBrain),
        narrow->format());
}

/// LatentWeights, and W_Q, W_K and W_V of z. The file has the columns of a head's q and k that turn last, as [still, turned],
/// and the other columns of k next to those of v.
void read_latents(WeightReader& reader, const ModelConfig& config, Index layer, Index in,
                  BlockWeights& block, Steps& steps) {
    const TensorNames& names = config.family->names;
    const auto& [query_rank, rank, turned, still, value] = *config.latent;
    const Index columns = turned + still, q_rows = query_rank.value_or(in);
    LinearWeights q, kv;
    if (query_rank) {
        steps.take(reader.linear(names.q_down, layer, in, q_rows), block.latent.q);
        steps.take(reader.norm(names.q_down_norm, layer, q_rows), block.latent.q_norm);
    }
    steps.take(
        reader.linear(query_rank ? names.q_up : names.q, layer, q_rows, config.heads * columns), q);
    steps.take(reader.linear(names.kv_down, layer, in, rank + turned), block.latent.kv);
    steps.take(reader.norm(names.kv_down_norm, layer, rank), block.latent.kv_norm);
    steps.take(reader.linear(names.kv_up, layer, rank, config.heads * (still + value)), kv);
    if (!steps.ok()) return;
    std::vector<ColumnRun> of_q, of_k, of_v;
    std::vector<std::pair<Index, Index>> ones;
    for (Index head = 0; head < config.heads; ++head) {
        const Index to = head * columns, from = head * (still + value);
        of_q.insert(of_q.end(), {{to + still, to, turned}, {to, to + turned, still}});
        of_k.push_back({from, to + turned, still});
        of_v.push_back({from + still, head * value, value});
        for (Index c = 0; c < turned; ++c) ones.emplace_back(q_rows + rank + c, to + c);
    }
    const Shape heads{1, 1, q_rows + rank + turned, config.heads * columns};
    const Shape values{1, 1, heads.t, config.heads * value};
    const Index stored = q.weight.shape().count() + kv.weight.shape().count();
    constexpr Index kMostFilled = 32;  // times the numbers of the file, whatever it is meant for
    if (heads.t > kMostFilled * (stored / (2 * heads.d + values.d) + 1))
        return steps.keep(Error{fmt::format(
            "layer {} has latents of {} and {} for {}; expected fewer of one, or more of the other",
            layer, counted(q_rows, "number"), rank, counted(config.heads, "head"))});
    block.latent.filled = 2 * heads.count() + values.count() - stored;
    block.attention[Param::w_q] = spread(q.weight.tensor(), heads, 0, of_q);
    block.attention[Param::w_k] = spread(kv.weight.tensor(), heads, q_rows, of_k, ones);
    block.attention[Param::w_v] = spread(kv.weight.tensor(), values, q_rows, of_v);
}

/// Of each head the columns of q, then those of its gate.
void split_gates(const ModelConfig& config, BlockWeights& block) {
    const Index width = *config.head_width;
    LinearWeights both{block.attention[Param::w_q], std::move(block.attention[Param::b_q])};
    const auto part = [&](Index first) {
        std::vector<Index> firsts;
        for (Index h = 0; h < config.heads; ++h) firsts.push_back((2 * h + first) * width);
        return LinearWeights{columns_of(both.weight.tensor(), firsts, width),
                             columns_of(both.bias, firsts, width)};
    };
    LinearWeights q = part(0);
    block.head_gate = part(1);
    block.attention[Param::w_q] = q.weight.tensor();
    block.attention[Param::b_q] = std::move(q.bias);
}

/// Runs of columns of one matrix, from each of `firsts` on.
LinearWeights part_of(const LinearWeights& all, std::span<const Index> firsts, Index count) {
    return {columns_of(all.weight.tensor(), firsts, count), {}};
}

/// q, k, v and z, b, a of a gated delta net: of one matrix each, or side by side for each key head.
void read_delta_parts(WeightReader& reader, const DeltaNet& net, const std::string& at, Index in,
                      BlockWeights& block, Steps& steps) {
    const Index keys = net.key_heads * net.key_width, values = net.value_heads * net.value_width;
    const auto take = [&](const char* name, Index out) {
        LinearWeights made;
        if (steps.ok()) steps.take(reader.linear(at + name, 0, in, out), made);
        return made;
    };
    LinearWeights q, k, v;
    if (reader.has(at + ".in_proj_qkvz", 0)) {
        const LinearWeights all = take(".in_proj_qkvz", 2 * keys + 2 * values);
        const LinearWeights rates = take(".in_proj_ba", 2 * net.value_heads);
        if (!steps.ok()) return;
        const Index own = net.value_heads / net.key_heads;
        const auto of_each = [&](const LinearWeights& from, Index group, Index first, Index count) {
            std::vector<Index> firsts;
            for (Index g = 0; g < net.key_heads; ++g) firsts.push_back(g * group + first);
            return part_of(from, firsts, count);
        };
        const Index width = own * net.value_width, group = 2 * net.key_width + 2 * width;
        q = of_each(all, group, 0, net.key_width);
        k = of_each(all, group, net.key_width, net.key_width);
        v = of_each(all, group, 2 * net.key_width, width);
        block.delta.z = of_each(all, group, 2 * net.key_width + width, width);
        block.delta.b = of_each(rates, 2 * own, 0, own);
        block.delta.a = of_each(rates, 2 * own, own, own);
    } else {
        const LinearWeights all = take(".in_proj_qkv", 2 * keys + values);
        block.delta.z = take(".in_proj_z", values);
        block.delta.b = take(".in_proj_b", net.value_heads);
        block.delta.a = take(".in_proj_a", net.value_heads);
        if (!steps.ok()) return;
        const std::array<Index, 3> firsts{0, keys, 2 * keys};
        q = part_of(all, std::span(firsts).subspan(0, 1), keys);
        k = part_of(all, std::span(firsts).subspan(1, 1), keys);
        v = part_of(all, std::span(firsts).subspan(2, 1), values);
    }
    block.attention[Param::w_q] = q.weight.tensor();
    block.attention[Param::w_k] = k.weight.tensor();
    block.attention[Param::w_v] = v.weight.tensor();
}

/// "layers.3.linear_attn" of "layers.{}.linear_attn".
std::string delta_name(const ModelConfig& config, Index layer) {
    return fmt::format(fmt::runtime(config.family->names.delta_net), config.stored_layer(layer));
}

void read_delta_net(WeightReader& reader, const ModelConfig& config, Index layer, Index in,
                    BlockWeights& block, Steps& steps) {
    const DeltaNet& net = *config.delta;
    const std::string at = delta_name(config, layer);
    read_delta_parts(reader, net, at, in, block, steps);
    const Index columns = 2 * net.key_heads * net.key_width + net.value_heads * net.value_width;
    LinearWeights convolution;
    steps.take(reader.convolution(at + ".conv1d", columns, {1, net.kernel}), convolution);
    if (!steps.ok()) return;
    DeltaWeights& delta = block.delta;
    delta.convolution = convolution.weight.tensor();
    const auto row = [&](const char* name, Index count, Tensor& into) {
        steps.take(reader.matrix(reader.full_name(at + name, 0, ""), 1, count), into);
    };
    row(".A_log", net.value_heads, delta.a_log);
    row(".dt_bias", net.value_heads, delta.dt_bias);
    row(".norm.weight", net.value_width, delta.norm.scale);
}

void read_projections(WeightReader& reader, const ModelConfig& config, Index layer, Index in,
                      BlockWeights& block, Steps& steps) {
    const TensorNames& names = config.family->names;
    Params& params = block.attention;
    if (config.latent) return read_latents(reader, config, layer, in, block, steps);
    if (config.is_delta(layer)) return read_delta_net(reader, config, layer, in, block, steps);
    if (!names.qkv.empty()) {
        LinearWeights qkv;
        steps.take(reader.linear(names.qkv, layer, in, kAny), qkv);
        if (steps.ok())
            if (auto split = split_qkv(qkv, config, params); !split) steps.keep(split.error());
        return;
    }
    read_q_k_v(reader, config, layer, {names.q, names.k, names.v}, {in, in}, params, steps);
    if (steps.ok() && config.family->gated_heads) split_gates(config, block);
}

/// Attention over the other stack, which is as wide.
void read_cross(WeightReader& reader, const ModelConfig& config, Index layer, Index width,
                BlockWeights& block, Steps& steps) {
    const TensorNames& names = config.family->names;
    if (names.cross_q.empty()) return;
    read_q_k_v(reader, config, layer, {names.cross_q, names.cross_k, names.cross_v},
               {width, config.width}, block.cross, steps);
    if (!steps.ok()) return;
    LinearWeights out;
    steps.take(
        reader.linear(names.cross_out, layer,
                      block.cross[Param::w_v].shape().d * (config.heads / config.kv_heads), width),
        out);
    block.cross[Param::w_o] = out.weight.tensor();
    block.cross[Param::b_o] = std::move(out.bias);
    steps.take(reader.norm(names.cross_norm, layer, width), block.cross_norm);
}

/// "layers.{}.mlp.experts.3.up_proj" of "experts.3"; "layers.{}.mlp.up_proj" of "".
std::string of_expert(std::string_view pattern, std::string_view expert) {
    constexpr std::string_view kEach = "experts.[]";
    std::string name(pattern);
    const auto gap = name.find(kEach);
    if (gap == std::string::npos) return name;
    return expert.empty() ? name.erase(gap, kEach.size() + 1)
                          : name.replace(gap, kEach.size(), expert);
}

/// Gate and up in one matrix are as wide.
void check_halves(Index columns, Index layer, Steps& steps) {
    if (columns % 2 != 0)
        steps.keep(Error{
            fmt::format("layer {} has one matrix of {} for gate and up; expected an even number",
                        layer, counted(columns, "column"))});
}

/// gate, up and down of one of several MLPs of a layer, which their names have; or of the only one, "".
struct MlpPlace {
    std::string expert = {};
    std::optional<Index> hidden;
};
void read_mlp(WeightReader& reader, const ModelConfig& config, Index layer, const MlpPlace& at,
              Index width, MlpWeights& mlp, Steps& steps) {
    const TensorNames& names = config.family->names;
    const bool fused = config.family->gated != Gated::apart;
    Index hidden = at.hidden.value_or(kAny);
    const auto take = [&](std::string_view pattern, Index in, Index out, LinearWeights& into) {
        if (!pattern.empty() && steps.ok())
            steps.take(reader.linear(of_expert(pattern, at.expert), layer, in, out, pattern), into);
    };
    take(config.plain_mlp ? names.plain_up : names.up, width,
         fused && hidden != kAny ? 2 * hidden : hidden, mlp.up);
    if (!steps.ok()) return;
    const Index columns = mlp.up.weight.shape().d;
    if (fused) check_halves(columns, layer, steps);
    if (!steps.ok()) return;
    hidden = fused ? columns / 2 : columns;
    if (!config.plain_mlp) take(names.gate, width, hidden, mlp.gate);
    take(names.down, hidden, width, mlp.down);
}

/// The router, and the MLP of each expert.
void read_experts(WeightReader& reader, const ModelConfig& config, Index layer, Index width,
                  BlockWeights& block, Steps& steps) {
    const TensorNames& names = config.family->names;
    steps.take(reader.linear(names.router, layer, width, config.experts), block.router);
    if (!names.router_bias.empty())
        steps.take(reader.matrix(reader.full_name(names.router_bias, layer, ""), 1, config.experts),
                   block.router_bias);
    if (!steps.ok()) return;
    const std::optional<Index> inside = config.expert_hidden ? config.expert_hidden : config.hidden;
    block.experts.resize(config.experts);
    if (!names.shared_expert.empty())
        read_mlp(reader, config, layer, {std::string(names.shared_expert), config.shared_hidden},
                 width, block.shared, steps);
    if (!names.shared_gate.empty())
        steps.take(reader.linear(names.shared_gate, layer, width, 1), block.shared_gate);
    if (names.up.find("[]") != std::string_view::npos) {
        for (std::size_t n = 0; n < block.experts.size() && steps.ok(); ++n)
            read_mlp(reader, config, layer, {fmt::format("experts.{}", n), inside}, width,
                     block.experts[n], steps);
        return;
    }
    std::vector<LinearWeights> up, down;
    const Index hidden = inside.value_or(kAny);
    const Index both = hidden == kAny ? kAny : 2 * hidden;
    steps.take(reader.stacked(reader.full_name(names.up, layer, ""), config.experts, width, both),
               up);
    if (steps.ok()) check_halves(up.front().weight.shape().d, layer, steps);
    if (!steps.ok()) return;
    steps.take(reader.stacked(reader.full_name(names.down, layer, ""), config.experts,
                              up.front().weight.shape().d / 2, width),
               down);
    for (std::size_t n = 0; n < block.experts.size() && steps.ok(); ++n)
        block.experts[n] = {{}, std::move(up[n]), std::move(down[n])};
}

/// Norms and factors of a block, those that its family has; `in` and `width`: of what comes into it and what leaves it.
void read_norms(WeightReader& reader, const ModelConfig& config, Index layer, Index in, Index width,
                BlockWeights& block, Steps& steps) {
    const TensorNames& names = config.family->names;
    const Index head_width = block.attention[Param::w_q].shape().d / config.heads;
    const auto norm = [&](std::string_view pattern, Index columns, NormWeights& into) {
        if (!pattern.empty()) steps.take(reader.norm(pattern, layer, columns), into);
    };
    const auto row = [&](std::string_view pattern, Index columns, Tensor& into) {
        if (!pattern.empty())
            steps.take(reader.matrix(reader.full_name(pattern, layer, ""), 1, columns), into);
    };
    const bool joined = config.family->joined_norms;
    const bool two = config.two_norms;
    if (layer > 0 || config.family->first_norm)
        norm(two ? names.parallel_attention_norm : names.attention_norm,
             config.family->norms_after ? width : in, block.attention_norm);
    if (config.head_norms.value_or(true) && !config.is_delta(layer)) {
        norm(names.q_norm, joined ? config.heads * head_width : head_width, block.q_norm);
        norm(names.k_norm, joined ? config.kv_heads * head_width : head_width, block.k_norm);
    }
    norm(names.attention_out_norm, width, block.attention_out_norm);
    if (config.one_norm)
        block.mlp_norm = block.attention_norm;
    else
        norm(two ? names.parallel_mlp_norm : names.mlp_norm, width, block.mlp_norm);
    norm(names.mlp_out_norm, width, block.mlp_out_norm);
    row(names.attention_scale, width, block.attention_scale);
    row(names.mlp_scale, width, block.mlp_scale);
    row(names.sinks, config.heads, block.attention[Param::sinks]);
}

/// `in`: width of what comes into the block; returns the width that leaves it.
Index read_block(WeightReader& reader, const ModelConfig& config, Index layer, Index in,
                 BlockWeights& block, Steps& steps) {
    const TensorNames& names = config.family->names;
    read_projections(reader, config, layer, in, block, steps);
    if (!steps.ok()) return 0;
    LinearWeights out;
    const bool delta = config.is_delta(layer);
    const Index shared = delta ? 1 : config.heads / config.kv_heads;
    steps.take(
        reader.linear(delta ? delta_name(config, layer) + ".out_proj" : std::string(names.out),
                      layer, block.attention[Param::w_v].shape().d * shared, kAny),
        out);
    if (!steps.ok()) return 0;
    const Index width = out.weight.shape().d;
    block.attention[Param::w_o] = out.weight.tensor();
    block.attention[Param::b_o] = std::move(out.bias);
    if (reader.has(names.residual, layer))
        steps.take(reader.linear(names.residual, layer, in, width), block.residual);
    else if (width != in)
        steps.keep(Error{fmt::format("layer {} makes {} a token of {}; they cannot be added", layer,
                                     counted(width, "number"), in)});
    read_norms(reader, config, layer, in, width, block, steps);
    read_cross(reader, config, layer, width, block, steps);
    if (!steps.ok()) return 0;
    if (names.router.empty() || !config.has_experts(layer))
        read_mlp(reader, config, layer, {"", config.hidden}, width, block.mlp, steps);
    else
        read_experts(reader, config, layer, width, block, steps);
    return width;
}

bool is_equal(const WeightMatrix& a, const WeightMatrix& b) {
    if (a.shape() != b.shape()) return false;
    std::vector<float> x(a.shape().d), y(a.shape().d);
    for (Index row = 0; row < a.shape().t; ++row) {
        a.copy_row(row, x);
        b.copy_row(row, y);
        if (x != y) return false;
    }
    return true;
}

/// Of a read-out that the configuration ties to the embedding: a copy of it is let go, another one counts. As
/// PreTrainedModel.tie_weights() of transformers 5 has it; version 4 used the embedding whatever the file has.
void untie(ModelWeights& weights) {
    if (is_equal(weights.read_out.weight, weights.embedding)) weights.read_out.weight = {};
}

/// torch's MultiheadAttention, whose q|k|v is one matrix [3 width, width], and an MLP.
void read_pool(WeightReader& reader, const ModelConfig& config, Index width, PoolWeights& pool,
               Steps& steps) {
    const std::string name(config.family->names.pool);
    if (name.empty()) return;
    const auto full = [&](const char* part) { return reader.full_name(name + part, 0, ""); };
    const auto linear = [&](const char* part, Index in, Index out, LinearWeights& into) {
        if (steps.ok()) steps.take(reader.linear(name + part, 0, in, out), into);
    };
    steps.take(reader.matrix(full(".probe"), 1, width), pool.probe);
    Tensor stored;
    steps.take(reader.matrix(full(".attention.in_proj_weight"), 3 * width, width), stored);
    LinearWeights qkv, out;
    steps.take(reader.matrix(full(".attention.in_proj_bias"), 1, 3 * width), qkv.bias);
    linear(".attention.out_proj", width, width, out);
    steps.take(reader.norm(name + ".layernorm", 0, width), pool.norm);
    linear(".mlp.fc1", width, config.hidden.value_or(kAny), pool.mlp.up);
    if (steps.ok()) linear(".mlp.fc2", pool.mlp.up.weight.shape().d, width, pool.mlp.down);
    if (!steps.ok()) return;
    qkv.weight =
        Tensor::shared({1, 1, width, 3 * width}, turned_numbers(stored.values(), 3 * width));
    if (auto split = split_qkv(qkv, config, pool.attention); !split) steps.keep(split.error());
    pool.attention[Param::w_o] = out.weight.tensor();
    pool.attention[Param::b_o] = std::move(out.bias);
}

void read_ends(WeightReader& reader, const ModelConfig& config, Index width, ModelWeights& weights,
               Steps& steps) {
    const TensorNames& names = config.family->names;
    if (!names.final_norm.empty())
        steps.take(reader.norm(names.final_norm, 0, width), weights.final_norm);
    const ReadOut read_out = config.family->read_out;
    const bool classes = (read_out == ReadOut::classes || read_out == ReadOut::token_classes) &&
                         reader.has(names.read_out, 0);
    const bool projected = read_out == ReadOut::projected && names.pool.empty();
    read_pool(reader, config, width, weights.pool, steps);
    if (read_out == ReadOut::sentence || classes || projected)
        steps.take(reader.linear(names.read_out, 0, width, projected ? config.projection : kAny),
                   weights.read_out);
    else if (read_out == ReadOut::next_token && reader.has(names.read_out, 0)) {
        // torch's [out, in], whatever the blocks have.
        steps.take(reader.own_matrix(reader.full_name(names.read_out, 0, ".weight"), kAny, width),
                   weights.read_out.weight);
        if (config.tied && steps.ok()) untie(weights);
    }
    if (const std::string name = reader.full_name(names.logits_bias, 0, "");
        !names.logits_bias.empty() && reader.contains(name))
        steps.take(reader.matrix(name, 1, config.vocabulary), weights.read_out.bias);
    if (config.family->read_out_bias)
        steps.take(
            reader.matrix(reader.full_name(names.read_out, 0, ".bias"), 1, config.vocabulary),
            weights.read_out.bias);
}

/// Positions begin after that of padding.
void check_padding(const ArrayFile& file, const ModelConfig& config, const WeightMatrix& positions,
                   Steps& steps) {
    if (config.padding_id + 1 < positions.shape().t) return;
    steps.keep(Error{
        fmt::format("{} has {}, but positions of tokens begin at {}, after "
                    "'pad_token_id'; expected more positions",
                    file.what(), counted(positions.shape().t, "position"), config.padding_id + 1)});
}

/// Of a model of images: the class token, a vector for each place, and what makes a vector of each patch.
void read_patches(WeightReader& reader, const ModelConfig& config, ModelWeights& weights,
                  Steps& steps) {
    const TensorNames& names = config.family->names;
    const ImageInput& image = *config.image;
    const Index places = image.side() * image.side() + image.leading - image.registers;
    if (!names.class_token.empty())
        steps.take(reader.matrix(reader.full_name(names.class_token, 0, ""), 1, config.width),
                   weights.class_token);
    if (!names.distillation_token.empty())
        steps.take(
            reader.matrix(reader.full_name(names.distillation_token, 0, ""), 1, config.width),
            weights.distillation_token);
    if (image.registers > 0)
        steps.take(reader.matrix(reader.full_name(names.register_tokens, 0, ""), image.registers,
                                 config.width),
                   weights.register_tokens);
    steps.take(reader.own_matrix(reader.full_name(names.positions, 0, ""), places, config.width),
               weights.positions);
    steps.take(
        reader.convolution(names.patches, config.width, {image.channels, image.patch, image.patch}),
        weights.patches);
    if (!config.image_prompt) return;
    const std::string name(names.projector);
    const Index columns = config.width * std::ssize(config.image_prompt->layers);
    steps.take(reader.linear(name + ".linear_1", 0, columns, kAny), weights.project_in);
    if (!steps.ok()) return;
    steps.take(reader.linear(name + ".linear_2", 0, weights.project_in.weight.shape().d, kAny),
               weights.project_out);
}

/// What stands before the blocks. `embedding`: of the other stack; null: it is read.
void read_entry(WeightReader& reader, const ArrayFile& file, const ModelConfig& config,
                ModelWeights& weights, Steps& steps, const WeightMatrix* embedding = nullptr) {
    const TensorNames& names = config.family->names;
    const Index columns = config.embedded_width.value_or(config.width);
    const auto table = [&](std::string_view pattern, Index rows, WeightMatrix& into) {
        steps.take(reader.own_matrix(reader.full_name(pattern, 0, ".weight"), rows, columns), into);
    };
    if (config.image) read_patches(reader, config, weights, steps);
    if (config.sound) {
        steps.take(reader.convolution(names.sound_in, config.width, {config.sound->mels, 3}),
                   weights.sound_in);
        steps.take(reader.convolution(names.sound_half, config.width, {config.width, 3}),
                   weights.sound_half);
    }
    if (embedding != nullptr)
        weights.embedding = *embedding;
    else if (!names.embedding.empty())
        table(names.embedding, config.vocabulary, weights.embedding);
    if (!names.distances.empty())
        steps.take(reader.matrix(reader.full_name(names.distances, 0, ".weight"), config.buckets,
                                 config.heads),
                   weights.distances);
    if (!weights.distances.empty() && !config.score_factor)  // they are added before the scale
        for (float& value : weights.distances.values())
            value *= std::sqrt(static_cast<float>(config.columns_of_head()));
    if (config.family->positions == Positions::sines && !reader.has(names.positions, 0)) {
        constexpr Index kMost = 1 << 16;  // whatever a file says
        if (!steps.ok()) return;          // the width is that of the embedding
        Tensor waves({1, 1, std::min(config.most_tokens.value_or(1024), kMost), config.width});
        add_sines(waves);
        weights.positions = WeightMatrix(std::move(waves));
    } else if (!names.positions.empty() && !config.image)
        table(names.positions,
              config.most_tokens ? *config.most_tokens + config.family->first_position : kAny,
              weights.positions);
    if (steps.ok() && config.family->after_padding)
        check_padding(file, config, weights.positions, steps);
    if (!names.logit_scale.empty())
        steps.take(reader.matrix(reader.full_name(names.logit_scale, 0, ""), 1, 1),
                   weights.logit_scale);
    if (!names.logit_bias.empty())
        steps.take(reader.matrix(reader.full_name(names.logit_bias, 0, ""), 1, 1),
                   weights.logit_bias);
    if (!names.kinds.empty()) table(names.kinds, config.kinds.value_or(kAny), weights.kinds);
    if (!names.embedding_norm.empty())
        steps.take(reader.norm(names.embedding_norm, 0, columns), weights.embedding_norm);
    if (config.embedded_width)
        steps.take(reader.linear(names.embedding_map, 0, columns, config.width),
                   weights.embedding_map);
}

void look_at_layout(WeightReader& reader, const ModelConfig& config) {
    if (const auto& qkv = config.family->names.qkv; !qkv.empty())
        reader.look_at_layout(reader.full_name(qkv, 0, ".weight"), config.width);
}

}  // namespace

Result<ModelWeights> read_model_weights(const ArrayFile& file, const ModelConfig& config,
                                        const WeightMatrix* embedding) {
    WeightReader reader(file, config);
    Steps steps;
    ModelWeights weights;
    read_entry(reader, file, config, weights, steps, embedding);
    look_at_layout(reader, config);
    Index width = config.width;
    for (Index layer = 0; layer < config.layers && steps.ok(); ++layer)
        width = read_block(reader, config, layer, width, weights.blocks.emplace_back(), steps);
    if (steps.ok()) read_ends(reader, config, width, weights, steps);
    if (auto valid = steps.finish(); !valid) return tl::unexpected(valid.error());
    weights.unused = reader.unused();
    return weights;
}

Result<ModelWeights> read_model_ends(const ArrayFile& file, const ModelConfig& config,
                                     const WeightMatrix* embedding) {
    WeightReader reader(file, config);
    Steps steps;
    ModelWeights weights;
    read_entry(reader, file, config, weights, steps, embedding);
    if (steps.ok()) read_ends(reader, config, config.width, weights, steps);
    if (auto valid = steps.finish(); !valid) return tl::unexpected(valid.error());
    return weights;
}

Result<BlockWeights> read_block_weights(const ArrayFile& file, const ModelConfig& config,
                                        Index layer, Index in) {
    WeightReader reader(file, config);
    Steps steps;
    BlockWeights block;
    look_at_layout(reader, config);
    read_block(reader, config, layer, in, block, steps);
    if (auto valid = steps.finish(); !valid) return tl::unexpected(valid.error());
    return block;
}

}  // namespace attn

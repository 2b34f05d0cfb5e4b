// B batch, H query heads, Hkv key heads; r rows and c keys of a block; m the row's largest logit, s = Σ 2^(B − m), O = Σ 2^(B − m) V.
// Rank 0 has the call. Rows are dealt out in blocks, keys pass all ranks in blocks, and what each block of keys gives a block of
// rows is added up in double in the order of the keys: the same numbers on any number of ranks. The backward pass goes over the
// pairs twice, with keys on their way for d_Q and with rows on their way for d_K and d_V, so that no sum crosses ranks.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numbers>
#include <optional>

#include <fmt/format.h>

#include "app/cli/trace_parts.h"
#include "app/common/or_throw.h"
#include "app/files/outputs.h"
#include "app/files/standard.h"
#include "cluster/blocks.h"
#include "cluster/deal.h"
#include "cluster/parts.h"
#include "cluster/world.h"
#include "core/cast.h"
#include "core/kernels/fused.h"
#include "core/kernels/pair_mask.h"
#include "core/models/weights.h"
#include "core/scores/pair_rule.h"
#include "core/spec_arrays.h"
#include "core/stopwatch.h"

namespace attn::cluster {
namespace {

namespace fs = std::filesystem;

enum class Work : int { end, attend, differentiate };

/// Sums of one block of rows while keys pass: [B,H,r] each, O [B,H,r,d_v].
struct RowSums {
    std::vector<double> max, sum;
    TensorD context;
};

/// With `pad` rows of zeros before those of every head.
Tensor padded(const Tensor& tensor, Index pad) {
    if (pad == 0) return tensor;
    const Shape shape = tensor.shape();
    Tensor out({shape.b, shape.h, pad + shape.t, shape.d});
    for (Index b = 0; b < shape.b; ++b)
        for (Index h = 0; h < shape.h; ++h)
            std::copy_n(tensor.matrix(b, h).data, shape.t * shape.d,
                        out.matrix(b, h).row(pad).data());
    return out;
}

Inputs inputs_of(const Tensor& q, const std::vector<Tensor>& kv, Index pad) {
    Inputs inputs;
    inputs.q = q;
    inputs.k = padded(kv[0], pad);
    inputs.v = padded(kv[1], pad);
    return inputs;
}

/// One call, on every rank.
class SharedCall {
  public:
    SharedCall(const files::FileCall& file, fs::path parts)
        : spec_(file.spec),
          size_(file.size),
          sinks_(file.inputs.params[Param::sinks]),
          parts_(std::move(parts)),
          rows_{size_.tq, kBlockRows},
          keys_{size_.tk, kBlockKeys} {}

    /// Tensors are rank 0's, null elsewhere.
    ForwardResult attend(const HeadTensors* in) {
        const Blocks rows{{in ? &in->q : nullptr}, {q_shape()}, rows_};
        auto all = made("forward", in ? operands_of(*in) : Tensors(), rows_,
                        {o_shape(), row_shape(), row_shape(), row_shape()},
                        [&](const std::vector<Index>& blocks) {
                            return attend_rows(rows.deal(blocks), key_blocks(in));
                        });
        return {std::move(all[0]), std::move(all[1]), std::move(all[2]), std::move(all[3])};
    }

    /// Those of the pairs; finish_gradients() is the caller's.
    HeadGradients differentiate(const BackwardInputs* in) {
        const Blocks rows = row_blocks(in);
        const Blocks keys = key_blocks(in ? &in->heads : nullptr);
        Tensors of;
        if (in) (of = operands_of(in->heads)).push_back(&in->d_context);
        auto of_rows = made("d_q", of, rows_, {q_shape()}, [&](const std::vector<Index>& blocks) {
            return over_keys(rows.deal(blocks), keys);
        });
        auto of_keys = made(
            "d_kv", of, keys_, {k_shape(), v_shape()},
            [&](const std::vector<Index>& blocks) { return over_rows(keys.deal(blocks), rows); });
        return {std::move(of_rows[0]), std::move(of_keys[0]), std::move(of_keys[1]), {}, {}};
    }

    /// So many blocks a run before has left.
    Index found() const { return found_; }

  private:
    using Tensors = std::vector<const Tensor*>;

    Shape q_shape() const { return {size_.batch, size_.heads, size_.tq, size_.d_k}; }
    Shape k_shape() const { return {size_.batch, size_.kv_heads, size_.tk, size_.d_k}; }
    Shape v_shape() const { return {size_.batch, size_.kv_heads, size_.tk, size_.d_v}; }
    Shape o_shape() const { return {size_.batch, size_.heads, size_.tq, size_.d_v}; }
    Shape row_shape() const { return {size_.batch, size_.heads, size_.tq, 1}; }

    Blocks key_blocks(const HeadTensors* in) const {
        return {in ? std::vector{&in->k, &in->v} : std::vector<const Tensor*>{},
                {k_shape(), v_shape()},
                keys_};
    }
    /// q, d_context, context, logsumexp, row_max, row_log2_sum.
    Blocks row_blocks(const BackwardInputs* in) const {
        std::vector<const Tensor*> tensors;
        if (in)
            tensors = {&in->heads.q,           &in->d_context,       &in->forward[Stage::context],
                       &in->forward.logsumexp, &in->forward.row_max, &in->forward.row_log2_sum};
        return {tensors,
                {q_shape(), o_shape(), o_shape(), row_shape(), row_shape(), row_shape()},
                rows_};
    }

    Tensors operands_of(const HeadTensors& in) const { return {&in.q, &in.k, &in.v, &sinks_}; }

    /// Tensors of a pass, blocks that a run before has left among them. `of`: what they are made of, on rank 0.
    std::vector<Tensor> made(std::string_view pass, const Tensors& of, const Pieces& pieces,
                             const std::vector<Shape>& shapes, const ComputeBlocks& compute) {
        SavedBlocks saved = of.empty() ? SavedBlocks() : SavedBlocks(parts_, pass, spec_, of);
        auto all = assemble(pieces, shapes, saved, compute);
        found_ += saved.count();
        return all;
    }

    // ---- forward

    Dealt attend_rows(const Dealt& dealt, const Blocks& keys) const {
        std::vector<RowSums> sums;
        for (const auto& [n, tensors] : dealt) sums.push_back(start(tensors[0].shape().t));
        keys.pass([&](KeyRange range, const std::vector<Tensor>& kv, Ring& ring) {
            for (std::size_t n = 0; n < dealt.size(); ++n) {
                add(rows_.at(dealt[n].first), dealt[n].second[0], range, kv, sums[n]);
                ring.pass_on();
            }
        });
        Dealt made;
        for (std::size_t n = 0; n < dealt.size(); ++n)
            made.emplace_back(dealt[n].first, finish(rows_.at(dealt[n].first), sums[n]));
        return made;
    }

    RowSums start(Index rows) const {
        const auto count = static_cast<std::size_t>(size_.batch * size_.heads * rows);
        RowSums sums{std::vector<double>(count, -std::numeric_limits<double>::infinity()),
                     std::vector<double>(count, 0.0),
                     TensorD({size_.batch, size_.heads, rows, size_.d_v})};
        for (std::size_t n = 0; n < count && !sinks_.empty(); ++n) {
            const Index h = static_cast<Index>(n) / rows % size_.heads;
            const auto sink = static_cast<double>(sinks_(0, 0, 0, h));
            if (sink == -std::numeric_limits<double>::infinity()) continue;
            sums.max[n] = sink * std::numbers::log2e;
            sums.sum[n] = 1.0;
        }
        return sums;
    }

    void add(KeyRange rows, const Tensor& q, KeyRange keys, const std::vector<Tensor>& kv,
             RowSums& sums) const {
        const auto block = block_of(spec_, size_, rows, keys);
        if (!block) return;
        const Inputs inputs = inputs_of(q, kv, block->pad);
        const Call call = or_throw(validate(inputs, block->spec));
        const auto part = attend_fused(call, {inputs.q, inputs.k, inputs.v}, {});
        for (std::size_t n = 0; n < sums.max.size(); ++n) {
            const auto log2_sum = static_cast<double>(part->row_log2_sum.values()[n]);
            if (log2_sum == -std::numeric_limits<double>::infinity()) continue;
            const double max =
                static_cast<double>(part->row_max.values()[n]) - far(call, block->nearer, n);
            const auto width = static_cast<std::size_t>(size_.d_v);
            const std::span<double> to = sums.context.values().subspan(n * width, width);
            const auto context = std::as_const(part->context).values().subspan(n * width, width);
            if (!(max <= sums.max[n])) {
                const double less = std::exp2(sums.max[n] - max);
                for (double& value : to) value *= less;
                sums.sum[n] *= less;
                sums.max[n] = max;
            }
            const double weight = std::exp2(max - sums.max[n] + log2_sum);
            sums.sum[n] += weight;
            for (std::size_t c = 0; c < width; ++c)
                to[c] += weight * static_cast<double>(context[c]);
        }
    }

    /// Of row n of [B,H,r]: as ALiBi's logits of a block are larger by it, in units of log2.
    double far(const Call& call, Index nearer, std::size_t n) const {
        const Dimensions& part = call.size();
        const auto i = static_cast<Index>(n) % part.tq;
        const double slope =
            pair_rule(spec_, size_, static_cast<Index>(n) / part.tq % size_.heads).slope;
        return slope * std::numbers::log2e *
               static_cast<double>(nearer + near_position(i + part.query_offset, part).distance);
    }

    /// context, logsumexp, row_max, row_log2_sum.
    std::vector<Tensor> finish(KeyRange rows, const RowSums& sums) const {
        const Index count = rows.end - rows.begin;
        std::vector<Tensor> made{Tensor({size_.batch, size_.heads, count, size_.d_v})};
        made.resize(4, Tensor({size_.batch, size_.heads, count, 1}));
        for (Index b = 0; b < size_.batch; ++b)
            for (Index h = 0; h < size_.heads; ++h) {
                const PairMask mask(spec_, size_, b, h, false);
                for (Index i = 0; i < count; ++i) {
                    const auto n = static_cast<std::size_t>((b * size_.heads + h) * count + i);
                    const double log2_sum = std::log2(sums.sum[n]);
                    const double max = sums.max[n];
                    made[1].values()[n] = static_cast<float>((max + log2_sum) * std::numbers::ln2);
                    made[2].values()[n] = std::isinf(max) && max < 0.0
                                              ? std::numeric_limits<float>::lowest()
                                              : static_cast<float>(max);
                    made[3].values()[n] = static_cast<float>(log2_sum);
                    const bool zero = spec_.empty_rows == EmptyRows::zero &&
                                      mask.allowed_keys(rows.begin + i) == 0;
                    for (Index c = 0; c < size_.d_v; ++c) {
                        const double value = sums.context(b, h, i, c) / sums.sum[n];
                        made[0](b, h, i, c) =
                            sums.sum[n] == 0.0 && zero ? 0.0F : static_cast<float>(value);
                    }
                }
            }
        return made;
    }

    // ---- backward

    /// The gradients of one block, added to what is there.
    void add_gradients(KeyRange rows, const std::vector<Tensor>& row_tensors, KeyRange keys,
                       const std::vector<Tensor>& kv, TensorD* d_q, TensorD* d_k,
                       TensorD* d_v) const {
        const auto block = block_of(spec_, size_, rows, keys);
        if (!block) return;
        const Inputs inputs = inputs_of(row_tensors[0], kv, block->pad);
        const Call call = or_throw(validate(inputs, block->spec));
        Trace forward;
        forward[Stage::context] = row_tensors[2];
        forward.logsumexp = row_tensors[3];
        forward.row_max = row_tensors[4];
        forward.row_log2_sum = row_tensors[5];
        for (std::size_t n = 0; n < forward.row_max.values().size() && spec_.alibi; ++n) {
            float& max = forward.row_max.values()[n];
            max = static_cast<float>(static_cast<double>(max) + far(call, block->nearer, n));
        }
        const HeadTensors heads{inputs.q, inputs.k, inputs.v};
        const auto part = differentiate_fused({call, heads, forward, row_tensors[1]}, {});
        add_to(d_q, part->d_q, 0);
        add_to(d_k, part->d_k, block->pad);
        add_to(d_v, part->d_v, block->pad);
    }

    /// Rows from `first` on of every head.
    static void add_to(TensorD* sum, const Tensor& more, Index first) {
        if (sum == nullptr) return;
        const Shape shape = sum->shape();
        for (Index b = 0; b < shape.b; ++b)
            for (Index h = 0; h < shape.h; ++h) {
                const float* from = more.matrix(b, h).row(first).data();
                double* to = sum->matrix(b, h).data;
                for (Index n = 0; n < shape.t * shape.d; ++n) to[n] += static_cast<double>(from[n]);
            }
    }

    Dealt over_keys(const Dealt& dealt, const Blocks& keys) const {
        std::vector<TensorD> sums;
        for (const auto& [n, tensors] : dealt) sums.emplace_back(tensors[0].shape());
        keys.pass([&](KeyRange range, const std::vector<Tensor>& kv, Ring& ring) {
            for (std::size_t n = 0; n < dealt.size(); ++n) {
                add_gradients(rows_.at(dealt[n].first), dealt[n].second, range, kv, &sums[n],
                              nullptr, nullptr);
                ring.pass_on();
            }
        });
        Dealt made;
        for (std::size_t n = 0; n < dealt.size(); ++n)
            made.emplace_back(dealt[n].first, std::vector<Tensor>{cast<float>(sums[n])});
        return made;
    }

    Dealt over_rows(const Dealt& dealt, const Blocks& rows) const {
        std::vector<std::pair<TensorD, TensorD>> sums;
        for (const auto& [n, kv] : dealt) sums.emplace_back(kv[0].shape(), kv[1].shape());
        rows.pass([&](KeyRange range, const std::vector<Tensor>& row_tensors, Ring& ring) {
            for (std::size_t n = 0; n < dealt.size(); ++n) {
                add_gradients(range, row_tensors, keys_.at(dealt[n].first), dealt[n].second,
                              nullptr, &sums[n].first, &sums[n].second);
                ring.pass_on();
            }
        });
        Dealt made;
        for (std::size_t n = 0; n < dealt.size(); ++n)
            made.emplace_back(dealt[n].first, std::vector<Tensor>{cast<float>(sums[n].first),
                                                                  cast<float>(sums[n].second)});
        return made;
    }

    AttentionSpec spec_;
    Dimensions size_;
    Tensor sinks_;
    fs::path parts_;  // where rank 0 keeps blocks; "": nowhere
    Pieces rows_;
    Pieces keys_;
    Index found_ = 0;
};

/// Rank 0's.
Work broadcast(Work work) {
    share(&work, sizeof work);
    return work;
}

/// What ranks above 0 do while rank 0 goes through the call.
void serve(SharedCall& call) {
    for (Work work = broadcast({}); work != Work::end; work = broadcast({}))
        if (work == Work::attend)
            call.attend(nullptr);
        else
            call.differentiate(nullptr);
}

files::FileCall read(const Arguments& text, const files::OptionValues& given, cli::Streams io) {
    const files::NamedFile output{"-o", text.output};
    or_throw(files::check_extension(output, ".npz"));
    or_throw(files::check_outputs(files::files_of({"FILE", text.input}), {&output, 1}));
    const auto folder = fs::absolute(text.output).parent_path();
    if (std::error_code none; !fs::is_directory(folder, none))
        throw bad_input(
            fmt::format("-o is {}; expected a file in a folder that is there", text.output));
    files::FileCall call = read_call(text, given, io);
    if (call.spec.drops())
        throw bad_input(fmt::format("dropout is {}; expected 0: attnscope trace drops weights",
                                    call.spec.dropout));
    if (call.spec.mask.bias)
        throw bad_input("a bias is given; expected none: attnscope trace adds one to the scores");
    const Call valid = or_throw(validate(call.inputs, call.spec));
    if (const auto why = fused_backend().supports(valid)) throw bad_input(*why);
    return call;
}

/// On rank 0: as the backend fused goes through a call, the pairs shared by all ranks.
void go_through(const files::FileCall& file, const Arguments& text, SharedCall& shared,
                const fs::path& parts, cli::Streams io) {
    const Call call = or_throw(validate(file.inputs, file.spec));
    const FusedKernels kernels{[&](const Call&, const HeadTensors& in) {
                                   broadcast(Work::attend);
                                   return std::optional(shared.attend(&in));
                               },
                               [&](const BackwardInputs& in) {
                                   broadcast(Work::differentiate);
                                   HeadGradients gradients = shared.differentiate(&in);
                                   finish_gradients(in, gradients);
                                   return std::optional(std::move(gradients));
                               }};
    const Stopwatch watch;
    const Trace forward = or_throw(fused_forward(call, fused_stages(), kernels));
    std::optional<Trace> gradient;
    if (text.grad) gradient = or_throw(fused_backward(call, forward, file.upstream, kernels));
    const double seconds = watch.seconds();
    broadcast(Work::end);
    const auto entries =
        cli::trace_entries(file, forward, gradient ? &*gradient : nullptr, fused_stages());
    cli::write_entries(text.output, entries, io);
    if (std::error_code none; !parts.empty()) fs::remove_all(parts, none);
    (files::is_standard(text.output) ? io.err : io.out) << fmt::format(
        "{}: {:.2f} s on {} ranks{}\n", text.output, seconds, rank_count(),
        shared.found() > 0 ? fmt::format(", {} blocks were there", shared.found()) : "");
}

int attend(const CLI::App& app, const Arguments& text, cli::Streams io) {
    if (text.input.empty()) throw bad_input("no FILE; expected tensors with Q, K and V");
    if (text.output.empty()) throw bad_input("-o is missing; expected a file .npz");
    const auto given = cli::given_options(app, text.attention);
    files::FileCall file;
    on_first([&] { file = read(text, given, io); });
    share(file.spec);
    share(&file.size, sizeof file.size);
    share(file.inputs.params[Param::sinks]);
    or_throw(check_one_kind_of_host());
    const fs::path parts =
        files::is_standard(text.output) ? fs::path() : fs::path(text.output + ".parts");
    SharedCall shared(file, parts);
    on_each([&] { is_first() ? go_through(file, text, shared, parts, io) : serve(shared); });
    return cli::kSuccess;
}

}  // namespace

int run_attend(cli::Args args, cli::Streams io) {
    CLI::App app("Computes one attention call on all ranks, as attnscope trace --backend fused.",
                 "attnscope-mpi attend");
    Arguments text;
    add_description(
        app, text, "tensors with Q, K and V, or X and its weights",
        {"OUT.npz",
         "the arrays that trace writes; blocks of a run that ended stand in OUT.npz.parts, "
         "and the rest is computed"});
    app.add_flag("--grad", text.grad, "the gradients too");
    return cli::run_command(app, args, io, [&] { return attend(app, text, io); });
}

}  // namespace attn::cluster

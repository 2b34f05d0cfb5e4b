// B batch, H query heads, Hkv key/value heads, Tq queries, Tk keys; b batch entry, h query head, i query row.

#include "app/gl/compute_call.h"

#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "core/cast.h"
#include "core/kernels/projections.h"
#include "core/masks.h"
#include "core/rounding.h"
#include "core/rows.h"
#include "core/scores/operands.h"
#include "core/stages.h"

namespace attn::gl {
namespace {

constexpr Stage kPairStages[] = {Stage::scores, Stage::scaled, Stage::masked, Stage::weights,
                                 Stage::dropped};
// Of the stages of pairs, this much lies on the card at a time, each.
constexpr Index kSlabBytes = Index{32} << 20;
// A row of softmax goes round its loops 3 Tk / 128 times, and 65,535 times is the limit.
constexpr Index kMostStagedKeys = 2'000'000;

class Forward {
  public:
    Forward(Device& device, const Call& call, StageSet keep, const RunControl& control)
        : device_(device),
          whole_(call),
          in_(call.inputs()),
          spec_(call.spec()),
          size_(call.size()),
          keep_(keep),
          control_(control),
          call_(describe_call(spec_, size_)),
          padding_(upload_padding(device, spec_.mask, size_)),
          custom_(upload_custom_mask(device, spec_.mask)) {}

    Trace run() {
        q_ = head_tensor(Stage::q, in_.q);
        k_ = head_tensor(Stage::k, in_.k);
        v_ = head_tensor(Stage::v, in_.v);
        replace_operands();
        pairwise_ = spec_.mask.any() && !all_finite(made_or(Stage::v, in_.v).values());
        context_ =
            device_.allocate("context", size_.batch * size_.heads * size_.tq * call_.v_stride);
        trace_.logsumexp = Tensor(Shape{size_.batch, size_.heads, size_.tq, 1});
        if (keeps_pairs())
            attend_staged();
        else
            attend_fused();
        if (trace_[Stage::context].empty())
            trace_[Stage::context] = read_rows(context_, shape_of(Stage::context));
        if (keep_[index_of(Stage::output)]) fill_output();
        keep_only();
        return std::move(trace_);
    }

  private:
    Shape shape_of(Stage stage) const { return stage_shape(stage, size_, spec_); }
    bool keeps(Stage stage) const { return keep_[index_of(stage)]; }
    bool keeps_pairs() const {
        return std::ranges::any_of(kPairStages, [&](Stage s) { return keeps(s); });
    }
    Kernel kernel(std::string_view name, std::initializer_list<const Buffer*> buffers) const {
        Kernel kernel{name, {}, {}};
        std::ranges::copy(buffers, kernel.buffers.begin());
        kernel.buffers[layout::kPaddingBinding] = &padding_;
        kernel.buffers[layout::kCustomBinding] = &custom_;
        return kernel;
    }

    // ---- Q, K, V

    /// Given, or projected: then it is read back as well.
    Buffer head_tensor(Stage stage, const Tensor& given) {
        if (!in_.projects()) return upload_rows(device_, info(stage).symbol, given);
        Buffer projected = project(stage);
        trace_[stage] = read_rows(projected, shape_of(stage));
        return projected;
    }

    const Tensor& made_or(Stage stage, const Tensor& given) const {
        return trace_[stage].empty() ? given : trace_[stage];
    }

    /// The rows of Q and K whose dot products are the scores, where they are not Q and K themselves.
    void replace_operands() {
        const HeadTensors made{made_or(Stage::q, in_.q), made_or(Stage::k, in_.k),
                               made_or(Stage::v, in_.v)};
        const HeadTensors turned = normed_and_turned(whole_, made, trace_);
        const Operands operands = make_operands(whole_, turned.q, turned.k);
        const HeadTensors last = operands_of(turned, operands);
        if (&last.q != &made.q) q_ = upload_rows(device_, info(Stage::q).symbol, last.q);
        if (&last.k != &made.k) k_ = upload_rows(device_, info(Stage::k).symbol, last.k);
    }

    // Q = X W_Q + b_Q, K and V the same from X or X_kv
    Buffer project(Stage stage) {
        const Tensor& source = stage == Stage::q || in_.x_kv.empty() ? in_.x : in_.x_kv;
        const auto at = static_cast<std::size_t>(stage) - static_cast<std::size_t>(Stage::q);
        const InFloats weight(in_.params.tensors[index_of(Param::w_q) + at]);
        const Tensor& bias = in_.params.tensors[index_of(Param::b_q) + at];
        const Shape shape = shape_of(stage);
        layout::Call call = call_;
        call.source_heads = static_cast<int>(shape.h);
        call.d_k = static_cast<int>(shape.d);
        call.rows = static_cast<int>(shape.t);
        call.columns = static_cast<int>(padded_width(shape.d));
        call.depth = static_cast<int>(source.shape().d);
        if (!bias.empty()) call.flags |= layout::kWithBias;
        const Buffer x = device_.upload("X", source.values());
        const Buffer w = device_.upload(info(static_cast<Param>(index_of(Param::w_q) + at)).symbol,
                                        weight->values());
        const Buffer b = device_.upload("a bias", bias.values());
        Buffer y = device_.allocate(info(stage).symbol, shape.b * shape.h * shape.t * call.columns);
        device_.run_product(kernel("project", {&x, &w, &b, &y}), call, shape.b * shape.h, control_);
        return y;
    }

    // ---- a kernel a stage

    /// The stages of pairs for some rows of one head, or for some whole heads.
    struct Slab {
        Index head_first, heads, row_first, rows;
        Index all_rows() const { return heads * rows; }
    };

    static void check_at_most(Index count, Index most, std::string_view what,
                              std::string_view remedy) {
        if (count > most)
            throw ComputeFailure{
                {fmt::format("the gl backend {} of at most {}, and here are {}: {}", what, most,
                             count, remedy),
                 ErrorKind::failure},
                false};
    }

    void attend_staged() {
        check_at_most(size_.tk, kMostStagedKeys, "stores scores and weights for keys",
                      "keep only context and output");
        for (const Stage stage : kPairStages)
            if (keeps(stage)) trace_[stage] = Tensor(shape_of(stage));
        const Index most = std::min(kSlabBytes / 4, device_.largest_count());
        const Index rows = std::clamp<Index>(most / size_.tk, 1, size_.tq);
        const Index heads =
            std::clamp<Index>(most / (size_.tq * size_.tk), 1, size_.batch * size_.heads);
        for (const Stage stage : kPairStages)
            if (stage != Stage::dropped || spec_.drops())
                slab_[index_of(stage)] =
                    device_.allocate(info(stage).title, heads * rows * size_.tk);
        sides_ = device_.allocate("maxima and sums", heads * rows * 2);
        for (Index head = 0; head < size_.batch * size_.heads; head += heads)
            for (Index row = 0; row < size_.tq; row += rows)
                attend_slab({head, std::min(heads, size_.batch * size_.heads - head), row,
                             std::min(rows, size_.tq - row)});
    }

    const Buffer* slab(Stage stage) const { return &slab_[index_of(stage)]; }

    void attend_slab(const Slab& part) {
        layout::Call call = call_;
        call.head_first = static_cast<int>(part.head_first);
        call.row_first = static_cast<int>(part.row_first);
        call.row_count = call.rows = static_cast<int>(part.rows);
        call.columns = call.tk;
        call.depth = call.d_k;
        device_.run_product(kernel("scores", {&q_, &k_, slab(Stage::scores)}), call, part.heads,
                            control_);
        const Index runs = divide_up(size_.tk, layout::kRowGroup);
        device_.run(kernel("mask", {slab(Stage::scores), slab(Stage::scaled), slab(Stage::masked)}),
                    call, part.all_rows() * runs, 1, control_);
        device_.run(kernel("softmax", {slab(Stage::masked), slab(Stage::weights), &sides_}), call,
                    part.all_rows(), runs, control_);
        const bool drops = spec_.drops();
        if (drops)
            device_.run(kernel("dropout", {slab(Stage::weights), slab(Stage::dropped)}), call,
                        part.all_rows() * runs, 1, control_);
        call.columns = call.v_stride;
        call.depth = call.tk;
        if (pairwise_) call.flags |= layout::kWithPairs;
        const Buffer* const last = slab(drops ? Stage::dropped : Stage::weights);
        device_.run_product(kernel("context", {last, &v_, &context_}), call, part.heads, control_);
        read_slab(part);
    }

    // A slab is one run of rows of [B,H,Tq,Tk].
    void read_slab(const Slab& part) {
        const Index first = part.head_first * size_.tq + part.row_first;
        for (const Stage stage : kPairStages)
            if (!trace_[stage].empty())
                slab(stage)->read({trace_[stage].data() + first * size_.tk,
                                   static_cast<std::size_t>(part.all_rows() * size_.tk)});
        read_logsumexp(sides_, first, part.all_rows(), 1.0);
    }

    /// m · unit + ln l of rows `first` …, from their (m, l). Returns the rows where l = 0.
    std::vector<Index> read_logsumexp(const Buffer& sides, Index first, Index rows, double unit) {
        std::vector<float> pairs(static_cast<std::size_t>(rows) * 2);
        sides.read(pairs);
        std::vector<Index> weightless;
        for (Index row = 0; row < rows; ++row) {
            const double max = pairs[static_cast<std::size_t>(row) * 2];
            const double sum = pairs[static_cast<std::size_t>(row) * 2 + 1];
            if (sum == 0.0) weightless.push_back(first + row);
            trace_.logsumexp.data()[first + row] =
                sum == 0.0 ? -std::numeric_limits<float>::infinity()
                           : static_cast<float>(max * unit + std::log(sum));
        }
        return weightless;
    }

    // ---- one kernel for all

    void attend_fused() {
        check_at_most(size_.d_k, kMostFusedWidth,
                      "attends without storing weights to queries of d_k",
                      "keep scores or weights as well, or choose another backend");
        const Index rows = size_.batch * size_.heads * size_.tq;
        const Index runs = divide_up(size_.tq, layout::kQueries);
        sides_ = device_.allocate("maxima and sums", rows * 2);
        Kernel fused = kernel("fused", {&q_, &k_, &v_, &context_, &sides_});
        const int quads = call_.v_stride > layout::kValueColumns ? 2 : 1;
        fused.defines = fmt::format("#define VALUE_QUADS {}\n", quads);
        if (pairwise_) fused.defines += "#define PAIRWISE\n";
        if (spec_.drops()) fused.defines += "#define DROPOUT\n";
        layout::Call call = call_;
        call.columns = quads * layout::kValueColumns;
        for (; call.column_first < call.v_stride; call.column_first += call.columns)
            device_.run_fused(fused, call, size_.batch * size_.heads * runs, control_);
        const std::vector<Index> weightless = read_logsumexp(sides_, 0, rows, std::numbers::ln2);
        trace_[Stage::context] = read_rows(context_, shape_of(Stage::context));
        for (const Index row : weightless) fill_weightless(row);
    }

    /// A row that the mask left empty follows the policy; allowed scores that are all −inf are 0/0.
    void fill_weightless(Index row) {
        std::vector<std::uint8_t> allowed(size_.tk);
        const Index head = row / size_.tq;
        const bool empty = fill_allowed(spec_.mask, size_, head / size_.heads, head % size_.heads,
                                        row % size_.tq, allowed) == 0;
        const bool zero = empty && spec_.empty_rows == EmptyRows::zero;
        std::fill_n(trace_[Stage::context].data() + row * size_.d_v, size_.d_v,
                    zero ? 0.0F : std::numeric_limits<float>::quiet_NaN());
    }

    // ---- after attention

    // Y = concat(heads) W_O + b_O; without W_O there is nothing to multiply
    void fill_output() {
        const Tensor& w_o = in_.params[Param::w_o];
        const Tensor& b_o = in_.params[Param::b_o];
        if (w_o.empty()) {
            trace_[Stage::output] = join_heads(in_, size_, trace_[Stage::context]);
            return;
        }
        layout::Call call = call_;
        call.rows = call.tq;
        call.columns = static_cast<int>(size_.d_out);
        call.depth = static_cast<int>(size_.heads * size_.d_v);
        if (!b_o.empty()) call.flags |= layout::kWithBias;
        const Buffer context = upload_rows(device_, "context", trace_[Stage::context]);
        const Buffer w = device_.upload("W_O", InFloats(w_o)->values());
        const Buffer b = device_.upload("b_O", b_o.values());
        const Buffer y = device_.allocate("output", size_.batch * size_.tq * size_.d_out);
        device_.run_product(kernel("output", {&context, &w, &b, &y}), call, size_.batch, control_);
        trace_[Stage::output] = Tensor(shape_of(Stage::output));
        y.read(trace_[Stage::output].values());
    }

    void keep_only() {
        const Tensor* const given[] = {&in_.x, &in_.x_kv, &in_.q, &in_.k, &in_.v};
        for (std::size_t s = 0; s < std::size(given); ++s)
            if (trace_.stages[s].empty() && keep_[s]) trace_.stages[s] = *given[s];
        for (std::size_t s = 0; s < kStageCount; ++s)
            if (!keep_[s]) trace_.stages[s] = {};
    }

    Device& device_;
    const Call& whole_;
    const Inputs& in_;
    const AttentionSpec& spec_;
    const Dimensions& size_;
    StageSet keep_;
    const RunControl& control_;
    layout::Call call_;
    Buffer padding_, custom_;
    Buffer q_, k_, v_, context_;
    Buffer sides_;                          // (m, l) of each row
    std::array<Buffer, kStageCount> slab_;  // of the stages of pairs
    bool pairwise_ = false;
    Trace trace_;
};

}  // namespace

Trace compute_forward(Device& device, const Call& call, StageSet keep, const RunControl& control) {
    return Forward(device, call, keep, control).run();
}

}  // namespace attn::gl

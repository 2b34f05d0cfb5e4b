// Native sparse attention: three softmax attentions of one query, over ever fewer and ever nearer keys, each times a gate of the query.
// Blocks n of l keys; K̄_n, V̄_n the means of their keys and values, S scaled scores, p_i the position of query i.
//   compressed:  P_cmp = softmax over the blocks that the mask allows whole, of q_i · K̄_n = mean_{j in n} S_ij
//   selected:    P_slc = softmax of S_ij over the keys of the query's own block and of the blocks with the largest P_cmp, summed over the
//                query heads of one key head
//   window:      P_win = softmax of S_ij over the keys with |p_i − j| < recent
//   implied_ij = g_cmp P_cmp,n(j) / l + g_slc P_slc,ij + g_win P_win,ij,   context = implied V
// A branch without keys gives 0. The choice of blocks has no gradient, as in the published kernels. In the published model an MLP compresses
// a block (here: the mean), compressed blocks may overlap and be shorter than selected ones (here: equal), the gates are sigmoids of an
// MLP (here: numbers of each query), and the first and the last two blocks are always selected (here: the own one).
// Source: Yuan et al. 2025, arXiv:2502.11089, equations 5 to 11.

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include <fmt/format.h>

#include "core/kernels/reference_parts.h"
#include "core/key_sets.h"
#include "core/masks.h"
#include "core/operations/parts.h"
#include "core/scores/score.h"
#include "core/softmax.h"
#include "core/stages.h"

namespace attn {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kNever = -std::numeric_limits<double>::infinity();

enum Params : std::size_t { kCompressed, kSelected, kWindow };

/// What one query reads. Each vector has an entry a key.
struct Reads {
    std::vector<std::uint8_t> open;        // the mask allows it
    std::vector<std::uint8_t> compressed;  // in a block that the query may read whole
    std::vector<std::uint8_t> selected, window;
    bool empty = false;  // the mask allows none
};

/// Of query head h; `row` of it, and the weights of its group.
Reads reads_of(const CallD& call, const OperationSpec& spec, Index b, Index h, Index i,
               const CompressedRow& row, std::span<const double> group_weights) {
    const Dimensions& size = call.size();
    const auto keys = static_cast<std::size_t>(size.tk);
    Reads reads{std::vector<std::uint8_t>(keys), std::vector<std::uint8_t>(keys),
                std::vector<std::uint8_t>(keys), std::vector<std::uint8_t>(keys)};
    reads.empty = fill_allowed(call.spec().mask, size, b, h, i, reads.open) == 0;
    const Index position = i + size.query_offset;
    const auto blocks = selected_blocks(row, group_weights, position, spec.chunk, spec.selected);
    for (Index j = 0; j < size.tk; ++j) {
        if (reads.open[j] == 0) continue;
        const Index n = j / spec.chunk;
        reads.compressed[j] = row.logits[n] != kNever;
        reads.selected[j] = std::ranges::binary_search(blocks, n);
        reads.window[j] = std::abs(position - j) < spec.recent;
    }
    return reads;
}

/// Softmax over the keys that a branch reads; 0 elsewhere.
void branch_softmax(std::span<const double> masked, std::span<const std::uint8_t> read,
                    std::span<double> weights) {
    std::vector<double> logits;
    for (std::size_t j = 0; j < read.size(); ++j)
        if (read[j] != 0) logits.push_back(masked[j]);
    softmax_row(logits, logits, EmptyRows::zero);
    std::size_t n = 0;
    for (std::size_t j = 0; j < read.size(); ++j) weights[j] = read[j] != 0 ? logits[n++] : 0.0;
}

/// The compressed branch of every head, and its weights summed over the heads of a group.
void compress(const CallD& call, const OperationSpec& spec, const TensorD& scaled,
              OperationTraceD& trace) {
    const Dimensions& size = call.size();
    std::vector<std::uint8_t> open(static_cast<std::size_t>(size.tk));
    for (Index b = 0; b < size.batch; ++b)
        for (Index h = 0; h < size.heads; ++h)
            for (Index i = 0; i < size.tq; ++i) {
                fill_allowed(call.spec().mask, size, b, h, i, open);
                const CompressedRow row =
                    compressed_row(scaled.matrix(b, h).row(i), open, spec.chunk);
                std::ranges::copy(row.logits, trace["scores_cmp"].matrix(b, h).row(i).begin());
                std::ranges::copy(row.weights, trace["weights_cmp"].matrix(b, h).row(i).begin());
                const auto sum =
                    trace["block_weights"].matrix(b, h / (size.heads / size.kv_heads)).row(i);
                for (std::size_t n = 0; n < row.weights.size(); ++n) sum[n] += row.weights[n];
            }
}

CompressedRow compressed_of(const OperationTraceD& trace, Index b, Index h, Index i) {
    const auto logits = trace["scores_cmp"].matrix(b, h).row(i);
    const auto weights = trace["weights_cmp"].matrix(b, h).row(i);
    return {{logits.begin(), logits.end()}, {weights.begin(), weights.end()}};
}

Result<OperationTraceD> forward(const CallD& call, const OperationSpec& spec,
                                const OperationParamsD& params, const RunControl& control) {
    const Dimensions& size = call.size();
    ForwardPass pass(
        call, spec,
        {"scores_cmp", "weights_cmp", "block_weights", "weights_slc", "weights_win", "implied"});
    fill_logits(call, pass.shared);
    const TraceD& made = pass.shared;
    OperationTraceD& trace = pass.trace;
    compress(call, spec, made[Stage::scaled], trace);
    const auto gate = [&](Params branch, Index b, Index h, Index i) {
        return params.tensors[branch](b, h, i, 0);
    };
    return pass.run(control, [&](Index b, Index h, Index g) {
        const ConstViewD masked = made[Stage::masked].matrix(b, h);
        const ConstViewD v = made[Stage::v].matrix(b, g);
        const ViewD selected = trace["weights_slc"].matrix(b, h);
        const ViewD window = trace["weights_win"].matrix(b, h);
        const ViewD implied = trace["implied"].matrix(b, h);
        const ViewD context = pass.context.matrix(b, h);
        for (Index i = 0; i < size.tq && !control.stop.stop_requested(); ++i) {
            const CompressedRow row = compressed_of(trace, b, h, i);
            const Reads reads =
                reads_of(call, spec, b, h, i, row, trace["block_weights"].matrix(b, g).row(i));
            if (reads.empty && call.spec().empty_rows == EmptyRows::nan) {
                std::ranges::fill(implied.row(i), kNotANumber);
                std::ranges::fill(context.row(i), kNotANumber);
                continue;
            }
            branch_softmax(masked.row(i), reads.selected, selected.row(i));
            branch_softmax(masked.row(i), reads.window, window.row(i));
            for (Index j = 0; j < size.tk; ++j) {
                if (reads.compressed[j] == 0 && reads.selected[j] == 0 && reads.window[j] == 0)
                    continue;
                if (reads.compressed[j] != 0)
                    implied(i, j) = gate(kCompressed, b, h, i) * row.weights[j / spec.chunk] /
                                    static_cast<double>(spec.chunk);
                implied(i, j) += gate(kSelected, b, h, i) * selected(i, j) +
                                 gate(kWindow, b, h, i) * window(i, j);
                for (Index c = 0; c < size.d_v; ++c) context(i, c) += implied(i, j) * v(j, c);
            }
        }
    });
}

// forward:  P = softmax(x)  so  d_x = P ∘ (d_P − Σ P ∘ d_P).  Only where P is not 0: a key that is not read may be NaN.
void softmax_backward(std::span<const double> weights, std::span<const double> d_weights,
                      std::span<double> d_logits) {
    double along = 0.0;
    for (std::size_t n = 0; n < weights.size(); ++n)
        if (weights[n] != 0.0) along += weights[n] * d_weights[n];
    for (std::size_t n = 0; n < weights.size(); ++n)
        if (weights[n] != 0.0) d_logits[n] = weights[n] * (d_weights[n] - along);
}

Result<OperationTraceD> backward(const CallD& call, const OperationSpec& spec,
                                 const OperationParamsD& params, const UpstreamD& upstream,
                                 const RunControl& control) {
    const Dimensions& size = call.size();
    const Result<OperationTraceD> computed = forward(call, spec, params, control);
    if (!computed) return computed;
    const OperationTraceD& f = *computed;
    TraceD shared;
    fill_logits(call, shared);
    BackwardPass pass(call, spec, f, upstream,
                      {"scores_cmp", "weights_cmp", "weights_slc", "weights_win"});
    TraceD& d = pass.d;
    d[Stage::masked] = TensorD(stage_shape(Stage::masked, size, call.spec()));
    const auto length = static_cast<double>(spec.chunk);
    // forward:  context_i = Σ_j (g_cmp P_cmp,n(j) / l + g_slc P_slc,ij + g_win P_win,ij) v_j,  with t_j = d_context_i · v_j
    // so        d_P_cmp,n = g_cmp Σ_{j in n} t_j / l,  d_P_slc,ij = g_slc t_j,  d_g_slc = Σ_j P_slc,ij t_j
    // forward:  logit of block n = mean_{j in n} S_ij  so  d_S_ij += d_logit_n / l
    const auto row = [&](Index b, Index h, Index g, Index i) {
        const CompressedRow compressed = compressed_of(f, b, h, i);
        const Reads reads =
            reads_of(call, spec, b, h, i, compressed, f["block_weights"].matrix(b, g).row(i));
        const ViewD d_v = d[Stage::v].matrix(b, g);
        if (reads.empty) {
            if (call.spec().empty_rows == EmptyRows::zero) return;
            std::ranges::fill(d[Stage::masked].matrix(b, h).row(i), kNotANumber);
            for (TensorD& each : pass.made.params.tensors) each(b, h, i, 0) = kNotANumber;
            for (Index j = 0; j < size.tk; ++j) std::ranges::fill(d_v.row(j), kNotANumber);
            return;
        }
        const auto d_c = std::as_const(d)[Stage::context].matrix(b, h).row(i);
        const ConstViewD v = f["v"].matrix(b, g);
        const auto implied = f["implied"].matrix(b, h).row(i);
        const auto p_slc = f["weights_slc"].matrix(b, h).row(i);
        const auto p_win = f["weights_win"].matrix(b, h).row(i);
        const auto d_cmp = pass.made["weights_cmp"].matrix(b, h).row(i);
        const auto d_slc = pass.made["weights_slc"].matrix(b, h).row(i);
        const auto d_win = pass.made["weights_win"].matrix(b, h).row(i);
        const auto gate = [&](Params branch) { return params.tensors[branch](b, h, i, 0); };
        const auto add_gate = [&](Params branch, double by) {
            pass.made.params.tensors[branch](b, h, i, 0) += by;
        };
        for (Index j = 0; j < size.tk; ++j) {
            double t = 0.0;
            for (Index c = 0; c < size.d_v; ++c) t += d_c[c] * v(j, c);
            // The gradient of a weight is what it would do there, of keys that are not read too.
            const Index n = j / spec.chunk;
            if ((n + 1) * spec.chunk <= size.tk) d_cmp[n] += gate(kCompressed) * t / length;
            d_slc[j] = gate(kSelected) * t;
            d_win[j] = gate(kWindow) * t;
            if (reads.compressed[j] == 0 && reads.selected[j] == 0 && reads.window[j] == 0)
                continue;
            for (Index c = 0; c < size.d_v; ++c) d_v(j, c) += implied[j] * d_c[c];
            if (reads.compressed[j] != 0) add_gate(kCompressed, compressed.weights[n] * t / length);
            add_gate(kSelected, p_slc[j] * t);
            add_gate(kWindow, p_win[j] * t);
        }
        const auto d_blocks = pass.made["scores_cmp"].matrix(b, h).row(i);
        softmax_backward(compressed.weights, d_cmp, d_blocks);
        std::vector<double> of_selected(p_slc.size()), of_window(p_win.size());
        softmax_backward(p_slc, d_slc, of_selected);
        softmax_backward(p_win, d_win, of_window);
        const auto d_masked = d[Stage::masked].matrix(b, h).row(i);
        for (Index j = 0; j < size.tk; ++j) {
            if (reads.compressed[j] != 0) d_masked[j] += d_blocks[j / spec.chunk] / length;
            if (reads.selected[j] != 0) d_masked[j] += of_selected[j];
            if (reads.window[j] != 0) d_masked[j] += of_window[j];
        }
    };
    const auto run = [&](Index b, Index h, Index g) {
        for (Index i = 0; i < size.tq && !control.stop.stop_requested(); ++i) row(b, h, g, i);
    };
    return pass.run(control, run, [&] { logits_backward(call, shared, d); });
}

std::string refuses(const CallForm& form, const OperationSpec& own) {
    const AttentionSpec& spec = form.spec;
    for (const auto& [name, value, least] : {std::tuple{"chunk", own.chunk, Index{1}},
                                             std::tuple{"selected_blocks", own.selected, Index{1}},
                                             std::tuple{"recent", own.recent, Index{0}}})
        if (value < least)
            return fmt::format("{} is {}: it must be at least {}", name, value, least);
    const std::string score = fmt::format("score {}", info(spec.score).key);
    const struct {
        bool given;
        std::string_view what, why;
    } refusals[] = {
        {spec.score != Score::dot, score, "the mean of keys has the mean score of a dot product"},
        {spec.softcap.has_value(), "softcap", "a compressed key has no score to bound"},
        {spec.alibi, "alibi", "a compressed key has several distances"},
        {spec.mask.bias != nullptr, "bias", "a compressed key has several"},
        {form.sinks, "sinks", "its three softmaxes would need one each"},
        {spec.drops(), "dropout", "it drops weights of pairs; expected 0 or training off"},
    };
    for (const auto& refusal : refusals)
        if (refusal.given)
            return fmt::format("operation nsa does not support {}: {}", refusal.what, refusal.why);
    return {};
}

/// Blocks of `block` keys inside a run.
Index whole_blocks(KeyRange run, Index block) {
    return std::max<Index>(run.end / block - (run.begin + block - 1) / block, 0);
}

/// Keys of every branch: the score, 5 of softmax, and the product with V. Causal, windows, blocks and padding count, the array `mask`
/// does not.
OperationCost cost(const Dimensions& size, const AttentionSpec& spec, const OperationSpec& own) {
    MaskSpec mask = spec.mask;
    mask.custom.reset();
    const Index block = std::max<Index>(own.chunk, 1);
    double read = 0.0;  // of the three branches together
    for (Index b = 0; b < size.batch; ++b)
        for (Index i = 0; i < size.tq; ++i) {
            const KeyRuns runs =
                mask.any() ? key_runs(mask, size, b, i) : KeyRuns{{0, size.tk}, {}};
            const Index position = i + size.query_offset;
            const auto inside = [&](Index begin, Index end) {
                Index count = 0;
                for (const KeyRange& run : {runs.first, runs.second})
                    count +=
                        std::max<Index>(std::min(run.end, end) - std::max(run.begin, begin), 0);
                return count;
            };
            const Index own_block = position < 0 ? -block : position / block * block;
            const Index in_own = inside(std::max<Index>(own_block, 0), own_block + block);
            const Index whole = whole_blocks(runs.first, block) + whole_blocks(runs.second, block);
            const Index others = whole - (in_own == block ? 1 : 0);
            read +=
                static_cast<double>(whole + in_own + block * std::min(own.selected - 1, others) +
                                    inside(position - own.recent + 1, position + own.recent));
        }
    OperationCost made;
    const auto width = static_cast<double>(size.d_k + size.d_v);
    const auto keys = static_cast<double>(size.batch * size.kv_heads * size.tk);
    read *= static_cast<double>(size.heads);
    made.products = 2.0 * read * width;
    made.elementwise = 5.0 * read + keys * width;  // the means
    made.elementwise += 6.0 * static_cast<double>(size.batch * size.heads * size.tq * size.d_v);
    made.stored = {{"the mean key and value of each block",
                    static_cast<double>(size.batch * size.kv_heads * (size.tk / block)) * width},
                   {"one weight per key of a branch", read}};
    return made;
}

// clang-format off
/// A number of each query: how much of a branch it takes.
constexpr OperationParam gate_param(std::string_view key, std::string_view symbol, std::string_view text) {
    return {key, key, symbol, Role::weight, Axis::query, Axis::one, text, [](double, const ParamEntry&) { return 1.0 / 3.0; }};
}
constexpr OperationParam kNsaParams[] = {
    gate_param("g_cmp", "g_c", "How much each query takes of the compressed branch; initially 1/3."),
    gate_param("g_slc", "g_s", "How much each query takes of the selected branch; initially 1/3."),
    gate_param("g_win", "g_w", "How much each query takes of the window branch; initially 1/3."),
};

}  // namespace

OperationInfo nsa_row() {
    static constexpr std::string_view settings[] = {"chunk", "selected", "recent"};
    constexpr std::string_view kSource = "Yuan et al. 2025, arXiv:2502.11089";
    static const std::vector<OperationStage> stages = stages_of(kSource, kUpToMask, {
        {"scores_cmp", "S_c", "S_c", "Scores of compressed keys",
         R"(S^c_{i,n} = \frac{1}{l} \cdot \sum_{j \in n} S_{i,j} \text{ where the mask allows the whole block } n)",
         Axis::query, Axis::chunk, HeadAxis::query, Exists::always, ColorScale::diverging, Role::score,
         {OperationOperand{"scaled", Lights::same_row}},
         "One key for each block of l keys, their mean; its score is the mean of theirs.", {}},
        {"weights_cmp", "P_c", "P_c", "Weights of compressed keys",
         R"(P^c = \mathrm{softmax}(S^c))",
         Axis::query, Axis::chunk, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"scores_cmp", Lights::same_row}},
         "Softmax over the blocks; 0 where a query has no whole block yet.", {}},
        {"block_weights", "I", "I", "Block weights of the group",
         R"(I_{i,n} = \sum_h P^c_{h,i,n})",
         Axis::query, Axis::chunk, HeadAxis::key_value, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"weights_cmp", Lights::same_cell}},
         "Summed over the query heads of one key head: they select the same blocks.", {}, false},
        {"weights_slc", "P_s", "P_s", "Weights of selected keys",
         R"(P^s_{i,j} = \mathrm{softmax}_j(S_{i,j}) \text{ over the own block and the blocks with the largest } I_{i,n})",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"masked", Lights::same_row}, OperationOperand{"block_weights", Lights::same_row}},
         "Each query reads its own block and those with the largest block weight, key by key.", {}},
        {"weights_win", "P_w", "P_w", "Weights of the window",
         R"(P^w_{i,j} = \mathrm{softmax}_j(S_{i,j}) \text{ over } |p_i - j| < \mathrm{recent})",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"masked", Lights::same_row}},
         "Each query reads the keys next to it.", {}},
        {"implied", "Â", "implied", "Implied weights",
         R"(\hat{A}_{i,j} = \frac{g^c_i}{l} \cdot P^c_{i,n} + g^s_i \cdot P^s_{i,j} + g^w_i \cdot P^w_{i,j})",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"weights_cmp", Lights::same_row}, OperationOperand{"weights_slc", Lights::same_cell}, OperationOperand{"weights_win", Lights::same_cell}},
         "The factor of each value over the three branches; n is the block of key j. A row sums to g_c + g_s + g_w where every branch has a key.", {}},
        context_row(R"(\mathrm{context} = \hat{A}\,V)", "The three branches, each times the query's gate."),
    });
    return {Operation::nsa, "nsa", "Native sparse attention (NSA)",
        R"(\mathrm{context}_i = g^c_i\,\mathrm{Attn}(q_i, K^c, V^c) + g^s_i\,\mathrm{Attn}(q_i, K_{\mathrm{selected}}, V) + g^w_i\,\mathrm{Attn}(q_i, K_{\mathrm{window}}, V))",
        "Three softmaxes: over the mean key of each block, over the keys of the blocks with the largest weights there, and over the nearest keys.",
        kSource, false, stages, kNsaParams, cost, refuses, forward, backward, "native sparse (NSA)", settings};
}
// clang-format on

}  // namespace attn

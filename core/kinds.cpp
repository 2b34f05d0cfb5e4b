#include "core/kinds.h"

#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "core/bias.h"
#include "core/call.h"
#include "core/cast.h"
#include "core/engine.h"
#include "core/masks.h"
#include "core/metrics.h"
#include "core/rng.h"
#include "core/scores/operands.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/stages.h"

namespace attn {
namespace {

constexpr double kTied = 1e-12;   // differences of weights that are one but for rounding
constexpr Index kSlopeHeads = 8;  // that ALiBi's slopes are counted over in a model of one head

// ---- one side as a call

/// The rows of the mask or bias that are of one batch entry and head.
template <class Value>
TensorOf<Value> sliced(const TensorOf<Value>& all, Index batch, Index head) {
    const Shape shape = all.shape();
    TensorOf<Value> part(Shape{1, 1, shape.t, shape.d});
    const auto from = all.matrix(std::min(batch, shape.b - 1), std::min(head, shape.h - 1));
    for (Index i = 0; i < from.rows; ++i)
        std::ranges::copy(from.row(i), part.matrix(0, 0).row(i).begin());
    return part;
}

/// The bias where −∞ is 0.
std::shared_ptr<const PairBias> without_forbidding(const PairBias& bias) {
    Tensor values(bias.values);
    for (float& each : values.values())
        if (each == kForbidding) each = 0.0F;
    return make_bias(std::move(values));
}

MaskSpec mask_of(const KindsCall& call, const AttentionKind& kind) {
    MaskSpec mask = call.mask;
    if (kind.mask == KindMask::document || rule_of(kind.mask)) return mask;
    mask = mask.bias_alone();
    if (mask.bias_forbids()) mask.bias = without_forbidding(*mask.bias);
    if (kind.mask == KindMask::causal || kind.mask == KindMask::causal_window)
        mask.causal = CausalAlign::top_left;  // by position: query 0 stands where the call says
    if (kind.mask == KindMask::window || kind.mask == KindMask::causal_window)
        mask.window = kind.window;
    return mask;
}

bool turns(const AttentionKind& kind) {
    return kind.position == KindPosition::rope_half ||
           kind.position == KindPosition::rope_interleaved;
}

/// Of an odd number of columns the last one does not turn.
Rope rope_of(const AttentionKind& kind, Index d_k) {
    const bool half = kind.position == KindPosition::rope_half;
    Rope rope{.pairs = half ? RopePairs::half : RopePairs::interleaved, .dims = std::nullopt};
    if (d_k % 2 == 1) rope.dims = d_k - 1;
    return rope;
}

AttentionSpec spec_of(const KindsCall& call, const AttentionKind& kind) {
    AttentionSpec spec;
    spec.score = kind.score;
    spec.scale = kind.scaled ? ScaleKind::sqrt_dk : ScaleKind::none;
    spec.temperature = kind.temperature;
    spec.query_offset = call.query_offset;
    if (turns(kind)) spec.rope = rope_of(kind, call.q.shape().d);
    if (kind.softcap > 0.0) spec.softcap = kind.softcap;
    spec.alibi = kind.position == KindPosition::alibi;
    spec.mask = mask_of(call, kind);
    spec.bias_before_softcap = call.bias_before_softcap;
    spec.empty_rows = kind.sink ? EmptyRows::zero : call.empty_rows;
    return spec;
}

TensorD seeded(const KindsCall& call, Param param, Index rows, Index columns) {
    const Index d_k = call.q.shape().d;
    TensorD tensor(Shape{1, 1, rows, columns});
    for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < columns; ++j)
            tensor(0, 0, i, j) = seeded_parameter(call.seed, param, i, j, d_k);
    return tensor;
}

void add_parameters(const KindsCall& call, const AttentionKind& kind, Index heads,
                    ParamsD& params) {
    const Index d_k = call.q.shape().d;
    for (const Param param : info(kind.score).params)
        params[param] = param == Param::b_score
                            ? seeded(call, param, heads, call.q.shape().t + call.k.shape().t - 1)
                            : seeded(call, param, param == Param::w_score_row ? 1 : d_k, d_k);
    if (kind.sink) params[Param::sinks] = TensorD(Shape{1, 1, 1, heads}, *kind.sink);
}

/// `q` as one of several heads, the others empty of numbers: ALiBi's slopes depend on how many there are.
TensorD among_heads(const TensorD& q, Index head, Index heads) {
    TensorD all(Shape{1, heads, q.shape().t, q.shape().d});
    std::ranges::copy(q.values(), all.matrix(0, head).data);
    return all;
}

OperationSpec operation_of(const AttentionKind& kind, std::uint64_t seed);

/// Of an operation without a logit for each pair; −∞ is in the array of the document's mask too.
void drop_refused_bias(const KindsCall& call, KindComputed& side) {
    if (!side.spec.mask.bias || side.is_softmax()) return;
    const auto whole = validate(side.inputs, side.spec);
    if (!whole) return;
    const OperationSpec operation = operation_of(side.kind, call.seed);
    AttentionSpec without = side.spec;
    without.mask.bias.reset();
    if (unsupported(operation, {whole->size(), side.spec}) &&
        !unsupported(operation, {whole->size(), without}))
        side.spec = without;
}

/// Its inputs, spec, head, factor and slope, by its kind.
void set_call(const KindsCall& call, KindComputed& side) {
    const AttentionKind& kind = side.kind;
    Index heads = 1;
    if (kind.position == KindPosition::alibi) {
        heads = call.heads == 1 ? kSlopeHeads : call.heads;
        side.head = call.heads == 1 ? 0 : call.head;
        side.slope = alibi_slope(side.head, heads);
    }
    side.slope_heads = heads;
    side.spec = spec_of(call, kind);
    side.spec.heads = heads;
    side.factor = score_factor(side.spec, call.q.shape().d);
    side.inputs.q = among_heads(call.q, side.head, heads);
    side.inputs.k = call.k;
    side.inputs.v = call.v;
    add_parameters(call, kind, heads, side.inputs.params);
    drop_refused_bias(call, side);
}

// ---- what came of it

void count_allowed(KindComputed& side, const Dimensions& size) {
    const auto weights = side.weights();
    side.allowed.assign(weights.rows * weights.columns, 0);
    for (Index i = 0; i < weights.rows; ++i) {
        const std::span<std::uint8_t> row(side.allowed.data() + i * weights.columns,
                                          static_cast<std::size_t>(weights.columns));
        side.allowed_of_row.push_back(fill_allowed(side.spec.mask, size, 0, side.head, i, row));
    }
}

/// No weight is negative, and they sum to 1 at most.
bool is_of_shares(std::span<const double> row) {
    double sum = 0.0;
    for (const double weight : row) {
        if (weight < 0.0) return false;
        sum += weight;
    }
    return !(sum > 1.0 + 1e-9);  // a NaN row is for the measures
}

void measure_rows(KindComputed& side) {
    side.shown = cast<float>(side.weights_of);
    side.has_shares = true;
    for (Index i = 0; i < side.weights().rows; ++i)
        side.has_shares = side.has_shares && is_of_shares(side.weights().row(i));
    if (!side.has_shares) return;
    const auto weights = side.weights();
    for (Index i = 0; i < weights.rows; ++i) {
        const RowMetrics metrics = row_metrics(weights.row(i), side.allowed_of_row[i]);
        side.entropy.push_back(metrics.entropy);
        side.evenness.push_back(metrics.evenness);
    }
}

TensorD one_head(const TensorD& tensor, Index head) {
    TensorD one(Shape{1, 1, tensor.shape().t, tensor.shape().d});
    const std::span<const double> from(tensor.matrix(0, head).data,
                                       static_cast<std::size_t>(one.count()));
    std::ranges::copy(from, one.values().begin());
    return one;
}

Dimensions of_one_head(Dimensions size) {
    size.heads = size.kv_heads = 1;
    return size;
}

Result<void> run_softmax(KindComputed& side, const Dimensions& size) {
    auto trace = attend_exact(side.inputs, side.spec);
    if (!trace) return tl::unexpected(trace.error());
    side.trace = *std::move(trace);
    side.weights_of = one_head(side.trace[Stage::weights], side.head);
    side.output_of = one_head(side.trace[Stage::context], side.head);
    side.cost = attention_cost(of_one_head(size), side.spec);
    return {};
}

OperationParamsD fresh_params(const OperationSpec& spec, const Dimensions& size) {
    OperationParamsD params;
    for (const Tensor& tensor : initial_params(spec, size).tensors)
        params.tensors.push_back(cast<double>(tensor));
    return params;
}

/// In the place of softmax: its implied weights stand where weights do.
Result<void> run_in_place(KindComputed& side, const CallD& call) {
    const OperationSpec& spec = side.operation_spec;
    if (auto reason = unsupported(spec, form_of(call))) return bad_input(*std::move(reason));
    side.fresh = fresh_params(spec, call.size());
    auto made = run_operation_exact(spec, call, side.fresh);
    if (!made) return tl::unexpected(made.error());
    side.made = *std::move(made);
    side.weights_of = one_head(side.made["implied"], side.head);
    side.output_of = one_head(side.made["context"], side.head);
    side.cost = info(spec.operation).cost(of_one_head(call.size()), side.spec, spec);
    return {};
}

constexpr Index kMostSweptKeys = 64;
constexpr Index kMostSweptPairs = Index{1} << 14;  // of more, only powers of two of keys

/// With 1, 2, … keys up to every key; numbers that the rule cannot have are left out.
std::vector<MissedWeight> missed_of(KeyRule rule, KeyBudget budget, const HeadScores& scores) {
    const Index queries = scores.scaled.rows, keys = scores.scaled.columns;
    std::vector<MissedWeight> missed;
    for (budget.keys = 1; budget.keys <= std::min(keys, kMostSweptKeys); ++budget.keys) {
        const bool power = (budget.keys & (budget.keys - 1)) == 0;
        if (!power && queries > kMostSweptPairs / keys) continue;
        const auto set = select_keys(rule, budget, scores);
        if (!set) continue;
        const SetError error = measure_set(scores, *set, {});
        if (error.counted > 0) missed.push_back({budget.keys, error.missed, error.worst});
    }
    return missed;
}

/// The set of each query by a rule under the side's mask, measured against exact attention.
Result<KeySet> measure_rule(KindComputed& side, KeyRule rule, const Dimensions& size) {
    auto exact = attend_exact(side.inputs, side.spec);
    if (!exact) return tl::unexpected(exact.error());
    std::vector<std::uint8_t> allowed(static_cast<std::size_t>(size.tq * size.tk));
    for (Index i = 0; i < size.tq; ++i)
        fill_allowed(side.spec.mask, size, 0, side.head, i,
                     {allowed.data() + i * size.tk, static_cast<std::size_t>(size.tk)});
    const Stage logits = stage_or_source(Stage::biased, side.spec);
    const HeadScores scores{.scaled = (*exact)[Stage::scaled].matrix(0, side.head),
                            .logits = (*exact)[logits].matrix(0, side.head),
                            .allowed = allowed,
                            .offset = size.query_offset,
                            .sink = side.kind.sink};
    auto set = select_keys(rule, side.kind.budget(), scores);
    if (!set) return set;
    side.missed = missed_of(rule, side.kind.budget(), scores);
    side.set = measure_set(scores, *set, side.inputs.v.matrix(0, 0));
    return set;
}

/// The sets of the side's rule become its mask.
Result<void> choose_keys(KindComputed& side, KeyRule rule) {
    if (!side.has_scores())
        return bad_input("a set of keys needs scores, and this operation has none");
    const auto call = validate(side.inputs, side.spec);
    if (!call) return tl::unexpected(call.error());
    const Dimensions& size = call->size();
    const auto set = measure_rule(side, rule, size);
    if (!set) return tl::unexpected(set.error());
    Mask mask(Shape{1, 1, size.tq, size.tk});
    std::ranges::copy(*set, mask.values().begin());
    side.spec.mask.custom = std::make_shared<const Mask>(std::move(mask));
    return {};
}

Result<void> run_side(KindComputed& side) {
    if (const auto rule = rule_of(side.kind.mask))
        if (auto done = choose_keys(side, *rule); !done) return done;
    const auto call = validate(side.inputs, side.spec);
    if (!call) return tl::unexpected(call.error());
    if (side.has_scores())
        if (auto done = run_softmax(side, call->size()); !done) return done;
    if (!side.is_softmax())
        if (auto done = run_in_place(side, *call); !done) return done;
    if (side.kind.operation == Operation::nsa)  // the keys that it reads one by one
        if (auto set = measure_rule(side, KeyRule::nsa, call->size()); !set)
            return tl::unexpected(set.error());
    if (side.has_scores() && side.kind.sink)  // compare, subtract, exp, add of each row
        side.cost.elementwise += 4.0 * static_cast<double>(call->size().tq);
    count_allowed(side, call->size());
    measure_rows(side);
    return {};
}

OperationSpec operation_of(const AttentionKind& kind, std::uint64_t seed) {
    OperationSpec spec;
    if (kind.operation != Operation::softmax) spec.operation = kind.operation;
    spec.chunk = kind.chunk;
    spec.latents = kind.latents;
    spec.state = kind.state;
    spec.rank = kind.rank;
    spec.recent = std::min(kind.budget().recent, kind.keys);
    spec.selected = std::max<Index>((kind.keys - spec.recent) / std::max<Index>(kind.chunk, 1), 1);
    spec.seed = seed;
    return spec;
}

void note_pair(KindsDifference& found, Index i, Index j, double by) {
    const double size = std::abs(by);
    const double most = std::abs(found.value);
    if (size > most + kTied || (size > most && size <= kTied))  // of mere rounding the largest
        found = {i, j, by, 0, found.compared, found.not_numbers};
    else if (most > 0.0 && std::abs(size - most) <= kTied)
        ++found.equal;
}

void compare_weights(const KindComputed& of_a, const KindComputed& of_b, KindsComparison& result) {
    const auto a = of_a.weights();
    const auto b = of_b.weights();
    result.difference_shown = Tensor(Shape{1, 1, a.rows, a.columns});
    for (Index i = 0; i < a.rows; ++i)
        for (Index j = 0; j < a.columns; ++j) {
            const double by = b(i, j) - a(i, j);
            result.difference_shown(0, 0, i, j) = static_cast<float>(by);
            ++(std::isfinite(by) ? result.difference.compared : result.difference.not_numbers);
            if (std::isfinite(by)) note_pair(result.difference, i, j, by);
        }
}

void compare_outputs(const KindComputed& of_a, const KindComputed& of_b, KindsComparison& result) {
    const auto a = of_a.output();
    const auto b = of_b.output();
    OutputError& error = result.error;
    double squares = 0.0;
    double whole = 0.0;
    for (Index i = 0; i < a.rows; ++i)
        for (Index c = 0; c < a.columns; ++c) {
            const double by = std::abs(b(i, c) - a(i, c));
            squares += by * by;
            whole += a(i, c) * a(i, c);
            if (!(by <= error.largest) && !std::isnan(error.largest)) error = {i, c, by, 0.0};
        }
    error.relative = std::sqrt(squares / whole);  // 0/0 and x/0 are no numbers to show
    if (whole == 0.0) error.relative = std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

TensorD kind_input(const Tensor& tensor, Index batch, Index head) {
    const auto matrix =
        tensor.matrix(std::min(batch, tensor.shape().b - 1), std::min(head, tensor.shape().h - 1));
    TensorD part(Shape{1, 1, matrix.rows, matrix.columns});
    for (Index i = 0; i < matrix.rows; ++i)
        std::ranges::copy(matrix.row(i), part.matrix(0, 0).row(i).begin());
    return part;
}

MaskSpec mask_of_head(MaskSpec mask, Index batch, Index head) {
    if (!mask.padding.empty()) mask.padding = {mask.padding[batch]};
    if (mask.custom) mask.custom = std::make_shared<const Mask>(sliced(*mask.custom, batch, head));
    if (mask.bias) mask.bias = make_bias(sliced(mask.bias->values, batch, head));
    return mask;
}

double seeded_parameter(std::uint64_t seed, Param param, Index row, Index column, Index d_k) {
    const auto counter = static_cast<std::uint64_t>(row * (Index{1} << 20) + column);
    const double drawn = normal(mix(seed, hash_text(info(param).key)), counter);
    const double width = std::sqrt(static_cast<double>(std::max<Index>(d_k, 1)));
    return std::round(100.0 * drawn / width) / 100.0;
}

KindComputed compute_kind(const KindsCall& call, const AttentionKind& kind) {
    KindComputed side;
    side.kind = kind;
    side.operation_spec = operation_of(kind, call.seed);
    set_call(call, side);
    if (auto done = run_side(side); !done) side.fault = done.error().text();
    return side;
}

KindsComparison compare_kinds(const KindComputed& a, const KindComputed& b) {
    KindsComparison result;
    compare_weights(a, b, result);
    compare_outputs(a, b, result);
    return result;
}

void repeat_kind(const KindComputed& side) {
    if (side.is_softmax()) return static_cast<void>(attend_exact(side.inputs, side.spec));
    const auto call = validate(side.inputs, side.spec);
    if (call) static_cast<void>(run_operation_exact(side.operation_spec, *call, side.fresh));
}

}  // namespace attn

#include "app/workspaces/kinds/compute.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "app/workspaces/kinds/call.h"
#include "app/workspaces/kinds/state.h"
#include "app/workspaces/kinds/workspace.h"
#include "core/cast.h"
#include "core/engine.h"
#include "core/masks.h"
#include "core/metrics.h"
#include "core/rng.h"

namespace attn::view {
namespace {

constexpr double kTied = 1e-12;  // differences of weights that are one but for rounding

// ---- what came of it

void count_allowed(KindComputed& side, const Dimensions& size) {
    const auto weights = side.weights();
    side.allowed.assign(static_cast<std::size_t>(weights.rows * weights.columns), 0);
    for (Index i = 0; i < weights.rows; ++i) {
        const std::span<std::uint8_t> row(side.allowed.data() + i * weights.columns,
                                          static_cast<std::size_t>(weights.columns));
        side.allowed_of_row.push_back(fill_allowed(side.spec.mask, size, 0, side.head, i, row));
    }
}

void measure_rows(KindComputed& side) {
    side.shown = cast<float>(side.weights_of);
    side.has_shares =
        std::ranges::none_of(side.weights_of.values(), [](double weight) { return weight < 0.0; });
    if (!side.has_shares) return;
    const auto weights = side.weights();
    for (Index i = 0; i < weights.rows; ++i) {
        const RowMetrics metrics =
            row_metrics(weights.row(i), side.allowed_of_row[static_cast<std::size_t>(i)]);
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
    auto made = run_operation_exact(spec, call, fresh_params(spec, call.size()));
    if (!made) return tl::unexpected(made.error());
    side.made = *std::move(made);
    side.weights_of = one_head(side.made["implied"], side.head);
    side.output_of = one_head(side.made["context"], side.head);
    side.cost = info(spec.operation).cost(of_one_head(call.size()), side.spec, spec);
    return {};
}

Result<void> run_side(KindComputed& side) {
    const auto call = validate(side.inputs, side.spec);
    if (!call) return tl::unexpected(call.error());
    if (side.has_scores())
        if (auto done = run_softmax(side, call->size()); !done) return done;
    if (!side.is_softmax())
        if (auto done = run_in_place(side, *call); !done) return done;
    count_allowed(side, call->size());
    measure_rows(side);
    return {};
}

OperationSpec operation_of(const AttentionKind& kind, std::uint64_t seed) {
    OperationSpec spec;
    if (kind.operation != KindOperation::softmax)
        spec.operation = static_cast<Operation>(static_cast<int>(kind.operation) - 1);
    spec.chunk = kind.chunk;
    spec.latents = kind.latents;
    spec.state = kind.state;
    spec.seed = seed;
    return spec;
}
static_assert(static_cast<int>(KindOperation::state_space) ==
              static_cast<int>(Operation::state_space) + 1);
static_assert(static_cast<int>(KindOperation::chunked) == static_cast<int>(Operation::chunked) + 1);

KindComputed compute_side(const AppState& state, const KindsResult& result,
                          const AttentionKind& kind) {
    KindComputed side;
    side.kind = kind;
    side.operation_spec = operation_of(kind, result.seed);
    set_call(state, result, side);
    if (auto done = run_side(side); !done) side.fault = done.error().sentence;
    return side;
}

void note_pair(KindsDifference& found, Index i, Index j, double by) {
    const double size = std::abs(by);
    const double most = std::abs(found.value);
    if (size > most + kTied)
        found = {i, j, by, 0, found.compared, found.not_numbers};
    else if (most > 0.0 && std::abs(size - most) <= kTied)
        ++found.equal;
}

void compare_weights(KindsResult& result) {
    const auto a = result.a.weights();
    const auto b = result.b.weights();
    result.difference_shown = Tensor(Shape{1, 1, a.rows, a.columns});
    for (Index i = 0; i < a.rows; ++i)
        for (Index j = 0; j < a.columns; ++j) {
            const double by = b(i, j) - a(i, j);
            result.difference_shown(0, 0, i, j) = static_cast<float>(by);
            ++(std::isfinite(by) ? result.difference.compared : result.difference.not_numbers);
            if (std::isfinite(by)) note_pair(result.difference, i, j, by);
        }
}

void compare_outputs(KindsResult& result) {
    const auto a = result.a.output();
    const auto b = result.b.output();
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

double seeded_parameter(std::uint64_t seed, Param param, Index row, Index column, Index d_k) {
    const auto counter = static_cast<std::uint64_t>(row * (Index{1} << 20) + column);
    const double drawn = normal(mix(seed, hash_text(info(param).key)), counter);
    const double width = std::sqrt(static_cast<double>(std::max<Index>(d_k, 1)));
    return std::round(100.0 * drawn / width) / 100.0;
}

KindsResult compute_kinds(const AppState& state) {
    const KindsControls& controls = kinds_controls(state);
    KindsResult result;
    result.document = state.shared_document();
    result.batch = state.batch;
    result.head = state.head;
    result.a_kind = controls.a;
    result.b_kind = controls.b;
    result.seed = controls.seed;
    result.fault = kinds_lacks(state);
    if (!result.fault.empty()) return result;
    if (auto taken = take_inputs(state, result); !taken) {
        result.fault = taken.error().sentence;
        return result;
    }
    result.a = compute_side(state, result, controls.a);
    result.b = compute_side(state, result, controls.b);
    if (!result.whole()) return result;
    compare_weights(result);
    compare_outputs(result);
    return result;
}

bool is_current(const KindsResult& result, const AppState& state) {
    const KindsControls& controls = kinds_controls(state);
    return result.document == state.shared_document() && result.batch == state.batch &&
           result.head == state.head && result.a_kind == controls.a &&
           result.b_kind == controls.b && result.seed == controls.seed;
}

void follow_kinds(AppState& state) {
    KindsLook& look = kinds_look(state);
    if (state.workspace != "kinds") return;
    if (look.result && is_current(*look.result, state)) return;
    look.result = std::make_shared<const KindsResult>(compute_kinds(state));
}

}  // namespace attn::view

#include "core/operations/operation.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <stdexcept>

#include <fmt/format.h>

#include "core/call.h"
#include "core/cast.h"
#include "core/check.h"
#include "core/memory.h"
#include "core/operations/parts.h"
#include "core/rng.h"
#include "core/scores/score.h"
#include "core/stages.h"

namespace attn {
namespace {

/// Values and gradients in double at their peak, and what is given back.
constexpr double kBytesPerEntry = 2.0 * sizeof(double) + sizeof(float);

/// How long an axis is here; those of softmax attention's stages as there.
Index operation_length(Axis axis, const Dimensions& size, const OperationSpec& spec) {
    switch (axis) {
        case Axis::one:
            return 1;
        case Axis::chunk:
            return (size.tk - 1) / std::min(spec.chunk, size.tk) + 1;
        case Axis::chunk_value:
            return operation_length(Axis::chunk, size, spec) * size.d_v;
        case Axis::latent:
            return spec.operation == Operation::linformer ? spec.rank : spec.latents;
        case Axis::state:
            return spec.state;
        case Axis::value_state:
            return size.d_v * spec.state;
        case Axis::key_value:
            return size.d_k * size.d_v;
        default:
            return length(axis, size);
    }
}

template <class Scalar>
std::size_t row_of(const OperationTraceOf<Scalar>& trace, std::string_view key) {
    const std::span<const OperationStage> rows = info(trace.operation).stages;
    const auto row = std::ranges::find(rows, key, &OperationStage::key);
    ATTN_CHECK(row != rows.end() && trace.stages.size() == rows.size(),
               "the operation's table has this stage");
    return static_cast<std::size_t>(row - rows.begin());
}

template <class Scalar>
Result<void> check_params(const OperationSpec& spec, const Dimensions& size,
                          const OperationParamsOf<Scalar>& params) {
    const OperationInfo& row = info(spec.operation);
    if (params.tensors.size() != row.params.size())
        return bad_input(fmt::format("operation {} needs {} parameters, not {}", row.key,
                                     row.params.size(), params.tensors.size()));
    for (std::size_t p = 0; p < row.params.size(); ++p) {
        const Shape wanted = operation_param_shape(row.params[p], size, spec);
        const Shape given = params.tensors[p].shape();
        if (given != wanted)
            return bad_input(fmt::format("{} is {}: operation {} needs {}", row.params[p].npz,
                                         to_string(given), row.key, to_string(wanted)));
    }
    return {};
}

/// Everything that could be wrong with a call of an operation.
template <class Scalar>
Result<void> check(const OperationSpec& spec, const CallOf<Scalar>& call,
                   const OperationParamsOf<Scalar>& params) {
    if (auto reason = unsupported(spec, form_of(call))) return bad_input(*std::move(reason));
    if (auto valid = check_params(spec, call.size(), params); !valid) return valid;
    return check_operation_memory(spec, call.size(), call.spec());
}

/// `work()`, with an allocation that fails turned into an error.
template <class Work>
Result<OperationTraceD> without_throwing(const Work& work) {
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return failed("out of memory: attend over fewer tokens");
    } catch (const std::length_error&) {
        return failed("a stage is larger than memory can address: attend over fewer tokens");
    }
}

template <class To, class From>
OperationParamsOf<To> cast_params(const OperationParamsOf<From>& from) {
    OperationParamsOf<To> to;
    for (const TensorOf<From>& tensor : from.tensors) to.tensors.push_back(cast<To>(tensor));
    return to;
}

OperationTrace rounded(const OperationTraceD& from) {
    OperationTrace to;
    to.operation = from.operation;
    for (const TensorD& tensor : from.stages) to.stages.push_back(cast<float>(tensor));
    to.params = cast_params<float>(from.params);
    to.call_params = cast<float>(from.call_params);
    return to;
}

/// work(the same call in double, the parameters in double), rounded to float.
template <class Work>
Result<OperationTrace> in_double(const OperationSpec& spec, const Call& call,
                                 const OperationParams& params, const Work& work) {
    if (auto valid = check(spec, call, params); !valid) return tl::unexpected(valid.error());
    try {
        const InputsD inputs = cast<double>(call.inputs());
        return validate(inputs, call.spec())
            .and_then([&](const CallD& exact) { return work(exact, cast_params<double>(params)); })
            .map(rounded);
    } catch (const std::bad_alloc&) {
        return failed("out of memory: attend over fewer tokens");
    }
}

/// Of upstream.gradient, as validate_backward() does for softmax attention.
template <class Scalar>
Result<void> check_upstream(const CallOf<Scalar>& call, const UpstreamOf<Scalar>& upstream) {
    const bool known = upstream.stage == Stage::context || upstream.stage == Stage::output;
    const Shape wanted = stage_shape(upstream.stage, call.size(), call.spec());
    if (!known)
        return bad_input(
            fmt::format("the upstream gradient is given at {}: give it at context or output",
                        info(upstream.stage).key));
    if (!upstream.gradient.empty() && upstream.gradient.shape() != wanted)
        return bad_input(fmt::format("the upstream gradient is {} but {} is {}",
                                     to_string(upstream.gradient.shape()), info(upstream.stage).key,
                                     to_string(wanted)));
    return {};
}

}  // namespace

double OperationCost::stored_bytes() const {
    double entries = 0.0;
    for (const OperationStorage& one : stored) entries += one.entries;
    return 4.0 * entries;
}

template <class Scalar>
const TensorOf<Scalar>& OperationTraceOf<Scalar>::operator[](std::string_view key) const {
    return stages[row_of(*this, key)];
}
template <class Scalar>
TensorOf<Scalar>& OperationTraceOf<Scalar>::operator[](std::string_view key) {
    return stages[row_of(*this, key)];
}
template struct OperationTraceOf<float>;
template struct OperationTraceOf<double>;

std::span<const OperationInfo, kOperationCount> operation_table() {
#define ATTN_ROW(name) name##_row(),
    static const std::array<OperationInfo, kOperationCount> table{ATTN_OPERATIONS(ATTN_ROW)};
#undef ATTN_ROW
    return table;
}
const OperationInfo& info(Operation operation) {
    ATTN_CHECK(operation != Operation::softmax, "softmax has no row");
    return operation_table()[static_cast<std::size_t>(operation) - 1];
}

std::optional<Operation> find_operation(std::string_view key) {
    std::string dashed(key);
    std::ranges::replace(dashed, '_', '-');
    for (const OperationInfo& row : operation_table())
        if (row.key == dashed) return row.operation;
    return std::nullopt;
}

Shape operation_stage_shape(const OperationStage& stage, const Dimensions& size,
                            const AttentionSpec& spec, const OperationSpec& operation) {
    if (!exists(stage.exists, spec)) return {};
    const Index heads = stage.heads == HeadAxis::none    ? 1
                        : stage.heads == HeadAxis::query ? size.heads
                                                         : size.kv_heads;
    const Index width = stage.exists == Exists::with_x_kv
                            ? size.d_model_kv
                            : operation_length(stage.columns, size, operation);
    return {size.batch, heads, operation_length(stage.rows, size, operation), width};
}

Shape operation_param_shape(const OperationParam& param, const Dimensions& size,
                            const OperationSpec& operation) {
    const Index batch = param.rows == Axis::query ? size.batch : 1;
    return {batch, size.heads, operation_length(param.rows, size, operation),
            operation_length(param.columns, size, operation)};
}

Result<void> check_operation_memory(const OperationSpec& operation, const Dimensions& size,
                                    const AttentionSpec& spec) {
    double entries = 0.0;
    const auto add = [&](const Shape& shape) {
        entries += static_cast<double>(shape.b) * static_cast<double>(shape.h) *
                   static_cast<double>(shape.t) * static_cast<double>(shape.d);
    };
    for (const OperationStage& stage : info(operation.operation).stages)
        add(operation_stage_shape(stage, size, spec, operation));
    for (const OperationParam& param : info(operation.operation).params)
        add(operation_param_shape(param, size, operation));
    return check_fits_in_memory(
        entries * kBytesPerEntry,
        fmt::format("the stages and parameters of operation {}", info(operation.operation).key),
        "attend over fewer tokens, or with fewer latents or states", size);
}

OperationParams initial_params(const OperationSpec& operation, const Dimensions& size) {
    OperationParams made;
    for (const OperationParam& param : info(operation.operation).params) {
        Tensor tensor(operation_param_shape(param, size, operation));
        const std::uint64_t stream = mix(operation.seed, hash_text(param.key));
        const Shape shape = tensor.shape();
        for (std::size_t n = 0; n < tensor.values().size(); ++n) {
            const auto at = static_cast<Index>(n);
            const ParamEntry entry{at / (shape.t * shape.d) % shape.h, at % shape.d, shape.t};
            tensor.values()[n] = static_cast<float>(param.initial(normal(stream, n), entry));
        }
        made.tensors.push_back(std::move(tensor));
    }
    return made;
}

std::optional<std::string> unsupported(const OperationSpec& operation, const CallForm& call) {
    std::string reason = info(operation.operation).refuses(call, operation);
    return reason.empty() ? std::nullopt : std::optional(std::move(reason));
}

Result<OperationTraceD> run_operation_exact(const OperationSpec& operation, const CallD& call,
                                            const OperationParamsD& params,
                                            const RunControl& control) {
    if (auto valid = check(operation, call, params); !valid) return tl::unexpected(valid.error());
    return without_throwing(
        [&] { return info(operation.operation).forward(call, operation, params, control); });
}

Result<OperationTraceD> run_operation_exact_backward(const OperationSpec& operation,
                                                     const CallD& call,
                                                     const OperationParamsD& params,
                                                     const UpstreamD& upstream,
                                                     const RunControl& control) {
    if (auto valid = check(operation, call, params); !valid) return tl::unexpected(valid.error());
    if (auto valid = check_upstream(call, upstream); !valid) return tl::unexpected(valid.error());
    return without_throwing([&] {
        return info(operation.operation).backward(call, operation, params, upstream, control);
    });
}

Result<OperationTrace> run_operation(const OperationSpec& operation, const Call& call,
                                     const OperationParams& params, const RunControl& control) {
    return in_double(operation, call, params,
                     [&](const CallD& exact, const OperationParamsD& params_d) {
                         return run_operation_exact(operation, exact, params_d, control);
                     });
}

Result<OperationTrace> run_operation_backward(const OperationSpec& operation, const Call& call,
                                              const OperationParams& params,
                                              const Upstream& upstream, const RunControl& control) {
    const UpstreamD upstream_d{upstream.stage, cast<double>(upstream.gradient)};
    return in_double(
        operation, call, params, [&](const CallD& exact, const OperationParamsD& params_d) {
            return run_operation_exact_backward(operation, exact, params_d, upstream_d, control);
        });
}

OperationCost attention_cost(const Dimensions& size, const AttentionSpec& spec) {
    const double pairs = static_cast<double>(size.heads) * open_pairs(size, spec);
    const auto queries = static_cast<double>(size.batch * size.heads * size.tq);
    const auto keys = static_cast<double>(size.batch * size.kv_heads * size.tk);
    const auto d_k = static_cast<double>(size.d_k);
    const ScoreCost scores = info(spec.score).cost({pairs, queries, keys, d_k});
    OperationCost cost{scores.products, scores.elementwise, {}};
    cost.products += 2.0 * pairs * static_cast<double>(size.d_v);
    cost.elementwise += 5.0 * pairs;
    if (spec.qk_norm)  // a square, a sum, two products of each column; a root and a quotient of a row
        cost.elementwise += (queries + keys) * (4.0 * d_k + 2.0);
    if (spec.rope)  // (x cos − y sin, x sin + y cos) of two columns
        cost.elementwise +=
            3.0 * (queries + keys) * static_cast<double>(spec.rope->dims.value_or(size.d_k));
    if (spec.softcap) cost.elementwise += 3.0 * pairs;  // divide, tanh, multiply
    if (spec.alibi) cost.elementwise += 2.0 * pairs;    // slope times distance, subtract
    cost.stored = {{"one weight per pair", queries * static_cast<double>(size.tk)}};
    return cost;
}

OperationError operation_error(const Tensor& computed, const Tensor& exact) {
    ATTN_CHECK(computed.shape() == exact.shape(), "both are of the same call");
    OperationError error;
    double squares = 0.0, exact_squares = 0.0;
    for (std::size_t n = 0; n < exact.values().size(); ++n) {
        const double wanted = static_cast<double>(exact.values()[n]);
        const double off = std::abs(static_cast<double>(computed.values()[n]) - wanted);
        if (std::isnan(off) || off > error.largest) error.largest = off;
        if (std::isnan(off)) return {off, off};
        squares += off * off;
        exact_squares += wanted * wanted;
    }
    error.relative = squares == 0.0 ? 0.0 : std::sqrt(squares / exact_squares);
    return error;
}

}  // namespace attn

#include "tests/operations/sample.h"

#include <fmt/format.h>

#include <cmath>

#include "core/call.h"
#include "core/cast.h"
#include "tests/support/random.h"

namespace attn::test {
namespace {

OperationParamsD fresh_params(const OperationSpec& operation, const Dimensions& size) {
    OperationParamsD made;
    for (const Tensor& tensor : initial_params(operation, size).tensors)
        made.tensors.push_back(cast<double>(tensor));
    return made;
}

void finish(OperationCase& made) {
    made.operation.chunk = 2;
    made.operation.selected = 2;
    made.operation.recent = 2;
    made.operation.latents = 3;
    made.operation.state = 2;
    made.operation.rank = 3;
    made.operation.seed = 3;
    const Dimensions size = validate(made.inputs, made.spec).value().size();
    made.params = fresh_params(made.operation, size);
    made.upstream.gradient =
        normal_tensor<double>(stage_shape(made.upstream.stage, size, made.spec), 99);
}

std::shared_ptr<const Mask> key_mask(Index batch, Index keys) {
    Mask mask(Shape{batch, 1, 1, keys}, 1);
    mask(0, 0, 0, 1) = 0;
    mask(batch - 1, 0, 0, keys - 1) = 0;
    return std::make_shared<const Mask>(std::move(mask));
}

/// One more case like `base`.
OperationCase& add(std::vector<OperationCase>& cases, OperationCase base, std::string_view name) {
    base.name = fmt::format("{} {}", info(base.operation.operation).key, name);
    return cases.emplace_back(std::move(base));
}

void add_masked(std::vector<OperationCase>& cases, Operation operation, Index tq, Index tk) {
    add(cases, sample(operation, tq, tk), "plain");
    add(cases, sample(operation, tq, tk), "padding").spec.mask.padding = {tk - 2, 0};
    add(cases, sample(operation, tq, tk), "mask of keys").spec.mask.custom = key_mask(2, tk);
    add(cases, projected_sample(operation, false), "self, W_O, biases");
    OperationCase& output = add(cases, sample(operation, tq, tk), "ones at output");
    output.upstream = {Stage::output, {}};
}

void add_causal(std::vector<OperationCase>& cases, Operation operation, Index tq, Index tk) {
    add(cases, sample(operation, tq, tk), "top-left").spec.mask.causal = CausalAlign::top_left;
    AttentionSpec& spec = add(cases, sample(operation, tq, tk), "bottom-right, padding").spec;
    spec.mask.causal = CausalAlign::bottom_right;
    spec.mask.padding = {tk, 2};
    AttentionSpec& masked = add(cases, sample(operation, tq, tk), "causal, mask of keys").spec;
    masked.mask.causal = CausalAlign::top_left;
    masked.mask.custom = key_mask(2, tk);
}

bool supports(const OperationCase& one) {
    return !unsupported(one.operation, form_of(validate(one.inputs, one.spec).value()));
}

}  // namespace

OperationTraceD OperationCase::forward() const {
    return run_operation_exact(operation, validate(inputs, spec).value(), params).value();
}
OperationTraceD OperationCase::backward() const {
    return run_operation_exact_backward(operation, validate(inputs, spec).value(), params, upstream)
        .value();
}
OperationParams OperationCase::float_params() const {
    OperationParams made;
    for (const TensorD& tensor : params.tensors) made.tensors.push_back(cast<float>(tensor));
    return made;
}
TraceD OperationCase::exact() const { return attend_exact(inputs, spec).value(); }

OperationCase sample(Operation operation, Index tq, Index tk, std::uint64_t seed) {
    OperationCase made;
    made.operation.operation = operation;
    const Index d_k = operation == Operation::differential ? 4 : 3;
    made.inputs.q = normal_tensor<double>({2, 4, tq, d_k}, 10 * seed);
    made.inputs.k = normal_tensor<double>({2, 2, tk, d_k}, 10 * seed + 1);
    made.inputs.v = normal_tensor<double>({2, 2, tk, 2}, 10 * seed + 2);
    made.upstream.stage = Stage::context;
    finish(made);
    return made;
}

OperationCase projected_sample(Operation operation, bool cross, std::uint64_t seed) {
    OperationCase made;
    made.operation.operation = operation;
    made.spec.heads = 4;
    made.spec.kv_heads = 2;
    std::uint64_t next = 100 * seed;
    const auto tensor = [&](Shape shape) { return normal_tensor<double>(shape, ++next, 0.5); };
    made.inputs.x = tensor({2, 1, 5, 4});
    if (cross) made.inputs.x_kv = tensor({2, 1, 6, 4});
    ParamsD& params = made.inputs.params;
    const Index d_k = operation == Operation::differential ? 4 : 3;
    params[Param::w_q] = tensor({1, 1, 4, 4 * d_k});
    params[Param::w_k] = tensor({1, 1, 4, 2 * d_k});
    params[Param::w_v] = tensor({1, 1, 4, 4});
    params[Param::w_o] = tensor({1, 1, 8, 3});
    params[Param::b_q] = tensor({1, 1, 1, 4 * d_k});
    params[Param::b_k] = tensor({1, 1, 1, 2 * d_k});
    params[Param::b_v] = tensor({1, 1, 1, 4});
    params[Param::b_o] = tensor({1, 1, 1, 3});
    made.upstream.stage = Stage::output;
    finish(made);
    return made;
}

std::vector<OperationCase> operation_cases() {
    std::vector<OperationCase> cases;
    for (const OperationInfo& row : operation_table()) {
        const Operation operation = row.operation;
        const bool cross = supports(sample(operation, 3, 5));
        add_masked(cases, operation, cross ? 3 : 5, 5);
        if (cross) add(cases, projected_sample(operation, true), "cross");
        OperationCase causal = sample(operation, 5, 5);
        causal.spec.mask.causal = CausalAlign::top_left;
        const bool few = cross && operation != Operation::nsa;  // nsa reads several whole blocks
        if (supports(causal)) add_causal(cases, operation, few ? 3 : 5, 5);
        OperationCase sharp = sample(operation, cross ? 3 : 5, 5);
        sharp.spec.temperature = 0.6;
        sharp.spec.scale = ScaleKind::none;
        if (supports(sharp)) add(cases, std::move(sharp), "temperature, scale");
    }
    add(cases, sample(Operation::state_space, 5, 5), "euler").operation.discretise =
        Discretise::euler;
    return cases;
}

TensorD rows(std::initializer_list<std::initializer_list<double>> values) {
    std::vector<double> flat;
    for (const auto& row : values) flat.insert(flat.end(), row);
    return TensorD(
        {1, 1, static_cast<Index>(values.size()), static_cast<Index>(values.begin()->size())},
        flat);
}

/// Of sums that are exactly 0, such as the gradient of a key's bias.
constexpr double kRounding = 1e-14;

std::string difference(const TensorD& got, const TensorD& expected, std::string_view what,
                       double tolerance) {
    if (got.shape() != expected.shape())
        return fmt::format("{} is {}, expected {}", what, to_string(got.shape()),
                           to_string(expected.shape()));
    double largest = 0.0;
    for (const double value : expected.values())
        if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    for (std::size_t n = 0; n < got.values().size(); ++n) {
        const double value = got.values()[n], wanted = expected.values()[n];
        if (value == wanted || (std::isnan(value) && std::isnan(wanted))) continue;
        if (!(std::abs(value - wanted) <= tolerance * largest + kRounding))
            return fmt::format("{} entry {} is {:.15g}, expected {:.15g}", what, n, value, wanted);
    }
    return {};
}

}  // namespace attn::test

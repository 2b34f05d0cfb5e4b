#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine.h"
#include "core/operations/operation.h"
#include "core/spec.h"

namespace attn::test {

/// One call of an operation in full precision.
struct OperationCase {
    std::string name;
    OperationSpec operation;
    InputsD inputs;
    AttentionSpec spec;
    OperationParamsD params;
    UpstreamD upstream;

    OperationTraceD forward() const;
    OperationTraceD backward() const;
    /// In single precision.
    OperationParams float_params() const;
    /// Softmax attention of the same inputs.
    TraceD exact() const;
};

/// B 2, H 4 over 2 key/value heads, Tq, Tk, d_k 3, d_v 2; normal numbers, parameters of seed 3, upstream at context.
OperationCase sample(Operation operation, Index tq, Index tk, std::uint64_t seed = 1);
/// X of B 2, T 5, d_model 4, projections with biases, W_O, upstream at output. `cross`: X_kv of T 6.
OperationCase projected_sample(Operation operation, bool cross, std::uint64_t seed = 1);
/// Every operation with every option that it has: masks, alignment, rules, projections, cross-attention.
std::vector<OperationCase> operation_cases();

/// [1,1,T,d] of rows.
TensorD rows(std::initializer_list<std::initializer_list<double>> values);

/// "" when both have one shape and each entry is within `tolerance` of the largest finite value (and 1e-14), or NaN or infinite in
/// both. An array of zeros is no match for one that is not.
std::string difference(const TensorD& got, const TensorD& expected, std::string_view what,
                       double tolerance = 1e-12);

}  // namespace attn::test

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/dimensions.h"
#include "core/forward.h"
#include "core/result.h"
#include "core/role.h"
#include "core/run_control.h"
#include "core/trace.h"

namespace attn {

enum class Axis : std::uint8_t;      // stages.h
enum class Exists : std::uint8_t;    // stages.h
enum class HeadAxis : std::uint8_t;  // stages.h
enum class Lights : std::uint8_t;    // stages.h

// THE table of operations: what stands where softmax attention stands and is computed another way. It reads the same
// call (Q, K, V or X with its projections, W_O) and gives `context` and `output` of the same shapes, and `implied`
// [B,H,Tq,Tk], the matrix that attention weights would be: context = implied V (of differential, before its norm; of gated and
// state_space, the mean of a matrix for each column of V). An operation is one row of the table
// and one file beside this one.
// T tokens, H heads; i query row, j key row, c column of V, M latents (of linformer rows), N states, C keys a chunk; d_ = gradient of.

// THE list: X(name), whose <name>_row() is in the file of the operation.
// clang-format off
#define ATTN_OPERATIONS(X) \
    X(chunked) X(linear) X(latents) X(state_space) X(linformer) X(retention) X(gated_linear) X(gated_delta) X(kda) X(gated) \
    X(differential) X(nsa) X(selective) X(sigmoid)
// clang-format on
#define ATTN_ENUMERATOR(name) name,
#define ATTN_ONE_MORE(name) +1
/// softmax: attention itself, the row of scores through softmax as attend() does; it has no row in the table.
enum class Operation : std::uint8_t { softmax, ATTN_OPERATIONS(ATTN_ENUMERATOR) };
inline constexpr std::size_t kOperationCount = 0 ATTN_OPERATIONS(ATTN_ONE_MORE);
#undef ATTN_ENUMERATOR
#undef ATTN_ONE_MORE

/// How Δ and A make Ā and B̄: both Ā = exp(ΔA); zoh: B̄ = (exp(ΔA) − 1)/A · B; euler: B̄ = ΔB (what Mamba runs).
enum class Discretise : std::uint8_t { zoh, euler };

/// What an operation needs to know besides the call. Each looks at its own members only.
struct OperationSpec {
    Operation operation = Operation::chunked;
    Index chunk = 4;  // chunked: keys a chunk, nsa: keys a block, >= 1; the last one may be shorter
    Index selected = 2;  // nsa: blocks whose keys a query reads, its own among them, >= 1
    Index recent = 4;    // nsa: keys |p − j| < recent of the window branch, >= 0
    Index latents = 4;
    Index rank = 2;   // linformer: rows that stand for all keys
    Index state = 4;  // state_space: N
    Discretise discretise = Discretise::zoh;
    std::uint64_t seed = 0;  // of initial parameters
};

/// An operand by the key of its stage or parameter ("v", "w_q", "latents").
struct OperationOperand {
    std::string_view key;
    Lights lights;
};

/// One row of an operation's stage table, of the same form as StageInfo.
struct OperationStage {
    std::string_view key;  // its name in files; gradients are d_<key>
    std::string_view symbol;
    std::string_view step;
    std::string_view title;
    std::string_view tex;
    Axis rows;
    Axis columns;
    HeadAxis heads;
    Exists exists;
    ColorScale colors;
    Role role;
    std::array<std::optional<OperationOperand>, 3> operands;
    std::string_view text;
    std::string_view source;
    bool gradient = true;  // false: nothing depends on it (a running maximum, logsumexp)
};

/// An entry of a parameter.
struct ParamEntry {
    Index head = 0, column = 0;
    Index rows = 0;  // of the matrix
};

/// A trainable parameter of an operation, one matrix a query head: [1,H,rows,columns], or [B,H,Tq,columns] where rows are queries: then
/// it is a number for each token, as a gate is.
struct OperationParam {
    std::string_view key;  // gradients are d_<key>
    std::string_view npz;  // name in an input file
    std::string_view symbol;
    Role role;
    Axis rows;
    Axis columns;
    std::string_view text;
    /// An entry of a fresh one; `noise` is a standard normal number of the seed's.
    double (*initial)(double noise, const ParamEntry& at);
};

/// Numbers held at once in the forward pass besides inputs and context.
struct OperationStorage {
    std::string_view what;  // "S and z of each head"
    double entries = 0.0;   // 4 bytes each in float32
};
struct OperationCost {
    double products = 0.0;     // FLOPs of multiply-adds, 2 each
    double elementwise = 0.0;  // the rest, each exp, division or sum one
    std::vector<OperationStorage> stored;

    double flops() const { return products + elementwise; }
    double stored_bytes() const;
};

template <class Scalar>
struct OperationParamsOf {
    std::vector<TensorOf<Scalar>> tensors;  // by row of OperationInfo::params
};

/// Everything that an operation computed, by row of its stage table; an empty tensor does not exist in this call.
/// Gradients are a second one of the same shapes, with the parameters'.
template <class Scalar>
struct OperationTraceOf {
    Operation operation = Operation::chunked;
    std::vector<TensorOf<Scalar>> stages;
    OperationParamsOf<Scalar> params;  // of gradients: d_latents, …
    ParamsOf<Scalar> call_params;  // of gradients: d_w_q, …; zeros where the operation never looks

    /// By key, which must be one of the operation's table.
    const TensorOf<Scalar>& operator[](std::string_view key) const;
    TensorOf<Scalar>& operator[](std::string_view key);
};

using OperationParams = OperationParamsOf<float>;
using OperationParamsD = OperationParamsOf<double>;
using OperationTrace = OperationTraceOf<float>;
using OperationTraceD = OperationTraceOf<double>;

/// What decides whether an operation has a meaning for a call.
struct CallForm {
    const Dimensions& size;
    const AttentionSpec& spec;
    bool cross = false;  // X_kv is given
    bool sinks = false;
};

struct OperationInfo {
    Operation operation;
    std::string_view key;    // "state-space": by which it is chosen
    std::string_view title;  // "Linear attention"
    std::string_view tex;    // in the subset that tex.h reads
    std::string_view text;   // one plain sentence
    std::string_view source;
    bool exact;                              // equals softmax attention up to rounding
    std::span<const OperationStage> stages;  // in the order of computation
    std::span<const OperationParam> params;
    OperationCost (*cost)(const Dimensions&, const AttentionSpec&, const OperationSpec&);
    /// Why it cannot compute a call, or a setting of its own is out of range: "" when it can.
    std::string (*refuses)(const CallForm&, const OperationSpec&);
    Result<OperationTraceD> (*forward)(const CallD&, const OperationSpec&, const OperationParamsD&,
                                       const RunControl&);
    Result<OperationTraceD> (*backward)(const CallD&, const OperationSpec&, const OperationParamsD&,
                                        const UpstreamD&, const RunControl&);
    std::string_view name;                            // "gated linear (GLA)": in a sentence
    std::span<const std::string_view> settings = {};  // fields of OperationSpec that it reads
};

/// In the order of the enum, from `chunked` on.
std::span<const OperationInfo, kOperationCount> operation_table();
/// Not of softmax.
const OperationInfo& info(Operation operation);
/// By key; '_' and '-' are the same. nullopt when there is none.
std::optional<Operation> find_operation(std::string_view key);

/// The shape of a stage in this call; count 0 when the call does not have it.
Shape operation_stage_shape(const OperationStage& stage, const Dimensions& size,
                            const AttentionSpec& spec, const OperationSpec& operation);
/// [1,H,rows,columns], or [B,H,Tq,columns] of a number for each token.
Shape operation_param_shape(const OperationParam& param, const Dimensions& size,
                            const OperationSpec& operation);

/// As check_fits_in_memory(), of every stage and parameter: before initial_params(), which takes them. run_operation() asks it too.
Result<void> check_operation_memory(const OperationSpec& operation, const Dimensions& size,
                                    const AttentionSpec& spec);

/// Fresh parameters, the same for the same seed on every machine. The operation must support the call.
OperationParams initial_params(const OperationSpec& operation, const Dimensions& size);

/// Why the operation cannot compute this call, one sentence that names the option; nullopt when it can. Masks,
/// positions or scores that an operation has no meaning for are refused, never ignored; `scale` and `causal` are
/// the exceptions that the operation's words name.
std::optional<std::string> unsupported(const OperationSpec& operation, const CallForm& call);
template <class Scalar>
CallForm form_of(const CallOf<Scalar>& call) {
    return {call.size(), call.spec(), !call.inputs().x_kv.empty(),
            !call.inputs().params[Param::sinks].empty()};
}

/// Every stage of the operation's table that this call has. Computed in double, plain loops, one thread.
/// `params`: of the operation's table, as initial_params() or read from a file; none where the table has none.
/// Edge: masked keys contribute nothing, in value and gradient, even where they are NaN. A row without keys follows
/// spec.empty_rows. NaN and inf of the inputs travel.
/// Fails as unsupported() says, for parameters of other shapes, when memory is too small and when stopped.
Result<OperationTrace> run_operation(const OperationSpec& operation, const Call& call,
                                     const OperationParams& params, const RunControl& control = {});

/// Gradients of L = Σ upstream ∘ stage, of every stage with `gradient`, every input and parameter; the forward pass is
/// computed again, in double.
/// d_implied[i,j] = d_context_i · v_j: what a weight there would do, forbidden pairs too.
Result<OperationTrace> run_operation_backward(const OperationSpec& operation, const Call& call,
                                              const OperationParams& params,
                                              const Upstream& upstream,
                                              const RunControl& control = {});

/// The same in full precision: double in, double out.
Result<OperationTraceD> run_operation_exact(const OperationSpec& operation, const CallD& call,
                                            const OperationParamsD& params,
                                            const RunControl& control = {});
Result<OperationTraceD> run_operation_exact_backward(const OperationSpec& operation,
                                                     const CallD& call,
                                                     const OperationParamsD& params,
                                                     const UpstreamD& upstream,
                                                     const RunControl& control = {});

/// The implied matrix of one column c of V, [B,H,Tq,Tk]: context[·,c] = it · V[·,c] (and skip · V of state_space). Only
/// state_space has one for each column, `implied` is their mean; the others have one for all.
Result<Tensor> implied_of_column(const OperationTrace& forward, Index column);

/// Of softmax attention with scores and weights stored, counted in the same way: 2·(d_k + d_v) FLOPs a pair that the
/// options' masks leave (not the array `mask`), and 5 of its softmax. The other scores (hidden width d_k), RoPE (angles from a
/// table), soft cap and ALiBi count what they compute; the division by √d_k and temperature none, as W_Q can hold it.
OperationCost attention_cost(const Dimensions& size, const AttentionSpec& spec);
/// How far an operation's context (or output) is from exact attention's: max |a − b| and ‖a − b‖ / ‖b‖ (Frobenius). NaN
/// where either has one.
struct OperationError {
    double largest = 0.0;
    double relative = 0.0;
};
OperationError operation_error(const Tensor& computed, const Tensor& exact);

}  // namespace attn

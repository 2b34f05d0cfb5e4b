#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "core/call.h"
#include "core/kernels/loops.h"
#include "core/operations/operation.h"

namespace attn {

// What the files of the operations share, each of which has a row.

/// What each operation's file gives to its row; tables.cpp has the rest.
struct OperationWork {
    decltype(OperationInfo::cost) cost;
    decltype(OperationInfo::refuses) refuses;
    decltype(OperationInfo::forward) forward;
    decltype(OperationInfo::backward) backward;
};
extern const OperationWork kChunkedWork;
extern const OperationWork kLinearWork;
extern const OperationWork kLatentsWork;
extern const OperationWork kStateSpaceWork;
extern const OperationWork kLinformerWork;
extern const OperationWork kGatedWork;
extern const OperationWork kDifferentialWork;
extern const OperationWork kNsaWork;
extern const OperationWork kSelectiveWork;
extern const OperationWork kRecurrentWork;  // retention, gated-linear, gated-delta and kda

// ---- passes

/// body(b, h, g) for every batch entry, query head and its key/value head. A body that sees a stop may return early.
template <class Body>
Result<void> for_each_head(const Dimensions& size, const RunControl& control, const Body& body) {
    const Index heads = size.batch * size.heads;
    for (Index n = 0; n < heads; ++n) {
        const Index h = n % size.heads;
        if (!control.stop.stop_requested())
            body(n / size.heads, h, h / (size.heads / size.kv_heads));
        if (control.stop.stop_requested()) return failed("the attention call was stopped");
        if (control.progress)
            control.progress(static_cast<double>(n + 1) / static_cast<double>(heads));
    }
    return {};
}

using StageKeys = std::initializer_list<std::string_view>;

/// A forward pass under way: `shared`, softmax attention's part, comes empty; the context and the stages named are zeros.
struct ForwardPass {
    ForwardPass(const CallD& of, const OperationSpec& spec, StageKeys keys);
    /// body(b, h, g) for each head; then the output.
    template <class Body>
    Result<OperationTraceD> run(const RunControl& control, const Body& body) {
        return for_each_head(call.size(), control, body).map([&] { return finish(); });
    }
    OperationTraceD finish();

    const CallD& call;
    TraceD shared;
    TensorD context;
    OperationTraceD trace;
};

/// A backward pass under way: d[context] as `upstream` says; d[q], d[k], d[v], the stages named and the parameters are zeros.
struct BackwardPass {
    BackwardPass(const CallD& of, const OperationSpec& spec, const OperationTraceD& forward,
                 const UpstreamD& upstream, StageKeys keys);
    /// body(b, h, g) for each head and after(), which leave d[q], d[k] and d[v] whole; then d_implied and the inputs.
    template <class Body, class After>
    Result<OperationTraceD> run(const RunControl& control, const Body& body, const After& after) {
        return for_each_head(call.size(), control, body).map([&] {
            after();
            return finish();
        });
    }
    template <class Body>
    Result<OperationTraceD> run(const RunControl& control, const Body& body) {
        return run(control, body, [] {});
    }
    OperationTraceD finish();

    const CallD& call;
    const OperationTraceD& f;
    TraceD d;
    OperationTraceD made;
    TensorD d_product;  // of implied V, where that is not the context
};

// ---- masks of operations that see a key or do not, whoever asks

/// 1 for each key of batch entry b that padding and a custom mask of keys leave.
std::vector<std::uint8_t> open_keys(const CallD& call, Index b);
/// In a recurrence over tokens that `open` leaves: rows before the first of them are NaN where the call wants that of empty rows.
void follow_row_policy(const CallD& call, const std::vector<std::uint8_t>& open, ViewD context,
                       ViewD implied);
/// So many keys stand at or before query i; Tk without causal.
Index keys_before(const CallD& call, Index i);

// ---- refusals

/// Whether scores are scaled by scale / temperature.
enum class Factor : std::uint8_t { used, not_used };
/// The first option of the call that means nothing to an operation which has no logit a pair, and which sees a key from
/// every query or from none (but for causal): "operation latents has no softcap: …".
std::string refuse_pair_options(std::string_view operation, const CallForm& form, Factor factor);

/// Of a recurrence, in which token i reads the state after token i: why the call has more than one sequence, or ""; as refuse_pair_options().
std::string refuse_two_sequences(std::string_view operation, const CallForm& form);

// ---- costs

/// Pairs of a query and a key that causal, windows, block and padding leave, over batch entries.
double open_pairs(const Dimensions& size, const AttentionSpec& spec);

}  // namespace attn

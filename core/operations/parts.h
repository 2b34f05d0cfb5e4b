#pragma once

#include <string>
#include <vector>

#include "core/kernels/loops.h"
#include "core/operations/operation.h"

namespace attn {

// What the files of the operations share, each of which has a row.

const OperationInfo& chunked_operation();
const OperationInfo& linear_operation();
const OperationInfo& latents_operation();
const OperationInfo& state_space_operation();
const OperationInfo& linformer_operation();

// ---- tables

/// What an operation shows and learns, in a file of its own: <operation>_table.cpp.
struct OperationTable {
    std::string_view source;
    std::span<const OperationStage> stages;
    std::span<const OperationParam> params;
};
OperationTable chunked_table();
OperationTable linear_table();
OperationTable latents_table();
OperationTable state_space_table();
OperationTable linformer_table();

/// Softmax attention's own row, of those that the operation has too.
OperationStage shared_row(Stage stage);
/// context = implied V; `tex` is how the operation gets there.
OperationStage context_row(std::string_view tex, std::string_view words, std::string_view source);

// ---- traces

/// As many empty tensors as the operation's table has rows.
OperationTraceD empty_trace(const OperationInfo& operation);
/// A tensor of zeros for a stage of the operation in this call.
TensorD stage_zeros(const OperationInfo& operation, std::string_view key, const CallD& call,
                    const OperationSpec& spec);
/// `shared` has a context: makes the output, and moves what the operation's table names into `trace`.
void finish_forward(const CallD& call, TraceD&& shared, OperationTraceD& trace);
/// Softmax attention's gradients before the operation's own: d[context] as `upstream` says, d[v], d[q], d[k] zeros.
TraceD begin_gradients(const CallD& call, const TensorD& context, const UpstreamD& upstream);
/// d[q], d[k] and d[v] are whole: goes on to the inputs, makes d_implied, and moves what the operation's table names.
void finish_backward(const CallD& call, const TensorD& v, TraceD&& d, OperationTraceD& gradients);

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

// ---- masks of operations that see a key or do not, whoever asks

/// 1 for each key of batch entry b that padding and a custom mask of keys leave.
std::vector<std::uint8_t> open_keys(const CallD& call, Index b);
/// So many keys stand at or before query i; Tk without causal.
Index keys_before(const CallD& call, Index i);

// ---- refusals

/// Whether scores are scaled by scale / temperature.
enum class Factor : std::uint8_t { used, not_used };
/// The first option of the call that means nothing to an operation which has no logit a pair, and which sees a key from
/// every query or from none (but for causal): "operation latents has no softcap: …".
std::string refuse_pair_options(std::string_view operation, const CallForm& form, Factor factor);

// ---- costs

/// Pairs of a query and a key that causal, windows, block and padding leave, over batch entries.
double open_pairs(const Dimensions& size, const AttentionSpec& spec);

}  // namespace attn

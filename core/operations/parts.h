#pragma once

#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/call.h"
#include "core/kernels/loops.h"
#include "core/operations/operation.h"

namespace attn {

// What the files of the operations share, each of which has its row.

// ---- rows

#define ATTN_DECLARE_ROW(name) OperationInfo name##_row();
ATTN_OPERATIONS(ATTN_DECLARE_ROW)
#undef ATTN_DECLARE_ROW

inline constexpr Stage kUpToMask[] = {Stage::x,     Stage::x_kv,   Stage::q,      Stage::k,
                                      Stage::v,     Stage::q_norm, Stage::k_norm, Stage::q_rot,
                                      Stage::k_rot, Stage::scores, Stage::scaled, Stage::biased,
                                      Stage::masked};
inline constexpr Stage kUpToDropped[] = {
    Stage::x,      Stage::x_kv,   Stage::q,      Stage::k,       Stage::v,
    Stage::q_norm, Stage::k_norm, Stage::q_rot,  Stage::k_rot,   Stage::scores,
    Stage::scaled, Stage::biased, Stage::masked, Stage::weights, Stage::dropped};
inline constexpr Stage kValues[] = {Stage::x, Stage::v};

/// Softmax attention's own row, of those that the operation has too.
OperationStage shared_row(Stage stage);
/// Softmax attention's own rows, the operation's, and the output; a row that names no source has the operation's.
std::vector<OperationStage> stages_of(std::string_view source, std::span<const Stage> shared,
                                      std::initializer_list<OperationStage> own);
/// context = implied V; `tex` is how the operation gets there.
OperationStage context_row(std::string_view tex, std::string_view text);
/// A fresh parameter's entries: normal with variance 1 / rows.
inline double per_rows(double noise, const ParamEntry& at) {
    return noise / std::sqrt(static_cast<double>(at.rows));
}

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

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/cost.h"
#include "core/spec.h"
#include "core/trace.h"

namespace attn::bench {

// H heads, n queries and keys, d width of Q, K and V.

/// What one call computes: context and logsumexp, their gradients, or every stage.
enum class Pass : std::uint8_t { forward, backward, trace };
std::string_view to_string(Pass pass);

/// One attention call to measure.
struct Workload {
    Index heads = 1;
    Index n = 0;
    Index d = 64;
    bool causal = false;
    Pass pass = Pass::forward;
    std::string_view kind =
        {};              // key of a row of workload_kinds(); "": dot products under the mask
    Index window = 0;    // query i sees keys j with |i − j| ≤ window alone; 0: all
    Index queries = 0;   // so many in place of n, forward without a mask; 0: n
    Index kv_heads = 0;  // heads of K and V; 0: as many as of Q

    Index rows() const { return queries > 0 ? queries : n; }
    Index shared_heads() const { return kv_heads > 0 ? kv_heads : heads; }

    bool operator==(const Workload&) const = default;
};

/// What a workload may have beyond that, with parameters of its own.
struct WorkloadKind {
    std::string_view key;  // after the shape: "H8N2048d64+rope"
    void (*set)(const Workload& work, AttentionSpec& spec, Inputs& inputs);
};
std::span<const WorkloadKind> workload_kinds();

/// "H8N2048d64", with "c" for a causal mask, "b" for the backward pass, "w1024" for a window, "q1" for so many queries, "g2"
/// for so many heads of K and V, and "+rope" for a kind; H is 1 and d is 64 where they are left out.
Result<Workload> parse_workload(std::string_view text);
std::string to_string(const Workload& work);

/// The same sizes, to be counted with.
CostSizes sizes_of(const Workload& work);

/// 10⁹ floating-point operations of the matrix products (product_flop() of cost.h), n pairs of each query: forward 4·H·n²·d (Q Kᵀ and A V, a
/// multiplication and an addition each), backward 10·H·n²·d (the scores again, d_A, d_V, d_Q, d_K). Half of it under a
/// causal mask; of a window the pairs inside it in place of n². Softmax and what a kind adds are not counted.
double gflop(const Workload& work);

/// The least that must cross the border between memory and caches: every input read once, every result written once.
/// forward: Q, K, V, context, logsumexp; backward: Q, K, V, context, d_context, logsumexp and d_Q, d_K, d_V; trace:
/// forward's and the four stages of H·n² numbers.
double least_bytes(const Workload& work);

/// Q, K, V uniform in [−1.7, 1.7), of variance 1; the same everywhere.
Inputs make_inputs(const Workload& work);
AttentionSpec make_spec(const Workload& work);

}  // namespace attn::bench

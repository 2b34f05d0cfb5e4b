#pragma once

#include <memory>
#include <vector>

#include "core/tensor.h"
#include "core/trace.h"

namespace attn::verify {

/// The storage that a serving kernel reads, and how the padded call [B,H,Tq,d], [B,Hkv,Tk,d] was made from it. Each sequence lies at the end of
/// its axes, so that every rule by distance holds: query r of the n of a sequence is row Tq − n + r, the key at its position p of m
/// is column Tk − m + p. Rows and columns before are padding.
struct Serving {
    std::vector<Index> queries, keys;  // n and m of each sequence
    Index page = 0;                    // rows of a page; 0: not paged
    bool packed = false;               // keys of all sequences lie one after another: cu_seqlens_k
    bool packed_queries = false;       // cu_seqlens_q
    TensorD k_rows,
        v_rows;  // [1,Hkv,N,d] all rows that K and V are gathered from; empty: padded arrays were given
    /// Of each sequence the row of each position, beyond its keys as far as its pages or its part of a packed array reach; −1: none.
    std::vector<std::vector<Index>> rows;
    TensorD q, k, v;  // the call's numbers where float32 cannot hold them exactly; else empty
    TensorD q_scale, k_scale, v_scale;  // [B,H or Hkv,T,1 or d], as they multiply codes; else empty
    double weights_roundoff =
        0.0;  // of the codes in which weights meet V, where q, k and v are codes too
    Index q_heads = 1;
    bool heads_first = false;  // arrays of four axes are [B,H,T,d]; else [B,T,H,d]
    /// First position of each split of each sequence's keys, and the end of the last one; empty: not known.
    std::vector<std::vector<Index>> splits;

    Index padding_of_queries(Index b, Index tq) const {
        return tq - queries[static_cast<std::size_t>(b)];
    }
    bool paged() const { return page > 0; }
};

/// Results of each split by itself: those of split s of sequence b are batch entry s · B + b.
struct SplitResults {
    Tensor context;    // [S·B,H,Tq,d_v]
    Tensor logsumexp;  // [S·B,H,Tq,1], natural; −∞ where a split has no key
};

/// Where `count` splits of `keys` keys begin, and the end: equal ones of ⌈keys / count⌉, rounded up to whole multiples of `unit`.
std::vector<Index> split_starts(Index keys, Index count, Index unit);

/// Σ_s e^(l_s − l) O_s with l = ln Σ_s e^(l_s), l without the sinks that the call may have.
struct Merged {
    TensorD context;    // [B,H,Tq,d_v]
    TensorD logsumexp;  // [B,H,Tq,1]
};
/// `sinks` [1,1,1,H] or empty.
Merged merged(const SplitResults& parts, Index batch, const TensorD& sinks);

}  // namespace attn::verify

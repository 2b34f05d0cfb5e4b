#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/files/arrays.h"
#include "app/files/options.h"
#include "core/verify/serving.h"

namespace attn::files {

// A call as serving engines hold it: keys and values in pages, sequences of several lengths one after another, codes with scales, results
// of splits. Its arrays are replaced by the padded call's: Q, K, V, mask, context, logsumexp (core/verify/serving.h has the places of rows).
//   k_cache, v_cache (key_cache, value_cache)     [pages, P, Hkv, d], or [pages, Hkv, P, d]
//   kv_cache                                      [2, pages, …] or [pages, 2, …]: both in one
//   block_tables (block_table, page_table)        [B, n]; without it sequence b has page b
//   seq_lens (context_lens, cache_seqlens, seqused_k)  [B]
//   cu_seqlens_q, cu_seqlens_k                    [B + 1] with q, k, v [N, H, d]
//   q_scale, k_scale, v_scale (q_descale, …)      [], [H], [B,H], the codes' axes without the last one, or with blocks of it
//   o_partial, lse_partial                        [S,B,H,Tq,d_v] and [S,B,H,Tq]; split_starts [S + 1] or [B, S + 1]

struct ServingCall {
    std::shared_ptr<const verify::Serving> serving;  // null: the file has nothing of it
    std::optional<verify::SplitResults> parts;
    std::string parts_dtype;
    bool unpacked = false;        // arrays have other axes now: the option layout is not theirs
    std::optional<Index> offset;  // of the queries, where the options do not imply it
    std::vector<std::string> notes;
};

/// Whether the names are those of pages or of packed sequences, in which a causal mask ends at the last key of each sequence.
bool names_serving(const ArrayReader& reader);

/// The options of a serving call: its causal mask without a corner is bottom-right, as in the engines.
OptionValues for_serving(const ArrayReader& reader, OptionValues options);

/// Replaces the arrays in `reader`, of `layer` ("l3.k_cache") or of every layer, which have the same lengths; the result is that of the first.
/// `other`: of the file with the inputs, where this one has results alone. Throws where they do not fit together.
ServingCall read_serving(ArrayReader& reader, const CallOptions& options,
                         std::optional<Index> layer = {}, const verify::Serving* other = nullptr);

}  // namespace attn::files

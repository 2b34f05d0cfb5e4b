#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/block_mask.h"
#include "core/note.h"
#include "core/spec.h"

namespace attn::files {

class ArrayReader;

/// Arrays of sparse attention of a file, with Q, K and V.
struct SparseArrays {
    std::shared_ptr<const Mask> selected;    // of the array `selected`; null: absent
    std::shared_ptr<const Mask> other_mask;  // the call's mask without `selected`; may be null
    std::optional<BlockMask> block_mask;     // kv_num_blocks, kv_indices and their companions
    Tensor indexer;  // indexer_scores, broadcastable to [B,H,Tq,Tk]; empty: none
};

/// selected: integers [Tq,k], [H,Tq,k] or [B,H,Tq,k], the keys that each query reads, −1 for an unused slot. They are a mask, which is
/// joined with `mask` by AND. A key that a query names twice counts once, with a note.
/// kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices: FlexAttention's BlockMask, with Q_BLOCK_SIZE and KV_BLOCK_SIZE (128
/// where they are absent). indexer_scores: floats [Tq,Tk] or 4-D. These change no mask.
/// Throws where an entry is out of range, by its indices.
SparseArrays read_sparse(ArrayReader& reader, const std::string& selected, const Dimensions& size,
                         MaskSpec& mask, std::vector<Note>& notes);

}  // namespace attn::files

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/tensor.h"

namespace attn {

/// How a query and a key become one number.
enum class Score : std::uint8_t { dot };

/// sqrt_dk: 1/√d_k. none: 1. value: AttentionSpec::scale_value.
enum class ScaleKind : std::uint8_t { sqrt_dk, none, value };

/// Where the diagonal starts when Tq ≠ Tk. top_left: key j ≤ query i (PyTorch's is_causal).
/// bottom_right: j ≤ i + Tk − Tq, the last query sees every key (decoding).
enum class CausalAlign : std::uint8_t { top_left, bottom_right };

/// What softmax gives a row whose keys are all masked: 0 everywhere, or NaN everywhere.
enum class EmptyRows : std::uint8_t { zero, nan };

/// Which keys a query may attend to: the AND of everything that is set.
struct MaskSpec {
    std::optional<CausalAlign> causal;
    std::optional<Index> window;  // |i − j| ≤ window
    std::optional<Index> block;   // i / block == j / block
    std::vector<Index> padding;   // valid keys of each batch entry: j < padding[b]; empty: all
    std::shared_ptr<const Mask> custom;  // broadcastable to [B,H,Tq,Tk]; true = may attend

    bool any() const { return causal || window || block || !padding.empty() || custom; }
};

/// Everything that one attention call does besides its tensors.
struct AttentionSpec {
    Score score = Score::dot;
    ScaleKind scale = ScaleKind::sqrt_dk;
    double scale_value = 1.0;  // used when scale == value
    double temperature = 1.0;  // S = scores · scale / temperature; > 0
    MaskSpec mask;
    EmptyRows empty_rows = EmptyRows::zero;
    Index heads = 1;         // used to split X W_Q; with Q, K, V given their shapes decide
    Index kv_heads = 1;      // GQA: heads / kv_heads queries share one key/value head
    double dropout = 0.0;    // p in [0, 1)
    std::uint64_t seed = 0;  // of dropout
};

}  // namespace attn

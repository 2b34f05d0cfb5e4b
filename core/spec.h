#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/forward.h"
#include "core/sizes.h"

namespace attn {

struct PairBias;      // spec_arrays.h
struct RotaryTables;  // spec_arrays.h

/// How a query and a key become one number. THE list of scores: X(name) for core/scores/<name>.cpp, which has its row.
#define ATTN_SCORES(X) X(dot) X(cosine) X(general) X(additive) X(student_t) X(relative) X(distance)
#define ATTN_ENUMERATOR(name) name,
#define ATTN_ONE_MORE(name) +1
enum class Score : std::uint8_t { ATTN_SCORES(ATTN_ENUMERATOR) };
inline constexpr std::size_t kScoreCount = 0 ATTN_SCORES(ATTN_ONE_MORE);  // of score_table()
#undef ATTN_ENUMERATOR
#undef ATTN_ONE_MORE

/// Which columns of a head RoPE turns together: c and c + dims/2 (Llama), or 2c and 2c + 1 (RoFormer).
enum class RopePairs : std::uint8_t { half, interleaved };

/// How a model turns slower that goes on with longer texts than it was first trained on. ω is base^(−2c/dims).
/// linear: ω / factor. Chen et al. 2023, arXiv:2306.15595.
/// llama3: by the wavelength λ = 2π / ω and L = original_length: ω where λ < L / high; ω / factor where λ > L / low; between
/// ((1 − s) / factor + s) ω with s = (L / λ − low) / (high − low). As apply_scaling of Meta's llama-models, from Llama 3.1 on.
/// yarn: ((1 − s) + s / factor) ω with s from 0 at pair `low` to 1 at pair `high`. Peng et al. 2023, arXiv:2309.00071.
/// proportional: ω / factor in the first ⌊low · dims / 2⌋ pairs, 0 in the others, whose columns keep their partners across the whole
/// head (Gemma 4; transformers' rope_type "proportional").
/// ntk: ω of the base times factor^(dims / (dims − 2)), which leaves the first pair unchanged and slows the last by the factor (bloc97
/// 2023). transformers' "dynamic" at S tokens is ntk with factor · S / L − factor + 1, L = original_max_position_embeddings.
enum class RopeScale : std::uint8_t { none, linear, llama3, yarn, proportional, ntk };
struct RopeScaling {
    RopeScale kind = RopeScale::none;
    double factor = 1.0;  // > 0
    double
        low = 1.0,
        high =
            4.0;  // low_freq_factor < high_freq_factor; of yarn: c; of proportional low is a share
    double original_length = 8192.0;  // > 0, original_max_position_embeddings
};

/// Rotary positions: column pair c of a query or key at position p turns by p · base^(−2c/dims), scaled.
/// Source: Su et al. 2021, arXiv:2104.09864.
struct Rope {
    RopePairs pairs = RopePairs::half;
    double base = 10000.0;      // > 0
    std::optional<Index> dims;  // number of leading columns that turn, even; all d_k when not set
    RopeScaling scaling = {};
    std::shared_ptr<const RotaryTables> tables = {};  // where set, base and scaling turn nothing
};
/// Radians a position of column pair c of `dims` columns that turn.
double rope_frequency(const Rope& rope, Index c, Index dims);

/// ε of QK-norm where none is given: that of Qwen3 and Gemma 3.
inline constexpr double kQkNormEpsilon = 1e-6;

/// sqrt_dk: 1/√d_k. none: 1. value: AttentionSpec::scale_value. q_and_k: each query and key is multiplied by d_k^(−1/4)
/// before their dot product, whose scores are so divided by √d_k (Radford et al. 2022, arXiv:2212.04356, Whisper's code).
enum class ScaleKind : std::uint8_t { sqrt_dk, none, value, q_and_k };

/// Where the diagonal starts when Tq ≠ Tk. top_left: query i is at position i (PyTorch's is_causal).
/// bottom_right: at i + Tk − Tq, so that the last query sees every key (decoding).
enum class CausalAlign : std::uint8_t { top_left, bottom_right };

/// The weights of a row whose keys are all masked: 0 everywhere, or NaN everywhere.
enum class EmptyRows : std::uint8_t { zero, nan };

/// Which keys a query may attend to: the AND of everything that is set. Query i is at position p = i + offset
/// (AttentionSpec::query_offset), key j at j.
struct MaskSpec {
    std::optional<CausalAlign> causal;  // j ≤ p
    std::optional<Index> window;        // |p − j| ≤ window
    std::optional<Index> window_left;   // p − j ≤ window_left
    std::optional<Index> window_right;  // j − p ≤ window_right
    Index global_tokens =
        0;  // positions below it see every key and are seen, whatever the windows are
    std::optional<Index> block;  // ⌊p / block⌋ == ⌊j / block⌋
    std::vector<Index> padding;  // valid keys of each batch entry: j < padding[b]; empty: all
    std::shared_ptr<const Mask> custom;  // broadcastable to [B,H,Tq,Tk]; true = may attend
    /// Added to the scores (AttentionSpec::bias_before_softcap has the order). It is one of the rules because its −∞ forbids.
    std::shared_ptr<const PairBias> bias;

    bool bias_forbids() const;
    /// The bias without the other rules.
    MaskSpec bias_alone() const {
        MaskSpec alone;
        alone.bias = bias;
        return alone;
    }
    bool windowed() const { return window || window_left || window_right; }
    bool any() const {
        return causal || windowed() || block || !padding.empty() || custom || bias_forbids();
    }
};

/// Everything that one attention call does besides its tensors.
struct AttentionSpec {
    Score score = Score::dot;
    ScaleKind scale = ScaleKind::sqrt_dk;
    double scale_value = 1.0;  // used when scale == value
    double temperature = 1.0;  // S = scores · scale / temperature; > 0
    std::optional<Index>
        query_offset;  // position of query 0; not set: Tk − Tq if bottom_right, else 0
    /// ε of QK-norm: each query and key becomes x / √(mean x² + ε), times q_norm_weight or k_norm_weight of its columns, before RoPE.
    /// Henry et al. 2020, arXiv:2010.04245, with the RMSNorm of Zhang & Sennrich 2019, arXiv:1910.07467 (Qwen3, Gemma 3).
    std::optional<double> qk_norm;  // from 0 to 1e18
    std::optional<Rope> rope;       // turns Q and K before the score
    std::optional<double> softcap;  // S becomes cap · tanh(S / cap); > 0
    /// mask.bias is added to S after the soft cap, as PyTorch's score_mod and ONNX since April 2026 do; or before it, as
    /// ONNX's Attention of opset 23 and 24 did until then. Without a soft cap both are the same.
    bool bias_before_softcap = false;
    bool alibi =
        false;  // subtracts slope_h · |p − j|, slopes of Press et al. 2022, arXiv:2108.12409
    MaskSpec mask;
    EmptyRows empty_rows = EmptyRows::zero;
    Index heads = 1;         // used to split X W_Q; with Q, K, V given their shapes decide
    Index kv_heads = 1;      // GQA: heads / kv_heads queries share one key/value head
    double dropout = 0.0;    // p in [0, 1)
    std::uint64_t seed = 0;  // of dropout
    bool training = true;    // off (evaluation): dropout does nothing, whatever p

    /// Whether a score is more than its product times a factor: then `biased` exists.
    bool biases() const { return softcap || alibi || mask.bias; }
    /// Whether weights are dropped: then `dropped` exists.
    bool drops() const { return training && dropout > 0.0; }
    /// The effective p: 0 outside training.
    double active_dropout() const { return training ? dropout : 0.0; }
};

}  // namespace attn

#include "core/verify/faults.h"

#include <array>

namespace attn::verify {
namespace {

template <Reason (*masks)(const MaskCase&, const TakeMask&)>
Reason planted(const Trial& trial, const Take& take) {
    return plant_masks(trial, take, masks);
}

// clang-format off
constexpr auto kFaults = std::to_array<Fault>({
    {"causal_alignment", "the causal mask starts at the wrong key",
     "with a key/value cache the mask is j ≤ i + Tk − Tq (bottom-right); PyTorch's is_causal is j ≤ i (top-left)",
     "pytorch#108108, flax#5591, onnx#8068", planted<wrong_alignment>, wrong_alignment},
    {"mask_inverted", "the mask is inverted: true is read as forbidden",
     "invert it: here and in scaled_dot_product_attention true may attend, in nn.MultiheadAttention true is forbidden",
     "transformers#38094", planted<inverted_mask>, inverted_mask},
    {"mask_transposed", "the mask is transposed: rows are read as columns",
     "its axes are [query, key]", "a common mistake", planted<transposed_mask>, transposed_mask},
    {"mask_dropped", "the mask, or a part of it, is not applied",
     "hand it to the kernel: some drop it silently on another path", "keras#23038, transformers#48745",
     planted<dropped_mask>, dropped_mask},
    {"scale", "the scores are scaled wrongly",
     "multiply them by 1/√d_k once, by the width of a head", "maxtext#3138, transformers#31891", wrong_scale},
    {"softmax_axis", "softmax runs over the wrong axis",
     "it runs over the keys, the last axis of [B,H,Tq,Tk]", "labmlai nn#146", softmax_over_wrong_axis},
    {"gqa_tiled", "key/value heads are tiled instead of repeated",
     "use repeat_interleave: query head h has key/value head h / (H / Hkv)", "onnx#7274, jax-js#180", tiled_groups},
    {"rope_pairing", "RoPE turns the wrong pairs of columns",
     "half (Llama) turns c and c + d/2, interleaved (RoFormer) 2c and 2c + 1: permute the weights or change the kernel",
     "transformers#25199, vllm-ascend#12780", wrong_rope_pairs},
    {"rope_angles", "RoPE's angles are computed in a short format",
     "compute positions, frequencies, angles, cosine and sine in float32", "transformers#29285, candle#3520",
     coarse_rope_angles},
    {"padding_positions", "padding is counted at the wrong place",
     "count queries and keys alike, and give the mask the side that the padding is on", "unsloth#3699, nnsight#673",
     wrong_padded_positions, padding_at_wrong_end},
    {"empty_rows", "rows without a key are treated differently",
     "decide what they are (empty_rows: zero or nan), or see that none is left; a finite mask value makes them the mean of V",
     "pytorch#103749, onnxruntime#28958", wrong_empty_rows},
    {"mask_value", "a finite number stands for −∞ in the mask, and scores beat it",
     "mask with −∞", "TransformerLens#385", finite_mask_value},
    {"window_off_by_one", "the window is one key too wide or too narrow",
     "|i − j| ≤ W holds 2W + 1 keys, i − j ≤ W behind a causal mask W + 1: some programs count W",
     "transformers#39408, transformers#29623, zml#763", planted<window_off_by_one>, window_off_by_one},
    {"softcap", "the soft-cap is not applied, or at the wrong place",
     "cap · tanh(S / cap), after the scale and before the mask", "sglang#33915, vllm-metal#665", dropped_softcap},
    {"alibi_slopes", "ALiBi's slopes are wrong",
     "2^(−8(h+1)/H) where H is a power of two; else those of the next smaller one, then every other of twice as many",
     "mlx#3071, aprender#2143", wrong_alibi_slopes},
    {"dropout_active", "dropout is active",
     "switch it off for evaluation: model.eval(), dropout_p = 0", "pytorch#124464", active_dropout},
    {"document_leak", "packed documents attend to one another",
     "mask pairs of two documents", "transformers#46634, nanoVLM#204", planted<document_leak>, document_leak},
    {"heads_not_transposed", "heads are merged without a transpose",
     "bring [B,H,T,d] to [B,T,H,d] before the reshape", "jsbaan/transformer-from-scratch#6", heads_not_transposed},
    {"fused_split", "a fused QKV projection is split in the wrong order",
     "GPT-NeoX packs [q, k, v] head by head, GPT-2 all Q, all K, all V", "GPT-NeoX layout", fused_split},
    {"value_group", "heads take V of another group",
     "query head h has value head h / (H / Hkv)", "a common mistake", wrong_value_group},
    {"dropout_unscaled", "dropout's 1/(1 − p) is missing",
     "divide the weights that are left by 1 − p, or take the output after it", "a common mistake", unscaled_dropout},
    {"causal_unasked", "the kernel is causal, the options are not",
     "name the mask in the options, or switch it off in the kernel (is_causal=False)", "a common mistake",
     planted<unasked_causal>},
    {"tile_skipped", "a tile is skipped",
     "loop over ⌈Tk / Bk⌉ tiles of keys and ⌈Tq / Bq⌉ of queries; of a causal call the last tile of keys is ⌈(last query + 1) / Bk⌉",
     "a common mistake of tiled kernels", skipped_tile},
    {"tail", "the last, partial tile of keys is read wrongly",
     "mask places ≥ Tk with −∞ before the maximum is taken, and read rows n·Bk + r", "a common mistake of tiled kernels",
     wrong_tail},
    {"mask_tile", "tiles that the diagonal crosses are not masked",
     "mask each tile whose last key is beyond its first query, ⌈Bq / Bk⌉ + 1 of them", "a common mistake of tiled kernels",
     unmasked_tile},
    {"query_tile", "queries stand in the place of others",
     "load queries and store the output at the same rows, n·Bq + r < Tq", "a common mistake of tiled kernels",
     wrong_query_tile},
    {"not_rescaled", "a running sum is not rescaled at a new maximum",
     "multiply the accumulator and the sum by exp(m_old − m_new) before a tile is added", "Dao 2023, algorithm 1",
     not_rescaled},
    {"stale_maximum", "the maximum of the tile before is used",
     "take m_new = max(m_old, the tile's) first, then exp(s − m_new)", "Dao 2023, algorithm 1", stale_maximum},
    {"normaliser", "the output is not divided by the sum of its exponentials",
     "divide the accumulator by l once, after the last tile", "Dao 2023, algorithm 1", wrong_normaliser},
    {"base_2", "2^x and e^x are mixed up",
     "exp(s − m) = 2^((s − m) log2 e); logsumexp = m + ln l, in natural logarithms", "a common mistake of tiled kernels",
     base_two},
    {"logsumexp", "logsumexp is put together wrongly", "m + ln l, of the scaled and masked scores",
     "a common mistake of tiled kernels", wrong_logsumexp},
    {"heads_permuted", "heads or batch entries stand in the place of others",
     "head h of batch entry b starts at (b · H + h) · T · d in [B,H,T,d], at b · T · H · d + h · d in [B,T,H,d]",
     "a common mistake", permuted_heads},
    {"key_group", "heads take K, or K and V, of another group", "query head h has key/value head h / (H / Hkv)",
     "a common mistake", wrong_group},
    {"batch", "sequences take K or V of another one", "see the batch stride of K and V", "a common mistake", wrong_batch},
    {"layout", "arrays are [B,T,H,d] and are read as [B,H,T,d]", "say which layout they have, or transpose axes 1 and 2",
     "flash-attention has [B,T,H,d], scaled_dot_product_attention [B,H,T,d]", swapped_layout},
    {"not_written", "the whole output is 0 or NaN",
     "0: see that the kernel runs, and writes the array that is saved; NaN: look for ∞ − ∞ or 0/0 in every row",
     "a common mistake", not_written},
    {"low_precision", "a part is computed in a short format",
     "accumulate in float32, and compare with a tolerance of the format", "a common mistake", low_precision},
});
// clang-format on

}  // namespace

std::span<const Fault> fault_table() { return kFaults; }

}  // namespace attn::verify

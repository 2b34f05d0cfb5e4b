#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/verify/flash.h"

namespace attn::test {

/// The bug of a kernel that serves sequences from pages or one array.
enum class ServeBug : std::uint8_t {
    none,
    // pages
    page_first_row_left_out,
    page_last_row_left_out,
    page_first_row_of_page_before,
    page_last_row_of_next_page,
    page_last_row_is_next_first,
    page_values_a_row_late,
    page_values_in_reverse,
    tail_rows_count,
    tail_rows_count_in_values_of_zeros,
    last_page_left_out,
    // tables
    stale_last_page,
    page_0_for_entry_1,
    stale_keys,
    table_of_next,
    table_of_first,
    values_table_of_next,
    table_entry_late,
    // lengths
    a_key_too_few,
    a_key_too_many,
    no_keys_of_second,
    length_of_next,
    length_of_longest,
    length_of_pages,
    length_without_new,
    empty_is_nan,
    // cu_seqlens
    keys_start_late,
    keys_start_early,
    values_start_late,
    first_key_left_out,
    queries_late,
    queries_early,
    output_late,
    // splits
    first_split_missing,
    last_split_missing,
    second_split_missing,
    splits_equal,
    splits_summed,
    splits_base_2,
    splits_base_e,
    lse_of_next_sequence,
    lse_of_next_head,
    lse_of_next_split,
    lse_of_sequence_0,
    // sinks
    sink_dropped,
    sink_of_next_head,
    sink_of_head_0,
    sink_in_every_split,
    sink_scaled,
    // scales of codes
    k_scale_ignored,
    v_scale_ignored,
    q_scale_ignored,
    k_scale_of_next_head,
    v_scale_of_head_0,
    k_scale_twice,
    v_scale_twice,
    scales_swapped,
    k_scale_of_token_before,
    v_scale_of_first_block,
    // options
    temperature_ignored,
    temperature_multiplied,
    softcap_ignored,
    softcap_before_scale,
    window_ignored,
    window_wide,
    alibi_ignored,
    rope_ignored,
    rope_of_queries_ignored,
    rope_base,
    rope_all_columns,
    rope_scaling_ignored,
    rope_pairs,
    rope_from_0,
    causal_top_left,
    causal_ignored,
    bias_dropped,
    bias_before_scale,
    bias_transposed,
    bias_of_head_0,
    scale_ignored,
    groups_tiled,
    next_value_group,
    // QK-norm
    norms_ignored,
    q_norm_ignored,
    k_norm_ignored,
    norm_weights_ignored,
    norm_weights_and_one,
    norm_weights_swapped,
    norm_epsilon,
    norm_by_length,
    norm_after_rope,
    norm_over_heads,
    // gate
    gate_ignored,
    gate_without_sigmoid,
    gate_twice,
    gate_of_next_head,
    gate_of_head_0,
    gate_of_first_column,
    gate_of_next_query
};

/// A call as engines hold it, and a kernel in plain float32 loops of its own for it. Rows of q, out and of packed k and v are
/// [row][head][column]; pages are [page][slot][head][column].
struct Serve {
    Index heads = 4, groups = 2, d = 16, d_v = 16;
    std::vector<Index> queries, keys;       // of each sequence
    std::vector<float> q, k, v;             // numbers, or codes
    Index page = 0;                         // 0: packed
    std::vector<std::vector<Index>> table;  // pages of each sequence
    std::vector<Index> key_starts;          // of packed keys, and the end
    std::vector<float> q_scale, k_scale,
        v_scale;  // none, one, one a group, one a row and group, or of blocks of columns
    bool causal = true;
    std::optional<Index> window;  // keys to the left
    std::optional<float> softcap;
    std::vector<float> sinks;
    bool alibi = false;
    bool rope = false, rope_half = true;  // keys are not turned yet
    float rope_base = 10000.0F, rope_factor = 1.0F;
    Index rope_dims = 0;                  // 0: all
    std::vector<float> q_gamma, k_gamma;  // weights of QK-norm, one a column; none: no QK-norm
    float epsilon = 1e-6F;
    std::vector<float> gate;  // [row][head][column]; none: no gate
    float temperature = 1.0F;
    std::vector<float> bias;  // [head][query r of the longest][position of the longest]
    Index splits = 1;
    Number number = Number::fp32;  // operands, weights before V and output
    bool short_weights = false;    // weights are rounded to E4M3, the largest one 1
    ServeBug bug = ServeBug::none;
};

struct ServeOut {
    std::vector<float> out, lse;              // [row][head][column], [head][row]
    std::vector<float> partial, partial_lse;  // [split] of the same, [split][row][head]
};
ServeOut run_serve(const Serve& serve);

/// The E4M3 number next to `value`, and its code.
std::uint8_t e4m3_code(float value);

}  // namespace attn::test

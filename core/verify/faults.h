#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/verify/subject.h"

namespace attn {
enum class FloatFormat : std::uint8_t;
struct Dimensions;
struct MaskSpec;
}  // namespace attn

namespace attn::verify {

struct Backward;

// THE table of faults. A row is a hypothesis about results: what went wrong, and how to make the same mistake on the same
// inputs. Reports, documentation and tests go by it.

/// What a hypothesis is tried on.
struct Trial {
    const Subject& subject;
    const Results&
        results;  // a fault that takes a number from data (a slope, dropped weights) takes it from here
    const Backward* backward = nullptr;  // of faults of the backward pass
};
/// One way in which a fault shows: the stages as they are with it. False: no other way needs to be tried.
using Take = std::function<bool(std::string variant, TraceD planted)>;
/// Why a fault cannot be in these tensors, or cannot be tried; "": it was tried.
using Reason = std::string;

/// The mask of a call.
struct MaskCase {
    const MaskSpec& mask;
    const Dimensions& size;
    const Mask& allowed;
};
using TakeMask = std::function<bool(std::string variant, Mask allowed)>;

struct Fault {
    std::string_view key;
    std::string_view text;    // what went wrong
    std::string_view remedy;  // what to do
    std::string_view source;  // where it was reported
    Reason (*plant)(const Trial& trial, const Take& take);
    /// The same where it is all in which pairs attend: then weights alone can tell.
    Reason (*masks)(const MaskCase& call, const TakeMask& take) = nullptr;
};
std::span<const Fault> fault_table();
/// Those of a backward pass alone: gradients in the place of stages, weights and output are right.
std::span<const Fault> backward_fault_table();

// By what is wrong with them, in a file each.

Reason wrong_alignment(const MaskCase& call, const TakeMask& take);
Reason wrong_causal_alignment(const Trial& trial, const Take& take);
Reason inverted_mask(const MaskCase& call, const TakeMask& take);
Reason transposed_mask(const MaskCase& call, const TakeMask& take);
Reason dropped_mask(const MaskCase& call, const TakeMask& take);
Reason window_off_by_one(const MaskCase& call, const TakeMask& take);
Reason document_leak(const MaskCase& call, const TakeMask& take);
Reason padding_at_wrong_end(const MaskCase& call, const TakeMask& take);
Reason unasked_causal(const MaskCase& call, const TakeMask& take);
/// A mask in the place of the call's, and each way to treat the rows that it leaves empty.
Reason plant_masks(const Trial& trial, const Take& take,
                   Reason (*masks)(const MaskCase& call, const TakeMask& take));

Reason wrong_temperature(const Trial& trial, const Take& take);
Reason wrong_scale(const Trial& trial, const Take& take);
Reason softmax_over_wrong_axis(const Trial& trial, const Take& take);
Reason dropped_softcap(const Trial& trial, const Take& take);
Reason wrong_bias(const Trial& trial, const Take& take);
Reason wrong_alibi_slopes(const Trial& trial, const Take& take);
Reason wrong_empty_rows(const Trial& trial, const Take& take);
Reason finite_mask_value(const Trial& trial, const Take& take);

Reason wrong_rope_pairs(const Trial& trial, const Take& take);
Reason ignored_rope_option(const Trial& trial, const Take& take);
Reason ignored_query_offset(const Trial& trial, const Take& take);
Reason coarse_rope_angles(const Trial& trial, const Take& take);
Reason wrong_padded_positions(const Trial& trial, const Take& take);

Reason tiled_groups(const Trial& trial, const Take& take);
Reason wrong_value_group(const Trial& trial, const Take& take);
Reason heads_not_transposed(const Trial& trial, const Take& take);
Reason fused_split(const Trial& trial, const Take& take);

Reason permuted_heads(const Trial& trial, const Take& take);
Reason wrong_group(const Trial& trial, const Take& take);
Reason wrong_batch(const Trial& trial, const Take& take);
Reason swapped_layout(const Trial& trial, const Take& take);

Reason skipped_tile(const Trial& trial, const Take& take);
Reason wrong_tail(const Trial& trial, const Take& take);
Reason unmasked_tile(const Trial& trial, const Take& take);
Reason wrong_query_tile(const Trial& trial, const Take& take);

Reason not_rescaled(const Trial& trial, const Take& take);
Reason stale_maximum(const Trial& trial, const Take& take);
Reason wrong_normaliser(const Trial& trial, const Take& take);
Reason base_two(const Trial& trial, const Take& take);
Reason wrong_logsumexp(const Trial& trial, const Take& take);
Reason short_accumulator(const Trial& trial, const Take& take);

Reason wrong_sinks(const Trial& trial, const Take& take);
Reason wrong_merge(const Trial& trial, const Take& take);
Reason wrong_page_rows(const Trial& trial, const Take& take);
Reason wrong_page_table(const Trial& trial, const Take& take);
Reason wrong_sequence_length(const Trial& trial, const Take& take);
Reason wrong_sequence_start(const Trial& trial, const Take& take);
Reason wrong_code_scale(const Trial& trial, const Take& take);

Reason wrong_qk_norm(const Trial& trial, const Take& take);
Reason wrong_gate(const Trial& trial, const Take& take);

Reason active_dropout(const Trial& trial, const Take& take);
Reason unscaled_dropout(const Trial& trial, const Take& take);
Reason low_precision(const Trial& trial, const Take& take);
Reason not_written(const Trial& trial, const Take& take);
/// 0 or NaN where every number of context, or of output where there is none, is that; else nullopt.
std::optional<double> whole_value(const Results& results);

Reason wrong_backward_mask(const Trial& trial, const Take& take);
Reason wrong_backward_scale(const Trial& trial, const Take& take);
Reason dropped_row_sum(const Trial& trial, const Take& take);
Reason wrong_backward_weights(const Trial& trial, const Take& take);
Reason dropped_backward_softcap(const Trial& trial, const Take& take);
Reason dropped_backward_dropout(const Trial& trial, const Take& take);
Reason permuted_gradients(const Trial& trial, const Take& take);
Reason unsummed_groups(const Trial& trial, const Take& take);
Reason unturned_gradients(const Trial& trial, const Take& take);
Reason unsummed_tiles(const Trial& trial, const Take& take);
Reason untransposed_gradients(const Trial& trial, const Take& take);

/// Every stage as an eager kernel gives it whose every array is of the format.
TraceD in_short_format(const Subject& subject, FloatFormat format);

/// Rows of Stage::q or Stage::k after the call's RoPE, and after its QK-norm and RoPE; unchanged without them.
TensorD turned_operand(const Subject& subject, Stage stage, const TensorD& rows);
TensorD whole_operand(const Subject& subject, Stage stage, const TensorD& rows);

/// The first where the positions of each sequence of a serving call begin at 0, which the padded call's do not.
TensorD turned_from_origin(const Subject& subject, Stage stage, const TensorD& rows);

/// The raw scores [B,H,Tq,Tk] of operands that are already rotated: q [B,H,Tq,d_k], k [B,Hkv or H,Tk,d_k].
TensorD scores_of(const Subject& subject, const TensorD& q, const TensorD& k);

}  // namespace attn::verify

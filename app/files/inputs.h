#pragma once

#include <string>
#include <string_view>

#include "app/files/arrays.h"
#include "app/files/layers.h"
#include "app/files/tensors.h"

namespace attn::files {

/// One layer of one file: where each of its arrays stands.
struct LayerReader {
    ArrayReader& reader;
    const Listing& listing;
    Index layer;
    const CallOptions& options;

    std::string name(std::string_view array) const { return layer_name(listing, layer, array); }
    /// "in.npz", or "in.npz: layer 3".
    std::string shown() const;
    /// It is a weight that is stored [out, in].
    bool is_transposed(std::string_view array) const;
    /// A sentence about roles with the arrays that stand for them: "W_K" becomes "W_K (k.weight)" where it is first said.
    std::string with_array_names(std::string sentence) const;
    /// Q, K and V are one array.
    bool packed() const;
    void read(std::string_view array, const Axes& axes, Tensor& into) const;
    /// How Q, K, V or dO of so many heads are read under the options.
    Axes heads_axes(Index heads) const;
};

/// Q, K, V or X with everything that goes with it. How a packed array was read is said in `notes`.
Inputs read_inputs(const LayerReader& layer, std::vector<Note>& notes);
/// Whether the layer has latents of keys and values, c_kv, and the call that they make (core/mla.h) by the option mla; `spec` gets its
/// scale, and a note the numbers of a cache.
bool has_latents(const LayerReader& layer);
Inputs read_latents(const LayerReader& layer, AttentionSpec& spec, std::vector<Note>& notes);
/// Puts past_k and past_v [B,Hkv,P,d], keys and values of earlier tokens, before K and V; P, or 0 without them. The axes are
/// those of K, and four axes of joined heads are [B,Hkv,P,d].
Index read_past(const LayerReader& layer, Inputs& in);
ParamExtents extents_of_params(const LayerReader& layer, const Inputs& in);
/// dO is given at context, dY at output; neither: ones at output.
Upstream read_upstream(const LayerReader& layer);

/// Whether the file has the array or text `options`.
inline bool states_options(const ArrayReader& reader) {
    return reader.text("options", "a JSON object").has_value();
}

/// An array of floats in four axes, each 1 or that of [B,H,Tq,Tk]; it must be there. `role`: its name in errors.
Tensor pairs_of(ArrayReader& reader, const std::string& name, std::string_view role,
                const Dimensions& size);
/// The array of that name, where it is there: bool or uint8, true where a query may attend; or floats. Floats that are only 0 and
/// −∞, or a number that programs write for it, are a mask too, and others are a bias; `notes` says which. Only 0 and 1 is refused.
void read_mask(ArrayReader& reader, const std::string& name, const Dimensions& size, MaskSpec& mask,
               std::vector<Note>& notes);
/// Numbers that are added to the scores, where they are there.
void read_bias(ArrayReader& reader, const std::string& name, const Dimensions& size,
               MaskSpec& mask);
/// Forbids the pairs that do not meet every condition, in addition to the mask's array.
void add_pair_conditions(const ArrayReader& reader, std::span<const PairCondition> conditions,
                         const Dimensions& size, AttentionSpec& spec);
/// segment_ids [T] or [B,T] of JAX: a query attends to the keys with its own number.
void read_segments(ArrayReader& reader, const std::string& name, const Dimensions& size,
                   MaskSpec& mask, std::vector<Note>& notes);
/// alibi_slopes [H] or [B,H] of FlashAttention: the bias −slope · |i + Tk − Tq − j|; a query_offset replaces Tk − Tq.
void read_slopes(ArrayReader& reader, const std::string& name, const Dimensions& size,
                 AttentionSpec& spec, std::vector<Note>& notes);
/// log_f [Tk], [H,Tk] or [B,H,Tk], logs of gates: the bias Σ log f_l of the tokens l after key j up to the query (forgetting_bias()).
void read_log_gates(ArrayReader& reader, const std::string& name, const Dimensions& size,
                    AttentionSpec& spec, std::vector<Note>& notes);

/// nonpad_kv_seqlen [B] of ONNX's Attention: the valid keys of each batch entry, as the option padding. A causal mask aligned at the
/// bottom right ends at the last valid key: j ≤ i + nonpad_kv_seqlen[b] − Tq, which becomes a part of the mask's array.
void read_valid_keys(const ArrayReader& reader, const std::string& name, const Dimensions& size,
                     AttentionSpec& spec, std::vector<Note>& notes);

/// Whether the file has cosines and sines of RoPE, or a cache of them.
bool has_rotary(const ArrayReader& reader, const Listing& listing);
struct RotaryArrays {
    ArrayReader& reader;
    const Listing& listing;
    const CallOptions& options;
    const Dimensions& size;
};
/// RoPE's tables: of the arrays cos and sin, of a cache by positions, or of positions, for queries and keys alike or with q_ and k_
/// before the name for each. Without RoPE and cosines, a note lists positions as unused.
void read_rotary(const RotaryArrays& arrays, AttentionSpec& spec, std::vector<Note>& notes);

/// The array of where packed documents begin, and the last one's end: a query sees the keys of its own document. Says of
/// how many in `notes`. There must be no other mask.
void read_documents(const ArrayReader& reader, const std::string& name, const Dimensions& size,
                    MaskSpec& mask, std::vector<Note>& notes);

/// Refuses a call that lacks Q, K or V, and says what is there instead; and heads that the options count otherwise.
void check_given(const LayerReader& layer, const Inputs& in, Values values);
/// The layout in which the shapes of Q, K and V make a call, where they make none as they were read.
std::vector<Remedy> layout_remedy(const LayerReader& layer, const Inputs& in);

}  // namespace attn::files

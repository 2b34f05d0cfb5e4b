#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "app/common/names.h"

namespace attn::view {

struct Document;

enum class MaskCode : std::uint8_t { numpy, pytorch, flex_attention };
template <>
inline constexpr std::string_view kNamesOf<MaskCode>[] = {"numpy", "pytorch", "flex-attention"};

/// Code that makes the document's mask as `mask`, True = may attend: a line for each rule, the painted part as a
/// literal. [Tq,Tk], or [B,H,Tq,Tk] with B or H of 1 where the sequences, or the heads, share it.
/// For FlexAttention (PyTorch 2.5 and later) it makes `mask_mod`, `block_mask` and `scale`, and `score_mod` where the call has a soft cap, a
/// bias or ALiBi; a comment lists the parts of the call that they leave out.
std::string mask_code(const Document& document, MaskCode code);
/// The same lines alone, of NumPy or PyTorch: i and j, and the mask with its rules.
std::string mask_lines(const Document& document, MaskCode code);

}  // namespace attn::view

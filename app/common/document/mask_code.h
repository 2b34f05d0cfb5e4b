#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "app/common/document/document.h"
#include "app/common/names.h"

namespace attn::view {

enum class MaskCode : std::uint8_t { numpy, pytorch };
template <>
inline constexpr std::string_view kNamesOf<MaskCode>[] = {"numpy", "pytorch"};

/// Code that makes the document's mask as `mask`, True = may attend: a line for each rule, the painted part as a
/// literal. [Tq,Tk], or [B,H,Tq,Tk] with B or H of 1 where the sequences, or the heads, share it.
std::string mask_code(const Document& document, MaskCode code);
/// The same lines alone: i and j, and the mask with its rules.
std::string mask_lines(const Document& document, MaskCode code);

}  // namespace attn::view

#pragma once

#include <string>

#include "app/common/document/document.h"
#include "app/workspaces/masks/state.h"

namespace attn::view {

/// Code that makes the document's mask as `mask`, True = may attend: a line for each rule, the painted part as a
/// literal. [Tq,Tk], or [B,H,Tq,Tk] with B or H of 1 where the sequences, or the heads, share it.
std::string mask_code(const Document& document, MaskCode code);

}  // namespace attn::view

#pragma once

#include "app/view/large/view.h"

namespace attn::view {

/// How far the exact overview is, and how good the sampled one.
PassView pass_view(const LargeLook& look);
/// The exact pass under the roof of this machine.
RooflineView roofline_view(const LargeLook& look);
/// What the weights would take if they were stored, and what is kept instead.
std::string memory_words(const LargeLook& look);

}  // namespace attn::view

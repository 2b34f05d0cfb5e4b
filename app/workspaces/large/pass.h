#pragma once

#include "app/workspaces/large/view.h"

namespace attn::view {

/// The exact pass under the roof of this machine.
RooflineView roofline_view(const MapLook& look);
/// "kept: 17 MiB of 1 GiB; Q and K 8 MiB, …": what is kept of what the weights would take; "" where that
/// is not less.
std::string memory_words(const MapLook& look);

}  // namespace attn::view

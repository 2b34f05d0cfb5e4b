#pragma once

#include "app/common/map/view.h"

namespace attn::view {

/// How far the exact overview is, and how good the sampled one.
PassView pass_view(const MapLook& look);

}  // namespace attn::view

#pragma once

namespace attn::large {

/// From now on the calling thread gives way to others where both want the processor. Does nothing where
/// the platform cannot do that for one thread.
void lower_priority();

}  // namespace attn::large

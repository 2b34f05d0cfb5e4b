#pragma once

#include "app/gl/compute_backend.h"

namespace attn::test {

/// The gl backend of this process; main() has made sure that it runs here.
const gl::ComputeBackend& the_backend();

}  // namespace attn::test

#pragma once

// Which instruction sets the kernels are compiled for: AVX-512, AVX2, SSSE3, NEON, and the baseline of
// the platform. SSE4 gains nothing over SSSE3 here. SVE and RVV are left out because a tile keeps
// several vectors in one struct, which vectors of unknown size cannot be: such machines run the NEON or
// the baseline code. Include before anything of Highway.

#define HWY_DISABLED_TARGETS (HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#include <hwy/detect_targets.h>

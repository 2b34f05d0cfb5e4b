#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/large/cell.h"
#include "core/large/map_input.h"
#include "core/large/planted_spec.h"
#include "core/large/weight_source.h"
#include "core/result.h"
#include "core/run_control.h"

namespace attn::large {

struct PlantedSpec;

/// Whether the generator can make it; an error names the limit.
Result<void> check_planted(const PlantedSpec& spec);

/// Q and K of one head, made on every thread, the same on every machine: noise plus one subspace of
/// d_k for each structure (the .cpp tells which). Token ids are drawn; some stretches of them repeat.
/// Errors: tokens or d_k out of its limits; stopped.
Result<MapInput> plant(const PlantedSpec& spec, const RunControl& control = {});

}  // namespace attn::large

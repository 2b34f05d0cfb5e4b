#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/large/cell.h"
#include "core/large/planted_spec.h"
#include "core/large/weight_source.h"
#include "core/threads.h"

namespace attn::large {

/// One matrix of weights to look at, and what is known about its tokens.
struct MapInput {
    WeightSource source;
    std::vector<std::uint32_t> token_ids;  // of the keys and queries; empty: unknown
    std::vector<Index> document_starts;    // ascending, first 0; empty: unknown
    std::optional<Cell> needle;
    std::shared_ptr<const Inputs> inputs =
        {};  // of a planted matrix: Q and K, which `source` shares
};

/// Whether the generator can make it; an error names the limit.
Result<void> check_planted(const PlantedSpec& spec);

/// Q and K of one head, made on every thread, the same on every machine: noise plus one subspace of
/// d_k for each structure (the .cpp tells which). Token ids are drawn; some stretches of them repeat.
/// Errors: tokens or d_k out of its limits; stopped.
Result<MapInput> plant(const PlantedSpec& spec, const RunControl& control = {});

}  // namespace attn::large

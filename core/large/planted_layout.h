#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/large/cell.h"

namespace attn::large {

struct PlantedSpec;

/// Tokens target … target + length − 1 say again what source … source + length − 1 said.
struct Repeat {
    Index source = 0;
    Index target = 0;
    Index length = 0;
};

/// Where the planted structures lie; the numbers of Q and K follow from it.
struct PlantedLayout {
    std::vector<std::uint32_t> token_ids;
    std::vector<Index> document_starts;  // ascending, first 0
    std::vector<Repeat> repeats;         // by target, which never overlap; empty without induction
    std::optional<Cell> needle;          // below the diagonal, far from it
};

/// Drawn from the seed alone.
PlantedLayout lay_out(const PlantedSpec& spec);

}  // namespace attn::large

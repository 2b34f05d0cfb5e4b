#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/large/weight_source.h"
#include "core/threads.h"

namespace attn::large {

/// A cell of the matrix of weights.
struct Cell {
    Index row = 0;     // query
    Index column = 0;  // key
    bool operator==(const Cell&) const = default;
};

/// Which structures the generated queries and keys show, each of which people look for in real heads.
struct PlantedSpec {
    Index tokens = 16384;  // kLeastPlanted … kMostPlanted
    Index d_k = 64;        // kLeastPlantedWidth … 256
    std::uint64_t seed = 1;
    bool band = true;       // a token attends to its neighbours
    bool sink = true;       // everything attends to token 0
    bool induction = true;  // a repeated stretch attends to what followed its first occurrence
    bool documents = true;  // tokens attend within their own document: blocks on the diagonal
    bool needle = true;     // one query far from its key finds it, with a weight above one half
    bool causal = false;
    bool operator==(const PlantedSpec&) const = default;
};
inline constexpr Index kLeastPlanted = 256;
inline constexpr Index kMostPlanted = 1'048'576;
inline constexpr Index kLeastPlantedWidth = 32;

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

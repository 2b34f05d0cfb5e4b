#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/forward.h"
#include "core/large/cell.h"
#include "core/large/weight_source.h"

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

}  // namespace attn::large

#pragma once

#include <vector>

#include "core/heads/place.h"

namespace attn {

/// The weights of one query, in place of softmax's. They are at least 0, 0 where the mask forbids, and sum to 1 ± 1e-6.
struct RowIntervention {
    HeadPlace at;
    Index query = 0;
    std::vector<double> weights;  // one for each key
    bool operator==(const RowIntervention&) const = default;
};

}  // namespace attn

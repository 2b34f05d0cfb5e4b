#pragma once

#include <cstdint>

#include "core/sizes.h"

namespace attn::large {

// Choices of a person about a map.

/// How the cells of a texel become one number. Of one cell all three are its weight.
enum class Pooling : std::uint8_t {
    mean,      // Σ a / cells: where the attention goes
    max,       // the largest: no needle is lost
    log_mean,  // exp(mean of ln a over the allowed pairs), the geometric mean: the typical weight
};

/// "Which queries attend to key j", "which keys does query i attend to": the whole column or row.
struct Search {
    enum class Of : std::uint8_t { key, query };
    Of of = Of::key;
    Index index = 0;
    bool operator==(const Search&) const = default;
};

/// Which of the strongest cells are listed.
struct TopChoice {
    bool skip_first_key =
        false;  // key 0 is left out: where it is an attention sink it would fill the list
    bool one_per_query = false;  // of each query only its strongest
    bool operator==(const TopChoice&) const = default;
};

}  // namespace attn::large

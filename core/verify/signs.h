#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/verify/faults.h"

namespace attn::verify {

// What tensors tell by themselves, without the inputs that they were made from.

/// One thing that can be seen in results.
struct Fact {
    std::string_view key;
    std::string text;
    bool suspicious = false;  // softmax attention as the options say never shows it
};

/// Rows of weights that do not sum to 1, columns that do, numbers outside [0, 1], NaN, where the support ends, what short
/// format the numbers fit. `mask`: the call's, where it is known.
std::vector<Fact> facts(const Results& results, const AttentionSpec& spec, bool sinks,
                        const Mask* mask);

/// What one fault would look like in weights alone.
struct Sign {
    const Fault* fault = nullptr;
    bool tested = false;
    bool fits = false;
    std::string text;  // the evidence, or why it cannot be tested
};
/// One a row of the table, in its order. A mask fault fits where the weights' support is exactly the mask that it makes
/// and not the call's own; a few others by the sums of rows and columns; the rest need Q and K.
std::vector<Sign> signs(const Results& results, const AttentionSpec& spec);

}  // namespace attn::verify

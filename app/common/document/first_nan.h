#pragma once

#include <string>

namespace attn::view {

struct AppState;

/// "Q[cat, 1] in head 0 is NaN, so 1 row of weights holds NaN.": the first NaN in the inputs of attention, in the order
/// of the stages; "" where the output and the weights of the sequence and head that are shown hold none.
std::string first_nan_text(const AppState& state);

}  // namespace attn::view

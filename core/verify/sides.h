#pragma once

#include <string>
#include <vector>

#include "core/verify/report.h"

namespace attn::verify {

/// The side that brings the inputs; nullptr: none does. Those of two sides must be equal.
Result<const Side*> input_file(const std::vector<Side>& read);
/// q, k and v that are inputs in `source` and results in another are compared as results.
void share_inputs(const Side& source, std::vector<Side>& read);
bool has_gradients(const Trace& gradients);
/// What a side says of its call: "causal=top-left and a mask", "none".
std::string options_text(const Side& side);

}  // namespace attn::verify

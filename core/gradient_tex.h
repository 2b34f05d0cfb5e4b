#pragma once

#include <string_view>

#include "core/spec.h"
#include "core/stage.h"

namespace attn {

// The chain rule of every stage and parameter, in the subset that tex.h reads: one row each, in the order of
// the table of stages. L is any function of the output Y. Those of parameters add up over sequences too.

std::string_view gradient_tex(Stage stage);
std::string_view gradient_tex(Param param);
/// The rows that a score function multiplies: of Q, or of K.
std::string_view gradient_tex(Score score, bool of_keys);

}  // namespace attn

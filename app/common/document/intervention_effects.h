#pragma once

#include <string>

#include "core/models/interventions.h"

namespace attn::view {

/// What interventions did, in the model's own run of the text with its own options.
struct InterventionEffects {
    RunEffects run;             // from the untouched run to this one
    std::string before, after;  // the likeliest next token of each, where there is one
};

}  // namespace attn::view

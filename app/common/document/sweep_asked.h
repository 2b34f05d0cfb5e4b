#pragma once

#include <optional>
#include <string>

#include "core/heads/place.h"
#include "core/models/alignment.h"
#include "core/models/sweep_part.h"

namespace attn::view {

/// What is asked of a model's parts beside SweepModel, as OpenRequest::options has it.
struct SweepAsked {
    SweepPart part = SweepPart::heads;
    std::string from;         // of a patch: the text
    PairedTokens pairs = {};  // of its tokens; empty: common_ends()
    // in place of a sweep: QK and OV of this head, and over the vocabulary's nearest tokens too
    std::optional<HeadPlace> circuit = {};
    bool nearest = false;
    bool operator==(const SweepAsked&) const = default;
};
std::string options_of(const SweepAsked& asked);
SweepAsked sweep_asked(const std::string& options);

}  // namespace attn::view

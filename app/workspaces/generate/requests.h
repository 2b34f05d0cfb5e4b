#pragma once

#include <optional>

#include "app/common/document/opened.h"
#include "app/common/request.h"

namespace attn::view {

/// nullopt while Generate is not shown, or what it shows is there.
std::optional<GenerateText> requested_generation(const AppState& state);
/// GenerationReady.
Action run(const GenerateText& request, const Opener& open, const RunControl& control);

}  // namespace attn::view

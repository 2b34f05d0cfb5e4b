#pragma once

#include "app/common/command.h"

namespace attn::view {

/// What every workspace that shows the document offers: scaling, masks, heads, layers, backends.
void add_document_commands(std::vector<Command>& list, const AppState& state);
/// Every preset, in the group of a workspace.
void add_presets(std::vector<Command>& list, const AppState& state, const char* group);
/// What a sentence with toy weights offers besides: presets, other weights, gradients.
void add_model_commands(std::vector<Command>& list, const AppState& state);

}  // namespace attn::view

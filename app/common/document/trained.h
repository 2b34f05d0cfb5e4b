#pragma once

#include <vector>

#include "app/common/document/document.h"
#include "app/common/fields.h"

namespace attn::view {

// For whoever includes this: link attn::json too.

/// Switches of a training: [[step, head, 0 or 1], …], head −1 for ÷√d_k.
nlohmann::ordered_json switches_to(const std::vector<train::Switch>& list);
/// Under `key`; nothing happens when it is missing.
void read_switches(Fields& fields, std::string_view key, std::vector<train::Switch>& list);

/// A moment of a training, without its weights: they are trained again.
nlohmann::ordered_json trained_to(const TrainedOrigin& origin);
void read_trained(Fields& fields, TrainedOrigin& origin);

}  // namespace attn::view

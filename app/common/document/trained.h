#pragma once

#include <string_view>
#include <vector>

#include "app/common/describe.h"
#include "core/train/moment.h"

namespace attn::train {
struct Spec;
}  // namespace attn::train

namespace attn::view {
struct TrainedOrigin;
}  // namespace attn::view

namespace attn::train {

void describe(view::Visitor& visit, Spec& spec);

}  // namespace attn::train

namespace attn::view {

/// Switches of a training: [[step, head, 0 or 1], …], head −1 for ÷√d_k.
enum class NoSwitches : std::uint8_t { written, left_out };
void describe_switches(Visitor& visit, std::string_view name, std::vector<train::Switch>& list,
                       NoSwitches none = NoSwitches::written);

/// A moment of a training, without its weights: they are trained again.
void describe(Visitor& visit, TrainedOrigin& origin);

}  // namespace attn::view

#pragma once

#include <memory>
#include <vector>

#include "core/sizes.h"

namespace attn::train {

/// What can be changed while a model is trained.
struct Switches {
    bool scaling = true;  // ÷√d_k
    std::vector<bool>
        silenced{};  // [L·H], layer·H + head: its output counts as 0, and its weights get no gradient
    bool operator==(const Switches&) const = default;
};

/// What is changed while a model is trained: from the step of that number on.
struct Switch {
    Index step = 0;   // 0 … : before this step is made
    Index head = -1;  // layer·H + head; -1: the switch is ÷√d_k
    bool on = true;   // of a head: it counts; off: its output is 0
    bool operator==(const Switch&) const = default;
};

/// All of a run at one moment: training on from it is the same, bit for bit. Batches come from seed and step, so there is no
/// other random state. Immutable once handed out: share it between threads.
struct State {
    Index step = 0;  // steps that were made
    Switches switches;
    std::vector<float> weights;  // by matrices()
    std::vector<float> first;    // adamw: mean of gradients; sgd: momentum
    std::vector<float> second;   // adamw: mean of squares; sgd: empty
    bool operator==(const State&) const = default;
};
using Moment = std::shared_ptr<const State>;

}  // namespace attn::train

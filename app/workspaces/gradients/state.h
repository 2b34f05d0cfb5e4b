#pragma once

#include <memory>
#include <optional>

#include "app/common/slots.h"
#include "core/stage.h"

namespace attn::view {

struct LossGradients;

/// What the Gradients workspace looks at. The loss is Step's. Not undone.
struct GradientsLook {
    OperandId tensor = Stage::scores;  // whose gradient is drawn
    Index row = 0;                     // of the weights, whose Jacobian is drawn
    std::optional<Index> raised =
        {};  // key whose score is raised; none: that of the largest weight
    // of the moment: in no session and no journal
    std::shared_ptr<const LossGradients> result;  // null: not computed
};

inline constexpr Look<GradientsLook> gradients_look;

}  // namespace attn::view

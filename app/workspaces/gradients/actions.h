#pragma once

#include "app/common/set_field.h"
#include "app/workspaces/gradients/state.h"

namespace attn::view {

/// A stage or parameter by its key, whose gradient is drawn.
struct ShowGradientOf {
    std::string gradient_of;
};
/// The row of the weights whose Jacobian is drawn, and the key whose score is raised.
struct SelectJacobianRow {
    Index row, column;  // of the weights; the key whose score is raised
};
using LossGradientsReady = Put<gradients_look, &GradientsLook::result>;

using GradientsActions =
    ActionList<Plain<ShowGradientOf, SelectJacobianRow>, Answers<LossGradientsReady>>;
template <ListedIn<GradientsActions> A>
inline constexpr Meta kMetaOf<A> = GradientsActions::kMeta<A>;

}  // namespace attn::view

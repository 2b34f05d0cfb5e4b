#pragma once

#include "app/common/action.h"
#include "app/workspaces/gradients/state.h"

namespace attn::view {

/// A stage or parameter by its key, whose gradient is drawn.
struct ShowGradientOf {
    std::string tensor;
    static constexpr Meta kMeta{"show_gradient_of", Kind::plain};
    friend void describe(Visitor& visit, ShowGradientOf& action) {
        visit("gradient_of", action.tensor);
    }
    friend void carry_out(AppState& state, const ShowGradientOf& action);
};
/// The row of the weights whose Jacobian is drawn, and the key whose score is raised.
struct SelectJacobianRow {
    Index row, raised;
    static constexpr Meta kMeta{"select_jacobian_row", Kind::plain};
    friend void describe(Visitor& visit, SelectJacobianRow& action) {
        visit("row", action.row);
        visit("column", action.raised);
    }
    friend void carry_out(AppState& state, const SelectJacobianRow& action);
};
struct LossGradientsReady {
    std::shared_ptr<const LossGradients> result{};
    static constexpr Meta kMeta{"", Kind::answer};
    friend void carry_out(AppState& state, const LossGradientsReady& action);
};

using GradientsActions = ActionList<ShowGradientOf, SelectJacobianRow, LossGradientsReady>;

}  // namespace attn::view

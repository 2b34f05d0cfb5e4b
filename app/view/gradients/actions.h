#pragma once

#include "app/view/common/action.h"
#include "app/view/state.h"

namespace attn::view {

/// A stage or parameter by its key, whose gradient is drawn.
struct ShowGradientOf {
    std::string tensor;
    static constexpr auto kMeta =
        meta("show_gradient_of", Kind::plain, field("gradient_of", &ShowGradientOf::tensor));
    friend void carry_out(AppState& state, const ShowGradientOf& action);
};
/// The row of the weights whose Jacobian is drawn, and the key whose score is raised.
struct SelectJacobianRow {
    Index row, raised;
    static constexpr auto kMeta =
        meta("select_jacobian_row", Kind::plain, field("row", &SelectJacobianRow::row),
             field("column", &SelectJacobianRow::raised));
    friend void carry_out(AppState& state, const SelectJacobianRow& action);
};
struct LossGradientsReady {
    std::shared_ptr<const LossGradients> result{};
    static constexpr auto kMeta = unwritten(Kind::answer);
    friend void carry_out(AppState& state, const LossGradientsReady& action);
};

using GradientsActions = ActionList<ShowGradientOf, SelectJacobianRow, LossGradientsReady>;

}  // namespace attn::view

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/common/document/actions.h"
#include "app/common/set_field.h"
#include "app/workspaces/gradients/state.h"
#include "core/run_control.h"
#include "core/spec.h"
#include "core/trace.h"

namespace attn::view {

/// A stage or parameter by its key, whose gradient is drawn.
struct ShowGradientOf {
    std::string gradient_of;
    static constexpr auto kJournalNames = journal_names("show_gradient_of", "gradient_of");
};
/// The row of the weights whose Jacobian is drawn, and the key whose score is raised.
struct SelectJacobianRow {
    Index row, column;  // of the weights; the key whose score is raised
    static constexpr auto kJournalNames = journal_names("select_jacobian_row", "row", "column");
};
using LossGradientsReady = Put<gradients_look, &GradientsLook::result>;

using GradientsActions =
    ActionList<ViewActions<ShowGradientOf, SelectJacobianRow>, Answers<LossGradientsReady>>;
template <ListedIn<GradientsActions> A>
inline constexpr Meta kMetaOf<A> = GradientsActions::kMeta<A>;

// Gradients of the loss that all workspaces share (document/loss.h), in double precision, for the present document and for
// the same one scaled otherwise.

/// One way of scaling.
struct LossSide {
    ScaleKind scale = ScaleKind::sqrt_dk;
    std::string text;  // "÷√d_k", "not divided", "× 0.3", "÷√d_k ÷2"
    double loss = 0.0;
    TraceD trace, gradients;
};

/// How far the gradients are from central differences of the forward pass: (L(x + h) − L(x − h)) / 2h for some entries of every
/// input and parameter, beside the largest entry of that tensor's gradient.
struct DifferenceCheck {
    double worst = 0.0;
    std::string where;  // "W_Q[1, 3]"
    int entries = 0;
    double h = 1e-5;
};

/// Of one document and loss. Immutable.
struct LossGradients {
    std::shared_ptr<const Document> document;
    Loss loss;
    std::array<LossSide, 2> sides;  // as the document is, and otherwise
    DifferenceCheck check;
    std::string fault;  // why there are none
};

/// What they are of: the same gives the same.
struct LossGradientsRequest {
    std::shared_ptr<const Document> document;
    Loss loss;
    Index batch = 0;
    bool operator==(const LossGradientsRequest&) const = default;
};
/// nullopt while Gradients is not shown, or what it shows is up to date.
std::optional<LossGradientsRequest> requested_loss_gradients(const AppState& state);
/// LossGradientsReady.
Action run(const LossGradientsRequest& request, const RunControl& control);

}  // namespace attn::view

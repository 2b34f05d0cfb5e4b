#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/view/compare/actions.h"
#include "app/view/cost/actions.h"
#include "app/view/document/actions.h"
#include "app/view/gradients/actions.h"
#include "app/view/heads/actions.h"
#include "app/view/kinds/actions.h"
#include "app/view/large/actions.h"
#include "app/view/learn/actions.h"
#include "app/view/lookup/actions.h"
#include "app/view/masks/actions.h"
#include "app/view/numerics/actions.h"
#include "app/view/saturation/actions.h"
#include "app/view/step/actions.h"
#include "app/view/tensors/actions.h"
#include "app/view/verify/actions.h"
#include "app/view/window/actions.h"

namespace attn::view {

// Everything a person can do. A panel appends these; apply() carries them out; the journal writes
// them, one JSON line each. An action says what it does in terms of the document: never of the window's size, of
// the clock or of a list's order, so that a replay gives the same state. It holds the new value, not a difference,
// where it can.
using AllActions =
    Joined<WindowActions, DocumentActions, StepActions, SaturationActions, LargeActions,
           MasksActions, KindsActions, NumericsActions, CostActions, HeadsActions, LookupActions,
           CompareActions, TensorsActions, LearnActions, GradientsActions, VerifyActions>::List;

/// One action of any of these structs: constant, cheap to copy. (A std::variant of as many costs minutes to compile.)
class Action {
  public:
    template <class A>
    requires kIsIn<A, AllActions> Action(A action)  // NOLINT: converts
        : type_(&kActionType<A>), action_(std::make_shared<const A>(std::move(action))) {}

    const ActionType& type() const { return *type_; }
    template <class A>
    bool is() const {
        return type_ == &kActionType<A>;
    }
    /// nullptr when it is another.
    template <class A>
    const A* as() const {
        return is<A>() ? static_cast<const A*>(action_.get()) : nullptr;
    }
    void carry_out(AppState& state) const { type_->run(state, action_.get()); }

  private:
    const ActionType* type_;
    std::shared_ptr<const void> action_;
};
using Actions = std::vector<Action>;

/// The only mutator. An action that cannot be carried out leaves the last good state and puts one
/// clear sentence into state.message.
void apply(AppState& state, const Action& action);

/// What the clock has made due (the next step while playing): ordinary, journaled actions, so that a
/// replay needs no clock.
Actions due_actions(const AppState& state);

inline Kind kind_of(const Action& action) { return action.type().kind; }
/// The name in a journal; "": not journaled.
inline std::string_view name_of(const Action& action) { return action.type().name; }

/// One JSON line. nullopt for actions that are not journaled.
std::optional<std::string> to_journal(const Action& action);
/// An error names the line's fault: the unknown action, the missing or wrong field.
Result<Action> from_journal(std::string_view line);

}  // namespace attn::view

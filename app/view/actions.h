#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
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
using AnyAction =
    Joined<WindowActions, DocumentActions, StepActions, SaturationActions, LargeActions,
           MasksActions, KindsActions, NumericsActions, CostActions, HeadsActions, LookupActions,
           CompareActions, TensorsActions, LearnActions, GradientsActions, VerifyActions>::Variant;

/// What copies, moves and ends it stands in apply.cpp alone: every other file compiles in half the time.
struct Action : AnyAction {
    template <class A>
    requires kIsIn<A, AnyAction> Action(A action)
        : AnyAction(std::in_place_type<A>, std::move(action)) {}  // NOLINT: converts
    Action(const Action&);
    Action(Action&&) noexcept;
    Action& operator=(const Action&);
    Action& operator=(Action&&) noexcept;
    ~Action();
};
using Actions = std::vector<Action>;

/// The only mutator. An action that cannot be carried out leaves the last good state and puts one
/// clear sentence into state.message.
void apply(AppState& state, const Action& action);

/// What the clock has made due (the next step while playing): ordinary, journaled actions, so that a
/// replay needs no clock.
Actions due_actions(const AppState& state);

Kind kind_of(const Action& action);
/// The name in a journal; "": not journaled.
std::string_view name_of(const Action& action);

/// One JSON line. nullopt for actions that are not journaled.
std::optional<std::string> to_journal(const Action& action);
/// An error names the line's fault: the unknown action, the missing or wrong field.
Result<Action> from_journal(std::string_view line);

}  // namespace attn::view

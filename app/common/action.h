#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/common/describe.h"
#include "app/common/members.h"

namespace attn::view {

struct AppState;

// Everything a person can do. A panel appends actions; apply() carries them out; the journal writes them, one JSON line
// each. An action says what it does in terms of the document: never of the window's size, of the clock or of a list's
// order, so that a replay gives the same state. It holds the new value, not a difference, where it can. It is a struct
//
//   struct SetScaling {
//       bool on;
//       static constexpr auto kJournalNames = journal_names("set_scaling", "on");
//   };
//
// without bases and constructors, in the list of its folder under its kind (ActionList), and `void carry_out(AppState& state,
// const SetScaling& action)` in a .cpp. A journal has the names of kJournalNames, of the action and of its members in order:
// {"action":"set_scaling","on":true}. An enum's names are found as kNamesOf<Enum>. Old journals hold all these names: a name
// that changes stays readable by a row of former_names.h.

enum class Kind : std::uint8_t {
    plain,  // moves about, opens and closes; ends a gesture
    edit,   // changes what undo covers: one step
    drag,   // the same; within a gesture (BeginGesture … EndGesture) all of one type are one step
    answer,  // the result of a job: a replay waits for it where it is journaled
    moment,  // pointer, clock, window size, messages of the system: never journaled, never ends a gesture
};

/// How much of an action a journal has.
enum class Written : std::uint8_t { no, whole, first_member };

/// Names in a journal: of an action, then of its members in their order.
template <std::size_t count>
struct JournalNames {
    std::string_view action;
    std::array<std::string_view, count> members;
};
template <class... Member>
constexpr JournalNames<sizeof...(Member)> journal_names(std::string_view action,
                                                        Member... members) {
    return {action, {members...}};
}

struct Meta {
    bool listed = false;
    Kind kind{};
    Written written{};
};

/// A list's entry, by which it finds a struct at once: there are hundreds.
template <class A>
struct Listed {};
/// Structs of one kind.
template <Kind kind, Written written, class... A>
struct ActionsOf : Listed<A>... {
    static constexpr Meta kMeta{true, kind, written};
    static constexpr std::size_t kCount = sizeof...(A);
};
template <class... A>
using ViewActions = ActionsOf<Kind::plain, Written::whole, A...>;
template <class... A>
using EditActions = ActionsOf<Kind::edit, Written::whole, A...>;
template <class... A>
using DragActions = ActionsOf<Kind::drag, Written::whole, A...>;
template <class... A>
using Answers = ActionsOf<Kind::answer, Written::no, A...>;
/// Answers that a replay waits for: a journal has the request, their first member.
template <class... A>
using Awaited = ActionsOf<Kind::answer, Written::first_member, A...>;
template <class... A>
using TransientActions = ActionsOf<Kind::moment, Written::no, A...>;

/// Facts of a struct that is in a list; defaults for any other.
template <class A>
inline constexpr Meta kMetaOf{};
template <class A>
concept IsAction = kMetaOf<A>
.listed;

/// The common part of all actions of one struct. Each struct has one: its address identifies the struct.
struct ActionType {
    std::string_view name;
    Kind kind;
    void (*run)(AppState& state, const void* action);
    std::shared_ptr<void> (*make)();  // with nothing set
    std::shared_ptr<void> (*copy)(const void* action);
    void (*describe)(Visitor& visit, void* action);
};
/// As the folder that has the struct defines it for that struct.
template <IsAction A>
void carry_out(AppState& state, const A& action) {
    if constexpr (requires { action.set_in(state); }) {
        action.set_in(state);
    } else {
        void carry_out(AppState & state, const A& action);
        carry_out(state, action);
    }
}
/// In a journal; "": not journaled.
template <class A>
constexpr std::string_view journal_name() {
    if constexpr (kMetaOf<A>.written == Written::no)
        return "";
    else
        return A::kJournalNames.action;
}
/// Visits the journaled part of the action: described fields, or members by kJournalNames.
template <class A>
void describe_action(Visitor& visit, A& action) {
    if constexpr (Described<A>) {
        describe(visit, action);
    } else if constexpr (kMetaOf<A>.written != Written::no) {
        constexpr const auto& names = A::kJournalNames.members;
        static_assert(
            names.size() ==
                (kMetaOf<A>.written == Written::first_member ? 1 : reflect::count_members<A>()),
            "kJournalNames has a name for each member that is written");
        each_member<names.size()>(action,
                                  [&](std::size_t n, auto& member) { visit(names[n], member); });
    }
}
/// As shared_ptr<A> has it, but one class for all.
template <class A>
std::shared_ptr<void> owned(A* action) {
    return {static_cast<void*>(action), +[](void* it) { delete static_cast<A*>(it); }};
}
template <class A>
inline constexpr ActionType kActionType{
    journal_name<A>(),
    kMetaOf<A>.kind,
    [](AppState& state, const void* action) { carry_out(state, *static_cast<const A*>(action)); },
    [] { return owned(new A{}); },
    [](const void* action) { return owned(new A(*static_cast<const A*>(action))); },
    [](Visitor& visit, void* action) { describe_action(visit, *static_cast<A*>(action)); }};

/// One action of any struct: constant, cheap to copy.
class Action {
  public:
    template <IsAction A>
    Action(A action)  // NOLINT: converts
        : type_(&kActionType<A>), action_(owned(new A(std::move(action)))) {}
    Action(const ActionType& type, std::shared_ptr<const void> action)
        : type_(&type), action_(std::move(action)) {}

    const ActionType& type() const { return *type_; }
    const void* get() const { return action_.get(); }
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
inline Kind kind_of(const Action& action) { return action.type().kind; }
/// The name in a journal; "": not journaled.
inline std::string_view name_of(const Action& action) { return action.type().name; }

using ActionTypes = std::span<const ActionType* const>;
template <Kind kind, Written written, class... A>
constexpr void add_types(const ActionType**& to, ActionsOf<kind, written, A...>) {
    ((*to++ = &kActionType<A>), ...);
}
/// The actions of a folder, by their kind, and StepActions::kTypes for its row:
///
///   using StepActions = ActionList<Plain<StepBy, GoToEnd>, Edits<CommitCellEdit>, Moments<HoverOperand>>;
///   template <ListedIn<StepActions> A>
///   inline constexpr Meta kMetaOf<A> = StepActions::kMeta<A>;
template <class... Of>
struct ActionList {
    template <class Wanted>
    static constexpr Meta kMeta = [] {
        Meta found;
        ((std::is_base_of_v<Listed<Wanted>, Of> ? void(found = Of::kMeta) : void()), ...);
        return found;
    }();
    static constexpr std::array<const ActionType*, (Of::kCount + ...)> kTypes = [] {
        std::array<const ActionType*, (Of::kCount + ...)> types{};
        const ActionType** to = types.data();
        (add_types(to, Of{}), ...);
        return types;
    }();
};
template <class A, class List>
concept ListedIn = List::template kMeta<A>.listed;

/// The only mutator. An action that cannot be carried out leaves the last good state and puts one
/// clear sentence into state.message.
void apply(AppState& state, const Action& action);

}  // namespace attn::view

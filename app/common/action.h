#pragma once

#include <cstdint>
#include <memory>
#include <source_location>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "app/common/describe.h"

namespace attn::view {

struct AppState;

// Everything a person can do. A panel appends actions; apply() carries them out; the journal writes them, one JSON line
// each. An action says what it does in terms of the document: never of the window's size, of the clock or of a list's
// order, so that a replay gives the same state. It holds the new value, not a difference, where it can. It is a struct
//
//   struct SetScaling {
//       bool on;
//       static constexpr Meta kMeta{"set_scaling", Kind::edit, fields<&SetScaling::on>};
//       friend void carry_out(AppState& state, const SetScaling& action);
//   };
//
// and stands in the list of its folder, which journals read: see ActionList. Fields that a journal calls otherwise, or that
// are an enum, are described by a function beside it, as in describe.h.

enum class Kind : std::uint8_t {
    plain,  // moves about, opens and closes; ends a gesture
    edit,   // changes what undo covers: one step
    drag,   // the same; within a gesture (BeginGesture … EndGesture) all of one type are one step
    answer,  // the result of a job: what a replay waits for where it is journaled
    moment,  // pointer, clock, room, what the system says: never journaled, never ends a gesture
};

struct Meta {
    std::string_view name;  // in a journal; "": not journaled
    Kind kind;
    void (*describe)(Visitor& visit, void* action) = nullptr;  // see fields
};

/// What a member is called in its struct: member_name<&SetScaling::on>() is "on".
template <auto member>
consteval std::string_view member_name() {
    // "… [with auto member = &attn::view::SetScaling::on; …]" of GCC, "… [member = &…::on]" of clang
    std::string_view name = std::source_location::current().function_name();
    name.remove_prefix(name.find("member = "));
    name = name.substr(0, name.find_first_of(";]"));
    return name.substr(name.rfind(':') + 1);
}
template <class A, class Field>
A struct_of(Field A::*);
/// Describes an action by its members, each by its own name.
template <auto first, auto... more>
void fields(Visitor& visit, void* action) {
    auto& of = *static_cast<decltype(struct_of(first))*>(action);
    visit(member_name<first>(), of.*first);
    (visit(member_name<more>(), of.*more), ...);
}

/// What all actions of one struct have in common. There is one for each struct: its address names the struct.
struct ActionType {
    std::string_view name;
    Kind kind;
    void (*run)(AppState& state, const void* action);
    std::shared_ptr<void> (*make)();  // with nothing set
    std::shared_ptr<void> (*copy)(const void* action);
    void (*describe)(Visitor& visit, void* action);
};
template <class A>
inline constexpr ActionType kActionType{
    A::kMeta.name,
    A::kMeta.kind,
    [](AppState& state, const void* action) { carry_out(state, *static_cast<const A*>(action)); },
    []() -> std::shared_ptr<void> { return std::shared_ptr<A>(new A{}); },
    [](const void* action) -> std::shared_ptr<void> {
        return std::make_shared<A>(*static_cast<const A*>(action));
    },
    [](Visitor& visit, void* action) {
        if constexpr (Described<A>)
            describe(visit, *static_cast<A*>(action));
        else if (A::kMeta.describe != nullptr)
            A::kMeta.describe(visit, action);
    }};

/// One action of any struct: constant, cheap to copy.
class Action {
  public:
    template <class A>
    requires requires { A::kMeta; }
    Action(A action)  // NOLINT: converts
        : type_(&kActionType<A>), action_(std::make_shared<const A>(std::move(action))) {}
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

/// The actions of a folder: `using StepActions = ActionList<GoToStage, …>;`, and StepActions::types for its row.
using ActionTypes = std::span<const ActionType* const>;
template <class... A>
struct ActionList {
    static constexpr const ActionType* kTypes[] = {&kActionType<A>...};
};

/// The only mutator. An action that cannot be carried out leaves the last good state and puts one
/// clear sentence into state.message.
void apply(AppState& state, const Action& action);

}  // namespace attn::view

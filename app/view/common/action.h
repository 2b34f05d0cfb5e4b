#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace attn::view {

struct AppState;

// What an action is, beside its struct: its name and fields in a journal and what it does to undo. An action is
//
//   struct SetScaling {
//       bool on;
//       static constexpr auto kMeta = meta("set_scaling", Kind::edit, field("on", &SetScaling::on));
//       friend void carry_out(AppState& state, const SetScaling& action);
//   };
//
// and stands in the list of its folder; `Action` (actions.h) holds one of any list.

enum class Kind : std::uint8_t {
    plain,  // moves about, opens and closes; ends a gesture
    edit,   // changes what undo covers: one step
    drag,   // the same; within a gesture (BeginGesture … EndGesture) all of one type are one step
    answer,  // the result of a job: what a replay waits for where it is journaled
    moment,  // pointer, clock, room, what the system says: never journaled, never ends a gesture
};

template <class Struct, class Value>
struct Field {
    std::string_view name;
    Value Struct::*member;
};
template <class Struct, class Value>
constexpr Field<Struct, Value> field(std::string_view name, Value Struct::*member) {
    return {name, member};
}

template <class... Fields>
struct Meta {
    std::string_view name;  // in a journal; "": not journaled
    Kind kind;
    std::tuple<Fields...> fields;
};
template <class... Fields>
constexpr Meta<Fields...> meta(std::string_view name, Kind kind, Fields... fields) {
    return {name, kind, {fields...}};
}
/// An action that no journal holds.
constexpr Meta<> unwritten(Kind kind) { return {"", kind, {}}; }

template <class... Structs>
struct ActionList {};

/// The actions of every list, in order.
template <class... Lists>
struct Joined;
template <class... A>
struct Joined<ActionList<A...>> {
    using List = ActionList<A...>;
};
template <class... A, class... B, class... Rest>
struct Joined<ActionList<A...>, ActionList<B...>, Rest...>
    : Joined<ActionList<A..., B...>, Rest...> {};

template <class A, class List>
inline constexpr bool kIsIn = false;
template <class A, class... Structs>
inline constexpr bool kIsIn<A, ActionList<Structs...>> =
    std::disjunction_v<std::is_same<A, Structs>...>;  // a fold is nested: clang takes 256

/// What all actions of one struct have in common. There is one for each struct: its address names the struct.
struct ActionType {
    std::string_view name;
    Kind kind;
    void (*run)(AppState& state, const void* action);
};
template <class A>
inline constexpr ActionType kActionType{
    A::kMeta.name, A::kMeta.kind,
    [](AppState& state, const void* action) { carry_out(state, *static_cast<const A*>(action)); }};

}  // namespace attn::view

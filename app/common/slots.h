#pragma once

#include <algorithm>
#include <concepts>
#include <memory>
#include <vector>

#include "app/common/describe.h"

namespace attn::view {

struct AppState;

/// What can be done with the values of one type without knowing it. There is one for each type: its address names it.
struct SlotType {
    std::shared_ptr<void> (*copy)(const void* value);  // of null: a new one
    bool (*same)(const void* a, const void* b);
    void (*describe)(Visitor& visit, void* value);  // null: nothing of it is kept
};

template <class T>
inline constexpr SlotType kSlotType{
    [](const void* value) -> std::shared_ptr<void> {
        return value ? std::make_shared<T>(*static_cast<const T*>(value)) : std::make_shared<T>();
    },
    [](const void* a, const void* b) {
        if constexpr (std::equality_comparable<T>)
            return *static_cast<const T*>(a) == *static_cast<const T*>(b);
        return a == b;
    },
    []() -> void (*)(Visitor&, void*) {
        if constexpr (Described<T>)
            return [](Visitor& visit, void* value) { describe(visit, *static_cast<T*>(value)); };
        else
            return nullptr;
    }()};

/// Values by their type, one of each: what workspaces keep in the state, which knows none of them. A value that was never
/// set is as T{} makes it. A copy shares the values until one of the two is changed.
class Slots {
  public:
    template <class T>
    const T& get() const {
        if (const Slot* const slot = find(&kSlotType<T>))
            return *static_cast<const T*>(slot->value.get());
        static const T first{};
        return first;
    }
    template <class T>
    T& edit() {
        return *static_cast<T*>(edit(kSlotType<T>));
    }
    void* edit(const SlotType& type) {
        Slot* slot = const_cast<Slot*>(find(&type));
        if (slot == nullptr) slot = &slots_.emplace_back(&type, type.copy(nullptr));
        if (slot->value.use_count() > 1) slot->value = type.copy(slot->value.get());
        return slot->value.get();
    }
    /// As in `other`, also where that was never set.
    void take(const SlotType& type, const Slots& other) {
        std::erase_if(slots_, [&](const Slot& slot) { return slot.type == &type; });
        if (const Slot* const slot = other.find(&type)) slots_.push_back(*slot);
    }
    std::vector<const SlotType*> types() const {
        std::vector<const SlotType*> all;
        for (const Slot& slot : slots_) all.push_back(slot.type);
        return all;
    }

    /// A value that was never set equals a new one.
    bool operator==(const Slots& other) const { return holds(other) && other.holds(*this); }

  private:
    struct Slot {
        const SlotType* type;
        std::shared_ptr<void> value;
        Slot(const SlotType* of, std::shared_ptr<void> first) : type(of), value(std::move(first)) {}
    };

    const Slot* find(const SlotType* type) const {
        const auto found = std::ranges::find(slots_, type, &Slot::type);
        return found == slots_.end() ? nullptr : &*found;
    }
    bool holds(const Slots& other) const {
        return std::ranges::all_of(other.slots_, [&](const Slot& slot) {
            const Slot* const mine = find(slot.type);
            if (mine && mine->value == slot.value) return true;
            const auto first = mine ? mine->value : slot.type->copy(nullptr);
            return slot.type->same(first.get(), slot.value.get());
        });
    }

    std::vector<Slot> slots_;
};

/// AppState::looks, and the controls of its present Edit.
const Slots& look_slots(const AppState& state);
Slots& look_slots(AppState& state);
const Slots& control_slots(const AppState& state);

/// What a workspace looks at, a value of AppState::looks: `inline constexpr Look<StepLook> step_look;` makes
/// `state.stage` of it.
template <class T>
struct Look {
    const T& operator()(const AppState& state) const { return look_slots(state).template get<T>(); }
    T& operator()(AppState& state) const { return look_slots(state).template edit<T>(); }
};
/// Settings that undo covers: a value of the present Edit, changed by edit_controls() (document/edits.h).
template <class T>
struct Controls {
    const T& operator()(const AppState& state) const {
        return control_slots(state).template get<T>();
    }
};

}  // namespace attn::view

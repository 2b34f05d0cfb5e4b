#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/common/action.h"
#include "app/common/slots.h"
#include "core/check.h"
#include "core/result.h"

namespace attn::view {

// An action that sets one described field of a Look or of Controls of a workspace:
//
//   using SetSaturationWidth =
//       SetField<Index, saturation_controls, "d_k", "set_saturation_width">;
//
// Its range and its words stand in the description, once: the action, its step of undo ("d_k = 64"), what refuses it ("d_k =
// 0: it must be 1 to 4096") and its control (draw/field_controls.h) read them there. What describe() complains of when
// it reads is refused too. A workspace that has more to say declares beside the value
//
//   Result<void> prepare(const AppState& state, SaturationControls& next, std::string_view changed);
//
// which refuses a change, or brings along what follows from it.

/// A text that is an argument of a template.
template <std::size_t N>
struct Text {
    char text[N];
    constexpr Text(const char (&from)[N]) { std::copy_n(from, N, text); }  // NOLINT: converts
    constexpr std::string_view view() const { return {text, N - 1}; }
};

/// A value of an enum.
struct Chosen {
    std::size_t n = 0;
};
using FieldValue =
    std::variant<bool, int, Index, std::uint64_t, double, std::string, std::vector<double>, Chosen>;
template <class T>
FieldValue field_value(const T& value) {
    if constexpr (std::is_enum_v<T>)
        return Chosen{static_cast<std::size_t>(value)};
    else
        return value;
}
template <class T>
T value_in(const FieldValue& value) {
    if constexpr (std::is_enum_v<T>)
        return static_cast<T>(std::get<Chosen>(value).n);
    else
        return std::get<T>(value);
}

/// A field of a value in the state.
struct PersistedField {
    const SlotType* type;
    bool undone;
    std::string_view name, key;  // in the description, in a journal
    Result<void> (*prepare)(const AppState& state, void* next, std::string_view changed);
};
/// The field as it is now.
struct FieldNow {
    About about;
    FieldValue value;
    std::string text;                // its name on screen: "d_k"
    std::vector<std::string> names;  // of a choice
};
/// `kept`: a value of its type. A field that is not described is a bug.
FieldNow field_now(const PersistedField& field, const void* retained);
void set_field(AppState& state, const PersistedField& field, const FieldValue& value);
/// Puts the value into `kept`, as it was prepared; returns the text for undo, "d_k = 64", or the error.
Result<std::string> put_field(const AppState& state, const PersistedField& field, void* retained,
                              const FieldValue& value);
/// As an action has it.
void describe_field(Visitor& visit, const PersistedField& field, FieldValue& value);

template <class T>
Result<void> prepare_persisted(const AppState& state, void* next, std::string_view changed) {
    if constexpr (requires(T & retained) { prepare(state, retained, changed); })
        return prepare(state, *static_cast<T*>(next), changed);
    else
        return {};
}
template <template <class> class Where, class T>
T persisted_type(const Where<T>&);  // only its type is used
template <class T>
inline constexpr bool kIsUndone = false;
template <class T>
inline constexpr bool kIsUndone<Controls<T>> = true;
/// Fields that are kept elsewhere than in a Slot bring who sets them.
template <class Where>
void set_where(AppState& state, const PersistedField& field, const FieldValue& value) {
    if constexpr (requires { Where::set(state, field, value); })
        Where::set(state, field, value);
    else
        set_field(state, field, value);
}

template <class T, auto kWhere, Text kName, Text kAction, Text kKey = kName>
struct SetField {
    T value;

    using Persisted = decltype(persisted_type(kWhere));
    static constexpr auto kJournalNames = journal_names(kAction.view());
    static constexpr PersistedField kField{&kSlotType<Persisted>,
                                           kIsUndone<std::remove_const_t<decltype(kWhere)>>,
                                           kName.view(), kKey.view(), prepare_persisted<Persisted>};
    friend void describe(Visitor& visit, SetField& action) {
        FieldValue value = field_value(action.value);
        describe_field(visit, kField, value);
        action.value = value_in<T>(value);
    }
    void set_in(AppState& state) const {
        set_where<std::remove_const_t<decltype(kWhere)>>(state, kField, field_value(value));
    }
};

template <class Of, class T>
T member_type(T Of::*);  // only its type is used

/// An action that puts a value where it is kept, as it is and in silence. A journal that has it needs names, of the action
/// and of the value:
///
///   using HoverHead = Put<heads_look, &HeadsLook::hovered>;
///   using ShowModel = Put<step_look, &StepLook::model_open, "show_model", "on">;
template <auto kWhere, auto kMember, Text kAction = "", Text kKey = "">
struct Put {
    decltype(member_type(kMember)) value;

    static constexpr auto kJournalNames = journal_names(kAction.view());
    friend void describe(Visitor& visit, Put& action) {
        if constexpr (!kAction.view().empty()) visit(kKey.view(), action.value);
    }
    void set_in(AppState& state) const { kWhere(state).*kMember = value; }
};

}  // namespace attn::view

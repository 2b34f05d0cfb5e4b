#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/common/draw/frame.h"
#include "app/common/draw/widgets.h"
#include "app/common/set_field.h"

namespace attn::ui {

/// What the description of a field does not have.
struct ControlText {
    std::string more = {};                           // of the tooltip
    std::span<const std::string_view> choices = {};  // as a person reads them; empty: their names
    float width = 0.0F;  // of a list that opens, in design units; 0: a row of choices
};

/// Makes room for a control so wide; false: it is not drawn now.
using PlaceControl = std::function<bool(float width)>;

/// The control of a described field: a toggle, a number, a seed, a slider where the range is long, a choice. Its tooltip is
/// the description's, a first line as heading. The new value when it was changed.
std::optional<FieldValue> draw_field(const PersistedField& field, const void* retained,
                                     const ControlText& text, const Frame& frame, Actions& out,
                                     const PlaceControl& place);
/// The control that emits the action `Set`, a SetField. `kept` has the field.
template <class Set>
void field_control(const typename Set::Persisted& retained, const Frame& frame, Actions& out,
                   const ControlText& text, const PlaceControl& place) {
    if (const auto value = draw_field(Set::kField, &retained, text, frame, out, place))
        out.push_back(Set{view::value_in<decltype(Set::value)>(*value)});
}

/// The least of label and box, in pixels, so that fields beneath each other begin and end alike.
struct FieldColumns {
    float label = 0.0F, box = 0.0F;
};
/// A list of numbers as text, which a click opens to be typed; as wide as the text, within limits. Returns what
/// was typed.
std::optional<std::string> list_field(const Frame& frame, const char* id, const char* label,
                                      const std::string& text, const Tip& tip, Actions& out,
                                      const PlaceControl& place, const FieldColumns& columns = {});

}  // namespace attn::ui

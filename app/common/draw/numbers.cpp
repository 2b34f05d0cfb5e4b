#include "app/common/draw/draw.h"
#include "app/common/draw/field_controls.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/imgui_compat.h"
#include "app/common/draw/items.h"
#include "app/common/draw/typing.h"
#include "app/common/draw/widgets.h"
#include "app/common/format.h"
#include "app/common/typed.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kStepButton = 22.0F;
constexpr float kDragStep = 8.0F;   // of the mouse for a step of 1
constexpr std::int64_t kFast = 10;  // times as fast with Shift
constexpr std::size_t kSeedDigits = 6;

/// − or +.
bool step_button(const Frame& frame, const char* sign, ImVec2 size, bool possible) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const bool clicked = invisible_button(sign, size) && possible;
    const bool hovered = ImGui::IsItemHovered() && possible;
    const Theme& theme = frame.theme;
    const Color color = !possible ? theme.control : hovered ? theme.accent : theme.text;
    const ImVec2 middle{std::round(at.x + size.x / 2), std::round(at.y + size.y / 2)};
    const float arm = frame.px(3.5F);
    frame.painter.line({middle.x - arm, middle.y}, {middle.x + arm, middle.y}, color, frame.px(1));
    if (*sign == '+')
        frame.painter.line({middle.x, middle.y - arm}, {middle.x, middle.y + arm}, color,
                           frame.px(1));
    return clicked;
}

/// A whole number with its limits: an Index, or a seed up to 2^64 - 1.
template <class Whole>
struct Number {
    const char* text;
    Whole value, low, high;

    /// So many steps on, no further than the limits.
    Whole moved(std::int64_t steps) const {
        using Wide = std::uint64_t;
        const Wide up = value < high ? static_cast<Wide>(high) - static_cast<Wide>(value) : 0;
        const Wide down = value > low ? static_cast<Wide>(value) - static_cast<Wide>(low) : 0;
        const auto size = static_cast<Wide>(std::abs(steps));
        if (steps >= 0) return static_cast<Whole>(static_cast<Wide>(value) + std::min(size, up));
        return static_cast<Whole>(static_cast<Wide>(value) - std::min(size, down));
    }
};

/// Steps that the mouse went in this frame while it holds the last item: what it went in all now,
/// less what it had gone before.
std::int64_t dragged_steps(const Frame& frame) {
    if (!ImGui::IsItemActive() || ImGui::IsItemActivated()) return 0;
    const float step = frame.px(kDragStep);
    const float now = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 0.0F).x;
    const float before = now - ImGui::GetIO().MouseDelta.x;
    const auto steps =
        static_cast<std::int64_t>(std::trunc(now / step) - std::trunc(before / step));
    return ImGui::GetIO().KeyShift ? kFast * steps : steps;
}

std::optional<Index> typed_as(const std::string& text, Index) { return view::typed_whole(text); }
std::optional<std::uint64_t> typed_as(const std::string& text, std::uint64_t) {
    return view::typed_seed(text);
}
std::optional<double> typed_as(const std::string& text, double) { return view::typed_number(text); }

/// What was typed, if it is a number of that type; the value stays where it is none, and that is said.
template <class Any>
Any typed_or(Any value, const std::optional<std::string>& text, const std::string& name,
             const std::string& stays, Actions& out) {
    if (!text) return value;
    const auto typed = typed_as(*text, value);
    const char* const wanted = std::is_integral_v<Any> ? "a whole number" : "a number";
    if (!typed) refuse(*text, wanted, name, stays, out);
    return typed.value_or(value);
}

void draw_number(const Frame& frame, ImVec2 low, ImVec2 high, const char* text,
                 const std::string& value) {
    const float pad = frame.px(kSpace4);
    const ImVec2 from{low.x + pad, low.y};
    const ImVec2 to{high.x - pad, high.y};
    const Color color =
        ImGui::IsItemActive() || ImGui::IsItemHovered() ? frame.theme.accent : frame.theme.text;
    draw_text_in(frame, frame.fonts.body, from, to, Align::left, frame.theme.muted, text);
    draw_text_in(frame, frame.fonts.digits, from, to, Align::right, color, value);
}

/// The middle of a number field: words and value, dragged, or the field that is typed into.
template <class Whole>
Whole draw_middle(const Frame& frame, ImGuiID control, const Number<Whole>& number, ImVec2 size,
                  const Tip& tip, Actions& out) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 high{low.x + size.x, low.y + size.y};
    const std::string value = std::to_string(number.value);
    if (is_typed_into(frame, control)) {
        const auto text = type_in_place(frame, control, low, high, out);
        return typed_or(number.value, text, number.text, value, out);
    }
    invisible_button("number", size);
    const bool opened = opens_typing();
    report_gesture(opened, out);
    if (opened) begin_typing(control, value, out);
    draw_number(frame, low, high, number.text, value);
    if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    tooltip(frame, tip.heading, tip.text);
    return opened ? number.value : number.moved(dragged_steps(frame) + wheel_steps());
}

template <class Whole>
std::optional<Whole> draw_field(const Frame& frame, const char* id, const Number<Whole>& number,
                                float width, const Tip& tip, Actions& out) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 button{frame.px(kStepButton), ImGui::GetFrameHeight()};
    const ImVec2 end{at.x + width, at.y + button.y};
    draw_box(frame, at, end, frame.theme.raised);
    ImGui::PushID(id);
    const ImGuiID control = ImGui::GetID("number");
    Whole chosen = number.value;
    if (step_button(frame, "-", button, number.value > number.low)) chosen = number.moved(-1);
    ImGui::SameLine(0.0F, 0.0F);
    const Whole middle =
        draw_middle(frame, control, number, {width - 2 * button.x, button.y}, tip, out);
    if (middle != number.value) chosen = middle;
    ImGui::SameLine(0.0F, 0.0F);
    if (step_button(frame, "+", button, number.value < number.high)) chosen = number.moved(1);
    if (focus_stop(frame, control, at, end)) {
        if (const int steps = arrow_steps(frame)) chosen = number.moved(steps);
        begin_typing_by_key(frame, control, std::to_string(number.value), out);
    }
    ImGui::PopID();
    if (chosen == number.value) return std::nullopt;
    return chosen;
}

float field_width(const Frame& frame, const std::string& text, std::size_t digits) {
    return frame.text_width(frame.fonts.body, text) +
           frame.text_width(frame.fonts.digits, std::string(digits, '0')) +
           frame.px(2 * kStepButton + 2 * kSpace4 + 8);
}

// ---- sliders

// Design units.
constexpr float kLeastTrack = 64.0F;
constexpr float kGrab = 6.0F;    // radius
constexpr float kMagnet = 4.0F;  // how close to a stop the hand is held by it
constexpr float kStop = 5.0F;    // half of its mark

constexpr double kHair = 1e-9;

/// A logarithmic scale.
struct Scale {
    double low, high;

    /// Of a share, from 0.001 to 0.999, which has no powers.
    bool is_even() const { return std::abs(low + high - 1.0) < kHair; }
    /// How far along the track a value stands, 0…1.
    double share(double value) const {
        const double at =
            is_even() ? (value - low) / (high - low) : std::log(value / low) / std::log(high / low);
        return std::isnan(at) ? 0.0 : within(at, 0.0, 1.0);
    }
    double at(double share) const {
        return is_even() ? low + (high - low) * share : low * std::pow(high / low, share);
    }
    /// The power of `base` next to the value; the value itself when that stands further off than
    /// `magnet` along the track.
    double held(double value, double base, double magnet) const {
        const double stop = std::pow(base, std::round(std::log(value) / std::log(base)));
        const bool close = std::abs(share(stop) - share(value)) <= magnet;
        return close && stop >= low && stop <= high ? stop : value;
    }
    /// Where the powers of `base` stand.
    std::vector<double> stops(double base) const {
        std::vector<double> shares;
        for (double stop = std::pow(base, std::ceil(std::log(low) / std::log(base) - kHair));
             stop <= high * (1.0 + kHair); stop *= base)
            shares.push_back(share(stop));
        return shares;
    }
};

/// Where label, track and value stand.
struct SlidersPlace {
    ImVec2 at;
    float left, length;  // of the track
    ImVec2 high;
};

float label_width(const Frame& frame, const SliderText& text) {
    return std::max(text.label_px, frame.text_width(frame.fonts.body, text.label));
}

float slider_text_width(const Frame& frame, const SliderText& text) {
    return label_width(frame, text) + frame.text_width(frame.fonts.digits, text.widest) +
           frame.px(16);
}

SlidersPlace place_slider(const Frame& frame, const SliderText& text, float width) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    return {at,
            at.x + label_width(frame, text) + frame.px(8),
            width - slider_text_width(frame, text),
            {at.x + width, at.y + ImGui::GetFrameHeight()}};
}

/// Where the grab stands on the track.
float grab_x(const Frame& frame, const SlidersPlace& place, double share) {
    const float radius = frame.px(kGrab);
    return place.left + radius + (place.length - 2 * radius) * static_cast<float>(share);
}

/// Marks at the stops.
void draw_stops(const Frame& frame, const SlidersPlace& place, const std::vector<double>& stops) {
    const float y = std::round((place.at.y + place.high.y) / 2);
    for (const double stop : stops) {
        const float x = std::round(grab_x(frame, place, stop));
        frame.painter.line({x, y - frame.px(kStop)}, {x, y + frame.px(kStop)}, frame.theme.muted,
                           frame.px(1));
    }
}

void draw_track(const Frame& frame, const SlidersPlace& place, double share,
                const std::vector<double>& stops) {
    const Theme& theme = frame.theme;
    const float radius = frame.px(kGrab);
    const float y = (place.at.y + place.high.y) / 2;
    const float x = grab_x(frame, place, share);
    const bool busy = ImGui::IsItemActive() || ImGui::IsItemHovered();
    const Color grab = busy ? theme.accent : theme.text;
    frame.painter.line({place.left, y}, {place.left + place.length, y}, theme.control, frame.px(2));
    frame.painter.line({place.left, y}, {x, y}, theme.text, frame.px(3));
    draw_stops(frame, place, stops);
    frame.painter.circle({x, y}, radius, grab);
}

void draw_description(const Frame& frame, const SlidersPlace& place, const SliderText& text,
                      bool typing) {
    draw_text_in(frame, frame.fonts.body, place.at, {place.left, place.high.y}, Align::left,
                 frame.theme.text, text.label);
    if (typing) return;
    draw_text_in(frame, frame.fonts.digits, {place.left, place.at.y}, place.high, Align::right,
                 frame.theme.text, text.value);
}

/// Where along the track the hand holds the last item; nullopt while it only rests on the grab.
std::optional<double> pulled_to(const Frame& frame, const SlidersPlace& place, double share) {
    if (!ImGui::IsItemActive()) return std::nullopt;
    const float radius = frame.px(kGrab);
    const float first = place.left + radius;
    const float span = std::max(1.0F, place.length - 2 * radius);
    const float pressed = ImGui::GetIO().MouseClickedPos[ImGuiMouseButton_Left].x;
    if (pressed > place.left + place.length) return std::nullopt;  // on the value
    const bool moved = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 0.0F).x != 0.0F;
    const float grab = first + span * static_cast<float>(share);
    if (!moved && std::abs(pressed - grab) <= radius) return std::nullopt;
    return within((ImGui::GetMousePos().x - first) / span, 0.0F, 1.0F);
}

/// What was done to a slider in this frame.
struct Input {
    int wheel = 0;                    // notches
    std::optional<double> share;      // pulled to
    std::optional<std::string> text;  // typed
    bool focused = false;
    double magnet = 0.0;  // along the track
};

/// Where the grab and the marks stand, and what the typing starts from.
struct Shown {
    double share;
    std::vector<double> stops;
    std::string draft;
};

/// Label, track and value.
Input draw_slider(const Frame& frame, const char* id, const SlidersPlace& place,
                  const SliderText& text, const Shown& shown, const Tip& tip, Actions& out) {
    const ImGuiID control = ImGui::GetID(id);
    const bool typing = is_typed_into(frame, control);
    Input input;
    input.magnet = frame.px(kMagnet) / std::max(1.0F, place.length);
    draw_description(frame, place, text, typing);
    ImGui::BeginGroup();
    ImGui::SetCursorScreenPos({place.left, place.at.y});
    if (typing) {
        draw_track(frame, place, shown.share, shown.stops);
        input.text =
            type_in_place(frame, control, {place.left + place.length, place.at.y}, place.high, out);
    } else {
        invisible_button(id, {place.high.x - place.left, place.high.y - place.at.y});
        const bool opened = opens_typing();
        report_gesture(opened, out);
        if (opened) begin_typing(control, shown.draft, out);
        if (!opened) input.share = pulled_to(frame, place, shown.share);
        input.wheel = wheel_steps();
        draw_track(frame, place, shown.share, shown.stops);
        tooltip(frame, tip.heading, tip.text);
    }
    ImGui::EndGroup();
    input.focused = focus_stop(frame, control, place.at, place.high);
    return input;
}

Index next_whole(const Frame& frame, Index value, Index low, Index high) {
    value += arrow_steps(frame);
    const auto power = std::log2(static_cast<double>(value));
    if (take_key(frame, Key::page_up, true))
        value = static_cast<Index>(std::exp2(std::floor(power) + 1.0));
    if (take_key(frame, Key::page_down, true))
        value = static_cast<Index>(std::exp2(std::ceil(power) - 1.0));
    if (take_key(frame, Key::home)) value = low;
    if (take_key(frame, Key::end)) value = high;
    return within(value, low, high);
}

/// The multiple of 10^power that is `steps` of them on from the one next to `value`.
double on_decimal(double value, double power, int steps = 0) {
    const double unit = std::pow(10.0, std::abs(power));
    return power < 0.0 ? std::round(value * unit + steps) / unit
                       : std::round(value / unit + steps) * unit;
}

/// Tenths of the value's decade on or back: 0.99, 1.0, 1.1.
double stepped_real(double value, int steps, double low, double high) {
    const double decade = std::floor(std::log10(value * (1.0 + steps * kHair)));
    return within(on_decimal(value, decade - 1.0, steps), low, high);
}

double next_real(const Frame& frame, double value, double low, double high) {
    const int steps = arrow_steps(frame);
    if (take_key(frame, Key::home)) return low;
    if (take_key(frame, Key::end)) return high;
    return steps == 0 ? value : stepped_real(value, steps, low, high);
}

/// As many digits as the slider shows: two decimals, and two digits of what is small where the scale begins below them.
double rounded(double value, const Scale& scale) {
    const bool small = scale.low < 0.01 && value < 0.1;
    const double power = small ? std::floor(std::log10(value)) - 1.0 : value < 10.0 ? -2.0 : -1.0;
    return within(on_decimal(value, power), scale.low, scale.high);
}

// ---- lists of numbers

// Design units.
constexpr float kLeast = 200.0F, kMost = 420.0F;

void draw_closed(const Frame& frame, const char* id, ImVec2 low, ImVec2 high,
                 const std::string& text, const Tip& tip, Actions& out) {
    invisible_button(id, {high.x - low.x, high.y - low.y});
    const bool hovered = ImGui::IsItemHovered();
    if (ImGui::IsItemActivated()) begin_typing(ImGui::GetID(id), text, out);
    frame.painter.rect(low, high, frame.theme.raised, frame.px(4));
    if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_TextInput);
    if (hovered) frame.painter.outline(low, high, frame.theme.muted, frame.px(1), frame.px(4));
    const float pad = frame.px(8);
    draw_text_in(frame, frame.fonts.digits, {low.x + pad, low.y}, high, Align::left,
                 frame.theme.text,
                 fit_text(frame, frame.fonts.digits, text, high.x - low.x - 2 * pad));
    tooltip(frame, tip.heading, tip.text);
}

}  // namespace

float number_width(const Frame& frame, const std::string& text, Index high) {
    return field_width(frame, text, std::to_string(high).size());
}

float seed_width(const Frame& frame, std::uint64_t seed) {
    return field_width(frame, "seed", std::max(kSeedDigits, std::to_string(seed).size()));
}

std::optional<Index> number_field(const Frame& frame, const char* id, const char* text, Index value,
                                  Index low, Index high, float width, const Tip& tip,
                                  Actions& out) {
    return draw_field(frame, id, Number<Index>{text, value, low, high}, width, tip, out);
}

std::optional<std::uint64_t> seed_field(const Frame& frame, const char* id, std::uint64_t value,
                                        float width, const Tip& tip, Actions& out) {
    constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
    return draw_field(frame, id, Number<std::uint64_t>{"seed", value, 0, kLast}, width, tip, out);
}

float slider_width(const Frame& frame, const SliderText& text) {
    return slider_text_width(frame, text) + frame.px(kLeastTrack);
}

std::optional<Index> log_slider(const Frame& frame, const char* id, const SliderText& text,
                                Index value, Index low, Index high, float width, const Tip& tip,
                                Actions& out) {
    const Scale scale{static_cast<double>(low), static_cast<double>(high)};
    const std::string draft = std::to_string(value);
    const Shown shown{scale.share(static_cast<double>(value)), scale.stops(2.0), draft};
    const Input input =
        draw_slider(frame, id, place_slider(frame, text, width), text, shown, tip, out);
    Index chosen = within<Index>(value + input.wheel, std::min(low, value), std::max(high, value));
    if (input.share)
        chosen =
            static_cast<Index>(std::round(scale.held(scale.at(*input.share), 2.0, input.magnet)));
    if (input.text) chosen = typed_or(value, input.text, text.label, draft, out);
    if (input.focused) {
        chosen = next_whole(frame, chosen, low, high);
        begin_typing_by_key(frame, ImGui::GetID(id), draft, out);
    }
    if (chosen == value) return std::nullopt;
    return chosen;
}

std::optional<double> real_slider(const Frame& frame, const char* id, const SliderText& text,
                                  double value, double low, double high, float width,
                                  const Tip& tip, Actions& out) {
    const Scale scale{low, high};
    const std::string draft = view::exact(value);
    const Shown shown{scale.share(value), {scale.share(1.0)}, draft};
    const Input input =
        draw_slider(frame, id, place_slider(frame, text, width), text, shown, tip, out);
    double chosen = input.wheel == 0 ? value : stepped_real(value, input.wheel, low, high);
    if (input.share)
        chosen = rounded(scale.held(scale.at(*input.share), 10.0, input.magnet), scale);
    if (input.text) chosen = typed_or(value, input.text, text.label, draft, out);
    if (input.focused) {
        chosen = next_real(frame, chosen, low, high);
        begin_typing_by_key(frame, ImGui::GetID(id), draft, out);
    }
    if (chosen == value) return std::nullopt;
    return chosen;
}

std::optional<std::string> list_field(const Frame& frame, const char* id, const char* label,
                                      const std::string& text, const Tip& tip, Actions& out,
                                      const PlaceControl& place, const FieldColumns& columns) {
    const float text_extent =
        std::max(frame.text_width(frame.fonts.body, label), columns.label) + frame.px(8);
    const float wanted =
        std::max(frame.text_width(frame.fonts.digits, text) + frame.px(16), columns.box);
    const float width = within(wanted, frame.px(kLeast), frame.px(kMost));
    if (!place(text_extent + width)) return std::nullopt;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 low{at.x + text_extent, at.y};
    const ImVec2 high{low.x + width, at.y + ImGui::GetFrameHeight()};
    draw_text_in(frame, frame.fonts.body, at, {low.x, high.y}, Align::left, frame.theme.muted,
                 label);
    std::optional<std::string> typed;
    ImGui::BeginGroup();
    ImGui::SetCursorScreenPos(low);
    const ImGuiID control = ImGui::GetID(id);
    if (is_typed_into(frame, control))
        typed = type_in_place(frame, control, low, high, out);
    else
        draw_closed(frame, id, low, high, text, tip, out);
    ImGui::EndGroup();
    if (focus_stop(frame, control, low, high)) begin_typing_by_key(frame, control, text, out);
    return typed;
}

}  // namespace attn::ui

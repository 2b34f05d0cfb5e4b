#include <algorithm>
#include <cmath>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/imgui_compat.h"
#include "app/common/draw/typing.h"
#include "app/common/draw/widgets.h"
#include "app/common/format.h"
#include "app/common/typed.h"

namespace attn::ui {
namespace {

using view::Key;

// Design units.
constexpr float kLeastTrack = 64.0F;
constexpr float kGrab = 6.0F;    // radius
constexpr float kMagnet = 4.0F;  // how close to a stop the hand is held by it
constexpr float kStop = 5.0F;    // half of its mark

constexpr double kHair = 1e-9;

/// A logarithmic scale.
struct Scale {
    double low, high;

    /// How far along the track a value stands, 0…1.
    double share(double value) const {
        const double at = std::log(value / low) / std::log(high / low);
        return std::isnan(at) ? 0.0 : within(at, 0.0, 1.0);
    }
    double at(double share) const { return low * std::pow(high / low, share); }
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

float label_width(const Frame& frame, const SliderWords& words) {
    return std::max(words.label_px, frame.text_width(frame.fonts.body, words.label));
}

float slider_text_width(const Frame& frame, const SliderWords& words) {
    return label_width(frame, words) + frame.text_width(frame.fonts.digits, words.widest) +
           frame.px(16);
}

SlidersPlace place_slider(const Frame& frame, const SliderWords& words, float width) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    return {at,
            at.x + label_width(frame, words) + frame.px(8),
            width - slider_text_width(frame, words),
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
    const view::Theme& theme = frame.theme;
    const float radius = frame.px(kGrab);
    const float y = (place.at.y + place.high.y) / 2;
    const float x = grab_x(frame, place, share);
    const bool busy = ImGui::IsItemActive() || ImGui::IsItemHovered();
    const view::Color grab = busy ? theme.accent : theme.text;
    frame.painter.line({place.left, y}, {place.left + place.length, y}, theme.control, frame.px(2));
    frame.painter.line({place.left, y}, {x, y}, theme.text, frame.px(3));
    draw_stops(frame, place, stops);
    frame.painter.circle({x, y}, radius, grab);
}

void draw_words(const Frame& frame, const SlidersPlace& place, const SliderWords& words,
                bool typing) {
    draw_text_in(frame, frame.fonts.body, place.at, {place.left, place.high.y}, Align::left,
                 frame.theme.text, words.label);
    if (typing) return;
    draw_text_in(frame, frame.fonts.digits, {place.left, place.at.y}, place.high, Align::right,
                 frame.theme.text, words.value);
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
                  const SliderWords& words, const Shown& shown, const Tip& tip,
                  view::Actions& out) {
    const ImGuiID control = ImGui::GetID(id);
    const bool typing = is_typed_into(frame, control);
    Input input;
    input.magnet = frame.px(kMagnet) / std::max(1.0F, place.length);
    draw_words(frame, place, words, typing);
    ImGui::BeginGroup();
    ImGui::SetCursorScreenPos({place.left, place.at.y});
    if (typing) {
        draw_track(frame, place, shown.share, shown.stops);
        input.text =
            type_in_place(frame, control, {place.left + place.length, place.at.y}, place.high, out);
    } else {
        ImGui::InvisibleButton(id, {place.high.x - place.left, place.high.y - place.at.y});
        const bool opened = opens_typing();
        say_gesture(opened, out);
        if (opened) begin_typing(control, shown.draft, out);
        if (!opened) input.share = pulled_to(frame, place, shown.share);
        input.wheel = wheel_steps();
        draw_track(frame, place, shown.share, shown.stops);
        tooltip(frame, tip.heading, tip.words);
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

/// Tenths of the value's decade on or back: 0.99, 1.0, 1.1.
double stepped_real(double value, int steps, double low, double high) {
    const double decade = std::floor(std::log10(value * (1.0 + steps * kHair)));
    const double step = std::pow(10.0, decade - 1.0);
    const double next = std::round(value / step + steps) * step;
    return within(std::round(next * 1000.0) / 1000.0, low, high);
}

double next_real(const Frame& frame, double value, double low, double high) {
    const int steps = arrow_steps(frame);
    if (take_key(frame, Key::home)) return low;
    if (take_key(frame, Key::end)) return high;
    return steps == 0 ? value : stepped_real(value, steps, low, high);
}

/// As many digits as the slider shows.
double rounded(double value) {
    const double digits = value < 10.0 ? 100.0 : 10.0;
    return std::round(value * digits) / digits;
}

}  // namespace

float slider_width(const Frame& frame, const SliderWords& words) {
    return slider_text_width(frame, words) + frame.px(kLeastTrack);
}

std::optional<Index> log_slider(const Frame& frame, const char* id, const SliderWords& words,
                                Index value, Index low, Index high, float width, const Tip& tip,
                                view::Actions& out) {
    const Scale scale{static_cast<double>(low), static_cast<double>(high)};
    const std::string draft = std::to_string(value);
    const Shown shown{scale.share(static_cast<double>(value)), scale.stops(2.0), draft};
    const Input input =
        draw_slider(frame, id, place_slider(frame, words, width), words, shown, tip, out);
    Index chosen = within<Index>(value + input.wheel, std::min(low, value), std::max(high, value));
    if (input.share)
        chosen =
            static_cast<Index>(std::round(scale.held(scale.at(*input.share), 2.0, input.magnet)));
    if (input.text) {
        const auto typed = view::typed_whole(*input.text);
        if (!typed) refuse(*input.text, "a whole number", words.label, draft, out);
        chosen = typed.value_or(value);
    }
    if (input.focused) {
        chosen = next_whole(frame, chosen, low, high);
        begin_typing_by_key(frame, ImGui::GetID(id), draft, out);
    }
    if (chosen == value) return std::nullopt;
    return chosen;
}

std::optional<double> real_slider(const Frame& frame, const char* id, const SliderWords& words,
                                  double value, double low, double high, float width,
                                  const Tip& tip, view::Actions& out) {
    const Scale scale{low, high};
    const std::string draft = view::exact(value);
    const Shown shown{scale.share(value), {scale.share(1.0)}, draft};
    const Input input =
        draw_slider(frame, id, place_slider(frame, words, width), words, shown, tip, out);
    double chosen = input.wheel == 0 ? value : stepped_real(value, input.wheel, low, high);
    if (input.share) chosen = rounded(scale.held(scale.at(*input.share), 10.0, input.magnet));
    if (input.text) {
        const auto typed = view::typed_number(*input.text);
        if (!typed) refuse(*input.text, "a number", words.label, draft, out);
        chosen = typed.value_or(value);
    }
    if (input.focused) {
        chosen = next_real(frame, chosen, low, high);
        begin_typing_by_key(frame, ImGui::GetID(id), draft, out);
    }
    if (chosen == value) return std::nullopt;
    return chosen;
}

}  // namespace attn::ui

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/common/draw/frame.h"

namespace attn::ui {

// Controls that look the same in every panel. Each takes a stable id, says nothing when nothing
// changed, has a tooltip, and is a stop of the focus ring (focus.h): Enter or Space press it, the
// arrow keys change it by one step. What the mouse drags stands between BeginGesture and EndGesture.

struct Tip {
    std::string heading;  // formula or name
    std::string text;
};

/// A switch with its words to the right; the new value when clicked.
std::optional<bool> toggle(const Frame& frame, const char* id, const std::string& text, bool on,
                           const Tip& tip);

// Numbers are dragged, stepped, or typed in place: double click, Ctrl+click, Enter or a digit. What
// is typed may lie beyond the limits: apply() says what is possible.

/// A whole number in a box with − and + beside it: "− d_k 4 +".
std::optional<Index> number_field(const Frame& frame, const char* id, const char* text, Index value,
                                  Index low, Index high, float width, const Tip& tip, Actions& out);
/// The same for any seed.
std::optional<std::uint64_t> seed_field(const Frame& frame, const char* id, std::uint64_t value,
                                        float width, const Tip& tip, Actions& out);

/// What stands left and right of a slider's track.
struct SliderText {
    std::string label;      // "τ"
    std::string value;      // "1.00"
    std::string widest;     // "100.00": the room that any value needs
    float label_px = 0.0F;  // at least so wide a label, where tracks stand beneath each other
};
/// A log slider over whole numbers. Powers of two are stops that hold the hand a little; Page up and
/// Page down go from one to the next, the wheel by one.
std::optional<Index> log_slider(const Frame& frame, const char* id, const SliderText& text,
                                Index value, Index low, Index high, float width, const Tip& tip,
                                Actions& out);
/// A log slider over real numbers; powers of ten are its stops, with a mark at 1.
std::optional<double> real_slider(const Frame& frame, const char* id, const SliderText& text,
                                  double value, double low, double high, float width,
                                  const Tip& tip, Actions& out);

/// A quiet button; true when clicked.
bool button(const Frame& frame, const char* id, const std::string& text, const Tip& tip);
/// A row of choices of which one is on; the one clicked.
std::optional<int> choice(const Frame& frame, const char* id, const std::vector<std::string>& items,
                          int current, const Tip& tip);

/// What a list offers.
struct Options {
    const std::vector<std::string>& names;
    int current = -1;        // -1: none of them
    std::string shown = {};  // in the closed list; "": the current one
    bool opens = false;      // arrow keys open it, for a choice replaces what is open
};
/// A list that opens: arrow keys and Enter choose, Escape closes it. The row chosen.
std::optional<int> combo(const Frame& frame, const char* id, const Options& options, float width,
                         const Tip& tip, Actions& out);

/// What the widgets above take, to flow them.
float toggle_width(const Frame& frame, const std::string& text);
float button_width(const Frame& frame, const std::string& text);
float choice_width(const Frame& frame, const std::vector<std::string>& items);
float number_width(const Frame& frame, const std::string& text, Index high);
/// Six digits, or as many as the seed has.
float seed_width(const Frame& frame, std::uint64_t seed);
/// With the shortest useful track.
float slider_width(const Frame& frame, const SliderText& text);

/// Places the next control on this line when `width` still fits, else on a new one.
void flow(const Frame& frame, float width);

}  // namespace attn::ui

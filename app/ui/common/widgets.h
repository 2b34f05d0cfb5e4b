#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/ui/common/frame.h"
#include "app/view/actions.h"

namespace attn::ui {

// Controls that look the same in every panel. Each takes a stable id, says nothing when nothing
// changed, and has a tooltip. A slider's drag ends with EndGesture.

struct Tip {
    std::string heading;  // formula or name
    std::string words;
};

/// A switch with its words to the right; the new value when clicked.
std::optional<bool> toggle(const Frame& frame, const char* id, const std::string& words, bool on,
                           const Tip& tip);
/// A whole number in a box: − and + beside it, to drag or type (Ctrl+click, Tab): "− d_k 4 +".
std::optional<Index> number_field(const Frame& frame, const char* id, const char* words,
                                  Index value, Index low, Index high, float width, const Tip& tip,
                                  view::Actions& out);

/// What stands left and right of a slider's track.
struct SliderWords {
    std::string label;   // "τ"
    std::string value;   // "1.00"
    std::string widest;  // "10.00": the room the value may need
};
/// A log slider over whole numbers.
std::optional<Index> log_slider(const Frame& frame, const char* id, const SliderWords& words,
                                Index value, Index low, Index high, float width, const Tip& tip,
                                view::Actions& out);
/// A log slider over real numbers.
std::optional<double> real_slider(const Frame& frame, const char* id, const SliderWords& words,
                                  double value, double low, double high, float width,
                                  const Tip& tip, view::Actions& out);
/// A quiet button; true when clicked.
bool button(const Frame& frame, const char* id, const std::string& words, const Tip& tip);
/// A row of choices of which one is on; the one clicked.
std::optional<int> choice(const Frame& frame, const char* id, const std::vector<std::string>& words,
                          int current, const Tip& tip);

/// What the widgets above take, to flow them.
float toggle_width(const Frame& frame, const std::string& words);
float button_width(const Frame& frame, const std::string& words);
float number_width(const Frame& frame, const std::string& words, Index high);
/// With the shortest useful track.
float slider_width(const Frame& frame, const SliderWords& words);

/// Places the next control on this line when `width` still fits, else on a new one.
void flow(const Frame& frame, float width);

}  // namespace attn::ui

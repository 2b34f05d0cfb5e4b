#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/common/draw/field_controls.h"
#include "app/common/draw/popover.h"
#include "app/common/draw/widgets.h"
#include "app/common/logits.h"

namespace attn::ui {

/// The controls of a workspace in one row at any width: what does not fit stands in one popover, a row each. They are gone
/// through once to be measured, once for the row and once for the popover, each time in the same order.
class ControlBar {
  public:
    ControlBar(const Frame& of, Actions& to) : frame(of), out(to) {}

    /// The next control, so wide: whether it is to be drawn now, at the cursor.
    bool take(float width);
    /// What comes next stands in the popover at any width.
    void rest() { rests_ = true; }
    /// A muted word before the next control, which keeps it with it.
    ControlBar& label(std::string text) {
        label_ = std::move(text);
        return *this;
    }

    bool button(const char* id, const std::string& text, const Tip& tip);
    std::optional<bool> toggle(const char* id, const std::string& text, bool on, const Tip& tip);
    std::optional<int> choice(const char* id, const std::vector<std::string>& items, int current,
                              const Tip& tip);
    /// `width` in design units.
    std::optional<int> combo(const char* id, const Options& options, float width, const Tip& tip);
    std::optional<Index> number(const char* id, const char* text, Index value, Index low,
                                Index high, const Tip& tip);
    std::optional<std::uint64_t> seed(const char* id, std::uint64_t value, const Tip& tip);
    /// A row of logits that a click opens to be typed; where what was typed is none, the old one, `now`, stays.
    std::optional<std::vector<double>> logits(const char* label, const std::string& now,
                                              Logits kind, const Tip& tip);
    /// `width` in design units, more where its words ask for it.
    std::optional<double> slider(const char* id, const SliderText& text, double value, double low,
                                 double high, float width, const Tip& tip);
    /// What can be read there.
    void put_text(Color color, const std::string& text, const Tip& tip = {});
    /// The control of a described field (field_controls.h).
    template <class Set>
    void field(const typename Set::Persisted& retained, const ControlText& text = {}) {
        field_control<Set>(retained, frame, out, text, [this](float width) { return take(width); });
    }

    /// Fills the current window with the row, at its end the button that opens the rest.
    void draw_row(const std::function<void(ControlBar&)>& controls, bool open);
    /// The rest, under its button.
    void draw_rest(const std::function<void(ControlBar&)>& controls);

    const Frame& frame;
    Actions& out;

  private:
    struct Control {
        float width;
        bool rests;
    };
    enum class Pass { measure, row, rest };
    void go_through(Pass pass, ImVec2 low, const std::function<void(ControlBar&)>& controls);
    void leave_out(float space, float button);

    std::vector<Control> controls_;
    std::string label_;
    PopoverButton button_;
    Pass pass_ = Pass::measure;
    ImVec2 low_;
    float column_ = 0.0F;  // width of the popover's
    std::size_t rows_ = 1, next_ = 0, shown_ = 0;
    bool rests_ = false;
};

}  // namespace attn::ui

#include "app/common/draw/bar.h"

#include <fmt/format.h>

#include "app/common/actions.h"
#include "app/common/draw/draw.h"
#include "app/common/parts.h"

namespace attn::ui {
namespace {

constexpr float kControlsBetween = kSpace12, kPopoverColumns = kSpace24;  // design units

}  // namespace

bool ControlBar::take(float width) {
    const std::string text = std::exchange(label_, {});
    const float before =
        text.empty() ? 0.0F : frame.text_width(frame.fonts.body, text) + frame.px(kSpace8);
    if (pass_ == Pass::measure) {
        controls_.push_back({before + width, rests_});
        return false;
    }
    const Control& control = controls_[next_++];
    if (control.rests != (pass_ == Pass::rest)) return false;
    ImVec2 at = low_;
    if (pass_ == Pass::row) {
        low_.x += std::round(control.width + frame.px(kControlsBetween));
    } else {
        at.x += static_cast<float>(shown_ / rows_) * (column_ + frame.px(kPopoverColumns));
        at.y += static_cast<float>(shown_ % rows_) * frame.px(kControlRow);
        ++shown_;
    }
    if (!text.empty())
        draw_text_in(frame, frame.fonts.body, at, {at.x + before, at.y + ImGui::GetFrameHeight()},
                     Align::left, frame.theme.muted, text);
    ImGui::SetCursorScreenPos({at.x + before, at.y});
    return true;
}

bool ControlBar::button(const char* id, const std::string& text, const Tip& tip) {
    return take(button_width(frame, text)) && ui::button(frame, id, text, tip);
}

std::optional<bool> ControlBar::toggle(const char* id, const std::string& text, bool on,
                                       const Tip& tip) {
    if (!take(toggle_width(frame, text))) return std::nullopt;
    return ui::toggle(frame, id, text, on, tip);
}

std::optional<int> ControlBar::choice(const char* id, const std::vector<std::string>& items,
                                      int current, const Tip& tip) {
    if (!take(choice_width(frame, items))) return std::nullopt;
    return ui::choice(frame, id, items, current, tip);
}

std::optional<int> ControlBar::combo(const char* id, const Options& options, float width,
                                     const Tip& tip) {
    if (!take(frame.px(width))) return std::nullopt;
    return ui::combo(frame, id, options, frame.px(width), tip, out);
}

std::optional<Index> ControlBar::number(const char* id, const char* text, Index value, Index low,
                                        Index high, const Tip& tip) {
    const float width = number_width(frame, text, high);
    if (!take(width)) return std::nullopt;
    return number_field(frame, id, text, value, low, high, width, tip, out);
}

std::optional<std::uint64_t> ControlBar::seed(const char* id, std::uint64_t value, const Tip& tip) {
    if (!take(seed_width(frame, value))) return std::nullopt;
    return seed_field(frame, id, value, seed_width(frame, value), tip, out);
}

std::optional<std::vector<double>> ControlBar::logits(const char* label, const std::string& now,
                                                      Logits kind, const Tip& tip) {
    const auto text = list_field(frame, "logits", label, now, tip, out,
                                 [this](float width) { return take(width); });
    if (!text || *text == now) return std::nullopt;
    auto typed = view::typed_logits(*text, kind);
    if (typed) return *std::move(typed);
    out.push_back(Notify{
        {fmt::format("{}; the logits stay {}", typed.error().text(), now), Severity::error}});
    return std::nullopt;
}

std::optional<double> ControlBar::slider(const char* id, const SliderText& text, double value,
                                         double low, double high, float width, const Tip& tip) {
    const float whole = std::max(frame.px(width), slider_width(frame, text));
    if (!take(whole)) return std::nullopt;
    return real_slider(frame, id, text, value, low, high, whole, tip, out);
}

void ControlBar::put_text(Color color, const std::string& text, const Tip& tip) {
    if (text.empty() || !take(frame.text_width(frame.fonts.body, text))) return;
    ImGui::AlignTextToFramePadding();
    ui::put_text(frame, frame.fonts.body, color, text);
    if (!tip.heading.empty()) tooltip(frame, tip.heading, tip.text);
}

void ControlBar::go_through(Pass pass, ImVec2 low,
                            const std::function<void(ControlBar&)>& controls) {
    pass_ = pass;
    low_ = low;
    next_ = shown_ = 0;
    rests_ = false;
    controls(*this);
}

/// All of them, or the first ones and the button.
void ControlBar::leave_out(float space, float button) {
    const auto whole = [&](float end) {
        for (const Control& control : controls_)
            if (!control.rests) end += control.width + frame.px(kControlsBetween);
        return end;
    };
    const bool needed = std::ranges::any_of(controls_, &Control::rests);
    if (!needed && whole(-frame.px(kControlsBetween)) <= space) return;
    for (std::size_t n = controls_.size(); n > 0 && whole(button) > space; --n)
        controls_[n - 1].rests = true;
}

void ControlBar::draw_row(const std::function<void(ControlBar&)>& controls, bool open) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 space = ImGui::GetContentRegionAvail();
    const ImVec2 low{at.x, std::round(at.y + (space.y - ImGui::GetFrameHeight()) / 2)};
    const char* const text = "More ▾";
    const float button = button_width(frame, text);
    go_through(Pass::measure, low, controls);
    leave_out(space.x, button);
    go_through(Pass::row, low, controls);
    if (std::ranges::none_of(controls_, &Control::rests)) {
        if (open) out.push_back(ShowMore{false});
        return;
    }
    ImGui::SetCursorScreenPos({std::round(at.x + space.x - button), low.y});
    button_ = popover_button(frame, "more", text, {"More", "Opens more options"});
    if (button_.pressed) out.push_back(ShowMore{!open});
}

void ControlBar::draw_rest(const std::function<void(ControlBar&)>& controls) {
    std::size_t count = 0;
    for (const Control& control : controls_)
        if (control.rests) column_ = std::max(column_, control.width), ++count;
    if (count == 0) return;
    const float row = frame.px(kControlRow);
    const float fit = std::max(popover_space(button_, frame) / row, 1.0F);
    const std::size_t columns =
        (count + static_cast<std::size_t>(fit) - 1) / static_cast<std::size_t>(fit);
    rows_ = (count + columns - 1) / columns;
    const auto beside = static_cast<float>(columns);
    const ImVec2 size{beside * (column_ + frame.px(kPopoverColumns)) - frame.px(kPopoverColumns),
                      static_cast<float>(rows_) * row - frame.px(kSpace8)};
    const bool left = draw_popover("rest", button_, size, frame, out,
                                   [&](ImVec2 low) { go_through(Pass::rest, low, controls); });
    if (left) out.push_back(ShowMore{false});
}

}  // namespace attn::ui

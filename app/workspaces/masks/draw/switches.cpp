#include <algorithm>

#include "app/common/draw/draw.h"
#include "app/common/draw/widgets.h"
#include "app/workspaces/masks/draw/parts.h"

namespace attn::ui {
namespace {

using view::MasksView;
using view::MaskSwitch;

constexpr int kSwitches = static_cast<int>(view::kMaskSwitches);

// Design units.
constexpr float kLowRow = 28.0F;
constexpr float kSwitchesRow = 32.0F;
constexpr float kToggle = 28.0F;
constexpr float kRoomyRow = 40.0F;
constexpr float kRoomy = 860.0F;     // a canvas of that height has them
constexpr float kSwitch = 136.0F;    // the switch with its name
constexpr float kControls = 218.0F;  // what sets its numbers
constexpr float kCount = 124.0F;
constexpr float kTwoColumns = 1640.0F;  // from here on there is room for two
constexpr float kSwitchesGap = 12.0F;
constexpr float kColumnGap = 16.0F;
constexpr float kLeastWords = 120.0F;  // less room has no words: they stand in the tooltip
constexpr float kLow = 640.0F;         // a lower canvas has two columns where they fit
constexpr float kVeryLow = 480.0F;     // a lower one too where their words do not

template <class... Set>
void push(view::Actions& out, Set... actions) {
    (out.push_back(actions), ...);
}

void turn(const MasksView& view, MaskSwitch which, bool on, view::Actions& out) {
    const view::MaskControls& now = view.controls;
    using view::CausalChoice;
    switch (which) {
        case MaskSwitch::causal:
            return push(out, view::SetCausalMask{on ? CausalChoice::top_left : CausalChoice::off});
        case MaskSwitch::window:
            if (on) return push(out, view::SetWindowSides{1, 1});
            return push(out, view::SetWindowSides{std::nullopt, std::nullopt});
        case MaskSwitch::globals:
            return push(out, view::SetGlobalTokens{on ? 1 : 0});
        case MaskSwitch::block:
            return push(out, view::SetBlock{on ? std::optional<Index>(2) : std::nullopt});
        case MaskSwitch::padding:
            return push(out,
                        view::SetPadding{on ? std::optional<Index>(std::max<Index>(now.keys - 1, 0))
                                            : std::nullopt});
        case MaskSwitch::paint:
            return push(out, view::ClearPaint{});
    }
}

std::optional<Index> number(const Frame& frame, const char* id, const char* words, Index value,
                            Index low, Index high, view::Actions& out) {
    return number_field(frame, id, words, value, low, high, number_width(frame, words, high),
                        {words, "Drag, or double-click to type."}, out);
}

void draw_causal(const MasksView& view, const Frame& frame, view::Actions& out) {
    const int current = static_cast<int>(view.controls.causal) - 1;
    const auto n = choice(frame, "align", {"top-left", "bottom-right"}, current,
                          {"Where the diagonal starts", view.switches[0].tip});
    if (n) out.push_back(view::SetCausalMask{static_cast<view::CausalChoice>(*n + 1)});
}

void draw_window(const MasksView& view, const Frame& frame, view::Actions& out) {
    const view::MaskControls& now = view.controls;
    const Index most = std::max(now.queries, now.keys);
    if (const auto left = number(frame, "##left", "left", *now.left, 0, most, out))
        out.push_back(view::SetWindowSides{*left, now.right});
    ImGui::SameLine(0.0F, frame.px(8));
    if (const auto right = number(frame, "##right", "right", *now.right, 0, most, out))
        out.push_back(view::SetWindowSides{now.left, *right});
}

/// What sets the numbers of a rule that is on.
void draw_numbers(const MasksView& view, MaskSwitch which, const Frame& frame, view::Actions& out) {
    const view::MaskControls& now = view.controls;
    const Index most = std::max<Index>(std::max(now.queries, now.keys), 1);
    if (which == MaskSwitch::causal) return draw_causal(view, frame, out);
    if (which == MaskSwitch::window && now.left && now.right) return draw_window(view, frame, out);
    if (which == MaskSwitch::globals && now.globals > 0)
        if (const auto n = number(frame, "##globals", "tokens", now.globals, 1, most, out))
            out.push_back(view::SetGlobalTokens{*n});
    if (which == MaskSwitch::block && now.block)
        if (const auto n = number(frame, "##block", "length", *now.block, 1, most, out))
            out.push_back(view::SetBlock{*n});
    if (which == MaskSwitch::padding && now.padding)
        if (const auto n = number(frame, "##padding", "valid", *now.padding, 0, now.keys, out))
            out.push_back(view::SetPadding{*n});
    if (which == MaskSwitch::paint && now.any_rule &&
        button(frame, "bake", "rules → paint",
               {"Turn the rules into paint",
                "The same mask, every pair of which can be painted. "
                "Key: B"}))
        out.push_back(view::PaintRules{});
}

/// A switch that cannot be turned says why when it is pointed at.
void draw_switch(const MasksView& view, MaskSwitch which, const Frame& frame, view::Actions& out) {
    const view::SwitchView& rule = view.switches[static_cast<std::size_t>(which)];
    const bool can = rule.possible.empty() && (which != MaskSwitch::paint || rule.on);
    const Tip tip{rule.name + ": " + rule.words, rule.possible.empty() ? rule.tip : rule.possible};
    if (const auto on = toggle(frame, "on", rule.name, rule.on, tip); on && (can || !*on))
        turn(view, which, *on, out);
}

void draw_row(const MasksView& view, MaskSwitch which, ImVec2 low, ImVec2 size, const Frame& frame,
              view::Actions& out) {
    const view::SwitchView& rule = view.switches[static_cast<std::size_t>(which)];
    const float high = low.y + size.y;
    ImGui::SetCursorScreenPos({low.x, low.y + (size.y - frame.px(kToggle)) / 2});
    draw_switch(view, which, frame, out);
    const float controls = low.x + frame.px(kSwitch);
    ImGui::SetCursorScreenPos({controls, low.y + (size.y - ImGui::GetFrameHeight()) / 2});
    ImGui::BeginGroup();
    draw_numbers(view, which, frame, out);
    ImGui::EndGroup();
    const float words = controls + frame.px(kControls);
    const float count = low.x + size.x - frame.px(kCount);
    if (count - words < frame.px(kLeastWords)) return;
    const view::Color color = rule.on ? frame.theme.text : frame.theme.muted;
    draw_text_in(
        frame, frame.fonts.body, {words, low.y}, {count, high}, Align::left, color,
        fit_text(frame, frame.fonts.body, rule.words, count - words - frame.px(kSwitchesGap)));
    draw_text_in(frame, frame.fonts.digits_small, {count, low.y}, {low.x + size.x, high},
                 Align::right, color, rule.count);
}

int columns_in(float width, float whole, const Frame& frame) {
    const float bare = 2 * (kSwitch + kControls) + kColumnGap;
    if (whole < frame.px(kVeryLow)) return width >= frame.px(bare) ? 2 : 1;
    return width >= frame.px(kTwoColumns) && whole < frame.px(kLow) ? 2 : 1;
}

}  // namespace

float switches_height(float width, float whole, const Frame& frame) {
    const int columns = columns_in(width, whole, frame);
    const float row = frame.px(whole >= frame.px(kRoomy) ? kRoomyRow
                               : whole < frame.px(kLow)  ? kLowRow
                                                         : kSwitchesRow);
    return row * static_cast<float>((kSwitches + columns - 1) / columns);
}

void draw_switches(const MasksView& view, ImVec2 low, ImVec2 high, const Frame& frame,
                   view::Actions& out) {
    const float room = high.y - low.y;
    const int columns = room >= frame.px(kLowRow) * static_cast<float>(kSwitches) - 1.0F ? 1 : 2;
    const int rows = (kSwitches + columns - 1) / columns;
    const float gap = frame.px(kColumnGap);
    const ImVec2 size{
        (high.x - low.x - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns),
        room / static_cast<float>(rows)};
    for (int n = 0; n < kSwitches; ++n) {
        const ImVec2 at{low.x + static_cast<float>(n / rows) * (size.x + gap),
                        low.y + static_cast<float>(n % rows) * size.y};
        ImGui::PushID(n);
        draw_row(view, static_cast<MaskSwitch>(n), at, size, frame, out);
        ImGui::PopID();
    }
}

}  // namespace attn::ui

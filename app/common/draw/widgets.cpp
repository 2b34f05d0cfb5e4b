#include "app/common/draw/widgets.h"

#include "app/common/actions.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/imgui_compat.h"
#include "app/common/draw/items.h"
#include "app/common/state.h"

namespace attn::ui {
namespace {

constexpr float kControlHeight = 28.0F;

void draw_switch(const Frame& frame, ImVec2 at, ImVec2 size, bool on, bool hovered) {
    const Theme& theme = frame.theme;
    const float radius = size.y / 2;
    const Color track = on ? theme.accent : hovered ? theme.muted : theme.control;
    frame.painter.rect(at, {at.x + size.x, at.y + size.y}, track, radius);
    const float x = on ? at.x + size.x - radius : at.x + radius;
    frame.painter.circle({x, at.y + radius}, radius - frame.px(2),
                         on ? theme.on_accent : theme.background);
}

/// A box with words in it; how it looks depends on the mouse.
constexpr double kChosenFill = 0.4;  // of the chosen one of several

bool plain_button(const Frame& frame, const char* id, const std::string& text, Color color,
                  bool chosen = false) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 size{button_width(frame, text), ImGui::GetFrameHeight()};
    const ImVec2 high{low.x + size.x, low.y + size.y};
    const bool clicked = invisible_button(id, size);
    const Theme& theme = frame.theme;
    const bool hovered = ImGui::IsItemHovered();
    const Color fill = ImGui::IsItemActive() ? view::blend(theme.line, theme.accent, 0.4)
                       : chosen              ? view::blend(theme.raised, theme.control, kChosenFill)
                       : hovered             ? theme.line
                                             : theme.raised;
    draw_box(frame, low, high, fill);
    draw_text_in(frame, frame.fonts.body, low, high, Align::center, color, text);
    return clicked;
}

/// The tip of the last item; none after a click until the pointer leaves it: it would cover what the click shows.
void tip_until_clicked(const Frame& frame, bool clicked, const Tip& tip) {
    ImGuiStorage& clicks = *ImGui::GetStateStorage();
    const ImGuiID item = last_item_id();
    const bool over = ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled);
    if (clicked || (clicks.GetBool(item) && !over)) clicks.SetBool(item, clicked);
    if (!clicks.GetBool(item)) tooltip(frame, tip.heading, tip.text);
}

// ---- lists that open

constexpr int kMostRows = 14;  // without scrolling

int count_of(const Options& options) { return static_cast<int>(options.names.size()); }

float row_height() { return ImGui::GetTextLineHeight() + ImGui::GetStyle().ItemSpacing.y; }

/// The closed list: what is chosen, and a mark that it opens.
void draw_closed(const Frame& frame, ImVec2 at, ImVec2 size, const std::string& shown) {
    const Theme& theme = frame.theme;
    const ImVec2 high{at.x + size.x, at.y + size.y};
    const float pad = ImGui::GetStyle().FramePadding.x;
    const Color fill =
        ImGui::IsItemHovered() ? view::blend(theme.raised, theme.line, 0.5) : theme.raised;
    draw_box(frame, at, high, fill);
    const float arm = frame.px(4);
    const ImVec2 tip{high.x - pad - arm, at.y + size.y / 2 + arm / 2};
    const Point mark[] = {{tip.x - arm, tip.y - arm}, tip, {tip.x + arm, tip.y - arm}};
    frame.painter.polyline(mark, theme.muted, frame.px(2));
    const float space = size.x - 3 * pad - 2 * arm;
    draw_text_in(frame, frame.fonts.body, {at.x + pad, at.y}, high, Align::left, theme.text,
                 fit_text(frame, frame.fonts.body, shown, space));
}

/// Of the longest name, with room for a scroll bar.
float list_width(const Frame& frame, const Options& options) {
    const ImGuiStyle& style = ImGui::GetStyle();
    return frame.widest(frame.fonts.body, options.names) + 2 * style.WindowPadding.x +
           style.ScrollbarSize;
}

/// Beneath the closed list, or above it where the window ends.
void place_list(const Frame& frame, ImVec2 at, ImVec2 size, const Options& options) {
    const ImGuiStyle& style = ImGui::GetStyle();
    const int rows = count_of(options);
    const float wanted =
        row_height() * static_cast<float>(std::min(rows, kMostRows)) + 2 * style.WindowPadding.y;
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    const float below = display.y - at.y - size.y;
    const bool up = below < wanted && at.y > below;
    const float height = std::min(wanted, up ? at.y : below);
    const float width = std::min(std::max(size.x, list_width(frame, options)), display.x);
    const float left = std::min(at.x, display.x - width);
    ImGui::SetNextWindowPos({left, up ? at.y - height : at.y + size.y});
    ImGui::SetNextWindowSize({width, height});
}

/// Where the arrow keys bring the current row.
int moved_row(int row, int count) {
    const int steps = (is_pressed(Key::down, true) ? 1 : 0) - (is_pressed(Key::up, true) ? 1 : 0);
    if (is_pressed(Key::home)) row = 0;
    if (is_pressed(Key::end)) row = count - 1;
    return within(row + steps, 0, count - 1);
}

std::optional<int> draw_rows(const Frame& frame, const Options& options, int row, bool scroll) {
    std::optional<int> clicked;
    for (int n = 0; n < count_of(options); ++n) {
        const std::string& name = options.names[n];
        const Color color = n == options.current ? frame.theme.accent : frame.theme.text;
        ImGui::PushID(n);
        const ImVec2 at = ImGui::GetCursorScreenPos();
        if (ImGui::Selectable("##row", n == row)) clicked = n;
        frame.painter.text(frame.fonts.body, at, color, name);
        ImGui::PopID();
        if (n == row && scroll) ImGui::SetScrollHereY(0.5F);
    }
    return clicked;
}

/// The open list has the keyboard for itself.
std::optional<int> draw_list(const Frame& frame, const Options& options, Actions& out) {
    if (!ImGui::BeginPopup("list")) return std::nullopt;
    const bool fresh = ImGui::IsWindowAppearing();
    const int known = fresh || frame.focus == nullptr ? options.current : frame.focus->focus().row;
    const int row = fresh ? known : moved_row(known, count_of(options));
    if (row != known) out.push_back(MoveInList{row});
    std::optional<int> chosen = draw_rows(frame, options, row, fresh || row != known);
    const bool enter = !fresh && (is_pressed(Key::enter) || is_pressed(Key::space));
    if (enter && row >= 0) chosen = row;
    if (enter || is_pressed(Key::escape) || is_pressed(Key::tab)) ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
    return chosen;
}

/// A focused list that is closed goes on by the arrow keys.
std::optional<int> stepped(const Frame& frame, const Options& options) {
    const int next = options.current + list_steps(frame);
    if (next == options.current || next < 0 || next >= count_of(options)) return std::nullopt;
    return next;
}

/// Arrow keys go from one to the next, Enter and Space around.
std::optional<int> chosen_by_key(const Frame& frame, int count, int current) {
    int next = current + list_steps(frame);
    if (take_key(frame, Key::enter) || take_key(frame, Key::space)) next = (current + 1) % count;
    if (next == current || next < 0 || next >= count) return std::nullopt;
    return next;
}

}  // namespace

float toggle_width(const Frame& frame, const std::string& text) {
    return frame.px(28 + 8) + frame.text_width(frame.fonts.body, text);
}

float button_width(const Frame& frame, const std::string& text) {
    return frame.text_width(frame.fonts.body, text) + 2 * ImGui::GetStyle().FramePadding.x;
}

float choice_width(const Frame& frame, const std::vector<std::string>& items) {
    float width = frame.px(2) * static_cast<float>(std::max<std::size_t>(items.size(), 1) - 1);
    for (const std::string& name : items) width += button_width(frame, name);
    return width;
}

std::optional<bool> toggle(const Frame& frame, const char* id, const std::string& text, bool on,
                           const Tip& tip) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = frame.px(kControlHeight);
    const bool clicked = invisible_button(id, {toggle_width(frame, text), height});
    const bool pressed = pressed_by_key(frame);
    const bool hovered = ImGui::IsItemHovered();
    const ImVec2 size{frame.px(28), frame.px(16)};
    draw_switch(frame, {at.x, at.y + (height - size.y) / 2}, size, on, hovered);
    const float x = at.x + size.x + frame.px(8);
    draw_text_in(frame, frame.fonts.body, {x, at.y}, {x, at.y + height}, Align::left,
                 on ? frame.theme.text : frame.theme.muted, text);
    tip_until_clicked(frame, clicked, tip);
    if (!clicked && !pressed) return std::nullopt;
    return !on;
}

bool button(const Frame& frame, const char* id, const std::string& text, const Tip& tip) {
    const bool clicked = plain_button(frame, id, text, frame.theme.text);
    const bool pressed = pressed_by_key(frame);
    tip_until_clicked(frame, clicked, tip);
    return clicked || pressed;
}

std::optional<int> choice(const Frame& frame, const char* id, const std::vector<std::string>& items,
                          int current, const Tip& tip) {
    const int count = static_cast<int>(items.size());
    const ImVec2 low = ImGui::GetCursorScreenPos();
    std::optional<int> clicked;
    ImGui::PushID(id);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {frame.px(2), frame.px(8)});
    for (int n = 0; n < count; ++n) {
        if (n > 0) ImGui::SameLine();
        ImGui::PushID(n);
        const std::string& name = items[n];
        const bool chosen = n == current;
        const bool pressed = plain_button(frame, "button", name,
                                          chosen ? frame.theme.text : frame.theme.muted, chosen);
        if (pressed && n != current) clicked = n;
        ImGui::PopID();
        tip_until_clicked(frame, pressed, tip);
    }
    if (focus_stop(frame, ImGui::GetID("choice"), low, ImGui::GetItemRectMax()) && !clicked)
        clicked = chosen_by_key(frame, count, current);
    ImGui::PopStyleVar();
    ImGui::PopID();
    return clicked;
}

void flow(const Frame& frame, float width) {
    ImGui::SameLine(0.0F, frame.px(16));
    if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
}

std::optional<int> combo(const Frame& frame, const char* id, const Options& options, float width,
                         const Tip& tip, Actions& out) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size{width, ImGui::GetFrameHeight()};
    ImGui::PushID(id);
    const bool clicked = invisible_button("combo", size);
    const auto current = static_cast<std::size_t>(options.current);
    const bool named = options.shown.empty() && current < options.names.size();
    draw_closed(frame, at, size, named ? options.names[current] : options.shown);
    tooltip(frame, tip.heading, tip.text);
    const bool focused = focus_stop(frame);
    const bool by_key = focused && (take_key(frame, Key::enter) || take_key(frame, Key::space) ||
                                    (options.opens && arrow_steps(frame) != 0));
    std::optional<int> chosen = focused && !by_key ? stepped(frame, options) : std::nullopt;
    if (clicked || by_key) {
        ImGui::OpenPopup("list");
        out.push_back(MoveInList{options.current});
    }
    place_list(frame, at, size, options);
    if (const auto row = draw_list(frame, options, out)) chosen = row;
    ImGui::PopID();
    if (chosen == options.current) return std::nullopt;
    return chosen;
}

}  // namespace attn::ui

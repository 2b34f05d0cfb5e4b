#include <algorithm>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/imgui_compat.h"
#include "app/common/draw/widgets.h"

namespace attn::ui {
namespace {

using view::Key;

constexpr int kMostRows = 14;  // without scrolling

int count_of(const Options& options) { return static_cast<int>(options.names.size()); }

float row_height() { return ImGui::GetTextLineHeight() + ImGui::GetStyle().ItemSpacing.y; }

/// The closed list: what is chosen, and a mark that it opens.
void draw_closed(const Frame& frame, ImVec2 at, ImVec2 size, const std::string& shown) {
    const view::Theme& theme = frame.theme;
    const ImVec2 high{at.x + size.x, at.y + size.y};
    const float pad = ImGui::GetStyle().FramePadding.x;
    const view::Color fill =
        ImGui::IsItemHovered() ? view::blend(theme.raised, theme.line, 0.5) : theme.raised;
    draw_box(frame, at, high, fill);
    const float arm = frame.px(4);
    const ImVec2 tip{high.x - pad - arm, at.y + size.y / 2 + arm / 2};
    const view::Point mark[] = {{tip.x - arm, tip.y - arm}, tip, {tip.x + arm, tip.y - arm}};
    frame.painter.polyline(mark, theme.muted, frame.px(2));
    const float room = size.x - 3 * pad - 2 * arm;
    draw_text_in(frame, frame.fonts.body, {at.x + pad, at.y}, high, Align::left, theme.text,
                 fit_text(frame, frame.fonts.body, shown, room));
}

/// Of the longest name, with room for a scroll bar.
float list_width(const Frame& frame, const Options& options) {
    const ImGuiStyle& style = ImGui::GetStyle();
    float longest = 0.0F;
    for (const std::string& name : options.names)
        longest = std::max(longest, frame.text_width(frame.fonts.body, name));
    return longest + 2 * style.WindowPadding.x + style.ScrollbarSize;
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
        const std::string& name = options.names[static_cast<std::size_t>(n)];
        const view::Color color = n == options.current ? frame.theme.accent : frame.theme.text;
        ImGui::PushID(n);
        ImGui::PushStyleColor(ImGuiCol_Text, to_vec4(color));
        if (ImGui::Selectable(name.c_str(), n == row)) clicked = n;
        ImGui::PopStyleColor();
        ImGui::PopID();
        if (n == row && scroll) ImGui::SetScrollHereY(0.5F);
    }
    return clicked;
}

/// The open list has the keyboard for itself.
std::optional<int> draw_list(const Frame& frame, const Options& options, view::Actions& out) {
    if (!ImGui::BeginPopup("list")) return std::nullopt;
    const bool fresh = ImGui::IsWindowAppearing();
    const int known = fresh || frame.focus == nullptr ? options.current : frame.focus->focus().row;
    const int row = fresh ? known : moved_row(known, count_of(options));
    if (row != known) out.push_back(view::MoveInList{row});
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

}  // namespace

std::optional<int> combo(const Frame& frame, const char* id, const Options& options, float width,
                         const Tip& tip, view::Actions& out) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size{width, ImGui::GetFrameHeight()};
    ImGui::PushID(id);
    const bool clicked = ImGui::InvisibleButton("combo", size);
    const auto current = static_cast<std::size_t>(options.current);
    const bool named = options.shown.empty() && current < options.names.size();
    draw_closed(frame, at, size, named ? options.names[current] : options.shown);
    tooltip(frame, tip.heading, tip.words);
    const bool focused = focus_stop(frame);
    const bool by_key = focused && (take_key(frame, Key::enter) || take_key(frame, Key::space));
    std::optional<int> chosen = focused && !by_key ? stepped(frame, options) : std::nullopt;
    if (clicked || by_key) {
        ImGui::OpenPopup("list");
        out.push_back(view::MoveInList{options.current});
    }
    place_list(frame, at, size, options);
    if (const auto row = draw_list(frame, options, out)) chosen = row;
    ImGui::PopID();
    if (chosen == options.current) return std::nullopt;
    return chosen;
}

}  // namespace attn::ui

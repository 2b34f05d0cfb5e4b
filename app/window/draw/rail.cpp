#include <numeric>

#include "app/common/actions.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/items.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/common/workspace.h"
#include "app/window/draw/panels.h"
#include "app/window/lecture_actions.h"
#include "app/window/rail.h"

namespace attn::ui {
namespace {

using view::Group;

// Design units.
constexpr float kWide = 144.0F;
constexpr float kFolded = 96.0F, kFoldedEdge = 8.0F, kFoldedIndent = 11.0F;
constexpr float kNarrowRail = 64.0F;     // of a window narrower than
constexpr float kNarrowWindow = 800.0F;  // this
constexpr float kLeastWidth = 1440.0F;   // of a window that has all words beside it
constexpr float kLeastHeight = 600.0F;
constexpr float kEdge = 20.0F;  // left of the words
constexpr float kInset = 8.0F;  // of what is pressed
constexpr float kHead = 56.0F;  // the program's name
constexpr float kFoldedHead = 8.0F;
constexpr float kIndent = 12.0F;  // of the workspaces of the open section
constexpr float kItem = 28.0F;
constexpr float kGroupGap = 10.0F;
constexpr float kGroup = 30.0F;  // a section where they are folded: digit and name
constexpr float kWithin = 22.0F;
constexpr float kFoldedFooter = 22.0F;
constexpr float kLastAir = 12.0F;

enum class Look : std::uint8_t { section, item, group, within, bottom };

/// One line of the rail.
struct Entry {
    Look look;
    std::string id, text, cap, tip;
    bool current = false;
    bool waits = false;  // its letter may be pressed now
    Action action;
    float height = 0.0F;  // design units
    float above = 0.0F;   // that stay empty
};

bool is_folded(const Frame& frame) {
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    return display.x < frame.px(kLeastWidth) || display.y < frame.px(kLeastHeight);
}

bool has_narrow_rail(const Frame& frame) {
    return ImGui::GetIO().DisplaySize.x < frame.px(kNarrowWindow);
}

/// The one whose letters are shown: of the digit that was pressed, else of the workspace.
Group open_group(const AppState& state) { return view::shown_workspace(state).group; }

Entry item_of(const AppState& state, const WorkspaceInfo& row, bool folded) {
    const bool open = open_group(state) == row.group;
    return {folded ? Look::within : Look::item,
            std::string(row.key),
            std::string(row.title),
            open && !folded ? std::string(key_name(row.letter)) : std::string(),
            std::string(row.tip) + "  Keys: " + to_string(chord_of(row)),
            state.workspace == row.key,
            open && state.held == digit_of(row.group),
            go_to(row),
            folded ? kWithin : kItem};
}

/// The sections; of the open one, its workspaces.
std::vector<Entry> entries_of(const AppState& state, bool folded) {
    std::vector<Entry> all;
    for (std::size_t n = 0; n < std::size(view::kGroupNames); ++n) {
        const auto group = static_cast<Group>(n);
        const WorkspaceInfo* const first = first_of(state.workspaces, group);
        if (first == nullptr || !is_on_rail(state, group)) continue;
        const std::string name(view::kGroupNames[n]);
        const bool open = open_group(state) == group && !view::shown_workspace(state).at_bottom;
        all.push_back({folded ? Look::group : Look::section, "group " + name, name,
                       std::string(key_name(digit_of(group))), std::string(first->tip), open, false,
                       go_to(*first), folded ? kGroup : kItem,
                       folded || n == 0 ? 0.0F : kGroupGap});
        for (const WorkspaceInfo* row : state.workspaces)
            if (row->group == group && open && !row->at_bottom)
                all.push_back(item_of(state, *row, folded));
    }
    const auto last = static_cast<Group>(std::size(view::kGroupNames) - 1);
    if (!is_on_rail(state, last) || !is_on_rail(state, Group::compare))
        all.push_back({Look::bottom, "all tools", "All tools", "",
                       "Shows the sections Compare and Check", false, false,
                       view::ShowAllTools{true}, folded ? kWithin : kItem, kGroupGap});
    return all;
}

std::vector<Entry> footer_of(const AppState& state, bool folded) {
    const bool dark = state.theme == ThemeName::dark;
    const float height = folded ? kFoldedFooter : kItem;
    std::vector<Entry> all;
    if (!state.tours.empty())
        all.push_back({Look::bottom, "tour", "Tour", "",
                       "What attention is, page by page.  Keys: Shift+F1", state.tour.on, false,
                       StartTour{""}, height});
    for (const WorkspaceInfo* row : state.workspaces)
        if (row->at_bottom)
            all.push_back({Look::bottom, std::string(row->key), std::string(row->title), "",
                           std::string(row->tip) + "  Keys: " + to_string(chord_of(*row)),
                           state.workspace == row->key, false, go_to(*row), height});
    const Entry rest[] = {
        {Look::bottom, "lecture", "Lecture", "", "Screens to teach from.  PgDn shows the next one",
         false, false, view::StartLecture{""}, height},
        {Look::bottom, "glossary", "Glossary", "", "Explains a term.  Keys: Shift+G",
         state.glossary.shown, false, ShowGlossary{!state.glossary.shown}, height},
        {Look::bottom, "find", "Find", "^K", "Finds commands, workspaces and terms.  Key: Ctrl+K",
         state.show_palette, false, ShowPalette{!state.show_palette}, height},
        {Look::bottom, "help", "Help", "F1", "Lists keys and commands.  Key: F1", state.show_help,
         false, ShowHelp{!state.show_help}, height},
        {Look::bottom, "theme", dark ? "Light" : "Dark", "F2",
         dark ? "Light theme.  Keys: F2, T" : "Dark theme.  Keys: F2, T", false, false,
         SetTheme{dark ? ThemeName::light : ThemeName::dark}, height}};
    all.insert(all.end(), std::begin(rest), std::end(rest));
    return all;
}

float height_of(const std::vector<Entry>& entries) {
    return std::transform_reduce(entries.begin(), entries.end(), 0.0F, std::plus<>(),
                                 [](const Entry& one) { return one.height + one.above; });
}

/// Four cells of a matrix of weights, and the name.
void draw_name(const Frame& frame, ImVec2 low) {
    const float cell = frame.px(8);
    constexpr double kWeights[] = {0.1, 0.9, 0.5, 0.9};
    for (int n = 0; n < 4; ++n) {
        const ImVec2 at{low.x + frame.px(kEdge) + (cell + frame.px(1)) * static_cast<float>(n % 2),
                        low.y + frame.px(16) + (cell + frame.px(1)) * static_cast<float>(n / 2)};
        frame.painter.rect(at, {at.x + cell, at.y + cell},
                           view::blend(frame.theme.raised, frame.theme.weight, kWeights[n]),
                           frame.px(1));
    }
    draw_text_in(frame, frame.fonts.strong, {low.x + frame.px(kEdge + 26), low.y + frame.px(12)},
                 {low.x + frame.px(kWide), low.y + frame.px(36)}, Align::left, frame.theme.text,
                 "attnscope");
}

/// Whether it is pressed; the colour of its words.
struct Touch {
    bool pressed = false;
    Color color;
};
Touch touch(const Entry& entry, ImVec2 low, ImVec2 size, const Frame& frame) {
    ImGui::SetCursorScreenPos(low);
    const bool clicked = invisible_button(entry.id.c_str(), size);
    const float inset = frame.px(4);  // the ring has no room outside
    const bool keyed = pressed_by_key(frame, {low.x + inset, low.y + frame.px(2)},
                                      {low.x + size.x - inset, low.y + size.y - frame.px(2)});
    const bool hovered = ImGui::IsItemHovered();
    tooltip_beside(frame, low, {low.x + size.x, low.y + size.y}, Beside::right, entry.text,
                   entry.tip);
    const Theme& theme = frame.theme;
    const bool bright = entry.current || hovered || entry.look == Look::item;
    return {clicked || keyed, bright ? theme.text : theme.muted};
}

void draw_mark(const Entry& entry, ImVec2 low, ImVec2 high, const Frame& frame) {
    if (!entry.current || entry.look == Look::section) return;
    const float in = frame.px(entry.look == Look::item ? kInset : 4.0F);
    frame.painter.rect({low.x + in, low.y}, {high.x - in, high.y}, frame.theme.raised, frame.px(6));
    const float bar = low.x + (entry.look == Look::item ? in : 0.0F);  // words begin near the edge
    frame.painter.rect({bar, low.y + frame.px(6)}, {bar + frame.px(2), high.y - frame.px(6)},
                       frame.theme.accent);
}

void draw_wide(const Entry& entry, Color color, ImVec2 low, ImVec2 high, const Frame& frame) {
    const view::Font& font = entry.current ? frame.fonts.strong : frame.fonts.body;
    const float left = kEdge + (entry.look == Look::item ? kIndent : 0.0F);
    draw_text_in(frame, font, {low.x + frame.px(left), low.y}, high, Align::left, color,
                 entry.text);
    const bool plain = entry.look == Look::section || !entry.current;
    draw_text_in(frame, frame.fonts.digits_small, low, {high.x - frame.px(kEdge), high.y},
                 Align::right,
                 entry.waits ? frame.theme.accent
                 : plain     ? frame.theme.muted
                             : color,
                 entry.cap);
}

/// A section: its digit left of its bold name. Its workspaces are under the name, indented.
void draw_folded(const Entry& entry, Color color, ImVec2 low, ImVec2 high, const Frame& frame) {
    const bool group = entry.look == Look::group;
    const bool narrow = has_narrow_rail(frame);
    const float left = low.x + frame.px(narrow ? kSpace4 : kFoldedEdge);
    if (group)
        draw_text_in(frame, frame.fonts.digits_small, {left, low.y}, high, Align::left,
                     entry.current ? frame.theme.accent : frame.theme.muted, entry.cap);
    const bool indented = group || (entry.look == Look::within && !narrow);
    const ImVec2 from{left + (indented ? frame.px(kFoldedIndent) : 0.0F), low.y};
    const float space = high.x - frame.px(2) - from.x;
    const bool bold = group && frame.text_width(frame.fonts.strong, entry.text) <= space;
    const view::Font& font = bold ? frame.fonts.strong : frame.fonts.small;
    std::string text = entry.text;
    if (text.find(' ') != text.npos && frame.text_width(font, text) > space)
        text.resize(text.find(' '));  // "Whole" of "Whole model"
    draw_text_in(frame, font, from, high, Align::left, group ? frame.theme.text : color, text);
}

/// From `top` on, at `scale` times their heights; returns where they end.
float draw_entries(const std::vector<Entry>& entries, float top, float scale, bool folded,
                   const Frame& frame, Actions& out) {
    const ImVec2 origin = ImGui::GetWindowPos();
    const float width = ImGui::GetWindowSize().x;
    for (const Entry& entry : entries) {
        top += entry.above * scale;
        const ImVec2 low{origin.x, std::round(top)};
        const ImVec2 high{origin.x + width, std::round(top + entry.height * scale)};
        top += entry.height * scale;
        const Touch touched = touch(entry, low, {width, std::max(1.0F, high.y - low.y)}, frame);
        draw_mark(entry, low, high, frame);
        (folded ? draw_folded : draw_wide)(entry, touched.color, low, high, frame);
        if (touched.pressed) out.push_back(entry.action);
    }
    return top;
}

}  // namespace

float rail_width(const Frame& frame) {
    if (!is_folded(frame)) return frame.px(kWide);
    return frame.px(has_narrow_rail(frame) ? kNarrowRail : kFolded);
}

void draw_rail(const AppState& state, const Frame& frame, Actions& out) {
    const bool folded = is_folded(frame);
    const ImVec2 low = ImGui::GetWindowPos();
    const float height = ImGui::GetWindowSize().y;
    const auto entries = entries_of(state, folded);
    const auto bottom = footer_of(state, folded);
    const float head = folded ? kFoldedHead : kHead;
    const float wanted = frame.px(head + height_of(entries) + height_of(bottom) + kLastAir);
    const float scale = frame.scale * std::min(1.0F, height / std::max(wanted, 1.0F));
    if (!folded) {
        const Entry home{Look::bottom, "home", "attnscope",      "", "Step, and what to do first",
                         false,        false,  view::ShowStart{}};
        if (touch(home, low, {frame.px(kWide), frame.px(kHead - kGroupGap)}, frame).pressed)
            out.push_back(home.action);
        draw_name(frame, low);
    }
    draw_entries(entries, low.y + head * scale, scale, folded, frame, out);
    draw_entries(bottom, low.y + height - (height_of(bottom) + kLastAir) * scale, scale, folded,
                 frame, out);
}

}  // namespace attn::ui

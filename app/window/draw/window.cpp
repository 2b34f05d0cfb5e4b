#include "app/window/draw/window.h"

#include "app/common/actions.h"
#include "app/common/answer.h"
#include "app/common/document/document.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/heading.h"
#include "app/common/draw/items.h"
#include "app/common/draw/widgets.h"
#include "app/common/figure_size.h"
#include "app/common/workspace.h"
#include "app/window/draw/panels.h"
#include "app/window/lecture.h"
#include "app/window/status.h"

namespace attn::ui {
namespace {

// Design units, on the 8-px grid.
constexpr float kBottom = 32.0F, kPresentedFooter = 20.0F;
constexpr float kInspectorMost = 312.0F;  // with the strip of its handle: 328
constexpr float kInspectorLeast = 240.0F, kStrip = 16.0F;
constexpr float kNarrow = 1000.0F;  // a window under this many units gives up some air
constexpr float kDocks = 1440.0F;   // from here on the inspector stands beside the canvas

constexpr ImGuiWindowFlags kWhole =
    ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
    ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoBackground |
    ImGuiWindowFlags_NoScrollWithMouse;

struct Regions {
    Box rail, bottom, strip;
    Box tour;  // above the bottom line; no height: none is on
    WorkArea area;
};

bool is_narrow(const Frame& frame) { return ImGui::GetIO().DisplaySize.x < frame.px(kDocks); }

/// Beside the canvas, over it, or folded to the strip of its handle.
void place_side(const AppState& state, const Frame& frame, Regions& r) {
    if (!shown_workspace(state).has_side(state)) return;
    WorkArea& area = r.area;
    const float strip = std::min(frame.px(kStrip), area.work.size().x / 4);
    r.strip = {{area.work.high.x - strip, area.work.low.y}, area.work.high};
    area.work.high.x -= strip;
    const bool narrow = is_narrow(frame);
    if (!state.inspector.value_or(!narrow)) return;
    const float wanted = within(ImGui::GetIO().DisplaySize.x * 0.24F, frame.px(kInspectorLeast),
                                frame.px(kInspectorMost));
    const float width = std::min(wanted, area.work.size().x * (narrow ? 0.9F : 0.5F));
    (narrow ? area.drawer : area.inspector) = width;
}

Regions regions(const AppState& state, const std::optional<TourView>& tour, const Frame& frame) {
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    const bool tight = display.x < frame.px(kNarrow);
    const float margin = frame.px(tight ? kSpace16 : kSpace24);
    const float rail = std::min(rail_width(frame), display.x / 2);
    const float bottom = std::max(display.y - frame.px(kBottom), display.y / 2);
    Regions r{{{0.0F, 0.0F}, {rail, display.y}},
              {{rail + margin, bottom}, {display.x - margin, display.y}},
              {},
              {{rail + margin, bottom}, {display.x - margin, bottom}},
              {{{rail, 0.0F}, {display.x, bottom}}, margin}};
    if (tour) {
        const float height = tour_height(*tour, r.tour.size().x, frame);
        r.tour.low.y = r.area.work.high.y = std::max(bottom - height, bottom / 2);
    }
    place_side(state, frame, r);
    return r;
}

void fill(const Box& box, Color color, const Frame& frame) {
    frame.painter.rect(box.low, box.high, color);
}

void hairline(ImVec2 from, ImVec2 to, const Frame& frame) {
    frame.painter.line(from, to, frame.theme.line, frame.px(1));
}

/// The handle: an arrow in the middle of the strip, which shows or hides the inspector.
void draw_handle(const AppState& state, const Regions& r, const Frame& frame, Actions& out) {
    if (r.strip.high.x <= r.strip.low.x) return;
    const bool shown = r.area.has_side();
    const Theme& theme = frame.theme;
    ImGui::SetCursorScreenPos(r.strip.low);
    const bool clicked = invisible_button("handle", r.strip.size());
    const bool hovered = ImGui::IsItemHovered();
    const float inset = frame.px(4);
    const ImVec2 low = r.strip.low;
    const ImVec2 high = r.strip.high;
    const bool pressed =
        pressed_by_key(frame, {low.x + inset, low.y + inset}, {high.x - inset, high.y - inset});
    tooltip(frame, shown ? "Hide the inspector" : "Show the inspector", "Key: I");
    fill(r.strip, hovered ? theme.raised : theme.surface, frame);
    if (!shown) hairline(low, {low.x, high.y}, frame);
    const float arm = frame.px(4) * (shown ? 1.0F : -1.0F);
    const ImVec2 tip{(low.x + high.x + arm) / 2, (low.y + high.y) / 2};
    const Point mark[] = {
        {tip.x - arm, tip.y - frame.px(6)}, tip, {tip.x - arm, tip.y + frame.px(6)}};
    frame.painter.polyline(mark, hovered ? theme.accent : theme.muted, frame.px(2));
    if (clicked || pressed) out.push_back(view::inspector_action(state, !shown));
}

const WorkspacePanel& panel_of(const AppState& state, PanelList panels) {
    return **std::ranges::find(panels, state.workspace, &WorkspacePanel::key);
}

/// After the words that a file was written: its path to copy, and the file to open.
void draw_written(const AppState& state, const Message& message, const Box& line,
                  const Frame& frame, Actions& out) {
    const std::string& path = view::desktop_look(state).written;
    if (path.empty() || message.text.find(path) == std::string::npos) return;
    const float after = line.low.x + frame.text_width(frame.fonts.body, message.text);
    ImGui::SetCursorScreenPos(
        {after + frame.px(kSpace16), (line.low.y + line.high.y - ImGui::GetFrameHeight()) / 2});
    if (button(frame, "copy path", "copy path", {"Copies the path", path}))
        ImGui::SetClipboardText(path.c_str());
    ImGui::SameLine(0.0F, frame.px(kSpace8));
    if (button(frame, "open written", "open", {"Opens the file in its default program", path}))
        out.push_back(OpenWritten{path});
}

void draw_base(const AppState& state, PanelList panels, const Frame& frame, Actions& out) {
    const auto tour = build_tour_view(state);
    const Regions r = regions(state, tour, frame);
    const Frame chrome = around(frame);
    fill(r.rail, frame.theme.surface, chrome);
    const float line = r.bottom.low.y;
    hairline({r.area.work.low.x, line}, {r.bottom.high.x, line}, chrome);
    panel("rail", r.rail, [&] { draw_rail(state, chrome, out); });
    draw_handle(state, r, chrome, out);
    const std::string aside = panel_of(state, panels).draw(state, r.area, frame, out);
    if (tour) {
        fill({{r.area.work.low.x, r.tour.low.y}, {ImGui::GetIO().DisplaySize.x, line}},
             frame.theme.surface, chrome);
        hairline({r.area.work.low.x, r.tour.low.y}, {ImGui::GetIO().DisplaySize.x, r.tour.low.y},
                 chrome);
        panel("tour", r.tour, [&] { draw_tour(*tour, state.tour.page, chrome, out); });
    }
    panel("bottom line", r.bottom, [&] {
        const ImVec2 low = ImGui::GetCursorScreenPos();
        Message message = state.notice ? *state.notice : state.message;
        if (message.muted && !is_lower_than(kLowWindow, frame)) message.text.clear();
        if (!state.notice && view::shown_answer(state)) message.text.clear();  // below the headline
        message.text = view::status_text(message);  // a lecture's line is whole
        draw_bottom_line(message, aside, chrome);
        draw_written(state, message, {low, r.bottom.high}, chrome, out);
    });
    if (state.narrow != is_narrow(frame)) out.push_back(SetNarrow{is_narrow(frame)});
}

/// Presenting: the workspace alone. Only what went wrong is said beneath it, and the line of a lecture.
void draw_presented(const AppState& state, PanelList panels, const Frame& frame, Actions& out) {
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    const float margin = frame.px(kSpace16);
    const float bottom = std::max(display.y - frame.px(kPresentedFooter), display.y / 2);
    const WorkArea area{{{0.0F, 0.0F}, {display.x, bottom}}, margin, 0.0F, 0.0F, false};
    panel_of(state, panels).draw(state, area, frame, out);
    Message message = state.notice ? *state.notice : state.message;
    const LectureScreen* const screen = shown_screen(state);
    const bool speaks = message.severity != Severity::info;
    if (!speaks && screen == nullptr) return;
    if (!speaks) message.text = screen->line;
    panel("bottom line", {{margin, bottom}, {display.x - margin, display.y}}, [&] {
        draw_bottom_line(message, screen ? screen_place(state) : std::string(), around(frame));
    });
}

void draw_overlays(const AppState& state, const Frame& frame, Actions& out) {
    if (state.show_help) draw_help(commands(state), shown_workspace(state).mouse, frame, out);
    if (state.show_about) draw_about(frame, out);
    if (state.show_palette)
        draw_palette(state, find_commands(state, state.palette_query), frame, out);
    if (state.glossary.shown) draw_glossary(state, frame, out);
    if (state.prompt) draw_prompt(state, frame, out);
    if (state.recovery_shown) draw_recovery(*state.recovery, frame, out);
    if (state.quit_asked) draw_quit(*state.quit_asked, state.session_file, frame, out);
}

/// Who has the keyboard as the frame begins: what is closed in this frame keeps its keys.
Hands hands_of(const AppState& state) {
    const bool edits = shown_workspace(state).is_typing(state) || state.focus.typing;
    return {.list = is_list_open(),
            .overlay = state.show_help || state.show_about || state.show_palette ||
                       state.glossary.shown || state.prompt || state.recovery_shown ||
                       state.quit_asked.has_value(),
            .typing = edits || ImGui::GetIO().WantTextInput};
}

// ---- keys

bool repeats(Key key) {
    return key == Key::left || key == Key::right || key == Key::up || key == Key::down;
}

/// Keys that a focused text field needs for itself.
bool belongs_to_text(const Chord& chord) {
    constexpr Key kFunction[] = {Key::f1, Key::f2, Key::f3, Key::f4, Key::f5, Key::f6, Key::f12};
    constexpr Key kTextEditing[] = {Key::a, Key::c,    Key::v,     Key::x,    Key::y,
                                    Key::z, Key::left, Key::right, Key::home, Key::end};
    if (std::ranges::count(kFunction, chord.key) > 0) return false;
    return !chord.ctrl || std::ranges::count(kTextEditing, chord.key) > 0;
}

/// `first`: what was pressed before.
bool is_down(const Chord& chord, Key first, const ImGuiIO& io) {
    if (chord.key == Key::none || chord.first != first || chord.ctrl != io.KeyCtrl || io.KeyAlt)
        return false;
    const bool shift_is_part_of_key = chord.key == Key::plus;
    if (!shift_is_part_of_key && chord.shift != io.KeyShift) return false;
    return is_pressed(chord.key, repeats(chord.key));
}

bool any_pressed() {
    for (std::size_t n = 1; n < view::kKeyCount; ++n)
        if (const auto key = static_cast<Key>(n); is_pressed(key, repeats(key))) return true;
    return false;
}

/// A group's digit stays where one of its workspaces is shown: its letter comes next.
std::optional<view::Group> group_of(Key key) {
    for (std::size_t n = 0; n < std::size(view::kGroupNames); ++n)
        if (view::digit_of(static_cast<view::Group>(n)) == key) return static_cast<view::Group>(n);
    return std::nullopt;
}

/// The command that is pressed, and by which of its keys.
struct Pressed {
    const Command* command = nullptr;
    Chord chord;
};
Pressed pressed_of(const std::vector<Command>& list, Key first, const AppState& state,
                   const FocusRing& ring) {
    const ImGuiIO& io = ImGui::GetIO();
    for (const Command& command : list) {
        const bool also = is_down(command.also, first, io);
        if (!command.enabled || !(also || is_down(command.chord, first, io))) continue;
        const Chord& chord = also ? command.also : command.chord;
        if (!chord.ctrl && ring.is_taken(chord.key)) continue;
        if (ring.hands().typing && belongs_to_text(chord)) continue;
        const bool page = command.action.is<ShowHelp>() || command.action.is<ShowAbout>();
        if ((state.show_help || state.show_about) && !page) continue;
        return {&command, chord};
    }
    return {};
}

/// The keys pressed in this frame as commands; none while a text field or an open list has them, and
/// none that the focused control took.
void read_keyboard(const AppState& state, const FocusRing& ring, Actions& out) {
    if (state.show_palette || state.glossary.shown || state.prompt || state.recovery_shown ||
        state.quit_asked)
        return;                     // they read their own keys
    if (ring.hands().list) return;  // so does a list
    if (!any_pressed()) return;
    const auto list = commands(state);
    Pressed pressed = pressed_of(list, state.held, state, ring);
    if (pressed.command == nullptr && state.held != Key::none)
        pressed = pressed_of(list, Key::none, state, ring);
    if (state.held != Key::none) out.push_back(HoldKey{Key::none});
    if (pressed.command == nullptr) return;
    const auto group = pressed.chord == view::plain(pressed.chord.key) ? group_of(pressed.chord.key)
                                                                       : std::nullopt;
    if (!group || view::shown_workspace(state).group != *group)
        out.push_back(pressed.command->action);
    if (group) out.push_back(HoldKey{pressed.chord.key});
}

// ---- the bottom line

constexpr float kLeastAside = 0.6F;  // of the quiet words: less of them says nothing

Color color_of(Severity severity, const Theme& theme) {
    if (severity == Severity::info) return theme.text;
    return severity == Severity::warning ? theme.warning : theme.bad;
}

/// The quiet words in `width`: all of them, else what stands before the first semicolon, else most of
/// them, else none.
std::string fit_aside(const std::string& aside, float width, const Frame& frame) {
    const Font& font = frame.fonts.small;
    if (width <= 0.0F) return {};
    const std::string brief = aside.substr(0, aside.find(';'));
    for (const std::string& text : {aside, brief})
        if (frame.text_width(font, text) <= width) return text;
    const bool most = frame.text_width(font, brief) * kLeastAside <= width;
    return most ? fit_text(frame, font, brief, width) : std::string();
}

}  // namespace

void fill_side(const WorkArea& area, float top, const Frame& frame) {
    const Box box = area.side(top);
    fill(box, frame.theme.surface, frame);
    if (area.drawer > 0.0F) hairline(box.low, {box.low.x, box.high.y}, frame);
}

void draw_window(const AppState& state, const Frame& whole, Actions& out, PanelList panels) {
    FocusRing ring(state.focus, hands_of(state));
    Frame frame = whole;
    frame.focus = &ring;
    frame.quiet = ring.hands().list || ring.hands().typing;
    push_font(frame.fonts.body);
    ImGui::SetNextWindowPos({0.0F, 0.0F});
    ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0.0F);
    ImGui::Begin("attnscope", nullptr, kWhole);
    ImGui::PopStyleVar();
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    ImGui::PushClipRect({0.0F, 0.0F}, display, false);  // padding is no reason to clip the rail
    if (state.presenter)
        draw_presented(state, panels, frame, out);
    else
        draw_base(state, panels, frame, out);
    ImGui::PopClipRect();
    ImGui::End();
    draw_overlays(state, around(frame), out);
    ring.finish(out);
    read_keyboard(state, ring, out);
    pop_font();
}

void draw_bottom_line(const Message& message, const std::string& aside, const Frame& frame) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 space = ImGui::GetContentRegionAvail();
    const ImVec2 high{low.x + space.x, low.y + space.y};
    const std::string shown = fit_text(frame, frame.fonts.body, message.text, space.x);
    const float left = space.x - frame.text_width(frame.fonts.body, shown) - frame.px(24);
    draw_text_in(frame, frame.fonts.body, low, high, Align::left,
                 color_of(message.severity, frame.theme), shown);
    draw_text_in(frame, frame.fonts.small, low, high, Align::right, frame.theme.muted,
                 fit_aside(aside, left, frame));
    invisible_button("message", space);
    tooltip(frame, message.text, aside);
}

}  // namespace attn::ui

#include "app/workspaces/step/draw/doors.h"

#include <imgui.h>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/items.h"
#include "app/common/draw/math.h"
#include "app/workspaces/step/actions.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kDoor = 40.0F;
constexpr float kAboveDoors = 8.0F;
constexpr float kUnderDoors = 8.0F;
constexpr float kDoorPad = 16.0F;
constexpr float kCapPad = 6.0F;
constexpr float kKeyCap = 20.0F;
constexpr float kBetweenDoors = 12.0F;
constexpr float kDoorRadius = 6.0F;
constexpr float kLeastCanvas = 480.0F;
constexpr float kDoorFormula = 14.0F;

struct Door {
    const char* id;
    std::string words;
    std::string tex;  // after the words
    std::string cap;  // its keys; "": a link
    bool filled = false;
};

struct Measure {
    std::optional<MathBox> formula;
    float words = 0.0F, cap = 0.0F, whole = 0.0F;
};

Measure measure(const Door& door, const Frame& frame) {
    Measure size;
    size.words = frame.text_width(frame.fonts.strong, door.words);
    size.whole = size.words;
    if (!door.tex.empty()) size.formula = fitted_math(frame, door.tex, kDoorFormula, frame.px(200));
    if (size.formula) size.whole += frame.px(6) + size.formula->width;
    if (door.cap.empty()) return size;
    size.cap = frame.text_width(frame.fonts.digits_small, door.cap) + frame.px(2 * kCapPad);
    size.whole += frame.px(kBetweenDoors) + size.cap + frame.px(2 * kDoorPad);
    return size;
}

void draw_cap(const Door& door, ImVec2 low, float width, Color ink, const Frame& frame) {
    const float top = low.y + frame.px((kDoor - kKeyCap) / 2);
    const ImVec2 high{low.x + width, top + frame.px(kKeyCap)};
    frame.painter.outline({low.x, top}, high, ink, frame.px(1), frame.px(4));
    draw_text_in(frame, frame.fonts.digits_small, {low.x, top}, high, Align::center, ink, door.cap);
}

void draw_door(const Door& door, const Measure& size, ImVec2 low, const Frame& frame) {
    const Theme& theme = frame.theme;
    const ImVec2 high{low.x + size.whole, low.y + frame.px(kDoor)};
    const bool link = door.cap.empty();
    const Color ink = door.filled ? theme.on_accent : link ? theme.accent : theme.text;
    if (door.filled) frame.painter.rect(low, high, theme.accent, frame.px(kDoorRadius));
    if (!door.filled && !link)
        frame.painter.outline(low, high, theme.control, frame.px(1), frame.px(kDoorRadius));
    float x = low.x + (link ? 0.0F : frame.px(kDoorPad));
    draw_text_in(frame, link ? frame.fonts.body : frame.fonts.strong, {x, low.y}, high, Align::left,
                 ink, door.words);
    if (link) {
        const float foot = (low.y + high.y + frame.fonts.body.px) / 2;
        return frame.painter.line({low.x, foot}, {high.x, foot}, theme.accent, frame.px(1));
    }
    x += size.words;
    if (size.formula) {
        const float baseline = (low.y + high.y) / 2 + frame.px(5);
        draw_formula(frame, *size.formula, {x + frame.px(6), baseline});
        x += frame.px(6) + size.formula->width;
    }
    draw_cap(door, {x + frame.px(kBetweenDoors), low.y}, size.cap, ink, frame);
}

bool is_pressed(const Door& door, const Measure& size, ImVec2 low, const Frame& frame) {
    const ImVec2 extent{size.whole, frame.px(kDoor)};
    ImGui::SetCursorScreenPos(low);
    const bool clicked = invisible_button(door.id, extent);
    const bool keyed = pressed_by_key(frame);
    draw_door(door, size, low, frame);
    return clicked || keyed;
}

Actions actions_of(std::size_t door) {
    if (door == 0) return {TogglePlay{}};
    const Action closed = ShowStartButtons{false};
    if (door == 1) return {closed, SetWorkspace{"saturation"}};
    if (door == 2) return {closed, ShowPrompt{PromptKind::open}};
    return {closed, StartTour{""}};
}

}  // namespace

float draw_doors(const StepView& view, const Frame& frame, Actions& out) {
    const ImVec2 origin = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    if (frame.is_canvas_alone() || room.y < frame.px(kLeastCanvas)) return 0.0F;
    const Door doors[] = {{"watch", "Watch it compute", "", "Space", true},
                          {"why", "Why", R"(\div \sqrt{d_k})", "2 S"},
                          {"open", "Open my model", "", "Ctrl+O"},
                          {"tour", "or start the tour", "", ""}};
    const float height = frame.px(kAboveDoors + kDoor + kUnderDoors);
    ImVec2 low{origin.x, origin.y + room.y - frame.px(kDoor + kUnderDoors)};
    for (std::size_t n = 0; n < std::size(doors); ++n) {
        if (n == 3 && !view.has_tour) continue;
        const Measure size = measure(doors[n], frame);
        if (low.x + size.whole > origin.x + room.x) continue;
        if (is_pressed(doors[n], size, low, frame))
            for (Action& action : actions_of(n)) out.push_back(std::move(action));
        low.x += size.whole + frame.px(n == 2 ? 24.0F : kBetweenDoors);
    }
    ImGui::SetCursorScreenPos(origin);
    leave_space({0.0F, 0.0F});  // ImGui 1.92: a cursor that was set needs an item after it
    ImGui::SetCursorScreenPos(origin);
    return height;
}

}  // namespace attn::ui

#include <fmt/format.h>

#include "app/common/clip.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/inspector.h"
#include "app/common/draw/items.h"
#include "app/common/draw/still.h"
#include "app/common/draw/text_fields.h"
#include "app/common/draw/typing.h"
#include "app/common/map/actions.h"
#include "app/common/map/camera.h"
#include "app/common/map/map_cell.h"
#include "app/workspaces/large/draw/panel.h"

namespace attn::ui {
namespace {

using large::Cell;

// Design units.
constexpr float kMinimap = 152.0F, kSmallMinimap = 96.0F;
constexpr float kLow = 560.0F;     // of a side panel that has the small one
constexpr float kBeside = 128.0F;  // least room for what stands beside the minimap
constexpr float kSection = 2.0F;
constexpr double kClipRest = 1.5;  // seconds at the end of a clip
constexpr double kStep = 2.0;      // zoom of − and +
constexpr float kLeastBar = 60.0F;
constexpr std::size_t kFewCells = 10;  // of a list that scrolls

void section(const LargeScene& scene, const std::string& title) {
    leave_space({1.0F, scene.frame.px(kSection)});
    wrapped_text(scene.frame, scene.frame.fonts.small, scene.frame.theme.muted, title);
}

// --- where it is

void zoom(const LargeScene& scene, double factor) {
    scene.out.push_back(view::moved_map(scene.look, view::zoomed(scene.look, factor)));
}

void draw_zoom_buttons(const LargeScene& scene) {
    const Frame& frame = scene.frame;
    if (button(frame, "out", "−", {"Zoom out", "The wheel over the map zooms about the pointer."}))
        zoom(scene, 1.0 / kStep);
    ImGui::SameLine();
    if (button(frame, "in", "+", {"Zoom in", "The wheel over the map zooms about the pointer."}))
        zoom(scene, kStep);
    ImGui::SameLine();
    if (ImGui::GetContentRegionAvail().x < button_width(frame, "whole")) ImGui::NewLine();
    if (button(frame, "fit", "whole", {"The whole matrix", "Keys: F, Home"}))
        scene.out.push_back(FitMap{});
}

void draw_needle(const LargeScene& scene) {
    const LargeView& view = scene.view;
    if (view.has_needle &&
        button(scene.frame, "needle", "to the needle",
               {"The planted needle", "One query that finds one key far from it.  Key: N"}))
        scene.out.push_back(GoToNeedle{});
    if (view.has_needle &&
        button(scene.frame, "clip", "Export clip",
               {"Flies from the whole matrix to the needle and saves it as a clip",
                "An animated PNG, or the format of the last clip"})) {
        scene.out.push_back(FitMap{});
        scene.out.push_back(GoToNeedle{});
        scene.out.push_back(ExportClip{view::kNeedleSeconds + kClipRest});
    }
}

void draw_where(const LargeScene& scene) {
    const Frame& frame = scene.frame;
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 space = ImGui::GetContentRegionAvail();
    const float wanted =
        frame.px(ImGui::GetWindowSize().y < frame.px(kLow) ? kSmallMinimap : kMinimap);
    const float side = std::min(wanted, std::max(frame.px(48), space.x - frame.px(kBeside + 16)));
    draw_minimap(scene, {low, {low.x + side, low.y + side}});
    ImGui::SetCursorScreenPos({low.x + side + frame.px(16), low.y});
    ImGui::BeginGroup();
    draw_zoom_buttons(scene);
    draw_needle(scene);
    ImGui::EndGroup();
    const float bottom = std::max(low.y + side, ImGui::GetItemRectMax().y);
    ImGui::SetCursorScreenPos({low.x, bottom});
    leave_space({1.0F, 1.0F});
}

/// A cell of this matrix as one types it: "70001, 5".
std::string cell_example(const MapSize& size) {
    if (size.rows < 1 || size.columns < 1) return "query, key";
    return fmt::format("{}, {}", size.rows / 2, std::min<Index>(5, size.columns - 1));
}

/// A slow frame may bring G together with what is typed after it.
void open_by_key(const LargeScene& scene) {
    if (scene.view.go_to_open || scene.frame.focus == nullptr) return;
    const std::string early = early_cell_after('g');
    const Hands& hands = scene.frame.focus->hands();
    if (early.empty() || hands.typing || hands.overlay || !take_key(scene.frame, Key::g)) return;
    scene.out.push_back(ShowGoTo{true});
    scene.out.push_back(DraftGoTo{early});
    early_cell(scene.frame);  // its digits are no commands
}

/// The field has the keyboard while it is open; Enter on a draft that names no cell leaves it open.
void draw_go_to(const LargeScene& scene) {
    section(scene, "Go to query, key");
    open_by_key(scene);
    const LargeView& view = scene.view;
    std::string draft = view.go_to_draft;
    const std::string example = cell_example(scene.look.size);
    ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x);
    if (view.go_to_open && !ImGui::IsAnyItemActive()) ImGui::SetKeyboardFocusHere();
    push_no_tab_stop();
    const int early = ImGui::IsAnyItemActive() ? 0 : ImGuiInputTextFlags_CallbackAlways;
    const bool entered =
        text_field("##go to", draft,
                   {example.c_str(), ImGuiInputTextFlags_EnterReturnsTrue | early, keep_early});
    if (view.go_to_open) draft += early_cell(scene.frame);
    pop_no_tab_stop();
    still_field(scene.frame, scene.frame.fonts.body, draft, example);
    tooltip(scene.frame, "Query and key, counted from 0", "Press Enter to go there.  Key: G");
    if (!view.go_to_open && ImGui::IsItemActivated()) scene.out.push_back(ShowGoTo{true});
    if (draft != view.go_to_draft) scene.out.push_back(DraftGoTo{draft});
    if (entered && view.go_to) scene.out.push_back(GoToCell{*view.go_to});
    const bool ended = text_stop(scene.frame) || ImGui::IsItemDeactivated();
    const bool left = ended && !(entered && !view.go_to);
    if (view.go_to_open && left) scene.out.push_back(ShowGoTo{false});
    wrapped_text(scene.frame, scene.frame.fonts.small, scene.frame.theme.bad, view.go_to_fault);
}

// --- cells

/// Of a list: what its widest texts take, and its strip; 0 where that has no room.
struct CellColumns {
    float text = 0.0F, weight = 0.0F, bar = 0.0F;
};

CellColumns columns_of(const LargeScene& scene, const std::vector<StrongCell>& cells) {
    const Frame& frame = scene.frame;
    CellColumns at;
    for (const StrongCell& cell : cells) {
        at.text = std::max(at.text, frame.text_width(frame.fonts.digits, cell.text));
        at.weight = std::max(at.weight, frame.text_width(frame.fonts.digits, cell.weight));
    }
    const float bar = ImGui::GetContentRegionAvail().x - at.text - at.weight - frame.px(40);
    if (bar >= frame.px(kLeastBar)) at.bar = bar;
    return at;
}

/// "70,001 → 5  ▬▬▬▬  0.7312"; a click goes there.
void draw_cell_row(const LargeScene& scene, const StrongCell& cell, const CellColumns& at) {
    const Frame& frame = scene.frame;
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 high{low.x + ImGui::GetContentRegionAvail().x, low.y + frame.px(kTitleRow)};
    const bool clicked = invisible_button("cell", {std::max(1.0F, high.x - low.x), high.y - low.y});
    if (pressed_by_key(frame) || clicked) scene.out.push_back(GoToCell{cell.cell});
    const bool hovered = ImGui::IsItemHovered();
    if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    const bool selected = scene.look.selected == cell.cell;
    if (hovered || selected) frame.painter.rect(low, high, frame.theme.raised, frame.px(4));
    const Color color = selected ? frame.theme.accent : frame.theme.text;
    const Font& font = frame.fonts.digits;
    const float weight = frame.text_width(font, cell.weight) + frame.px(4);
    const float left = low.x + at.text + frame.px(20), inset = frame.px(7);
    const float strip = at.bar * static_cast<float>(within(cell.share, 0.0, 1.0));
    if (strip >= 1.0F)
        frame.painter.rect({left, low.y + inset}, {left + strip, high.y - inset},
                           frame.theme.role(Role::weight), frame.px(2));
    draw_text_in(frame, font, {low.x + frame.px(4), low.y}, high, Align::left, color,
                 fit_text(frame, font, cell.text, high.x - low.x - weight - frame.px(12)));
    draw_text_in(frame, font, low, {high.x - frame.px(4), high.y}, Align::right, color,
                 cell.weight);
    tooltip(frame, cell.text + ": " + cell.weight, "query → key: weight. Click to go there.");
}

void draw_cells(const LargeScene& scene, const char* id, const std::vector<StrongCell>& cells,
                std::size_t most) {
    const CellColumns at = columns_of(scene, cells);
    ImGui::PushID(id);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0.0F, 0.0F});
    for (std::size_t n = 0; n < std::min(most, cells.size()); ++n) {
        ImGui::PushID(static_cast<int>(n));
        draw_cell_row(scene, cells[n], at);
        ImGui::PopID();
    }
    ImGui::PopStyleVar();
    ImGui::PopID();
}

/// The whole row and column of the selected cell.
void draw_searches(const LargeScene& scene) {
    if (!scene.look.selected) return;
    const Cell cell = *scene.look.selected;
    const auto search = [&](const char* id, const std::string& text, large::Search::Of of,
                            Index index, const char* tip) {
        if (button(scene.frame, id, text, {text, tip}))
            scene.out.push_back(SearchMap{large::Search{of, index}});
    };
    leave_space({1.0F, scene.frame.px(kSection)});
    search("to key", "queries that attend to key " + std::to_string(cell.column),
           large::Search::Of::key, cell.column, "The largest weights of its column.");
    search("from query", "keys that query " + std::to_string(cell.row) + " attends to",
           large::Search::Of::query, cell.row, "The largest weights of its row.");
}

void draw_found(const LargeScene& scene) {
    if (!scene.look.search) return;
    section(scene, scene.view.found_title);
    draw_cells(scene, "found", scene.view.found, kFewCells);
    if (button(scene.frame, "close search", "close", {"Closes this list", ""}))
        scene.out.push_back(SearchMap{std::nullopt});
}

void draw_top(const LargeScene& scene, float bottom) {
    section(scene, scene.view.top_title);
    large::TopChoice top = scene.look.top;
    const Tip keys{"Leave out key 0", "An attention sink fills the list.  Key: K"};
    if (const auto on = toggle(scene.frame, "skip", "without key 0", top.skip_first_key, keys))
        top.skip_first_key = *on;
    flow(scene.frame, toggle_width(scene.frame, "one per query"));
    const Tip queries{"Only the strongest key of each query", "Key: O"};
    if (const auto on = toggle(scene.frame, "once", "one per query", top.one_per_query, queries))
        top.one_per_query = *on;
    if (!(top == scene.look.top)) scene.out.push_back(SetTopCells{top});
    const float rows = (bottom - ImGui::GetCursorScreenPos().y) / scene.frame.px(kTitleRow);
    draw_cells(scene, "top", scene.view.top,
               std::max(kFewCells, static_cast<std::size_t>(std::max(rows, 0.0F))));
}

/// Where operands or weights are not finite, above all else.
void draw_not_finite(const LargeScene& scene) {
    for (const std::string& sentence : scene.view.not_finite)
        wrapped_text(scene.frame, scene.frame.fonts.body, scene.frame.theme.nan, sentence);
    if (!scene.view.first_nan) return;
    if (button(scene.frame, "first nan", "to the first NaN",
               {"Goes to the first NaN weight", "The inspector shows which score makes it NaN."}))
        scene.out.push_back(GoToCell{*scene.view.first_nan});
}

void draw_selected(const LargeScene& scene) {
    leave_space({1.0F, scene.frame.px(kSection)});
    draw_inspector(scene.view.inspector, scene.frame, scene.out);
    draw_searches(scene);
}

constexpr float kRooflineHeight = 132.0F;  // design units

}  // namespace

void draw_large_side(const LargeScene& scene) {
    draw_not_finite(scene);
    draw_where(scene);
    draw_go_to(scene);
    draw_found(scene);
    draw_selected(scene);
    leave_space({1.0F, scene.frame.px(16)});
}

void draw_large_cells(const LargeScene& scene, const Box& box) {
    const bool roofline = scene.view.roofline.ready;
    const float top = box.high.y - (roofline ? scene.frame.px(kRooflineHeight) : 0.0F);
    draw_top(scene, top);
    if (roofline && ImGui::GetCursorScreenPos().y <= top)
        draw_roofline(scene.view.roofline, {{box.low.x, top}, box.high}, scene.frame);
}

}  // namespace attn::ui

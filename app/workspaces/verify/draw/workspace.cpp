#include "app/common/actions.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/grid_set.h"
#include "app/common/draw/items.h"
#include "app/common/draw/measured.h"
#include "app/common/draw/parts.h"
#include "app/workspaces/verify/actions.h"
#include "app/workspaces/verify/view.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kVerifyTable = 0.44F, kWidestTable = 480.0F;  // of the width
constexpr float kFaults = 200.0F, kScales = 170.0F, kAllowedWidth = 130.0F;
constexpr float kShares[] = {0.22F, 0.18F, 0.18F, 0.16F, 0.26F};
constexpr float kFewShares[] = {0.32F, 0.28F, 0.0F, 0.0F, 0.40F};  // where all have no room
constexpr float kSpaceForAll = 400.0F;

void draw_verify_cells(std::span<const std::string> cells, const Box& box, const Frame& frame,
                       Color color, const Font& numbers) {
    const float pad = frame.px(6);
    float x = box.low.x;
    const std::span<const float> shares =
        box.size().x < frame.px(kSpaceForAll) ? std::span(kFewShares) : std::span(kShares);
    for (std::size_t n = 0; n < cells.size() && n < shares.size(); ++n) {
        if (shares[n] == 0.0F) continue;
        const float right = x + box.size().x * shares[n];
        const Font& font = n == 0 ? frame.fonts.body : numbers;
        draw_text_in(frame, font, {x + pad, box.low.y}, {right - pad, box.high.y},
                     n == 0 ? Align::left : Align::right, color,
                     fit_text(frame, font, cells[n], right - x - 2 * pad));
        x = right;
    }
}

/// A row that can be pressed; true when it was.
bool draw_verify_row(const Frame& frame, const char* id, const Box& box, bool shown) {
    ImGui::SetCursorScreenPos(box.low);
    const bool clicked = invisible_button(id, box.size());
    const bool pressed = pressed_by_key(frame);
    if (shown || ImGui::IsItemHovered()) frame.painter.rect(box.low, box.high, frame.theme.raised);
    if (shown)
        frame.painter.rect(box.low, {box.low.x + frame.px(2), box.high.y}, frame.theme.accent);
    return clicked || pressed;
}

Box next_row(const Frame& frame) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    return {low, {low.x + ImGui::GetContentRegionAvail().x, low.y + frame.px(kTitleRow)}};
}

void draw_arrays(const VerifyView& view, const Frame& frame, Actions& out) {
    const std::vector<std::string> titles(std::begin(view::kCheckedColumns),
                                          std::end(view::kCheckedColumns));
    const Box head = next_row(frame);
    draw_verify_cells(titles, head, frame, frame.theme.muted, frame.fonts.small);
    leave_space(head.size());
    for (const CheckedLine& line : view.lines) {
        const Box box = next_row(frame);
        if (draw_verify_row(frame, line.key.c_str(), box, line.shown))
            out.push_back(ShowChecked{line.key});
        tooltip(frame, line.key,
                "Max |actual − expected|; the same over max |expected|; max ULP distance; count "
                "beyond tolerance. Click to show the worst number.");
        draw_verify_cells(line.cells, box, frame, line.differs ? frame.theme.bad : frame.theme.text,
                          frame.fonts.digits_small);
    }
    record_rect_for_tests(frame.painter, Measuring::Kind::labels, head.low, next_row(frame).high);
}

void draw_worst(const std::vector<CheckedPart>& parts, const std::string& title, const Frame& frame,
                Actions& out) {
    if (parts.empty()) return;
    put_text(frame, frame.fonts.small, frame.theme.muted, title);
    for (const CheckedPart& part : parts) {
        const Box box = next_row(frame);
        if (draw_verify_row(frame, part.text.c_str(), box, part.shown))
            out.push_back(SelectChecked{part.worst.b, part.worst.h, part.worst.t, part.worst.d});
        tooltip(frame, part.text, "[sequence, head, row]. Click to show its worst number.");
        draw_text_in(frame, frame.fonts.body, {box.low.x + frame.px(6), box.low.y}, box.high,
                     Align::left, part.differs ? frame.theme.bad : frame.theme.text,
                     fit_text(frame, frame.fonts.body, part.text, box.size().x - frame.px(12)));
    }
}

/// What is wrong stands under the arrays, the rest over them.
std::vector<std::string> quiet_findings(const VerifyView& view) {
    std::vector<std::string> quiet;
    for (const Finding& finding : view.findings)
        if (!finding.bad) quiet.push_back(finding.text);
    return quiet;
}

void draw_findings(const VerifyView& view, const Frame& frame) {
    for (const Finding& finding : view.findings)
        if (finding.bad)
            wrapped_text(frame, frame.fonts.body,
                         finding.warns ? frame.theme.warning : frame.theme.text, finding.text);
}

void draw_error_map(const VerifyView& view, const AppState& state, const Box& box,
                    const Frame& frame, Actions& out) {
    if (!view.grid) return;
    float bottom = 0.0F;
    if (!view.blocks.empty()) {
        bottom = frame.px(22);
        draw_text_in(frame, frame.fonts.body, {box.low.x, box.high.y - bottom}, box.high,
                     Align::left, frame.theme.muted, view.blocks);
    }
    const ImVec2 high{box.high.x, box.high.y - bottom};
    if (const auto clicked = draw_grid_set({&*view.grid, 1}, box.low, high, frame).clicked) {
        const CheckedCell at = checked_cell_at(state, clicked->row, clicked->column);
        out.push_back(SelectChecked{at.b, at.h, at.t, at.d});
    }
}

void draw_verify_bar(const VerifyView& view, ControlBar& bar) {
    Actions& out = bar.out;
    if (bar.button("file", "check a file…",
                   {"Check a file of results (key: C)",
                    "Arrays in .npz, .safetensors or a folder, named by stage"}))
        out.push_back(ShowPrompt{PromptKind::check});
    if (bar.button("open", "this document",
                   {"Check the open document (key: X)",
                    "Results in the file, or of the selected backend"}))
        out.push_back(CheckFile{""});
    if (const auto n = bar.combo("##fault", {view.fault_names, view.fault}, kFaults,
                                 {"Plant a fault in the reference (keys: F, Shift+F)",
                                  "Shows its symptoms and whether the diagnosis finds it"}))
        out.push_back(PlantFault{view.fault_keys[*n]});
    bar.field<SetErrorScale>(view.look, {.choices = view::kScaleText, .width = kScales});
    bar.field<SetAllowed>(view.look, {.choices = view::kAllowedText, .width = kAllowedWidth});
}

void draw_table(const VerifyView& view, const Frame& frame, Actions& out) {
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0.0F, frame.px(2)});
    draw_arrays(view, frame, out);
    leave_space({1.0F, frame.px(4)});
    draw_findings(view, frame);
    leave_space({1.0F, frame.px(4)});
    ImGui::PushID("rows");
    draw_worst(view.rows, view.rows_title, frame, out);
    ImGui::PopID();
    ImGui::PushID("heads");
    if (view.heads.size() > 1) draw_worst(view.heads, "heads: largest error", frame, out);
    ImGui::PopID();
    ImGui::PopStyleVar();
}

}  // namespace

std::string draw_verify_workspace(const AppState& state, const WorkArea& r, const Frame& frame,
                                  Actions& out) {
    const VerifyView view = build_verify_view(state);
    Parts parts{
        .missing_data = view.missing_data,
        .heading = {.headline = view.point, .notes = quiet_findings(view), .warns = view.warns},
        .controls = [&](ControlBar& bar) { draw_verify_bar(view, bar); },
        .status = view.status};
    const CanvasPart table{
        "arrays",
        "arrays",
        [&](const Box&) { draw_table(view, frame, out); },
        CanvasPart::Where::left,
        0.0F,
        [&](ImVec2 space) { return std::min(kVerifyTable * space.x, frame.px(kWidestTable)); }};
    const CanvasPart map{"map", "error map",
                         [&](const Box& box) { draw_error_map(view, state, box, frame, out); }};
    if (view.ready && view.grid) {
        parts.hero = map;
        parts.others = {table};
    } else if (view.ready) {
        parts.hero = table;
    }
    return draw_parts(state, r, parts, frame, out);
}

extern const WorkspacePanel kVerifyPanel{"verify", draw_verify_workspace};

}  // namespace attn::ui

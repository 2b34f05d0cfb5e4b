#include <algorithm>

#include "app/ui/canvas.h"
#include "app/ui/draw.h"
#include "app/ui/widgets.h"

namespace attn::ui {
namespace {

using view::Readout;
using view::RowReadouts;

/// Right-aligned in the cell, so that numbers stand under each other.
void align_right(const Font& font, const std::string& words) {
    const float slack = ImGui::GetContentRegionAvail().x - text_size(font, words).x;
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0F, slack));
}

void draw_head(const Readout& readout, const Frame& frame) {
    ImGui::BeginGroup();
    align_right(frame.fonts.small, readout.label);
    words(frame.fonts.small, frame.theme.text, readout.label);
    const std::string formula =
        fit_text(frame.fonts.small, readout.formula, ImGui::GetContentRegionAvail().x);
    align_right(frame.fonts.small, formula);
    words(frame.fonts.small, frame.theme.muted, formula);
    ImGui::EndGroup();
    tooltip(frame, readout.label + " = " + readout.formula, readout.tooltip);
}

void draw_row(const RowReadouts& row, const Frame& frame) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    words(frame.fonts.small, frame.theme.query, fit_text(frame.fonts.small, row.row, frame.px(88)));
    for (const Readout& readout : row.readouts) {
        ImGui::TableNextColumn();
        align_right(frame.fonts.digits_small, readout.text);
        words(frame.fonts.digits_small, frame.theme.text, readout.text);
        tooltip(frame, readout.label + " = " + readout.formula, readout.tooltip);
    }
}

}  // namespace

void draw_readouts(const std::vector<RowReadouts>& rows, float height, const Frame& frame) {
    const auto columns = static_cast<int>(rows.front().readouts.size()) + 1;
    const float width =
        std::min(ImGui::GetContentRegionAvail().x, frame.px(136.0F * static_cast<float>(columns)));
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {frame.px(8), frame.px(2)});
    const ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_SizingStretchSame |
                                  ImGuiTableFlags_NoSavedSettings;
    if (ImGui::BeginTable("readouts", columns, flags, {width, height})) {
        ImGui::TableSetupScrollFreeze(0, 1);
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        for (const Readout& readout : rows.front().readouts) {
            ImGui::TableNextColumn();
            draw_head(readout, frame);
        }
        for (const RowReadouts& row : rows) draw_row(row, frame);
        ImGui::EndTable();
    }
    ImGui::PopStyleVar();
}

}  // namespace attn::ui

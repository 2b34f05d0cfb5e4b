#pragma once

#include <imgui.h>

#include "app/common/draw/frame.h"
#include "app/workspaces/saturation/view.h"

namespace attn::ui {

/// The medians of both sides with their verdicts, from `low` on.
void draw_median_table(const view::SaturationTable& table, ImVec2 low, float width,
                       const Frame& frame);
float median_table_height(const Frame& frame);

/// More numbers of the row that is drawn, its lines as close as `high` demands.
void draw_row_numbers(const view::SaturationDetails& details, ImVec2 low, ImVec2 high,
                      const Frame& frame);

}  // namespace attn::ui

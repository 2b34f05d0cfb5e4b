#pragma once

#include <imgui.h>

#include <vector>

#include "app/common/draw/frame.h"
#include "app/workspaces/kinds/view.h"

namespace attn::ui {

/// What A and B cost and how far apart they are: one line each, in two columns where there is room.
float kinds_table_height(const std::vector<view::KindRow>& rows, float width, const Frame& frame);
void draw_kinds_table(const std::vector<view::KindRow>& rows, ImVec2 low, float width,
                      const Frame& frame);

/// A few rows of numbers under their title, `row_height` pixels each; returns where they end.
float draw_vectors(const view::GridView& grid, const char* id, ImVec2 low, float width,
                   float row_height, const Frame& frame);

}  // namespace attn::ui

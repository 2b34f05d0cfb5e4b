#pragma once

#include "app/common/document/model_text.h"
#include "app/common/draw/bar.h"

namespace attn::ui {

/// Which attention of a model of two stacks is shown: the same row in every workspace; nothing of a model of one.
void draw_group_row(const GroupsView& view, const Frame& frame, Actions& out,
                    const PlaceControl& place);
/// What the second stack reads, where what is shown is made of that: a text that a click opens.
void draw_beside_field(const GroupsView& view, const Frame& frame, Actions& out,
                       const PlaceControl& place);
/// Both, in a bar.
void draw_groups(const GroupsView& view, ControlBar& bar);

}  // namespace attn::ui

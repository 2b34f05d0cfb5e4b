#pragma once

#include "app/common/draw/parts.h"
#include "app/common/map/state.h"
#include "app/workspaces/heads/view.h"

namespace attn::ui {

// The parts of the Heads workspace.

/// The form of the head, how all heads stand and in which order; the rest of what sets them in the popover.
void draw_heads_bar(const AllHeadsView& view, ControlBar& bar);

/// The width that the small pictures take of a room.
float thumbs_width(const AllHeadsView& view, ImVec2 space, const Frame& frame);
/// The small pictures with their legend, in `box`; scrolls where they have not their height.
void draw_thumbs(const AllHeadsView& view, const Box& box, const Frame& frame, Actions& out);
/// The mouse on a head: a click shows it, Shift+click pins it or takes the pin away.
void press_head(HeadPlace place, bool pinned, Actions& out);
/// Heads by two measures; a dot under the pointer has its name.
void draw_heads_scatter(const AllHeadsView& view, const Box& box, const Frame& frame, Actions& out);
/// Heads by all measures; a click on a title sorts.
float heads_table_width(const AllHeadsView& view, const Frame& frame);
void draw_heads_table(const AllHeadsView& view, const Box& box, const Frame& frame, Actions& out);
/// A row a layer, a column a head: what changing it does. A click shows the head.
void draw_head_sweep(const AllHeadsView& view, const Box& box, const Frame& frame, Actions& out);
/// Words above and beneath what is drawn of a head; returns the space between.
Box draw_description(const std::string& title, const std::vector<std::string>& legend,
                     const Box& box, const Frame& frame);
/// The n-th of `count` boxes beside each other.
Box part_of(const Box& box, std::size_t n, std::size_t count, const Frame& frame);
/// Lines from queries to keys, of one head or two.
void draw_head_lines(const AllHeadsView& view, const Box& box, const Frame& frame, Actions& out);
/// Source words above target words, joined by the weights of one head or of several.
void draw_head_alignment(const AllHeadsView& view, const Box& box, const Frame& frame,
                         Actions& out);
/// The text that the chosen query sees, of one head or two.
void draw_head_texts(const AllHeadsView& view, const Box& box, const Frame& frame, Actions& out);
/// The picture whose patches are tokens under a row of the weights, and the words beside it, of one head or two.
void draw_head_images(const AllHeadsView& view, const Box& box, const Frame& frame, Actions& out);
/// The score of the chosen query with every key, by dimension.
void draw_head_dimensions(const AllHeadsView& view, const Box& box, const Frame& frame,
                          Actions& out);
/// The edges between the parts of a model. A click on a head shows it, a click on an edge explains it.
void draw_head_edges(const HeadEdgesView& edges, HeadPlace here,
                     const std::optional<large::Cell>& hovered, const Box& box, const Frame& frame,
                     Actions& out);
/// QK or OV with its singular values, composition, or the edges of the model.
void draw_head_circuit(const AllHeadsView& view, const MapLook& look, const Box& box,
                       const Frame& frame, Actions& out);
/// The weights of the head shown, or two heads and their difference.
void draw_head_grids(const AllHeadsView& view, const Box& box, const Frame& frame, Actions& out);
/// The same where they are too long for cells.
void draw_head_maps(const AllHeadsView& view, const MapLook& look, const Box& box,
                    const Frame& frame, Actions& out);

}  // namespace attn::ui

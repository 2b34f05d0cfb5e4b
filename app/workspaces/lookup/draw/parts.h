#pragma once

#include <optional>

#include "app/common/draw/frame.h"
#include "app/common/draw/point.h"
#include "app/common/draw/workspace.h"
#include "app/workspaces/lookup/view.h"

namespace attn::ui {

// The parts of the Lookup workspace.

/// One row: the pages, and what belongs to the one that is shown.
void draw_lookup_bar(const view::LookupView& view, const Frame& frame, view::Actions& out);

/// The planes, the temperature and the table, within a box.
void draw_memory(const view::MemoryView& view, const Box& box, const Frame& frame,
                 view::Actions& out);

/// Keys with the query, or values with the output; returns the pair under the pointer.
enum class Plane { keys, values };
std::optional<Index> draw_plane(const view::MemoryView& view, Plane plane, const Box& box,
                                const Frame& frame, view::Actions& out);

/// The pairs, one row each; returns the one under the pointer.
float memory_table_height(const view::MemoryView& view, const Frame& frame);
std::optional<Index> draw_memory_table(const view::MemoryView& view, const Box& box,
                                       const Frame& frame, view::Actions& out);
float memory_numbers_height(const view::MemoryView& view, const Frame& frame);
void draw_memory_numbers(const view::MemoryView& view, const Box& box, const Frame& frame);

void draw_capacity(const view::CapacityView& view, const Box& box, const Frame& frame,
                   view::Actions& out);
void draw_similarity(const view::SimilarityView& view, const Box& box, const Frame& frame,
                     view::Actions& out);
void draw_alignment(const view::AlignmentView& view, const Box& box, const Frame& frame,
                    view::Actions& out);
void draw_permutation(const view::PermutationView& view, const Box& box, const Frame& frame,
                      view::Actions& out);

/// What a page of the document's tokens says: its first line and notes, or what it lacks; returns where that ends.
float draw_lookup_words(const view::LookupGridsView& view, const Box& box, const Frame& frame);

}  // namespace attn::ui

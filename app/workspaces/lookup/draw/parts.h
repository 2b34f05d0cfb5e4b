#pragma once

#include <optional>

#include "app/common/draw/parts.h"
#include "app/workspaces/lookup/view.h"

namespace attn::ui {

// The parts of the Lookup workspace.

/// The pages, and the parts of the shown page.
void draw_lookup_bar(const view::LookupView& view, ControlBar& bar);

/// What each page gives to the frame; a view that is added is kept.
struct LookupPages {
    Parts& parts;
    const Frame& frame;
    view::Actions& out;
    std::optional<Index> hovered = {};  // the pair of the memory that is pointed at

    void add(const view::MemoryView& view);
    void add(const view::CapacityView& view);
    void add(const view::SimilarityView& view);
    void add(const view::AlignmentView& view);
    void add(const view::PermutationView& view);
    /// Draws what is missing, or the text. Returns false if something is missing.
    bool can_draw(const view::LookupGridsView& view);
};
void hover_pair(const view::MemoryView& view, std::optional<Index> hovered, view::Actions& out);

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

}  // namespace attn::ui

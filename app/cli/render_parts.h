#pragma once

#include <span>

#include "app/cli/cli.h"
#include "app/cli/studio.h"
#include "app/view/actions.h"

namespace attn::cli {

// What `render` is made of.

/// ImGui lays out with the sizes of the frame before; a tooltip or popup takes one more.
inline constexpr int kFramesToSettle = 4;

/// Actions that were asked for here and now. One that cannot be carried out, which the window would say in a message,
/// is an error: nobody would see the message.
Result<void> carry_out(std::span<const view::Action> actions, view::AppState& state);
/// Actions that were recorded: what could not be carried out then, cannot now, and is no error.
void replay(std::span<const view::Action> actions, view::AppState& state);
/// Computes, on this thread, what the screen wants and the window would wait for: requests.h.
Result<void> complete_wishes(view::AppState& state);
/// Computes all of what the Large workspace shows.
Result<void> complete_map(view::AppState& state);
/// The end of a cross-fade or of a zoom that the last action began.
void arrive(view::AppState& state);
/// A frame, and the room that it left for the map.
void draw_frame(Studio& studio, view::AppState& state);

/// Pulls a slider or the map for so many frames and prints how long they take.
Result<void> time_drag(Studio& studio, view::AppState state, int frames, Streams io);

}  // namespace attn::cli

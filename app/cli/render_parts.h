#pragma once

#include "app/cli/cli.h"
#include "app/cli/studio.h"
#include "app/common/workspace.h"
#include "app/jobs/jobs.h"

namespace attn::cli {

struct Start;

// What `render` is made of.

/// ImGui lays out with the sizes of the frame before; a tooltip or popup takes one more.
inline constexpr int kLayoutFrames = 4;

/// Carries out what a start asks for. An action of the options that cannot be carried out is an error here, for nobody
/// would see the message; what a journal repeats may have failed then, too.
Result<void> carry_out(const Start& start, view::AppState& state, jobs::Jobs& jobs);
/// Computes, on this thread, all that the screen needs, and leaves out the times: a picture is the same every time.
Result<void> complete(view::AppState& state, jobs::Jobs& jobs);
/// The end of a cross-fade or of a zoom that the last action began; no times.
void arrive(view::AppState& state);
/// A frame, and the room that it left for the map.
void draw_frame(Studio& studio, view::AppState& state);

/// Lays out and computes until the picture does not change any more.
void finish_layout(Studio& studio, view::AppState& state, jobs::Jobs& jobs);
/// Without the journal first, then line by line with what moves: the bytes of an animated PNG. Each line rests so long.
std::string film(Studio& studio, const Start& start, view::AppState state, jobs::Jobs& jobs,
                 double rest_s);

using view::Movement;
/// So many frames of it: prints how long they take.
void time_movement(Studio& studio, view::AppState state, Movement movement, int frames,
                   jobs::Jobs& jobs, Streams io);

}  // namespace attn::cli

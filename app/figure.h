#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "app/cli/studio.h"
#include "app/common/state.h"
#include "app/figures/figure.h"
#include "app/gl/pixels.h"

namespace attn {

/// The window that a figure is of: the figure stands as on that screen.
struct FigureWindow {
    gl::Size size{1600, 1000};
    double device_scale = 1.0;
    bool chrome = false;  // all of it, not the canvas alone
    bool titles = true;   // in an SVG: what each cell and mark is, where the pointer rests on it
};

/// What the screen shows of `state`, drawn once more by the panels into the bytes of a file: the canvas,
/// cut to what is drawn on it, or all of the window; of a fixed width what figure_look() says. Needs no OpenGL and leaves the current ImGui context alone.
Result<std::string> draw_figure(const view::AppState& state, figures::Format format,
                                const FigureWindow& window);

/// The same on a plain ground where it has none, as an image; nullptr: it cannot be drawn here.
std::shared_ptr<const view::Image> figure_preview(view::AppState state, const FigureWindow& window);

/// The same to a file whose name says the format, with its caption beside it where it has a fixed width. An unknown format
/// is refused before anything is drawn.
Result<void> export_figure(const view::AppState& state, const std::filesystem::path& path,
                           const FigureWindow& window);

/// A studio that makes such figures.
std::unique_ptr<cli::Studio> open_figure_studio(figures::Format format, const FigureWindow& window);

}  // namespace attn

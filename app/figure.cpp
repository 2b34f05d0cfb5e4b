#include "app/figure.h"

#include <cmath>
#include <optional>

#include "app/common/draw/figure_painters.h"
#include "app/common/draw/null_context.h"
#include "app/common/draw/typeset.h"
#include "app/figures/measure.h"
#include "app/window/draw/window.h"
#include "core/io/file.h"

namespace attn {
namespace {

using figures::Page, view::Point;

constexpr int kFramesToSettle = 3;  // ImGui lays out with the sizes of the frame before
constexpr float kMargin = 16.0F;    // around the canvas, in design units

double scale_in(const view::AppState& state, const FigureWindow& window) {
    return window.device_scale * shown_scale(state, window.size.height / window.device_scale);
}

/// The panels of one state in a context of their own, drawn by whatever painter.
class Stage {
  public:
    Stage(const view::AppState& state, const FigureWindow& window)
        : window_(window),
          theme_(view::theme(state.theme)),
          scale_(static_cast<float>(scale_in(state, window))),
          context_(size(), scale_, theme_) {}

    Point size() const {
        return {static_cast<float>(window_.size.width), static_cast<float>(window_.size.height)};
    }
    float scale() const { return scale_; }
    const view::Theme& theme() const { return theme_; }

    view::Actions draw(const view::AppState& state, view::Painter& painter) {
        view::Actions asked;
        context_.begin_frame();
        {
            ui::TypesettingPainter typeset(painter, ui::kLeastText * scale_);
            ui::WindowClipPainter canvas(typeset);
            ui::SilentPainter silent(typeset);
            view::Painter& around = window_.chrome ? static_cast<view::Painter&>(canvas) : silent;
            const bool still = true;
            ui::draw_window(state, {context_.fonts(), theme_, scale_, canvas, around, still},
                            asked);
        }
        context_.end_frame();
        return asked;
    }

  private:
    FigureWindow window_;
    const view::Theme& theme_;
    float scale_;
    ui::NullContext context_;
};

/// The whole window, or what was drawn on the canvas and a margin.
Page page_of(const Stage& stage, const figures::Measure& measure, bool chrome) {
    const auto& drawn = measure.drawn();
    if (chrome || !drawn) return {{0.0F, 0.0F}, stage.size(), stage.theme().background};
    const float margin = std::round(kMargin * stage.scale());
    return {{std::floor(drawn->low.x) - margin, std::floor(drawn->low.y) - margin},
            {std::ceil(drawn->high.x) + margin, std::ceil(drawn->high.y) + margin},
            stage.theme().background};
}

class FigureStudio : public cli::Studio {
  public:
    FigureStudio(figures::Format format, const FigureWindow& window)
        : format_(format), window_(window) {}

    view::Actions draw(const view::AppState& state) override {
        measure_.forget();
        return stage(state).draw(state, measure_);
    }

    Result<std::string> picture(const view::AppState& state) override {
        const Page page = page_of(stage(state), measure_, window_.chrome);
        const auto figure = figures::make_figure(format_, page, window_.titles);
        stage(state).draw(state, *figure);
        return figure->finish();
    }

  private:
    /// One theme and scale a stage.
    Stage& stage(const view::AppState& state) {
        if (!stage_ || theme_ != state.theme || scale_ != scale_in(state, window_)) {
            stage_.emplace(state, window_);
            theme_ = state.theme;
            scale_ = scale_in(state, window_);
        }
        return *stage_;
    }

    figures::Format format_;
    FigureWindow window_;
    figures::Measure measure_;
    std::optional<Stage> stage_;
    view::ThemeName theme_{};
    double scale_ = 0.0;
};

}  // namespace

Result<std::string> draw_figure(const view::AppState& state, figures::Format format,
                                const FigureWindow& window) {
    FigureStudio studio(format, window);
    for (int frame = 0; frame < kFramesToSettle; ++frame) studio.draw(state);
    return studio.picture(state);
}

Result<void> export_figure(const view::AppState& state, const std::filesystem::path& path,
                           const FigureWindow& window) {
    return figures::format_of(path)
        .and_then([&](figures::Format format) { return draw_figure(state, format, window); })
        .and_then([&](const std::string& bytes) { return write_file_atomically(path, bytes); });
}

std::unique_ptr<cli::Studio> open_figure_studio(figures::Format format,
                                                const FigureWindow& window) {
    return std::make_unique<FigureStudio>(format, window);
}

}  // namespace attn

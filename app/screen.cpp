#include "app/screen.h"

#include "app/common/draw/style.h"
#include "app/common/draw/typeset.h"
#include "app/common/state.h"
#include "app/platform/spoken.h"
#include "app/window/draw/window.h"

namespace attn {

double default_scale(int height, double device_scale) {
    constexpr double kUsualHeight = 1000.0;
    constexpr double kSteps = 10.0;
    const double wanted = height / device_scale / kUsualHeight;
    return std::clamp(std::floor(wanted * kSteps + 0.5) / kSteps, 1.0, 2.0);
}

Screen::Screen(gl::ImguiRenderer& renderer, const ui::BuiltFonts& built)
    : renderer_(renderer), texture_([this](const view::Picture& picture, bool smooth) {
          return texture_of(picture, smooth);
      }) {
    ui::configure_imgui();
    if (!built.atlas) return;
    fonts_ = built.fonts;
    scale_ = static_cast<double>(built.scale);
}

void Screen::prepare(const view::AppState& state, int height, double device_scale) {
    const auto scale = static_cast<double>(
        static_cast<float>(device_scale * shown_scale(state, height / device_scale)));
    const bool rescaled = scale != scale_;
    if (rescaled) {
        fonts_ = ui::load_fonts(static_cast<float>(scale));
        renderer_.fonts_changed();
        scale_ = scale;
    }
    if (rescaled || theme_ != state.theme) {
        ui::apply_style(view::theme(state.theme), static_cast<float>(scale));
        theme_ = state.theme;
    }
}

view::Actions Screen::build(const view::AppState& state) {
    view::Actions actions;
    ImGui::NewFrame();
    const auto scale = static_cast<float>(scale_);
    ui::TypesettingPainter typeset(painter_, ui::kLeastScript * scale);
    const Spoken spoken(typeset);
    ui::draw_window(
        state, {fonts_, view::theme(state.theme), scale, spoken.painter, spoken.painter}, actions);
    return actions;
}

std::uint64_t Screen::texture_of(const view::Picture& picture, bool smooth) {
    if (const std::uint32_t name = textures_.find(picture.key)) return name;
    const view::Image image = picture.paint();
    return textures_.add(picture.key, {image.width, image.height}, image.rgba, smooth);
}

gl::Rgb background(const view::AppState& state) {
    const view::Color color = view::theme(state.theme).background;
    return {color.r, color.g, color.b};
}

}  // namespace attn

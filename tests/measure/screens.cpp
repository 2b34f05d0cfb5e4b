#include "tests/measure/screens.h"
#include "app/fonts/layout.h"

#include <imgui_internal.h>

#include <cfloat>

#include "app/common/draw/imgui_compat.h"
#include "app/common/draw/imgui_painter.h"
#include "app/common/draw/null_context.h"
#include "app/common/draw/style.h"
#include "app/common/draw/typeset.h"
#include "app/gl/imgui_renderer.h"
#include "app/gl/offscreen.h"
#include "app/gl/textures.h"
#include "app/window/draw/window.h"

namespace attn::test {
namespace {

using view::AppState;

constexpr int kLayoutFrames = 4;  // ImGui lays out with the sizes of the frame before
constexpr float kFrameSeconds = 1.0F / 60.0F;

float scale_of(const AppState& state, Index height) {
    return static_cast<float>(view::shown_scale(state, static_cast<double>(height)));
}

/// One frame, noted. Fields draw themselves (`still`), so that all words are in the log.
Log draw(const AppState& state, const ui::Fonts& fonts, const ui::Texture& texture, float scale) {
    ui::ImguiPainter screen(fonts, texture);
    ui::TypesettingPainter typeset(screen, ui::kLeastScript * scale);
    Tracer tracer(typeset);
    view::Actions unused;
    ui::draw_window(state, {fonts, view::theme(state.theme), scale, tracer, tracer, true}, unused);
    return tracer.log();
}

/// The characters of a text that its font draws as another sign.
std::string absent_of(const ui::Fonts& fonts, const TextLine& text) {
    if (const auto* const layout = ui::laid_out(fonts, text.font, text.text))
        return layout->is_complete() ? "" : text.text;
    ImFont& font = ui::loaded(fonts, text.font);
    std::string missing;
    for (const char* at = text.text.data(); *at != '\0';) {
        unsigned int character = 0;
        const int bytes = ImTextCharFromUtf8(&character, at, nullptr);
        if (character == 0xFFFD || !ui::has_glyph(font, character))
            missing.append(at, static_cast<std::size_t>(bytes));
        at += bytes;
    }
    return missing;
}

/// Kept: to load the fonts takes longer than to draw.
ui::NullContext& context_of(const Case& at, float scale) {
    using Key = std::tuple<Index, Index, float, view::ThemeName>;
    static std::map<Key, std::unique_ptr<ui::NullContext>> cached;
    auto& context = cached[{at.width, at.height, scale, at.theme}];
    if (context) return *context;
    context = std::make_unique<ui::NullContext>(
        view::Point{static_cast<float>(at.width), static_cast<float>(at.height)}, scale,
        view::theme(at.theme));
    context->begin_frame();
    ImGui::GetIO().BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;  // many cells, one list
    context->end_frame();
    return *context;
}

class OffscreenCamera : public Camera {
  public:
    explicit OffscreenCamera(std::unique_ptr<gl::Offscreen> target) : target_(std::move(target)) {
        ui::configure_imgui();
    }

    Shot take(const AppState& state) override {
        prepare(state);
        Shot shot;
        for (int n = 0; n < kLayoutFrames; ++n) shot.log = frame(state);
        shot.pixels = target_->read();
        return shot;
    }

  private:
    void prepare(const AppState& state) {
        const auto scale = scale_of(state, target_->size().height);
        if (scale != scale_) {
            fonts_ = ui::load_fonts(scale);
            renderer_.fonts_changed();
            scale_ = scale;
        }
        ui::apply_style(view::theme(state.theme), scale);
    }

    Log frame(const AppState& state) {
        const auto [width, height] = target_->size();
        ImGuiIO& io = ImGui::GetIO();
        io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
        io.DeltaTime = kFrameSeconds;
        renderer_.begin_frame();
        ImGui::NewFrame();
        Log log = draw(state, fonts_, texture_, scale_);
        const view::Color base = view::theme(state.theme).background;
        renderer_.draw(target_->size(), {base.r, base.g, base.b});
        textures_.end_frame();
        return log;
    }

    std::uint64_t texture_of(const view::Picture& picture, bool smooth) {
        if (const std::uint32_t name = textures_.find(picture.key)) return name;
        const view::Image image = picture.paint();
        return textures_.add(picture.key, {image.width, image.height}, image.rgba, smooth);
    }

    std::unique_ptr<gl::Offscreen> target_;  // the context outlives what is drawn with it
    gl::ImguiRenderer renderer_;
    gl::TextureCache textures_;
    ui::Fonts fonts_;
    ui::Texture texture_ = [this](const view::Picture& picture, bool smooth) {
        return texture_of(picture, smooth);
    };
    float scale_ = 0.0F;
};

const ui::Texture kNoTexture = [](const view::Picture&, bool) { return std::uint64_t{1}; };

}  // namespace

Log laid_out(const AppState& state, const Case& at) {
    const float scale = scale_of(state, at.height);
    ui::NullContext& context = context_of(at, scale);
    Log log;
    for (int n = 0; n < kLayoutFrames; ++n) {
        context.begin_frame();
        log = draw(state, context.fonts(), kNoTexture, scale);
        if (n + 1 == kLayoutFrames)
            for (TextLine& text : log.lines) text.missing = absent_of(context.fonts(), text);
        context.end_frame();
    }
    return log;
}

std::optional<Rect> tooltip_at(const AppState& state, const Case& at, view::Point pointer) {
    const float scale = scale_of(state, at.height);
    ui::NullContext& context = context_of(at, scale);
    std::optional<Rect> tip;
    for (int n = 0; n <= kLayoutFrames; ++n) {
        context.begin_frame();
        draw(state, context.fonts(), kNoTexture, scale);
        const bool last = n == kLayoutFrames;
        ImGui::GetIO().MousePos = last ? ImVec2{-FLT_MAX, -FLT_MAX} : ImVec2{pointer.x, pointer.y};
        const ImGuiWindow* const window = ImGui::FindWindowByName("##Tooltip_00");
        if (last && window != nullptr && window->Active && !window->Hidden)
            tip = Rect{window->Rect().Min, window->Rect().Max};
        context.end_frame();
    }
    return tip;
}

view::Color Camera::Shot::at(int x, int y) const {
    x = std::clamp(x, 0, pixels.size.width - 1);
    y = std::clamp(y, 0, pixels.size.height - 1);
    const std::uint8_t* p = &pixels.rgba[4 * static_cast<std::size_t>(y * pixels.size.width + x)];
    return {p[0], p[1], p[2], 255};
}

Result<std::unique_ptr<Camera>> Camera::open(gl::Size size) {
    auto target = gl::Offscreen::open(size);
    if (!target) return tl::unexpected(std::move(target.error()));
    return std::make_unique<OffscreenCamera>(std::move(*target));
}

}  // namespace attn::test

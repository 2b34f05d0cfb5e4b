#include "app/studio.h"

#include "app/cli/cli.h"
#include "app/figure.h"
#include "app/gl/offscreen.h"
#include "app/screen.h"

namespace attn {
namespace {

constexpr float kFrame = 1.0F / 60.0F;

class OffscreenStudio : public cli::Studio {
  public:
    explicit OffscreenStudio(std::unique_ptr<gl::Offscreen> target) : target_(std::move(target)) {}

    view::Actions draw(const view::AppState& state) override {
        const auto [width, height] = target_->size();
        screen_.prepare(state, height, 1.0);
        ImGui::GetIO().DisplaySize = ImVec2(static_cast<float>(width), static_cast<float>(height));
        ImGui::GetIO().DeltaTime = kFrame;
        renderer_.begin_frame();
        view::Actions asked = screen_.build(state);
        renderer_.draw(target_->size(), background(state));
        screen_.end_frame();
        gl::finish();
        return asked;
    }

    Result<std::string> picture(const view::AppState&) override {
        return encode_png(gl::opaque(target_->read()));
    }

  private:
    std::unique_ptr<gl::Offscreen> target_;  // the context outlives what is drawn with it
    gl::ImguiRenderer renderer_;
    Screen screen_{renderer_};
};

}  // namespace

Result<std::unique_ptr<cli::Studio>> open_studio(const cli::StudioJob& job) {
    if (!job.chrome || job.format != figures::Format::png)
        return open_figure_studio(job.format,
                                  {.size = job.size, .chrome = job.chrome, .titles = job.titles});
    auto target = gl::Offscreen::open(job.size);
    if (!target) return tl::unexpected(std::move(target.error()));
    return std::make_unique<OffscreenStudio>(std::move(*target));
}

}  // namespace attn

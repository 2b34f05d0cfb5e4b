#pragma once

#include "app/common/draw/fonts.h"
#include "app/common/theme.h"

struct ImGuiContext;

namespace attn::ui {

/// An ImGui context of its own without window, renderer or hands, in which panels lay themselves out.
/// It is ImGui's current one between begin_frame() and end_frame() only: what was current before is
/// current again afterwards.
class NullContext {
  public:
    NullContext(view::Point size, float scale, const view::Theme& theme);
    ~NullContext();
    NullContext(const NullContext&) = delete;
    NullContext& operator=(const NullContext&) = delete;

    void begin_frame();
    void end_frame();
    const Fonts& fonts() const { return fonts_; }

  private:
    ImGuiContext* context_;
    ImGuiContext* former_ = nullptr;
    Fonts fonts_;
};

}  // namespace attn::ui

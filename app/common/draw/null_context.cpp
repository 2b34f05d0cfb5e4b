#include "app/common/draw/null_context.h"

#include <imgui.h>

#include "app/common/draw/imgui_compat.h"
#include "app/common/draw/style.h"

namespace attn::ui {

NullContext::NullContext(view::Point size, float scale, const view::Theme& theme) {
    ImGuiContext* const former = ImGui::GetCurrentContext();
    context_ = ImGui::CreateContext();
    ImGui::SetCurrentContext(context_);
    configure_imgui();
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {size.x, size.y};
    io.DeltaTime = 1.0F / 60.0F;
    pretend_renderer();
    fonts_ = load_fonts(scale);
    pretend_fonts();
    apply_style(theme, scale);
    ImGui::SetCurrentContext(former);
}

NullContext::~NullContext() {
    ImGuiContext* const former = ImGui::GetCurrentContext();
    ImGui::SetCurrentContext(context_);
    ImGui::DestroyContext(context_);
    ImGui::SetCurrentContext(former == context_ ? nullptr : former);
}

void NullContext::begin_frame() {
    former_ = ImGui::GetCurrentContext();
    ImGui::SetCurrentContext(context_);
    ImGui::NewFrame();
}

void NullContext::end_frame() {
    ImGui::Render();
    pretend_textures();
    ImGui::SetCurrentContext(former_);
}

}  // namespace attn::ui

#include "app/gl/imgui_renderer.h"

#include <backends/imgui_impl_opengl3.h>
#include <epoxy/gl.h>
#include <imgui.h>

#include "app/gl/system.h"
#include "core/check.h"

namespace attn::gl {

ImguiRenderer::ImguiRenderer(std::shared_ptr<ImFontAtlas> atlas) : atlas_(std::move(atlas)) {
    keep_gl_loaded();
    ImGui::CreateContext(atlas_.get());
    ImGui::GetIO().IniFilename = nullptr;
    const bool ready = ImGui_ImplOpenGL3_Init("#version 330 core");
    ATTN_CHECK(ready, "Dear ImGui's OpenGL backend runs on every OpenGL 3.3 context");
}

ImguiRenderer::~ImguiRenderer() {
    ImGui_ImplOpenGL3_Shutdown();
    ImGui::DestroyContext();
}

void ImguiRenderer::fonts_changed() {
#if IMGUI_VERSION_NUM < 19200  // later ones upload glyphs as they are used
    ImGui_ImplOpenGL3_DestroyFontsTexture();
#endif
}

void ImguiRenderer::begin_frame() {
#if IMGUI_VERSION_NUM < 19200
    if (ImGui::GetIO().Fonts->TexID == nullptr) {
        ImGui_ImplOpenGL3_NewFrame();  // makes the shaders, and the font texture with them
        if (ImGui::GetIO().Fonts->TexID == nullptr) ImGui_ImplOpenGL3_CreateFontsTexture();
        return;
    }
#endif
    ImGui_ImplOpenGL3_NewFrame();
}

void ImguiRenderer::draw(Size size, Rgb background) {
    ImGui::Render();
    glViewport(0, 0, size.width, size.height);
    glDisable(GL_SCISSOR_TEST);
    const auto [red, green, blue] = background;
    glClearColor(static_cast<float>(red) / 255.0F, static_cast<float>(green) / 255.0F,
                 static_cast<float>(blue) / 255.0F, 1.0F);
    glClear(GL_COLOR_BUFFER_BIT);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

}  // namespace attn::gl

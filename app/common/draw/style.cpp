#include "app/common/draw/style.h"

#include "app/common/draw/draw.h"
#include "app/common/draw/imgui_compat.h"
#include "app/common/draw/null_context.h"

namespace attn::ui {
namespace {

void apply_sizes(ImGuiStyle& style, float scale) {
    const float unit = 8.0F * scale;
    style.WindowPadding = {unit * 2, unit * 2};
    style.FramePadding = {unit, unit * 0.75F};
    style.ItemSpacing = {unit, unit};
    style.ItemInnerSpacing = {unit, unit};
    style.CellPadding = {unit, unit * 0.25F};
    style.ScrollbarSize = unit * 1.25F;
    style.GrabMinSize = unit;
    style.WindowRounding = unit * 0.5F;
    style.ChildRounding = 0.0F;
    style.FrameRounding = unit * 0.5F;
    style.PopupRounding = unit * 0.5F;
    style.ScrollbarRounding = unit;
    style.GrabRounding = unit * 0.375F;
    style.WindowBorderSize = 0.0F;
    style.ChildBorderSize = 0.0F;
    style.PopupBorderSize = scale;
    style.FrameBorderSize = scale;
    style.DisplaySafeAreaPadding = {unit, unit};
}

void apply_colors(ImGuiStyle& style, const Theme& t) {
    ImVec4* const c = style.Colors;
    c[ImGuiCol_Text] = to_vec4(t.text);
    c[ImGuiCol_TextDisabled] = to_vec4(t.muted);
    c[ImGuiCol_WindowBg] = to_vec4(t.surface);
    c[ImGuiCol_ChildBg] = {0, 0, 0, 0};
    c[ImGuiCol_PopupBg] = to_vec4(t.raised);
    c[ImGuiCol_Border] = to_vec4(t.control);
    c[ImGuiCol_FrameBg] = to_vec4(t.raised);
    c[ImGuiCol_FrameBgHovered] = to_vec4(view::blend(t.raised, t.line, 0.5));
    c[ImGuiCol_FrameBgActive] = to_vec4(t.line);
    c[ImGuiCol_Button] = to_vec4(t.raised);
    c[ImGuiCol_ButtonHovered] = to_vec4(t.line);
    c[ImGuiCol_ButtonActive] = to_vec4(view::blend(t.line, t.accent, 0.4));
    c[ImGuiCol_Header] = to_vec4(t.line);
    c[ImGuiCol_HeaderHovered] = to_vec4(t.line);
    c[ImGuiCol_HeaderActive] = to_vec4(view::blend(t.line, t.accent, 0.4));
    c[ImGuiCol_SliderGrab] = to_vec4(t.muted);
    c[ImGuiCol_SliderGrabActive] = to_vec4(t.accent);
    c[ImGuiCol_CheckMark] = to_vec4(t.accent);
    c[ImGuiCol_ScrollbarBg] = {0, 0, 0, 0};
    c[ImGuiCol_ScrollbarGrab] = to_vec4(t.control);
    c[ImGuiCol_ScrollbarGrabHovered] = to_vec4(t.muted);
    c[ImGuiCol_ScrollbarGrabActive] = to_vec4(t.accent);
    c[ImGuiCol_TextSelectedBg] = to_vec4(view::blend(t.raised, t.accent, 0.35));
    c[ImGuiCol_NavHighlight] = to_vec4(t.accent);
}

}  // namespace

void configure_imgui() {
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.LogFilename = nullptr;
    io.ConfigInputTextCursorBlink = false;
}

void apply_style(const Theme& theme, float scale) {
    ImGuiStyle& style = ImGui::GetStyle();
    style = ImGuiStyle();
    apply_sizes(style, scale);
    apply_colors(style, theme);
}

NullContext::NullContext(Point size, float scale, const Theme& theme) {
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

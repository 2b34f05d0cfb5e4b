#include "tests/ui/null_ui.h"

#include "app/common/draw/style.h"

namespace attn::test {
namespace {

constexpr view::ThemeName kTheme = view::ThemeName::dark;

void append(view::Actions& to, view::Actions from) {
    for (view::Action& action : from) to.push_back(std::move(action));
}

}  // namespace

NullUi::NullUi(ImVec2 size, float scale)
    : context_(ImGui::CreateContext()),
      texture_([this](const view::Picture& picture, bool) {
          if (painted_.insert(picture.key).second) picture.paint();
          return std::uint64_t{1};
      }),
      frame_{fonts_, view::theme(kTheme), scale, painter_, painter_} {
    ui::configure_imgui();
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = size;
    io.DeltaTime = 1.0F / 60.0F;
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    ui::pretend_renderer();
    fonts_ = ui::load_fonts(scale);
    ui::pretend_fonts();
    ui::apply_style(view::theme(kTheme), scale);
}

NullUi::~NullUi() { ImGui::DestroyContext(context_); }

void NullUi::show_in_window(Draw draw) {
    draw_ = [draw = std::move(draw)](const ui::Frame& frame, view::Actions& out) {
        ImGui::SetNextWindowPos({0.0F, 0.0F});
        ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
        ImGui::Begin("test", nullptr, ImGuiWindowFlags_NoDecoration);
        draw(frame, out);
        ui::close_placing();
        ImGui::End();
    };
}

view::Actions NullUi::frame() {
    view::Actions out;
    ImGui::NewFrame();
    draw_(frame_, out);
    ImGui::Render();
    ui::pretend_textures();
    return out;
}

view::Actions NullUi::frames(int count) {
    view::Actions out;
    for (int n = 0; n < count; ++n) append(out, frame());
    return out;
}

view::Actions NullUi::move_to(ImVec2 at) {
    set_mouse(at);
    return frames(2);
}

view::Actions NullUi::click(ImVec2 at) {
    view::Actions out = move_to(at);
    set_button(true);
    append(out, frames(2));
    set_button(false);
    append(out, frames(2));
    return out;
}

view::Actions NullUi::hold(bool down) {
    set_button(down);
    return frames(3);
}

view::Actions NullUi::double_click(ImVec2 at) {
    view::Actions out = click(at);
    append(out, click(at));
    return out;
}

view::Actions NullUi::drag(ImVec2 from, ImVec2 to) {
    view::Actions out = move_to(from);
    set_button(true);
    append(out, frames(2));
    constexpr int kSteps = 4;
    for (int n = 1; n <= kSteps; ++n) {
        const float t = static_cast<float>(n) / kSteps;
        append(out, move_to({from.x + (to.x - from.x) * t, from.y + (to.y - from.y) * t}));
    }
    set_button(false);
    append(out, frames(2));
    return out;
}

view::Actions NullUi::wheel(float notches) {
    set_wheel(notches);
    return frames(2);
}

view::Actions NullUi::press(view::Key key, bool ctrl, bool shift) {
    set_modifiers(ctrl, shift);
    view::Actions out = frame();
    set_key(key, true);
    append(out, frame());
    set_key(key, false);
    append(out, frame());
    set_modifiers(false, false);
    append(out, frame());
    return out;
}

view::Actions NullUi::type(const std::string& text) {
    view::Actions out;
    for (const char letter : text) {
        ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(letter));
        append(out, frames(2));
    }
    return out;
}

view::Actions NullUi::press_and_type(view::Key key, const std::string& text) {
    set_key(key, true);
    for (const char letter : text)
        ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(letter));
    view::Actions out = frame();
    set_key(key, false);
    append(out, frame());
    return out;
}

#if IMGUI_VERSION_NUM < 18700
void NullUi::set_mouse(ImVec2 at) { ImGui::GetIO().MousePos = at; }
void NullUi::set_button(bool down) { ImGui::GetIO().MouseDown[0] = down; }
void NullUi::set_wheel(float notches) { ImGui::GetIO().MouseWheel = notches; }
void NullUi::set_key(view::Key key, bool down) {
    ImGuiIO& io = ImGui::GetIO();
    using view::Key;
    // As the GLFW backend of that version does: without them the toolkit does not know its own keys.
    for (const auto& [imgui, ours] : {std::pair{ImGuiKey_Enter, Key::enter},
                                      {ImGuiKey_Escape, Key::escape},
                                      {ImGuiKey_Backspace, Key::backspace},
                                      {ImGuiKey_Delete, Key::del},
                                      {ImGuiKey_LeftArrow, Key::left},
                                      {ImGuiKey_RightArrow, Key::right},
                                      {ImGuiKey_UpArrow, Key::up},
                                      {ImGuiKey_DownArrow, Key::down},
                                      {ImGuiKey_PageUp, Key::page_up},
                                      {ImGuiKey_PageDown, Key::page_down},
                                      {ImGuiKey_Home, Key::home},
                                      {ImGuiKey_End, Key::end},
                                      {ImGuiKey_Space, Key::space},
                                      {ImGuiKey_Tab, Key::tab},
                                      {ImGuiKey_A, Key::a},
                                      {ImGuiKey_C, Key::c},
                                      {ImGuiKey_V, Key::v},
                                      {ImGuiKey_X, Key::x},
                                      {ImGuiKey_Y, Key::y},
                                      {ImGuiKey_Z, Key::z}})
        io.KeyMap[imgui] = ui::native_key(ours);
    io.KeysDown[ui::native_key(key)] = down;
}
void NullUi::set_modifiers(bool ctrl, bool shift) {
    ImGui::GetIO().KeyCtrl = ctrl;
    ImGui::GetIO().KeyShift = shift;
}
#else
void NullUi::set_mouse(ImVec2 at) { ImGui::GetIO().AddMousePosEvent(at.x, at.y); }
void NullUi::set_button(bool down) { ImGui::GetIO().AddMouseButtonEvent(0, down); }
void NullUi::set_wheel(float notches) { ImGui::GetIO().AddMouseWheelEvent(0.0F, notches); }
void NullUi::set_key(view::Key key, bool down) {
    ImGui::GetIO().AddKeyEvent(static_cast<ImGuiKey>(ui::native_key(key)), down);
}
void NullUi::set_modifiers(bool ctrl, bool shift) {
    ImGui::GetIO().AddKeyEvent(ImGuiMod_Ctrl, ctrl);
    ImGui::GetIO().AddKeyEvent(ImGuiMod_Shift, shift);
}
#endif

}  // namespace attn::test

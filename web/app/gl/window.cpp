#include "app/gl/window.h"

#include <emscripten.h>
#include <emscripten/html5.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "core/shape.h"

// The window is the page's canvas; page.js makes it as large as the page.

namespace attn::gl {
namespace {

EMSCRIPTEN_WEBGL_CONTEXT_HANDLE make_context() {
    EmscriptenWebGLContextAttributes wanted;
    emscripten_webgl_init_context_attributes(&wanted);
    wanted.majorVersion = 2;
    wanted.alpha = false;
    wanted.depth = false;
    wanted.antialias = false;
    wanted.preserveDrawingBuffer = true;  // a frame is drawn only when something changed
    return emscripten_webgl_create_context("#canvas", &wanted);
}

}  // namespace

EM_JS(double, attn_page_scale, (), { return Module.attnScale(); });
EM_JS(int, attn_canvas_width, (), { return Module.canvas.width; });
EM_JS(int, attn_canvas_height, (), { return Module.canvas.height; });
EM_JS(void, attn_cursor, (int shape), { Module.attnCursor(shape); });
EM_JS(void, attn_copy, (const char* text), { Module.attnCopy(UTF8ToString(text)); });
EM_JS(char*, attn_pasted, (), { return stringToNewUTF8(Module.attnPasted || ""); });

namespace {

void connect_clipboard() {
    ImGuiPlatformIO& platform = ImGui::GetPlatformIO();
    platform.Platform_SetClipboardTextFn = [](ImGuiContext*, const char* text) { attn_copy(text); };
    platform.Platform_GetClipboardTextFn = [](ImGuiContext*) -> const char* {
        static std::string text;
        char* const pasted = attn_pasted();
        text = pasted;
        std::free(pasted);
        return text.c_str();
    };
}

}  // namespace

Result<std::unique_ptr<Window>> Window::open(const WindowOptions&) {
    const auto context = make_context();
    if (context <= 0 || emscripten_webgl_make_context_current(context) != EMSCRIPTEN_RESULT_SUCCESS)
        return failed(
            "the page needs WebGL 2, which this browser does not have or has switched off");
    std::unique_ptr<Window> self(new Window);
    self->imgui_ = std::make_unique<ImguiRenderer>();
    self->events_ = std::make_unique<WindowEvents>();
    ImGui::GetIO().BackendFlags |= ImGuiBackendFlags_HasMouseCursors;
    connect_clipboard();
    return self;
}

Window::~Window() = default;

double Window::content_scale() const {
    return std::max(1.0, std::round(attn_page_scale() * 4.0) / 4.0);
}

Size Window::size() const { return {attn_canvas_width(), attn_canvas_height()}; }

bool Window::take_close() { return false; }
void Window::wait_events(double) {}
void Window::wake() {
    MAIN_THREAD_ASYNC_EM_ASM({ Module.attnWake(); });
}

void Window::begin_frame() {
    imgui_->begin_frame();
    ImGuiIO& io = ImGui::GetIO();
    const Size now = size();
    io.DisplaySize = {static_cast<float>(now.width), static_cast<float>(now.height)};
    static double last = 0.0;
    const double time = emscripten_get_now() / 1000.0;
    io.DeltaTime = static_cast<float>(std::clamp(time - last, 1e-4, 1.0));
    last = time;
}

void Window::draw(Rgb background) {
    attn_cursor(ImGui::GetMouseCursor());
    imgui_->draw(size(), background);
}

Pixels Window::read() const { return read_pixels(size()); }

void Window::swap() {}

}  // namespace attn::gl

#include <windows.h>
// after windows.h
#include <GL/gl.h>
#include <GL/wglext.h>
#include <fmt/format.h>

#include <array>

#include "app/gl/offscreen.h"

// WGL makes a context only for a window: one that is never shown.

namespace attn::gl {
namespace {

constexpr const wchar_t* kClass = L"attnscope offscreen";

Failure no_opengl(const std::string& why) {
    return failed(fmt::format(
        "drawing without a window needs OpenGL 3.3 or later, but {}; install a graphics driver",
        why));
}

HWND make_window() {
    static const ATOM registered = [] {
        WNDCLASSW one{};
        one.style = CS_OWNDC;
        one.lpfnWndProc = ::DefWindowProcW;
        one.hInstance = ::GetModuleHandleW(nullptr);
        one.lpszClassName = kClass;
        return ::RegisterClassW(&one);
    }();
    if (registered == 0) return nullptr;
    return ::CreateWindowExW(0, kClass, L"", WS_POPUP, 0, 0, 1, 1, nullptr, nullptr,
                             ::GetModuleHandleW(nullptr), nullptr);
}

bool set_pixel_format(HDC canvas) {
    PIXELFORMATDESCRIPTOR wanted{};
    wanted.nSize = sizeof(wanted);
    wanted.nVersion = 1;
    wanted.dwFlags = PFD_DRAW_TO_WINDOW | PFD_SUPPORT_OPENGL;
    wanted.iPixelType = PFD_TYPE_RGBA;
    wanted.cColorBits = 32;
    const int format = ::ChoosePixelFormat(canvas, &wanted);
    return format != 0 && ::SetPixelFormat(canvas, format, &wanted);
}

/// Of a version that only an extension makes, which the first context, of any version, has.
HGLRC create_context(HDC canvas, PFNWGLCREATECONTEXTATTRIBSARBPROC create, int major, int minor) {
    const std::array attributes{WGL_CONTEXT_MAJOR_VERSION_ARB,
                                major,
                                WGL_CONTEXT_MINOR_VERSION_ARB,
                                minor,
                                WGL_CONTEXT_PROFILE_MASK_ARB,
                                static_cast<int>(WGL_CONTEXT_CORE_PROFILE_BIT_ARB),
                                0};
    return create(canvas, nullptr, attributes.data());
}

Result<HGLRC> open_context(HDC canvas) {
    if (!set_pixel_format(canvas)) return no_opengl("no pixel format is drawn by OpenGL");
    const HGLRC first = ::wglCreateContext(canvas);
    if (first == nullptr || !::wglMakeCurrent(canvas, first))
        return no_opengl("it makes no context");
    const auto create = reinterpret_cast<PFNWGLCREATECONTEXTATTRIBSARBPROC>(
        reinterpret_cast<void*>(::wglGetProcAddress("wglCreateContextAttribsARB")));
    HGLRC context = nullptr;
    if (create != nullptr) context = create_context(canvas, create, 4, 3);
    if (create != nullptr && context == nullptr) context = create_context(canvas, create, 3, 3);
    const auto* const version = reinterpret_cast<const char*>(::glGetString(GL_VERSION));
    const std::string found = version == nullptr ? "it has no version" : version;
    ::wglMakeCurrent(nullptr, nullptr);
    ::wglDeleteContext(first);
    if (context == nullptr) return no_opengl(fmt::format("OpenGL here is {}", found));
    if (::wglMakeCurrent(canvas, context)) return context;
    ::wglDeleteContext(context);
    return no_opengl("its context cannot be used");
}

}  // namespace

Result<std::unique_ptr<Offscreen>> Offscreen::open(Size size, Renderer) {
    const HWND window = make_window();
    if (window == nullptr) return no_opengl("there is no desktop to make a window on");
    return open_on(window, size);
}

Result<std::unique_ptr<Offscreen>> Offscreen::open_on(void* display, Size size) {
    const auto window = static_cast<HWND>(display);
    auto context = open_context(::GetDC(window));
    if (!context) {
        ::DestroyWindow(window);
        return tl::unexpected(std::move(context.error()));
    }
    std::unique_ptr<Offscreen> offscreen(new Offscreen(window, *context));
    if (auto made = offscreen->make_framebuffer(size); !made)
        return tl::unexpected(std::move(made.error()));
    return offscreen;
}

Offscreen::~Offscreen() {
    // The context's objects go with it.
    ::wglMakeCurrent(nullptr, nullptr);
    ::wglDeleteContext(static_cast<HGLRC>(context_));
    ::DestroyWindow(static_cast<HWND>(display_));
}

}  // namespace attn::gl

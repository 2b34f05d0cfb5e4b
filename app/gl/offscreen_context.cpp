#include "app/gl/offscreen.h"

#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <fmt/format.h>

namespace attn::gl {
namespace {

bool client_offers(const char* extension) {
    return epoxy_has_egl_extension(EGL_NO_DISPLAY, extension);
}

/// The devices that EGL can open, graphics cards before software.
std::vector<EGLDeviceEXT> devices() {
    if (!client_offers("EGL_EXT_platform_device")) return {};
    std::vector<EGLDeviceEXT> found(16);
    EGLint count = 0;
    if (!eglQueryDevicesEXT(static_cast<EGLint>(found.size()), found.data(), &count)) count = 0;
    found.resize(count);
    std::stable_partition(found.begin(), found.end(), [](EGLDeviceEXT device) {
        const char* const extensions = eglQueryDeviceStringEXT(device, EGL_EXTENSIONS);
        return extensions == nullptr ||
               std::string_view(extensions).find("EGL_MESA_device_software") ==
                   std::string_view::npos;
    });
    return found;
}

/// Displays that need no server, in the order to try them: Mesa's surfaceless platform and EGL's devices.
std::vector<EGLDisplay> displays(Renderer renderer) {
    std::vector<EGLDisplay> all;
    if (!client_offers("EGL_EXT_platform_base")) return all;
    for (const EGLDeviceEXT device : devices())
        all.push_back(eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, device, nullptr));
    if (client_offers("EGL_MESA_platform_surfaceless"))
        all.insert(
            renderer == Renderer::any ? all.begin() : all.end(),
            eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr));
    std::erase(all, EGL_NO_DISPLAY);
    return all;
}

/// Reports a reset of the graphics card, where EGL can, which check_gl() in compute_device.cpp reads.
EGLContext create_context(EGLDisplay display, int major, int minor) {
    std::array attributes{EGL_CONTEXT_MAJOR_VERSION,
                          major,
                          EGL_CONTEXT_MINOR_VERSION,
                          minor,
                          EGL_CONTEXT_OPENGL_PROFILE_MASK,
                          EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                          EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_KHR,
                          EGL_LOSE_CONTEXT_ON_RESET_KHR,
                          EGL_NONE};
    const EGLContext context =
        eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes.data());
    if (context != EGL_NO_CONTEXT) return context;
    attributes[6] = EGL_NONE;
    return eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes.data());
}

Failure no_opengl(const char* what) {
    return failed(
        fmt::format("drawing without a window needs EGL with OpenGL 3.3 or later, but {} (EGL "
                    "error {:#06x}); on Debian, install libegl1 and libgl1-mesa-dri",
                    what, eglGetError()));
}

}  // namespace

Result<std::unique_ptr<Offscreen>> Offscreen::open(Size size, Renderer renderer) {
    if (!epoxy_has_egl())
        return failed(
            "drawing without a window needs EGL, but libEGL.so.1 cannot be loaded; on Debian, "
            "install libegl1 and libgl1-mesa-dri");
    Result<std::unique_ptr<Offscreen>> opened = no_opengl("it offers no display without a server");
    for (const EGLDisplay display : displays(renderer))
        if (opened = open_on(display, size); opened || opened.error().kind == ErrorKind::input)
            break;
    return opened;
}

Result<std::unique_ptr<Offscreen>> Offscreen::open_on(void* display, Size size) {
    if (!eglInitialize(display, nullptr, nullptr)) return no_opengl("it does not start");
    eglBindAPI(EGL_OPENGL_API);
    EGLContext context = create_context(display, 4, 3);
    if (context == EGL_NO_CONTEXT) context = create_context(display, 3, 3);
    if (context == EGL_NO_CONTEXT) return no_opengl("it makes no such context");
    std::unique_ptr<Offscreen> offscreen(new Offscreen(display, context));
    if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
        return no_opengl("its context cannot be used");
    if (auto made = offscreen->make_framebuffer(size); !made)
        return tl::unexpected(std::move(made.error()));
    return offscreen;
}

Offscreen::~Offscreen() {
    if (framebuffer_ != 0) glDeleteFramebuffers(1, &framebuffer_);
    if (colors_ != 0) glDeleteTextures(1, &colors_);
    eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    // The display stays: every Offscreen of the process may share it.
    eglDestroyContext(display_, context_);
}

}  // namespace attn::gl

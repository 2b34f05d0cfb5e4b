#include "app/gl/offscreen.h"

#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <fmt/format.h>

#include <array>

namespace attn::gl {
namespace {

/// A display that needs no server: Mesa's surfaceless platform, else the first EGL device.
EGLDisplay find_display() {
    if (!epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_base")) return EGL_NO_DISPLAY;
    EGLDisplay display = EGL_NO_DISPLAY;
    if (epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless"))
        display =
            eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
    if (display != EGL_NO_DISPLAY) return display;
    EGLDeviceEXT device = nullptr;
    EGLint count = 0;
    const bool devices = epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_device") &&
                         eglQueryDevicesEXT(1, &device, &count) && count > 0;
    if (devices) display = eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, device, nullptr);
    return display;
}

EGLContext create_context(EGLDisplay display, int major, int minor) {
    const std::array attributes{EGL_CONTEXT_MAJOR_VERSION,
                                major,
                                EGL_CONTEXT_MINOR_VERSION,
                                minor,
                                EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                EGL_NONE};
    return eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes.data());
}

tl::unexpected<Error> no_opengl(const char* what) {
    return failed(fmt::format(
        "drawing without a window needs EGL with OpenGL 3.3 or later, but {} (EGL error {:#06x}); "
        "on Debian, install libegl1 and libgl1-mesa-dri",
        what, eglGetError()));
}

}  // namespace

Result<std::unique_ptr<Offscreen>> Offscreen::open(Size size) {
    if (!epoxy_has_egl())
        return failed(
            "drawing without a window needs EGL, but libEGL.so.1 cannot be loaded; on Debian, "
            "install libegl1 and libgl1-mesa-dri");
    const EGLDisplay display = find_display();
    if (display == EGL_NO_DISPLAY) return no_opengl("it offers no display without a server");
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

Result<void> Offscreen::make_framebuffer(Size size) {
    GLint most = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &most);
    if (size.width < 1 || size.height < 1 || size.width > most || size.height > most)
        return bad_input(
            fmt::format("a picture of {} x {} pixels was asked for; 1 to {} each way can be drawn",
                        size.width, size.height, most));
    glGenTextures(1, &colors_);
    glBindTexture(GL_TEXTURE_2D, colors_);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, size.width, size.height, 0, GL_RGBA, GL_UNSIGNED_BYTE,
                 nullptr);
    glGenFramebuffers(1, &framebuffer_);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, colors_, 0);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
        return failed(fmt::format("OpenGL has no room for a picture of {} x {} pixels", size.width,
                                  size.height));
    size_ = size;
    return {};
}

Offscreen::~Offscreen() {
    if (framebuffer_ != 0) glDeleteFramebuffers(1, &framebuffer_);
    if (colors_ != 0) glDeleteTextures(1, &colors_);
    eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(display_, context_);
    eglTerminate(display_);
}

Pixels Offscreen::read() const {
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer_);
    return read_pixels(size_);
}

void finish() { glFinish(); }

}  // namespace attn::gl

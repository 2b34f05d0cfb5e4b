#include <OpenGL/OpenGL.h>
#include <epoxy/gl.h>
#include <fmt/format.h>

#include <array>

#include "app/gl/offscreen.h"

// CGL makes a context without a window. It has no OpenGL 4.3, so no compute shaders: 4.1 is the last of macOS.

namespace attn::gl {
namespace {

Failure no_opengl(CGLError code) {
    return failed(
        fmt::format("drawing without a window needs OpenGL 3.3 or later, but macOS answers: {}",
                    ::CGLErrorString(code)));
}

}  // namespace

Result<std::unique_ptr<Offscreen>> Offscreen::open(Size size, Renderer) {
    return open_on(nullptr, size);
}

Result<std::unique_ptr<Offscreen>> Offscreen::open_on(void*, Size size) {
    constexpr std::array kWanted{kCGLPFAOpenGLProfile,
                                 static_cast<CGLPixelFormatAttribute>(kCGLOGLPVersion_GL4_Core),
                                 kCGLPFAColorSize, static_cast<CGLPixelFormatAttribute>(24),
                                 static_cast<CGLPixelFormatAttribute>(0)};
    CGLPixelFormatObj format = nullptr;
    GLint count = 0;
    if (const CGLError code = ::CGLChoosePixelFormat(kWanted.data(), &format, &count);
        code != kCGLNoError)
        return no_opengl(code);
    CGLContextObj context = nullptr;
    CGLError code = ::CGLCreateContext(format, nullptr, &context);
    ::CGLDestroyPixelFormat(format);
    if (code != kCGLNoError) return no_opengl(code);
    std::unique_ptr<Offscreen> offscreen(new Offscreen(nullptr, context));
    if (code = ::CGLSetCurrentContext(context); code != kCGLNoError) return no_opengl(code);
    if (auto made = offscreen->make_framebuffer(size); !made)
        return tl::unexpected(std::move(made.error()));
    return offscreen;
}

Offscreen::~Offscreen() {
    // The context's objects go with it.
    ::CGLSetCurrentContext(nullptr);
    ::CGLDestroyContext(static_cast<CGLContextObj>(context_));
}

}  // namespace attn::gl

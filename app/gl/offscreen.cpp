#include "app/gl/offscreen.h"

#include <epoxy/gl.h>
#include <fmt/format.h>

namespace attn::gl {

Result<void> Offscreen::make_framebuffer(Size size) {
    GLint most = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &most);
    if (size.width < 1 || size.height < 1 || size.width > most || size.height > most)
        return bad_input(fmt::format("the picture is {} x {} pixels; expected 1 to {} each way",
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

Pixels Offscreen::read() const {
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer_);
    return read_pixels(size_);
}

void finish() { glFinish(); }

}  // namespace attn::gl

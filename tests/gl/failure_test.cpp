// What OpenGL does in the middle of a call: epoxy's entry points are variables, so a test can answer in the driver's place.

#include <doctest/doctest.h>
#include <epoxy/gl.h>

#include "core/engine.h"
#include "tests/gl/the_backend.h"
#include "tests/support/inputs.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::test;

namespace {

/// While it lives, an entry point of OpenGL is another function.
template <class Function>
class Instead {
  public:
    Instead(Function*& entry, Function* other) : entry_(entry), driver_(entry) { entry = other; }
    ~Instead() { entry_ = driver_; }
    Instead(const Instead&) = delete;
    Instead& operator=(const Instead&) = delete;

  private:
    Function*& entry_;
    Function* driver_;
};

}  // namespace

TEST_CASE("a reset of the card turns the backend off, says so, and others compute") {
    const gl::ComputeBackend backend;
    REQUIRE(attend(four_tokens(), {}, backend));
    {
        const Instead reset(
            epoxy_glGetGraphicsResetStatus, +[]() -> GLenum { return GL_GUILTY_CONTEXT_RESET; });
        CHECK(must_fail(attend(four_tokens(), {}, backend))
                  .text()
                  .find("the graphics card was reset in ") == 0);
    }
    REQUIRE(backend.unavailable());
    CHECK(backend.unavailable()->find("the graphics card was reset in ") == 0);
    CHECK(attend(four_tokens(), {}, backend).error().text() == *backend.unavailable());
    CHECK(attend(four_tokens(), {}, "staged"));
    CHECK(attend(four_tokens(), {}, the_backend()));  // a context of its own
}

TEST_CASE("a card without room fails that call alone, and names what does not fit") {
    const Instead full(
        epoxy_glGetError, +[]() -> GLenum { return GL_OUT_OF_MEMORY; });
    CHECK(must_fail(attend(four_tokens(), {}, the_backend()))
              .text()
              .find("OpenGL has no room for it") != std::string::npos);
    CHECK(the_backend().unavailable() == std::nullopt);
}

TEST_CASE("after a call that did not fit the next one computes") {
    CHECK(attend(four_tokens(), {}, the_backend()));
}

TEST_CASE("an error of OpenGL turns the backend off with its number") {
    const gl::ComputeBackend backend;
    REQUIRE(backend.unavailable() == std::nullopt);
    {
        const Instead wrong(
            epoxy_glGetError, +[]() -> GLenum { return GL_INVALID_OPERATION; });
        CHECK_FALSE(attend(four_tokens(), {}, backend));
    }
    REQUIRE(backend.unavailable());
    CHECK(backend.unavailable()->find("OpenGL reported error 0x0502") == 0);
}

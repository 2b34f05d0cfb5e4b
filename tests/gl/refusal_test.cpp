// Where the backend cannot run: with ATTN_GL_MUST_FAIL=1, and Mesa told to offer no OpenGL 4.3, or no GLSL 4.30, or EGL
// without a driver.

#include <doctest/doctest.h>

#include <cstdlib>

#include "core/call.h"
#include "core/engine.h"
#include "tests/gl/the_backend.h"
#include "tests/support/inputs.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::test;

TEST_CASE("where it cannot run the backend says why, every call fails so, and others compute") {
    const auto reason = the_backend().unavailable();
    if (!reason) return;  // the tests above ran; or the driver does not listen to Mesa's variables
    if (const char* const wanted = std::getenv("ATTN_GL_REASON"))
        CHECK_MESSAGE(reason->find(wanted) != std::string::npos, *reason);
    const Inputs inputs = four_tokens();
    CHECK(must_fail(attend(inputs, {}, the_backend())).text() == *reason);
    const Backend* const all[] = {find_backend("staged"), &the_backend()};
    const Call call = validate(inputs, {}).value();
    CHECK(must_fail(choose_backend("gl", call, all_stages(), all)).text() ==
          "backend gl cannot run here: " + *reason);
    CHECK(attend(inputs, {}, *choose_backend("auto", call, all_stages(), all).value()));
}

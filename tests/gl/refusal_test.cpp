// Where there is no OpenGL 4.3: run with MESA_GL_VERSION_OVERRIDE=3.3 and ATTN_GL_MUST_FAIL=1.

#include <doctest/doctest.h>

#include <cstdlib>

#include "core/engine.h"
#include "tests/gl/the_backend.h"
#include "tests/support/random.h"

using namespace attn;
using namespace attn::test;

TEST_CASE(
    "without OpenGL 4.3 the backend says so, every call fails with that, and others compute") {
    const auto reason = the_backend().unavailable();
    if (!reason) return;  // the tests above ran; or the driver does not listen to Mesa's variable
    CHECK(reason->find("OpenGL") != std::string::npos);
    Inputs inputs;
    inputs.q = inputs.k = inputs.v = normal_tensor<float>({1, 1, 4, 4}, 1);
    const auto trace = attend(inputs, {}, the_backend());
    REQUIRE(!trace);
    CHECK(trace.error().sentence == *reason);
    const Backend* const all[] = {find_backend("staged"), &the_backend()};
    const Dimensions size = validate(inputs, {}).value();
    const auto chosen = choose_backend("gl", size, all_stages(), all);
    REQUIRE(!chosen);
    CHECK(chosen.error().sentence == "backend gl cannot run here: " + *reason);
    CHECK(attend(inputs, {}, *choose_backend("auto", size, all_stages(), all).value()));
}

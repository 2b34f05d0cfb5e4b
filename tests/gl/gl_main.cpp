// The tests of the gl backend: skipped (77), with the reason, where there is no OpenGL 4.3.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>
#include <iostream>

#include "tests/gl/the_backend.h"

namespace {
const attn::gl::ComputeBackend* running = nullptr;
}

const attn::gl::ComputeBackend& attn::test::the_backend() { return *running; }

int main(int count, char** arguments) {
    constexpr int kSkipped = 77;
    const attn::gl::ComputeBackend backend;
    running = &backend;
    const auto reason = backend.unavailable();
    std::cout << (reason ? "not tested: " + *reason : "on " + backend.renderer()) << std::endl;
    if (reason && std::getenv("ATTN_GL_MUST_FAIL") == nullptr) return kSkipped;
    return doctest::Context(count, arguments).run();
}

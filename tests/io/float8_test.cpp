// All 256 codes of both formats of 8 bits against the tables of the OCP 8-bit Floating Point Specification 1.0.
#include "core/float8.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace attn;

namespace {

// Magnitudes in units of the least: in table 1 every code is one more than the one before it, until the next power of two
// doubles the step.
double in_steps(int code, int fraction_bits, double least) {
    double value = 0.0, step = least;
    for (int n = 1; n <= code; ++n) {
        value += step;
        if ((n >> fraction_bits) > 1 && n % (1 << fraction_bits) == 0) step *= 2.0;
    }
    return value;
}

}  // namespace

TEST_CASE("E4M3: 254 numbers up to 448, two NaN and no infinity") {
    CHECK(from_e4m3(0x01) == 0x1p-9F);    // the least, table 1
    CHECK(from_e4m3(0x07) == 0x1.CP-7F);  // the largest subnormal
    CHECK(from_e4m3(0x08) == 0x1p-6F);    // the least normal
    CHECK(from_e4m3(0x7E) == 448.0F);     // the largest
    CHECK(std::isnan(from_e4m3(0x7F)));
    CHECK(std::isnan(from_e4m3(0xFF)));
    CHECK(std::signbit(from_e4m3(0x80)));
    for (int code = 0; code < 0x7F; ++code) {
        CAPTURE(code);
        const double wanted = in_steps(code, 3, 0x1p-9);
        CHECK(static_cast<double>(from_e4m3(static_cast<std::uint8_t>(code))) == wanted);
        CHECK(static_cast<double>(from_e4m3(static_cast<std::uint8_t>(code | 0x80))) == -wanted);
    }
}

TEST_CASE("E5M2: 248 numbers up to 57344, two infinities and six NaN") {
    CHECK(from_e5m2(0x01) == 0x1p-16F);
    CHECK(from_e5m2(0x03) == 0x1.8p-15F);
    CHECK(from_e5m2(0x04) == 0x1p-14F);
    CHECK(from_e5m2(0x7B) == 57344.0F);
    CHECK(from_e5m2(0x7C) == HUGE_VALF);
    CHECK(from_e5m2(0xFC) == -HUGE_VALF);
    for (const int code : {0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF})
        CHECK(std::isnan(from_e5m2(static_cast<std::uint8_t>(code))));
    for (int code = 0; code < 0x7C; ++code) {
        CAPTURE(code);
        const double wanted = in_steps(code, 2, 0x1p-16);
        CHECK(static_cast<double>(from_e5m2(static_cast<std::uint8_t>(code))) == wanted);
        CHECK(static_cast<double>(from_e5m2(static_cast<std::uint8_t>(code | 0x80))) == -wanted);
    }
}

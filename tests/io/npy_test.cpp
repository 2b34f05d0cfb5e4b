#include "core/io/npy.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tests/io/scratch.h"
#include "tests/support/results.h"

using namespace attn;

namespace {

// A version 1 file with any header text.
std::string npy(const std::string& literal, const std::string& data) {
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(literal.size() & 0xFF);
    bytes += static_cast<char>(literal.size() >> 8);
    return bytes + literal + data;
}

std::string header(const std::string& descr, const std::string& shape,
                   const char* fortran = "False") {
    return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}\n", descr, fortran,
                       shape);
}

std::string complaint(const std::string& bytes) { return sentence_in(parse_npy(bytes, "Q")); }

}  // namespace

TEST_CASE("our own header is read back, 64-byte aligned, for every rank") {
    for (const std::vector<Index>& extents :
         {std::vector<Index>{}, {7}, {2, 3}, {1, 2, 3}, {1, 2, 3, 4}, {1, 1, 1, 123456789}}) {
        const std::string bytes = npy_header(extents);
        CHECK(bytes.size() % 64 == 0);
        CHECK(bytes.back() == '\n');
        const NpyHeader read = must(parse_npy_header(bytes, "Q"));
        CHECK(read.extents == extents);
        CHECK(read.data_offset == bytes.size());
        CHECK(read.type.name == "float32");
    }
}

TEST_CASE("half precision covers zero, subnormal, normal, infinite and NaN") {
    const std::string data("\x00\x80\x01\x00\x00\x3c\xff\x7b\x00\xfc\x00\x7e", 12);
    const NpyArray array = must(parse_npy(npy(header("<f2", "(6,)"), data), "Q"));
    const auto& values = std::get<std::vector<float>>(array.values);
    CHECK(values[0] == 0.0f);
    CHECK(std::signbit(values[0]));
    CHECK(values[1] == 0x1p-24f);
    CHECK(values[2] == 1.0f);
    CHECK(values[3] == 65504.0f);
    CHECK(values[4] == -INFINITY);
    CHECK(std::isnan(values[5]));
}

TEST_CASE("a file that lies about its size is refused before anything is allocated") {
    CHECK(contains(complaint(npy(header("<f4", "(2, 3)"), std::string(20, '\0'))), "promises"));
    CHECK(contains(complaint(npy(header("<f4", "(2, 3)"), std::string(28, '\0'))), "promises"));
    CHECK(
        contains(complaint(npy(header("<f4", "(4294967296, 4294967296)"), "")), "more than 2^63"));
    CHECK(contains(complaint(npy(header("<f8", "(2305843009213693951,)"), "")), "more than 2^63"));
    CHECK(contains(complaint(npy(header("<f4", "(1152921504606846976,)"), "abcd")), "promises"));
    CHECK(contains(complaint(npy(header("<f4", "(99999999999999999999,)"), "")), "damaged"));
    CHECK(contains(complaint(npy(header("<f4", "(-1,)"), "")), "damaged"));
}

TEST_CASE("what is no array of numbers is refused and named") {
    CHECK(contains(complaint(""), "Q is not a .npy array"));
    CHECK(contains(complaint("PK\x03\x04"), "Q is not a .npy array"));
    CHECK(contains(complaint("\x93NUMPY"), "Q is not a .npy array"));
    CHECK(contains(complaint(std::string("\x93NUMPY\x09\x00\x00\x00", 10)), "version 9"));
    CHECK(contains(complaint(std::string("\x93NUMPY\x01\x00\xff\xff", 10)), "cut off"));
    CHECK(contains(complaint(npy("{}", "")), "damaged"));
    CHECK(contains(complaint(npy("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}", "")),
                   "damaged"));
    CHECK(contains(complaint(npy("{'descr': '<f4', 'shape': (1,)}", "")), "damaged"));
    CHECK(contains(complaint(npy(header("|O", "(1,)"), "")), "values of Python"));
    CHECK(contains(complaint(npy(header("<c8", "(1,)"), "12345678")), "dtype '<c8'"));
    CHECK(contains(complaint(npy(header("<f16", "(1,)"), std::string(16, '\0'))), "dtype '<f16'"));
    CHECK(contains(complaint(npy(header("<U1", "()"), "\xff\xff\xff\x7f")), "not a character"));
}

TEST_CASE("texts are read from either kind and byte order, their padding cut off") {
    const auto texts = [](const std::string& bytes) {
        const NpyArray array = must(parse_npy(bytes, "tokens"));
        CHECK(array.dtype == "text");
        return std::get<std::vector<std::string>>(array.values);
    };
    const std::vector<std::string> expected{"c\u00e4t", "", "\U0001F408"};
    const std::string utf32(
        "c\0\0\0\xe4\0\0\0t\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x08\xf4\x01\0\0\0\0\0\0\0\0\0", 36);
    std::string swapped = utf32;
    for (std::size_t at = 0; at < swapped.size(); at += 4)
        std::reverse(swapped.begin() + static_cast<long>(at),
                     swapped.begin() + static_cast<long>(at) + 4);
    CHECK(texts(npy(header("<U3", "(3,)"), utf32)) == expected);
    CHECK(texts(npy(header(">U3", "(3,)"), swapped)) == expected);
    CHECK(texts(npy(header("|S4", "(3,)"),
                    std::string("c\xc3\xa4t\0\0\0\0\xf0\x9f\x90\x88", 12))) == expected);
    CHECK(texts(npy(header("<U1", "(1,)"), std::string("a\0\0\0", 4))) ==
          std::vector<std::string>{"a"});
    CHECK(texts(npy(header("<U1", "(0,)"), "")).empty());
    CHECK(texts(npy(header("<U0", "(2,)"), "")) == std::vector<std::string>{"", ""});
    const NpyArray scalar = must(parse_npy(npy(header("|S2", "()"), "ab"), "options"));
    CHECK(std::get<std::string>(scalar.values) == "ab");
}

TEST_CASE("the first and last characters of one to four bytes of UTF-8 are read") {
    const char32_t characters[] = {1,      0x7F,   0x80,   0x7FF,   0x800,
                                   0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF};
    const std::vector<std::string> expected{"\1",         "\x7f",      "\u0080", "\u07ff",
                                            "\u0800",     "\ud7ff",    "\ue000", "\uffff",
                                            "\U00010000", "\U0010ffff"};
    std::string bytes;
    for (const char32_t c : characters)
        for (const int shift : {0, 8, 16, 24}) bytes += static_cast<char>((c >> shift) & 0xFF);
    const NpyArray array = must(parse_npy(npy(header("<U1", "(10,)"), bytes), "tokens"));
    CHECK(std::get<std::vector<std::string>>(array.values) == expected);
    CHECK(
        contains(complaint(npy(header("<U1", "(1,)"), std::string("\0\0\x11\0", 4))), "U+110000"));
}

TEST_CASE("texts that cannot be tokens are refused") {
    CHECK(contains(complaint(npy(header("<U1", "(2, 1)"), std::string(8, '\0'))),
                   "Q is text of shape [2, 1]; expected"));
    CHECK(contains(complaint(npy(header("<U0", "(4194305,)"), "")),
                   "Q holds 4194305 texts; expected at most 4194304"));
    for (const char* bytes :
         {"\xff", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8"}) {
        CAPTURE(bytes);
        const std::string text(bytes);
        CHECK(contains(complaint(npy(header(fmt::format("|S{}", text.size()), "(1,)"), text)),
                       "not UTF-8"));
    }
    CHECK(contains(complaint(npy(header("<U1", "(2,)"), std::string("a\0\0\0\0\xd8\0\0", 8))),
                   "U+D800"));
}

TEST_CASE("every prefix of a good file is refused") {
    const std::string good = npy(header("<f4", "(2, 3)"), std::string(24, '\1'));
    REQUIRE(complaint(good).empty());
    for (std::size_t size = 0; size < good.size(); ++size)
        CHECK(!complaint(good.substr(0, size)).empty());
}

TEST_CASE("double quotes, Python 2 numbers and missing commas are read as numpy reads them") {
    CHECK(complaint(
              npy("{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (1L, 1L)}", "abcd"))
              .empty());
    CHECK(complaint(npy(header("<f4", "()"), "abcd")).empty());
    CHECK(complaint(npy(header("=f4", "(1, )"), "abcd")).empty());
}

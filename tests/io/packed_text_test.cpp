#include "core/io/packed_text.h"

#include <doctest/doctest.h>

#include <string>

#include "core/rng.h"

using namespace attn;

namespace {

constexpr std::size_t kMost = 1 << 20;

std::string bytes(std::size_t count, std::uint64_t seed) {
    std::string made;
    for (std::size_t n = 0; n < count; ++n) made += static_cast<char>(mix(seed, n) % 256);
    return made;
}

}  // namespace

TEST_CASE("a packed text is itself again, and letters alone") {
    for (std::size_t n = 0; n < 70; ++n)
        for (const std::string& text :
             {bytes(n, 3), std::string(n, 'a'), std::string(100 * n, 'b')}) {
            const std::string packed = packed_text(text);
            CHECK(packed.find_first_not_of(
                      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") ==
                  std::string::npos);
            CHECK(unpacked_text(packed, kMost).value() == text);
        }
    CHECK(packed_text(std::string(3000, 'x')).size() < 60);
    CHECK(packed_text(bytes(30, 1)).size() ==
          47);  // 35 bytes: what deflates to more stands as it is
}

TEST_CASE("spaces and line breaks count for nothing; another sign is named") {
    std::string packed = packed_text("a state that went by mail, in lines of a few letters");
    packed.insert(7, "\r\n  ");
    packed += "\n";
    CHECK(unpacked_text(packed, kMost).value().starts_with("a state"));
    CHECK(unpacked_text("AAAA=", kMost)
              .error()
              .text()
              .starts_with("“=” is not one of its characters"));
    CHECK(unpacked_text("AA√A", kMost).error().text().starts_with("“√” is not one"));
}

TEST_CASE("what is cut or altered anywhere is refused") {
    for (const std::string& text : {std::string(200, 'a') + "b", bytes(60, 5), std::string("{}")}) {
        const std::string packed = packed_text(text);
        for (std::size_t n = 0; n < packed.size(); ++n) {
            CHECK_FALSE(unpacked_text(packed.substr(0, n), kMost));
            std::string other = packed;
            for (const char letter : {'A', 'z', '_'}) {
                if (packed[n] == letter) continue;
                other[n] = letter;
                CHECK_FALSE(unpacked_text(other, kMost));
            }
            CHECK_FALSE(unpacked_text(packed.substr(0, n) + packed.substr(n + 1), kMost));
        }
        CHECK_FALSE(unpacked_text(packed + "A", kMost));
        CHECK_FALSE(unpacked_text(packed + "AAAA", kMost));
    }
    CHECK_FALSE(unpacked_text("", kMost));
    CHECK_FALSE(unpacked_text("AwAAAAAA", kMost));  // a form that nobody writes
}

TEST_CASE("what inflates beyond the limit is refused, and so is what is too long to begin with") {
    const std::string bomb = packed_text(std::string(64 << 20, '0'));
    CHECK(bomb.size() < 100000);
    CHECK(unpacked_text(bomb, kMost).error().text() == "it holds more than 1048576 bytes");
    CHECK(unpacked_text(packed_text(std::string(kMost, '0')), kMost));
    CHECK_FALSE(unpacked_text(packed_text(std::string(kMost + 1, '0')), kMost));
    const auto huge = unpacked_text(std::string(3 * kMost, 'A'), kMost);
    CHECK(huge.error().text() == "it has 3145728 letters, more than 1048576 bytes can need");
}

TEST_CASE("random letters never crash, and are a text by chance alone") {
    constexpr std::string_view kLetters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (std::uint64_t seed = 0; seed < 20000; ++seed) {
        std::string letters(seed % 2 == 0 ? "AQ" : "");  // half of them as what is deflated
        for (std::uint64_t n = 0; n < mix(seed, 9) % 60; ++n)
            letters += kLetters[mix(seed, n) % kLetters.size()];
        CHECK_FALSE(unpacked_text(letters, kMost));
    }
}

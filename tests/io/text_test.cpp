#include "core/text.h"

#include <doctest/doctest.h>

#include <string>

using namespace attn;

TEST_CASE("a code point is read with its bytes") {
    CHECK(first_code_point("").bytes == 0);
    CHECK((first_code_point("a").value == U'a'));
    CHECK((first_code_point("√2").value == U'√'));
    CHECK(first_code_point("√2").bytes == 3);
    CHECK((first_code_point("🐈").value == U'🐈'));
    CHECK(first_code_point("🐈").bytes == 4);
}

TEST_CASE("bytes that are no UTF-8 are replaced one by one") {
    for (const char* wrong : {"\x80", "\xC0", "\xC1", "\xF5", "\xFF"})
        CHECK(valid_utf8(wrong) == "\uFFFD");
    CHECK(valid_utf8("a\xE2\x88") == "a\uFFFD\uFFFD");          // cut short
    CHECK(valid_utf8("\xC0\x80") == "\uFFFD\uFFFD");            // overlong
    CHECK(valid_utf8("\xED\xA0\x80") == "\uFFFD\uFFFD\uFFFD");  // a surrogate
    CHECK(valid_utf8("\xF4\x90\x80\x80") == "\uFFFD\uFFFD\uFFFD\uFFFD");
    CHECK(valid_utf8("Brücke 猫 🐈") == "Brücke 猫 🐈");
}

TEST_CASE("a terminal obeys nothing of a printable text") {
    CHECK(printable("Brücke\t猫 🐈\n") == "Brücke\t猫 🐈\n");
    CHECK(printable("\x1B[2J\x1B]0;title\x07") == "\\x1b[2J\\x1b]0;title\\x07");
    CHECK(printable("a\rb\x7F\b") == "a\\x0db\\x7f\\x08");
    CHECK(printable("\xC2\x9B"
                    "31m") == "\\x9b31m");  // the same as ESC [, in one character
    CHECK(printable("\x9B"
                    "31m") == "\uFFFD31m");
    CHECK(printable("\u202Egnp.exe\u2066") == "\\u202egnp.exe\\u2066");
    CHECK(printable(std::string("\0x", 2)) == "\\x00x");
}

TEST_CASE("a quoted value is bounded, valid and on one line") {
    CHECK(shortened("short") == "short");
    CHECK(shortened("12345", 4) == "1234…");
    CHECK(shortened("1234", 4) == "1234");
    CHECK(shortened("√√√", 2) == "√√…");
    CHECK(shortened("a\nb\x7F\xFF") == "a b \uFFFD");
    CHECK(shortened(std::string(1000000, 'x')).size() == kMostQuoted + 3);
}

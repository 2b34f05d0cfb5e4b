// Files of GGUF: numbers of blocks against a separate reading (goldens/gguf by make_gguf.py), and what counts, lengths and
// offsets of a header may be.
#include "core/io/gguf.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <functional>

#include "attn_tree.h"
#include "core/stopwatch.h"
#include "tests/io/bytes.h"
#include "tests/io/scratch.h"
#include "tests/support/results.h"

using namespace attn;

namespace {

std::filesystem::path golden(const std::string& name) {
    return std::filesystem::path(ATTN_TEST_DATA) / "gguf" / name;
}

using u32 = std::uint32_t;
using u64 = std::uint64_t;

std::string text(std::string_view value) {
    return little<u64>({value.size()}) + std::string(value);
}
std::string key(std::string_view name, u32 kind, const std::string& value) {
    return text(name) + little<u32>({kind}) + value;
}
/// So many arrays and keys, as claimed, and what follows.
std::string file(u64 arrays, u64 keys, const std::string& rest, u32 version = 3) {
    return "GGUF" + little<u32>({version}) + little<u64>({arrays, keys}) + rest;
}
std::string array(std::string_view name, std::initializer_list<u64> extents, u32 type, u64 offset) {
    return text(name) + little<u32>({static_cast<u32>(extents.size())}) + little<u64>(extents) +
           little<u32>({type}) + little<u64>({offset});
}
std::string padded(std::string bytes, std::size_t more) {
    bytes.resize((bytes.size() + 31) / 32 * 32 + more, '\0');
    return bytes;
}
std::string complaint(const std::string& bytes) { return sentence_in(parse_gguf(bytes, "f")); }

std::vector<float> floats(const ArrayFile& file, const std::string& name) {
    return std::get<std::vector<float>>(must(file.read(name)).values);
}

}  // namespace

TEST_CASE("numbers of every type of GGUF are those of a separate reading, to the last bit") {
    const auto file = must(open_gguf(golden("types.gguf")));
    const auto expected = must(open_arrays(golden("types.safetensors")));
    REQUIRE(expected->names().size() == 6);
    for (const std::string& name : expected->names()) {
        CAPTURE(name);
        CHECK(must(file.arrays->about(name)).dtype == name);
        CHECK(must(file.arrays->about(name)).extents == std::vector<Index>{3, 512});
        const auto numbers = floats(*file.arrays, name), wanted = floats(*expected, name);
        REQUIRE(numbers.size() == wanted.size());
        for (std::size_t n = 0; n < numbers.size(); ++n)
            REQUIRE(std::bit_cast<u32>(numbers[n] + 0.0F) == std::bit_cast<u32>(wanted[n] + 0.0F));
        const auto halves = must(file.arrays->read_halves(name));
        REQUIRE(halves.has_value() == (name == "F16" || name == "BF16"));
        for (std::size_t n = 0; halves && n < wanted.size(); ++n)
            REQUIRE(widened(halves->values[n], halves->format) == wanted[n]);
    }
}

TEST_CASE(
    "numbers of every quantised type are those of gguf-py, NaN and infinite scales included") {
    const auto file = must(open_gguf(golden("quantised.gguf")));
    const auto expected = must(open_arrays(golden("quantised.safetensors")));
    REQUIRE(expected->names().size() == 25);
    std::size_t nans = 0;
    for (const std::string& name : expected->names()) {
        CAPTURE(name);
        CHECK(must(file.arrays->about(name)).dtype == name);
        const auto numbers = floats(*file.arrays, name), wanted = floats(*expected, name);
        REQUIRE(numbers.size() == 512);
        for (std::size_t n = 0; n < numbers.size(); ++n) {
            CAPTURE(n);
            if (std::isnan(wanted[n])) ++nans;
            REQUIRE((std::isnan(wanted[n])
                         ? std::isnan(numbers[n])
                         : std::bit_cast<u32>(numbers[n]) == std::bit_cast<u32>(wanted[n])));
        }
        const auto codes = must(must(file.arrays->read_codes(name)));
        CHECK(codes.extents == std::vector<Index>{2, 256});
        CHECK(std::ssize(codes.bytes) == 512 / codes.code->items * codes.code->bytes);
        std::vector<float> row(300);
        const BlockMatrix matrix{codes.code, codes.bytes, 2, 256};
        for (const auto& [first, count] : {std::pair<Index, Index>{0, 256}, {3, 250}, {64, 32}}) {
            widen_row(matrix, 1, first, count, row.data());
            for (Index n = 0; n < count; ++n)
                REQUIRE((std::isnan(row[n]) || row[n] == numbers[256 + first + n]));
        }
    }
    CHECK(nans > 0);
    CHECK_FALSE(must(must(open_gguf(golden("types.gguf"))).arrays->read_codes("F16")));
}

TEST_CASE("an array of a type that is not read is refused by name, with the types that are") {
    const std::string bytes = padded(file(1, 0, array("a", {4}, 26, 0)), 16);
    CHECK(
        sentence_in(must(parse_gguf(bytes, "f")).arrays->read("a")) ==
        "f: a is of I32; expected one of F32, F16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q8_1, Q2_K, Q3_K, "
        "Q4_K, Q5_K, Q6_K, Q8_K, IQ2_XXS, IQ2_XS, IQ3_XXS, IQ1_S, IQ4_NL, IQ3_S, IQ2_S, IQ4_XS, "
        "IQ1_M, BF16, TQ1_0, TQ2_0, MXFP4, NVFP4. llama.cpp's llama-quantize converts a model");
    for (const u32 type : {2,  3,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                           17, 18, 19, 20, 21, 22, 23, 29, 34, 35, 39, 40}) {
        CAPTURE(type);
        CHECK(contains(complaint(file(1, 0, array("a", {31}, type, 0))),
                       " with 31 columns; expected a multiple of "));
        CHECK(contains(complaint(file(1, 0, array("a", {u64{1} << 40}, type, 0))),
                       "but there are 0: it may be cut off"));
    }
}

TEST_CASE("values of every kind are read, a float32 as the shortest decimal") {
    const std::string bytes =
        file(0, 13,
             key("u8", 0, "\xff") + key("i8", 1, "\xff") + key("u16", 2, "\xff\xff") +
                 key("i16", 3, "\xff\xff") + key("u32", 4, little<u32>({4294967295U})) +
                 key("i32", 5, little<std::int32_t>({-7})) + key("f32", 6, little({1e-5F})) +
                 key("yes", 7, "\x01") + key("text", 8, text("a\xC3\xA9\xFF")) +
                 key("list", 9, little<u32>({8}) + little<u64>({2}) + text("x") + text("")) +
                 key("u64", 10, little<u64>({~u64{0}})) +
                 key("i64", 11, little<std::int64_t>({-1})) + key("f64", 12, little({0.1})));
    const auto values = must(parse_gguf_header(bytes, "f")).values;
    CHECK(values == nlohmann::json({{"u8", 255},
                                    {"i8", -1},
                                    {"u16", 65535},
                                    {"i16", -1},
                                    {"u32", 4294967295U},
                                    {"i32", -7},
                                    {"f32", 1e-5},
                                    {"yes", true},
                                    {"text", "a\u00e9\uFFFD"},
                                    {"list", {"x", ""}},
                                    {"u64", ~u64{0}},
                                    {"i64", -1},
                                    {"f64", 0.1}}));
    for (std::size_t length = 0; length < bytes.size(); ++length)
        CHECK_FALSE(parse_gguf_header(bytes.substr(0, length), "f"));
    CHECK(must(parse_gguf_header(file(0, 0, "", 2), "f")).tensors.empty());
}

TEST_CASE("what a header claims and the file does not hold is refused before it is allocated") {
    const Stopwatch watch;
    const u64 most = ~u64{0};
    const std::string one = array("a", {4}, 0, 0);
    for (const auto& [bytes, description] :
         std::initializer_list<std::pair<std::string, std::string>>{
             {"", "f is not a GGUF file; expected \"GGUF\" at its beginning"},
             {"GGUF", "f ends at byte 4, inside its beginning: it may be cut off"},
             {file(0, 0, "", 4), "f is of GGUF version 4; expected 2 or 3"},
             {file(0, 0, "", 0x03000000),
              "f has its bytes in big-endian order; expected little-endian"},
             {file(most, 0, ""), "f claims 18446744073709551615 arrays; at most 65536 are read"},
             {file(0, most, ""), "f claims 18446744073709551615 keys; at most 65536 are read"},
             {file(0, 1, little<u64>({most})),
              "f ends at byte 32, inside its beginning: it may be cut off"},
             {file(0, 1, key("t", 8, little<u64>({most - 7}))),
              "f ends at byte 45, inside the value of 't': it may be cut off"},
             {file(0, 1, key("l", 9, little<u32>({0}) + little<u64>({most}))),
              "f ends at byte 49, inside the value of 'l': it may be cut off"},
             {file(0, 1, key("l", 9, little<u32>({8}) + little<u64>({most / 8 + 1}))),
              "f ends at byte 49, inside the value of 'l': it may be cut off"},
             {file(0, 1, key("l", 9, little<u32>({9}) + little<u64>({1}) + little<u32>({9}))),
              "f has a value of type 9 in 'l'; expected a number, a flag, a text or a list of "
              "them"},
             {file(0, 1, key("l", 13, "")),
              "f has a value of type 13 in 'l'; expected a number, a flag, a text or a list of "
              "them"},
             {file(0, 1,
                   key("l", 9,
                       little<u32>({0}) + little<u64>({(1U << 21) + 1}) +
                           std::string((1U << 21) + 1, 'x'))),
              "f has more than 2097152 values in its lists"},
             {file(0, 2, key("k", 7, "\x01") + key("k", 7, "\x01")), "f has the key 'k' twice"},
             {file(1, 0, text("a") + little<u32>({5})),
              "f has the array a of 5 axes; expected at most 4"},
             {file(1, 0, array("a", {most, most}, 0, 0)),
              "f has the array a with 18446744073709551615 numbers along an axis; expected 1 or "
              "more, and at most 2^60 in all"},
             {file(1, 0, array("a", {u64{1} << 40, u64{1} << 40}, 0, 0)),
              "f has the array a with 1099511627776 numbers along an axis; expected 1 or more, and "
              "at most 2^60 in all"},
             {file(1, 0, array("a", {0}, 0, 0)),
              "f has the array a with 0 numbers along an axis; expected 1 or more, and at most "
              "2^60 in all"},
             {file(1, 0, array("a", {33}, 8, 0)),
              "f has the array a of Q8_0 with 33 columns; expected a multiple of 32"},
             {padded(file(1, 0, array("a", {4}, 0, 8)), 64),
              "f has the array a at byte 8 of the numbers; expected a multiple of 32"},
             {padded(file(1, 0, one), 15),
              "f has the array a at byte 0 of the numbers, 16 bytes, but there are 15: it may be "
              "cut off"},
             {file(1, 0, array("a", {4}, 0, most - 31)),
              "f has the array a at byte 18446744073709551584 of the numbers, 16 bytes, but there "
              "are 0: it may be cut off"},
             {padded(file(2, 0, array("a", {16}, 0, 0) + array("b", {4}, 0, 32)), 96),
              "f has the array b inside a"},
             {padded(file(2, 0, array("b", {64}, 12345, 32) + array("a", {16}, 0, 0)), 96),
              "f has the array b inside a"},
             {padded(file(2, 0, one + array("a", {4}, 0, 32)), 64), "f holds a twice"},
             {padded(file(1, 1, key("general.alignment", 4, little<u32>({0})) + one), 64),
              "f has 'general.alignment' = 0; expected a power of two up to 65536"}}) {
        CHECK(complaint(bytes) == description);
    }
    CHECK(complaint(padded(file(1, 0, one), 16)).empty());
    CHECK(watch.seconds() < 2.0);
}

TEST_CASE("more texts than those that are read are refused") {
    const std::string bytes = file(0, 2,
                                   key("a", 8, text(std::string(1U << 25, 'x'))) +
                                       key("b", 8, text(std::string((1U << 25) + 1, 'x'))));
    CHECK(complaint(bytes) == "f has more than 64 MiB of strings");
}

TEST_CASE("an array of a type that nobody knows is named when it is read") {
    const std::string bytes = padded(file(1, 0, array("a", {4}, 99, 0)), 16);
    CHECK(contains(sentence_in(must(parse_gguf(bytes, "f")).arrays->read("a")),
                   "f: a is of type 99; expected one of F32, F16"));
}

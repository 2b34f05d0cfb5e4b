// Files of safetensors, written here byte by byte, and what each number of their header may be.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <cmath>

#include "core/io/arrays/formats.h"
#include "core/memory.h"
#include "tests/io/bytes.h"
#include "tests/io/scratch.h"
#include "tests/support/results.h"

using namespace attn;

namespace {

Arrays parsed(std::string_view bytes) { return must(parse_safetensors(bytes, "f")); }

std::string complaint(std::string_view header, std::string_view data = {}) {
    const std::string bytes = safetensors(header, data);
    const auto file = parse_safetensors(bytes, "f");
    if (file) return "";
    CHECK(file.error().kind == ErrorKind::input);
    return file.error().text();
}

/// {"a": {"dtype": DTYPE, "shape": SHAPE, "data_offsets": OFFSETS}}
std::string one(std::string_view dtype, std::string_view shape, std::string_view offsets) {
    return fmt::format(R"({{"a":{{"dtype":"{}","shape":{},"data_offsets":{}}}}})", dtype, shape,
                       offsets);
}

NpyArray read_one(std::string_view dtype, std::string_view shape, const std::string& data) {
    const std::string bytes =
        safetensors(one(dtype, shape, fmt::format("[0,{}]", data.size())), data);
    return must(parsed(bytes)->read("a"));
}

template <class T>
std::vector<T> values(std::string_view dtype, std::string_view shape, const std::string& data) {
    return std::get<std::vector<T>>(read_one(dtype, shape, data).values);
}

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

}  // namespace

TEST_CASE("numbers of every dtype are those of the bytes") {
    CHECK(values<double>("F64", "[2]", little({0.1, -1e300})) == Doubles{0.1, -1e300});
    CHECK(values<float>("F32", "[2]", little({1.5F, -0.25F})) == Floats{1.5F, -0.25F});
    CHECK(values<double>("I64", "[2]", little<std::int64_t>({-(1LL << 40), 7})) ==
          Doubles{-1099511627776.0, 7});
    CHECK(values<double>("I32", "[2]", little<std::int32_t>({-2147483647, 5})) ==
          Doubles{-2147483647.0, 5});
    CHECK(values<float>("I16", "[2]", little<std::int16_t>({-32768, 9})) == Floats{-32768, 9});
    CHECK(values<float>("I8", "[2]", little<std::int8_t>({-128, 127})) == Floats{-128, 127});
    CHECK(values<double>("U64", "[1]", little<std::uint64_t>({1ULL << 50})) ==
          Doubles{1125899906842624.0});
    CHECK(values<double>("U32", "[1]", little<std::uint32_t>({4294967295U})) ==
          Doubles{4294967295.0});
    CHECK(values<float>("U16", "[1]", little<std::uint16_t>({65535})) == Floats{65535});
    CHECK(values<std::uint8_t>("U8", "[2]", "\x01\xff") == std::vector<std::uint8_t>{1, 255});
    CHECK(values<std::uint8_t>("BOOL", "[3]", std::string("\x00\x01\x02", 3)) ==
          std::vector<std::uint8_t>{0, 1, 1});
}

TEST_CASE("16-bit floats are read as they are, other numbers are not") {
    const std::string data = little<std::uint16_t>({0x3C00, 0xC000, 0x7C01});
    const auto halves = [&](std::string_view dtype, std::string_view shape) {
        const std::string bytes =
            safetensors(one(dtype, shape, fmt::format("[0,{}]", data.size())), data);
        return must(parsed(bytes)->read_halves("a"));
    };
    const auto brain = must(halves("BF16", "[3,1]"));
    CHECK(brain.format == HalfFormat::bfloat16);
    CHECK(brain.extents == std::vector<Index>{3, 1});
    CHECK(brain.values == std::vector<std::uint16_t>{0x3C00, 0xC000, 0x7C01});
    REQUIRE(halves("F16", "[3]"));
    CHECK(halves("F16", "[3]")->format == HalfFormat::float16);
    CHECK_FALSE(halves("I16", "[3]"));
    CHECK_FALSE(halves("U8", "[6]"));
    const std::string bytes = safetensors(one("F16", "[3]", "[0,6]"), data);
    CHECK(must_fail(parsed(bytes)->read_halves("b")).text() == "f: b is not there");
}

TEST_CASE("halves are exact, down to the smallest and up to infinity") {
    const std::string halves = little<std::uint16_t>(
        {0x0001, 0x03FF, 0x0400, 0x3C00, 0xC000, 0x7BFF, 0x7C00, 0xFC00, 0x8000, 0x7E00});
    const Floats read = values<float>("F16", "[10]", halves);
    const Floats wanted{0x1p-24F, 0x1.ff8p-15F, 0x1p-14F,  1.0F, -2.0F,
                        65504.0F, INFINITY,     -INFINITY, -0.0F};
    for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(read[i] == wanted[i]);
    CHECK(std::signbit(read[8]));
    CHECK(std::isnan(read[9]));
}

TEST_CASE("bfloat16 is the upper half of a float") {
    const std::string halves = little<std::uint16_t>(
        {0x3F80, 0xC0A0, 0x3DCD, 0x0001, 0x7F7F, 0x7F80, 0xFF80, 0x8000, 0x7FC0});
    const Floats read = values<float>("BF16", "[9]", halves);
    const Floats wanted{1.0F,        -5.0F,    0.10009765625F, 0x1p-133F,
                        0x1.fep127F, INFINITY, -INFINITY,      -0.0F};
    for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(read[i] == wanted[i]);
    CHECK(std::signbit(read[7]));
    CHECK(std::isnan(read[8]));
    CHECK(read_one("BF16", "[3,3]", halves).dtype == "bfloat16");
}

TEST_CASE("a scalar has one number, an empty array none") {
    const NpyArray scalar = read_one("F32", "[]", little({2.5F}));
    CHECK(scalar.extents.empty());
    CHECK(std::get<Floats>(scalar.values) == Floats{2.5F});
    const NpyArray empty = read_one("F32", "[3,0,2]", "");
    CHECK(empty.extents == std::vector<Index>{3, 0, 2});
    CHECK(std::get<Floats>(empty.values).empty());
}

TEST_CASE("arrays lie in any order, at any byte, with gaps") {
    const std::string header = R"({"b":{"dtype":"F32","shape":[2],"data_offsets":[9,17]},)"
                               R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                               R"("c":{"dtype":"F64","shape":[1,1],"data_offsets":[1,9]},)"
                               R"("none":{"dtype":"F32","shape":[0],"data_offsets":[5,5]},)"
                               R"("d":{"dtype":"I16","shape":[1],"data_offsets":[20,22]},)"
                               R"("__metadata__":{"format":"pt","tokens":"[\"x\"]"}})";
    const std::string bytes = safetensors(header, "\x07" + little({0.1}) + little({3.0F, 4.0F}) +
                                                      "???" + little<std::int16_t>({-3}) + "more");
    const Arrays file = parsed(bytes);
    CHECK(file->names() == std::vector<std::string>{"a", "c", "none", "b", "d"});
    CHECK(std::get<Floats>(file->read("b")->values) == Floats{3, 4});
    CHECK(std::get<Doubles>(file->read("c")->values) == Doubles{0.1});
    CHECK(std::get<Floats>(file->read("d")->values) == Floats{-3});
    CHECK(file->about("c")->extents == std::vector<Index>{1, 1});
    CHECK(file->about("c")->dtype == "float64");
    CHECK(file->about("c")->bytes == 8);
    CHECK(file->text("tokens").value() == "[\"x\"]");
    CHECK(file->text("options").value() == std::nullopt);
    CHECK_FALSE(file->contains("__metadata__"));
    CHECK(contains(file->read("e").error().text(), "f: e is not there"));
}

TEST_CASE("a header that is not in the file is refused with both lengths") {
    CHECK(contains(parse_safetensors("1234567", "f").error().text(), "f has 7 bytes; a .safe"));
    CHECK(contains(parse_safetensors(little<std::uint64_t>({100}) + "{}", "f").error().text(),
                   "claims a header of 100 bytes, but 2 follow"));
    CHECK(contains(parse_safetensors(little<std::uint64_t>({~0ULL}) + "{}", "f").error().text(),
                   "claims a header of 18446744073709551615 bytes"));
    const std::string long_header(kMaxSafetensorsHeader + 1, ' ');
    CHECK(contains(complaint(long_header), "has a header of 4194305 bytes; at most 4 MiB"));
    CHECK(contains(complaint("{"), "f: the header is not valid JSON"));
    CHECK(contains(complaint("[1]"), "f: the header is [1]; expected an object"));
    CHECK(complaint("{}").empty());
    CHECK(complaint("{}   ").empty());  // padded
}

TEST_CASE("each number of an array is checked, and array, value and wish are named") {
    const std::string data(16, '\0');
    const auto refused = [&](std::string_view dtype, std::string_view shape,
                             std::string_view offsets) {
        return complaint(one(dtype, shape, offsets), data);
    };
    CHECK(refused("F32", "[2,2]", "[0,16]").empty());
    CHECK(
        contains(refused("F32", "[2,3]", "[0,16]"), "f: a has 16 bytes, but F32 [2, 3] needs 24"));
    CHECK(contains(refused("F32", "[2]", "[0,7]"), "f: a has 7 bytes, but F32 [2] needs 8"));
    CHECK(contains(refused("F32", "[2]", "[12,20]"),
                   "the data_offsets 12 to 20, but the file has 16 bytes of data"));
    CHECK(contains(refused("F32", "[2]", "[8,0]"), "the data_offsets 8 to 0"));
    CHECK(
        contains(refused("F32", "[2]", "[18446744073709551608,0]"), "expected two whole numbers"));
    CHECK(contains(refused("F32", "[2]", "[0]"), "has the data_offsets [0]; expected two"));
    CHECK(contains(refused("F32", "[2]", "\"all\""), "expected two whole numbers"));
    CHECK(
        contains(refused("F32", "[-2]", "[0,8]"), "f: a has the shape [-2]; expected at most 32"));
    CHECK(contains(refused("F32", "[2.0]", "[0,8]"), "f: a has the shape [2.0]"));
    CHECK(contains(refused("F32", "{}", "[0,8]"), "f: a has the shape {}"));
    CHECK(contains(refused("F32", "[4294967296,4294967296]", "[0,0]"),
                   "claims the shape [4294967296, 4294967296], more than 2^63 bytes"));
    CHECK(contains(refused("F64", "[1152921504606846976]", "[0,0]"), "more than 2^63 bytes"));
    CHECK(contains(complaint(R"({"a":{"dtype":3,"shape":[],"data_offsets":[0,4]}})", data),
                   "f: a has no dtype; expected one of F64, F32, F16, BF16"));
    CHECK(contains(complaint(R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", data),
                   "f: a has the shape none"));
    CHECK(contains(complaint(R"({"a":{"dtype":"F32","shape":[1]}})", data), "data_offsets none"));
    CHECK(contains(complaint(R"({"a":5})", data), "f: a is 5; expected dtype, shape"));
    CHECK(contains(complaint(R"({"__metadata__":{"a":1}})"),
                   "expected an object whose values are strings"));
    CHECK(contains(complaint(one("F32", "[" + std::string(40, '1') + "]", "[0,4]"), data), "f: "));
}

TEST_CASE("arrays that share bytes, or a name, are refused") {
    const std::string data(16, '\0');
    CHECK(contains(complaint(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                             R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
                             data),
                   "f: b begins at byte 4 of the data, inside a, which ends at 8"));
    CHECK(contains(complaint(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                             R"("a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                             data),
                   "the key 'a' twice"));
}

TEST_CASE("a dtype that is not known stops nobody who does not read that array") {
    const std::string bytes =
        safetensors(R"({"a":{"dtype":"F4","shape":[4],"data_offsets":[0,4]},)"
                    R"("b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                    "1234" + little({2.0F}));
    const Arrays file = parsed(bytes);
    CHECK(std::get<Floats>(file->read("b")->values) == Floats{2});
    CHECK(file->about("a")->dtype == "F4");
    CHECK(
        file->read("a").error().text() ==
        "f: a has dtype 'F4'; expected F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8, "
        "BOOL, F8_E4M3, F8_E5M2, F8_E8M0");
}

TEST_CASE("codes of float8 are read as bytes under the name of their type") {
    const std::string codes("\x38\xb8\x7f", 3);
    CHECK(values<std::uint8_t>("F8_E4M3", "[3]", codes) ==
          std::vector<std::uint8_t>{0x38, 0xb8, 0x7f});
    CHECK(read_one("F8_E4M3", "[3]", codes).dtype == "float8_e4m3fn");
    CHECK(read_one("F8_E5M2", "[3]", codes).dtype == "float8_e5m2");
    CHECK(read_one("F8_E8M0", "[3]", codes).dtype == "float8_e8m0fnu");
}

TEST_CASE("a file is mapped: names come without its data, and a file cut short since is noticed") {
    const Scratch scratch;
    const std::filesystem::path path = scratch / "big.safetensors";
    constexpr std::uint64_t kItems = std::uint64_t{1} << 30;  // 4 GiB of float32
    write_bytes(path, safetensors(fmt::format(
                          R"({{"big":{{"dtype":"F32","shape":[{}],"data_offsets":[0,{}]}},)"
                          R"("end":{{"dtype":"F32","shape":[1],"data_offsets":[{},{}]}}}})",
                          kItems, 4 * kItems, 4 * kItems, 4 * kItems + 4)));
    const std::uint64_t header = std::filesystem::file_size(path);
    std::filesystem::resize_file(path, header + 4 * kItems + 4);
    const auto file = must(open_safetensors(path));
    CHECK(file->about("big")->bytes == 4 * kItems);
    CHECK(std::get<Floats>(file->read("end")->values) == Floats{0});
    struct rusage used {};
    getrusage(RUSAGE_SELF, &used);
    CHECK(used.ru_maxrss < (1 << 20));  // kB
    std::filesystem::resize_file(path, header + 4 * kItems);
    CHECK(contains(file->read("end").error().text(), "it had"));
}

TEST_CASE("an array that would not fit in memory is refused with its sizes") {
    const Scratch scratch;
    const auto items = static_cast<std::uint64_t>(memory_bytes()) / 4;
    const std::string header = one("I8", fmt::format("[{}]", items), fmt::format("[0,{}]", items));
    write_bytes(scratch / "f.safetensors", safetensors(header));
    std::filesystem::resize_file(scratch / "f.safetensors", 8 + header.size() + items);
    const auto file = must(open_safetensors(scratch / "f.safetensors"));
    CHECK(contains(file->read("a").error().text(),
                   fmt::format("f.safetensors: a is int8 [{}]: it needs", items)));
    // beside what was read before
    const std::string small = safetensors(one("F32", "[1]", "[0,4]"), "1234");
    const double all = static_cast<double>(memory_bytes());
    CHECK(parsed(small)->read("a", all - 100));
    CHECK(contains(parsed(small)->read("a", all).error().text(), "a is float32 [1]: it needs"));
}

TEST_CASE("damage anywhere in a file is noticed or harmless") {
    const std::string good =
        safetensors(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "12345678");
    for (std::size_t size = 0; size < good.size(); ++size)
        CHECK_FALSE(parse_safetensors(std::string_view(good).substr(0, size), "cut"));
    for (std::size_t at = 0; at < good.size(); ++at)
        for (const int flip : {1, 128, 255}) {
            std::string bad = good;
            bad[at] = static_cast<char>(bad[at] ^ flip);
            const auto file = parse_safetensors(bad, "bad");
            if (!file) continue;
            for (const std::string& name : (*file)->names()) {
                const auto array = (*file)->read(name);
                if (!array) continue;
                Index items = 1;
                for (const Index extent : array->extents) items *= extent;
                CHECK(static_cast<Index>(items_of(*array)) == items);
            }
        }
}

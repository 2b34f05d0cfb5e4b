#include "core/io/npz.h"
#include "attn_tree.h"

#include <doctest/doctest.h>
#include <signal.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <tuple>

#include "core/dimensions.h"
#include "core/io/file.h"
#include "core/memory.h"
#include "core/shape.h"
#include "tests/io/scratch.h"
#include "tests/support/child.h"
#include "tests/support/results.h"

using namespace attn;

namespace {

std::string golden(const std::string& name) { return std::string(ATTN_TEST_DATA "/npz/") + name; }

template <class T>
const std::vector<T>& values_of(const Npz& npz, const std::string& name) {
    return std::get<std::vector<T>>(npz.arrays.at(name).values);
}

}  // namespace

TEST_CASE("every dtype, byte order and axis order of numpy gives the same numbers") {
    const Npz npz = must(read_npz(golden("kinds.npz")));
    const std::vector<float> floats{-2, -1, 0, 1, 2, 3};
    const std::vector<double> doubles(floats.begin(), floats.end());
    for (const char* name : {"f2", "f4", "i1", "big", "big2", "fortran"}) {
        CAPTURE(name);
        CHECK(values_of<float>(npz, name) == floats);
        CHECK(npz.arrays.at(name).extents == std::vector<Index>{2, 3});
    }
    for (const char* name : {"f8", "i4", "i8"}) {
        CAPTURE(name);
        CHECK(values_of<double>(npz, name) == doubles);
    }
    CHECK(npz.arrays.at("f2").dtype == "float16");
    CHECK(npz.arrays.at("i1").dtype == "int8");
}

TEST_CASE("masks, texts, scalars, empty arrays and compressed files are read") {
    const Npz npz = read_npz(golden("kinds.npz")).value();
    CHECK(npz.arrays.at("bool").dtype == "bool");
    CHECK(values_of<std::uint8_t>(npz, "bool") == std::vector<std::uint8_t>{0, 0, 0, 1, 1, 1});
    CHECK(values_of<std::uint8_t>(npz, "u1") == std::vector<std::uint8_t>{0, 1, 255});
    CHECK(std::get<std::string>(npz.arrays.at("text").values) == "√d_k → 1");
    CHECK(values_of<double>(npz, "scalar") == std::vector<double>{0.25});
    CHECK(npz.arrays.at("scalar").extents.empty());
    CHECK(values_of<float>(npz, "none").empty());
    const Npz deflated = read_npz(golden("deflated.npz")).value();
    CHECK(values_of<float>(deflated, "f4") == std::vector<float>{-2, -1, 0, 1, 2, 3});
}

TEST_CASE("only the wanted arrays are read, the others are listed") {
    const std::vector<std::string_view> wanted{"f4", "absent"};
    const Npz npz = read_npz(golden("kinds.npz"), wanted).value();
    CHECK(npz.arrays.size() == 1);
    CHECK(npz.names.size() == 14);
    CHECK(contains(sentence_in(read_npz(golden("objects.npz"))), "Q has values of Python"));
    CHECK(read_npz(golden("objects.npz"), wanted));
    CHECK(contains(sentence_in(read_npz(golden("structured.npz"))), "structured"));
    CHECK(contains(sentence_in(read_npz(golden("complex.npz"))), "<c8"));
}

TEST_CASE("an open file lists its arrays and reads each one alone") {
    const NpzFile file = must(NpzFile::open(golden("kinds.npz")));
    CHECK(file.names() == read_npz(golden("kinds.npz")).value().names);
    CHECK(file.contains("f8"));
    CHECK(!file.contains("f9"));
    CHECK(std::get<std::string>(file.read("text").value().values) == "√d_k → 1");
    CHECK(std::get<std::vector<double>>(file.read("f8").value().values).size() == 6);
    CHECK(contains(file.read("f9").error().text(), "kinds.npz: f9"));
    CHECK(NpzFile::open(golden("complex.npz")).value().read("Q").error().kind == ErrorKind::input);
}

TEST_CASE_FIXTURE(OnDisk, "the bytes of an npz are those of the file") {
    const std::vector<float> values{1, 2, 3};
    const std::vector<NpzEntry> entries{{"a", {3}, values}};
    REQUIRE(write_npz(scratch / "f.npz", entries));
    CHECK(npz_bytes(entries, "memory").value() == read_text_file(scratch / "f.npz").value());
}

TEST_CASE_FIXTURE(OnDisk, "what is written reads back, and the bytes do not depend on when") {
    const std::vector<float> values{1, -0.0f, NAN, INFINITY, 5, 6};
    const std::vector<NpzEntry> entries{{"a", {1, 2, 3}, values}, {"b", {6}, values}};
    REQUIRE(write_npz(scratch / "1.npz", entries));
    REQUIRE(write_npz(scratch / "2.npz", entries));
    CHECK(read_text_file(scratch / "1.npz").value() == read_text_file(scratch / "2.npz").value());
    const Npz npz = read_npz(scratch / "1.npz").value();
    CHECK(npz.arrays.at("a").extents == std::vector<Index>{1, 2, 3});
    const std::vector<float> back = values_of<float>(npz, "b");
    CHECK(std::signbit(back[1]));
    CHECK(std::isnan(back[2]));
    CHECK(back[3] == INFINITY);
    CHECK(scratch.files() == 2);
}

TEST_CASE("numbers of 16 bits are written as the float32 that they are, byte for byte") {
    for (const HalfFormat format : {HalfFormat::float16, HalfFormat::bfloat16})
        for (const std::size_t count : {1, 3, 4096, 4097, 50001}) {
            CAPTURE(count);
            std::vector<std::uint16_t> halves(count);
            for (std::size_t n = 0; n < count; ++n)
                halves[n] = static_cast<std::uint16_t>(n * 40503);
            std::vector<float> floats(count);
            widen(halves, format, floats);
            const std::vector<Index> extents{std::ssize(floats)};
            const NpzEntry last{"b", extents, floats};
            NpzEntry narrow{"a", extents, {}};
            narrow.halves = halves;
            narrow.format = format;
            const Scratch scratch;
            REQUIRE(write_npz(scratch / "16.npz", std::vector{narrow, last}));
            REQUIRE(
                write_npz(scratch / "32.npz", std::vector<NpzEntry>{{"a", extents, floats}, last}));
            CHECK((read_text_file(scratch / "16.npz").value() ==
                   read_text_file(scratch / "32.npz").value()));
        }
}

TEST_CASE_FIXTURE(OnDisk, "an npz that cannot be written is a failure and leaves nothing") {
    const std::vector<float> values(100000, 1.0f);
    const std::vector<NpzEntry> entries{{"a", {100000}, values}};
    const auto full = must_fail(write_npz("/dev/full", entries));
    CHECK(full.kind == ErrorKind::failure);
    CHECK(full.text() == "cannot write /dev/full: No space left on device");
    CHECK(!write_npz(scratch.path(), entries));
    CHECK(!write_npz(scratch / "no/such/folder.npz", entries));
    CHECK(scratch.files() == 0);
}

TEST_CASE_FIXTURE(OnDisk, "what is no npz is an input error that names the file") {
    REQUIRE(write_file_atomically(scratch / "text.npz", "hello"));
    REQUIRE(write_file_atomically(scratch / "empty.npz", ""));
    for (const char* name : {"text.npz", "empty.npz", "missing.npz"}) {
        const auto npz = must_fail(read_npz(scratch / name));
        CHECK(npz.kind == ErrorKind::input);
        CHECK(contains(npz.text(), name));
    }
    CHECK(contains(sentence_in(read_npz(scratch.path())), "is a folder"));
}

TEST_CASE("damage anywhere in a file is noticed or harmless, never a crash") {
    const std::string good = read_text_file(golden("deflated.npz")).value();
    REQUIRE(parse_npz(good, "good"));
    const std::vector<float> values = values_of<float>(parse_npz(good, "good").value(), "f4");
    for (std::size_t size = 0; size < good.size(); ++size)
        CHECK(!parse_npz(std::string_view(good).substr(0, size), "cut"));
    for (std::size_t at = 0; at < good.size(); ++at) {
        std::string bad = good;
        bad[at] = static_cast<char>(~bad[at]);
        const Result<Npz> npz = parse_npz(bad, "bad");
        if (npz && npz->arrays.contains("f4")) CHECK(values_of<float>(*npz, "f4") == values);
    }
}

TEST_CASE("an array that would not fit in memory is refused before anything is allocated") {
    constexpr std::uint32_t kBytes =
        4'000'000'000U;  // in the file; 32 GB as float32 numbers and their tensor
    if (static_cast<double>(memory_bytes()) > 8.0 * kBytes) return;
    for (const auto& [type, items, sentence] :
         {std::tuple{"|i1", "4000000000", "Q is int8 [4000000000]: it needs 32.0 GB"},
          {"<U1", "1000000000", "Q holds 1000000000 texts; expected at most 4194304"}}) {
        std::string header = std::string("{'descr': '") + type +
                             "', 'fortran_order': False, 'shape': (" + items + ",), }";
        header.resize(117, ' ');
        const std::string npy = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + '\n';
        const std::vector<float> values(
            kMaxNpyHeader);  // the end of a shorter one, and its CRC, is met with the header
        const std::vector<NpzEntry> entries{{"Q", {std::ssize(values)}, values}};
        std::string zip = npz_bytes(entries, "f").value();
        const std::size_t directory = zip.find("PK\x01\x02");
        const std::size_t content = zip.find("\x93NUMPY");
        REQUIRE(directory - content == npy.size() + values.size() * sizeof(float));
        zip.replace(content, npy.size(), npy);
        const auto declared = static_cast<std::uint32_t>(npy.size()) + kBytes;
        std::memcpy(zip.data() + directory + 24, &declared,
                    sizeof declared);  // the size when unpacked
        std::memcpy(zip.data() + 22, &declared, sizeof declared);
        CHECK(contains(sentence_in(parse_npz(zip, "f")), sentence));
    }
}

TEST_CASE("what does not fit beside what is held is refused with both sizes") {
    CHECK(resident_memory_bytes() > 0);
    CHECK(resident_memory_bytes() < memory_bytes());
    CHECK(check_fits_in_memory(1e8, "the maps", "take fewer", {}));
    const double machine = static_cast<double>(memory_bytes());
    const auto refused =
        must_fail(check_fits_in_memory(machine - 1.0, "the maps", "take fewer", {}));
    CHECK(contains(refused.text(), "the maps need"));
    CHECK(contains(refused.text(), "GB in use, and this machine has"));
    CHECK(contains(refused.text(), "take fewer"));
}

TEST_CASE_FIXTURE(OnDisk, "memory is what the control groups of the process leave of the machine") {
    const auto put = [&](const std::string& file, const std::string& text) {
        std::filesystem::create_directories((scratch / file).parent_path());
        std::ofstream(scratch / file) << text;
    };
    CHECK(control_group_limit(scratch.path()) == std::nullopt);
    put("proc/self/cgroup", "5:cpu:/a\n4:memory:/a/b\n0::/c/d\n");
    put("sys/fs/cgroup/cpu/a/memory.limit_in_bytes", "1");
    put("sys/fs/cgroup/c/d/memory.max", "max\n");
    CHECK(control_group_limit(scratch.path()) == std::nullopt);
    for (const auto& [file, limit] :
         std::vector<std::pair<std::string, Index>>{{"memory/memory.limit_in_bytes", 900},
                                                    {"memory/a/memory.limit_in_bytes", 800},
                                                    {"memory/a/b/memory.limit_in_bytes", 700},
                                                    {"c/memory.max", 600},
                                                    {"c/d/memory.max", 500}}) {
        put("sys/fs/cgroup/" + file, std::to_string(limit) + "\n");
        CHECK(control_group_limit(scratch.path()) == limit);
    }
}

// One interface for every format: .npz, .npy, .safetensors, shards with an index, and folders of them.
#include "core/io/arrays/array_file.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "core/io/array_stats.h"
#include "core/io/npz.h"
#include "core/memory.h"
#include "tests/io/bytes.h"
#include "tests/io/scratch.h"
#include "tests/support/results.h"

using namespace attn;
namespace fs = std::filesystem;

namespace {

using Floats = std::vector<float>;

std::string complaint(const fs::path& path) { return sentence_in(open_arrays(path)); }

Arrays opened(const fs::path& path) { return must(open_arrays(path)); }

Floats floats(const Arrays& file, const std::string& name) {
    const auto array = must(file->read(name));
    return std::get<Floats>(array.values);
}

std::string float_npy(float value) {
    return npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", little({value}));
}

std::string float_tensor(const std::string& name, float value, const std::string& more = "") {
    return safetensors(
        fmt::format(R"({{"{}":{{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}{}}})", name, more),
        little({value}));
}

void write_one_npz(const fs::path& path, const std::string& name, float value) {
    const std::vector<NpzEntry> entries{{name, {1}, {&value, 1}}};
    REQUIRE(write_npz(path, entries));
}

}  // namespace

TEST_CASE_FIXTURE(OnDisk, "a format is known by its name, else by its first bytes") {
    write_one_npz(scratch / "a.npz", "x", 1);
    write_bytes(scratch / "x.npy", float_npy(2));
    write_bytes(scratch / "a.safetensors", float_tensor("x", 3));
    for (const auto& [file, value] :
         {std::pair{"a.npz", 1.0F}, {"x.npy", 2.0F}, {"a.safetensors", 3.0F}}) {
        CAPTURE(file);
        CHECK(floats(opened(scratch / file), "x") == Floats{value});
        fs::copy_file(scratch / file, scratch / (std::string(file) + ".bin"));
        const Arrays copy = opened(scratch / (std::string(file) + ".bin"));
        CHECK(floats(copy, copy->names().front()) == Floats{value});
        CHECK(opened(scratch / file)->about("x")->bytes == 4);
        CHECK(opened(scratch / file)->about("x")->dtype == "float32");
        CHECK(contains(opened(scratch / file)->about("y").error().text(), "y is not there"));
    }
    write_bytes(scratch / "note.txt", "hello");
    CHECK(contains(complaint(scratch / "note.txt"),
                   "note.txt is not a file of arrays; expected .npz, .npy, .safetensors, .pt, "
                   ".pth, .onnx, .pkl, "
                   ".index.json or a folder"));
    CHECK(contains(complaint(scratch / "missing.npy"), "missing.npy: No such file"));
    CHECK(contains(complaint(scratch / "missing.bin"), "missing.bin: No such file"));
    CHECK(parse_arrays(float_tensor("x", 3), "memory").value()->names() ==
          std::vector<std::string>{"x"});
    CHECK(contains(parse_arrays("", "memory").error().text(), "memory is empty"));
}

TEST_CASE_FIXTURE(OnDisk, "a .npy is one array by the name of its file") {
    write_bytes(scratch / "l0.Q.npy",
                npy("{'descr': '>f4', 'fortran_order': True, 'shape': (2, 2), }",
                    std::string("\x3f\x80\0\0\x40\0\0\0\x40\x40\0\0\x40\x80\0\0", 16)));
    const Arrays file = opened(scratch / "l0.Q.npy");
    CHECK(file->names() == std::vector<std::string>{"l0.Q"});
    CHECK(floats(file, "l0.Q") == Floats{1, 3, 2, 4});  // big-endian, by columns
    CHECK(file->about("l0.Q")->extents == std::vector<Index>{2, 2});
    write_bytes(scratch / "bad.npy", "hello");
    CHECK(contains(complaint(scratch / "bad.npy"), "bad.npy is not a .npy array"));
    write_bytes(scratch / "empty.npy", "");
    CHECK(contains(complaint(scratch / "empty.npy"), "empty.npy is not a .npy array"));
    write_bytes(scratch / "short.npy", float_npy(1).substr(0, 130));
    CHECK(contains(opened(scratch / "short.npy")->read("short").error().text(),
                   "short.npy: short has 130 bytes, but its header of float32 [1] promises 132"));
    write_bytes(scratch / "bf.npy",
                npy("{'descr': '|V2', 'fortran_order': False, 'shape': (1,), }", "12"));
    const std::string refused = opened(scratch / "bf.npy")->read("bf").error().text();
    CHECK(contains(refused, "bf.npy: bf has dtype '|V2', as numpy saves bfloat16"));
    CHECK(contains(refused, ".astype(np.float32), or a .safetensors file, which has BF16"));
}

TEST_CASE_FIXTURE(OnDisk,
                  "a large .npy is mapped, and refused with its sizes where it would not fit") {
    const auto items = static_cast<std::uint64_t>(memory_bytes()) / 8;
    const std::string head =
        npy(fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({},), }}", items), "");
    write_bytes(scratch / "big.npy", head);
    fs::resize_file(scratch / "big.npy", head.size() + 4 * items);
    const Arrays file = opened(scratch / "big.npy");
    CHECK(file->about("big")->bytes == 4 * items);
    CHECK(contains(file->read("big").error().text(),
                   fmt::format("big.npy: big is float32 [{}]: it needs", items)));
}

TEST_CASE_FIXTURE(OnDisk, "shards are one file, and what is missing is named") {
    write_bytes(scratch / "m-1.safetensors", float_tensor("a", 1, R"(,"__metadata__":{"k":"v"})"));
    write_bytes(scratch / "m-2.safetensors", float_tensor("b", 2));
    const fs::path index = scratch / "m.safetensors.index.json";
    write_bytes(index, R"({"metadata":{"total_size":8},"weight_map":{"a":"m-1.safetensors",)"
                       R"("b":"m-2.safetensors"}})");
    const Arrays file = opened(index);
    CHECK(file->names() == std::vector<std::string>{"a", "b"});
    CHECK(floats(file, "a") == Floats{1});
    CHECK(floats(file, "b") == Floats{2});
    CHECK(file->text("k").value() == "v");
    CHECK(files_behind(index) ==
          std::vector<fs::path>{index, scratch / "m-1.safetensors", scratch / "m-2.safetensors"});
    fs::remove(scratch / "m-2.safetensors");
    CHECK(contains(complaint(index),
                   "the shard m-2.safetensors is missing; it has 1 of 2 arrays (b)"));
    write_bytes(scratch / "m-2.safetensors", float_tensor("c", 2));
    CHECK(contains(complaint(index), "b should be in m-2.safetensors, which does not have it"));
    for (const char* other : {"../m-1.safetensors", "/etc/passwd", "m-1.txt", "x/m.safetensors"}) {
        write_bytes(index, fmt::format(R"({{"weight_map":{{"a":"{}"}}}})", other));
        CHECK(
            contains(complaint(index), "expected a .safetensors or .bin file of the same folder"));
    }
    write_bytes(index, R"({"weight_map":{"a":5}})");
    CHECK(contains(complaint(index), "a should be in 5"));
    write_bytes(index, R"({"metadata":{}})");
    CHECK(contains(complaint(index), "m.safetensors.index.json has no weight_map"));
    write_bytes(index, "{");
    CHECK(contains(complaint(index), "is not valid JSON"));
}

TEST_CASE_FIXTURE(OnDisk,
                  "a folder is all its files, and a name that several have tells them apart") {
    write_bytes(scratch / "Q.npy", float_npy(1));
    write_one_npz(scratch / "l0.npz", "w", 2);
    write_bytes(scratch / "l1.safetensors", float_tensor("w", 3));
    write_bytes(scratch / "l2.npz.bak", "no array");
    write_bytes(scratch / ".hidden.npy", "no array");
    fs::create_directory(scratch / "inner.npy");
    Arrays file = opened(scratch.path());
    CHECK(file->names() == std::vector<std::string>{"Q", "l0.w", "l1.w"});
    CHECK(floats(file, "Q") == Floats{1});
    CHECK(floats(file, "l0.w") == Floats{2});
    CHECK(floats(file, "l1.w") == Floats{3});
    write_bytes(scratch / "l0.safetensors", float_tensor("w", 4));
    file = opened(scratch.path());
    CHECK(file->names() == std::vector<std::string>{"Q", "l0.npz.w", "l0.safetensors.w", "l1.w"});
    CHECK(floats(file, "l0.safetensors.w") == Floats{4});
    CHECK(files_behind(scratch.path()).size() == 5);
    write_bytes(scratch / "bad.npz", "no zip");
    CHECK(contains(complaint(scratch.path()), "bad.npz cannot be read as .npz"));
}

TEST_CASE_FIXTURE(OnDisk, "a folder of shards is read by its index, once") {
    write_bytes(scratch / "m-1.safetensors", float_tensor("a", 1));
    write_bytes(scratch / "other.safetensors", float_tensor("b", 2));
    write_bytes(scratch / "m.safetensors.index.json", R"({"weight_map":{"a":"m-1.safetensors"}})");
    write_bytes(scratch / "pytorch.bin.index.json", R"({"weight_map":{"a":"m-1.bin"}})");
    CHECK(opened(scratch.path())->names() == std::vector<std::string>{"a", "b"});
    fs::remove(scratch / "m-1.safetensors");
    CHECK(contains(complaint(scratch.path()), "the shard m-1.safetensors is missing"));
}

TEST_CASE_FIXTURE(OnDisk, "texts of a folder stand in its files, or in files of their own") {
    write_bytes(scratch / "a.safetensors",
                float_tensor("a", 1, R"(,"__metadata__":{"tokens":"[\"x\"]"})"));
    CHECK(opened(scratch.path())->text("tokens").value() == R"(["x"])");
    write_bytes(scratch / "b.safetensors",
                float_tensor("b", 1, R"(,"__metadata__":{"tokens":"[\"y\"]"})"));
    CHECK(contains(opened(scratch.path())->text("tokens").error().text(), "have different texts"));
    fs::remove(scratch / "b.safetensors");
    fs::remove(scratch / "a.safetensors");
    write_bytes(scratch / "Q.npy", float_npy(1));
    write_bytes(scratch / "tokens.txt", "the\nc\xc3\xa4t\n\nsat");
    write_bytes(scratch / "options.json", R"({"causal":true})");
    CHECK(opened(scratch.path())->text("tokens").value() == R"(["the","cät","","sat"])");
    CHECK(opened(scratch.path())->text("options").value() == R"({"causal":true})");
    CHECK(opened(scratch.path())->text("mask").value() == std::nullopt);
}

TEST_CASE_FIXTURE(OnDisk, "a folder without arrays says what it should hold") {
    CHECK(contains(
        complaint(scratch.path()),
        "is a folder without arrays; expected files .npz, .npy, .safetensors, .index.json"));
}

TEST_CASE("the largest and the smallest numbers of float64 have a finite mean and deviation") {
    for (const double size : {1.5e308, 1.0, 1e-200, 1e-305}) {
        CAPTURE(size);
        const auto stats =
            measure_array({"float64", {4}, std::vector<double>{size, -size, size, size}}, {});
        CHECK(stats.mean / size == doctest::Approx(0.5));
        CHECK(stats.deviation / size == doctest::Approx(std::sqrt(0.75)));
        CHECK(stats.bins.front() == 1.0);
        CHECK(stats.bins.back() == 3.0);
    }
}

// `trace` of every format, and of its own output.
#include <nlohmann/json.hpp>

#include "core/spec_fields.h"
#include "tests/cli/command.h"
#include "tests/io/bytes.h"

using namespace attn;

namespace {

/// Q, K and V of [2,1], float32.
std::string call_bytes() {
    return safetensors(R"({"Q":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
                       R"("K":{"dtype":"F32","shape":[2,1],"data_offsets":[8,16]},)"
                       R"("V":{"dtype":"F32","shape":[2,1],"data_offsets":[16,24]}})",
                       little({0.0F, 1.0F, 0.0F, 1.0F, 3.0F, 5.0F}));
}

}  // namespace

TEST_CASE("the output of trace is an input of trace, and gives the same weights") {
    const Scratch scratch;
    const std::string once = scratch.at("once.npz");
    const std::string twice = scratch.at("twice.npz");
    succeeds({"trace", golden("two_heads.npz"), "-o", once, "--heads", "2", "--kv-heads", "1",
              "--grad"});
    const Ran ran = succeeds({"trace", once, "-o", twice});
    CHECK(contains(ran.err, "k, q, v are read as K, Q, V, as the stages of a trace"));
    CHECK_FALSE(contains(ran.err, "not used"));
    const Npz a = read_npz(once).value();
    const Npz b = read_npz(twice).value();
    CHECK(floats(a, "scores") == floats(b, "scores"));
    CHECK(extents(b, "weights") == std::vector<Index>{2, 2, 3, 5});
}

TEST_CASE("a .safetensors file and a folder are traced, and name the output in a folder of them") {
    const Scratch scratch;
    write_bytes(scratch / "call.safetensors", call_bytes());
    std::filesystem::create_directory(scratch / "parts");
    const char* const shape = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }";
    write_bytes(scratch / "parts/Q.npy", npy(shape, little({0.0F, 1.0F})));
    write_bytes(scratch / "parts/K.npy", npy(shape, little({0.0F, 1.0F})));
    write_bytes(scratch / "parts/V.npy", npy(shape, little({3.0F, 5.0F})));
    const std::string out = scratch.at("out/");
    succeeds({"trace", scratch.at("call.safetensors"), scratch.at("parts") + "/", "-o", out});
    for (const char* name : {"out/call.npz", "out/parts.npz"}) {
        CAPTURE(name);
        const Npz npz = read_npz(scratch / name).value();
        CHECK(floats(npz, "scores") == std::vector<float>{0, 0, 0, 1});
        // softmax of 0, 1 is 1 / (1 + e) and e / (1 + e)
        CHECK(floats(npz, "weights")[3] == doctest::Approx(0.7310586).epsilon(1e-6));
        CHECK(floats(npz, "context")[0] == doctest::Approx(4.0).epsilon(1e-6));
    }
    check_refused({"trace", scratch.at("parts"), "-o", scratch.at("parts/Q.npy")},
                  "expected a name that ends in .npz");
    std::filesystem::rename(scratch / "out/call.npz", scratch / "parts/call.npz");
    check_refused({"trace", scratch.at("parts"), "-o", scratch.at("parts/call.npz")},
                  "the same file as the input");
    check_refused({"trace", scratch.at("call.safetensors"), golden("qkv.npz"),
                   scratch.at("call.npz"), "-o", out},
                  "would both be written to");
}

TEST_CASE("layout is an option like the others") {
    const Scratch scratch;
    const std::vector<float> values{1, 2, 3, 4, 5, 6};
    std::vector<NpzEntry> entries;
    for (const char* name : {"Q", "K", "V"}) entries.push_back({name, {3, 2, 1}, values});
    const std::string file = scratch.at("f.npz");
    REQUIRE(write_npz(file, entries));
    const std::string out = scratch.at("o.npz");
    REQUIRE(command({"trace", file, "-o", out, "--layout", "tokens-first"}).code == 0);
    const Npz npz = read_npz(out).value();
    CHECK(extents(npz, "q") == std::vector<Index>{1, 2, 3, 1});
    CHECK(floats(npz, "q") == std::vector<float>{1, 3, 5, 2, 4, 6});
    check_refused({"trace", file, "-o", out, "--layout", "columns"}, "--layout is 'columns'");
    // [T, H·3·d]: q, k and v of each head in turn
    const std::vector<float> packed{1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6};
    const std::string qkv = scratch.at("qkv.npz"), same = scratch.at("same.npz");
    const NpzEntry entry{"qkv", {3, 6}, packed};
    REQUIRE(write_npz(qkv, {&entry, 1}));
    REQUIRE(command({"trace", qkv, "-o", same, "--heads", "2", "--layout", "per-head"}).code == 0);
    CHECK(floats(read_npz(same).value(), "context") == floats(npz, "context"));
    CHECK(command({"diff", qkv, out, "--heads", "2", "--layout", "per-head"}).code == 0);
    CHECK(contains(command({"heads", qkv, "--heads", "2", "--layout", "per-head"}).out, "0    1"));
    check_refused({"trace", file, "-o", out, "--layout", "per-head"},
                  "layout is per-head, but Q is not packed with K and V");
}

TEST_CASE("info and help list every format of the table") {
    const auto all = nlohmann::json::parse(command({"info", "--json"}).out);
    const std::string text = command({"info"}).out;
    const std::string help = command({"--help"}).out;
    CHECK(all["formats"].size() == 9);
    for (const auto& format : all["formats"]) {
        const auto extension = format["extension"].get<std::string>();
        CAPTURE(extension);
        CHECK(contains(text, extension + " "));
        CHECK((extension == "/" || contains(help, extension)));
        CHECK((extension == "/" || contains(command({"trace", "--help"}).out, extension)));
    }
}

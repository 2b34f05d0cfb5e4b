// Inputs of `trace`.
#include "attn_tree.h"
#include "tests/cli/command.h"

using namespace attn;

TEST_CASE("X with identity projections gives the worked example") {
    for (const char* backend : {"reference", "staged", "auto"}) {
        const Npz out = traced("cat_sat_mat.npz", {"--scale", "none", "--backend", backend});
        const std::vector<float> expected{.4223f, .1554f, .4223f, .1554f, .4223f,
                                          .4223f, .2119f, .2119f, .5761f};
        for (std::size_t pair = 0; pair < expected.size(); ++pair)
            CHECK(floats(out, "weights")[pair] == doctest::Approx(expected[pair]).epsilon(3e-4));
        CHECK(extents(out, "x") == std::vector<Index>{1, 3, 2});
    }
}

TEST_CASE("the shape of every output follows its input, with heads, X_kv, W_O and biases") {
    const Npz out =
        traced("two_heads.npz", {"--heads", "2", "--kv-heads", "1", "--grad", "--dropout", "0.5"});
    using Axes = std::vector<Index>;
    const std::map<std::string, Axes> expected{
        {"x", {2, 3, 4}},
        {"x_kv", {2, 5, 6}},
        {"q", {2, 2, 3, 4}},
        {"k", {2, 1, 5, 4}},
        {"v", {2, 1, 5, 3}},
        {"scores", {2, 2, 3, 5}},
        {"dropped", {2, 2, 3, 5}},
        {"context", {2, 2, 3, 3}},
        {"output", {2, 3, 4}},
        {"logsumexp", {2, 2, 3}},
        {"d_x", {2, 3, 4}},
        {"d_x_kv", {2, 5, 6}},
        {"d_w_q", {4, 8}},
        {"d_w_k", {6, 4}},
        {"d_w_v", {6, 3}},
        {"d_w_o", {6, 4}},
        {"d_b_q", {8}},
        {"d_b_o", {1, 4}},
        {"d_k", {2, 1, 5, 4}},
        {"d_output", {2, 3, 4}},
    };
    for (const auto& [name, axes] : expected) {
        CAPTURE(name);
        CHECK(extents(out, name) == axes);
    }
    CHECK(!out.arrays.contains("d_b_k"));
}

TEST_CASE("float64 and integers are read, rounded, and what is lost is said") {
    const Scratch scratch;
    const Ran ran = command({"trace", golden("float64.npz"), "-o", (scratch / "o.npz").string()});
    CHECK(ran.code == 0);
    CHECK(says(ran.err, "4 value(s) of Q are too large for float32 and became infinite"));
    CHECK(says(ran.err, "Q (float64), K (float64), V (int32) rounded to float32"));
}

TEST_CASE("a mask of three axes, or of floats, is told what to write") {
    check_refused({"trace", golden("mask_3d.npz"), "-o", "/nowhere/x.npz"},
                  "mask_3d.npz: mask [2, 3, 3] has 3 axes, which is ambiguous: write [2, 1, 3, 3]");
    check_refused({"trace", golden("mask_float.npz"), "-o", "/nowhere/x.npz"},
                  "mask is float32; expected bool or uint8");
}

TEST_CASE("a file that does not hold a call is refused by name") {
    check_refused({"trace", golden("kinds.npz"), "-o", "/nowhere/x.npz"}, "it holds f2, f4");
    check_refused({"trace", golden("complex.npz"), "-o", "/nowhere/x.npz"},
                  "complex.npz: Q has dtype '<c8'");
    check_refused({"trace", "/nowhere/in.npz", "-o", "/nowhere/x.npz"},
                  "/nowhere/in.npz: No such file");
    check_refused({"trace", ATTN_TEST_DATA, "-o", "/nowhere/x.npz"}, "is a folder");
    check_refused({"trace", golden("two_heads.npz"), "-o", "/nowhere/x.npz", "--heads", "3"},
                  "W_Q has 8 columns");
}

TEST_CASE("a file with several layers is traced one layer at a time") {
    check_refused({"trace", golden("layers.npz"), "-o", "/nowhere/x.npz"},
                  "layers.npz has 2 layers; choose one with --layer: 2 or 10");
    check_refused({"trace", golden("layers.npz"), "-o", "/nowhere/x.npz", "--layer", "3"},
                  "has no layer 3; expected 2 or 10");
    check_refused({"trace", golden("layers.npz"), "-o", "/nowhere/x.npz", "--layer", "-1"},
                  "--layer is -1; expected a number from 0");
    const Npz plain = traced("tokens.npz", {"--causal"});
    CHECK(floats(traced("layers.npz", {"--layer", "10"}), "weights") == floats(plain, "weights"));
    CHECK(floats(traced("layers.npz", {"--layer", "2"}), "q") == floats(plain, "v"));
    CHECK(floats(traced("tokens.npz", {"--layer", "0"}), "q") == floats(plain, "q"));
}

TEST_CASE("an array that trace does not use is said") {
    const Scratch scratch;
    const Ran ran = command({"trace", golden("unused.npz"), "-o", (scratch / "o.npz").string()});
    CHECK(ran.code == 0);
    CHECK(says(ran.err,
               "note: " + golden("unused.npz") + ": arrays 'attn_mask', 'W_extra' are not used"));
    CHECK(command({"trace", golden("tokens.npz"), "-o", (scratch / "o.npz").string()}).err.empty());
}

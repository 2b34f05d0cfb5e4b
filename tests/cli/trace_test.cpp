// Inputs of `trace`.
#include <cmath>

#include "app/common/command.h"
#include "app/files/axes.h"
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

TEST_CASE_FIXTURE(OnDisk, "float64 and integers are read, rounded, and what is lost is said") {
    const Ran ran = succeeds({"trace", golden("float64.npz"), "-o", scratch.at("o.npz")});
    CHECK(contains(ran.err, "too large for float32 and now infinite: 4 of the numbers of Q"));
    CHECK(contains(ran.err, "Q (float64), K (float64), V (int32) converted to float32"));
}

TEST_CASE_FIXTURE(
    OnDisk, "scores that float32 does not hold are said, and that another backend holds them") {
    const auto errors_of = [&](float size, const char* backend) {
        Tensor row({1, 1, 2, 2}, size);
        row(0, 0, 1, 1) = 0.5F * size;
        NpzEntry entry{"Q", {2, 2}, row.values()};
        const std::string in = scratch.at("in.npz"), out = scratch.at("out.npz");
        std::vector<NpzEntry> entries;
        for (const char* name : {"Q", "K", "V"}) {
            entry.name = name;
            entries.push_back(entry);
        }
        REQUIRE(write_npz(in, entries));
        return succeeds({"trace", in, "-o", out, "--backend", backend}).err;
    };
    const std::string text = "scores are beyond 3.4e38";
    CHECK(contains(errors_of(1e20F, "fused"), text));
    CHECK(contains(errors_of(1e20F, "staged"), "--backend reference computes in float64"));
    CHECK(!contains(errors_of(1e20F, "reference"), "--backend reference"));
    CHECK(!contains(errors_of(1e18F, "fused"), text));
}

TEST_CASE_FIXTURE(OnDisk, "queries and keys alone give every stage that needs no V") {
    const std::string qk = scratch.at("qk.npz");
    const Tensor rows({1, 1, 3, 2}, 1.0F);
    REQUIRE(write_npz(
        qk, std::vector<NpzEntry>{{"Q", {3, 2}, rows.values()}, {"K", {3, 2}, rows.values()}}));
    for (const std::string backend : {"auto", "reference", "fused"}) {
        const std::string out = scratch.at("out.npz");
        const Ran ran = succeeds({"trace", qk, "-o", out, "--backend", backend});
        CHECK(contains(ran.err, "context and output are missing: they need V"));
        CHECK(contains(ran.out, "d_v unknown"));
        const Npz made = read_npz(out).value();
        CHECK(made.arrays.contains("logsumexp"));
        CHECK(made.arrays.contains("weights") == (backend != "fused"));
        CHECK_FALSE(made.arrays.contains("context"));
        CHECK_FALSE(made.arrays.contains("v"));
    }
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{"--grad"}, {"--keep", "context"}, {"--operation", "linear"}}) {
        std::vector<std::string> arguments{"trace", qk, "-o", scratch.at("no.npz")};
        arguments.insert(arguments.end(), more.begin(), more.end());
        check_refused(arguments, "V is missing; Q and K are there");
    }
}

TEST_CASE_FIXTURE(OnDisk, "a note names the arrays whose sums are beyond the range of float32") {
    const std::string in = scratch.at("in.npz"), out = scratch.at("out.npz");
    const Tensor small({1, 1, 2, 2}, 1.0F), large({1, 1, 2, 2}, 3e38F);
    REQUIRE(write_npz(in, std::vector<NpzEntry>{{"Q", {2, 2}, small.values()},
                                                {"K", {2, 2}, small.values()},
                                                {"V", {2, 2}, large.values()}}));
    const std::string wide = scratch.at("wide.npz"), plain = scratch.at("plain.npz");
    const Tensor three({1, 1, 3, 2}, 1.0F);
    for (const auto& [file, v] : {std::pair(wide, large), std::pair(plain, small)})
        REQUIRE(write_npz(file, std::vector<NpzEntry>{{"Q", {3, 2}, three.values()},
                                                      {"K", {2, 2}, small.values()},
                                                      {"V", {2, 2}, v.values()}}));
    for (const std::string backend : {"fused", "staged"}) {
        CHECK(succeeds({"trace", in, "-o", out, "--backend", backend}).err.empty());
        CHECK(
            contains(succeeds({"trace", in, "-o", out, "--backend", backend, "--grad"}).err,
                     "are beyond 3.4e38, the most that float32 holds: they have NaN or infinity"));
        // Rows that are NaN by an option hide nothing: query 0 has no key.
        const auto with_nan = [&](const std::string& file) {
            return succeeds({"trace", file, "-o", out, "--backend", backend, "--grad",
                             "--causal=bottom-right", "--empty-rows", "nan"})
                .err;
        };
        CHECK(contains(with_nan(wide), "are beyond 3.4e38"));
        CHECK(with_nan(plain).empty());
    }
}

TEST_CASE("a mask of three axes is told what to write") {
    check_trace_refused(
        "mask_3d.npz", {},
        "mask_3d.npz: mask [2, 3, 3] has 3 axes, which is ambiguous: write [2, 1, 3, 3]");
}

TEST_CASE("a file that does not hold a call is refused by name") {
    check_trace_refused("kinds.npz", {}, "it holds f2, f4");
    check_trace_refused("complex.npz", {}, "complex.npz: Q has dtype '<c8'");
    check_refused({"trace", "/nowhere/in.npz", "-o", "/nowhere/x.npz"},
                  "/nowhere/in.npz: No such file");
    check_refused({"trace", ATTN_TEST_DATA, "-o", "/nowhere/x.npz"}, "is a folder");
    check_trace_refused("two_heads.npz", {"--heads", "3"}, "W_Q has width 8");
}

TEST_CASE("a file with several layers is traced one layer at a time") {
    check_trace_refused("layers.npz", {}, "layers.npz has 2 layers, 2 or 10. Pass --layer N");
    check_trace_refused("layers.npz", {"--layer", "3"}, "has no layer 3; expected 2 or 10");
    check_trace_refused("layers.npz", {"--layer", "-1"},
                        "--layer is -1; expected a whole number from 0");
    const Npz plain = traced("tokens.npz", {"--causal"});
    CHECK(floats(traced("layers.npz", {"--layer", "10"}), "weights") == floats(plain, "weights"));
    CHECK(floats(traced("layers.npz", {"--layer", "2"}), "q") == floats(plain, "v"));
    CHECK(floats(traced("tokens.npz", {"--layer", "0"}), "q") == floats(plain, "q"));
}

TEST_CASE_FIXTURE(OnDisk, "an array that trace does not use is said") {
    const Ran ran = succeeds({"trace", golden("unused.npz"), "-o", scratch.at("o.npz")});
    CHECK(contains(ran.err, "note: " + golden("unused.npz") +
                                ": arrays 'attention_mask', 'W_extra' are not used"));
    CHECK(command({"trace", golden("tokens.npz"), "-o", scratch.at("o.npz")}).err.empty());
}

namespace {

/// A traced file of these arrays.
Ran traced_arrays(const Scratch& scratch, const std::vector<NpzEntry>& arrays,
                  const Arguments& options = {}) {
    const std::string in = scratch.at("given.npz");
    REQUIRE(write_npz(in, arrays));
    return command(joined({"trace", in, "-o", scratch.at("out.npz")}, options));
}

/// What it writes when it succeeds.
Npz written(const Scratch& scratch, const std::vector<NpzEntry>& arrays,
            const Arguments& options = {}) {
    const Ran ran = traced_arrays(scratch, arrays, options);
    REQUIRE_MESSAGE(ran.code == 0, ran.err);
    return read_npz(scratch.at("out.npz")).value();
}

}  // namespace

TEST_CASE_FIXTURE(OnDisk, "weights alone: context and output follow where V and W_O stand beside") {
    const std::vector<float> weights{0.5F, 0.5F, 0.0F, 1.0F}, v{10.0F, 100.0F}, w_o{2.0F};
    const Ran ran = traced_arrays(
        scratch, {{"weights", {2, 2}, weights}, {"V", {2, 1}, v}, {"W_O", {1, 1}, w_o}},
        {"--causal"});
    REQUIRE_MESSAGE(ran.code == 0, ran.err);
    const Npz out = read_npz(scratch.at("out.npz")).value();
    CHECK(floats(out, "context") == std::vector<float>{55.0F, 100.0F});
    CHECK(floats(out, "output") == std::vector<float>{110.0F, 200.0F});
    CHECK(floats(out, "weights") == weights);
    CHECK_FALSE(out.arrays.contains("logsumexp"));
    CHECK_FALSE(out.arrays.contains("q"));
    CHECK(contains(ran.err, "causal changes no number: weights are given"));
    CHECK(contains(ran.err,
                   "no q, k, scores, scaled, masked: the file gives weights, which come later"));
    const Ran bare = traced_arrays(scratch, {{"weights", {2, 2}, weights}});
    REQUIRE(bare.code == 0);
    CHECK(contains(bare.err, "context and output are missing: they need V"));
    CHECK(written(scratch, {{"weights", {2, 2}, weights}}).names ==
          std::vector<std::string>{"weights", "options"});
    const Ran grad = traced_arrays(scratch, {{"weights", {2, 2}, weights}}, {"--grad"});
    CHECK(grad.code == attn::cli::kBadInput);
    CHECK(contains(grad.err, "--grad needs Q, K and V"));
    CHECK(
        contains(traced_arrays(scratch, {{"weights", {2, 2}, weights}}, {"--backend", "fused"}).err,
                 "--backend is fused; expected reference, the only one that starts from weights"));
}

TEST_CASE_FIXTURE(OnDisk, "raw scores ask for their scale, and a layer of several is chosen") {
    const std::vector<float> raw{0.0F, 4.0F * std::log(3.0F), 0.0F, 0.0F};
    const Ran unknown = traced_arrays(scratch, {{"scores", {2, 2}, raw}});
    CHECK(unknown.code == attn::cli::kBadInput);
    CHECK(contains(unknown.err, "Pass --scale none (they are already scaled, or need no scale)"));
    CHECK(contains(unknown.err, "or --d-k N (N is the width of a query: times 1/√N)"));
    const std::vector<NpzEntry> layers{{"l1.scores", {2, 2}, raw}, {"l4.scores", {2, 2}, raw}};
    CHECK(contains(traced_arrays(scratch, layers, {"--d-k", "16"}).err,
                   "has 2 layers, 1 or 4. Pass --layer N"));
    const Npz out = written(scratch, layers, {"--d-k", "16", "--layer", "4"});
    CHECK(floats(out, "scaled")[1] == doctest::Approx(std::log(3.0)));
    CHECK(floats(out, "weights")[1] == doctest::Approx(0.75));
    CHECK(floats(out, "logsumexp")[1] == doctest::Approx(std::log(2.0)));
    const Ran other = command({"trace", golden("qkv.npz"), "-o", scratch.at("x.npz"), "--scale",
                               "sqrt_dk", "--d-k", "77"});
    CHECK(contains(other.err, "d-k is 77, but the queries have"));
}

TEST_CASE_FIXTURE(OnDisk, "one query after ten keys is in the block of the last ones") {
    const std::vector<float> q{1.0F};
    std::vector<float> k(10, 1.0F);
    k[8] = 0.0F, k[9] = std::log(3.0F);
    const std::vector<NpzEntry> arrays{{"Q", {1, 1}, q}, {"K", {10, 1}, k}, {"V", {10, 1}, k}};
    const std::vector<float> expected{0, 0, 0, 0, 0, 0, 0, 0, 0.25F, 0.75F};
    for (const auto& options : {std::vector<std::string>{"--causal=bottom-right", "--block", "4"},
                                {"--query-offset", "9", "--block", "4"}})
        for (const char* backend : {"reference", "staged"}) {
            std::vector<std::string> all = options;
            all.insert(all.end(), {"--backend", backend});
            const Npz out = written(scratch, arrays, all);
            const auto weights = floats(out, "weights");
            REQUIRE(weights.size() == expected.size());
            for (std::size_t j = 0; j < expected.size(); ++j)
                CHECK(weights[j] == doctest::Approx(expected[j]));
        }
}

TEST_CASE_FIXTURE(OnDisk,
                  "a causal mask of another number of keys than queries asks for its corner") {
    const std::vector<float> q(2, 1.0F), k(3, 1.0F);
    const std::vector<NpzEntry> arrays{{"Q", {2, 1}, q}, {"K", {3, 1}, k}, {"V", {3, 1}, k}};
    const Ran unstated = traced_arrays(scratch, arrays, {"--causal"});
    CHECK(unstated.code == attn::cli::kBadInput);
    CHECK(
        contains(unstated.err,
                 "a causal mask of 2 queries and 3 keys starts in one of two corners. Pass "
                 "--causal=top-left (query i sees keys 0 to i: PyTorch's is_causal) or "
                 "--causal=bottom-right (query i sees keys 0 to i + 1: decoding with a KV cache)"));
    const Npz right = written(scratch, arrays, {"--causal=bottom-right"});
    CHECK(floats(right, "weights")[0] == 0.5F);
    CHECK(floats(right, "weights")[2] == 0.0F);
    const Npz left = written(scratch, arrays, {"--causal=top-left"});
    CHECK(floats(left, "weights")[0] == 1.0F);
    REQUIRE(traced_arrays(scratch, arrays, {"--causal", "--query-offset", "1"}).code == 0);
}

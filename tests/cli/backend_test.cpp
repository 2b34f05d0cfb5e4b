// Which backend `trace` takes, and what it says about it.
#include "tests/cli/command.h"
#include "tests/support/random.h"

using namespace attn;

namespace {

/// What `trace` said about one head of n tokens of width 1, and the arrays that it wrote.
struct Traced {
    Ran ran;
    std::vector<std::string> arrays;
};

Traced trace_column(Index n, const Arguments& options) {
    const Scratch scratch;
    const Tensor column = test::normal_tensor<float>({1, 1, n, 1}, 3);
    const std::string source = scratch.at("in.npz");
    const std::string target = scratch.at("out.npz");
    std::vector<NpzEntry> entries;
    for (const char* name : {"Q", "K", "V"}) entries.push_back({name, {n, 1}, column.values()});
    REQUIRE(write_npz(source, entries));
    const Ran ran = succeeds(joined({"trace", source, "-o", target}, options));
    return {ran, read_npz(target, std::vector<std::string_view>{"logsumexp"})->names};
}

constexpr Index kTooManyForStages = 4100;  // its square is above kMostStagedPairs

}  // namespace

TEST_CASE("a small call is traced by staged, and nothing is said about it") {
    const Traced traced = trace_column(8, {});
    CHECK(contains(traced.ran.out, "staged"));
    CHECK(traced.ran.err.empty());
    CHECK(std::ranges::count(traced.arrays, "weights") == 1);
}

TEST_CASE("a large call is traced by fused; one line says what is missing and how to get it") {
    const Traced traced = trace_column(kTooManyForStages, {});
    CHECK(contains(traced.ran.out, "fused"));
    CHECK(traced.ran.err ==
          "attnscope trace: note: the backend fused computed this and does not store scores, "
          "scaled, masked, weights: 16810000 query–key pairs are more than 16777216; --backend "
          "staged stores them\n");
    CHECK(traced.arrays ==
          std::vector<std::string>{"q", "k", "v", "context", "output", "logsumexp", "options"});
}

TEST_CASE("a stage that is named is computed at any size, by what can keep it") {
    const Traced weights = trace_column(kTooManyForStages, {"--keep", "weights"});
    CHECK(contains(weights.ran.out, "staged"));
    CHECK(weights.ran.err.empty());
    CHECK(weights.arrays == std::vector<std::string>{"weights", "logsumexp", "options"});
    const Traced context = trace_column(8, {"--keep", "context,output"});
    CHECK(contains(context.ran.out, "fused"));
    CHECK(context.ran.err.empty());
}

TEST_CASE("a backend that is named computes whatever the size") {
    CHECK(contains(trace_column(8, {"--backend", "fused"}).ran.out, "fused"));
    CHECK(trace_column(8, {"--backend", "fused"}).ran.err.empty());
    CHECK(contains(trace_column(kTooManyForStages, {"--backend", "staged"}).ran.out, "staged"));
}

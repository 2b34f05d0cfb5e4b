// FlexAttention's BlockMask against the mask of the call, by hand.
#include "core/block_mask.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/dimensions.h"
#include "core/spec.h"
#include "tests/io/scratch.h"
#include "tests/support/results.h"

using namespace attn;

namespace {

/// 5 causal queries and keys of two heads in tiles of 2 × 2: rows (F = full, P = partial) P.., FP., FFP, where the last row and column of
/// tiles have one query and one key.
struct Causal {
    Dimensions size;
    MaskSpec mask;
    TileList partial{{1, 1, 3, 3}, {1, 1, 1}, {0, 0, 0, 1, 0, 0, 2, 0, 0}};
    TileList full{{1, 1, 3, 3}, {0, 1, 2}, {0, 0, 0, 0, 0, 0, 0, 1, 0}};
    Tensor weights{Shape{1, 2, 5, 5}};

    Causal() {
        size.batch = 1, size.heads = 2, size.tq = size.tk = 5;
        mask.causal = CausalAlign::top_left;
        for (Index h = 0; h < 2; ++h)
            for (Index i = 0; i < 5; ++i)
                for (Index j = 0; j <= i; ++j)
                    weights(0, h, i, j) = 1.0F / static_cast<float>(i + 1);
    }
    BlockMaskReport report() const {
        return check_block_mask(must(read_block_mask(partial, full, 2, 2, size)), mask, size,
                                weights);
    }
    std::string refused() const { return sentence_in(read_block_mask(partial, full, 2, 2, size)); }
};

}  // namespace

TEST_CASE("a BlockMask of the causal mask has no finding, and the shares of its tiles") {
    Causal causal;
    // The tile of query 4 and key 4 alone is full: every pair of it is allowed.
    const BlockMaskReport report = causal.report();
    CHECK(report.findings.empty());
    CHECK(report.listed == TileCounts{6, 6, 6});  // of two heads
    CHECK(report.exact == TileCounts{8, 4, 6});
    CHECK(report.needless == 0);
    CHECK(report.listed.all() == 18);
    CHECK(report.listed.computed() == 12);
}

TEST_CASE("a tile that the mask needs and the list leaves out is named with its pairs and weight") {
    Causal causal;
    causal.full.counts = {0, 1, 1};  // (2, 1) is gone
    const BlockMaskReport report = causal.report();
    REQUIRE(report.findings.size() == 2);  // of each head
    const TileFinding& found = report.findings[1];
    CHECK(found.fault == TileFault::left_out);
    CHECK(found.batch == 0);
    CHECK(found.head == 1);
    CHECK(found.query_block == 2);
    CHECK(found.key_block == 1);
    CHECK(found.pairs == 2);
    CHECK(found.weight == doctest::Approx(0.4));  // keys 2 and 3 of the five of query 4
    CHECK(report.listed == TileCounts{4, 6, 8});
}

TEST_CASE("the weight of a tile is the mean over its queries") {
    Causal causal;
    causal.full.counts = {0, 0, 2};  // (1, 0) is gone: queries 2 and 3, keys 0 and 1
    const BlockMaskReport report = causal.report();
    REQUIRE(report.findings.size() == 2);
    CHECK(report.findings[0].pairs == 4);
    CHECK(report.findings[0].weight == doctest::Approx((2.0 / 3.0 + 2.0 / 4.0) / 2.0));
    causal.weights = {};
    CHECK(std::isnan(causal.report().findings[0].weight));
}

TEST_CASE(
    "a full tile with forbidden pairs is a finding, and a listed tile without pairs is needless") {
    Causal causal;
    causal.partial.counts = {0, 1, 1};
    causal.full.counts = {1, 1, 2};  // (0, 0) is full: key 1 is after query 0
    BlockMaskReport report = causal.report();
    REQUIRE(report.findings.size() == 2);
    CHECK(report.findings[0].fault == TileFault::partly_forbidden);
    CHECK(report.findings[0].pairs == 1);
    CHECK(report.findings[0].query_block == 0);
    CHECK(report.findings[0].key_block == 0);
    CHECK(report.needless == 0);
    causal = Causal();
    causal.partial.counts = {2, 1, 1};
    causal.partial.indices[1] = 2;  // (0, 2): every key is after its queries
    report = causal.report();
    CHECK(report.findings.empty());
    CHECK(report.needless == 2);
}

TEST_CASE("a BlockMask whose entries do not fit is refused by the entry") {
    Causal causal;
    causal.partial.counts[1] = 4;
    CHECK(causal.refused() ==
          "kv_num_blocks[0, 0, 1] is 4; expected 0 to 3, the columns of kv_indices");
    causal = Causal();
    causal.full.indices[7] = 3;
    CHECK(causal.refused() == "full_kv_indices[0, 0, 2, 1] is 3; expected a key tile from 0 to 2");
    causal = Causal();
    causal.full.indices[3] = 1;  // (1, 1) is partial too
    CHECK(causal.refused() ==
          "full_kv_indices[0, 0, 1, 0] is 1; expected each tile once: a kernel counts the keys of "
          "tile (1, 1) twice");
    causal = Causal();
    causal.partial.shape = {1, 3, 1, 3};
    CHECK(contains(causal.refused(), "kv_indices is [1, 3, 1, 3]; expected [1, 2, 3, columns]"));
    CHECK(contains(sentence_in(read_block_mask(Causal().partial, {}, 0, 2, Causal().size)),
                   "Q_BLOCK_SIZE is 0; expected 1 or more"));
}

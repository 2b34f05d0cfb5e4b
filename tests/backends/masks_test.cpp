#include "core/masks.h"

#include <doctest/doctest.h>

#include <limits>

#include "core/dimensions.h"
#include "core/entries.h"
#include "core/spec.h"
#include "tests/support/results.h"

using namespace attn;

namespace {

Dimensions sizes(Index batch, Index heads, Index tq, Index tk) {
    Dimensions size;
    size.batch = batch;
    size.heads = size.kv_heads = heads;
    size.tq = tq;
    size.tk = tk;
    return size;
}

/// Rows of the first head as text: "1100 1110".
std::string picture(const MaskSpec& mask, const Dimensions& size, Index b = 0) {
    std::string text;
    for (Index i = 0; i < size.tq; ++i) {
        if (i > 0) text += ' ';
        for (Index j = 0; j < size.tk; ++j) text += may_attend(mask, size, b, 0, i, j) ? '1' : '0';
    }
    return text;
}

}  // namespace

TEST_CASE("causal alignment decides which end of the keys a single query sees") {
    MaskSpec mask;
    mask.causal = CausalAlign::top_left;
    CHECK(picture(mask, sizes(1, 1, 1, 6)) == "100000");
    CHECK(picture(mask, sizes(1, 1, 3, 2)) == "10 11 11");
    mask.causal = CausalAlign::bottom_right;
    CHECK(picture(mask, sizes(1, 1, 1, 6)) == "111111");
    CHECK(picture(mask, sizes(1, 1, 3, 2)) == "00 10 11");
}

TEST_CASE("window, block and padding allow their runs of keys, and masks combine by AND") {
    MaskSpec window;
    window.window = 1;
    CHECK(picture(window, sizes(1, 1, 4, 4)) == "1100 1110 0111 0011");
    MaskSpec block;
    block.block = 2;
    CHECK(picture(block, sizes(1, 1, 3, 5)) == "11000 11000 00110");
    MaskSpec padding;
    padding.padding = {2, 0};
    CHECK(picture(padding, sizes(2, 1, 1, 3), 0) == "110");
    CHECK(picture(padding, sizes(2, 1, 1, 3), 1) == "000");
    MaskSpec all = window;
    all.causal = CausalAlign::top_left;
    all.padding = {3};
    all.custom =
        std::make_shared<const Mask>(Shape{1, 1, 1, 4}, std::vector<std::uint8_t>{0, 1, 1, 1});
    CHECK(picture(all, sizes(1, 1, 4, 4)) == "0000 0100 0110 0010");
}

TEST_CASE("every rule counts by the query's position, which is its row and the offset") {
    Dimensions size = sizes(1, 1, 3, 10);
    size.query_offset = 6;
    MaskSpec block;
    block.block = 4;
    CHECK(picture(block, size) == "0000111100 0000111100 0000000011");
    MaskSpec window;
    window.window = 1;
    CHECK(picture(window, size) == "0000011100 0000001110 0000000111");
    window.global_tokens = 7;  // the query at position 6 is one
    CHECK(picture(window, size) == "1111111111 1111111110 1111111111");
    MaskSpec causal;
    causal.causal = CausalAlign::top_left;
    CHECK(picture(causal, size) == "1111111000 1111111100 1111111110");
    size = sizes(1, 1, 5, 3);  // bottom-right: the first two queries stand before key 0
    size.query_offset = -2;
    block.block = 2;
    CHECK(picture(block, size) == "000 000 110 110 001");
    block.block = std::numeric_limits<Index>::max();
    CHECK(picture(block, size) == "000 000 111 111 111");
}

TEST_CASE("a window or block of the largest 64-bit size allows everything") {
    MaskSpec mask;
    mask.window = std::numeric_limits<Index>::max();
    mask.block = std::numeric_limits<Index>::max();
    CHECK(picture(mask, sizes(1, 1, 2, 3)) == "111 111");
}

TEST_CASE("the materialised mask and its rows are what single pairs say") {
    MaskSpec mask;
    mask.causal = CausalAlign::bottom_right;
    mask.custom = std::make_shared<const Mask>(Shape{2, 1, 3, 1},
                                               std::vector<std::uint8_t>{1, 0, 1, 1, 1, 0});
    const Dimensions size = sizes(2, 2, 3, 4);
    const Mask all = materialise(mask, size);
    for_each_row(all.shape(), [&](Index b, Index h, Index i) {
        std::vector<std::uint8_t> row(4);
        Index count = fill_allowed(mask, size, b, h, i, row);
        for (Index j = 0; j < 4; ++j) {
            const bool allowed = may_attend(mask, size, b, h, i, j);
            CHECK((all(b, h, i, j) != 0) == allowed);
            CHECK((row[j] != 0) == allowed);
            count -= allowed ? 1 : 0;
        }
        CHECK(count == 0);
    });
}

TEST_CASE("a mask with 3 axes is refused with both meanings written out") {
    const std::array<Index, 3> extents{2, 3, 4};
    const auto mask =
        must_fail(mask_from_file(extents, std::vector<std::uint8_t>(24), sizes(2, 2, 3, 4)));
    CHECK(mask.text() ==
          "mask [2, 3, 4] has 3 axes, which is ambiguous: write [2, 1, 3, 4] for one mask per "
          "batch entry or [1, 2, 3, 4] for one per head");
}

TEST_CASE("a mask from a file takes [Tq, Tk] and what broadcasts, and refuses the rest") {
    const Dimensions size = sizes(2, 3, 4, 5);
    const auto load = [&](std::vector<Index> extents, std::size_t count) {
        return mask_from_file(extents, std::vector<std::uint8_t>(count, 1), size);
    };
    CHECK(load({4, 5}, 20)->shape() == Shape{1, 1, 4, 5});
    CHECK(load({2, 1, 1, 5}, 10)->shape() == Shape{2, 1, 1, 5});
    CHECK(load({5, 4}, 20).error().text() ==
          "mask [1, 1, 5, 4] does not broadcast to [B, H, Tq, Tk] = [2, 3, 4, 5]: each axis must "
          "be 1 or equal");
    CHECK(!load({20}, 20));
    CHECK(!load({4, 5}, 19));
    CHECK(!load({Index{1} << 62, Index{1} << 62}, 1));
}

// Arrays of sparse attention with Q, K and V: selected keys, an indexer's scores and FlexAttention's BlockMask.
#include <doctest/doctest.h>

#include "app/files/tensors.h"
#include "core/io/npz.h"
#include "core/masks.h"
#include "tests/io/scratch.h"
#include "tests/support/random.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::files;
using namespace attn::test;

namespace {

using Numbers = std::vector<double>;

struct Named {
    std::string name;
    std::vector<Index> extents;
    Numbers values;
};

/// Q, K and V [2,3,4], of two heads, three queries and three keys, and arrays of whole numbers.
struct SparseFile {
    Scratch scratch;
    Tensor q = normal_tensor<float>({1, 2, 3, 4}, 1);

    Result<TensorFile> with(const std::vector<Named>& more, const OptionValues& options = {},
                            std::vector<NpzEntry> entries = {}) {
        for (const Named& each : more)
            entries.push_back(
                {.name = each.name, .extents = each.extents, .values = {}, .doubles = each.values});
        for (const char* name : {"Q", "K", "V"})
            entries.push_back({name, {2, 3, 4}, std::as_const(q).values()});
        REQUIRE(write_npz(scratch / "in.npz", entries));
        return read_tensors(scratch.at("in.npz"), options);
    }
    bool notes_contain(const TensorFile& file, const std::string& text) const {
        return std::ranges::any_of(file.notes,
                                   [&](const Note& note) { return contains(note.text, text); });
    }
};

/// Whether query i of head h may attend to key j.
bool may(const TensorFile& file, Index h, Index i, Index j) {
    return may_attend(file.spec.mask, file.size, 0, h, i, j);
}

OptionValues causal_option() { return {{"causal", {"--causal", "top-left"}}}; }

const Numbers kSelected{0, -1, 1, 2, 2, 2, 2, 0, 0, 1, -1, -1};  // [2,3,2]

}  // namespace

TEST_CASE("selected keys are a mask, which the other rules of the call restrict further") {
    SparseFile file;
    const TensorFile read = must(file.with({{"selected", {2, 3, 2}, kSelected}}));
    for (Index h = 0; h < 2; ++h)
        for (Index i = 0; i < 3; ++i)
            for (Index j = 0; j < 3; ++j) {
                const auto slot = static_cast<std::size_t>((h * 3 + i) * 2);
                const auto key = static_cast<double>(j);
                CHECK(may(read, h, i, j) == (kSelected[slot] == key || kSelected[slot + 1] == key));
            }
    REQUIRE(read.sparse.selected);
    CHECK(!read.sparse.other_mask);
    CHECK(file.notes_contain(read, "selected is read as a mask"));
    CHECK(file.notes_contain(read,
                             "selected names 1 key twice for one query, first key 2 of query "
                             "2 in sequence 0, head 0; each counts once"));
    const std::vector<std::uint8_t> flags{1, 1, 1, 1, 1, 0, 1, 1, 1};
    const TensorFile both =
        must(file.with({{"selected", {1, 2, 3, 2}, kSelected}}, causal_option(),
                       {{.name = "mask", .extents = {3, 3}, .values = {}, .flags = flags}}));
    CHECK(may(both, 0, 1, 1));
    CHECK(!may(both, 0, 1, 2));  // the mask and the causal rule
    CHECK(!may(both, 1, 0, 2));  // the causal rule
    CHECK(may(both, 1, 0, 0));
    CHECK(!may(both, 0, 2, 0));  // not selected
    CHECK(std::ranges::equal(both.sparse.other_mask->values(), flags));
}

TEST_CASE("a selected entry past the keys, and axes that do not fit, are refused") {
    SparseFile file;
    Numbers wrong = kSelected;
    wrong[9] = 3;
    CHECK(sentence_in(file.with({{"selected", {2, 3, 2}, wrong}})) ==
          file.scratch.at("in.npz") +
              ": selected[0, 1, 1, 1] is 3; expected a key from 0 to 2, or "
              "-1 for an unused slot");
    wrong[9] = 0.5;
    CHECK(contains(sentence_in(file.with({{"selected", {2, 3, 2}, wrong}})),
                   "selected is float64 [2, 3, 2]; expected integers"));
    CHECK(contains(sentence_in(file.with({{"selected", {3, 2, 2}, kSelected}})),
                   "selected [3, 2, 2] has 3 axes, which is ambiguous"));
    CHECK(contains(sentence_in(file.with({{"selected", {2, 6}, kSelected}})),
                   "selected is [1, 1, 2, 6]; expected [1, 2, 3, k]"));
}

TEST_CASE("a BlockMask is read with its block sizes, and changes no mask") {
    SparseFile file;
    const std::vector<Named> arrays{{"kv_num_blocks", {1, 1, 2}, {1, 1}},
                                    {"kv_indices", {1, 1, 2, 2}, {0, 1, 1, 0}},
                                    {"full_kv_num_blocks", {1, 1, 2}, {0, 1}},
                                    {"full_kv_indices", {1, 1, 2, 2}, {0, 1, 0, 1}},
                                    {"Q_BLOCK_SIZE", {}, {2}},
                                    {"KV_BLOCK_SIZE", {}, {2}}};
    const TensorFile read = must(file.with(arrays));
    REQUIRE(read.sparse.block_mask);
    CHECK(read.sparse.block_mask->tiles.shape() == Shape{1, 1, 2, 2});
    CHECK(std::ranges::equal(read.sparse.block_mask->tiles.values(),
                             std::vector<std::uint8_t>{1, 0, 2, 1}));
    CHECK(!read.spec.mask.any());
    CHECK(file.notes_contain(read, "are read as a BlockMask, which changes no number"));
    std::vector<Named> wrong = arrays;
    wrong[1].values[2] = 2;
    CHECK(contains(sentence_in(file.with(wrong)),
                   "in.npz: kv_indices[0, 0, 1, 0] is 2; expected a key tile from 0 to 1"));
    wrong = {arrays[0]};
    CHECK(contains(sentence_in(file.with(wrong)), "kv_num_blocks is given without kv_indices"));
    wrong = {arrays[0], arrays[1]};  // 128 by default: one row of tiles
    CHECK(contains(sentence_in(file.with(wrong)), "3 queries are 1 tiles"));
}

TEST_CASE("an indexer's scores are read with the call") {
    SparseFile file;
    const TensorFile read = must(file.with({{"indexer_scores", {3, 3}, Numbers(9, 0.5)}}));
    CHECK(read.sparse.indexer.shape() == Shape{1, 1, 3, 3});
    CHECK(std::as_const(read.sparse.indexer).values()[4] == 0.5F);
    CHECK(!file.notes_contain(read, "not used"));
}

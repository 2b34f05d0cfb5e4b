// Arrays that are masks, and arrays that are added to the scores.
#include <doctest/doctest.h>

#include <limits>

#include "app/files/inputs.h"
#include "app/files/tensors.h"
#include "core/bias.h"
#include "core/io/npz.h"
#include "core/spec_arrays.h"
#include "tests/io/scratch.h"
#include "tests/support/random.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::files;
using namespace attn::test;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLowest = std::numeric_limits<float>::lowest();

/// Q, K and V [2,3,4], of two heads, three queries and three keys, and other arrays.
struct File {
    Scratch scratch;
    Tensor q = normal_tensor<float>({1, 2, 3, 4}, 1);

    Result<TensorFile> with(const std::vector<NpzEntry>& more, const std::string& options = "") {
        std::vector<NpzEntry> entries = more;
        if (!options.empty()) entries.push_back({"options", {}, {}, {options}});
        for (const char* name : {"Q", "K", "V"})
            entries.push_back({name, {2, 3, 4}, std::as_const(q).values()});
        REQUIRE(write_npz(scratch / "in.npz", entries));
        return read_tensors(scratch.at("in.npz"));
    }
};

}  // namespace

TEST_CASE("floats of 0 and a number that programs forbid with are a mask, and a note says so") {
    File file;
    for (const float forbids : {-kInfinity, kLowest, -65504.0F, -1e4F}) {
        CAPTURE(forbids);
        const std::vector<float> values{0, forbids, forbids, 0, 0, forbids, 0, 0, 0};
        const TensorFile read = must(file.with({{"mask", {3, 3}, values}}));
        REQUIRE(read.spec.mask.custom);
        CHECK(!read.spec.mask.bias);
        for (std::size_t n = 0; n < values.size(); ++n)
            CHECK(read.spec.mask.custom->values()[n] == (values[n] == 0.0F ? 1 : 0));
        REQUIRE(read.notes.size() == 1);
        CHECK(contains(read.notes[0].text, "mask float32 has only 0 and -"));
        CHECK(contains(read.notes[0].text, "is read as a mask"));
    }
    const TensorFile open = must(file.with({{"mask", {3, 3}, std::vector<float>(9)}}));
    CHECK(std::ranges::count(open.spec.mask.custom->values(), 0) == 0);
    CHECK(contains(open.notes[0].text, "has only 0 and is read as a mask that allows every pair"));
}

TEST_CASE("floats with other values are a bias, and 0 and 1 are refused with both readings") {
    File file;
    std::vector<float> values{0, 0.5F, -kInfinity, 0, 0, -1e4F, 0, 0, 2};
    const TensorFile read = must(file.with({{"mask", {3, 3}, values}}));
    REQUIRE(read.spec.mask.bias);
    CHECK(!read.spec.mask.custom);
    CHECK(read.spec.mask.bias->values.shape() == Shape{1, 1, 3, 3});
    CHECK(std::ranges::equal(read.spec.mask.bias->values.values(), values));
    CHECK(read.spec.mask.bias->forbids);
    CHECK(contains(read.notes[0].text, "is read as a bias: it is added to the scores"));
    values = {1, 0, 0, 1, 1, 0, 1, 1, 1};
    const std::string refused = sentence_in(file.with({{"mask", {3, 3}, values}}));
    CHECK(contains(refused, "in.npz: mask float32 has only 0 and 1, which is ambiguous"));
    CHECK(contains(refused,
                   "save it as bool if 1 means that a query may attend, or as the array bias"));
    values[0] = 0.5F;
    CHECK(sentence_in(file.with({{"mask", {3, 3}, values}, {"bias", {3, 3}, values}})) ==
          file.scratch.at("in.npz") +
              ": mask float32 has numbers that are added to the scores, and so does bias; give "
              "only one");
}

TEST_CASE("a bias has the shapes that broadcast, under each of its names") {
    File file;
    for (const char* name : {"bias", "attn_bias", "attention_bias", "alibi_bias"}) {
        CAPTURE(name);
        const TensorFile read =
            must(file.with({{name, {1, 2, 1, 3}, std::vector<float>(6, 0.5F)}}));
        REQUIRE(read.spec.mask.bias);
        CHECK(read.spec.mask.bias->values.shape() == Shape{1, 2, 1, 3});
        CHECK(read.notes.size() == (std::string_view(name) == "bias" ? 0 : 1));
    }
    const std::vector<float> many(18, 0.5F);
    CHECK(must(file.with({{"bias", {2, 3, 3}, many}})).spec.mask.bias->values.shape() ==
          Shape{1, 2, 3, 3});
    CHECK(must(file.with({{"attn_mask", {3, 3}, std::vector<float>(9, 0.5F)}})).spec.mask.bias);
    CHECK(contains(sentence_in(file.with({{"bias", {3, 2}, std::vector<float>(6, 0.5F)}})),
                   "bias [1, 1, 3, 2] does not broadcast to [B, H, Tq, Tk] = [1, 2, 3, 3]"));
    // Two arrays under other names: one is read, and the other named as unused.
    const TensorFile both = must(file.with({{"attn_bias", {3, 3}, std::vector<float>(9, 0.5F)},
                                            {"alibi_bias", {3, 3}, std::vector<float>(9, 2.0F)}}));
    CHECK(both.spec.mask.bias->values.values()[0] == 0.5F);
    CHECK(std::ranges::any_of(both.notes, [](const Note& note) {
        return contains(note.text, "'alibi_bias' is not used");
    }));
}

TEST_CASE(
    "segment_ids allow the keys of the same number, and alibi_slopes are a bias by distance") {
    File file;
    const auto segments = [&](std::vector<Index> axes, std::vector<double> numbers) {
        return file.with({{.name = "segment_ids",
                           .extents = std::move(axes),
                           .values = {},
                           .doubles = numbers}});
    };
    const TensorFile read = must(segments({3}, {1, 0, 1}));
    REQUIRE(read.spec.mask.custom);
    CHECK(std::ranges::equal(read.spec.mask.custom->values(),
                             std::vector<std::uint8_t>{1, 0, 1, 0, 1, 0, 1, 0, 1}));
    CHECK(contains(read.notes[0].text, "segment_ids: a query sees the keys of its own number"));
    CHECK(must(segments({1, 3}, {4, 4, 4})).spec.mask.custom);
    CHECK(contains(sentence_in(segments({2}, {1, 0})),
                   "segment_ids is float64 [2]; expected int32 or int64 [3] or [1, 3]"));
    const std::vector<float> slopes{0.5F, 0.25F};
    const TensorFile sloped = must(file.with({{"alibi_slopes", {2}, slopes}}));
    REQUIRE(sloped.spec.mask.bias);
    for (Index h = 0; h < 2; ++h)
        for (Index i = 0; i < 3; ++i)
            for (Index j = 0; j < 3; ++j)
                CHECK(bias_at(sloped.spec.mask, 0, h, i, j) ==
                      -slopes[static_cast<std::size_t>(h)] * static_cast<float>(std::abs(i - j)));
    CHECK(contains(sentence_in(file.with(
                       {{"alibi_slopes", {2}, slopes}, {"bias", {1, 1}, {slopes.data(), 1}}})),
                   "alibi_slopes and a bias are given; give one"));
    const std::vector<float> three{1, 2, 3};
    CHECK(contains(sentence_in(file.with({{"alibi_slopes", {3}, three}})),
                   "alibi_slopes is [3]; expected a slope for each head, [2] or [1, 2]"));
}

TEST_CASE("log_f is a bias of the gates between a key and a query, with causal alone") {
    File file;
    const std::vector<float> gates{-1, -2, -4, -0.5F, -0.25F, -0.125F};
    const TensorFile read =
        must(file.with({{"log_f", {2, 3}, gates}}, R"({"causal": "top-left"})"));
    REQUIRE(read.spec.mask.bias);
    CHECK(bias_at(read.spec.mask, 0, 0, 2, 0) == -6.0);
    CHECK(bias_at(read.spec.mask, 0, 0, 2, 1) == -4.0);
    CHECK(bias_at(read.spec.mask, 0, 1, 1, 0) == -0.25);
    CHECK(bias_at(read.spec.mask, 0, 1, 1, 1) == 0.0);
    CHECK(contains(sentence_in(file.with({{"log_f", {2, 3}, gates}})),
                   "log_f is given without causal; expected causal as well"));
    const std::vector<float> above{-1, 0.5F, -1};
    CHECK(contains(sentence_in(file.with({{"log_f", {3}, above}}, R"({"causal": "top-left"})")),
                   "log_f has 0.5; expected logs of gates between 0 and 1, at most 0"));
    CHECK(contains(
        sentence_in(file.with({{"log_f", {2}, {gates.data(), 2}}}, R"({"causal": "top-left"})")),
        "log_f is [2]; expected the log of a gate for each token, [3], [2, 3] or [1, 2, 3]"));
}

TEST_CASE("conditions on pairs are joined to the mask's array, by position") {
    File file;
    const TensorFile read = must(file.with({}));
    const ArrayReader reader = ArrayReader::open(file.scratch.at("in.npz"));
    AttentionSpec spec;
    spec.query_offset = 2;
    const std::vector<PairCondition> conditions{
        {"x", [](const MaskSpec&, Index p, Index j) { return p != 3 || j != 1; }},
        {"y", [](const MaskSpec&, Index p, Index j) { return p - j < 4; }}};
    add_pair_conditions(reader, {}, read.size, spec);
    CHECK(!spec.mask.custom);
    add_pair_conditions(reader, conditions, read.size, spec);
    REQUIRE(spec.mask.custom);
    CHECK(std::ranges::equal(spec.mask.custom->values(),
                             std::vector<std::uint8_t>{1, 1, 1, 1, 0, 1, 0, 1, 1}));
}

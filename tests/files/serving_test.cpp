// Pages, packed sequences, codes and splits as engines hold them, read as one padded call.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "app/files/layers.h"
#include "app/files/results.h"
#include "app/files/tensors.h"
#include "core/float8.h"
#include "core/io/npz.h"
#include "core/verify/serving.h"
#include "tests/io/scratch.h"
#include "tests/support/random.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::files;
using namespace attn::test;

namespace {

using Doubles = std::vector<double>;

/// Arrays under their names, as numpy.savez writes them; whole numbers as float64.
struct ServingFile {
    std::shared_ptr<const Scratch> scratch = std::make_shared<const Scratch>();
    std::map<std::string, std::pair<std::vector<Index>, std::vector<float>>> floats;
    std::map<std::string, std::pair<std::vector<Index>, Doubles>> numbers;
    std::string options;

    void add(const std::string& name, const std::vector<Index>& axes, std::uint64_t seed) {
        Index count = 1;
        for (const Index axis : axes) count *= axis;
        const Tensor made = normal_tensor<float>({1, 1, 1, count}, seed);
        floats[name] = {axes, {made.values().begin(), made.values().end()}};
    }
    std::string write(const std::string& name = "in.npz") const {
        std::vector<NpzEntry> entries;
        for (const auto& [key, array] : floats) entries.push_back({key, array.first, array.second});
        for (const auto& [key, array] : numbers)
            entries.push_back({key, array.first, {}, {}, {}, array.second});
        if (!options.empty()) entries.push_back({"options", {}, {}, {options}});
        REQUIRE(write_npz(*scratch / name, entries));
        return scratch->at(name);
    }
    TensorFile read() const { return must(read_tensors(write())); }
    std::string refused() const {
        const auto read = read_tensors(write());
        REQUIRE(!read);
        return read.error().text();
    }
    float at(const std::string& name, Index entry) const {
        return floats.at(name).second.at(entry);
    }
};

/// Two sequences of 5 and 2 keys in pages of 4, of one and two queries; 5 pages, 2 key/value heads, 4 query heads of width 3.
ServingFile paged() {
    ServingFile file;
    file.add("q", {3, 4, 3}, 1);
    file.add("k_cache", {5, 4, 2, 3}, 2);
    file.add("v_cache", {5, 4, 2, 3}, 3);
    file.numbers["block_tables"] = {{2, 2}, {3, 1, 4, -1}};
    file.numbers["seq_lens"] = {{2}, {5, 2}};
    file.numbers["cu_seqlens_q"] = {{3}, {0, 1, 3}};
    return file;
}

ServingFile packed() {
    ServingFile file;
    file.add("q", {3, 2, 4}, 1);
    file.add("k", {7, 1, 4}, 2);
    file.add("v", {7, 1, 4}, 3);
    file.numbers["cu_seqlens_q"] = {{3}, {0, 1, 3}};
    file.numbers["cu_seqlens_k"] = {{3}, {0, 4, 7}};
    return file;
}

}  // namespace

TEST_CASE("pages are gathered by the block table, each sequence at the end of its rows") {
    const ServingFile file = paged();
    const TensorFile read = file.read();
    const Inputs& in = read.layers.front();
    REQUIRE(in.k.shape() == Shape{2, 2, 5, 3});
    REQUIRE(in.q.shape() == Shape{2, 4, 2, 3});
    const auto entry = [](Index page, Index slot, Index head, Index column) {
        return ((page * 4 + slot) * 2 + head) * 3 + column;
    };
    constexpr std::pair<Index, Index> kFirst[] = {{3, 0}, {3, 1}, {3, 2}, {3, 3}, {1, 0}};
    for (Index g = 0; g < 2; ++g)
        for (Index c = 0; c < 3; ++c) {
            for (Index t = 0; t < 5; ++t)
                CHECK(in.k(0, g, t, c) ==
                      file.at("k_cache", entry(kFirst[t].first, kFirst[t].second, g, c)));
            for (Index t = 0; t < 3; ++t) CHECK(in.v(1, g, t, c) == 0.0F);
            for (Index p = 0; p < 2; ++p)
                CHECK(in.v(1, g, 3 + p, c) == file.at("v_cache", entry(4, p, g, c)));
        }
    for (Index h = 0; h < 4; ++h) {
        CHECK(in.q(0, h, 0, 0) == 0.0F);
        CHECK(in.q(0, h, 1, 0) == file.at("q", h * 3));
        CHECK(in.q(1, h, 1, 2) == file.at("q", (2 * 4 + h) * 3 + 2));
    }
    REQUIRE(read.spec.mask.custom);
    const Mask& mask = *read.spec.mask.custom;
    CHECK(mask(0, 0, 0, 4) == 0);
    CHECK(mask(0, 0, 1, 0) == 1);
    CHECK(mask(1, 0, 0, 2) == 0);
    CHECK(mask(1, 0, 0, 3) == 1);
}

TEST_CASE("a causal mask of pages ends at the last key of each sequence") {
    ServingFile file = paged();
    file.options = R"({"causal": true})";
    const TensorFile read = file.read();
    CHECK(read.spec.mask.causal == CausalAlign::bottom_right);
    file.options = R"({"causal": "top-left"})";
    CHECK(contains(file.refused(), "causal=top-left counts from the first token"));
    file.options = R"({"block": 4})";
    CHECK(contains(file.refused(), "block counts from the first token"));
}

TEST_CASE("pages with their heads first are told by what fits, or by the layout") {
    ServingFile file = paged();
    file.floats["k_cache"].first = file.floats["v_cache"].first = {5, 2, 4, 3};
    file.numbers["seq_lens"] = {{2}, {8, 2}};  // pages of 2 would hold 4 keys
    const TensorFile read = file.read();
    REQUIRE(read.layers.front().k.shape() == Shape{2, 2, 8, 3});
    CHECK(read.layers.front().k(0, 1, 5, 2) == file.at("k_cache", ((1 * 2 + 1) * 4 + 1) * 3 + 2));
    file.numbers["seq_lens"] = {{2}, {4, 2}};
    CHECK(file.read().layers.front().k.shape() == Shape{2, 4, 4, 3});
    file.options = R"({"layout": "heads-first"})";
    CHECK(file.read().layers.front().k.shape() == Shape{2, 2, 4, 3});
}

TEST_CASE("packed sequences become rows of a padded call, and seqused_k shortens them") {
    ServingFile file = packed();
    TensorFile read = file.read();
    REQUIRE(read.layers.front().k.shape() == Shape{2, 1, 4, 4});
    CHECK(read.layers.front().k(1, 0, 1, 0) == file.at("k", 4 * 4));
    file.numbers["seqused_k"] = {{2}, {4, 2}};
    read = file.read();
    CHECK(read.layers.front().k(1, 0, 1, 0) == 0.0F);
    CHECK(read.layers.front().k(1, 0, 2, 0) == file.at("k", 4 * 4));
    CHECK(read.serving->keys == std::vector<Index>{4, 2});
}

TEST_CASE("equal lists of documents over heads-first arrays stay one packed call") {
    ServingFile file;
    for (const char* const name : {"Q", "K", "V"}) file.add(name, {2, 7, 4}, 1);
    file.numbers["cu_seqlens_q"] = file.numbers["cu_seqlens_k"] = {{3}, {0, 4, 7}};
    CHECK(file.read().layers.front().q.shape() == Shape{1, 2, 7, 4});
}

TEST_CASE("a mask and a bias by positions move with their sequences") {
    ServingFile file = packed();
    file.add("bias", {2, 2, 4}, 5);  // queries of the longest, keys of the longest
    const TensorFile read = file.read();
    REQUIRE(read.spec.mask.bias);
    const Tensor& bias = read.spec.mask.bias->values;
    REQUIRE(bias.shape() == Shape{2, 2, 2, 4});
    CHECK(bias(0, 1, 1, 3) ==
          file.at("bias", (1 * 2 + 0) * 4 + 3));  // query 0, key 3 of sequence 0
    CHECK(bias(1, 1, 1, 3) ==
          file.at("bias", (1 * 2 + 1) * 4 + 2));  // query 1, key 2 of sequence 1
    CHECK(bias(1, 0, 0, 0) == 0.0F);
    file.add("bias", {2, 3, 4}, 5);
    CHECK(contains(file.refused(), "bias is [2, 3, 4]; expected what broadcasts to [2, 2, 2, 4]"));
}

TEST_CASE("results of packed queries are compared in the padded call, from another file too") {
    ServingFile file = paged();
    file.add("out", {3, 4, 3}, 7);
    file.add("softmax_lse", {4, 3}, 8);
    const ResultFile read = must(read_results(file.write(), {}, kOnlyLayer));
    const auto check = [&](const ResultFile& side) {
        REQUIRE(side.results[Stage::context].shape() == Shape{2, 4, 2, 3});
        CHECK(side.results[Stage::context](0, 3, 1, 2) == file.at("out", 3 * 3 + 2));
        CHECK(side.results[Stage::context](1, 0, 0, 1) == file.at("out", 4 * 3 + 1));
        CHECK(side.results[Stage::context](0, 3, 0, 2) == 0.0F);
        CHECK(side.results.logsumexp(1, 2, 1, 0) == file.at("softmax_lse", 2 * 3 + 2));
        CHECK(side.results.logsumexp(0, 2, 0, 0) == -std::numeric_limits<float>::infinity());
    };
    check(read);
    ServingFile alone;
    alone.floats["out"] = file.floats["out"],
    alone.floats["softmax_lse"] = file.floats["softmax_lse"];
    check(must(read_results(alone.write(), {}, kOnlyLayer, read.serving.get())));
}

TEST_CASE("scales multiply codes exactly: one, of a head, of a token, of a block") {
    ServingFile file = paged();
    const auto k = [&](const TensorFile& read) { return read.layers.front().k(0, 1, 4, 2); };
    const Index entry = ((1 * 4 + 0) * 2 + 1) * 3 + 2;  // page 1, slot 0, head 1, column 2
    const float code = file.at("k_cache", entry);
    file.numbers["k_scale"] = {{}, {0.1}};
    const TensorFile one = file.read();
    CHECK(k(one) == static_cast<float>(0.1 * static_cast<double>(code)));
    CHECK(one.serving->k(0, 1, 4, 2) == 0.1 * static_cast<double>(code));
    file.numbers["k_scale"] = {{2}, {1.0, 0.5}};
    CHECK(k(file.read()) == 0.5F * code);
    file.add("k_scale", {5, 4, 2}, 9);
    file.numbers.erase("k_scale");
    CHECK(k(file.read()) == file.at("k_scale", entry / 3) * code);
    file.add("k_scale", {5, 4, 2, 3}, 9);
    CHECK(k(file.read()) == file.at("k_scale", entry) * code);
    file.add("k_scale", {7}, 9);
    CHECK(contains(file.refused(), "k_scale is [7] for k_cache [5, 4, 2, 3]"));
}

TEST_CASE("codes of scales: E8M0 is a power of two, E2M1 has eight magnitudes") {
    CHECK(from_e8m0(127) == 1.0F);
    CHECK(from_e8m0(0) == 0x1.0p-127F);
    CHECK(from_e8m0(254) == 0x1.0p127F);
    CHECK(std::isnan(from_e8m0(255)));
    constexpr float kE2m1[] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
    for (int code = 0; code < 8; ++code) {
        CHECK(from_e2m1(static_cast<std::uint8_t>(code)) == kE2m1[code]);
        CHECK(from_e2m1(static_cast<std::uint8_t>(code + 8)) == -kE2m1[code]);
        CHECK(std::signbit(from_e2m1(static_cast<std::uint8_t>(code + 8))));
    }
}

TEST_CASE("pages and packed sequences that do not fit are refused by name and value") {
    const auto refused = [](auto change, ServingFile file = paged()) {
        change(file);
        return file.refused();
    };
    CHECK(contains(refused([](auto& f) {
                       f.numbers["block_tables"] = {{2, 2}, {3, 7, 4, -1}};
                   }),
                   "block_tables[0, 1] is 7, and k_cache has 5 pages; expected 0 to 4"));
    CHECK(contains(refused([](auto& f) { f.numbers["seq_lens"] = {{2}, {9, 2}}; }), "seq_lens"));
    CHECK(contains(refused([](auto& f) {
                       f.numbers["seq_lens"] = {{2}, {9, 2}};
                       f.options = R"({"layout": "tokens-first"})";
                   }),
                   "k_cache is [5, 4, 2, 3], which fits q [3, 4, 3] and the pages of seq_lens"));
    CHECK(contains(refused([](auto& f) {
                       f.numbers["seq_lens"] = {{2}, {5, -2}};
                   }),
                   "seq_lens[1] is -2; expected a number of keys, at least 0"));
    CHECK(contains(refused([](auto& f) {
                       f.numbers["seq_lens"] = {{3}, {5, 2, 1}};
                   }),
                   "seq_lens is [3]; expected [2]"));
    CHECK(contains(refused([](auto& f) {
                       f.numbers["cu_seqlens_q"] = {{3}, {0, 3, 2}};
                   }),
                   "cu_seqlens_q[2] is 2, less than 3 before it"));
    CHECK(contains(refused([](auto& f) {
                       f.numbers["cu_seqlens_q"] = {{3}, {0, 1, 4}};
                   }),
                   "cu_seqlens_q ends at 4, and q has 3 rows"));
    CHECK(contains(refused([](auto& f) {
                       f.numbers["cu_seqlens_q"] = {{3}, {0, 1, 2.5}};
                   }),
                   "cu_seqlens_q is float64 [3]; expected whole numbers"));
    CHECK(contains(refused([](auto& f) { f.floats.erase("v_cache"); }),
                   "k_cache is given without v_cache"));
    CHECK(contains(refused([](auto& f) { f.floats.erase("q"); }), "k_cache is given without q"));
    CHECK(contains(refused(
                       [](auto& f) {
                           f.numbers["seqused_k"] = {{2}, {4, 5}};
                       },
                       packed()),
                   "seqused_k[1] is 5, and cu_seqlens_k gives that sequence 3 rows"));
    CHECK(contains(refused(
                       [](auto& f) {
                           f.numbers["cu_seqlens_k"] = {{3}, {1, 4, 7}};
                       },
                       packed()),
                   "cu_seqlens_k[0] is 1; expected 0"));
}

TEST_CASE("splits of a padded call are read from a file of results alone") {
    ServingFile file;
    file.add("o_partial", {2, 3, 4, 5, 6}, 7);
    file.add("lse_partial", {2, 3, 4, 5}, 8);
    file.numbers["split_starts"] = {{3}, {0, 3, 5}};
    const ResultFile read = must(read_results(file.write(), {}, kOnlyLayer));
    REQUIRE(read.parts);
    REQUIRE(read.parts->context.shape() == Shape{6, 4, 5, 6});
    CHECK(read.parts->context(4, 2, 3, 1) ==
          file.at("o_partial", (((1 * 3 + 1) * 4 + 2) * 5 + 3) * 6 + 1));
    CHECK(read.serving->splits == std::vector<std::vector<Index>>(3, {0, 3, 5}));
}

TEST_CASE("splits are read with the call, and their starts") {
    ServingFile file = paged();
    file.add("o_partial", {2, 3, 4, 3}, 7);
    file.add("lse_partial", {2, 3, 4}, 8);
    file.numbers["split_starts"] = {{3}, {0, 3, 5}};
    const ResultFile read = must(read_results(file.write(), {}, kOnlyLayer));
    REQUIRE(read.parts);
    REQUIRE(read.parts->context.shape() == Shape{4, 4, 2, 3});
    CHECK(read.parts->context(2, 1, 1, 2) == file.at("o_partial", ((1 * 3 + 0) * 4 + 1) * 3 + 2));
    CHECK(read.parts->logsumexp(3, 1, 0, 0) == file.at("lse_partial", (1 * 3 + 1) * 4 + 1));
    CHECK(read.serving->splits == std::vector<std::vector<Index>>{{0, 3, 5}, {0, 2, 2}});
}

TEST_CASE("keys and values in one array are told apart by the axis of 2") {
    const ServingFile apart = paged();
    const auto& k = apart.floats.at("k_cache").second;
    const auto& v = apart.floats.at("v_cache").second;
    constexpr std::size_t kPage = 4 * 2 * 3;
    std::vector<float> first(k), second;
    first.insert(first.end(), v.begin(), v.end());
    for (std::size_t page = 0; page < 5; ++page)
        for (const auto* const of : {&k, &v})
            second.insert(second.end(), of->begin() + static_cast<std::ptrdiff_t>(page * kPage),
                          of->begin() + static_cast<std::ptrdiff_t>((page + 1) * kPage));
    const TensorFile expected = apart.read();
    ServingFile file = apart;
    file.floats.erase("k_cache"), file.floats.erase("v_cache");
    const std::pair<std::vector<Index>, std::vector<float>> forms[] = {{{2, 5, 4, 2, 3}, first},
                                                                       {{5, 2, 4, 2, 3}, second}};
    for (const auto& form : forms) {
        file.floats["kv_cache"] = form;
        const TensorFile read = file.read();
        CHECK(read.layers.front().k == expected.layers.front().k);
        CHECK(read.layers.front().v == expected.layers.front().v);
    }
    file.floats["kv_cache"] = {{2, 2, 4, 2, 3}, std::vector<float>(4 * kPage)};
    CHECK(contains(file.refused(),
                   "kv_cache is [2, 2, 4, 2, 3], which is [2, pages, …] and [pages, 2, …] alike; "
                   "save the keys as k_cache and the values as v_cache"));
    file.floats["kv_cache"] = {{3, 4, 4, 2, 3}, std::vector<float>(12 * kPage)};
    CHECK(contains(file.refused(), "kv_cache is [3, 4, 4, 2, 3]; expected [2, pages, P, Hkv, d]"));
    file.floats["k_cache"] = apart.floats.at("k_cache");
    CHECK(contains(file.refused(), "kv_cache and k_cache are given; give one"));
}

TEST_CASE("layers have pages of their own under l<N>. and share the table") {
    const ServingFile one = paged();
    ServingFile file = one;
    for (const std::string name : {"q", "k_cache", "v_cache"}) {
        file.floats.erase(name);
        file.floats["l2." + name] = one.floats.at(name);
        file.floats["l5." + name] = one.floats.at(name);
        for (float& value : file.floats["l5." + name].second) value = -value;
    }
    const TensorFile read = file.read(), expected = one.read();
    REQUIRE(read.numbers == std::vector<Index>{2, 5});
    CHECK(read.layers[0].k == expected.layers.front().k);
    CHECK(read.layers[1].v(1, 0, 4, 0) == -expected.layers.front().v(1, 0, 4, 0));
    CHECK(read.layers[1].q(1, 3, 1, 2) == -expected.layers.front().q(1, 3, 1, 2));
    file.numbers["l5.seq_lens"] = {{2}, {4, 2}};
    CHECK(contains(file.refused(), "the sequences of l5 have other lengths"));
}

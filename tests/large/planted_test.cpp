#include <bit>
#include <cmath>

#include <doctest/doctest.h>

#include "core/large/cell_arithmetic.h"
#include "core/large/planted.h"
#include "core/large/planted_layout.h"
#include "core/large/planted_spec.h"
#include "core/tensor.h"
#include "core/threads.h"
#include "tests/large/exact_map.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::large;
using namespace attn::test;

namespace {

PlantedSpec spec_of(Index tokens, Index d_k, std::uint64_t seed = 1) {
    return {.tokens = tokens, .d_k = d_k, .seed = seed};
}

std::uint64_t hash_of(const Tensor& tensor) {
    std::uint64_t hash = 0xCBF29CE484222325ULL;
    for (const float value : tensor.values())
        hash = (hash ^ std::bit_cast<std::uint32_t>(value)) * 0x100000001B3ULL;
    return hash;
}

/// Mean weight of the cells for which `which(i, j)`.
template <class Which>
double mean_weight(const ExactMap& exact, const Which& which) {
    double sum = 0.0;
    double cells = 0.0;
    for (Index i = 0; i < exact.rows; ++i)
        for (Index j = 0; j < exact.columns; ++j)
            if (which(i, j)) {
                sum += exact.weight(i, j);
                cells += 1.0;
            }
    return sum / cells;
}

Index document_of(const std::vector<Index>& starts, Index token) {
    return std::ranges::upper_bound(starts, token) - starts.begin();
}

}  // namespace

TEST_CASE("a planted needle weighs more than one half, far from the diagonal") {
    for (const Index tokens : {256, 1000, 3000})
        for (const Index d_k : {32, 64, 100})
            for (const std::uint64_t seed : {1U, 2U}) {
                const auto input = planted(spec_of(tokens, d_k, seed));
                REQUIRE(input->needle.has_value());
                const Cell cell = *input->needle;
                CHECK(cell.row - cell.column > tokens / 6);
                CHECK(cell_arithmetic(input->source, {}, cell).weight > 0.5);
            }
}

TEST_CASE("planted structures stand out of the weights around them") {
    const auto input = planted(spec_of(2048, 64));
    const ExactMap exact = exact_map(input->source);
    const std::vector<Index>& starts = input->document_starts;
    const auto own_document = [&](Index i, Index j) {
        return document_of(starts, i) == document_of(starts, j);
    };
    const double elsewhere = mean_weight(exact, [&](Index i, Index j) {
        return j > 0 && std::abs(i - j) > 200 && !own_document(i, j);
    });
    const double band =
        mean_weight(exact, [](Index i, Index j) { return j > 0 && std::abs(i - j) <= 8; });
    const double documents = mean_weight(exact, [&](Index i, Index j) {
        return j > 0 && std::abs(i - j) > 200 && own_document(i, j);
    });
    const double sink = mean_weight(exact, [](Index, Index j) { return j == 0; });
    CHECK(band > 20.0 * elsewhere);
    CHECK(documents > 4.0 * elsewhere);
    CHECK(sink > 0.02);
    CHECK(sink < 0.6);

    double induction = 0.0;
    double cells = 0.0;
    for (const Repeat& repeat : lay_out(spec_of(2048, 64)).repeats)
        for (Index step = 2; step < repeat.length; ++step) {
            induction += exact.weight(repeat.target + step - 1, repeat.source + step);
            cells += 1.0;
        }
    CHECK(induction / cells > 20.0 * elsewhere);
    CHECK(induction / cells > 0.02);
}

TEST_CASE("planted tokens repeat in some stretches and documents cover all tokens") {
    const PlantedLayout layout = lay_out(spec_of(4096, 64));
    CHECK(layout.repeats.size() >= 4);
    for (const Repeat& repeat : layout.repeats) {
        CHECK(repeat.source + repeat.length <= repeat.target);
        CHECK(repeat.target + repeat.length <= 4096);
        CHECK(std::equal(layout.token_ids.begin() + repeat.source,
                         layout.token_ids.begin() + repeat.source + repeat.length,
                         layout.token_ids.begin() + repeat.target));
    }
    CHECK(layout.document_starts.front() == 0);
    CHECK(layout.document_starts.size() > 5);
    CHECK(std::ranges::is_sorted(layout.document_starts));
    Index shortest = 4096, longest = 0;
    for (std::size_t d = 0; d < layout.document_starts.size(); ++d) {
        const bool last = d + 1 == layout.document_starts.size();
        const Index length =
            (last ? 4096 : layout.document_starts[d + 1]) - layout.document_starts[d];
        shortest = std::min(shortest, length);
        longest = std::max(longest, length);
    }
    CHECK(longest > 4 * shortest);
}

TEST_CASE("planted numbers are the same on every machine and for every number of threads") {
    const auto input = planted(spec_of(1000, 64));
    CHECK(hash_of(*input->source.q) == 16005217965255139540ULL);
    CHECK(hash_of(*input->source.k) == 2299636783926865806ULL);
    const ThreadLimit one(1);
    const auto again = planted(spec_of(1000, 64));
    CHECK(*again->source.q == *input->source.q);
    CHECK(*again->source.k == *input->source.k);
    CHECK(again->token_ids == input->token_ids);
    const auto other = planted(spec_of(1000, 64, 2));
    CHECK_FALSE(*other->source.q == *input->source.q);
}

// 36 tokens of the band weigh e^A each, n / 10 of a document e^(A² / 2D), D = 10 numbers of position.
TEST_CASE("the diagonal's strength A: 36 e^A is n / 10 e^(A² / 2D), at least 2.5") {
    const auto strength = [](Index tokens) {
        PlantedSpec spec = spec_of(tokens, 32);
        spec.needle = spec.documents = spec.induction = spec.sink = false;
        const auto input = planted(spec);
        double sum = 0.0;
        for (Index i = 0; i < tokens; ++i)
            for (Index c = 0; c < 32; ++c)
                sum += static_cast<double>((*input->source.q)(0, 0, i, c)) *
                       static_cast<double>((*input->source.k)(0, 0, i, c));
        return sum / static_cast<double>(tokens) / std::sqrt(32.0);
    };
    CHECK(strength(1000) == doctest::Approx(2.5).epsilon(0.02));
    for (const Index tokens : {10'000, 20'000}) {
        const double a = strength(tokens);
        CHECK(std::log(36.0) + a ==
              doctest::Approx(std::log(static_cast<double>(tokens) / 10.0) + a * a / 20.0)
                  .epsilon(0.01));
    }
}

TEST_CASE("planted structures can be left out") {
    PlantedSpec spec = spec_of(512, 32);
    spec.needle = spec.documents = spec.induction = spec.sink = spec.band = false;
    const auto bare = planted(spec);
    CHECK_FALSE(bare->needle.has_value());
    CHECK(bare->document_starts.empty());
    const std::span<const float> q = bare->source.q->values();
    CHECK(std::ranges::all_of(q, [](float value) { return std::abs(value) < 3.0F; }));
    spec.causal = true;
    CHECK(planted(spec)->source.spec.mask.causal == CausalAlign::top_left);
}

TEST_CASE("the generator names a size that it does not make, and stops when asked") {
    CHECK(must_fail(plant(spec_of(255, 64))).text() ==
          "tokens is 255: the generator makes 256 to 1048576");
    CHECK_FALSE(plant(spec_of(kMostPlanted + 1, 64)).has_value());
    CHECK(must_fail(plant(spec_of(256, 31))).text() == "d_k is 31: the generator makes 32 to 256");
    CHECK_FALSE(plant(spec_of(256, 257)).has_value());
    CHECK_FALSE(plant(spec_of(4096, 64), {stopped(), {}}).has_value());
}

TEST_CASE("the arithmetic of a cell is that of its row") {
    PlantedSpec spec = spec_of(300, 32);
    spec.causal = true;
    const auto input = planted(spec);
    const ExactMap exact = exact_map(input->source);
    for (const Cell cell : {Cell{0, 0}, Cell{17, 3}, Cell{299, 299}}) {
        const CellArithmetic arithmetic = cell_arithmetic(input->source, {}, cell);
        CHECK(arithmetic.allowed);
        CHECK(arithmetic.weight == doctest::Approx(exact.weight(cell.row, cell.column)));
        CHECK(std::exp(arithmetic.scaled - arithmetic.logsumexp) ==
              doctest::Approx(arithmetic.weight));
        CHECK(arithmetic.q.size() == 32);
    }
    const CellArithmetic forbidden = cell_arithmetic(input->source, {}, {3, 4});
    CHECK_FALSE(forbidden.allowed);
    CHECK(forbidden.weight == 0.0);
}

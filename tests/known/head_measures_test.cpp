// What a head does, against numbers worked out by hand.
#include "core/head_measures.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include "tests/support/results.h"

using namespace attn;
using enum attn::HeadMeasure;

namespace {

constexpr double kNear = 1e-7;

struct Head {
    std::vector<float> values;
    Index rows, columns;
    std::vector<std::uint8_t> allowed = {};
    std::vector<std::string> text = {};
    std::vector<Index> numbers = token_numbers(text);
    Index offset = 0;
    HeadRows of() const {
        return {{values.data(), rows, columns, columns}, allowed, numbers, offset};
    }
    double value(HeadMeasure measure) const { return measure_head(of())[measure].value(); }
    bool has(HeadMeasure measure) const { return measure_head(of())[measure].has_value(); }
};

/// 4 × 4, rows sum to 1; words a b a c.
Head mixed() {
    return {{0.5F, 0.5F, 0.0F, 0.0F,       //
             0.25F, 0.25F, 0.25F, 0.25F,   //
             0.125F, 0.625F, 0.0F, 0.25F,  //
             0.0F, 0.0F, 1.0F, 0.0F},
            4,
            4,
            {},
            {"a", "b", "a", "c"}};
}

Head causal(std::vector<float> values, Index tokens) {
    Head head{std::move(values), tokens, tokens};
    for (Index i = 0; i < tokens; ++i)
        for (Index j = 0; j < tokens; ++j) head.allowed.push_back(j <= i ? 1 : 0);
    return head;
}

Head shifted(Index tokens, Index by) {
    Head head{std::vector<float>(tokens * tokens), tokens, tokens};
    for (Index i = 0; i < tokens; ++i) head.values[i * tokens + std::max<Index>(i - by, 0)] = 1.0F;
    return head;
}

/// A share of every row goes to key 0.
Head with_sink(Head head, float share) {
    for (float& value : head.values) value *= 1.0F - share;
    for (Index i = 0; i < head.rows; ++i) head.values[i * head.columns] += share;
    return head;
}

Head even(Index tokens) {
    const auto count = static_cast<std::size_t>(tokens * tokens);
    return {std::vector<float>(count, 1.0F / static_cast<float>(tokens)), tokens, tokens};
}

}  // namespace

TEST_CASE("every measure of a 4 × 4 head by hand") {
    const Head head = mixed();
    const double rows[] = {std::log(2.0), std::log(4.0),
                           0.125 * std::log(8.0) + 0.625 * std::log(1.6) + 0.25 * std::log(4.0),
                           0.0};
    const double sum = rows[0] + rows[1] + rows[2];
    CHECK(head.value(entropy) == doctest::Approx(sum / 4).epsilon(kNear));
    CHECK(head.value(evenness) == doctest::Approx(sum / 4 / std::log(4.0)).epsilon(kNear));
    CHECK(head.value(previous) == doctest::Approx((0.25 + 0.625 + 1.0) / 3));
    CHECK(head.value(diagonal) == doctest::Approx((0.5 + 0.25) / 4));
    CHECK(head.value(next) == doctest::Approx((0.5 + 0.25 + 0.25) / 3));
    CHECK(head.value(sink) == doctest::Approx((0.25 + 0.125) / 3));
    CHECK(head.value(duplicate) == doctest::Approx((0.0 + 0.125) / 2));  // rows 0 and 2
    CHECK(head.value(induction) == doctest::Approx(0.625));              // row 2: token 1 follows a
    // row 0: .5·1; row 1: .25 (1 + 1 + 2); row 2: .125·2 + .625 + .25; row 3: 1
    CHECK(head.value(distance) == doctest::Approx((0.5 + 1.0 + 1.125 + 1.0) / 4));
    CHECK(head.value(confidence) == doctest::Approx((0.5 + 0.25 + 0.625 + 1.0) / 4));
    CHECK_FALSE(head.has(norm_share));
}

TEST_CASE("confidence: the mean of the largest weight to an allowed key") {
    const Head head = causal({1.0F, 0.0F, 0.0F,    //
                              0.25F, 0.75F, 4.0F,  // the mask forbids the 4
                              0.5F, 0.125F, 0.375F},
                             3);
    double sum = 0.0;
    for (Index i = 0; i < 3; ++i) {
        float most = 0.0F;
        for (Index j = 0; j <= i; ++j) most = std::max(most, head.values[i * 3 + j]);
        sum += most;
    }
    CHECK(head.value(confidence) == doctest::Approx(sum / 3));
    CHECK(head.value(confidence) == doctest::Approx((1.0 + 0.75 + 0.5) / 3));
    CHECK(even(4).value(confidence) == 0.25);
}

TEST_CASE("forbidden pairs count in no row: evenness by the keys that are left") {
    const Head head = causal({1.0F, 0.0F, 0.0F,  //
                              0.5F, 0.5F, 0.0F,  //
                              0.5F, 0.25F, 0.25F},
                             3);
    const double third = 0.5 * std::log(2.0) + 0.5 * std::log(4.0);
    CHECK(head.value(evenness) == doctest::Approx((1.0 + third / std::log(3.0)) / 2));
    CHECK(head.value(entropy) == doctest::Approx((std::log(2.0) + third) / 3));
    CHECK(head.value(next) == 0.0);  // defined: the mask makes it 0
}

TEST_CASE("a query stands at its position: with an offset keys are told from there") {
    // queries at 2 and 3 of four keys
    Head late{{0.125F, 0.5F, 0.25F, 0.125F, 0.0F, 0.25F, 0.75F, 0.0F}, 2, 4};
    late.offset = 2;
    CHECK(late.value(previous) == doctest::Approx((0.5 + 0.75) / 2));
    CHECK(late.value(diagonal) == doctest::Approx((0.25 + 0.0) / 2));
    CHECK(late.value(next) == 0.125);  // after position 3 there is no key
    CHECK(late.value(sink) == doctest::Approx((0.125 + 0.0) / 2));
    CHECK(late.value(distance) == doctest::Approx((0.25 + 0.5 + 0.125 + 0.5 + 0.75) / 2));
    CHECK_FALSE(late.has(duplicate));

    Head one{{0.0F, 0.0F, 1.0F}, 1, 3};  // decoding: the first row is not the first token's
    one.offset = 2;
    CHECK(one.value(sink) == 0.0);
    CHECK(one.value(diagonal) == 1.0);

    Head square = mixed();  // as many queries as keys, and others
    square.offset = 1;
    CHECK(square.value(previous) == doctest::Approx((0.5 + 0.25 + 0.0 + 0.0) / 4));
    for (const HeadMeasure measure : {duplicate, induction}) CHECK_FALSE(square.has(measure));
    Head named = shifted(6, 0);
    named.offset = 1;
    CHECK(must(propose_label(named.of())).name == previous);
}

TEST_CASE("what is not there is not defined, and is not 0") {
    Head head = mixed();
    head.numbers.clear();
    CHECK_FALSE(head.has(duplicate));
    CHECK_FALSE(head.has(induction));
    CHECK(head.has(previous));
    head.numbers = {0, 1, 2, 3};  // no word twice
    CHECK_FALSE(head.has(duplicate));

    const Head wide{{0.5F, 0.25F, 0.25F, 0.0F, 1.0F, 0.0F}, 2, 3};
    for (const HeadMeasure measure : {previous, diagonal, next, duplicate, induction, distance})
        CHECK_FALSE(wide.has(measure));
    CHECK(wide.value(sink) == 0.0);
    CHECK(wide.value(entropy) == doctest::Approx((0.5 * std::log(2.0) + 0.5 * std::log(4.0)) / 2));

    const Head alone{{1.0F}, 1, 1};
    CHECK(alone.value(entropy) == 0.0);
    CHECK(alone.value(diagonal) == 1.0);
    for (const HeadMeasure measure : {evenness, previous, next, sink})
        CHECK_FALSE(alone.has(measure));

    const Head none{{}, 0, 0};
    CHECK_FALSE(none.has(entropy));
    CHECK_FALSE(propose_label(none.of()));
}

TEST_CASE("measures are over the rows that are probabilities, and their number is given") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinity = std::numeric_limits<float>::infinity();
    Head head = shifted(5, 1);
    const auto set_row_1 = [&](float first, float second) {
        head.values[5] = first;
        head.values[6] = second;
    };
    for (const auto& [first, second] :
         {std::pair{0.0F, 0.0F}, std::pair{nan, 0.0F}, std::pair{1.5F, -0.5F},
          std::pair{infinity, 0.0F}, std::pair{0.5F, 0.25F}, std::pair{1.0F, 0.01F}}) {
        CAPTURE(first);
        set_row_1(first, second);
        const HeadMeasures measures = measure_head(head.of());
        CHECK(measures.rows == 4);
        CHECK(measures.excluded == 1);
        CHECK(measures[previous] == 1.0);  // of rows 2, 3 and 4
        CHECK(measures[sink] == 0.0);
        CHECK(measures[entropy] == 0.0);
        CHECK(must(propose_label(head.of())).name == previous);
    }
    set_row_1(0.999F, 0.002F);  // bfloat16 rounds so
    CHECK(measure_head(head.of()).rows == 5);
    set_row_1(nan, 0.0F);  // a row without a key is not counted at all
    head.allowed.assign(25, 1);
    for (std::size_t n = 5; n < 10; ++n) head.allowed[n] = 0;
    CHECK(measure_head(head.of()).rows == 4);
    CHECK(measure_head(head.of()).excluded == 0);

    for (float& value : head.values) value = nan;
    CHECK(measure_head(head.of()).rows == 0);
    CHECK(measure_head(head.of()).excluded == 4);
    for (const HeadMeasureInfo& each : head_measure_table()) CHECK_FALSE(head.has(each.measure));
    CHECK_FALSE(propose_label(head.of()));
}

TEST_CASE("a learned sink leaves rows that sum to less than 1") {
    const Head head{{0.25F, 0.25F, 0.5F, 0.0F}, 2, 2};
    HeadRows rows = head.of();
    CHECK(measure_head(rows).rows == 0);
    rows.sinks = true;
    CHECK(measure_head(rows).rows == 2);
    CHECK(measure_head(rows)[sink] == 0.5);
}

TEST_CASE("one row alone gives no label") {
    Head head = shifted(5, 0);  // rows 2 and 3 give all to key 0
    for (const std::size_t row : {1, 2, 3, 4}) {
        for (std::size_t j = 0; j < 5; ++j) head.values[row * 5 + j] = j == 0 ? 1.0F : 0.0F;
    }
    head.values[4 * 5] = 0.0F;
    head.values[4 * 5 + 3] = 1.0F;  // row 4: the previous token
    const auto label = propose_label(head.of());
    CHECK((!label || label->name == sink));
}

TEST_CASE("a label of the same word has one title everywhere") {
    HeadLabel label{diagonal};
    CHECK(title_of(label) == "own token");
    label.same_word = true;
    CHECK(title_of(label) == "same word");
}

TEST_CASE("labels: what stands out from even rows, with its numbers") {
    for (const Index by : {0, 1}) {
        const auto label = must(propose_label(shifted(6, by).of()));
        CHECK(label.name == (by == 0 ? diagonal : previous));
        CHECK(label.share == 1.0);
        CHECK(label.even == doctest::Approx(1.0 / 5.0));  // 5 keys besides the first
        CHECK(label.rest == 1.0);
        CHECK(label.rows == (by == 0 ? 5 : 4));  // row 0 has all its weight on key 0
        CHECK(label.lift() == doctest::Approx(1.0));
    }
    CHECK_FALSE(propose_label(even(2).of()));
    CHECK_FALSE(propose_label(even(12).of()));
    Head text = even(8);
    text.numbers = {0, 1, 0, 1, 0, 1, 0, 1};
    CHECK_FALSE(propose_label(text.of()));
    Head causal_even = causal(std::vector<float>(36), 6);
    for (Index i = 0; i < 6; ++i)
        for (Index j = 0; j <= i; ++j)
            causal_even.values[i * 6 + j] = 1.0F / static_cast<float>(i + 1);
    CHECK_FALSE(propose_label(causal_even.of()));
}

TEST_CASE("a sink is discounted before a head is named, and is a name only where nothing else is") {
    auto label = propose_label(with_sink(shifted(6, 1), 0.75F).of());
    REQUIRE(label);
    CHECK(label->name == previous);
    CHECK(label->share == 1.0);
    CHECK(label->rest == 0.25);

    label = propose_label(with_sink(even(6), 0.75F).of());
    REQUIRE(label);
    CHECK(label->name == sink);
    CHECK(label->share == doctest::Approx(0.75 + 0.25 / 6));
    CHECK(label->even == doctest::Approx(1.0 / 6));
    CHECK(label->rows == 5);
}

TEST_CASE("a pattern of too little weight, or of one row, is no name") {
    CHECK(propose_label(with_sink(shifted(6, 1), 0.96F).of())->name == sink);

    Head once = even(5);
    once.numbers = {0, 1, 2, 3, 1};  // rows 1 and 4 have a duplicate, row 4 alone looks at it
    for (std::size_t j = 0; j < 5; ++j) once.values[20 + j] = j == 1 ? 1.0F : 0.0F;
    const auto label = propose_label(once.of());
    CHECK((!label || label->rows >= kLeastNamedRows));
}

TEST_CASE("duplicate token and induction are named by tokens") {
    Head head = even(6);
    head.numbers = {0, 1, 2, 0, 1, 2};
    std::ranges::fill(head.values, 0.0F);
    for (std::size_t i = 0; i < 6; ++i) head.values[i * 6 + (i + 3) % 6] = 1.0F;
    CHECK(propose_label(head.of())->name == duplicate);
    CHECK(head.value(duplicate) == 1.0);
    std::ranges::fill(head.values, 0.0F);
    for (std::size_t i = 0; i < 6; ++i) head.values[i * 6 + (i < 3 ? 0 : i - 2)] = 1.0F;
    CHECK(head.value(induction) == 1.0);  // rows 3, 4, 5 at keys 1, 2, 3
    CHECK(propose_label(head.of())->name == induction);
}

TEST_CASE("norms of the output and their shares") {
    const std::vector<float> context{3.0F, 0.0F, 0.0F, 4.0F};
    const std::vector<float> w_o{1.0F, 2.0F, 2.0F, 0.0F, 3.0F, 4.0F};
    const MatrixView<const float> c{context.data(), 2, 2, 2};
    CHECK(head_output_norm(c, {}) == 5.0);
    // rows 3 (1 2 2) and 4 (0 3 4): √(81 + 400)
    CHECK(head_output_norm(c, {w_o.data(), 2, 3, 3}) == doctest::Approx(std::sqrt(481.0)));
    const std::vector<double> norms{1.0, 3.0};
    CHECK(norm_shares(norms)[1] == 0.75);
    const std::vector<double> zeros{0.0, 0.0};
    CHECK_FALSE(norm_shares(zeros)[0]);
    const std::vector<double> bad{1.0, std::numeric_limits<double>::quiet_NaN()};
    CHECK_FALSE(norm_shares(bad)[0]);
}

TEST_CASE("divergence of a row: 0, a number, infinite, NaN") {
    const float a[] = {0.5F, 0.5F, 0.0F};
    const float b[] = {0.25F, 0.25F, 0.5F};
    CHECK(row_divergence(a, a) == 0.0);
    CHECK(row_divergence(a, b) == doctest::Approx(std::log(2.0)));
    CHECK(row_divergence(b, a) == std::numeric_limits<double>::infinity());
    const float c[] = {0.5F, std::numeric_limits<float>::quiet_NaN(), 0.5F};
    CHECK(std::isnan(row_divergence(b, c)));
}

TEST_CASE("the table is in order, with keys of its own") {
    std::size_t n = 0;
    for (const HeadMeasureInfo& each : head_measure_table()) {
        CHECK(static_cast<std::size_t>(each.measure) == n++);
        CHECK(find_head_measure(each.key) == each.measure);
        CHECK_FALSE(each.source.empty());
    }
    CHECK_FALSE(find_head_measure("attic"));
}

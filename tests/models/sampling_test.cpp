// From logits to a token.
#include "core/models/sampling.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/support/results.h"

using namespace attn;

namespace {

/// p = 1/2, 1/4, 1/8, 1/8 of ids 2, 0, 1, 3.
const std::vector<float> kLogits{std::log(2.0F), 0.0F, std::log(4.0F), 0.0F};

std::vector<Index> places_of(const Candidates& candidates) {
    std::vector<Index> ids;
    for (const Candidate& each : candidates.all) ids.push_back(each.id);
    return ids;
}

std::vector<double> after_of(const Candidates& candidates) {
    std::vector<double> after;
    for (const Candidate& each : candidates.all) after.push_back(each.after);
    return after;
}

void check_after(const Sampling& how, const std::vector<double>& expected) {
    const auto made = must(candidates_of(kLogits, how));
    const auto after = after_of(made);
    REQUIRE(after.size() == expected.size());
    Index retained = 0;
    for (std::size_t n = 0; n < after.size(); ++n) {
        CHECK(after[n] == doctest::Approx(expected[n]).epsilon(1e-6));
        CHECK(made.all[n].retained == (expected[n] > 0.0));
        retained += made.all[n].retained ? 1 : 0;
    }
    CHECK(made.retained == retained);
}

}  // namespace

TEST_CASE("candidates come by their logit, of equal ones the lower id, with softmax before") {
    const auto made = must(candidates_of(kLogits, {}));
    CHECK(places_of(made) == std::vector<Index>{2, 0, 1, 3});
    CHECK(made.all[0].before == doctest::Approx(0.5).epsilon(1e-6));
    CHECK(made.all[1].before == doctest::Approx(0.25).epsilon(1e-6));
    CHECK(made.all[3].before == doctest::Approx(0.125).epsilon(1e-6));
    CHECK(made.all[3].logit == 0.0);
    CHECK(made.rank(3) == 3);
    CHECK(made.rank(9) == 4);
}

TEST_CASE("temperature, then top-k, then top-p") {
    check_after({}, {0.5, 0.25, 0.125, 0.125});
    check_after({.temperature = 0.5}, {16.0 / 22, 4.0 / 22, 1.0 / 22, 1.0 / 22});
    check_after({.temperature = 0.0}, {1, 0, 0, 0});
    check_after({.top_k = 3}, {4.0 / 7, 2.0 / 7, 1.0 / 7, 0});
    check_after({.top_k = 1}, {1, 0, 0, 0});
    check_after({.top_k = 99}, {0.5, 0.25, 0.125, 0.125});
    check_after({.top_p = 0.0}, {1, 0, 0, 0});
    check_after({.top_p = 0.49}, {1, 0, 0, 0});
    check_after({.top_p = 0.6}, {2.0 / 3, 1.0 / 3, 0, 0});
    check_after({.top_p = 1.0}, {0.5, 0.25, 0.125, 0.125});
    // of top-k's 4/7, 2/7, 1/7: 6/7 is below 0.86, and above 0.8 without top-k's division 3/4 is not
    check_after({.top_k = 3, .top_p = 0.86}, {4.0 / 7, 2.0 / 7, 1.0 / 7, 0});
    check_after({.top_k = 3, .top_p = 0.8}, {2.0 / 3, 1.0 / 3, 0, 0});
    check_after({.temperature = 0.5, .top_p = 0.8}, {0.8, 0.2, 0, 0});
}

TEST_CASE("of equal logits the nucleus has those of the lower ids") {
    const auto made = must(candidates_of(std::vector<float>(10, -3.0F), {.top_p = 0.25}));
    CHECK(made.retained == 3);
    CHECK(places_of(made) == std::vector<Index>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    CHECK(made.all[2].after == doctest::Approx(1.0 / 3));
    CHECK(must(candidates_of(std::vector<float>(10, 2.0F), {.temperature = 0.0})).all[0].retained);
    const auto sharp =
        must(candidates_of(std::vector<float>{0.0F, 1000.0F}, {.temperature = 1e-3}));
    CHECK(sharp.all[0].after == 1.0);
    CHECK(sharp.all[1].after == 0.0);
    CHECK(choose(sharp, 0.999999999) == 0);
}

TEST_CASE("top-p 1 keeps every token, also where a sum of some rounds to 1") {
    CHECK(must(candidates_of(std::vector<float>{50.0F, 0.0F, 0.0F}, {.top_p = 1.0})).retained == 3);
}

TEST_CASE("a number in [0, 1) chooses by running sums") {
    const auto made = must(candidates_of(kLogits, {}));
    for (const auto& [u, place] :
         {std::pair{0.0, 0}, {0.49, 0}, {0.51, 1}, {0.74, 1}, {0.76, 2}, {0.99, 3}})
        CHECK(choose(made, u) == static_cast<std::size_t>(place));
    const auto cut = must(candidates_of(kLogits, {.top_k = 2}));
    CHECK(choose(cut, 1.0 - 1e-16) == 1);
}

TEST_CASE("100,000 draws come as often as their p says, and a seed repeats them") {
    const Sampling how{.temperature = 0.8, .top_k = 3, .seed = 11};
    const auto made = must(candidates_of(kLogits, how));
    std::vector<double> count(4, 0.0);
    constexpr int kDraws = 100000;
    for (std::uint64_t n = 0; n < kDraws; ++n) count[choose(made, draw_of(how, n))] += 1.0;
    for (std::size_t n = 0; n < 4; ++n) {
        const double p = made.all[n].after;
        CHECK(std::abs(count[n] - kDraws * p) <= 4.0 * std::sqrt(kDraws * p * (1.0 - p)));
    }
    CHECK(count[3] == 0.0);
    for (std::uint64_t n = 0; n < 9; ++n) CHECK(draw_of(how, n) == draw_of({.seed = 11}, n));
    CHECK(draw_of(how, 0) != draw_of({.seed = 12}, 0));
    CHECK(draw_of(how, 0) != draw_of(how, 1));
}

TEST_CASE("what cannot be sampled is refused by name") {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    const auto refused = [](const Sampling& how) {
        return sentence_in(candidates_of(kLogits, how));
    };
    CHECK(refused({.temperature = -1.0}) ==
          "temperature is -1; expected 0 (greedy) or a number above it");
    CHECK(refused({.temperature = kNan}).starts_with("temperature is nan"));
    CHECK(refused({.top_k = 0}) == "top-k is 0; expected at least 1");
    CHECK(refused({.top_p = 1.5}) == "top-p is 1.5; expected a number from 0 to 1");
    CHECK(refused({.top_p = kNan}).starts_with("top-p is nan"));
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    for (const float wrong : {std::nanf(""), kInfinity, -kInfinity})
        CHECK(sentence_in(candidates_of(std::vector<float>{0.0F, wrong}, {}))
                  .starts_with("the logit of token 1 is "));
    CHECK(sentence_in(candidates_of({}, {})) == "there is no logit to choose from");
}

#include "app/workspaces/saturation/text.h"

#include <fmt/format.h>

#include <regex>

#include "app/workspaces/saturation/actions.h"
#include "app/workspaces/saturation/gradients.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

/// Medians over the draws, worked out draw by draw.
struct Expected {
    double p_scaled, p_unscaled, j_scaled, j_unscaled;
};

double median(std::vector<double> values) {
    if (std::ranges::any_of(values, [](double v) { return std::isnan(v); })) return std::nan("");
    std::ranges::sort(values);
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Expected expected(const SaturationSettings& settings, Index d_k) {
    const bool drawn = settings.model == SaturationModel::sampled;
    std::vector<double> ps, pu, js, ju;
    for (Index trial = 0; trial < (drawn ? settings.trials : 1); ++trial) {
        const SaturationPair pair = saturation_at(settings, d_k, trial);
        ps.push_back(pair.scaled.metrics.max_probability);
        pu.push_back(pair.unscaled.metrics.max_probability);
        js.push_back(pair.scaled.metrics.jacobian_frobenius);
        ju.push_back(pair.unscaled.metrics.jacobian_frobenius);
    }
    return {median(ps), median(pu), median(js), median(ju)};
}

std::optional<std::string> first_match(const std::string& text, const char* pattern) {
    std::smatch match;
    if (!std::regex_search(text, match, std::regex(pattern))) return std::nullopt;
    return match[1].str();
}

/// "2,500" and "10⁷".
double number_in(std::string text) {
    std::erase(text, ',');
    constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    for (int power = 1; power < 400; ++power) {
        std::string written = "10";
        for (const char digit : std::to_string(power)) written += kDigits[digit - '0'];
        if (text == written) return std::pow(10.0, power);
    }
    return std::stod(text);
}

void check_share(const std::string& sentence, double p) {
    const auto text = first_match(sentence, R"(([0-9.]+) %)");
    REQUIRE(text);
    if (has(sentence, "more than 99.9 %")) {
        CHECK(p >= 0.9995);
        CHECK(p < 1.0);
        return;
    }
    const double half = text->find('.') == std::string::npos ? 0.5 : 0.05;
    CHECK(std::abs(std::stod(*text) - 100.0 * p) <= half + 1e-9);
}

void check_gradient(const std::string& sentence, double scaled, double unscaled) {
    const double ratio = scaled / unscaled;
    if (const auto bound = first_match(sentence, R"(over (10[⁰¹²³⁴⁵⁶⁷⁸⁹]+) times smaller)")) {
        CHECK(ratio > number_in(*bound));
    } else if (const auto text = first_match(sentence, R"(([0-9.,]+) times smaller)")) {
        CHECK(ratio == doctest::Approx(number_in(*text)).epsilon(0.05));
    } else if (const auto times = first_match(sentence, R"(([0-9.,]+) times as large)")) {
        CHECK(1.0 / ratio == doctest::Approx(number_in(*times)).epsilon(0.05));
    } else if (has(sentence, "through softmax is 0.")) {
        CHECK(unscaled == 0.0);
        CHECK(scaled > 0.0);
    } else if (has(sentence, "passes no gradient")) {
        CHECK(unscaled == 0.0);
        CHECK(scaled == 0.0);
    } else {
        const bool about = has(sentence, "about as large as with scaling");
        CHECK(about !=
              has(sentence, "more draws are needed to compare the gradient through softmax"));
        if (about) CHECK(std::abs(std::log(ratio)) <= std::log(2.0));
    }
}

void check_sentence(const SaturationSettings& settings, Index d_k) {
    const std::vector<Index> widths{d_k};
    const SaturationPoint point = saturation_sweep(settings, widths).value().front();
    const std::string sentence = saturation_sentence(settings, point);
    const Expected want = expected(settings, d_k);
    INFO("sentence ", sentence, ", d_k ", d_k);
    CHECK(sentence.ends_with('.'));
    if (std::isnan(want.p_unscaled)) {
        CHECK(has(sentence, "the weights and all gradients are NaN"));
        CHECK((has(sentence, "With scaling, they are NaN too")) == std::isnan(want.p_scaled));
        if (!std::isnan(want.p_scaled)) check_share(sentence, want.p_scaled);
        return;
    }
    CHECK_FALSE(has(sentence, "NaN"));
    check_share(sentence, want.p_unscaled);
    const bool alone =
        settings.model == SaturationModel::fixed_logits && settings.logits.size() == 1;
    if (!alone && d_k == 1) {
        CHECK(has(sentence, "changes nothing"));
        CHECK(want.p_scaled == want.p_unscaled);
        return;
    }
    if (!alone) CHECK(has(sentence, root_text(d_k)));
    check_gradient(sentence, want.j_scaled, want.j_unscaled);
}

}  // namespace

TEST_CASE("the sentence's numbers are the medians, for many keys, seeds and widths") {
    for (const Index keys : {2, 3, 16, 60})
        for (const std::uint64_t seed : {1u, 2u, 77u})
            for (const Index d_k : {1, 2, 3, 4, 16, 64, 100, 512}) {
                SaturationSettings settings;
                settings.model = SaturationModel::sampled;
                settings.keys = keys;
                settings.trials = static_cast<Index>(seed % 3) + 4;  // odd and even
                settings.seed = seed;
                check_sentence(settings, d_k);
            }
}

TEST_CASE("the sentence is true of any fixed logits: one key, equal, tiny, huge") {
    const std::vector<std::vector<double>> lists{{0.5, 0.9, 0.0, 1.2, 0.6},
                                                 {3.0},
                                                 {1.0, 1.0, 1.0},
                                                 {0.0, 1e-9},
                                                 {-2.0, 2.0},
                                                 {0.01, 0.02, 0.03, 0.04},
                                                 {1e3, 0.0},
                                                 {1e308, 0.0},
                                                 {1e308, -1e308, 5.0},
                                                 {30.0, 0.0, -1.0}};
    for (const std::vector<double>& logits : lists)
        for (const Index d_k : {1, 2, 4, 64, 100, 512, 4096}) {
            SaturationSettings settings;
            settings.logits = logits;
            check_sentence(settings, d_k);
        }
}

TEST_CASE("what the sentence says of the opening settings") {
    SaturationPoint point;
    point.d_k = 64;
    point.scaled.max_probability.median = 0.22;
    point.unscaled.max_probability.median = 0.97;
    point.scaled.jacobian = {0.2, 0.30, 0.4, 0.29, 0.31};
    point.unscaled.jacobian = {0.0, 0.0333, 0.2, 0.02, 0.05};
    SaturationSettings settings;
    settings.model = SaturationModel::sampled;
    CHECK(saturation_sentence(settings, point) ==
          "Without scaling, the scores have standard deviation √64 = 8: the largest weight is 97 "
          "%, and the gradient "
          "through softmax is 9.0 times smaller than with scaling.");
}

TEST_CASE("factors are written with their direction") {
    CHECK(change_text(182.0, 1.0) == "180 times smaller");
    CHECK(change_text(1.0, 1.0) == "the same");
    CHECK(change_text(1.0, 1.04) == "about the same");
    CHECK(change_text(1.04, 1.0) == "about the same");
    CHECK(change_tick(1.0, 1.04) == "≈");
    CHECK(change_text(1.0, 1.3) == "1.3 times as large");
    CHECK(change_text(0.3, 0.0) == "0");
    CHECK(change_text(0.0, 0.0) == "stays 0");
    CHECK(change_tick(0.0, 0.0) == "0");
    CHECK(change_text(0.0, 0.3) == "no longer 0");
    CHECK(change_tick(0.3, 0.0) == "÷∞");
    CHECK(change_text(std::nan(""), 1.0) == "NaN");
    CHECK(ratio_number(99.6) == "100");
    CHECK(change_text(2475.0, 1.0) == "2,500 times smaller");
    CHECK(change_text(0.3, 0.3e-9) == "1·10⁹ times smaller");
    CHECK(change_tick(182.0, 1.0) == "÷180");
    CHECK(change_tick(2475.0, 1.0) == "÷2,500");
    CHECK(change_tick(3.2e7, 1.0) == "÷3·10⁷");
    CHECK(ratio_number(9.96) == "10");
    CHECK(ratio_number(9.94) == "9.9");
}

TEST_CASE("typed logits: any separator, and an error that names the bad value and its key") {
    CHECK(typed_logits("0.5, 0.9, 0, 1.2, 0.6").value() ==
          std::vector<double>{0.5, 0.9, 0.0, 1.2, 0.6});
    CHECK(typed_logits(" 1;2 −3\t4e-1 ").value() == std::vector<double>{1.0, 2.0, -3.0, 0.4});
    const auto description = [](const char* text) { return typed_logits(text).error().text(); };
    CHECK(description("0.5, abc, 2") == "'abc' is not a finite number: the logit of key 1");
    CHECK(has(description("1, 2, nan"), "'nan'"));
    CHECK(has(description("inf"), "key 0"));
    CHECK(has(description(" , "), "there is no logit"));
    const std::vector<double> odd{0.1, -1e-300, 12345678.9, 1.0 / 3.0};
    CHECK(typed_logits(written_logits(odd)).value() == odd);
}

TEST_CASE("fixed logits: the curves of ‖∂a/∂s‖ cross at a root, to the whole d_k") {
    SaturationSettings settings;  // five bars
    const auto sweep = saturation_sweep(settings, sweep_widths()).value();
    const std::vector<Crossing> crossings = raw_crossings(settings, sweep);
    REQUIRE(crossings.size() == 1);
    CHECK(crossings[0].low == doctest::Approx(196.9).epsilon(1e-3));
    CHECK(crossings[0].low == crossings[0].high);
    const auto order_at = [&](double d_k) {
        const std::vector<Index> width{static_cast<Index>(d_k)};
        const SaturationPoint point = saturation_sweep(settings, width).value().front();
        return point.scaled.jacobian_raw.median < point.unscaled.jacobian_raw.median;
    };
    CHECK(order_at(196.0));
    CHECK_FALSE(order_at(197.0));
    const std::string sentence = raw_sentence(settings, sweep);
    CHECK(has(sentence, "the curve with scaling starts lower"));
    CHECK(sentence.ends_with("cross at d_k ≈ 197."));
    settings.logits = {0.1, 0.2, 0.3};
    const auto narrow = saturation_sweep(settings, sweep_widths()).value();
    CHECK(raw_sentence(settings, narrow).ends_with("cross at d_k ≈ 2,953."));
}

TEST_CASE("draws: the curves of ‖∂a/∂s‖ cross between two d_k whose medians are in other order") {
    SaturationSettings settings{.model = SaturationModel::sampled};
    settings.trials = 41;
    const auto sweep = saturation_sweep(settings, sweep_widths()).value();
    const std::vector<Crossing> crossings = raw_crossings(settings, sweep);
    REQUIRE(crossings.size() == 1);
    const auto lower = [&](double d_k) {
        const SaturationPoint& point =
            one_of(sweep, static_cast<Index>(d_k), &SaturationPoint::d_k);
        return point.scaled.jacobian_raw.median < point.unscaled.jacobian_raw.median;
    };
    CHECK(lower(crossings[0].low));
    CHECK_FALSE(lower(crossings[0].high));
    CHECK(crossings[0].high == 2.0 * crossings[0].low);
    CHECK(raw_sentence(settings, sweep)
              .ends_with(fmt::format("cross between d_k = {} and {}.", crossings[0].low,
                                     crossings[0].high)));
}

TEST_CASE("curves that do not cross are not said to") {
    SaturationSettings settings;
    settings.logits = {1.0, 1.0};  // unscaled is never below scaled
    const auto sweep = saturation_sweep(settings, sweep_widths()).value();
    CHECK(raw_crossings(settings, sweep).empty());
    CHECK(has(raw_sentence(settings, sweep), "do not cross"));
    settings.logits = {1.0};  // no gradient at all
    const auto none = saturation_sweep(settings, sweep_widths()).value();
    CHECK_FALSE(has(raw_sentence(settings, none), "starts lower"));
}

TEST_CASE("what an interval leaves open is not said") {
    CHECK(gradient_change({1.0, 1.0}, {0.5, 0.8}) == GradientChange::alike);  // 1.25 at least
    CHECK(gradient_change({1.0, 1.2}, {0.1, 0.2}) == GradientChange::less);
    CHECK(gradient_change({1.0, 1.2}, {3.0, 6.0}) == GradientChange::more);
    CHECK(gradient_change({0.9, 1.0}, {0.95, 9.0}) == GradientChange::open);
    CHECK(gradient_change({0.9, 1.0}, {0.95, 1.6}) == GradientChange::alike);
    CHECK(gradient_change({0.0, 0.0}, {0.0, 0.0}) == GradientChange::alike);
    CHECK(gradient_change({1.0, 1.0}, {0.0, 0.0}) == GradientChange::less);
    CHECK(times_text(1.0, 1.7) == "1.7 times as large");
    CHECK(times_text(34.0, 1.0) == "34 times smaller");
    CHECK(times_text(3e6, 1.0) == "over 10⁶ times smaller");
}

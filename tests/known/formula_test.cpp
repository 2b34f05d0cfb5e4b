#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "core/formula.h"
#include "tests/io/scratch.h"

using namespace attn;

namespace {

const NamedMatrices kNames{
    {"d", {1, 1, {4.0}}}, {"s", {1, 3, {0.0, 1.0, 2.0}}}, {"K", {2, 2, {1.0, 1.0, 1.0, 0.0}}}};

SmallMatrix value(const std::string& formula) {
    const auto made = evaluate_formula(formula, kNames);
    REQUIRE_MESSAGE(made.has_value(), (made ? std::string() : made.error().text()));
    return *made;
}

void check(const std::string& formula, Index rows, Index columns,
           const std::vector<double>& entries) {
    CAPTURE(formula);
    const SmallMatrix made = value(formula);
    CHECK(made.rows == rows);
    CHECK(made.columns == columns);
    REQUIRE(made.entries.size() == entries.size());
    for (std::size_t n = 0; n < entries.size(); ++n) {
        CAPTURE(n);
        if (std::isnan(entries[n]))
            CHECK(std::isnan(made.entries[n]));
        else if (std::isinf(entries[n]))
            CHECK(made.entries[n] == entries[n]);
        else
            CHECK(made.entries[n] == doctest::Approx(entries[n]).epsilon(1e-12));
    }
}

}  // namespace

TEST_CASE("formulas: numbers, their ranks, and what goes entry by entry") {
    const double inf = std::numeric_limits<double>::infinity();
    check("2 + 3 * 4 - 6 / 2", 1, 1, {11});
    check("-2 ^ 2 + 2 ^ -1", 1, 1, {-3.5});
    check("(1 + 2) * 2 ^ 3 ^ 0", 1, 1, {6});
    check("8 - 4 - 2", 1, 1, {2});
    check("(3 < 4) + (4 <= 4) + (2 > 3) + (2 == 2)", 1, 1, {3});
    check("s * 2 - d", 1, 3, {-4, -2, 0});
    check("s' + s", 3, 3, {0, 1, 2, 1, 2, 3, 2, 3, 4});
    check("[1, 2; 3, 4]'", 2, 2, {1, 3, 2, 4});
    check("K @ [2; 3]", 2, 1, {5, 2});
    check("K[1] @ K", 1, 2, {1, 1});
    check("K[0, 1] + s[0, d - 2]", 1, 1, {3});
    check("-inf + s", 1, 3, {-inf, -inf, -inf});
    check("nan", 1, 1, {std::nan("")});
}

TEST_CASE("formulas: functions are the engine's") {
    const double e = std::exp(1.0);
    const double sum = 1 + e + e * e;
    check("softmax(s)", 1, 3, {1 / sum, e / sum, e * e / sum});
    check("softmax(causal(K))", 2, 2, {1, 0, e / (1 + e), 1 / (1 + e)});
    check("softmax(s - inf)", 1, 3, {std::nan(""), std::nan(""), std::nan("")});
    check("entropy(eye(2) * 0 + 0.5)", 2, 1, {std::log(2.0), std::log(2.0)});
    check("jacobian([0.25, 0.75])", 2, 2, {0.1875, -0.1875, -0.1875, 0.1875});
    check("alibi(0, 8)", 1, 1, {0.5});
    check("rowsum(K) + rowmax(K) * 10 + argmax(K) * 100", 2, 1, {12, 11});
    check("sum(K) + max(s) + rows(s) + columns(s)", 1, 1, {9});
    check("ln(exp(2)) + sqrt(d) + abs(-1) + floor(1.5) + log2(8)", 1, 1, {9});
    check("sin(0) + cos(0) + ones(2, 1)", 2, 1, {2, 2});
}

TEST_CASE("formulas: an error quotes the formula and names what is wrong") {
    const std::pair<const char*, const char*> kWrong[] = {
        {"", "ends too early"},
        {"1 +", "ends too early"},
        {"q * 2", "has 'q', which is not a known name"},
        {"sin(1", "has no ')'"},
        {"tan(1)", "'tan', which is not a function: expected one of abs, alibi"},
        {"softmax(s, s)", "gives softmax 2 arguments; expected 1"},
        {"s + [1, 2]", "has 1 × 3 + 1 × 2, which do not fit"},
        {"s @ K", "has 1 × 3 @ 2 × 2"},
        {"K[2]", "has the index 2; expected 0 to 1"},
        {"K[0, nan]", "expected 0 to 1"},
        {"[1, 2; 3]", "rows differ in length"},
        {"1 $ 2", "cannot be read from '$ 2' on"},
        {"1 2", "cannot be read from '2' on"},
    };
    for (const auto& [formula, why] : kWrong) {
        CAPTURE(formula);
        const auto made = evaluate_formula(formula, kNames);
        REQUIRE_FALSE(made);
        CHECK(contains(made.error().text(), why));
        CHECK(contains(made.error().text(), std::string("'") + formula));
    }
    CHECK_FALSE(evaluate_formula(std::string(5000, '('), {}));
    CHECK_FALSE(evaluate_formula(std::string(5000, '-') + "1", {}));
}

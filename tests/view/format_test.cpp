#include "app/common/number_style.h"

#include "tests/view/view_test.h"

using namespace attn::view;

namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
}  // namespace

TEST_CASE("a cell's number: −0 is 0, NaN and ∞ have names, decimals until it is too wide") {
    CHECK(cell_number(-0.0, 2) == "0.00");
    CHECK(cell_number(-0.004, 2) == "0.00");
    CHECK(cell_number(-0.006, 2) == "−0.01");
    CHECK(number(-0.0) == "0.00");
    CHECK(cell_number(kNaN, 2) == "NaN");
    CHECK(cell_number(kInf, 2) == "∞");
    CHECK(number(-kInf) == "−∞");
    CHECK(percent(kNaN) == "NaN");
    CHECK(cell_number(1.234, 2) == "1.23");
    CHECK(cell_number(99999.4, 0) == "99999");
    CHECK(cell_number(123456.0, 2) == "1.2·10⁵");
    CHECK(cell_number(-123456.0, 2) == "−1.2·10⁵");
}

TEST_CASE("a percentage is 0.0 % of 0 alone, and 100.0 % of what is 1 but for float32's rounding") {
    CHECK(percent(0.0) == "0.0 %");
    CHECK(percent(-0.0) == "0.0 %");
    CHECK(percent(1e-30) == "< 0.1 %");
    CHECK(percent(0.00049) == "< 0.1 %");
    CHECK(percent(-0.00001) == "> −0.1 %");
    CHECK(percent(0.0006) == "0.1 %");
    CHECK(percent(0.9994) == "99.9 %");
    CHECK(percent(0.9996) == "> 99.9 %");
    CHECK(percent(0.99999) == "> 99.9 %");
    CHECK(percent_text(0.99999) == "more than 99.9 %");
    CHECK(percent_text(1e-30) == "less than 0.1 %");
    CHECK(percent_text(0.324) == "32.4 %");
    CHECK(percent(double{std::nextafter(1.0F, 0.0F)}) == "100.0 %");
    CHECK(percent(1.0) == "100.0 %");
}

TEST_CASE("the inspector shows two to four decimals, or three digits that count") {
    CHECK(number(0.3F) == "0.30");
    CHECK(number(-0.71F) == "−0.71");
    CHECK(number(0.09F) == "0.09");
    CHECK(number(1.0) == "1.00");
    CHECK(number(1.22863) == "1.2286");
    CHECK(number(0.0123456) == "0.0123");
    CHECK(number(-2.5) == "−2.50");
    CHECK(number(99999.0) == "99999.00");
    CHECK(number(30270.2266) == "30270.23");  // a float that is 30270.22695 in double
    CHECK(number(1234.56789) == "1234.568");
    CHECK(number(0.000123) == "1.23·10⁻⁴");
    CHECK(number(-0.0000123456) == "−1.23·10⁻⁵");
    CHECK(number(1234567.0) == "1.23·10⁶");
}

TEST_CASE("ends of scales, percentages, sizes, powers of ten; exact text reads back") {
    CHECK(tick(0.0) == "0");
    CHECK(tick(-16.0512) == "−16.1");
    CHECK(tick(1.0) == "1");
    CHECK(tick(0.25) == "0.25");
    CHECK(tick(12345.6) == "12346");
    CHECK(tick(0.0000123456) == "1.23·10⁻⁵");
    CHECK(percent(0.32406) == "32.4 %");
    CHECK(size(4, 2) == "4 × 2");
    CHECK(power_of_ten(-123) == "10⁻¹²³");
    CHECK(power_of_ten(0) == "1");
    CHECK(significant(1.5e-7, 4) == "1.5·10⁻⁷");
    CHECK(significant(-2.0, 4) == "−2");
    CHECK(significant(std::nan(""), 4) == "NaN");
    CHECK(factor("0.45") == "0.45");
    CHECK(factor("−0.45") == "(−0.45)");
    CHECK(factor("1.5·10⁻⁷") == "(1.5·10⁻⁷)");
    for (const float value : {0.1F, 1.0F / 3.0F, 1e-30F, 3.4e38F, -0.0F})
        CHECK(std::stof(exact(value)) == value);
    for (const double value : {0.1, 1.0 / 3.0, 1e-300, 1.7e308})
        CHECK(std::stod(exact(value)) == value);
}

TEST_CASE("pictures write no zero before the point") {
    CHECK(without_leading_zero("0.58") == ".58");
    CHECK(without_leading_zero("−0.58") == "−.58");
    CHECK(without_leading_zero("10.5") == "10.5");
    CHECK(without_leading_zero("100.03") == "100.03");
    CHECK(without_leading_zero("0") == "0");
    CHECK(legend_tick(0.5774) == ".577");
    CHECK(legend_tick(-16.05) == "−16.1");
    CHECK(legend_tick(0.0) == "0");
}

TEST_CASE("the numbers of a column have the same decimals") {
    std::vector<std::string> texts{"0.1717", "0.14", "−1.5",   "16.00",       "3.2·10⁻⁴",
                                   "8",      "",     "32.4 %", "not defined", "1.1882 nats"};
    std::vector<std::string*> column;
    for (std::string& text : texts) column.push_back(&text);
    align_decimals(column);
    CHECK(texts == std::vector<std::string>{"0.1717", "0.1400", "−1.5000", "16.0000", "3.2·10⁻⁴",
                                            "8", "", "32.4 %", "not defined", "1.1882 nats"});
    std::string a = "0.5", b = "0.523";  // significant digits: a zero more would be false
    std::string* const few[] = {&a, &b};
    align_decimals(few);
    CHECK(a == "0.5");
}

TEST_CASE("a number that is rounded keeps its zeros; one that is short has two decimals") {
    CHECK(number(0.26702) == "0.2670");
    CHECK(number(0.71) == "0.71");
    CHECK(number(static_cast<double>(0.71F)) == "0.71");
    CHECK(number(1.00002) == "1.0000");
    CHECK(number(1.0) == "1.00");
}

TEST_CASE("significant digits with their zeros") {
    CHECK(full_significant(0.31, 3) == "0.310");
    CHECK(full_significant(9.4, 3) == "9.40");
    CHECK(full_significant(12.0, 3) == "12.0");
    CHECK(full_significant(6.0, 3) == "6.00");
    CHECK(full_significant(0.00310001, 3) == "0.00310");
    CHECK(full_significant(-1234.0, 3) == significant(-1234.0, 3));
    CHECK(full_significant(0.0, 3) == "0");
}

TEST_CASE("arithmetic is drawn with minus signs; hyphens of words stay") {
    CHECK(with_minus_signs("exp(s - max)") == "exp(s − max)");
    CHECK(with_minus_signs("10000^(-2c/64)") == "10000^(−2c/64)");
    CHECK(with_minus_signs("|j - i| = -16") == "|j − i| = −16");
    CHECK(with_minus_signs("log-sum-exp, bottom-right") == "log-sum-exp, bottom-right");
    CHECK(with_minus_signs("--option") == "--option");
}

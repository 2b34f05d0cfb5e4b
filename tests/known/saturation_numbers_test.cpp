// The five bars of the saturation demo: logits [0.5, 0.9, 0, 1.2, 0.6], and the same times sqrt(d_k).

#include <cmath>

#include "core/metrics.h"
#include "core/softmax.h"
#include "tests/known/digits.h"

using namespace attn;
using attn::test::check_digits;

namespace {

std::vector<double> bars(double factor) {
    std::vector<double> row{0.5, 0.9, 0.0, 1.2, 0.6};
    for (double& logit : row) logit *= factor;
    softmax_row(row, row, EmptyRows::zero);
    return row;
}

RowMetrics metrics(double factor) { return row_metrics(bars(factor), 5); }

}  // namespace

TEST_CASE("five bars: shares, evenness and norms of the Jacobian") {
    std::vector<double> percent = bars(1.0);
    for (double& share : percent) share *= 100.0;
    check_digits(percent, {16.1, 24.0, 9.8, 32.4, 17.8}, 1);
    const RowMetrics row = metrics(1.0);
    check_digits({100 * row.max_probability}, {32.4}, 1);
    check_digits({100 * row.evenness}, {95}, 0);
    check_digits({row.max_slope, row.evenness, row.jacobian_frobenius, row.jacobian_spectral},
                 {.2190, .9541, .4064, .2863}, 4);
}

TEST_CASE("p_max (1 - p_max) of unscaled logits is not monotone in d_k") {
    const auto slope = [](double d_k) { return metrics(std::sqrt(d_k)).max_slope; };
    check_digits({slope(1), slope(4), slope(8), slope(16)}, {.219, .248, .246, .216}, 3);
    check_digits({slope(64), slope(512)}, {.0845, .0011}, 4);
    const std::vector<double> uniform(1024, 1.0 / 1024.0);
    check_digits({row_metrics(uniform, 1024).max_slope}, {.00098}, 5);
}

TEST_CASE("of the raw score, scaling by 1/sqrt(64) makes the gradient .0274 against .0845") {
    check_digits({metrics(1.0).max_slope / 8.0, metrics(8.0).max_slope}, {.0274, .0845}, 4);
}

TEST_CASE("the two gradients with respect to the raw score cross near d = 190") {
    const auto gap = [](double d_k) {
        return metrics(1.0).max_slope / std::sqrt(d_k) - metrics(std::sqrt(d_k)).max_slope;
    };
    CHECK(gap(180) < 0.0);
    CHECK(gap(200) > 0.0);
}

TEST_CASE("unscaled at d = 64 the largest share is 90.7 % and the evenness 21.8 %; 99.2 % at 256") {
    const RowMetrics row = metrics(8.0);
    check_digits(
        {100 * row.max_probability, 100 * row.evenness, 100 * metrics(16.0).max_probability},
        {90.7, 21.8, 99.2}, 1);
}

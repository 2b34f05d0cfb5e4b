#include "core/metrics.h"

#include <doctest/doctest.h>

#include <Eigen/Eigenvalues>

#include "core/softmax.h"
#include "tests/support/random.h"

using namespace attn;

namespace {

std::vector<double> random_row(Index n, std::uint64_t seed, double deviation) {
    const TensorD logits = test::normal_tensor<double>({1, 1, 1, n}, seed, deviation);
    std::vector<double> row(n);
    softmax_row(logits.values(), row, EmptyRows::zero);
    return row;
}

Eigen::MatrixXd jacobian(const std::vector<double>& a) {
    const std::vector<double> values = softmax_jacobian(a);
    const auto n = static_cast<Eigen::Index>(a.size());
    return Eigen::Map<const Eigen::MatrixXd>(values.data(), n, n);
}

}  // namespace

TEST_CASE("norms of the Jacobian are those of the dense matrix") {
    for (const Index n : {1, 2, 3, 5, 17, 64})
        for (const double deviation : {0.0, 0.1, 1.0, 5.0, 40.0}) {
            const std::vector<double> a = random_row(n, 5, deviation);
            const Eigen::MatrixXd dense = jacobian(a);
            const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(dense);
            const RowMetrics metrics = row_metrics(std::span<const double>(a), n);
            INFO("n ", n, ", deviation ", deviation);
            CHECK(std::abs(metrics.jacobian_spectral - solver.eigenvalues().maxCoeff()) < 1e-12);
            CHECK(std::abs(metrics.jacobian_frobenius - dense.norm()) < 1e-12);
        }
}

TEST_CASE("uniform, one-hot, empty and NaN rows have the metrics known on paper") {
    const std::vector<double> uniform(1000, 1e-3);
    RowMetrics metrics = row_metrics(std::span<const double>(uniform), 1000);
    CHECK(metrics.entropy == doctest::Approx(std::log(1000.0)));
    CHECK(metrics.evenness == doctest::Approx(1.0));
    CHECK(metrics.effective_keys == doctest::Approx(1000.0));
    CHECK(metrics.max_slope == doctest::Approx(0.000999));
    CHECK(metrics.jacobian_spectral == doctest::Approx(1e-3).scale(0.0));

    metrics = row_metrics(std::vector<double>{0, 1, 0}, 3);
    CHECK(metrics.entropy == 0.0);
    CHECK(metrics.evenness == 0.0);
    CHECK(metrics.max_probability == 1.0);
    CHECK(metrics.jacobian_frobenius == 0.0);
    CHECK(metrics.jacobian_spectral == doctest::Approx(0.0));
    CHECK(metrics.effective_keys == 1.0);

    metrics = row_metrics(std::vector<double>{0, 0}, 0);
    CHECK(metrics.max_probability == 0.0);
    CHECK(metrics.effective_keys == 0.0);
    CHECK(metrics.evenness == 0.0);

    metrics = row_metrics(std::vector<double>{0.5, std::nan(""), 0.5}, 3);
    CHECK(std::isnan(metrics.entropy));
    CHECK(std::isnan(metrics.max_probability));
    CHECK(std::isnan(metrics.jacobian_spectral));
    CHECK(std::isnan(row_metrics(std::vector<double>{1}, 1).evenness));
}

TEST_CASE("metrics of a row whose weights are all denormal are finite, and found") {
    for (const double tiny : {5e-324, 1e-320, 1e-310}) {
        const RowMetrics metrics = row_metrics(std::vector<double>{tiny, 0, tiny / 3}, 3);
        CHECK(metrics.max_probability == tiny);
        CHECK(metrics.jacobian_spectral <= tiny);
    }
}

TEST_CASE("quantiles are numpy's: linear between order statistics") {
    std::vector<double> values{8, 1, 4, 2};
    CHECK(quantile(values, 0.0) == 1.0);
    CHECK(quantile(values, 1.0) == 8.0);
    CHECK(quantile(values, 0.5) == 3.0);
    CHECK(quantile(values, 0.1) == doctest::Approx(1.3));
    CHECK(quantile(values, 0.9) == doctest::Approx(6.8));
    std::vector<float> one{3.0F};
    CHECK(quantile(one, 0.7) == 3.0);
    std::vector<float> ends{2.0F, 1.0F};
    CHECK(quantile(ends, 0.25) == 1.25);
}

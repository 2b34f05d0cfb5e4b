#include "core/verify/compare.h"
#include "core/entries.h"
#include "core/norms.h"
#include "core/tensor.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace attn::verify {
namespace {

/// Adds cells up; `largest` is what a mismatch counts as.
class Sum {
  public:
    Sum(const Tolerance& tolerance, double largest)
        : tolerance_(tolerance), mismatch_(std::max(1.0, largest)) {}

    void add(const Cell& cell) {
        ++errors_.count;
        if (cell.actual == cell.expected) return;
        const bool nan = std::isnan(cell.actual), wanted_nan = std::isnan(cell.expected);
        if (nan && wanted_nan) return;
        if (nan || wanted_nan) return mismatch(errors_.nan, cell);
        if (std::isinf(cell.actual) || std::isinf(cell.expected))
            return mismatch(errors_.infinite, cell);
        difference(cell);
    }

    Errors finish() const {
        Errors errors = errors_;
        const auto count = static_cast<double>(std::max<Index>(errors.count, 1));
        errors.mean = sum_ / count;
        errors.rms = std::sqrt(squares_ / count);
        if (errors.infinite.count > 0) errors.worst = errors.infinite.first;
        if (errors.nan.count > 0) errors.worst = errors.nan.first;
        return errors;
    }

  private:
    void mismatch(Mismatches& kind, const Cell& cell) {
        if (kind.count++ == 0) kind.first = cell;
        ++errors_.beyond;
        squares_ += mismatch_ * mismatch_;
    }

    void difference(const Cell& cell) {
        const double error = std::abs(cell.actual - cell.expected);
        sum_ += error;
        squares_ += error * error;
        errors_.ulp = std::max(errors_.ulp, ulp_distance(static_cast<float>(cell.actual),
                                                         static_cast<float>(cell.expected)));
        if (!(error <= tolerance_.at(cell.expected, cell.b, cell.h, cell.t, cell.d)))
            ++errors_.beyond;
        if (!(error > errors_.max)) return;
        errors_.max = error;
        errors_.worst = cell;
    }

    const Tolerance& tolerance_;
    double mismatch_;
    Errors errors_;
    double sum_ = 0.0;
    double squares_ = 0.0;
};

/// visit(cell) of one row.
template <class Visit>
void for_each_cell(const Tensor& actual, const TensorD& expected, Index b, Index h, Index t,
                   Visit visit) {
    const auto a = actual.matrix(b, h).row(t);
    const auto e = expected.matrix(b, h).row(t);
    for (std::size_t d = 0; d < a.size(); ++d)
        visit(Cell{b, h, t, static_cast<Index>(d), static_cast<double>(a[d]), e[d]});
}

/// The worse first: what cannot be compared, then the larger error.
bool is_worse(const RowErrors& a, const RowErrors& b) {
    const auto rank = [](const Errors& errors) {
        return std::pair(errors.nan.count + errors.infinite.count > 0, errors.max);
    };
    return rank(a.errors) > rank(b.errors);
}

}  // namespace

Tolerance Tolerance::operator+(const Tolerance& other) const {
    Tolerance sum{absolute + other.absolute, relative + other.relative, nullptr};
    if (!entries || !other.entries || entries->shape() != other.entries->shape()) return sum;
    TensorD both(entries->shape());
    for (std::size_t n = 0; n < both.values().size(); ++n)
        both.data()[n] = entries->data()[n] + other.entries->data()[n];
    sum.entries = std::make_shared<const TensorD>(std::move(both));
    return sum;
}

std::uint64_t ulp_distance(float a, float b) {
    // The numbers in order, 0 in the middle.
    const auto place = [](float value) {
        const auto bits = std::bit_cast<std::uint32_t>(value);
        const auto magnitude = static_cast<std::int64_t>(bits & 0x7FFFFFFFU);
        return bits >> 31 != 0 ? -magnitude : magnitude;
    };
    const std::int64_t distance = place(a) - place(b);
    return static_cast<std::uint64_t>(distance < 0 ? -distance : distance);
}

Errors total_errors(const Tensor& actual, const TensorD& expected, const Tolerance& tolerance) {
    Sum sum(tolerance, largest_finite(expected));
    const Shape& shape = actual.shape();
    for_each_row(shape, [&](Index b, Index h, Index t) {
        for_each_cell(actual, expected, b, h, t, [&](const Cell& cell) { sum.add(cell); });
    });
    return sum.finish();
}

bool any_beyond(const TensorD& actual, const TensorD& expected, const Tolerance& tolerance) {
    const TensorD* const entries = tolerance.entries.get();
    for (std::size_t n = 0; n < expected.values().size(); ++n) {
        const auto a = static_cast<double>(static_cast<float>(actual.data()[n]));
        const double e = expected.data()[n];
        if (a == e || (std::isnan(a) && std::isnan(e))) continue;
        const bool finite = std::isfinite(a) && std::isfinite(e);
        const double allowed =
            (entries ? entries->data()[n] : tolerance.absolute) + tolerance.relative * std::abs(e);
        if (!finite || !(std::abs(a - e) <= allowed)) return true;
    }
    return false;
}

Result<Comparison> compare(const Tensor& actual, const TensorD& expected,
                           const Tolerance& tolerance) {
    if (actual.shape() != expected.shape())
        return bad_input(fmt::format("shape {} and not {}", to_string(actual.shape()),
                                     to_string(expected.shape())));
    Comparison made{actual.shape(), tolerance, {}, largest_finite(expected), 0.0, {}, {}};
    Sum all(tolerance, made.largest);
    for (Index b = 0; b < made.shape.b; ++b)
        for (Index h = 0; h < made.shape.h; ++h) {
            Sum head(tolerance, made.largest);
            for (Index t = 0; t < made.shape.t; ++t) {
                end_if_stopped();
                Sum row(tolerance, made.largest);
                for_each_cell(actual, expected, b, h, t, [&](const Cell& cell) {
                    for (Sum* const sum : {&all, &head, &row}) sum->add(cell);
                });
                if (RowErrors errors{b, h, t, row.finish()}; errors.errors.beyond > 0)
                    made.rows.push_back(errors);
            }
            made.heads.push_back({b, h, head.finish()});
        }
    made.all = all.finish();
    if (made.all.max > 0.0) made.relative = made.all.max / made.largest;
    std::ranges::stable_sort(made.rows, is_worse);
    if (made.rows.size() > kMostRows) made.rows.resize(kMostRows);
    return made;
}

}  // namespace attn::verify

#include "core/numerics.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace attn {
namespace {

constexpr std::array<FloatFormatInfo, kFloatFormatCount> kFormats{
    {{"fp16", 5, 10}, {"bf16", 8, 7}, {"fp32", 8, 23}, {"fp64", 11, 52}}};

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// ⌊log₂|value|⌋ of what is neither 0 nor infinite, at least that of the smallest normal number.
int exponent_in(const FloatFormatInfo& format, long double value) {
    int exponent = 0;
    std::frexp(value, &exponent);
    return std::max(exponent - 1, format.least_exponent());
}

double power_of_two(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// Of a finite double to fp16 or bf16: value + 1.5 · 2^52 ulp has whole ulps alone, so that the addition itself rounds to the
/// nearest, ties to even, and the subtraction is exact.
double rounded_double(const FloatFormatInfo& of, double value) {
    const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52 & 0x7FF) - 1023;
    double result = std::numeric_limits<double>::infinity();
    if (exponent <= of.most_exponent()) {
        const int ulp = std::max(exponent, of.least_exponent()) - of.fraction_bits;
        const double shift = 1.5 * power_of_two(ulp + 52);
        const double nearest = std::abs((value + shift) - shift);
        if (nearest < power_of_two(of.most_exponent() + 1)) result = nearest;
    }
    return std::copysign(result, value);
}

/// The operations of one format. A double has room for the exact product, and more than twice the bits of sum and quotient
/// of any narrower format, so that rounding its result again is the same as rounding once (Figueroa 1995); fp64's own
/// operations are double's.
class Arithmetic {
  public:
    Arithmetic(FloatFormat format, SoftmaxRun& run) : format_(format), run_(run) {}

    void at(SoftmaxStep step, std::size_t key) {
        step_ = step;
        key_ = static_cast<Index>(key);
    }
    /// A logit, from its exact value.
    double hold(long double exact) {
        if (std::isnan(exact)) note(NumericFault::nan_input);
        return finished(exact, rounded(format_, exact), std::isfinite(exact));
    }
    double subtract(double a, double b) {
        if (std::isinf(a) && a == b) note(NumericFault::inf_minus_inf);
        return finished(a - b, rounded(format_, a - b), std::isfinite(a) && std::isfinite(b));
    }
    double add(double a, double b) {
        return finished(a + b, rounded(format_, a + b), std::isfinite(a) && std::isfinite(b));
    }
    double divide(double a, double b) {
        if (a == 0.0 && b == 0.0) note(NumericFault::zero_over_zero);
        if (std::isinf(a) && std::isinf(b)) note(NumericFault::inf_over_inf);
        return finished(std::isinf(b) ? 0.0 : a, rounded(format_, a / b), std::isfinite(a));
    }
    double exp(double a) {
        const long double value = wide() ? std::exp(static_cast<long double>(a)) : std::exp(a);
        return finished(std::isinf(a) ? value : 1.0L, rounded(format_, value), std::isfinite(a));
    }
    double log(double a) {
        const long double value = wide() ? std::log(static_cast<long double>(a)) : std::log(a);
        return finished(value, rounded(format_, value), std::isfinite(a) && a != 0.0);
    }

  private:
    bool wide() const { return format_ == FloatFormat::fp64; }
    /// `exact` is 0 just where the exact result is.
    double finished(long double exact, double result, bool from_finite) {
        if (std::isinf(result) && from_finite) note(NumericFault::overflow);
        if (result == 0.0 && exact != 0.0L) note(NumericFault::underflow);
        return result;
    }
    void note(NumericFault fault) {
        if (run_.first(fault) == nullptr) run_.faults.push_back({fault, step_, key_});
    }

    FloatFormat format_;
    SoftmaxRun& run_;
    SoftmaxStep step_ = SoftmaxStep::logits;
    Index key_ = 0;
};

/// One softmax, step by step; each function appends its step and returns its values.
class Softmax {
  public:
    using Values = std::vector<double>;

    Softmax(SoftmaxRun& run, FloatFormat format) : run_(run), arithmetic_(format, run) {}

    Values logits(std::span<const double> x, double gain) {
        return each(SoftmaxStep::logits, x.size(), [&](std::size_t j) {
            return arithmetic_.hold(static_cast<long double>(gain) * x[j]);
        });
    }
    /// NaN where an entry is.
    double max(const Values& s) {
        double m = s.front();
        for (const double value : s) m = std::isnan(value) || value > m ? value : m;
        run_.steps.push_back({SoftmaxStep::max, {m}});
        return m;
    }
    Values shifted(SoftmaxStep step, const Values& s, double by) {
        return each(step, s.size(), [&](std::size_t j) { return arithmetic_.subtract(s[j], by); });
    }
    Values exps(SoftmaxStep step, const Values& s) {
        return each(step, s.size(), [&](std::size_t j) { return arithmetic_.exp(s[j]); });
    }
    double sum(const Values& e) {
        double l = 0.0;
        each(SoftmaxStep::sum, e.size(), [&](std::size_t j) {
            const double before = l;
            l = j == 0 ? e[j] : arithmetic_.add(l, e[j]);
            if (e[j] > 0.0 && before > 0.0 && l == before && std::isfinite(l)) ++run_.absorbed;
            return l;
        });
        return l;
    }
    void quotients(const Values& e, double l) {
        each(SoftmaxStep::weights, e.size(),
             [&](std::size_t j) { return arithmetic_.divide(e[j], l); });
    }
    double lse(double m, double l) {
        const double log = one(SoftmaxStep::log_sum, [&] { return arithmetic_.log(l); });
        return one(SoftmaxStep::lse, [&] { return arithmetic_.add(m, log); });
    }

  private:
    template <class Compute>
    Values each(SoftmaxStep step, std::size_t keys, const Compute& compute) {
        StepValues done{step, Values(keys)};
        for (std::size_t j = 0; j < keys; ++j) {
            arithmetic_.at(step, j);
            done.values[j] = compute(j);
        }
        run_.steps.push_back(std::move(done));
        return run_.steps.back().values;
    }
    template <class Compute>
    double one(SoftmaxStep step, const Compute& compute) {
        return each(step, 1, [&](std::size_t) { return compute(); }).front();
    }

    SoftmaxRun& run_;
    Arithmetic arithmetic_;
};

}  // namespace

const FloatFormatInfo& info(FloatFormat format) {
    return kFormats[static_cast<std::size_t>(format)];
}

double FloatFormatInfo::largest() const {
    return std::ldexp(2.0 - std::ldexp(1.0, -fraction_bits), most_exponent());
}
double FloatFormatInfo::smallest_normal() const { return std::ldexp(1.0, least_exponent()); }
double FloatFormatInfo::smallest() const {
    return std::ldexp(1.0, least_exponent() - fraction_bits);
}

double rounded(FloatFormat format, long double value) {
    if (format == FloatFormat::fp64) return static_cast<double>(value);
    if (format == FloatFormat::fp32) return static_cast<float>(value);
    if (value == 0.0L || !std::isfinite(value)) return static_cast<double>(value);
    const auto near = static_cast<double>(value);
    const FloatFormatInfo& of = info(format);
    if (near == value) return rounded_double(of, near);
    const int scale = exponent_in(of, value) - of.fraction_bits;
    const long double result = std::ldexp(std::nearbyint(std::ldexp(value, -scale)), scale);
    if (std::abs(result) <= of.largest()) return static_cast<double>(result);
    return std::copysign(std::numeric_limits<double>::infinity(), static_cast<double>(value));
}

long double ulp_at(FloatFormat format, long double value) {
    const FloatFormatInfo& of = info(format);
    if (!std::isfinite(value)) return kNaN;
    if (value == 0.0L) return of.smallest();
    return std::ldexp(1.0L, exponent_in(of, value) - of.fraction_bits);
}

const std::vector<double>* SoftmaxRun::find(SoftmaxStep step) const {
    const auto found = std::ranges::find(steps, step, &StepValues::step);
    return found == steps.end() ? nullptr : &found->values;
}

const FaultPlace* SoftmaxRun::first(NumericFault fault) const {
    const auto found = std::ranges::find(faults, fault, &FaultPlace::fault);
    return found == faults.end() ? nullptr : &*found;
}

Outcome SoftmaxRun::outcome() const {
    if (std::ranges::any_of(weights(), [](double a) { return std::isnan(a); })) return Outcome::nan;
    const bool any = std::ranges::any_of(weights(), [](double a) { return a > 0.0; });
    return any ? Outcome::finite : Outcome::zeros;
}

const FaultPlace* SoftmaxRun::breaking() const {
    if (outcome() == Outcome::finite || faults.empty()) return nullptr;
    const auto found = std::ranges::find_if(faults, [](const FaultPlace& place) {
        return place.fault != NumericFault::underflow &&
               place.fault != NumericFault::zero_over_zero;
    });
    return found == faults.end() ? &faults.front() : &*found;
}

SoftmaxRun run_softmax(SoftmaxAlgorithm algorithm, FloatFormat format,
                       std::span<const double> logits, double gain) {
    SoftmaxRun run;
    run.algorithm = algorithm;
    run.format = format;
    Softmax softmax(run, format);
    const auto s = softmax.logits(logits, gain);
    if (algorithm == SoftmaxAlgorithm::naive) {
        const auto e = softmax.exps(SoftmaxStep::exps, s);
        softmax.quotients(e, softmax.sum(e));
        return run;
    }
    const double m = softmax.max(s);
    const auto e = softmax.exps(SoftmaxStep::exps, softmax.shifted(SoftmaxStep::shifted, s, m));
    const double l = softmax.sum(e);
    if (algorithm == SoftmaxAlgorithm::stable) {
        softmax.quotients(e, l);
        return run;
    }
    const auto below = softmax.shifted(SoftmaxStep::below_lse, s, softmax.lse(m, l));
    softmax.exps(SoftmaxStep::weights, below);
    return run;
}

std::vector<long double> exact_softmax(std::span<const double> logits, double gain) {
    std::vector<long double> a(logits.begin(), logits.end());
    for (long double& value : a) value *= gain;
    const long double m = *std::ranges::max_element(a);
    long double sum = 0.0L;
    long double lost = 0.0L;
    for (long double& value : a) {
        value = std::exp(value - m);
        const long double term = value - lost;
        const long double next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    for (long double& value : a) value /= sum;
    return a;
}

RowError error_of(FloatFormat format, std::span<const double> weights,
                  std::span<const long double> exact) {
    RowError error;
    for (std::size_t j = 0; j < weights.size(); ++j) {
        const long double off = std::abs(static_cast<long double>(weights[j]) - exact[j]);
        if (std::isnan(off)) return {kNaN, static_cast<Index>(j), kNaN};
        const auto ulp = static_cast<double>(off / ulp_at(format, exact[j]));
        if (ulp > error.ulp) error = {ulp, static_cast<Index>(j), static_cast<double>(off)};
    }
    return error;
}

}  // namespace attn

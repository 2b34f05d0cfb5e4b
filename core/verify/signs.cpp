// b batch entry, h head, i query row, j key column.

#include "core/verify/signs.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/call.h"
#include "core/entries.h"
#include "core/masks.h"
#include "core/numerics.h"
#include "core/stages.h"

namespace attn::verify {
namespace {

/// A sum of so many float32 weights that are 1 together is off by less.
double sum_tolerance(Index terms) { return 1e-6 * (10.0 + std::sqrt(static_cast<double>(terms))); }

/// What is seen of the weights.
struct Seen {
    Index rows = 0, columns = 0;
    Index wrong_rows = 0,
          wrong_columns = 0;  // sums that are not 1; of rows, nor 0 with all weights 0
    Index nan_rows = 0, empty_rows = 0, empty_columns = 0, uniform_rows = 0;
    Index negative = 0, above_one = 0;
    Index right = 0, left = 0;  // weights right and left of the diagonal j = i + Tk − Tq
    double right_mass = 0.0;
    double worst_sum = 1.0;
    std::array<Index, 3> worst{};
    std::array<Index, 3> first_nan{};
};

void see_row(const Tensor& weights, Index b, Index h, Index i, Seen& seen) {
    const auto row = weights.matrix(b, h).row(i);
    const Index diagonal = i + weights.shape().d - weights.shape().t;
    double sum = 0.0;
    bool all_zero = true;
    for (std::size_t n = 0; n < row.size(); ++n) {
        const auto a = static_cast<double>(row[n]);
        sum += a;
        all_zero = all_zero && a == 0.0;
        seen.negative += a < 0.0;
        seen.above_one += a > 1.0 + sum_tolerance(1);
        if (a == 0.0) continue;
        const auto j = static_cast<Index>(n);
        if (j > diagonal) ++seen.right, seen.right_mass += a;
        if (j < diagonal) ++seen.left;
    }
    ++seen.rows;
    if (std::isnan(sum)) {
        if (seen.nan_rows++ == 0) seen.first_nan = {b, h, i};
        return;
    }
    if (all_zero) return void(++seen.empty_rows);
    if (std::abs(sum - 1.0) <= sum_tolerance(weights.shape().d)) return;
    ++seen.wrong_rows;
    if (std::abs(sum - 1.0) < std::abs(seen.worst_sum - 1.0)) return;
    seen.worst_sum = sum;
    seen.worst = {b, h, i};
}

Seen see(const Tensor& weights) {
    Seen seen;
    const Shape shape = weights.shape();
    for (Index b = 0; b < shape.b; ++b)
        for (Index h = 0; h < shape.h; ++h) {
            for (Index i = 0; i < shape.t; ++i) {
                end_if_stopped();
                see_row(weights, b, h, i, seen);
            }
            for (Index j = 0; j < shape.d; ++j) {
                end_if_stopped();
                double sum = 0.0;
                bool all_zero = true;
                for (Index i = 0; i < shape.t; ++i) {
                    sum += static_cast<double>(weights(b, h, i, j));
                    all_zero = all_zero && weights(b, h, i, j) == 0.0F;
                }
                ++seen.columns;
                seen.empty_columns += all_zero;
                const bool one = std::abs(sum - 1.0) <= sum_tolerance(shape.t);
                if (!one && sum != 0.0) ++seen.wrong_columns;
            }
        }
    return seen;
}

std::string row_name(const std::array<Index, 3>& row) {
    return fmt::format("row [{}, {}, {}]", row[0], row[1], row[2]);
}

/// "every row", "every row that is not 0".
std::string every_text(std::string_view line, Index empty) {
    return fmt::format("every {} of weights{} sums to 1", line, empty > 0 ? " that is not 0" : "");
}

void add_sums(const Seen& seen, bool below_one, std::vector<Fact>& facts) {
    if (seen.wrong_rows > 0) {
        const bool expected = below_one && seen.worst_sum < 1.0;
        facts.push_back(
            {"row_sums",
             fmt::format("rows of weights that do not sum to 1: {} of {}; {} sums to {:.6g}{}",
                         seen.wrong_rows, seen.rows, row_name(seen.worst), seen.worst_sum,
                         expected ? ", as with a sink or dropout" : ""),
             !below_one});
    } else if (seen.nan_rows == 0 && seen.empty_rows < seen.rows) {
        facts.push_back({"row_sums", every_text("row", seen.empty_rows), false});
    }
    if (seen.wrong_columns == 0 && seen.nan_rows == 0 && seen.empty_columns < seen.columns)
        facts.push_back(
            {"column_sums", every_text("column", seen.empty_columns), seen.wrong_rows > 0});
    if (seen.negative + seen.above_one > 0)
        facts.push_back(
            {"range",
             fmt::format("weights below 0: {}; above 1: {}", seen.negative, seen.above_one),
             seen.negative > 0 || !below_one});
}

void add_support(const Seen& seen, const AttentionSpec& spec, std::vector<Fact>& facts) {
    const bool causal = spec.mask.causal.has_value();
    if (seen.right == 0 && seen.left > 0)
        facts.push_back(
            {"support",
             fmt::format("no weight lies right of the diagonal, as with a causal mask{}",
                         causal || spec.mask.custom ? "" : ", but the options set none"),
             false});
    else if (seen.left == 0 && seen.right > 0)
        facts.push_back(
            {"support", "no weight is left of the diagonal: the support j ≥ i", causal});
    else if (seen.right > 0 && causal)
        facts.push_back({"support",
                         fmt::format("weights right of the diagonal: {}, {:.4g} of {} in total",
                                     seen.right, seen.right_mass, seen.rows),
                         false});
}

/// How many weights stand where the mask forbids, and how many allowed pairs have none.
void add_mask(const Tensor& weights, const Mask& mask, std::vector<Fact>& facts) {
    if (mask.shape() != weights.shape()) return;
    Index forbidden = 0;
    double mass = 0.0;
    for (std::size_t n = 0; n < mask.values().size(); ++n)
        if (mask.values()[n] == 0 && weights.values()[n] > 0.0F)
            ++forbidden, mass += static_cast<double>(weights.values()[n]);
    if (forbidden > 0)
        facts.push_back(
            {"forbidden",
             fmt::format("weights at forbidden pairs: {}, {:.4g} in total", forbidden, mass),
             true});
}

bool fits(FloatFormat format, const Tensor& tensor) {
    Index fractional = 0;
    for (const float value : tensor.values()) {
        const auto wide = static_cast<double>(value);
        if (!std::isfinite(wide)) continue;
        if (rounded(format, static_cast<long double>(wide)) != wide) return false;
        int exponent = 0;
        const double fraction = std::frexp(wide, &exponent) * 16.0;
        fractional += fraction != std::floor(fraction);  // more than four bits
    }
    return fractional >= 8;
}

void add_formats(const Results& results, std::vector<Fact>& facts) {
    for (const StageInfo& stage : stage_table())
        for (const FloatFormat format : {FloatFormat::bf16, FloatFormat::fp16})
            if (!results[stage.stage].empty() && fits(format, results[stage.stage])) {
                facts.push_back(
                    {"format",
                     fmt::format("every number of {} is a {} number", stage.key, info(format).name),
                     false});
                break;
            }
}

/// Half a unit in the last place of the shortest format that holds every number.
double roundoff_of(const Tensor& tensor) {
    for (const FloatFormat format : {FloatFormat::bf16, FloatFormat::fp16})
        if (fits(format, tensor)) return std::exp2(-1.0 - info(format).fraction_bits);
    return 0x1.0p-24;
}

/// The first row of the weights that is not softmax of the masked scores beside them, and how many are not.
struct Inconsistent {
    Index rows = 0, wrong = 0;
    std::array<Index, 3> first{};
    double weight = 0.0, expected = 0.0;
};

void check_softmax(const Results& results, Index b, Index h, Index i, double u,
                   Inconsistent& found) {
    const auto m = results[Stage::masked].matrix(b, h).row(i);
    const auto a = results[Stage::weights].matrix(b, h).row(i);
    double most = -HUGE_VAL, largest = 0.0, sum = 0.0;
    for (const float s : m) {
        const auto logit = static_cast<double>(s);
        if (!(logit < HUGE_VAL)) return;  // NaN and ∞ are facts of their own
        most = std::max(most, logit);
        if (logit > -1e4) largest = std::max(largest, std::abs(logit));
    }
    if (most == -HUGE_VAL) return;
    for (const float s : m) sum += std::exp(static_cast<double>(s) - most);
    ++found.rows;
    for (std::size_t j = 0; j < m.size(); ++j) {
        const double expected = std::exp(static_cast<double>(m[j]) - most) / sum;
        const auto weight = static_cast<double>(a[j]);
        if (std::abs(weight - expected) <= 8.0 * u * (1.0 + largest) * expected + u) continue;
        if (found.wrong++ == 0)
            found.first = {b, h, i}, found.weight = weight, found.expected = expected;
        return;
    }
}

/// Whether two arrays of one file fit each other.
void add_consistency(const Results& results, std::vector<Fact>& facts) {
    const Tensor& masked = results[Stage::masked];
    const Tensor& weights = results[Stage::weights];
    if (masked.empty() || masked.shape() != weights.shape()) return;
    const double u = std::max(roundoff_of(masked), roundoff_of(weights));
    Inconsistent found;
    for_each_row(masked.shape(),
                 [&](Index b, Index h, Index i) { check_softmax(results, b, h, i, u, found); });
    if (found.wrong > 0)
        facts.push_back({"softmax",
                         fmt::format("rows of weights that are not the softmax of their masked "
                                     "scores: {} of {}; {} is {:.6g}, but softmax gives {:.6g}",
                                     found.wrong, found.rows, row_name(found.first), found.weight,
                                     found.expected),
                         true});
    else if (found.rows > 0)
        facts.push_back({"softmax", "weights are the softmax of the masked scores", false});
}

Dimensions size_of(const Tensor& weights, const AttentionSpec& spec) {
    Dimensions size;
    const Shape shape = weights.shape();
    size.batch = shape.b, size.heads = size.kv_heads = shape.h, size.tq = shape.t,
    size.tk = shape.d;
    size.query_offset = query_offset(spec, size);
    return size;
}

bool is_support(const Tensor& weights, const Mask& mask) {
    for (std::size_t n = 0; n < mask.values().size(); ++n)
        if ((mask.values()[n] != 0) != (weights.values()[n] != 0.0F)) return false;
    return true;
}

bool fits_call(const MaskSpec& mask, const Dimensions& size) {
    return (mask.padding.empty() || std::ssize(mask.padding) == size.batch) &&
           (!mask.custom || check_broadcast(mask.custom->shape(), size).has_value());
}

void test_mask(const Tensor& weights, const AttentionSpec& spec, Sign& sign) {
    const Dimensions size = size_of(weights, spec);
    if (!fits_call(spec.mask, size)) {
        sign.text = "the mask does not fit the weights";
        return;
    }
    const Mask allowed = materialise(spec.mask, size);
    std::string found;
    sign.text = sign.fault->masks(
        {spec.mask, size, allowed}, [&](const std::string& variant, const Mask& mask) {
            sign.tested = true;
            sign.fits = !(mask == allowed) && is_support(weights, mask);
            if (sign.fits) found = fmt::format("the weights' support is exactly that: {}", variant);
            return !sign.fits;
        });
    if (sign.tested) sign.text = sign.fits ? found : "the weights have another support";
}

}  // namespace

std::vector<Fact> facts(const Results& results, const AttentionSpec& spec, bool sinks,
                        const Mask* mask) {
    std::vector<Fact> made;
    const Tensor& weights = results[Stage::weights];
    if (!weights.empty()) {
        const Seen seen = see(weights);
        add_sums(seen, sinks, made);
        if (seen.nan_rows > 0)
            made.push_back({"nan_rows",
                            fmt::format("NaN in {} of {} rows of weights; the first is {}",
                                        seen.nan_rows, seen.rows, row_name(seen.first_nan)),
                            spec.empty_rows != EmptyRows::nan});
        if (seen.empty_rows > 0)
            made.push_back({"empty_rows",
                            fmt::format("rows of weights that are all 0: {} of {}", seen.empty_rows,
                                        seen.rows),
                            !spec.mask.any()});
        add_support(seen, spec, made);
        if (mask != nullptr) add_mask(weights, *mask, made);
        if (!sinks) add_consistency(results, made);
    }
    add_formats(results, made);
    return made;
}

std::vector<Sign> signs(const Results& results, const AttentionSpec& spec) {
    std::vector<Sign> made;
    const Tensor& weights = results[Stage::weights];
    for (const Fault& fault : fault_table()) {
        Sign sign{&fault, false, false, "trying it needs Q and K"};
        if (weights.empty())
            sign.text = "weights are not among the results";
        else if (fault.masks != nullptr)
            test_mask(weights, spec, sign);
        else if (fault.key == "softmax_axis") {
            const Seen seen = see(weights);
            sign.tested = true;
            sign.fits = seen.wrong_columns == 0 && seen.wrong_rows > 0 && seen.nan_rows == 0;
            sign.text = fmt::format("{} of {} columns and {} of {} rows do not sum to 1",
                                    seen.wrong_columns, seen.columns, seen.wrong_rows, seen.rows);
        }
        made.push_back(std::move(sign));
    }
    return made;
}

}  // namespace attn::verify

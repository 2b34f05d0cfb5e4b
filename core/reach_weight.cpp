#include "core/reach_weight.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/rows.h"

namespace attn {
namespace {

using Vector = std::vector<double>;

constexpr double kTolerance = 1e-10;
constexpr double kLargestMultiplier = 1e12;
constexpr double kFlat = 1e-9;
constexpr double kShortestStep = 1e-12;
constexpr int kMostSteps = 200;
constexpr int kMostProcedureSteps = 500;
constexpr std::size_t kMostStarts = 8;

Vector scaled_by(std::span<const double> a, double factor) {
    Vector result(a.begin(), a.end());
    for (double& value : result) value *= factor;
    return result;
}

/// The keys that have a weight, j first and apart.
struct Row {
    std::size_t width = 0;
    double own = 0.0;
    Vector own_slope;
    Vector others;
    std::vector<Vector> slopes;  // of the others
};

/// g(δ), its gradient, and the weights of the other keys among themselves.
struct Logit {
    double value = 0.0;
    Vector gradient;
    Vector shares;
};

Logit logit_at(const Row& row, const Vector& delta) {
    Logit at;
    at.gradient = row.own_slope;
    Vector& s = at.shares;
    for (std::size_t m = 0; m < row.others.size(); ++m)
        s.push_back(row.others[m] + dot(row.slopes[m], delta));
    const double most = *std::ranges::max_element(s);
    double sum = 0.0;
    for (double& value : s) sum += value = std::exp(value - most);
    for (double& value : s) value /= sum;
    at.value = row.own + dot(row.own_slope, delta) - most - std::log(sum);
    for (std::size_t m = 0; m < s.size(); ++m)
        for (std::size_t c = 0; c < row.width; ++c) at.gradient[c] -= s[m] * row.slopes[m][c];
    return at;
}

/// H x = b for H symmetric and positive definite, row-major; by Cholesky's method, in place.
Vector solved(Vector h, Vector b) {
    const std::size_t d = b.size();
    for (std::size_t c = 0; c < d; ++c) {
        for (std::size_t k = 0; k < c; ++k) h[c * d + c] -= h[c * d + k] * h[c * d + k];
        h[c * d + c] = std::sqrt(h[c * d + c]);
        for (std::size_t r = c + 1; r < d; ++r) {
            for (std::size_t k = 0; k < c; ++k) h[r * d + c] -= h[r * d + k] * h[c * d + k];
            h[r * d + c] /= h[c * d + c];
        }
    }
    for (std::size_t r = 0; r < d; ++r) {
        for (std::size_t k = 0; k < r; ++k) b[r] -= h[r * d + k] * b[k];
        b[r] /= h[r * d + r];
    }
    for (std::size_t r = d; r-- > 0;) {
        for (std::size_t k = r + 1; k < d; ++k) b[r] -= h[k * d + r] * b[k];
        b[r] /= h[r * d + r];
    }
    return b;
}

/// I − λ ∇²g = I + λ Σ_m w_m (k_m − k̄)(k_m − k̄)ᵀ, w the shares and k̄ = Σ w_m k_m: positive definite.
Vector curvature(const Row& row, const Logit& at, double lambda) {
    const std::size_t d = row.width;
    Vector h(d * d, 0.0);
    for (std::size_t c = 0; c < d; ++c) h[c * d + c] = 1.0;
    Vector mean = row.own_slope;  // k_j − ∇g
    for (std::size_t c = 0; c < d; ++c) mean[c] -= at.gradient[c];
    for (std::size_t m = 0; m < at.shares.size(); ++m)
        for (std::size_t a = 0; a < d; ++a)
            for (std::size_t b = 0; b < d; ++b)
                h[a * d + b] += lambda * at.shares[m] * (row.slopes[m][a] - mean[a]) *
                                (row.slopes[m][b] - mean[b]);
    return h;
}

/// argmin ½‖δ‖² − λ g(δ), from `delta` on.
void minimise(const Row& row, double lambda, Vector& delta) {
    const auto loss = [&](const Vector& at) {
        return 0.5 * dot(at, at) - lambda * logit_at(row, at).value;
    };
    for (int n = 0; n < kMostSteps; ++n) {
        const Logit at = logit_at(row, delta);
        Vector slope = delta;
        for (std::size_t c = 0; c < row.width; ++c) slope[c] -= lambda * at.gradient[c];
        if (std::sqrt(dot(slope, slope)) <= 1e-13 * (1.0 + std::sqrt(dot(delta, delta)))) return;
        const Vector step = solved(curvature(row, at, lambda), slope);
        const double before = loss(delta);
        const double decrease = dot(slope, step);
        // Where the loss is flat to rounding nothing can be compared: there Newton's whole step is right.
        const bool flat = decrease <= kFlat * (1.0 + std::abs(before));
        Vector next;
        for (double length = 1.0; length > kShortestStep; length /= 2) {
            next = delta;
            for (std::size_t c = 0; c < row.width; ++c) next[c] -= length * step[c];
            if (flat || loss(next) <= before - 1e-4 * length * decrease) break;
        }
        delta = std::move(next);
        if (decrease <= 1e-26 * (1.0 + dot(delta, delta))) return;
    }
}

/// δ(λ) of minimise() has a g that grows with λ, by ∇gᵀ H⁻¹ ∇g: Newton's method on λ, kept inside a bracket.
std::optional<Vector> raised(const Row& row, double target) {
    Vector delta(row.width, 0.0);
    double low = 0.0;
    double high = std::numeric_limits<double>::infinity();
    double lambda = 1.0;
    for (int n = 0; n < kMostSteps; ++n) {
        minimise(row, lambda, delta);
        const Logit at = logit_at(row, delta);
        const double missing = target - at.value;
        if (std::abs(missing) <= 0.1 * kTolerance * (1.0 + std::abs(target))) return delta;
        (missing > 0.0 ? low : high) = lambda;
        if (low > kLargestMultiplier) return std::nullopt;
        const double rate =
            dot(at.gradient, solved(curvature(row, at, lambda), Vector(at.gradient)));
        double next = lambda + missing / rate;
        if (std::isinf(high)) next = std::isfinite(next) ? std::min(next, 16 * lambda) : 4 * lambda;
        if (!(next > low && next < high)) next = std::isinf(high) ? 4 * lambda : (low + high) / 2;
        lambda = next;
    }
    const double missing = target - logit_at(row, delta).value;
    if (std::abs(missing) > kTolerance * (1.0 + std::abs(target))) return std::nullopt;
    return delta;
}

/// α δ with g(α δ) = target: along a ray −g is convex, begins below and does not come back.
std::optional<Vector> cut_to(const Row& row, const Vector& delta, double target) {
    double low = 0.0;
    double high = 1.0;
    const auto reaches = [&](double length) {
        return logit_at(row, scaled_by(delta, length)).value <= target;
    };
    for (int n = 0; n < kMostSteps && !reaches(high); ++n) low = std::exchange(high, 2 * high);
    if (!std::isfinite(high) || !reaches(high)) return std::nullopt;
    for (int n = 0; n < kMostSteps && high - low > 1e-16 * high; ++n) {
        const double middle = (low + high) / 2;
        if (middle <= low || middle >= high) break;
        (reaches(middle) ? high : low) = middle;
    }
    return scaled_by(delta, high);
}

/// One local minimum: −g ≥ its tangent, so the nearest point of the tangent's half space is feasible and no longer.
std::optional<Vector> lowered_from(const Row& row, const Vector& start, double target) {
    std::optional<Vector> delta = cut_to(row, start, target);
    if (!delta) return delta;
    for (int n = 0; n < kMostProcedureSteps; ++n) {
        const Logit at = logit_at(row, *delta);
        const double size = dot(at.gradient, at.gradient);
        if (!(size > 0.0)) return delta;
        const double length = (target - at.value + dot(at.gradient, *delta)) / size;
        Vector next = scaled_by(at.gradient, length);
        double moved = 0.0;
        for (std::size_t c = 0; c < row.width; ++c)
            moved = std::max(moved, std::abs(next[c] - (*delta)[c]));
        delta = std::move(next);
        if (moved <= 1e-14 * std::sqrt(dot(*delta, *delta))) break;
    }
    return cut_to(row, *delta, target);
}

std::optional<Vector> lowered(const Row& row, double target) {
    std::vector<std::size_t> heaviest(row.others.size());
    for (std::size_t m = 0; m < heaviest.size(); ++m) heaviest[m] = m;
    std::ranges::stable_sort(
        heaviest, [&](std::size_t a, std::size_t b) { return row.others[a] > row.others[b]; });
    heaviest.resize(std::min(heaviest.size(), kMostStarts));
    std::optional<Vector> best;
    for (const std::size_t m : heaviest) {
        Vector start = row.slopes[m];
        for (std::size_t c = 0; c < row.width; ++c) start[c] -= row.own_slope[c];
        if (!(dot(start, start) > 0.0)) continue;
        const auto found = lowered_from(row, start, target);
        if (found && (!best || dot(*found, *found) < dot(*best, *best))) best = found;
    }
    return best;
}

Result<Row> row_of(const ReachRow& given, std::size_t j) {
    Row row;
    row.width = static_cast<std::size_t>(given.width);
    for (std::size_t m = 0; m < given.logits.size(); ++m) {
        const double logit = given.logits[m];
        const bool left_out = std::isinf(logit) && logit < 0.0;
        const auto first = given.slopes.begin() + static_cast<std::ptrdiff_t>(m * row.width);
        Vector slope(first, first + given.width);
        // another query may bring back what is −∞ for a key of ∞
        if ((!std::isfinite(logit) && !left_out) ||
            !std::ranges::all_of(slope, [](double x) { return std::isfinite(x); }))
            return bad_input("a score or a key of this row is not a finite number");
        if (left_out) continue;
        if (m == j) {
            row.own = logit;
            row.own_slope = std::move(slope);
        } else {
            row.others.push_back(logit);
            row.slopes.push_back(std::move(slope));
        }
    }
    return row;
}

bool is_masked(std::span<const double> logits, std::size_t j) {
    return std::isinf(logits[j]) && logits[j] < 0.0;
}

/// A step of the query moves the score of every key that is not masked as it moves that of this one.
bool moves_alike(const ReachRow& row, std::size_t j) {
    for (std::size_t m = 0; m < row.logits.size(); ++m)
        for (Index c = 0; c < row.width; ++c)
            if (!is_masked(row.logits, m) && row.slope(m, c) != row.slope(j, c)) return false;
    return true;
}

}  // namespace

double logit_of(double p) { return std::log(p) - std::log1p(-p); }

std::optional<double> score_change(std::span<const double> logits, std::size_t j, double target) {
    if (!(target > 0.0 && target < 1.0) || is_masked(logits, j)) return std::nullopt;
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t m = 0; m < logits.size(); ++m)
        if (m != j) most = std::max(most, logits[m]);
    if (!std::isfinite(most)) return std::nullopt;
    double sum = 0.0;
    for (std::size_t m = 0; m < logits.size(); ++m)
        if (m != j) sum += std::exp(logits[m] - most);
    const double change = logit_of(target) - (logits[j] - most - std::log(sum));
    return std::isfinite(change) ? std::optional(change) : std::nullopt;
}

Result<std::vector<double>> smallest_query_change(const ReachRow& given, std::size_t j,
                                                  double target) {
    if (!(target > 0.0 && target < 1.0))
        return bad_input(fmt::format(
            "a weight of {} needs an infinite score: expected more than 0 and less than 1",
            target));
    if (is_masked(given.logits, j)) return bad_input("the pair is masked: no query reaches it");
    auto row = row_of(given, j);
    if (!row) return tl::unexpected(row.error());
    if (row->others.empty()) return bad_input("the row has one key only: its weight is always 1");
    const double t = logit_of(target);
    const Vector none(row->width, 0.0);
    const double missing = t - logit_at(*row, none).value;
    if (std::abs(missing) <= 1e-14 * (1.0 + std::abs(t))) return none;
    auto found = missing > 0.0 ? raised(*row, t) : lowered(*row, t);
    if (!found)
        return bad_input(missing > 0.0 ? "no query was found that gives this key so large a weight"
                         : moves_alike(given, j)
                             ? "no query lowers this weight: every score of the row changes equally"
                             : "no query was found that lowers this weight");
    return *std::move(found);
}

std::optional<std::vector<double>> smallest_linear_change(std::span<const double> slope,
                                                          double change) {
    const double size = dot(slope, slope);
    if (!(size > 0.0) || !std::isfinite(size) || !std::isfinite(change)) return std::nullopt;
    return scaled_by(slope, change / size);
}

}  // namespace attn

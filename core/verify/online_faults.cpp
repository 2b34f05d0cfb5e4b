// Faults of an online softmax (Milakov & Gimelshein 2018, arXiv:1805.02867, algorithm 3; Dao 2023, arXiv:2307.08691,
// algorithm 1). Tile t of keys sees the running maximum m_t; m the last one.
//   p_j = exp(s_j − m)    acc = Σ p_j v_j    l = Σ p_j    context = acc / l    logsumexp = m + ln l

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "core/call.h"
#include "core/numerics.h"
#include "core/scores/score.h"
#include "core/verify/replay.h"
#include "core/verify/row_trials.h"

namespace attn::verify {
namespace {

constexpr Index kOnlineTiles[] = {1, 4, 8, 16, 32, 64, 128, 256};

/// Which keys are seen together, and in which order.
struct Order {
    Index tile = 1;
    bool backwards = false;

    std::string text() const {
        return fmt::format("tiles of {} key{}{}", tile, tile == 1 ? "" : "s",
                           backwards ? ", the last first" : "");
    }
};

/// visit(first, end) of each tile, in order.
template <class Visit>
void for_each_tile(Order order, Index keys, Visit visit) {
    const Index tiles = (keys + order.tile - 1) / order.tile;
    for (Index n = 0; n < tiles; ++n) {
        const Index first = (order.backwards ? tiles - 1 - n : n) * order.tile;
        visit(static_cast<std::size_t>(first),
              static_cast<std::size_t>(std::min(keys, first + order.tile)));
    }
}

/// The running maximum before and after the tile of each key.
struct Maxima {
    std::vector<double> before, after;
    double last = kMinusInfinity;
    double last_before = kMinusInfinity;  // before the last tile that has a key
    std::vector<bool> in_last;            // of that tile
};

Maxima maxima_of(std::span<const double> logits, Order order) {
    Maxima made;
    made.before.assign(logits.size(), 0.0);
    made.after = made.before;
    for_each_tile(order, std::ssize(logits), [&](std::size_t first, std::size_t end) {
        const auto tile = logits.subspan(first, end - first);
        const double own = *std::ranges::max_element(tile);
        if (own == kMinusInfinity) return;
        const double before = made.last == kMinusInfinity ? own : made.last;
        made.last = std::max(made.last, own);
        made.last_before = before;
        made.in_last.assign(logits.size(), false);
        for (std::size_t j = first; j < end; ++j) {
            made.before[j] = before, made.after[j] = made.last;
            made.in_last[j] = true;
        }
    });
    return made;
}

/// What p_j is multiplied by on its way into a sum.
using Factor = double (*)(const Maxima& m, std::size_t j);
constexpr Factor kRight = [](const Maxima&, std::size_t) { return 1.0; };
constexpr Factor kNotRescaled = [](const Maxima& m, std::size_t j) {
    return std::exp(m.last - m.after[j]);
};
constexpr Factor kRescaledBack = [](const Maxima& m, std::size_t j) {
    return std::exp(2.0 * (m.last - m.after[j]));
};
constexpr Factor kLastNotRescaled = [](const Maxima& m, std::size_t j) {
    return m.in_last[j] ? 1.0 : std::exp(m.last - m.last_before);
};
constexpr Factor kStale = [](const Maxima& m, std::size_t j) {
    return std::exp(m.after[j] - m.before[j]);
};

/// A way in which acc and l are summed.
struct Variant {
    std::string_view text;
    Factor acc, sum;
    bool right_logsumexp = false;  // else that of the sum
};

MadeRow summed(const Row& row, Order order, const Variant& variant) {
    const Maxima m = maxima_of(row.logits, order);
    MadeRow made{std::vector<double>(row.logits.size(), 0.0)};
    double sum = 0.0, right = 0.0;
    for (std::size_t j = 0; j < row.logits.size(); ++j) {
        if (row.logits[j] == kMinusInfinity) continue;
        const double p = std::exp(row.logits[j] - m.last);
        made.weights[j] = p * variant.acc(m, j);
        sum += p * variant.sum(m, j);
        right += p;
    }
    for (double& weight : made.weights) weight /= sum;
    made.logsumexp = m.last + std::log(variant.right_logsumexp ? right : sum);
    return made;
}

/// attempt(order) in every order that this many keys can be seen in; false stops.
template <class Attempt>
void in_each_order(Index keys, Attempt attempt) {
    for (const Index tile : kOnlineTiles)
        for (const bool backwards : {false, true})
            if (tile < keys && !attempt(Order{tile, backwards})) return;
}

Reason in_variants(const Trial& trial, const Take& take, std::span<const Variant> variants) {
    RowTrials rows(trial, take);
    if (!rows.possible()) return rows.reason();
    in_each_order(trial.subject.size.tk, [&](Order order) {
        return std::ranges::all_of(variants, [&](const Variant& variant) {
            return rows.attempt(fmt::format("{}, {}", variant.text, order.text()),
                                [&](const Row& row) { return summed(row, order, variant); });
        });
    });
    return rows.reason();
}

/// The right row, with another logsumexp of m and l.
template <class Lse>
MakeRow with_logsumexp(Lse lse) {
    return [lse](const Row& row) {
        MadeRow made = softmax_of({row.logits.begin(), row.logits.end()});
        const double most = *std::ranges::max_element(row.logits);
        made.logsumexp = lse(most, std::exp(made.logsumexp - most));
        return made;
    };
}

/// 2^x for e^x, or the reverse: softmax of factor · s, and a logsumexp of m and l.
template <class Lse>
MakeRow with_base(double factor, Lse lse) {
    return [factor, lse](const Row& row) {
        std::vector<double> logits(row.logits.begin(), row.logits.end());
        for (double& s : logits) s *= factor;
        MadeRow made = softmax_of(logits);
        const double most = *std::ranges::max_element(logits);
        made.logsumexp = lse(most / factor, std::exp(made.logsumexp - most));
        return made;
    };
}

/// How an accumulator of a short format is rounded.
struct ShortAcc {
    FloatFormat format;
    Order order;
    bool each_key;    // else after each tile
    bool when_moved;  // also after it was rescaled
};

MadeRow with_short_accumulator(const Row& row, const ShortAcc& variant) {
    const Maxima m = maxima_of(row.logits, variant.order);
    MadeRow made = softmax_of({row.logits.begin(), row.logits.end()});
    const double sum = std::exp(made.logsumexp - m.last);
    const auto round = [&](double x) {
        return rounded(variant.format, static_cast<long double>(x));
    };
    for (Index c = 0; c < row.v.columns; ++c) {
        double acc = 0.0, most = kMinusInfinity;
        const auto add_tile = [&](std::size_t first, std::size_t end) {
            double tile = 0.0;
            bool any = false;
            for (std::size_t j = first; j < end; ++j) {
                if (row.logits[j] == kMinusInfinity) continue;
                if (!any) {
                    acc *= most == kMinusInfinity ? 0.0 : std::exp(most - m.after[j]);
                    if (variant.when_moved) acc = round(acc);
                    most = m.after[j];
                }
                any = true;
                const double part =
                    std::exp(row.logits[j] - most) * row.v(static_cast<Index>(j), c);
                if (variant.each_key)
                    acc = round(acc + part);
                else
                    tile += part;
            }
            if (any && !variant.each_key) acc = round(acc + tile);
        };
        for_each_tile(variant.order, std::ssize(row.logits), add_tile);
        made.context.push_back(acc / sum);
    }
    return made;
}

}  // namespace

Reason not_rescaled(const Trial& trial, const Take& take) {
    constexpr Variant kVariants[] = {
        {"the accumulator is not rescaled", kNotRescaled, kRight},
        {"the running sum is not rescaled", kRight, kNotRescaled},
        {"neither the accumulator nor the running sum is rescaled", kNotRescaled, kNotRescaled},
        {"the accumulator is rescaled by exp(new − old)", kRescaledBack, kRight},
        {"the running sum is rescaled by exp(new − old)", kRight, kRescaledBack},
        {"both are rescaled by exp(new − old)", kRescaledBack, kRescaledBack},
        {"the accumulator is not rescaled at the last tile", kLastNotRescaled, kRight},
        {"the running sum is not rescaled at the last tile", kRight, kLastNotRescaled},
    };
    return in_variants(trial, take, kVariants);
}

Reason stale_maximum(const Trial& trial, const Take& take) {
    constexpr Variant kVariants[] = {
        {"each tile takes the maximum before it", kStale, kStale},
        {"each tile uses the previous maximum, only in the accumulator", kStale, kRight},
        {"each tile uses the previous maximum, only in the running sum", kRight, kStale},
    };
    RowTrials rows(trial, take);
    if (!rows.possible()) return rows.reason();
    in_each_order(trial.subject.size.tk, [&](Order order) {
        for (const Variant& variant : kVariants)
            if (!rows.attempt(fmt::format("{}, {}", variant.text, order.text()),
                              [&](const Row& row) { return summed(row, order, variant); }))
                return false;
        return rows.attempt(
            fmt::format("logsumexp takes the maximum before the last tile, {}", order.text()),
            [&](const Row& row) {
                MadeRow made = softmax_of({row.logits.begin(), row.logits.end()});
                const Maxima m = maxima_of(row.logits, order);
                made.logsumexp += m.last_before - m.last;
                return made;
            });
    });
    return rows.reason();
}

Reason wrong_normaliser(const Trial& trial, const Take& take) {
    RowTrials rows(trial, take);
    if (!rows.possible()) return rows.reason();
    const auto divided = [&](const std::string& text, double power) {
        return rows.attempt(text, [power](const Row& row) {
            MadeRow made = softmax_of({row.logits.begin(), row.logits.end()});
            const double most = *std::ranges::max_element(row.logits);
            const double sum = std::exp(made.logsumexp - most);
            for (double& weight : made.weights) weight *= std::pow(sum, 1.0 - power);
            return made;
        });
    };
    if (!divided("not divided by the sum", 0.0)) return {};
    if (!divided("divided by the sum twice", 2.0)) return {};
    const auto only_last = [](const Maxima& m, std::size_t j) { return m.in_last[j] ? 1.0 : 0.0; };
    const auto but_last = [](const Maxima& m, std::size_t j) { return m.in_last[j] ? 0.0 : 1.0; };
    const Variant variants[] = {
        {"divided by the sum of only the last tile", kRight, only_last},
        {"divided by the sum of only the last tile", kRight, only_last, true},
        {"divided by the sum without the last tile", kRight, but_last},
        {"divided by the sum without the last tile", kRight, but_last, true}};
    in_each_order(trial.subject.size.tk, [&](Order order) {
        return std::ranges::all_of(variants, [&](const Variant& variant) {
            return rows.attempt(fmt::format("{}, {}", variant.text, order.text()),
                                [&](const Row& row) { return summed(row, order, variant); });
        });
    });
    return rows.reason();
}

Reason base_two(const Trial& trial, const Take& take) {
    RowTrials rows(trial, take);
    if (!rows.possible()) return rows.reason();
    constexpr double kLog2e = std::numbers::log2e, kLn2 = std::numbers::ln2;
    const auto natural = [](double m, double l) { return m + std::log(l); };
    const auto scaled = [](double m, double l) { return m * kLog2e + std::log(l); };
    const auto shrunk = [](double m, double l) { return m * kLn2 + std::log(l); };
    const auto half = [](double m, double l) { return m + std::log2(l); };
    const auto whole = [](double m, double l) { return m * kLog2e + std::log2(l); };
    const auto back = [](double m, double l) { return (m + std::log(l)) * kLn2; };
    const std::string lse = "logsumexp is ";
    bool on = rows.attempt(lse + "in units of log 2", with_logsumexp(whole)) &&
              rows.attempt(lse + "m + log2 l", with_logsumexp(half)) &&
              rows.attempt(lse + "m log2 e + ln l", with_logsumexp(scaled)) &&
              rows.attempt(lse + "multiplied by ln 2", with_logsumexp(back));
    const std::string less = "2^x in place of e^x, without log2 e";
    const std::string more = "e^x of logits that were multiplied by log2 e for 2^x";
    for (const auto& each : {+natural, +shrunk, +half, +scaled, +whole, +back}) {
        on = on && rows.attempt(less, with_base(kLn2, each));
        on = on && rows.attempt(more, with_base(kLog2e, each));
    }
    return rows.reason();
}

Reason wrong_logsumexp(const Trial& trial, const Take& take) {
    if (trial.results.logsumexp.empty()) return "logsumexp is not among the results";
    RowTrials rows(trial, take);
    if (!rows.possible()) return rows.reason();
    const double factor = score_factor(trial.subject.spec, trial.subject.size.d_k);
    const auto lse = [&](const std::string& text, auto make) {
        return rows.attempt(text, with_logsumexp(make));
    };
    const bool on =
        lse("only the maximum: ln l is missing", [](double m, double) { return m; }) &&
        lse("only ln l: the maximum is missing", [](double, double l) { return std::log(l); }) &&
        lse("m + l: the logarithm is missing", [](double m, double l) { return m + l; }) &&
        lse("l alone", [](double, double l) { return l; }) &&
        lse("its sign is wrong", [](double m, double l) { return -m - std::log(l); }) &&
        lse("m − ln l", [](double m, double l) { return m - std::log(l); });
    if (on && factor != 0.0)
        lse("its maximum is that of the scores before the scale",
            [factor](double m, double l) { return m / factor + std::log(l); });
    return rows.reason();
}

Reason short_accumulator(const Trial& trial, const Take& take) {
    RowTrials rows(trial, take);
    if (!rows.possible()) return rows.reason();
    for (const FloatFormat format : {FloatFormat::fp16, FloatFormat::bf16})
        for (const bool each_key : {true, false})
            for (const bool when_moved : {false, true}) {
                bool on = true;
                in_each_order(trial.subject.size.tk, [&](Order order) {
                    const ShortAcc variant{format, order, each_key, when_moved};
                    on = rows.attempt(
                        fmt::format("the accumulator of the output is {}, rounded after each {}, "
                                    "{}",
                                    info(format).name, each_key ? "key" : "tile", order.text()),
                        [&](const Row& row) { return with_short_accumulator(row, variant); });
                    return on;
                });
                if (!on) return {};
            }
    return rows.reason();
}

}  // namespace attn::verify

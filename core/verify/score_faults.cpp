// Faults between the raw score of a pair and its weight. b batch entry, h head, i query row, j key column.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/entries.h"
#include "core/masks.h"
#include "core/scores/operands.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/verify/faults.h"
#include "core/verify/replay.h"

namespace attn::verify {
namespace {

/// Least squares of y on x, each less its mean over a row.
struct Fit {
    double xx = 0.0, xy = 0.0;
    void add(const std::vector<double>& x, const std::vector<double>& y) {
        if (x.size() < 2) return;
        const auto n = static_cast<double>(x.size());
        double mean_x = 0.0, mean_y = 0.0;
        for (std::size_t k = 0; k < x.size(); ++k) mean_x += x[k] / n, mean_y += y[k] / n;
        for (std::size_t k = 0; k < x.size(); ++k) {
            xx += (x[k] - mean_x) * (x[k] - mean_x);
            xy += (x[k] - mean_x) * (y[k] - mean_y);
        }
    }
    std::optional<double> slope() const {
        return xx > 0.0 && std::isfinite(xy) ? std::optional(xy / xx) : std::nullopt;
    }
};

/// The logits that results show, but for a constant a row: masked scores, or the logarithms of weights. −inf: not to be
/// known.
class Logits {
  public:
    explicit Logits(const Trial& trial) : allowed_(trial.subject.allowed) {
        for (const Stage stage : {Stage::biased, Stage::masked, Stage::weights})
            if (shown_ == nullptr && !trial.results[stage].empty()) {
                shown_ = &trial.results[stage];
                logarithms_ = stage == Stage::weights;
            }
    }
    explicit operator bool() const { return shown_ != nullptr; }
    std::optional<double> at(Index b, Index h, Index i, Index j) const {
        const auto shown = static_cast<double>((*shown_)(b, h, i, j));
        if (allowed_(b, h, i, j) == 0 || (logarithms_ && shown < 1e-25)) return std::nullopt;
        const double logit = logarithms_ ? std::log(shown) : shown;
        return std::isfinite(logit) ? std::optional(logit) : std::nullopt;
    }

  private:
    const Mask& allowed_;
    const Tensor* shown_ = nullptr;
    bool logarithms_ = false;
};

/// What the scores were multiplied by, from `scaled`, or from logits where no cap bends them.
std::optional<double> fitted_factor(const Trial& trial) {
    const Subject& subject = trial.subject;
    const Tensor& scaled = trial.results[Stage::scaled];
    const Logits logits(trial);
    if (scaled.empty() && (!logits || subject.spec.softcap)) return std::nullopt;
    const Replay replay = replay_of(subject);
    Fit fit;
    for_each_query(subject.size, [&](Index b, Index h, Index i) {
        std::vector<double> x, y;
        for (Index j = 0; j < subject.size.tk; ++j) {
            const auto logit =
                scaled.empty() ? logits.at(b, h, i, j) : std::optional<double>(scaled(b, h, i, j));
            if (!logit || !std::isfinite(*logit)) continue;
            const double distance =
                std::abs(static_cast<double>(i + subject.size.query_offset - j));
            const bool biased = scaled.empty() && !replay.slopes.empty();
            x.push_back(replay.scores(b, h, i, j));
            const double added = scaled.empty() && replay.bias ? replay.bias(b, h, i, j) : 0.0;
            y.push_back(*logit - added + (biased ? replay.slopes[h] * distance : 0.0));
        }
        fit.add(x, y);
    });
    return fit.slope();
}

/// Whether scores are off by ln 2 or log2 e: what base_two() tells.
bool is_base_two(double ratio) {
    return std::abs(ratio / std::numbers::ln2 - 1.0) < 1e-4 ||
           std::abs(ratio / std::numbers::log2e - 1.0) < 1e-4;
}

/// "0.125 = 1/√64".
std::string factor_text(double factor) {
    const double width = 1.0 / (factor * factor);
    const double whole = std::round(width);
    if (factor > 0.0 && whole >= 2.0 && std::abs(width - whole) < 1e-3 * whole)
        return fmt::format("{:.6g} = 1/√{}", factor, whole);
    return fmt::format("{:.6g}", factor);
}

/// Residual of the logits of head h over −distance.
std::optional<double> fitted_slope(const Trial& trial, const Logits& logits, Index head) {
    const Subject& subject = trial.subject;
    const Replay replay = replay_of(subject);
    Fit fit;
    for_each_query(subject.size, [&](Index b, Index h, Index i) {
        if (h != head) return;
        std::vector<double> x, y;
        for (Index j = 0; j < subject.size.tk; ++j) {
            const auto logit = logits.at(b, h, i, j);
            if (!logit) continue;
            const double scaled = replay.scores(b, h, i, j) * replay.factor;
            x.push_back(-std::abs(static_cast<double>(i + subject.size.query_offset - j)));
            const double added = replay.bias ? replay.bias(b, h, i, j) : 0.0;
            const double given = replay.bias_first ? scaled + added : scaled;
            y.push_back(*logit - (replay.bias_first ? 0.0 : added) -
                        (replay.cap ? *replay.cap * std::tanh(given / *replay.cap) : given));
        }
        fit.add(x, y);
    });
    return fit.slope();
}

/// Whether planting changed a row that has a key by more than float32 rounds.
bool changes_a_row(const Subject& subject, const Results& results, const TraceD& planted) {
    constexpr double kShown = 0x1.0p-24;
    if (!results[Stage::masked].empty()) return true;
    bool changes = false;
    for_each_query(subject.size, [&](Index b, Index h, Index i) {
        if (std::ranges::count(subject.allowed.matrix(b, h).row(i), 1) == 0) return;
        const TraceD& reference = subject.reference;
        for (Index j = 0; j < subject.size.tk; ++j)
            changes = changes || std::abs(planted[Stage::weights](b, h, i, j) -
                                          reference[Stage::weights](b, h, i, j)) > kShown;
    });
    return changes;
}

/// A wrong use of the temperature: the scores are `factor` times the right ones.
struct TemperatureFault {
    std::string_view text;
    double factor;
};
std::vector<TemperatureFault> temperature_faults(const AttentionSpec& spec) {
    const double t = spec.temperature;
    if (t == 1.0) return {};
    return {{"ignored", t},
            {"multiplied by, where scores are divided", t * t},
            {"applied twice", 1.0 / t},
            {"its root is taken", std::sqrt(t)}};
}

}  // namespace

Reason wrong_temperature(const Trial& trial, const Take& take) {
    const Subject& subject = trial.subject;
    if (subject.spec.temperature == 1.0) return "the temperature is 1";
    Replay replay = replay_of(subject);
    const double right = replay.factor;
    for (const TemperatureFault& fault : temperature_faults(subject.spec)) {
        replay.factor = right * fault.factor;
        if (!take(fmt::format("temperature {}: {}", subject.spec.temperature, fault.text),
                  run(subject, replay)))
            return {};
    }
    return {};
}

Reason wrong_scale(const Trial& trial, const Take& take) {
    const Subject& subject = trial.subject;
    const Dimensions& size = subject.size;
    const double right = product_factor(subject.spec, size.d_k);
    const double of_operands = std::pow(operand_factor(subject.spec, size.d_k), 2);
    const auto one_over_root = [](Index n) { return 1.0 / std::sqrt(static_cast<double>(n)); };
    struct Wrong {
        std::string text;
        double factor;
    };
    std::vector<Wrong> wrong{
        {"applied twice", right * right},
        {"left out", 1.0},
        {fmt::format("1/√d_model with d_model = H·d_k = {}", size.heads * size.d_k),
         one_over_root(size.heads * size.d_k)},
        {fmt::format("1/√d_v with d_v = {}", size.d_v), one_over_root(size.d_v)},
        {fmt::format("1/√d_k with d_k = {}", size.d_k), one_over_root(size.d_k)},
        {"multiplied by √d_k instead", 1.0 / right},
    };
    // Without the temperature, or with another use of it: wrong_temperature.
    const auto of_temperature = [&](double factor, double within) {
        return std::ranges::any_of(temperature_faults(subject.spec), [&](const auto& fault) {
            return std::abs(factor - right * fault.factor) <=
                   within * std::abs(right * fault.factor);
        });
    };
    if (const auto of_scores = fitted_factor(trial)) {
        const double fitted = *of_scores * of_operands;
        if (!is_base_two(fitted / right) && !of_temperature(fitted, 1e-3))
            wrong.push_back({"fitted to the results", fitted});
    }
    Replay replay = replay_of(subject);
    for (const Wrong& each : wrong) {
        if (std::abs(each.factor - right) <= 1e-6 * std::abs(right)) continue;
        if (of_temperature(each.factor, 1e-6)) continue;
        replay.factor = each.factor / of_operands;
        if (!take(fmt::format("{}: scores times {} instead of {}", each.text,
                              factor_text(each.factor), factor_text(right)),
                  run(subject, replay)))
            return {};
    }
    return {};
}

Reason softmax_over_wrong_axis(const Trial& trial, const Take& take) {
    const Dimensions& size = trial.subject.size;
    constexpr struct {
        SoftmaxOver over;
        std::string_view text;
        Index Dimensions::*length;
    } kAxes[] = {{SoftmaxOver::queries, "over the queries: columns sum to 1", &Dimensions::tq},
                 {SoftmaxOver::heads, "over the heads", &Dimensions::heads},
                 {SoftmaxOver::batch, "over the batch", &Dimensions::batch}};
    Replay replay = replay_of(trial.subject);
    for (const auto& axis : kAxes) {
        // Softmax over one entry is 1 everywhere, which is another fault than this.
        if (size.*axis.length < 2) continue;
        replay.over = axis.over;
        for (const EmptyWeights empty : {EmptyWeights::zero, EmptyWeights::nan}) {
            replay.empty = empty;
            if (!take(std::string(axis.text), run(trial.subject, replay))) return {};
        }
    }
    return {};
}

Reason dropped_softcap(const Trial& trial, const Take& take) {
    if (!trial.subject.spec.softcap) return "the call has no soft-cap";
    Replay replay = replay_of(trial.subject);
    const double cap = *replay.cap;
    replay.cap.reset();
    if (!take("not applied", run(trial.subject, replay))) return {};
    // cap tanh(scores / cap) · factor = (cap · factor) tanh(scaled / (cap · factor))
    replay.cap = cap * replay.factor;
    if (replay.factor > 0.0 && !take("applied before the scale", run(trial.subject, replay)))
        return {};
    return {};
}

Reason wrong_bias(const Trial& trial, const Take& take) {
    const Subject& subject = trial.subject;
    const MaskSpec& mask = subject.spec.mask;
    if (!mask.bias) return "the call has no bias";
    const Replay right = replay_of(subject);
    const auto added = [&](std::string text, auto bias) {
        Replay replay = right;
        replay.bias = bias;
        return take(std::move(text), run(subject, replay));
    };
    // The −∞ of the bias is in `allowed`: first a kernel that has it as a mask too.
    const auto none = [](Index, Index, Index, Index) { return 0.0; };
    if (!added(mask.bias->forbids ? "dropped, but for its −∞" : "dropped", none)) return {};
    if (mask.bias->forbids) {
        MaskSpec rest = mask;
        rest.bias.reset();
        Replay replay = right;
        replay.bias = none;
        replay.allowed = materialise(rest, subject.size);
        if (!take("dropped, with its −∞", run(subject, replay))) return {};
    }
    const auto whole = [&](double factor) {
        return [&, factor](Index b, Index h, Index i, Index j) {
            const double bias = right.bias(b, h, i, j);
            return std::isfinite(bias) ? factor * bias : bias;
        };
    };
    if (right.factor != 1.0 &&
        !added("added to the raw scores, before the scale", whole(right.factor)))
        return {};
    if (!added("subtracted", whole(-1.0))) return {};
    if (!added("added twice", whole(2.0))) return {};
    if (right.cap) {
        Replay replay = right;
        replay.bias_first = !right.bias_first;
        if (!take(right.bias_first ? "added after the soft cap" : "added before the soft cap",
                  run(subject, replay)))
            return {};
    }
    const Shape shape = mask.bias->values.shape();
    if (shape.t == shape.d && shape.t > 1 &&
        !added("transposed: bias[j, i]",
               [&](Index b, Index h, Index i, Index j) { return right.bias(b, h, j, i); }))
        return {};
    const Index heads = subject.size.heads;
    if (shape.h > 1 && !added("of head 0 in every head", [&](Index b, Index, Index i, Index j) {
            return right.bias(b, 0, i, j);
        }))
        return {};
    if (shape.h > 1)
        added("of the heads in reverse order", [&](Index b, Index h, Index i, Index j) {
            return right.bias(b, heads - 1 - h, i, j);
        });
    return {};
}

Reason wrong_alibi_slopes(const Trial& trial, const Take& take) {
    const Subject& subject = trial.subject;
    if (!subject.spec.alibi) return "the call has no ALiBi";
    const Index heads = subject.size.heads;
    Replay replay = replay_of(subject);
    const std::vector<double> right = replay.slopes;
    const auto with = [&](std::string text, auto slope) {
        for (Index h = 0; h < heads; ++h) replay.slopes[h] = slope(h);
        return take(std::move(text), run(subject, replay));
    };
    const auto power = [&](double exponent, Index n) {
        return std::exp2(-8.0 * exponent / static_cast<double>(n));
    };
    const auto real = [](Index n) { return static_cast<double>(n); };
    const bool is_power = (heads & (heads - 1)) == 0;
    if (!is_power &&
        !with(fmt::format("2^(−8(h+1)/{}), though {} is not a power of two", heads, heads),
              [&](Index h) { return power(real(h + 1), heads); }))
        return {};
    if (!with("counted from head 0: 2^(−8h/H)", [&](Index h) { return power(real(h), heads); }))
        return {};
    if (!with("left out", [](Index) { return 0.0; })) return {};
    if (!with("of the wrong sign", [&](Index h) { return -right[h]; })) return {};
    if (!with("of the heads in reverse order", [&](Index h) { return right[heads - 1 - h]; }))
        return {};
    const Logits logits(trial);
    if (!logits) return {};
    std::vector<double> fitted;
    for (Index h = 0; h < heads; ++h)
        fitted.push_back(fitted_slope(trial, logits, h).value_or(0.0));
    with(fmt::format("fitted to the results: {:.4g} instead of {:.4g}", fmt::join(fitted, ", "),
                     fmt::join(right, ", ")),
         [&](Index h) { return fitted[h]; });
    return {};
}

Reason wrong_empty_rows(const Trial& trial, const Take& take) {
    const Subject& subject = trial.subject;
    Replay replay = replay_of(subject);
    bool empty = false;
    for_each_query(subject.size, [&](Index b, Index h, Index i) {
        empty = empty || std::ranges::count(subject.allowed.matrix(b, h).row(i), 1) == 0;
    });
    if (!empty) return "every row has a key that it may attend to";
    if (!replay.sinks.empty()) return "the sinks take the weight of rows without a key";
    constexpr std::pair<EmptyWeights, std::string_view> kVariants[] = {
        {EmptyWeights::nan, "they are NaN"},
        {EmptyWeights::uniform, "they are the mean of V: every key weighs 1/Tk"},
        {EmptyWeights::zero, "they are 0"},
    };
    const EmptyWeights right = replay.empty;
    for (const auto& [variant, text] : kVariants) {
        replay.empty = variant;
        if (variant != right && !take(std::string(text), run(subject, replay))) return {};
    }
    return {};
}

// What only shows in rows without a key is told by wrong_empty_rows.
Reason finite_mask_value(const Trial& trial, const Take& take) {
    const Subject& subject = trial.subject;
    if (std::ranges::count(subject.allowed.values(), 0) == 0) return "the mask forbids nothing";
    bool shows = false;
    constexpr double kLowest = -std::numeric_limits<float>::max();
    Replay replay = replay_of(subject);
    for (const double fill :
         {-1e4, -65504.0, -1e5, -1e9, kLowest, -1e3, -100.0, -50.0, -20.0, -10.0, -1.0, 0.0})
        for (const bool added : {false, true}) {
            if (fill == 0.0 && added) continue;  // that is no mask at all
            replay.fill = fill;
            replay.fill_is_added = added;
            TraceD planted = run(subject, replay);
            if (!is_rejected(planted) && !changes_a_row(subject, trial.results, planted)) continue;
            shows = true;
            if (!take(fmt::format("{:.6g} is {} instead of −∞", fill,
                                  added ? "added to the score" : "written"),
                      std::move(planted)))
                return {};
        }
    return shows ? "" : "with a finite mask value no forbidden pair would have weight";
}

}  // namespace attn::verify

// Faults of dropout and of short formats. b batch entry, h head, i query row, j key column, p dropout's probability.

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/entries.h"
#include "core/numerics.h"
#include "core/scores/operands.h"
#include "core/scores/score.h"
#include "core/verify/faults.h"
#include "core/verify/replay.h"

namespace attn::verify {
namespace {

/// Weights that results drop: which, and what the others are multiplied by.
struct Dropped {
    TensorD factors;       // 0 or `ratio` of each pair
    double ratio = 0.0;    // of the survivors to the reference, the median
    double dropped = 0.0;  // share of the pairs that have a weight
    Index pairs = 0;
};

/// What of the reference's weights is large enough to be missed.
constexpr double kNoticed = 1e-6;

std::optional<Dropped> dropped_weights(const Trial& trial) {
    const Subject& subject = trial.subject;
    const Tensor& shown =
        trial.results[trial.results[Stage::dropped].empty() ? Stage::weights : Stage::dropped];
    if (shown.empty()) return std::nullopt;
    const TensorD& right = subject.reference[Stage::weights];
    Dropped found;
    found.factors = TensorD(right.shape(), 1.0);
    std::vector<double> ratios;
    Index zeros = 0;
    for (std::size_t n = 0; n < right.values().size(); ++n) {
        if (!(right.values()[n] > kNoticed)) continue;
        const auto value = static_cast<double>(shown.values()[n]);
        if (value == 0.0)
            ++zeros, found.factors.values()[n] = 0.0;
        else
            ratios.push_back(value / right.values()[n]);
    }
    found.pairs = zeros + std::ssize(ratios);
    if (zeros == 0 || ratios.empty()) return std::nullopt;
    std::ranges::nth_element(ratios, ratios.begin() + std::ssize(ratios) / 2);
    found.ratio = ratios[ratios.size() / 2];
    found.dropped = static_cast<double>(zeros) / static_cast<double>(found.pairs);
    return found;
}

/// Whether so many of so many could have been dropped with probability p: five standard deviations.
bool is_likely(const Dropped& found, double p) {
    const double deviation = std::sqrt(p * (1.0 - p) / static_cast<double>(found.pairs));
    return p > 0.0 && p < 1.0 && std::abs(found.dropped - p) <= 5.0 * deviation + 1e-9;
}

TraceD with_factors(const Subject& subject, Replay replay, TensorD factors, double ratio) {
    for (double& factor : factors.values()) factor *= ratio;
    replay.dropout = std::move(factors);
    TraceD planted = run(subject, replay);
    if (is_rejected(planted)) return planted;
    // Where the call has no dropout, the weights themselves are what was dropped from.
    if (!subject.spec.drops()) planted[Stage::weights] = planted[Stage::dropped];
    return planted;
}

/// What is short in a kernel.
struct Short {
    std::string_view text;
    bool operands, scores, weights;
};
constexpr Short kShort[] = {
    {"Q, K and V rounded to {}", true, false, false},
    {"the weights rounded to {} before they meet V", false, false, true},
    {"Q, K, V and the weights rounded to {}", true, false, true},
    {"the scores rounded to {}", false, true, false},
    {"Q, K, V, the scores and the weights rounded to {}", true, true, true},
};

TraceD in_format(const Subject& subject, FloatFormat format, const Short& variant) {
    Replay replay = replay_of(subject);
    if (variant.operands && subject.spec.score == Score::dot) {
        set_scores(subject, operand(subject, Stage::q_rot), operand(subject, Stage::k_rot), replay);
        replay.round_operands = format;
    } else if (variant.operands) {
        replay.scores = scores_of(subject, rounded_to(format, operand(subject, Stage::q_rot)),
                                  rounded_to(format, operand(subject, Stage::k_rot)));
        replay.v = rounded_to(format, replay.v);
    }
    if (variant.scores) replay.round_scores = format;
    if (variant.weights) replay.round_weights = format;
    replay.right_weights = !variant.operands && !variant.scores;
    return run(subject, replay);
}

/// Σ a b, every product and every sum rounded; a and b are of the format themselves. In double a product of two of them is
/// exact, and a sum has more than twice their bits, so that rounding it again is rounding once (Figueroa 1995).
double short_dot(FloatFormat format, const TensorD& a, const TensorD& b,
                 const std::array<Index, 6>& at) {
    const auto [n, h, i, g, j, width] = at;
    double sum = 0.0;
    for (Index c = 0; c < width; ++c) {
        const double product = rounded(format, a(n, h, i, c) * b(n, g, j, c));
        sum = rounded(format, sum + product);
    }
    return sum;
}

/// Scores of dot products whose running sums are in the format.
std::optional<TraceD> with_short_sums(const Subject& subject, FloatFormat format) {
    const auto& t = subject.reference;
    if (subject.spec.score != Score::dot || t[Stage::scores].count() > (Index{1} << 18))
        return std::nullopt;
    const TensorD q = rounded_to(format, operand(subject, Stage::q_rot));
    const TensorD k = rounded_to(format, operand(subject, Stage::k_rot));
    Replay replay = replay_of(subject);
    const double of_operands = std::pow(operand_factor(subject.spec, subject.size.d_k), 2);
    const Shape shape = replay.scores.shape();
    const std::vector<Index> heads = grouped_heads(subject.size);
    for_each_entry(shape, [&](Index b, Index h, Index i, Index j) {
        replay.scores(b, h, i, j) =
            of_operands * short_dot(format, q, k, {b, h, i, heads[h], j, subject.size.d_k});
    });
    return run(subject, replay);
}

}  // namespace

TraceD in_short_format(const Subject& of, FloatFormat format) {
    Subject subject = of;
    subject.screen.reset();
    TraceD made = in_format(subject, format, {"", true, true, true});
    for (TensorD& stage : made.stages) stage = rounded_to(format, std::move(stage));
    made.logsumexp = rounded_to(format, std::move(made.logsumexp));
    return made;
}

Reason active_dropout(const Trial& trial, const Take& take) {
    const Subject& subject = trial.subject;
    const AttentionSpec& spec = subject.spec;
    if (spec.drops()) return "the call itself drops weights";
    bool stopped = false;
    if (spec.dropout > 0.0) {
        Subject training = subject;
        training.spec.training = true;
        Replay replay = replay_of(training);
        stopped = !take(fmt::format("p = {:g}, the zeros of this seed", spec.dropout),
                        with_factors(subject, replay, replay.dropout, 1.0));
    }
    if (stopped) return {};
    const std::optional<Dropped> found = dropped_weights(trial);
    if (!found)
        return spec.dropout > 0.0 ? ""
               : trial.results[Stage::weights].empty()
                   ? "weights are not among the results: which were dropped cannot be seen"
                   : "no weight is 0 that should not be";
    const double p = 1.0 - 1.0 / found->ratio;
    if (!is_likely(*found, p))
        return fmt::format(
            "{:.4g} % of the weights are 0, the others are {:.4g} times as large: not 1/(1 − p)",
            100.0 * found->dropped, found->ratio);
    take(fmt::format(
             "{:.4g} % of the weights are 0, the others are {:.4g} = 1/(1 − {:.4g}) times as large",
             100.0 * found->dropped, found->ratio, p),
         with_factors(subject, replay_of(subject), found->factors, found->ratio));
    return {};
}

Reason unscaled_dropout(const Trial& trial, const Take& take) {
    const Subject& subject = trial.subject;
    const double retained = 1.0 - subject.spec.dropout;
    const Replay replay = replay_of(subject);
    if (subject.spec.drops()) {
        take("dropped weights are 0, the others are not divided by 1 − p",
             with_factors(subject, replay, replay.dropout, retained));
        return {};
    }
    if (subject.spec.dropout > 0.0 &&
        !take("everything is multiplied by 1 − p",
              with_factors(subject, replay, TensorD(replay.scores.shape(), 1.0), retained)))
        return {};
    const std::optional<Dropped> found = dropped_weights(trial);
    if (!found) return subject.spec.dropout > 0.0 ? "" : "nothing is dropped";
    if (std::abs(found->ratio - 1.0) > 1e-3) return "the weights that are left are scaled";
    take("dropped weights are 0, the others are not divided by 1 − p",
         with_factors(subject, replay, found->factors, 1.0));
    return {};
}

std::optional<double> whole_value(const Results& results) {
    const Tensor& shown = results[results[Stage::context].empty() ? Stage::output : Stage::context];
    if (shown.empty()) return std::nullopt;
    const auto all = [&](auto is) { return std::ranges::all_of(shown.values(), is); };
    if (all([](float x) { return x == 0.0F; })) return 0.0;
    if (all([](float x) { return std::isnan(x); })) return std::numeric_limits<double>::quiet_NaN();
    return std::nullopt;
}

Reason not_written(const Trial& trial, const Take& take) {
    const auto attempt = [&](double value, bool weights, bool logsumexp) {
        TraceD planted = trial.subject.reference;
        for (const Stage stage : {Stage::weights, Stage::dropped, Stage::context, Stage::output})
            if (weights || stage > Stage::dropped)
                std::ranges::fill(planted[stage].values(), value);
        if (logsumexp) std::ranges::fill(planted.logsumexp.values(), value);
        return take(
            fmt::format("{}{}context and output are {} everywhere", logsumexp ? "logsumexp, " : "",
                        weights ? "weights, " : "", std::isnan(value) ? "NaN" : "0"),
            std::move(planted));
    };
    for (const double value : {0.0, std::numeric_limits<double>::quiet_NaN()})
        for (const bool weights : {false, true})
            for (const bool logsumexp : {false, true})
                if (!attempt(value, weights, logsumexp)) return {};
    return {};
}

Reason low_precision(const Trial& trial, const Take& take) {
    for (const FloatFormat format : {FloatFormat::bf16, FloatFormat::fp16}) {
        const std::string_view name = info(format).name;
        for (const Short& variant : kShort)
            if (!take(fmt::format(fmt::runtime(variant.text), name),
                      in_format(trial.subject, format, variant)))
                return {};
        if (auto planted = with_short_sums(trial.subject, format))
            if (!take(fmt::format("Q and K rounded to {0}, their products summed in {0}", name),
                      *std::move(planted)))
                return {};
    }
    short_accumulator(trial, take);
    return {};
}

}  // namespace attn::verify

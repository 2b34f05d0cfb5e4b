#include "app/workspaces/numerics/text.h"

#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/workspaces/numerics/view.h"
#include "core/stages.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

double value_at(const SoftmaxRun& run, SoftmaxStep step, Index key) {
    const std::vector<double>* const values = run.find(step);
    if (values == nullptr || values->empty()) return std::nan("");
    return (*values)[std::min(static_cast<std::size_t>(key), values->size() - 1)];
}

// --- why it broke

std::string overflow_text(const SoftmaxRun& run, const FaultPlace& place) {
    const std::string most = largest_description(run.format);
    switch (place.step) {
        case SoftmaxStep::logits:
            return fmt::format("the logit of key {} is beyond ±{}", place.key, most);
        case SoftmaxStep::exps: {
            const bool shifted = run.find(SoftmaxStep::shifted) != nullptr;
            const auto of = shifted ? SoftmaxStep::shifted : SoftmaxStep::logits;
            const std::string s = value_in(run.format, value_at(run, of, place.key));
            return fmt::format("exp({}) > {} at key {}", s, most, place.key);
        }
        case SoftmaxStep::sum:
            return fmt::format("the sum passes {} at key {}", most, place.key);
        case SoftmaxStep::shifted:
        case SoftmaxStep::below_lse:
            return fmt::format("the difference at key {} is beyond −{}", place.key, most);
        case SoftmaxStep::max:
        case SoftmaxStep::log_sum:
        case SoftmaxStep::lse:
        case SoftmaxStep::weights:
            break;
    }
    return fmt::format("beyond {}", most);
}

// --- the sentence

struct Parted {
    std::vector<FloatFormat> broken, whole;
    double worst = 0.0;  // of the whole ones
    FloatFormat worst_in = FloatFormat::fp16;
};

Parted part(const NumericsRuns& runs, SoftmaxAlgorithm algorithm) {
    Parted parted;
    for (const FloatFormat format : kFloatFormats) {
        const CheckedRun& one = runs.of(algorithm, format);
        const bool whole = one.run.outcome() == Outcome::finite;
        (whole ? parted.whole : parted.broken).push_back(format);
        if (!whole || one.error.ulp <= parted.worst) continue;
        parted.worst = one.error.ulp;
        parted.worst_in = format;
    }
    return parted;
}

/// "fp16", "fp16 and bf16", "every format".
std::string format_text(const std::vector<FloatFormat>& formats) {
    if (formats.size() == kFloatFormatCount) return "every format";
    std::string text;
    for (std::size_t n = 0; n < formats.size(); ++n) {
        text += n == 0 ? "" : n + 1 == formats.size() ? " and " : ", ";
        text += info(formats[n]).name;
    }
    return text;
}

std::string outcome_text(const NumericsRuns& runs, SoftmaxAlgorithm algorithm,
                         const std::vector<FloatFormat>& broken) {
    std::array<bool, 3> met{};
    for (const FloatFormat format : broken)
        met[static_cast<std::size_t>(runs.of(algorithm, format).run.outcome())] = true;
    const bool nan = met[static_cast<std::size_t>(Outcome::nan)];
    const bool zeros = met[static_cast<std::size_t>(Outcome::zeros)];
    return nan && zeros ? "breaks" : nan ? "gives NaN" : "gives only zeros";
}

std::string broken_text(const NumericsRuns& runs, SoftmaxAlgorithm algorithm,
                        const std::vector<FloatFormat>& broken) {
    return fmt::format("{} in {}", outcome_text(runs, algorithm, broken), format_text(broken));
}

/// "is off by at most 0.9 ulp", "is off by up to 57 ulp (bf16)".
std::string error_text(const Parted& parted) {
    if (parted.worst == 0.0) return "is exact to the last bit";
    if (parted.worst <= kRightUlp)
        return fmt::format("is off by at most {}", ulp_text(parted.worst));
    return fmt::format("is off by up to {} ({})", ulp_text(parted.worst),
                       info(parted.worst_in).name);
}

std::string clause(const NumericsRuns& runs, SoftmaxAlgorithm algorithm, std::string_view subject) {
    const Parted parted = part(runs, algorithm);
    const std::string_view where = parted.worst <= kRightUlp ? " in every format" : "";
    if (parted.broken.empty()) return fmt::format("{} {}{}", subject, error_text(parted), where);
    std::string text = fmt::format("{} {}", subject, broken_text(runs, algorithm, parted.broken));
    const bool adds_rest = algorithm != SoftmaxAlgorithm::naive && !parted.whole.empty();
    if (!adds_rest) return text;
    text += " and " + error_text(parted);
    return parted.worst <= kRightUlp ? text + " in " + format_text(parted.whole) : text;
}

/// Of a row that softmax is not defined for.
std::string undefined_sentence(const NumericsRuns& runs) {
    const auto& x = runs.logits;
    const auto nan = std::ranges::find_if(x, [](double value) { return std::isnan(value); });
    if (nan != x.end())
        return fmt::format(
            "The logit of key {} is NaN: no weight of the row is defined, and every algorithm "
            "gives NaN.",
            nan - x.begin());
    const auto inf = std::ranges::find_if(x, [](double v) { return std::isinf(v) && v > 0; });
    if (inf != x.end())
        return fmt::format(
            "The logit of key {} is ∞: its weight would be ∞/∞, which is undefined, and every "
            "algorithm gives NaN there.",
            inf - x.begin());
    return "Every logit is −∞: no weight is defined, and 0/0 or ∞ − ∞ gives NaN in every "
           "format. A kernel needs a separate case for this row.";
}

}  // namespace

NumericsRuns run_all(std::vector<double> logits, Index gain) {
    NumericsRuns all{std::move(logits), gain, {}, {}};
    const auto g = static_cast<double>(gain);
    all.exact = exact_softmax(all.logits, g);
    for (std::size_t a = 0; a < kSoftmaxAlgorithmCount; ++a)
        for (const FloatFormat format : kFloatFormats) {
            SoftmaxRun run = run_softmax(static_cast<SoftmaxAlgorithm>(a), format, all.logits, g);
            const RowError error = error_of(format, run.weights(), all.exact);
            all.runs.push_back({std::move(run), error});
        }
    return all;
}

std::string_view title_of(SoftmaxAlgorithm algorithm) {
    constexpr std::string_view kTitles[] = {"naive", "stable", "log-sum-exp"};
    return kTitles[static_cast<std::size_t>(algorithm)];
}

std::string ulp_text(double ulp) {
    if (std::isnan(ulp)) return "NaN";
    if (ulp == 0.0) return "0 ulp";
    if (ulp < 9.95) return fmt::format("{:.1f} ulp", std::ceil(ulp * 10.0) / 10.0);
    if (ulp < 99999.0) return grouped(static_cast<Index>(std::ceil(ulp))) + " ulp";
    const double unit = std::pow(10.0, std::floor(std::log10(ulp)) - 1.0);
    return significant(std::ceil(ulp / unit) * unit, 2) + " ulp";
}

std::string value_in(FloatFormat format, double value) {
    constexpr int kDigits[] = {5, 4, 9, 10};
    return significant(value, kDigits[static_cast<std::size_t>(format)]);
}

std::string largest_description(FloatFormat format) {
    return format == FloatFormat::fp16 ? "65504" : significant(info(format).largest(), 3);
}

std::string cause_text(const SoftmaxRun& run) {
    const FaultPlace* const place = run.breaking();
    if (place == nullptr) return {};
    switch (place->fault) {
        case NumericFault::nan_input:
            return fmt::format("the logit of key {} is NaN", place->key);
        case NumericFault::overflow:
            return overflow_text(run, *place);
        case NumericFault::inf_minus_inf:
            return fmt::format("∞ − ∞ at key {}", place->key);
        case NumericFault::inf_over_inf:
            return fmt::format("∞/∞ at key {}", place->key);
        case NumericFault::zero_over_zero:
        case NumericFault::underflow:
            break;
    }
    return run.first(NumericFault::zero_over_zero) ? "0/0: every exp is 0"
                                                   : "every weight is too small";
}

std::string numerics_sentence(const NumericsRuns& runs) {
    if (std::ranges::any_of(runs.exact, [](long double a) { return std::isnan(a); }))
        return undefined_sentence(runs);
    std::string text = fmt::format("At gain {}, {}; {}", runs.gain,
                                   clause(runs, SoftmaxAlgorithm::naive, "naive softmax"),
                                   clause(runs, SoftmaxAlgorithm::stable, "stable softmax"));
    const Parted lse = part(runs, SoftmaxAlgorithm::log_sum_exp);
    if (!lse.broken.empty() || lse.worst > kRightUlp)
        text += "; " + clause(runs, SoftmaxAlgorithm::log_sum_exp, "log-sum-exp");
    return text + ".";
}

}  // namespace attn::view

// Saturation: what ÷√d_k does to softmax and to gradients.

#include "app/common/state.h"
#include "app/workspaces/saturation/state.h"
#include "tests/view/claims/claims.h"

namespace attn::view {
namespace {

constexpr double kFar = 1.33;  // a factor below it is none
constexpr double kPrecise = 1e14;

/// "34 times smaller", "1.3 times as large", "about the same", "0", "stays 0", "NaN": what became of `from`.
bool tells_change(std::string_view stated, double from, double to) {
    if (stated == "NaN") return std::isnan(from) || std::isnan(to);
    if (stated == "stays 0") return from == 0.0 && to == 0.0;
    if (stated == "the same") return from == to;
    if (stated == "about the same")
        return from != to && std::max(from, to) / std::min(from, to) < 1.06;
    if (stated == "0") return from > 0.0 && to == 0.0;
    if (stated == "no longer 0") return from == 0.0 && to > 0.0;
    const auto less = parts_of("{} times smaller", stated);
    const auto more = parts_of("{} times as large", stated);
    if (!less && !more) return false;
    const double ratio = less ? from / to : to / from;
    const double shown = number_of((less ? *less : *more)[0]);
    if (shown > kPrecise) return ratio > kPrecise;  // what is left is rounding
    return ratio > 1.0 && (ratio == shown || std::abs(ratio - shown) <= 0.06 * ratio);
}

// ---- the four gradients over d_k

const GradientPoint* gradients_at(const AppState& state) {
    const auto& points = saturation_gradients(state).points;
    if (!points) return nullptr;
    const auto found = std::ranges::find(*points, shown_saturation(state).d_k, &GradientPoint::d_k);
    return found == points->end() ? nullptr : &*found;
}
const Spread& shown_in(const AppState& state, const GradientSide& side) {
    const GradientOf of = saturation_look(state).gradient;
    return of == GradientOf::z   ? side.z
           : of == GradientOf::s ? side.s
           : of == GradientOf::q ? side.q
                                 : side.w_q;
}

/// −1: less is said, 1: more, 0: alike, 2: neither can be told.
int direction_stated(std::string_view text) {
    if (text.find("unclear") != text.npos || text.find("compare") != text.npos) return 2;
    if (text.find("about ") != text.npos) return 0;
    return text.find(" times as large") != text.npos ? 1 : -1;
}
struct Sure {
    double value, low, high;
};
/// "10⁶" of what is 10⁶ to 10⁷.
bool tells_power(std::string_view stated, double ratio) {
    const double bound = std::pow(10.0, number_of(stated.substr(2)));
    return bound <= ratio * (1 + 1e-9) && ratio < 10.0 * bound * (1 + 1e-9);
}
/// "34 times smaller", "over 10⁶ times smaller", "1.7 times as large", "0", "about as large", of values that may be anywhere
/// within two intervals.
bool tells_ratio(std::string_view stated, const Sure& with, const Sure& without) {
    if (const auto least = parts_of("{}over 10{} times smaller{}", stated))
        return tells_power("10" + (*least)[1], with.value / without.value) &&
               with.low > without.high;
    if (const auto less = parts_of("{} times smaller{}", stated))
        return with.low >= kFar * without.high &&
               tells_change(split((*less)[0], " ").back() + " times smaller", with.value,
                            without.value);
    if (const auto more = parts_of("{} times as large{}", stated))
        return without.low >= kFar * with.high &&
               tells_change(split((*more)[0], " ").back() + " times as large", with.value,
                            without.value);
    const bool far = with.low > kFar * without.high || without.low > kFar * with.high;
    const bool close = with.high <= 2.0 * without.low && without.high <= 2.0 * with.low;
    if (direction_stated(stated) == 0) return !far && close;
    if (direction_stated(stated) == 2) return !far && !close;
    return without.value == 0.0 && with.low > 0.0;
}
bool check_median(const Match& claim) {
    const GradientPoint* here = gradients_at(claim.state);
    if (here == nullptr || claim.count(0) != here->d_k) return false;
    const Spread& with = shown_in(claim.state, here->scaled);
    const Spread& without = shown_in(claim.state, here->unscaled);
    const bool batch = saturation_look(claim.state).gradient == GradientOf::w_q;
    const bool opposite = direction_stated(claim.part[2]) != direction_stated(claim.part[3]);
    const auto beside = [](double value) { return value * (1 - 1e-12); };  // one number
    return claim.part[1] == (batch ? "batch" : "row") &&
           opposite == (claim.text.find(", but the mean") != claim.text.npos) &&
           tells_ratio(claim.part[2], {with.median(), with.sure_low, with.sure_high},
                       {without.median(), without.sure_low, without.sure_high}) &&
           (tells_ratio(claim.part[3], {with.mean, with.mean, with.mean},
                        {without.mean, without.mean, without.mean}) ||
            (direction_stated(claim.part[3]) == 0 && beside(with.mean) <= kFar * without.mean &&
             beside(without.mean) <= kFar * with.mean));
}
bool check_width_one(const Match& match) {
    return shown_saturation(match.state).d_k == 1;  // √1 = 1
}
bool check_no_choice(const Match& match) {
    const GradientPoint* here = gradients_at(match.state);
    return here && here->scaled.q.percentiles[100] == 0.0 &&
           here->unscaled.q.percentiles[100] == 0.0;
}
/// "55 % of the rows pass almost no gradient: the gradient is sparse and heavy-tailed".
bool check_closing(const Match& claim) {
    const GradientPoint* here = gradients_at(claim.state);
    if (here == nullptr) return false;
    const double dead = here->unscaled.z.dead;
    const bool share =
        claim.part[0] == "more than 99.9 %" ? dead > 0.9985 : shows(claim.part[0], dead);
    const Spread &with = shown_in(claim.state, here->scaled),
                 &without = shown_in(claim.state, here->unscaled);
    const auto above = std::ranges::count_if(without.percentiles,
                                             [&](double each) { return each > without.mean; });
    const bool sparse = claim.part.size() > 1;
    const bool split_variants =
        without.mean > kFar * with.mean && with.sure_low > kFar * without.sure_high;
    return share && dead > here->scaled.z.dead && sparse == split_variants &&
           (!sparse || above < 50);
}
bool check_dead_scaled(const Match& match) {
    double most = 0.0;
    for (const GradientPoint& each : *saturation_gradients(match.state).points)
        if ((each.d_k & (each.d_k - 1)) == 0) most = std::max(most, each.scaled.z.dead);
    if (match.part.empty()) return most == 0.0;
    return match.part[0].starts_with("< ") ? most > 0.0 && most < 0.0005
                                           : most > 0.0 && shows(match.part[0], most);
}
bool check_dead(const Match& match) {
    const GradientPoint* here = gradients_at(match.state);
    const bool with = match.text.find("with:") != match.text.npos;
    const double share = here ? (with ? here->scaled : here->unscaled).z.dead : HUGE_VAL;
    return match.part[0].starts_with("< ") ? share > 0.0 && share < 0.0005
                                           : shows(match.part[0], share);
}
bool check_median_change(const Match& match) {
    const GradientPoint* here = gradients_at(match.state);
    return here && tells_change(match.part[0], shown_in(match.state, here->scaled).median(),
                                shown_in(match.state, here->unscaled).median());
}
bool check_lost(const Match& match) {
    const GradientPoint* here = gradients_at(match.state);
    return here && shown_in(match.state, here->unscaled).median() <
                       shown_in(match.state, here->scaled).median();
}

// ---- softmax alone, draw by draw

struct Alone {
    std::vector<double> p, jacobian, evenness;
};
Alone alone_of(const SaturationSettings& settings, Index d_k, bool scaled) {
    const bool drawn = settings.model == SaturationModel::sampled;
    const double root = std::sqrt(static_cast<double>(d_k));
    Alone all;
    for (Index trial = 0; trial < (drawn ? settings.trials : 1); ++trial) {
        std::vector<double> a = raw_scores(settings, d_k, trial);
        for (std::size_t j = 0; scaled && j < a.size(); ++j)
            a[j] = drawn ? a[j] / root : settings.logits[j];
        const double most = std::ranges::max(a);
        const bool known = std::isfinite(most);
        double sum = 0.0, entropy = 0.0, squares = 0.0;
        for (double& each : a) sum += each = std::exp(each - most);
        for (double& each : a) {
            each /= sum;
            entropy -= each > 0.0 ? each * std::log(each) : 0.0;
        }
        for (std::size_t i = 0; i < a.size(); ++i) {
            double others = 0.0;  // 1 − a_i without its rounding
            for (std::size_t j = 0; j < a.size(); ++j)
                if (j != i) others += a[j], squares += std::pow(a[i] * a[j], 2);
            squares += std::pow(a[i] * others, 2);
        }
        const double nan = std::nan("");
        all.p.push_back(known ? std::ranges::max(a) : nan);
        all.jacobian.push_back(known ? std::sqrt(squares) : nan);
        all.evenness.push_back(
            known && a.size() > 1 ? entropy / std::log(static_cast<double>(a.size())) : nan);
    }
    return all;
}
/// Of the curves that are shown, at a width; the last ones are kept.
const std::array<Alone, 2>& alone(const AppState& state, Index d_k) {
    static std::map<Index, std::array<Alone, 2>> retained;
    static SaturationSettings of;
    const SaturationSettings& settings = saturation_curves(state).settings;
    if (!(of == settings)) retained.clear();
    of = settings;
    if (!retained.contains(d_k))
        retained[d_k] = {alone_of(settings, d_k, true), alone_of(settings, d_k, false)};
    return retained[d_k];
}
/// 95 % of the median.
std::pair<double, double> sure(const std::vector<double>& values) {
    const double reach = 0.98 / std::sqrt(static_cast<double>(values.size()));
    return {at_share(values, 0.5 - reach), at_share(values, 0.5 + reach)};
}
bool near(double a, double b) { return a == b || std::abs(a - b) <= 1e-6 * std::abs(a) + 1e-12; }

/// "the largest weight is 97 %".
bool tells_largest(std::string_view stated, double p) {
    const auto parts = parts_of("the largest weight is {}", stated);
    if (!parts) return false;
    if (parts->front() == "more than 99.9 %") return p >= 0.9995 && p < 1.0;
    return shows(parts->front(), p) || (parts->front() == "100 %" && p == 1.0);
}
/// The root as it is written: "√64 = 8", "√128 ≈ 11.3".
bool tells_root(std::string_view stated, Index d_k) {
    const double root = std::sqrt(static_cast<double>(d_k));
    const auto whole = parts_of("√{} = {}", stated), rounded = parts_of("√{} ≈ {}", stated);
    const auto& is = whole ? whole : rounded;
    return is && number_of(is->front()) == static_cast<double>(d_k) &&
           (whole ? number_of((*is)[1]) == root
                  : shows((*is)[1], root) && root != std::floor(root));
}
bool check_alone(
    const Match& match) {  // "√64 = 8", "the largest weight is 97 %, and the gradient …"
    const Index d_k = shown_saturation(match.state).d_k;
    const auto& [scaled, unscaled] = alone(match.state, d_k);
    const bool none_lost = match.part[1].find("; the gradient") != std::string::npos;
    const auto at = std::min(match.part[1].find("; "), match.part[1].find(", "));
    const std::string largest = match.part[1].substr(0, at), rest = match.part[1].substr(at + 2);
    if (!tells_root(match.part[0], d_k) || !tells_largest(largest, median(unscaled.p)))
        return false;
    const double with = median(scaled.jacobian), without = median(unscaled.jacobian);
    if (rest.ends_with("passes no gradient, and scaling does not change that"))
        return with == 0.0 && without == 0.0;
    if (rest.ends_with("through softmax is 0")) return without == 0.0 && with > 0.0;
    if (rest.ends_with("softmax passes a gradient only without scaling"))
        return with == 0.0 && without > 0.0;
    const auto [low, high] = sure(scaled.jacobian);
    const auto [to_low, to_high] = sure(unscaled.jacobian);
    return none_lost == (direction_stated(rest) == 1) &&
           tells_ratio(rest, {with, low, high}, {without, to_low, to_high});
}
bool check_alone_same(const Match& match) {  // d_k = 1: "the largest weight is 60 % either way"
    const auto& [scaled, unscaled] = alone(match.state, 1);
    return shown_saturation(match.state).d_k == 1 && near(median(scaled.p), median(unscaled.p)) &&
           tells_largest(split(match.part[0], " either way")[0], median(unscaled.p));
}
bool check_overflow(const Match& match) {
    return shown_saturation(match.state).d_k == match.count(0) &&
           std::isnan(median(alone(match.state, match.count(0))[1].p));
}
bool check_scaled_alone(const Match& match) {
    const double p = median(alone(match.state, shown_saturation(match.state).d_k)[0].p);
    if (match.part.empty()) return std::isnan(p);
    return match.part[0] == "more than 99.9 %" ? p >= 0.9995 && p < 1.0 : shows(match.part[0], p);
}
bool check_alone_one_key(const Match& match) {
    const SaturationSettings& settings = saturation_curves(match.state).settings;
    return settings.model == SaturationModel::fixed_logits && settings.logits.size() == 1;
}
/// By hand, and taken out exactly: scaled logits are the typed ones at every width.
bool check_by_hand(const Match& match) {
    const auto& settings = match.part.size() > 1 ? shown_saturation(match.state).settings
                                                 : saturation_curves(match.state).settings;
    return settings.model == SaturationModel::fixed_logits &&
           near(median(alone_of(settings, 4, true).p), median(alone_of(settings, 64, true).p));
}
bool check_verdict(const Match& match) {
    const auto& side = alone(
        match.state,
        shown_saturation(match.state).d_k)[match.text.starts_with("Softmax with scaling") ? 0 : 1];
    const auto verdict = [](double evenness) {
        return evenness >= 0.5 ? "healthy" : evenness >= 0.1 ? "saturating" : "saturated";
    };
    const auto [low, high] = sure(side.evenness);
    const std::string is = verdict(median(side.evenness));
    const bool border = verdict(low) != is || verdict(high) != is;
    return match.part[0] == (border ? "borderline" : is);
}
double j_median(const AppState& state, Index d_k, std::size_t side) {
    return median(alone(state, d_k)[side].jacobian);
}
bool check_pinned_change(
    const Match& match) {  // "d_k 4 → 64: gradient 9.1 times smaller without scaling, …"
    const Index from = match.count(0), to = match.count(1);
    const SaturationControls& controls = shown_saturation(match.state);
    if (match.part[2] == "…") return true;
    const auto sides = parts_of("{} without scaling, {} with scaling", match.part[2]);
    return sides && from == controls.pin && to == controls.d_k &&
           tells_change((*sides)[0], j_median(match.state, from, 1),
                        j_median(match.state, to, 1)) &&
           tells_change((*sides)[1], j_median(match.state, from, 0), j_median(match.state, to, 0));
}
bool check_stop_change(const Match& match) {  // of some stop
    const Index from = match.count(0);
    for (Index to = 1; to <= 4096; to *= 2)
        if (tells_change(match.part[1], j_median(match.state, from, 1),
                         j_median(match.state, to, 1)) &&
            tells_change(match.part[2], j_median(match.state, from, 0),
                         j_median(match.state, to, 0)))
            return from == shown_saturation(match.state).pin;
    return false;
}
bool check_sure_change(const Match& match) {
    const SaturationControls& controls = shown_saturation(match.state);
    const auto [low, high] = sure(alone(match.state, controls.d_k)[1].jacobian);
    const double from = j_median(match.state, controls.pin, 1);
    return match.count(0) == saturation_curves(match.state).settings.trials &&
           (low > from
                ? tells_change(match.part[1], from, low) && tells_change(match.part[2], from, high)
                : tells_change(match.part[1], from, high) &&
                      tells_change(match.part[2], from, low));
}
bool check_pinned(const Match& match) {
    const SaturationControls& controls = shown_saturation(match.state);
    return controls.pin == controls.d_k && controls.pin == match.count(0);
}
bool check_gap(const Match& match) {
    for (Index d_k = 1; d_k <= 4096; d_k *= 2)
        if (j_median(match.state, d_k, 0) > j_median(match.state, d_k, 1)) return true;
    const Index others[] = {shown_saturation(match.state).d_k, shown_saturation(match.state).pin};
    return std::ranges::any_of(others, [&](Index d_k) {
        return j_median(match.state, d_k, 0) > j_median(match.state, d_k, 1);
    });
}
/// ln of ‖∂a/∂s‖ with scaling over the same without, of softmax over logits and over √d_k times them.
double fixed_gap(const std::vector<double>& logits, double d_k) {
    const auto norm = [&](double beta) {
        double sum = 0.0, squares = 0.0;
        const double most = std::ranges::max(logits);
        for (const double each : logits) sum += std::exp(beta * (each - most));
        for (const double& i : logits)
            for (const double& j : logits) {
                const double a = std::exp(beta * (i - most)) / sum;
                const double b = std::exp(beta * (j - most)) / sum;
                squares += &i == &j ? 0.0 : std::pow(a * b, 2);
            }
        for (const double& i : logits) {
            double others = 0.0;
            for (const double& j : logits)
                others += &i == &j ? 0.0 : std::exp(beta * (j - most)) / sum;
            squares += std::pow(std::exp(beta * (i - most)) / sum * others, 2);
        }
        return std::sqrt(squares);
    };
    return std::log(norm(1.0) / std::sqrt(d_k)) - std::log(norm(std::sqrt(d_k)));
}
/// Where ‖∂a/∂s‖, which has a further 1/√d_k when scaled, changes sides.
bool check_raw(const Match& claim) {
    if (!saturation_curves(claim.state).sweep) return claim.part[0] == ": ∂a/∂s = J/√d_k";
    std::vector<Index> widths{shown_saturation(claim.state).d_k, shown_saturation(claim.state).pin};
    for (Index d_k = 1; d_k <= 4096; d_k *= 2) widths.push_back(d_k);
    std::ranges::sort(widths);
    std::vector<std::pair<double, double>> crossings;
    double last = 0.0, last_width = 1.0;
    bool lower = false, first = true;
    for (const Index d_k : widths) {
        const double width = static_cast<double>(d_k);
        const double gap = std::log(j_median(claim.state, d_k, 0) / std::sqrt(width)) -
                           std::log(j_median(claim.state, d_k, 1));
        if (d_k > 1 && std::exchange(first, d_k <= 1)) lower = std::isfinite(gap) && gap < 0.0;
        const double least = std::min(j_median(claim.state, d_k, 0), j_median(claim.state, d_k, 1));
        if (!std::isfinite(gap) || std::abs(gap) < 1e-12 || least * kPrecise < 1.0) continue;
        if (last * gap < 0.0) crossings.emplace_back(last_width, width);
        last = gap, last_width = width;
    }
    if (lower != (claim.text.find("starts lower") != claim.text.npos)) return false;
    if (const auto ends = parts_of("{}cross between d_k = {}", claim.text))
        return saturation_curves(claim.state).settings.model == SaturationModel::sampled &&
               std::ranges::equal(split((*ends)[1], ", "), crossings,
                                  [](const std::string& text, const auto& end) {
                                      const auto both = split(text, " and ");
                                      return both.size() == 2 && number_of(both[0]) == end.first &&
                                             number_of(both[1]) == end.second;
                                  });
    const auto places = parts_of("{}cross at d_k ≈ {}", claim.text);
    if (!places) return crossings.empty();
    const std::vector<double>& logits = saturation_curves(claim.state).settings.logits;
    return std::ranges::equal(
        split((*places)[1], ", "), crossings, [&](const std::string& text, const auto& end) {
            const double at = number_of(text), digit = at < 100.0 ? 0.0051 * at : 0.51;
            const double before = fixed_gap(logits, std::max(at - digit, end.first));
            const double after = fixed_gap(logits, std::min(at + digit, end.second));
            return at >= end.first - digit && at <= end.second + digit && before * after <= 0.0;
        });
}
bool check_percents(const Match& match) {  // "rounded: adds to 100.1 %", of one side
    const SaturationControls& controls = shown_saturation(match.state);
    const SaturationPair pair = saturation_at(controls.settings, controls.d_k, controls.draw);
    return std::ranges::any_of(std::array{&pair.scaled, &pair.unscaled}, [&](const auto* row) {
        long tenths = 0;
        for (const double each : row->weights)
            tenths += std::isnan(each) ? 0 : std::lround(1000.0 * each);
        return tenths != 1000 && shows(match.part[0], static_cast<double>(tenths) / 1000.0);
    });
}

constexpr Claim kClaims[] = {
    {"Without scaling at d_k = {}, the median {}'s gradient is {}, but the mean is {}",
     check_median},
    {"Without scaling at d_k = {}, the median {}'s gradient is {}, and the mean is {}",
     check_median},
    {"With one key, the weight is always 1: softmax passes no gradient, with or without scaling",
     check_no_choice},
    {"At d_k = 1, ÷√d_k divides by √1 = 1 and changes nothing", check_width_one},
    {"At d_k = 1, ÷√d_k divides by √1 = 1 and changes nothing: {}", check_alone_same},
    {"Without scaling, {} of the rows pass almost no gradient", check_closing},
    {"Without scaling, {} of the rows pass almost no gradient: the gradient is sparse and {}",
     check_closing},
    {"with scaling: 0 % everywhere", check_dead_scaled},
    {"with scaling: at most {}", check_dead_scaled},
    {"Rows with almost no gradient, with: {}", check_dead},
    {"Rows with almost no gradient, without: {}", check_dead},
    {"Change of the median: {}", check_median_change},
    {"Between the medians: {}", check_lost},
    {"Between the curves: {}", check_gap},
    {"Without scaling, the scores have standard deviation {}: {}", check_alone},
    {"Without scaling, the logits stay multiplied by {}: {}", check_alone},
    {"Without scaling, the scores overflow at d_k = {}: the weights and all gradients are NaN",
     check_overflow},
    {"With scaling, they are NaN too", check_scaled_alone},
    {"With scaling, the largest weight is {}", check_scaled_alone},
    {"There is one key: softmax always gives it 100 % and passes no gradient, with or without "
     "scaling",
     check_alone_one_key},
    {"Nothing is sampled: the factor √d_k is set by hand, and scaling removes it exactly",
     [](const Match& match) {
         return check_by_hand({match.state, match.text, {"", ""}});
     }},
    {"s = √d_k × [{}]: the factor √d_k is set by hand, and scaling removes it exactly",
     check_by_hand},
    {"Softmax with scaling: {}", check_verdict},
    {"Softmax without scaling: {}", check_verdict},
    {"d_k {} → {}: gradient {}", check_pinned_change},
    {"d_k {} is pinned: move the handle to compare", check_pinned},
    {"Compared with d_k = {}: {} without scaling, {} with scaling", check_stop_change},
    {"{} draws, 95 % confidence interval: {} to {}", check_sure_change},
    {"Scaling multiplies the Jacobian with respect to the raw score s by 1/√d_k{}", check_raw},
    {"rounded: adds up to {}", check_percents},
};

}  // namespace

std::span<const Claim> why_claims() { return kClaims; }

}  // namespace attn::view

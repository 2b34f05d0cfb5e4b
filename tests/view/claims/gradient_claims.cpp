// Gradients: what the loss sends back, and how the keys of a row compete.

#include <numeric>

#include "app/common/document/document.h"
#include "app/common/sheet.h"
#include "app/workspaces/gradients/actions.h"
#include "app/workspaces/gradients/state.h"
#include "core/call.h"
#include "core/masks.h"
#include "tests/view/claims/claims.h"

namespace attn::view {
namespace {

const LossGradients& gradients(const AppState& state) { return *gradients_look(state).result; }
double norm(const TensorD& tensor) {
    const auto values = tensor.values();
    return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
}
const TensorD* gradient_named(const LossSide& side, std::string_view symbol) {
    for (const ParamInfo& each : param_table())
        if (each.symbol == symbol) return &side.gradients.params[each.param];
    return nullptr;
}

/// Three digits, or what is 0 but for rounding.
bool shows_norm(std::string_view stated, double norm) {
    if (stated == "≈ 0") return norm < 1e-9;
    return number_of(stated) == norm || std::abs(number_of(stated) - norm) <= 0.006 * norm ||
           (std::isnan(norm) && std::isnan(number_of(stated)));
}

// ---- the chain

/// Keys that a query may attend to are sent the same.
bool check_blind(const Match& match) {
    const Document& document = *gradients(match.state).document;
    for (const LossSide& side : gradients(match.state).sides) {
        const TensorD& sent = side.gradients[Stage::weights];
        double most = 0.0, apart = 0.0;
        for (const auto [b, h] : each_cell(sent.shape().b, sent.shape().h))
            for (Index i = 0; i < sent.shape().t; ++i) {
                std::vector<double> row;
                for (Index j = 0; j < sent.shape().d; ++j)
                    if (may_attend(document.spec.mask, document.size, b, h, i, j))
                        row.push_back(sent(b, h, i, j));
                if (row.empty()) continue;
                most = std::max({most, std::abs(row[0]), std::abs(row.back())});
                apart = std::max(apart, std::ranges::max(row) - std::ranges::min(row));
            }
        if (!(apart <= 1e-11 * most) || !(most > 0.0)) return false;
    }
    return true;
}
bool check_nothing_reaches(const Match& match) {
    for (const LossSide& side : gradients(match.state).sides) {
        if (norm(side.gradients[Stage::scores]) > 1e-9 * norm(side.gradients[Stage::weights]))
            return false;
        if (!match.part.empty())
            for (const std::string& each : split(match.part[0], " and "))
                if (const TensorD* sent = gradient_named(side, each); !sent || norm(*sent) == 0.0)
                    return false;
    }
    return true;
}
/// The side that is divided by √d_k, and the other.
std::array<const LossSide*, 2> by_scaling(const AppState& state) {
    const auto& sides = gradients(state).sides;
    const std::size_t on = sides[0].scale == ScaleKind::sqrt_dk ? 0 : 1;
    return {&sides[on], &sides[1 - on]};
}
double typical_query(const LossSide& side) {
    const TensorD& sent = side.gradients[Stage::q];
    std::vector<double> norms;
    for (Index at = 0; at < sent.count(); at += sent.shape().d) {
        const auto row = sent.values().subspan(at, static_cast<std::size_t>(sent.shape().d));
        norms.push_back(std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0)));
    }
    return median(norms);
}
bool check_longer(const Match& claim) {
    const auto [on, off] = by_scaling(claim.state);
    const TensorD *with = gradient_named(*on, claim.part[0]),
                  *without = gradient_named(*off, claim.part[0]);
    if (with == nullptr || without == nullptr) return false;
    const double typical = typical_query(*on), otherwise = typical_query(*off);
    const bool compared = claim.part[2] == "not comparable"
                              ? typical == 0.0
                              : claim.part[2].ends_with(" times as large") &&
                                    shows_norm(split(claim.part[2], " ")[0], otherwise / typical);
    return compared && norm(*without) > norm(*with) &&
           shows_norm(claim.part[1], norm(*without) / norm(*with)) &&
           shows_norm(claim.part[3], otherwise) && shows_norm(claim.part[4], typical);
}
bool check_factor(const Match& match) {
    const auto d_k = static_cast<double>(gradients(match.state).document->size.d_k);
    return match.number(0) == d_k && shows_norm(match.part[1], 1.0 / std::sqrt(d_k));
}
bool check_norms(
    const Match& match) {  // "‖∂L/∂W_Q‖ 0.12 (with scaling), 0.0004 (without scaling); …"
    const auto& sides = gradients(match.state).sides;
    double largest = 0.0;
    for (const LossSide& side : sides) {
        for (const ParamInfo& each : param_table())
            largest = std::max(largest, norm(side.gradients.params[each.param]));
        for (const StageInfo& each : stage_table())
            largest = std::max(largest, norm(side.gradients[each.stage]));
    }
    const auto is = [&](std::string_view stated, double size) {
        return stated == "≈ 0" ? size < 1e-9 * std::max(largest, 1.0) : shows_norm(stated, size);
    };
    const std::string pattern = "‖∂L/∂{}‖ {} (" + sides[0].text + "), {} (" + sides[1].text + ")";
    return std::ranges::all_of(split(match.text, "; "), [&](const std::string& each) {
        const auto parts = parts_of(pattern, each);
        if (!parts) return false;
        const TensorD *one = gradient_named(sides[0], (*parts)[0]),
                      *other = gradient_named(sides[1], (*parts)[0]);
        return one && other && is((*parts)[1], norm(*one)) && is((*parts)[2], norm(*other));
    });
}
bool check_no_apart(const Match& claim) {
    const double worst = gradients(claim.state).check.worst;
    return claim.part[0] == "NaN" ? std::isnan(worst) : std::isinf(worst);
}
bool check_apart(const Match& match) {
    return shows_norm(match.part[0], gradients(match.state).check.worst) ||
           std::abs(match.number(0) / gradients(match.state).check.worst - 1.0) < 0.06;
}

// ---- one row

struct Row {
    std::vector<double> all;       // weights of every key
    std::vector<double> a, slope;  // of the keys that may be attended to, and are numbers
    Index open = 0, query = 0, raised = 0;
    double factor = 1.0;
    double sum() const { return std::accumulate(a.begin(), a.end(), 0.0); }
};
Row row_of(const AppState& state) {
    const GradientsLook& look = gradients_look(state);
    const Document& document = state.document();
    const TraceD& trace = gradients(state).sides[0].trace;
    Row row;
    row.query = look.row;
    row.factor = score_factor(document.spec, document.size.d_k);
    for (Index j = 0; j < document.size.tk; ++j) {
        row.all.push_back(trace[Stage::weights](state.batch, state.head, look.row, j));
        if (!allows(state, look.row, j)) continue;
        ++row.open;
        if (!std::isfinite(row.all.back())) continue;
        const double s = trace[Stage::scaled](state.batch, state.head, look.row, j);
        const auto& cap = document.spec.softcap;
        const double bent = cap ? std::tanh(s / static_cast<double>(*cap)) : 0.0;
        row.a.push_back(row.all.back());
        row.slope.push_back(row.factor * (1.0 - bent * bent));
    }
    for (Index j = 1; j < document.size.tk; ++j) {  // the first of the largest, NaN aside
        const auto at = [&](Index k) { return row.all[k]; };
        if (at(j) > at(row.raised) || (std::isnan(at(row.raised)) && !std::isnan(at(j))))
            row.raised = j;
    }
    if (look.raised) row.raised = std::min(*look.raised, document.size.tk - 1);
    return row;
}
/// ‖J‖₂ by iteration, J = (diag(a) − a aᵀ) diag(slope).
double spectral(const Row& row) {
    const std::size_t n = row.a.size();
    std::vector<double> v(n), w(n);
    for (std::size_t k = 0; k < n; ++k) v[k] = 1.0 / static_cast<double>(k + 1);
    double size = 0.0;
    for (int step = 0; step < 600; ++step) {
        const auto through = [&](std::vector<double>& x) {
            double along = 0.0;
            for (std::size_t k = 0; k < n; ++k) along += row.a[k] * x[k];
            for (std::size_t k = 0; k < n; ++k) x[k] = row.a[k] * (x[k] - along);
        };
        w = v;
        for (std::size_t k = 0; k < n; ++k) w[k] *= row.slope[k];
        through(w);
        through(w);
        for (std::size_t k = 0; k < n; ++k) w[k] *= row.slope[k];
        size = std::sqrt(std::inner_product(w.begin(), w.end(), w.begin(), 0.0));
        if (size == 0.0) return 0.0;
        for (std::size_t k = 0; k < n; ++k) v[k] = w[k] / size;
    }
    return std::sqrt(size);
}
bool is_row(const Match& match, const Row& row) {
    return labelled(match.state, Axis::query, match.part[0]) >= 0 &&
           axis_label(match.state, Axis::query, row.query) == match.part[0];
}
bool has_sink(const AppState& state) {
    return !state.document().inputs->params[Param::sinks].empty();
}
bool check_row(const Match& match) {
    const Row row = row_of(match.state);
    const double even = std::abs(row.factor) / static_cast<double>(row.a.size());
    const double norm = spectral(row);
    const auto close = [](std::string_view stated, double value) {
        return std::abs(number_of(stated) - value) <= 0.012 * value + 1e-7;
    };
    return is_row(match, row) && shows(match.part[1], std::ranges::max(row.a)) &&
           close(match.part[2], norm) && close(match.part[3], norm / even) &&
           shows_norm(match.part[4], even) && match.count(5) == std::ssize(row.a);
}
bool check_scaled_by_nothing(const Match& match) {
    const Row row = row_of(match.state);
    return is_row(match, row) && row.factor == 0.0 && shows(match.part[1], std::ranges::max(row.a));
}
bool check_nothing_passes(const Match& match) { return spectral(row_of(match.state)) < 1e-9; }
bool check_saturated(const Match& claim) {
    const Row row = row_of(claim.state);
    const double norm = spectral(row);
    return std::ranges::max(row.a) > 0.99 && std::abs(claim.number(0) - norm) <= 0.06 * norm + 1e-7;
}
bool check_sent_to_value(const Match& claim) {
    const double most = std::ranges::max(row_of(claim.state).a);
    return most > 0.99 && (claim.state.document().spec.drops() || shows(claim.part[0], most));
}
bool check_one_key(const Match& match) {
    const Row row = row_of(match.state);
    if (row.a.size() != 1 || has_sink(match.state) != (match.part.size() > 1)) return false;
    return match.part.size() > 1 ? shows(match.part[1], row.a[0]) : row.a[0] == 1.0;
}
/// Eigenvalues of diag(a) − a aᵀ below t: as many as Sylvester's law gives it.
Index below(const Row& row, double t) {
    double rest = 1.0;
    Index count = 0;
    for (const double each : row.a) {
        rest -= each * each / (each - t);
        count += each < t ? 1 : 0;
    }
    return count + (rest < 0.0 ? 1 : 0);
}
bool check_flat(const Match& match) {
    const Row row = row_of(match.state);
    if (has_sink(match.state) || std::abs(row.sum() - 1.0) > 1e-9) return false;
    if (match.state.document().spec.softcap) return true;  // its slopes are not one number
    const Index flat = match.part.size() > 1 ? match.count(1) : 0;
    const double t = 0.01 / static_cast<double>(row.a.size());
    return below(row, t * (1 + 1e-6)) >= 1 + flat && below(row, t * (1 - 1e-6)) <= 1 + flat &&
           (match.part.size() < 2 || match.count(2) == std::ssize(row.a) - 1);
}

// ---- what raising a score does

double raised(const Row& row) { return row.all[row.raised]; }
bool is_open(const Match& match, const Row& row) {
    return allows(match.state, row.query, row.raised);
}
bool check_gain(const Match& claim) {  // "= 0: “cat” gains 0.2, the others together lose 0.2"
    const Row row = row_of(claim.state);
    const double p = raised(row), rest = p * (1.0 - row.sum());
    const bool sink = claim.part.size() > 3;
    const std::size_t at = sink ? 1 : 0;
    double others = 0.0;  // 1 − p without its rounding
    for (Index j = 0; j < std::ssize(row.all); ++j)
        if (j != row.raised && allows(claim.state, row.query, j)) others += p * row.all[j];
    const double gain = sink ? others + std::max(rest, 0.0) : others;
    const auto is = [](std::string_view text, double value) {  // rounding is 0
        return shows_norm(text, value) || (value < 1e-12 && number_of(text) < 2e-12);
    };
    return axis_label(claim.state, Axis::key, row.raised) == claim.part[at] &&
           is(claim.part[at + 1], gain) && is(claim.part[at + 2], others) &&
           sink == has_sink(claim.state) && (sink || claim.part[1] == claim.part[2]) &&
           (!sink || std::abs(rest) < 1e-9 ||
            (shows_norm(claim.part[0], rest) && shows_norm(claim.part[4], rest)));
}
/// "the weight of “cat” at first rises by 0.2 per unit of its softmax input": p (1 − p), without its rounding.
bool check_moved(const Match& claim) {
    const Row row = row_of(claim.state);
    const double p = raised(row);
    double others = 0.0;
    for (Index j = 0; j < std::ssize(row.all); ++j)
        if (j != row.raised && allows(claim.state, row.query, j)) others += p * row.all[j];
    if (has_sink(claim.state)) others += std::max(p * (1.0 - row.sum()), 0.0);
    const bool none = claim.text.find("does not rise") != claim.text.npos;
    const bool saturated = claim.text.find("saturated") != claim.text.npos;
    if (axis_label(claim.state, Axis::query, row.query) != claim.part[0] ||
        axis_label(claim.state, Axis::key, row.raised) != claim.part[1])
        return false;
    if (none) return others < 1e-12;
    return saturated == (p > 0.99) &&
           (shows_norm(claim.part[2], others) || std::abs(number_of(claim.part[2])) < 2e-12);
}
bool check_no_arrow(const Match& match) {
    const Row row = row_of(match.state);
    const double p = raised(row);
    if (match.text.starts_with("Every key of this row")) return row.open == 0;
    if (match.text.starts_with("This row may attend to only one")) return row.open == 1 && p == 1.0;
    if (match.text.starts_with("The row has NaN")) return std::ssize(row.a) < row.open;
    if (match.text.find("is masked") != match.text.npos) return !is_open(match, row);
    return p * (1.0 - p) < 0.01 && match.text.starts_with("Saturated") == (p > 0.99) &&
           shows_norm(match.part[1], p) && shows_norm(match.part[2], p * (1.0 - p));
}
bool check_masked_key(const Match& match) {
    const Row row = row_of(match.state);
    if (match.text.starts_with("0: ") || match.text.ends_with("its score changes nothing"))
        return !is_open(match, row);
    return match.text.starts_with("NaN") ? std::ssize(row.a) < row.open
                                         : row.open < std::ssize(row.all);
}
bool check_sums(const Match& match) {
    const Row row = row_of(match.state);
    const auto is_nan = [](double each) { return std::isnan(each); };
    if (const bool nan = std::ranges::any_of(row.all, is_nan);
        nan || match.text.ends_with("its sums"))
        return nan && match.text.ends_with("its sums");
    const bool ones = std::abs(row.sum() - 1.0) < 1e-9 || row.sum() == 0.0;
    if (match.text.starts_with("With the sink")) return has_sink(match.state);
    return ones && (match.state.document().spec.softcap.has_value() ==
                    match.text.starts_with("Every column"));
}

constexpr Claim kClaims[] = {
    {"This loss cannot depend on the weights: {}", check_blind},
    {"At these weights, no gradient reaches the scores", check_nothing_reaches},
    {"At these weights, no gradient reaches the scores; of the weight matrices only {} can learn",
     check_nothing_reaches},
    {"So no gradient reaches the scores", check_nothing_reaches},
    {"So no gradient reaches the scores; of the weight matrices only {} can learn",
     check_nothing_reaches},
    {"Without scaling, ‖∂L/∂{}‖ is {} times as large; the median row of ∂L/∂Q is {} ({} against "
     "{})",
     check_longer},
    {"This gradient is a sum over rows, and scaling multiplies each row's term by 1/√{} = {}",
     check_factor},
    {"‖∂L/∂{}‖ {}", check_norms},
    {"gradient check: largest error {}", check_apart},
    {"gradient check: not possible ({})", check_no_apart},
    {"Row {}: p_max = {}; every score is multiplied by 0, so ‖J‖₂ = 0", check_scaled_by_nothing},
    {"Row {}: p_max = {}, ‖J‖₂ = {}, {} times as large as for a uniform row ({} for {} keys{})",
     check_row},
    {"Saturated: softmax passes at most {} of ∂L/∂A to the scores, and so to "
     "Q and K",
     check_saturated},
    {"At the key with the largest weight, V receives {} of ∂L/∂context", check_sent_to_value},
    {"Row {} may attend to only one key: its weight is always 1, so no gradient reaches its score",
     check_one_key},
    {"Row {} may attend to only one key, besides the sink: its weight is {}, ‖J‖₂ = {}",
     check_one_key},
    {"J is 0: to first order no score changes a weight", check_nothing_passes},
    {"Raising all scores equally{} changes no weight: J maps this direction to 0", check_flat},
    {"Raising all scores equally{} changes no weight, and in {} of the other {} directions J "
     "passes under 1 % of a uniform row's gradient",
     check_flat},
    {"Σ_k ∂a_k/∂z_j = 0: “{}” gains {}, the others together lose {}", check_gain},
    {"Σ_k ∂a_k/∂z_j = a_j (1 − Σ_k a_k) = {}: “{}” gains {}, the other keys together lose {}, the "
     "sink {}",
     check_gain},
    {"In row “{}”, the weight of “{}” at first rises by only {} per unit of its softmax input: "
     "softmax is saturated",
     check_moved},
    {"In row “{}”, the weight of “{}” does not rise with its softmax input", check_moved},
    {"In row “{}”, the weight of “{}” at first rises by {} per unit of its softmax input; at most "
     "0.25 is possible",
     check_moved},
    {"Every key of this row is masked, so no weights compete", check_no_arrow},
    {"“{}” is masked: its score is −∞, so raising it changes no weight", check_no_arrow},
    {"This row may attend to only one key: its weight is always 1, and a (1 − a) = 0",
     check_no_arrow},
    {"Saturated: “{}” has a_j = {}: the largest slope is a_j (1 − a_j) = {}; arrows need a "
     "slope of at least 0.01",
     check_no_arrow},
    {"“{}” has a_j = {}: the largest slope is a_j (1 − a_j) = {}; arrows need a slope of at least "
     "0.01",
     check_no_arrow},
    {"The row has NaN weights: their slopes are unknown", check_no_arrow},
    {"masked: its score is −∞ and its weight is {}", check_masked_key},
    {"0: the raised score is masked and changes nothing", check_masked_key},
    {"NaN: the weight is NaN, so its slope is unknown", check_masked_key},
    {"masked: This key is masked: its score changes nothing", check_masked_key},
    {"Every row and column sums to 0", check_sums},
    {"Every column sums to 0", check_sums},
    {"The row has NaN, and so do its sums", check_sums},
    {"With the sink, rows and columns need not sum to 0", check_sums},
};

}  // namespace

std::span<const Claim> gradient_claims() { return kClaims; }

}  // namespace attn::view

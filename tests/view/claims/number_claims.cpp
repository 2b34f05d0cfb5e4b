// Workspaces of numbers of their own: lookup, numerics, positions, cost; tensors and their check.

#include <numeric>

#include "app/common/document/document.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/workspaces/cost/state.h"
#include "app/workspaces/lookup/compute.h"
#include "app/workspaces/numerics/row.h"
#include "app/workspaces/numerics/state.h"
#include "app/workspaces/positions/view.h"
#include "core/numerics.h"
#include "core/train/task_table.h"
#include "tests/view/claims/claims.h"

namespace attn::view {
namespace {

// ---- Numerics

struct Outcomes {
    std::vector<std::string> broken, whole;
    double worst = 0.0;
    std::string worst_in;
};
Outcomes outcomes(const AppState& state, SoftmaxAlgorithm algorithm, double gain) {
    Outcomes all;
    const auto logits = shown_logits(state);
    const auto exact = exact_softmax(logits, gain);
    for (const FloatFormat format :
         {FloatFormat::fp16, FloatFormat::bf16, FloatFormat::fp32, FloatFormat::fp64}) {
        const SoftmaxRun run = run_softmax(algorithm, format, logits, gain);
        const auto& a = run.weights();
        const bool nan = std::ranges::any_of(a, [](double w) { return std::isnan(w); });
        const bool zero = std::ranges::all_of(a, [](double w) { return w == 0.0; });
        (nan || zero ? all.broken : all.whole).emplace_back(info(format).name);
        const double ulp = nan || zero ? 0.0 : error_of(format, a, exact).ulp;
        if (ulp > all.worst) all.worst = ulp, all.worst_in = info(format).name;
    }
    return all;
}
bool clause_holds(std::string_view clause, const Outcomes& is) {
    const auto names = [](std::string_view list) {
        std::vector<std::string> all;
        for (const std::string& some : split(list, ", "))
            for (const std::string& each : split(some, " and ")) all.push_back(each);
        return all;
    };
    std::string rest(clause);
    if (!is.broken.empty()) {
        const auto in = clause.find(" in ");
        const auto at = clause.find(" and is ");
        const std::string list(clause.substr(in + 4, at == clause.npos ? at : at - in - 4));
        if (list == "every format" ? is.broken.size() != 4 : names(list) != is.broken) return false;
        if (at == clause.npos) return true;
        rest = "it" + std::string(clause.substr(at + 4));
    }
    if (rest.find("exact to the last bit") != rest.npos)
        return is.worst == 0.0 && !is.whole.empty();
    const auto most = parts_of("{} is off by at most {} ulp in {}", rest);
    if (most)
        return number_of((*most)[1]) >= is.worst - 1e-9 &&
               number_of((*most)[1]) <= is.worst + 0.11 &&
               ((*most)[2] == "every format" ? is.whole.size() == 4
                                             : names((*most)[2]) == is.whole);
    const auto up = parts_of("{} is off by up to {} ulp ({})", rest);
    return up && number_of((*up)[1]) >= is.worst * (1 - 1e-9) &&
           number_of((*up)[1]) <= is.worst * 1.1 + 1.0 && (*up)[2] == is.worst_in;
}
bool check_gain(const Match& match) {
    const auto gain = match.number(0);
    std::string text(match.part[1]);
    const auto stable = text.find("; stable "), lse = text.find("; log-sum-exp ");
    return gain == static_cast<double>(numerics_controls(match.state).gain) &&
           clause_holds(text.substr(0, stable),
                        outcomes(match.state, SoftmaxAlgorithm::naive, gain)) &&
           clause_holds(text.substr(stable + 2, lse == text.npos ? lse : lse - stable - 2),
                        outcomes(match.state, SoftmaxAlgorithm::stable, gain)) &&
           (lse == text.npos ||
            clause_holds(text.substr(lse + 2),
                         outcomes(match.state, SoftmaxAlgorithm::log_sum_exp, gain)));
}
bool check_undefined_row(const Match& match) {
    const auto logits = shown_logits(match.state);
    if (match.part.empty())
        return std::ranges::all_of(logits, [](double x) { return x == -HUGE_VAL; });
    const double at = logits[match.count(0)];
    return match.text.find("NaN: no weight") != match.text.npos ? std::isnan(at) : at == HUGE_VAL;
}
bool check_logit_count(const Match& match) {
    return match.count(0) == std::ssize(shown_logits(match.state));
}

// ---- Positions

bool check_rope(const Match& match) {  // "at distance d it lowers the score from x to y"
    const auto scores = scores_of(match.state);
    const Index d = match.count(0);
    if (d != positions_controls(match.state).distance) return false;
    const double score = (*scores)[PositionKind::rotary].mean[d];
    if (match.part.size() < 4)
        return shows(match.part[1], scores->content) && std::abs(score - scores->content) < 1e-6;
    return match.part[1] == (score < scores->content ? "lowers" : "raises") &&
           shows(match.part[2], scores->content) && shows(match.part[3], score) &&
           match.part[2] != match.part[3];
}
bool check_alibi(
    const Match&
        claim) {  // "ALiBi subtracts a · d = b from the score of head h: x instead of y[; …]"
    const auto p =
        parts_of("{} · {} = {} from the score of head {}: {} instead of {}", claim.part[0]);
    if (!p || split((*p)[5], ";")[0] == (*p)[4]) return false;
    const PositionSettings& settings = positions_controls(claim.state).settings;
    const double distance = number_of((*p)[1]);
    const double slope = std::pow(
        2.0, -8.0 * static_cast<double>(settings.head + 1) / static_cast<double>(settings.heads));
    return distance == static_cast<double>(positions_controls(claim.state).distance) &&
           shows((*p)[2], number_of((*p)[0]) * distance) &&
           (!std::has_single_bit(static_cast<std::uint64_t>(settings.heads)) ||
            shows((*p)[2], slope * distance));
}
bool check_alibi_nothing(const Match& match) {
    return positions_controls(match.state).distance == 0;
}
bool check_same_for_all(const Match& match) {
    const auto scores = scores_of(match.state);
    const auto wide = [&](PositionKind kind) {
        double most = 0.0;
        for (std::size_t n = 0; n < (*scores)[kind].low.size(); ++n)
            most = std::max(most, (*scores)[kind].high[n] - (*scores)[kind].low[n]);
        return most > 1e-6 * scores->content;
    };
    for (const PositionKind kind :
         {PositionKind::rotary, PositionKind::sinusoidal, PositionKind::learned})
        if ((match.text.find(title_of(kind)) != match.text.npos) !=
            (match.text.starts_with("At one distance") == wide(kind)))
            return false;
    return true;
}

// ---- Cost

double unit_of(std::string_view text) {
    double value = number_of(split(text, " ")[0]);
    const std::string unit = split(text, " ").back();
    const bool bytes = unit.ends_with("B");
    for (const char prefix : {'k', 'M', 'G', 'T', 'P', 'E'}) {
        value *= unit == "B" || unit == "FLOP" ? 1.0 : bytes ? 1024.0 : 1000.0;
        if (unit.front() == prefix || (bytes && std::tolower(unit.front()) == prefix) ||
            unit == "B" || unit == "FLOP")
            break;
    }
    return value;
}
bool check_cost(const Match& match) {
    const CostSizes& of = cost_controls(match.state).sizes;
    const auto keys = static_cast<double>(of[CostSize::tk]);
    return std::abs(unit_of(match.part[0]) / unit_of(match.part[1]) - keys) <= 0.01 * keys;
}
bool check_fused_less(const Match& match) {
    return match.count(0) == cost_controls(match.state).sizes[CostSize::tk] && match.count(0) > 1;
}
bool check_growth(const Match& match) {
    const CostSizes& of = cost_controls(match.state).sizes;
    const bool square = of[CostSize::tq] == of[CostSize::tk];
    return match.part[1] == (square ? "twice the length takes four times the memory"
                                    : "twice the keys take twice the memory");
}
bool check_products(const Match& match) {
    const CostControls& of = cost_controls(match.state);
    if (match.part.size() == 1) return of.pass == CostPass::forward;
    return of.pass == CostPass::backward && unit_of(match.part[0]) > unit_of(match.part[1]);
}
bool check_shared(const Match& match) {
    const CostSizes& of = cost_controls(match.state).sizes;
    return match.count(0) == of[CostSize::heads] / of[CostSize::kv_heads] && match.count(0) > 1 &&
           match.count(2) == match.count(0);
}

// ---- Tensors and their check

struct Numbers {
    Index nan = 0, infinite = 0, zero = 0, rows = 0, unit_rows = 0;
    double low = HUGE_VAL, high = -HUGE_VAL;
};
Numbers numbers_of(const Tensor& tensor) {
    Numbers all;
    for (const float each : tensor.values()) {
        all.nan += std::isnan(each) ? 1 : 0;
        all.infinite += std::isinf(each) ? 1 : 0;
        all.zero += each == 0.0F ? 1 : 0;
    }
    const Index width = tensor.shape().d;
    for (Index at = 0; width > 0 && at < tensor.count(); at += width) {
        const auto row = tensor.values().subspan(at, static_cast<std::size_t>(width));
        const double sum = std::accumulate(row.begin(), row.end(), 0.0);
        ++all.rows;
        all.unit_rows += std::abs(sum - 1.0) < 1e-3 ? 1 : 0;
        all.low = std::min(all.low, sum), all.high = std::max(all.high, sum);
    }
    return all;
}
/// Of some input of the document.
bool some_input(const AppState& state, auto test) {
    const Inputs& in = *state.document().inputs;
    for (const Tensor* each : {&in.x, &in.x_kv, &in.q, &in.k, &in.v})
        if (!each->empty() && test(numbers_of(*each))) return true;
    return std::ranges::any_of(param_table(), [&](const ParamInfo& row) {
        const Tensor& each = in.params[row.param];
        return !each.empty() && test(numbers_of(each));
    });
}
bool check_nans(const Match& match) {
    return some_input(match.state,
                      [&](const Numbers& n) { return n.nan == match.count(0) && n.nan > 0; });
}
bool check_infinite(const Match& match) {
    return some_input(match.state, [&](const Numbers& n) {
        return n.infinite == match.count(0) && n.infinite > 0;
    });
}
bool check_zeros(const Match& match) {
    return some_input(match.state, [&](const Numbers& n) { return n.zero == match.count(1); });
}
bool check_unit_rows(const Match& match) {
    return some_input(match.state, [&](const Numbers& n) {
        return n.unit_rows == match.count(0) && n.rows == match.count(1) &&
               shows(match.part[2], n.low) && shows(match.part[3], n.high);
    });
}
bool check_not_finite(const Match& match) {
    return some_input(match.state, [&](const Numbers& n) { return n.nan + n.infinite > 0; });
}

const Tensor& weights(const AppState& state) { return (*state.trace)[Stage::weights]; }
bool check_every_row(const Match& match) {
    const Tensor& a = weights(match.state);
    const bool columns = match.text.starts_with("every column");
    Index zero = 0;
    for (const auto [b, h] : each_cell(a.shape().b, a.shape().h))
        for (Index n = 0; n < (columns ? a.shape().d : a.shape().t); ++n) {
            double sum = 0.0, size = 0.0;
            for (Index m = 0; m < (columns ? a.shape().t : a.shape().d); ++m) {
                const float each = columns ? a(b, h, m, n) : a(b, h, n, m);
                sum += each, size += std::abs(each);
            }
            zero += size == 0.0 ? 1 : 0;
            if (size != 0.0 && !(std::abs(sum - 1.0) < 1e-3)) return false;
        }
    return (zero > 0) == (match.text.find("that is not 0") != match.text.npos);
}
bool check_diagonal(const Match& match) {  // j = i + Tk − Tq
    const Tensor& a = weights(match.state);
    for (const auto [b, h] : each_cell(a.shape().b, a.shape().h))
        for (Index i = 0; i < a.shape().t; ++i)
            for (Index j = i + a.shape().d - a.shape().t + 1; j < a.shape().d; ++j)
                if (j >= 0 && a(b, h, i, j) != 0.0F) return false;
    return true;
}
bool check_odd_weights(const Match& match) {
    const Tensor& a = weights(match.state);
    const bool nan = match.text.find("NaN") != match.text.npos;
    Index count = 0, rows = 0;
    for (const auto [b, h] : each_cell(a.shape().b, a.shape().h))
        for (Index i = 0; i < a.shape().t; ++i) {
            const auto row = Rows(a.matrix(b, h)).row(i);
            ++rows;
            count +=
                (nan ? has_nan(row) : std::ranges::all_of(row, [](float w) { return w == 0.0F; }))
                    ? 1
                    : 0;
        }
    return count == match.count(0) &&
           rows == static_cast<Index>(number_of(split(match.part[1], " ")[0]));
}

/// Of a memory that is given in three digits.
bool check_cost_share(const Match& match) {
    const CostSizes& of = cost_controls(match.state).sizes;
    const auto memory = split(match.part[1], " ");
    if (memory.size() != 2 || memory[1] != "GiB") return false;
    const double share =
        estimate_of(stored_bytes(Holding::materialised), of) / (number_of(memory[0]) * 0x1p30);
    if (match.part[0].starts_with("less than")) return share < 0.00051;
    if (match.text.find(" times ") != match.text.npos)
        return std::abs(number_of(match.part[0]) / share - 1.0) < 0.06;
    return std::abs(number_of(split(match.part[0], " ")[0]) - 100.0 * share) < 0.06 + 0.5 * share;
}

constexpr Claim kClaims[] = {
    {"At gain {}, {}", check_gain},
    {"The logit of key {} is NaN: no weight{}", check_undefined_row},
    {"The logit of key {} is ∞: {}", check_undefined_row},
    {"Every logit is −∞: no weight is defined, and 0/0 or ∞ − ∞ gives NaN in every format",
     check_undefined_row},
    {"{} logits of query {}", check_logit_count},
    {"{} logit of query {}", check_logit_count},
    {"RoPE rotates q and k: at distance {} it leaves the score at {}", check_rope},
    {"RoPE rotates q and k: at distance {} it {} the score from {} to {}", check_rope},
    {"ALiBi subtracts nothing at distance 0: {}", check_alibi_nothing},
    {"ALiBi subtracts {} times the distance{}", [](const Match&) { return true; }},  // its formula
    {"ALiBi subtracts {}", check_alibi},
    {"These scores depend only on the distance: {}", check_same_for_all},
    {"At one distance, these still vary between queries: {}", check_same_for_all},
    {"The fused kernel does the same {} of products", check_products},
    {"The fused kernel does {} instead of {}, because it recomputes the scores", check_products},
    {"Storing the weights takes {}; the fused kernel keeps {}", check_cost},
    {"{} in one layer: {}", check_growth},
    {"The weights take {} times this machine’s {}", check_cost_share},
    {"The weights take {} of this machine’s {}", check_cost_share},
    {"The fused kernel keeps 1/{} of that", check_fused_less},
    {"{} query heads share each key/value head: the KV cache is {}, 1/{} of the multi-head cache",
     check_shared},
    {"{} NaN, the first at {}", check_nans},
    {"{} infinite, the first at {}", check_infinite},
    {"{} numbers, {} of them 0", check_zeros},
    {"{} number, {} of them 0", check_zeros},
    {"rows that sum to 1: {} of {} (smallest Σ {}, largest {})", check_unit_rows},
    {"No number is finite", check_not_finite},
    {"every row of weights{}sums to 1", check_every_row},
    {"every column of weights{}sums to 1", check_every_row},
    {"no weight lies right of the diagonal{}", check_diagonal},
    {"NaN in {} of {} rows of weights; the first is {}", check_odd_weights},
    {"rows of weights that are all 0: {} of {}", check_odd_weights},
};

}  // namespace

std::span<const Claim> number_claims() { return kClaims; }

}  // namespace attn::view

// Numbers that stand alone in tooltips and lines: sizes, settings, formulas with their result.

#include "app/common/document/document.h"
#include "app/workspaces/cost/state.h"
#include "app/workspaces/cost/view.h"
#include "app/workspaces/kinds/compute.h"
#include "app/workspaces/kinds/state.h"
#include "app/workspaces/lookup/compute.h"
#include "app/workspaces/lookup/state.h"
#include "app/workspaces/masks/state.h"
#include "app/workspaces/numerics/row.h"
#include "app/workspaces/numerics/state.h"
#include "app/workspaces/numerics/view.h"
#include "app/workspaces/positions/view.h"
#include "app/workspaces/saturation/state.h"
#include "app/workspaces/tensors/measure.h"
#include "app/workspaces/tensors/view.h"
#include "core/io/array_stats.h"
#include "core/io/npy.h"
#include "core/numerics.h"
#include "tests/view/claims/claims.h"

namespace attn::view {
namespace {

const Dimensions& size(const Match& match) { return match.state.document().size; }
const AttentionSpec& spec(const Match& match) { return match.state.document().spec; }
double d_k(const Match& match) { return static_cast<double>(size(match).d_k); }
Index pairs(const Match& match) { return size(match).tq * size(match).tk; }
SaturationControls saturation(const Match& match) { return shown_saturation(match.state); }
std::size_t at(Index n) { return static_cast<std::size_t>(n); }

// ---- ALiBi and RoPE

/// 2^(−8(h + 1)/n) of a power of two; between two of them the lower's, then every second of the upper's.
double slope(Index head, Index heads) {
    Index power = 1;
    while (power * 2 <= heads) power *= 2;
    const auto geometric = [](double n, Index of) {
        return std::exp2(-8.0 * n / static_cast<double>(of));
    };
    return head < power ? geometric(static_cast<double>(head + 1), power)
                        : geometric(static_cast<double>(2 * (head - power) + 1), 2 * power);
}
bool is_slope(const Match& match, std::size_t head, std::size_t heads, std::size_t stated) {
    const double is = slope(match.count(head), match.count(heads));
    return std::abs(match.number(stated) - is) <= 0.006 * is + 5e-5;
}
bool check_slope(const Match& match) { return is_slope(match, 1, 2, 3); }
bool check_slope_of_one(const Match& match) {
    return is_slope(match, 0, 1, 2) && shows(match.part[3], slope(0, 1));
}
double turned(const Match& match) {
    const auto& rope = spec(match).rope;
    return rope && rope->dims ? static_cast<double>(*rope->dims) : d_k(match);
}
bool check_turned(
    const Match& match) {  // "Columns c and c + 2 of every key …, by its position times …"
    const bool halves = match.part.size() > 2;
    const auto times = parts_of("{}^(−2c/{})", split(match.part.back(), ",")[0]);
    return spec(match).rope && halves == (spec(match).rope->pairs == RopePairs::half) &&
           (!halves || match.number(0) == turned(match) / 2) && times &&
           number_of((*times)[0]) == spec(match).rope->base &&
           number_of((*times)[1]) == turned(match);
}

bool check_given_turn(const Match& match) {
    const auto& rope = spec(match).rope;
    const bool halves = match.part.size() > 1;
    return rope && rope->tables && halves == (rope->pairs == RopePairs::half) &&
           (!halves || match.number(0) == turned(match) / 2);
}

bool check_more_pairs(const Match& match) {  // than the two that are written out, of A or B
    const auto& result = kinds_look(match.state).result;
    return result && std::ranges::any_of(std::array{&result->a, &result->b}, [&](const auto* side) {
               const auto& rope = side->spec.rope;
               return rope && rope->dims.value_or(size(match).d_k) / 2 - 2 == match.count(0);
           });
}

// ---- formats of numbers

constexpr std::pair<int, int> kBits[] = {{5, 10}, {8, 7}, {8, 23}, {11, 52}};  // exponent, fraction
bool is_near(double stated, double value) {  // "1.8·10³⁰⁸" is beyond the largest number
    return std::abs(stated - value) <= 0.006 * value || (stated == HUGE_VAL && value > 1.7e308);
}
bool check_largest(const Match& match) {  // "largest 65504, e^s overflows from s = 11.09"
    return std::ranges::any_of(kBits, [&](const auto& bits) {
        const double last = std::exp2((1 << (bits.first - 1)) - 1);
        const double end = std::log(2.0 - std::exp2(-bits.second - 1)) + std::log(last);
        return is_near(match.number(0), last * (2.0 - std::exp2(-bits.second))) &&
               shows(match.part[1], end);
    });
}
bool check_smallest(const Match& match) {
    return std::ranges::any_of(kBits, [&](const auto& bits) {
        const double normal = std::exp2(2 - (1 << (bits.first - 1)));
        return is_near(match.number(0), normal) &&
               is_near(match.number(1), std::ldexp(normal, -bits.second));
    });
}
std::vector<long double> exact_weights(const Match& match) {
    return exact_softmax(shown_logits(match.state),
                         static_cast<double>(numerics_controls(match.state).gain));
}
bool check_exact(const Match& match) {
    return std::ranges::any_of(exact_weights(match), [&](long double each) {
        return shows(match.part[0], static_cast<double>(each));
    });
}

// ---- Lookup and Positions

const CapacityPoint& capacity(const Match& match, Index width) {
    return *std::ranges::find(*capacity_curves(match.state).points, width, &CapacityPoint::d_k);
}
bool check_drawn(const Match& match) {  // "cosine of the nearest keys: 0.68  (0.63 to 0.79)"
    const CapacityPoint& here = capacity(match, lookup_controls(match.state).width);
    const DrawnNumber& of = match.text.starts_with("cosine") ? here.near_cosine : here.worst;
    return shows(match.part[0].substr(0, match.part[0].find(' ')), of.median) &&
           shows(match.part[1], of.low) && shows(match.part[2], of.high) && of.low <= of.median &&
           of.median <= of.high;
}
bool check_random_keys(const Match& match) {
    const CapacityPoint& here = capacity(match, match.count(1));
    const CapacitySettings& of = capacity_curves(match.state).of;
    return match.count(0) == of.pairs && shows(match.part[2], of.temperature) &&
           shows(match.part[3], here.interference.median) &&
           shows(match.part[4], here.worst.median) &&
           match.part[5].starts_with(std::to_string(of.draws));
}
bool check_near_keys(const Match& match) {
    const double cosine = capacity(match, lookup_controls(match.state).width).near_cosine.median;
    return shows(match.part[0], cosine);
}
bool check_near_weight(const Match& match) {
    const double cosine = capacity(match, lookup_controls(match.state).width).near_cosine.median;
    return shows(match.part[0],
                 std::exp((cosine - 1) / capacity_curves(match.state).of.temperature));
}
bool check_back(const Match& match) {
    const LookupLook& look = lookup_look(match.state);
    return shows(match.part[0], look.similarity->dot(0, 0, look.column, look.row));
}
const DistanceScores& scores_over(const Match& match, PositionKind kind) {
    static std::shared_ptr<const PositionScores> retained;
    return (*(retained = scores_of(match.state)))[kind];
}
bool is_range(const Match& match, const DistanceScores& of, std::string_view low,
              std::string_view high) {
    const auto d = at(positions_controls(match.state).distance);
    return shows(low, of.low[d]) && shows(high, of.high[d]);
}
bool check_least_most(const Match& match) {
    const auto kind = positions_controls(match.state).kind;
    return is_range(match, scores_over(match, kind), match.part[0], match.part[1]);
}
bool check_added(
    const Match& match) {  // "… p_i · p_j / √d_k is 0.28 at distance 2 and 1 at distance 0, …"
    const auto kind =
        match.text.starts_with("Learned") ? PositionKind::learned : PositionKind::sinusoidal;
    const DistanceScores& of = scores_over(match, kind);
    const auto range =
        parts_of("{}; with the content the score is {} to {}, depending on the query", match.text);
    if (!range || !is_range(match, of, (*range)[1], (*range)[2])) return false;
    std::vector<Index> distances;
    for (const std::string& each : split(split((*range)[0], "√d_k is ").back(), " and ")) {
        const auto parts = parts_of("{} at distance {}", each);
        if (!parts) return false;
        distances.push_back(std::atoi((*parts)[1].c_str()));
        if (!shows((*parts)[0], of.vectors[at(distances.back())])) return false;
    }
    const Index here = positions_controls(match.state).distance;
    return distances == (here == 0 ? std::vector<Index>{0} : std::vector<Index>{here, 0});
}

// ---- what is open

bool check_kind_mask(const Match& match) {  // "A: scaled dot product · no mask"
    const auto& result = kinds_look(match.state).result;
    const auto holds = [&](std::string_view side) {
        return match.text.starts_with(std::string(side) + ":") ||
               match.text.find(" of " + std::string(side) + ":") != match.text.npos;
    };
    const auto none = [](const KindComputed& side) {
        return std::ranges::count(side.allowed, 0) == 0;
    };
    if (!result) return true;
    return holds("A")   ? none(result->a)
           : holds("B") ? none(result->b)
                        : none(result->a) || none(result->b);
}
bool check_output_sum(const Match& match) {
    double sum = 0.0, sizes = 0.0;
    const auto& trace = *match.state.trace;
    const Tensor& output =
        trace[Stage::output].empty() ? trace[Stage::context] : trace[Stage::output];
    for (const float each : output.values()) sum += each, sizes += std::abs(each);
    return shows(match.part[0], sum) ||
           std::abs(match.number(0) - sum) <= 1e-4 * std::abs(sum) + 1e-6 * sizes;
}
bool check_masked_score(const Match& match) {  // "masked M: S = 1.055", B where there is a bias
    const auto [i, j] = masks_look(match.state).pair;
    const Rows s = rows_of(match.state, match.part[0] == "B" ? Stage::biased : Stage::scaled);
    return i < s.rows && j < s.columns && shows(match.part[1], s(i, j));
}
bool check_nan_pair(const Match& match) {
    const Index i = labelled(match.state, Axis::query, match.part[0]),
                j = labelled(match.state, Axis::key, match.part[1]);
    return i >= 0 && j >= 0 && std::isnan(weights_of(match.state)(i, j)) &&
           !allows(match.state, i, j);
}
bool check_title(const Match& match) { return match.part[0] == match.state.document().title; }
bool check_cache(const Match& match) {
    const auto held = [&](Index tokens) {
        return estimate_of(stored_bytes(Holding::kv_cache),
                           with_tokens(cost_controls(match.state).sizes, tokens));
    };
    const std::string limit = split(match.part[0], "; ").back();  // after "32 MiB a layer; "
    if (limit == "fits for every T of the plot") return held(kMostCostTokens) <= kClaimMemory;
    const auto most = parts_of("T ≤ {}", limit);
    return most && held(count_of((*most)[0])) <= kClaimMemory &&
           held(count_of((*most)[0]) + 1) > kClaimMemory;
}

constexpr Claim kClaims[] = {
    {"[{}], head {} of {}",  // the sizes of a tensor
     [](const Match& match) {
         return match.count(2) == size(match).heads && match.count(1) < match.count(2) &&
                split(match.part[0], ", ").size() == 4;
     }},
    {"Head {} of heads 0 to {}",
     [](const Match& match) {
         return match.count(0) == match.state.head && match.count(1) == size(match).heads - 1;
     }},
    {"{}he slope of head {} of {} is {}", check_slope},
    {"m: {}, head {} of {}", [](const Match& match) { return is_slope(match, 1, 2, 0); }},
    {"ALiBi's slope is that of head {} of {}: {} (the model has one head, whose slope is {})",
     check_slope_of_one},
    {"ALiBi's slope is that of head {} of {}: {}",
     [](const Match& match) { return is_slope(match, 0, 1, 2); }},
    {"Columns 2c and 2c + 1 of each {} rotate together, by the token’s position times {} radians",
     check_turned},
    {"Columns c and c + {} of each {} rotate together, by the token’s position times {} radians",
     check_turned},
    {"Columns 2c and 2c + 1 of each {} rotate together, by the given cosine and sine of the token "
     "and c",
     check_given_turn},
    {"Columns c and c + {} of each {} rotate together, by the given cosine and sine of the token "
     "and c",
     check_given_turn},
    {"And so {} more pair{} of columns of {}", check_more_pairs},
    {"{} cannot be computed here: rope.dims is {}: RoPE turns pairs of columns, so an even number "
     "from 2 to d_k = {} is expected",
     [](const Match& match) {
         const Index dims = match.count(1);
         return match.number(2) == d_k(match) &&
                (dims % 2 != 0 || dims < 2 || dims > match.count(2));
     }},
    {"Queries and keys were first multiplied by {}^(−¼) = {}",
     [](const Match& match) {
         return match.number(0) == d_k(match) && shows(match.part[1], std::pow(d_k(match), -0.25));
     }},
    {"largest {}, e^s overflows from s = {}", check_largest},
    {"smallest normal {}, smallest subnormal {}", check_smallest},
    {"exact: {}", check_exact},
    {"A line marks 1 ulp, the format's spacing at the exact weight; above {} ulp the bar is red",
     [](const Match& match) { return match.number(0) == kRightUlp; }},
    {"interference, worst pair: {} ({} to {})", check_drawn},
    {"cosine of the nearest keys: {} ({} to {})", check_drawn},
    {"{} random keys of width d_k = {}, each used as its own query at τ = {}: other pairs take "
     "{} of the weight, at worst {} (medians of {})",
     check_random_keys},
    {"The two nearest keys have cosine c = {} (median of {})", check_near_keys},
    {"When one is looked up, the other gets exp((c − 1) / τ) = {} times its weight",
     check_near_weight},
    {"draws: {} from seed {}: median (smallest to largest)",
     [](const Match& match) {
         const CapacitySettings& of = capacity_curves(match.state).of;
         return match.count(0) == of.draws && match.part[1] == std::to_string(of.seed);
     }},
    {"{}: all weight on one pair; ln {} = {}: equal weights",
     [](const Match& match) {
         return match.count(1) == std::ssize(lookup_controls(match.state).pairs) &&
                shows(match.part[2], std::log(match.number(1)));
     }},
    {"key and query swapped: dot {}", check_back},
    {"least … most: {} … {}", check_least_most},
    {"Sinusoidal vectors are added{}", check_added},
    {"Learned vectors are added{}", check_added},
    {"Memory beside Q, K, V and the context, over T = Tk with {} queries; both axes log",
     [](const Match& match) {
         return match.count(0) == cost_controls(match.state).sizes[CostSize::tq];
     }},
    {"{}: {} B × {} (one weight per pair) = {} B",
     [](const Match& match) {
         return match.count(2) == pairs(match) &&
                match.number(1) * match.number(2) == match.number(3);
     }},
    {"{}weights that sum to 1 together with the weight of the sink, a logit of {} without a value",
     [](const Match& match) {
         const Tensor& sinks = match.state.document().inputs->params[Param::sinks];
         return !sinks.empty() && shows(match.part[1], sinks(0, 0, 0, match.state.head));
     }},
    {"{} · no mask", check_kind_mask},
    {"How fast L grows with each number; L = Σ output = {}", check_output_sum},
    {"masked M: {} = {}", check_masked_score},
    {"{} → {}: masked, but the weight is NaN", check_nan_pair},
    {"concat holds the {} heads' contexts, {} column{} each",
     [](const Match& match) {
         return match.count(0) == size(match).heads && match.count(1) == size(match).d_v;
     }},
    {"Layer {}: dropout of {} follows these weights; the output share is computed from the weights "
     "after dropout",
     [](const Match& match) { return match.number(1) == spec(match).dropout; }},
    {"weights, the same colours for all heads, √; mark: 1/n = {}, n = {} key{}",
     [](const Match& match) {
         return match.count(1) == size(match).tk && shows(match.part[0], 1.0 / match.number(1));
     }},
    {"Token vectors come from the tensors of “{}”", check_title},
    {"Sinks, the number of key/value heads and d_v come from the tensors of “{}”", check_title},
    {"only the cache: {}", check_cache},
    {"{}: Esc shows all", [](const Match& match) { return tensor_rows(match.state).empty(); }},
    {"sample {} of {}",
     [](const Match& match) {
         return match.count(0) == saturation(match).draw + 1 &&
                match.count(1) == saturation(match).settings.trials;
     }},
    {"Sample {} of {}",
     [](const Match& match) { return match.count(0) <= match.count(1); }},  // of a time before
    {"s_j = q·k_j, with q and {} keys from N(0, 1)",
     [](const Match& match) { return match.count(0) == saturation(match).settings.keys; }},
    {"gradient without scaling, compared with d_k = {}: ÷ smaller, × larger, ≈ equal",
     [](const Match& match) { return match.count(0) == saturation(match).pin; }},
    {"{} at d_k = {}: one tick for each percent of the {}",
     [](const Match& match) { return match.count(1) == saturation(match).d_k; }},
    {"with scaling: p_max(1 − p_max) / √{}",
     [](const Match& match) { return match.count(0) == saturation(match).d_k; }},
};

}  // namespace

std::span<const Claim> plain_claims() { return kClaims; }

}  // namespace attn::view

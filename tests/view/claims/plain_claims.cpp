// Numbers that stand alone in tooltips and lines: sizes, settings, formulas with their result.

#include "app/workspaces/cost/state.h"
#include "app/workspaces/cost/view.h"
#include "app/workspaces/kinds/compute.h"
#include "app/workspaces/kinds/state.h"
#include "app/workspaces/lookup/compute.h"
#include "app/workspaces/lookup/state.h"
#include "app/workspaces/masks/state.h"
#include "app/workspaces/numerics/row.h"
#include "app/workspaces/numerics/state.h"
#include "app/workspaces/positions/view.h"
#include "app/workspaces/saturation/state.h"
#include "app/workspaces/tensors/view.h"
#include "core/numerics.h"
#include "tests/view/claims/claims.h"

namespace attn::view {
namespace {

const Dimensions& size(const Match& told) { return told.state.document().size; }
const AttentionSpec& spec(const Match& told) { return told.state.document().spec; }
double d_k(const Match& told) { return static_cast<double>(size(told).d_k); }
Index pairs(const Match& told) { return size(told).tq * size(told).tk; }
const SaturationControls& saturation(const Match& told) { return saturation_controls(told.state); }
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
bool is_slope(const Match& told, std::size_t head, std::size_t heads, std::size_t said) {
    const double is = slope(told.count(head), told.count(heads));
    return std::abs(told.number(said) - is) <= 0.006 * is + 5e-5;
}
bool check_slope(const Match& told) { return is_slope(told, 1, 2, 3); }
bool check_slope_of_one(const Match& told) {
    return is_slope(told, 0, 1, 2) && shows(told.part[3], slope(0, 1));
}
double turned(const Match& told) {
    const auto& rope = spec(told).rope;
    return rope && rope->dims ? static_cast<double>(*rope->dims) : d_k(told);
}
bool check_turned(
    const Match& told) {  // "Columns c and c + 2 of every key …, by its position times …"
    const bool halves = told.part.size() > 2;
    const auto times = parts_of("{}^(−2c/{})", split(told.part.back(), ",")[0]);
    return spec(told).rope && halves == (spec(told).rope->pairs == RopePairs::half) &&
           (!halves || told.number(0) == turned(told) / 2) && times &&
           number_of((*times)[0]) == spec(told).rope->base &&
           number_of((*times)[1]) == turned(told);
}

bool check_more_pairs(const Match& told) {  // than the two that are written out, of A or B
    const auto& result = kinds_look(told.state).result;
    return result && std::ranges::any_of(std::array{&result->a, &result->b}, [&](const auto* side) {
               const auto& rope = side->spec.rope;
               return rope && rope->dims.value_or(size(told).d_k) / 2 - 2 == told.count(0);
           });
}

// ---- formats of numbers

constexpr std::pair<int, int> kBits[] = {{5, 10}, {8, 7}, {8, 23}, {11, 52}};  // exponent, fraction
bool is_near(double said, double value) {  // "1.8·10³⁰⁸" is beyond the largest number
    return std::abs(said - value) <= 0.006 * value || (said == HUGE_VAL && value > 1.7e308);
}
bool check_largest(const Match& told) {  // "largest 65504, e^s overflows from s = 11.09"
    return std::ranges::any_of(kBits, [&](const auto& bits) {
        const double last = std::exp2((1 << (bits.first - 1)) - 1);
        const double end = std::log(2.0 - std::exp2(-bits.second - 1)) + std::log(last);
        return is_near(told.number(0), last * (2.0 - std::exp2(-bits.second))) &&
               shows(told.part[1], end);
    });
}
bool check_smallest(const Match& told) {
    return std::ranges::any_of(kBits, [&](const auto& bits) {
        const double normal = std::exp2(2 - (1 << (bits.first - 1)));
        return is_near(told.number(0), normal) &&
               is_near(told.number(1), std::ldexp(normal, -bits.second));
    });
}
std::vector<long double> exact_weights(const Match& told) {
    return exact_softmax(shown_logits(told.state),
                         static_cast<double>(numerics_controls(told.state).gain));
}
bool check_exact(const Match& told) {
    return std::ranges::any_of(exact_weights(told), [&](long double each) {
        return shows(told.part[0], static_cast<double>(each));
    });
}

// ---- Lookup and Positions

const CapacityPoint& capacity(const Match& told, Index width) {
    return *std::ranges::find(*capacity_curves(told.state).points, width, &CapacityPoint::d_k);
}
bool check_drawn(const Match& told) {  // "cosine of the nearest keys: 0.68  (0.63 to 0.79)"
    const CapacityPoint& here = capacity(told, lookup_controls(told.state).width);
    const DrawnNumber& of = told.words.starts_with("cosine") ? here.near_cosine : here.worst;
    return shows(told.part[0].substr(0, told.part[0].find(' ')), of.median) &&
           shows(told.part[1], of.low) && shows(told.part[2], of.high) && of.low <= of.median &&
           of.median <= of.high;
}
bool check_random_keys(const Match& told) {
    const CapacityPoint& here = capacity(told, told.count(1));
    const CapacitySettings& of = capacity_curves(told.state).of;
    return told.count(0) == of.pairs && shows(told.part[2], of.temperature) &&
           shows(told.part[3], here.interference.median) &&
           shows(told.part[4], here.worst.median) &&
           told.part[5].starts_with(std::to_string(of.draws));
}
bool check_near_keys(const Match& told) {
    const CapacitySettings& of = capacity_curves(told.state).of;
    const double cosine = capacity(told, lookup_controls(told.state).width).near_cosine.median;
    return shows(told.part[0], cosine) &&
           shows(told.part[2], std::exp((cosine - 1) / of.temperature));
}
bool check_back(const Match& told) {
    const LookupLook& look = lookup_look(told.state);
    return shows(told.part[0], look.similarity->dot(0, 0, look.column, look.row));
}
const DistanceScores& scores_over(const Match& told, PositionKind kind) {
    static std::shared_ptr<const PositionScores> kept;
    return (*(kept = scores_of(told.state)))[kind];
}
bool is_range(const Match& told, const DistanceScores& of, std::string_view low,
              std::string_view high) {
    const auto d = at(positions_controls(told.state).distance);
    return shows(low, of.low[d]) && shows(high, of.high[d]);
}
bool check_least_most(const Match& told) {
    const auto kind = positions_controls(told.state).kind;
    return is_range(told, scores_over(told, kind), told.part[0], told.part[1]);
}
bool check_added(
    const Match& told) {  // "… they contribute 0.28 at distance 2 and 1 at distance 0, …"
    const auto kind =
        told.words.starts_with("Learned") ? PositionKind::learned : PositionKind::sinusoidal;
    const DistanceScores& of = scores_over(told, kind);
    const auto range =
        parts_of("{}; with the content the score is {} to {}, depending on the query", told.words);
    if (!range || !is_range(told, of, (*range)[1], (*range)[2])) return false;
    std::vector<Index> distances;
    for (const std::string& each : split(split((*range)[0], "they contribute ").back(), " and ")) {
        const auto parts = parts_of("{} at distance {}", each);
        if (!parts) return false;
        distances.push_back(std::atoi((*parts)[1].c_str()));
        if (!shows((*parts)[0], of.vectors[at(distances.back())])) return false;
    }
    const Index here = positions_controls(told.state).distance;
    return distances == (here == 0 ? std::vector<Index>{0} : std::vector<Index>{here, 0});
}

// ---- what is open

bool check_kind_mask(const Match& told) {  // "A: scaled dot product · no mask"
    const auto& result = kinds_look(told.state).result;
    const auto says = [&](std::string_view side) {
        return told.words.starts_with(std::string(side) + ":") ||
               told.words.find(" of " + std::string(side) + ":") != told.words.npos;
    };
    const auto none = [](const KindComputed& side) {
        return std::ranges::count(side.allowed, 0) == 0;
    };
    if (!result) return true;
    return says("A")   ? none(result->a)
           : says("B") ? none(result->b)
                       : none(result->a) || none(result->b);
}
bool check_output_sum(const Match& told) {
    double sum = 0.0, sizes = 0.0;
    const auto& trace = *told.state.trace;
    const Tensor& output =
        trace[Stage::output].empty() ? trace[Stage::context] : trace[Stage::output];
    for (const float each : output.values()) sum += each, sizes += std::abs(each);
    return shows(told.part[0], sum) ||
           std::abs(told.number(0) - sum) <= 1e-4 * std::abs(sum) + 1e-6 * sizes;
}
bool check_masked_score(const Match& told) {  // "masked M: S = 1.055", B where there is a bias
    const auto [i, j] = masks_look(told.state).pair;
    const Rows s = rows_of(told.state, told.part[0] == "B" ? Stage::biased : Stage::scaled);
    return i < s.rows && j < s.columns && shows(told.part[1], s(i, j));
}
bool check_nan_pair(const Match& told) {
    const Index i = labelled(told.state, Axis::query, told.part[0]),
                j = labelled(told.state, Axis::key, told.part[1]);
    return i >= 0 && j >= 0 && std::isnan(weights_of(told.state)(i, j)) &&
           !allows(told.state, i, j);
}
bool check_title(const Match& told) { return told.part[0] == told.state.document().title; }
bool check_cache(const Match& told) {
    const auto held = [&](Index tokens) {
        return estimate_of(stored_bytes(Holding::kv_cache),
                           with_tokens(cost_controls(told.state).sizes, tokens));
    };
    if (told.part[0] == "fits for every T drawn") return held(kMostCostTokens) <= kClaimMemory;
    const auto most = parts_of("T ≤ {}", told.part[0]);
    return most && held(count_of((*most)[0])) <= kClaimMemory &&
           held(count_of((*most)[0]) + 1) > kClaimMemory;
}

constexpr Claim kClaims[] = {
    {"[{}], head {} (0–{})",  // the sizes of a tensor
     [](const Match& told) {
         return told.count(2) == size(told).heads - 1 && told.count(1) <= told.count(2) &&
                split(told.part[0], ", ").size() == 4;
     }},
    {"Head {} (0–{})",
     [](const Match& told) {
         return told.count(0) == told.state.head && told.count(1) == size(told).heads - 1;
     }},
    {"{}he slope of head {} of {} is {}", check_slope},
    {"m: {}, head {} of {}", [](const Match& told) { return is_slope(told, 1, 2, 0); }},
    {"ALiBi's slope is that of head {} of {}: {} (the model has one head, whose slope is {})",
     check_slope_of_one},
    {"ALiBi's slope is that of head {} of {}: {}",
     [](const Match& told) { return is_slope(told, 0, 1, 2); }},
    {"Columns 2c and 2c + 1 of every {} turn together, by its position times {}", check_turned},
    {"Columns c and c + {} of every {} turn together, by its position times {}", check_turned},
    {"And so {} more pair{} of columns of {}", check_more_pairs},
    {"{} cannot be computed here: rope.dims is {}: RoPE turns pairs of columns, so an even number "
     "from 2 to d_k = {} is expected",
     [](const Match& told) {
         const Index dims = told.count(1);
         return told.number(2) == d_k(told) && (dims % 2 != 0 || dims < 2 || dims > told.count(2));
     }},
    {"Each was multiplied by {}^(−¼) = {} before",
     [](const Match& told) {
         return told.number(0) == d_k(told) && shows(told.part[1], std::pow(d_k(told), -0.25));
     }},
    {"largest {}, e^s overflows from s = {}", check_largest},
    {"smallest normal {}, smallest subnormal {}", check_smallest},
    {"exact: {}", check_exact},
    {"{}Bars scale to {}; the line marks the exact weight",
     [](const Match& told) {
         const auto all = exact_weights(told);
         return std::ranges::all_of(all, [&](long double each) {
             return !(each > static_cast<long double>(told.number(1)) * 1.0001L);
         });
     }},
    {"interference, worst pair: {} ({} to {})", check_drawn},
    {"cosine of the nearest keys: {} ({} to {})", check_drawn},
    {"{} random keys of width d_k = {}, read with their own key at τ = {}: other pairs take {} of "
     "the answer, {} of the worst one (medians of {})",
     check_random_keys},
    {"The nearest two keys have the cosine c = {} (median of {}): one takes exp((c − 1) / τ) = {} "
     "of what the other gets as its own",
     check_near_keys},
    {"draws: {} from seed {}: median (smallest to largest)",
     [](const Match& told) {
         const CapacitySettings& of = capacity_curves(told.state).of;
         return told.count(0) == of.draws && told.part[1] == std::to_string(of.seed);
     }},
    {"{}: one pair is read; ln {} = {}: all are read alike",
     [](const Match& told) {
         return told.count(1) == std::ssize(lookup_controls(told.state).pairs) &&
                shows(told.part[2], std::log(told.number(1)));
     }},
    {"the other way round: dot {}", check_back},
    {"least … most: {} … {}", check_least_most},
    {"Sinusoidal vectors are added{}", check_added},
    {"Learned vectors are added{}", check_added},
    {"Memory beside Q, K, V and the context, over T = Tk with {} queries; both axes log",
     [](const Match& told) {
         return told.count(0) == cost_controls(told.state).sizes[CostSize::tq];
     }},
    {"{}: {} × {} (a weight of each pair) = {} B",
     [](const Match& told) {
         return told.count(2) == pairs(told) && told.number(1) * told.number(2) == told.number(3);
     }},
    {"{}shares that sum to 1 together with the sink's, a logit of {} that has no value",
     [](const Match& told) {
         const Tensor& sinks = told.state.document().inputs->params[Param::sinks];
         return !sinks.empty() && shows(told.part[1], sinks(0, 0, 0, told.state.head));
     }},
    {"{} · no mask", check_kind_mask},
    {"How fast L grows with each number; L = Σ output = {}", check_output_sum},
    {"masked M: {} = {}", check_masked_score},
    {"{} → {}: masked; the weight is NaN", check_nan_pair},
    {"concat holds the {} heads' contexts, {} column{} each",
     [](const Match& told) {
         return told.count(0) == size(told).heads && told.count(1) == size(told).d_v;
     }},
    {"Layer {}: dropout of {} comes after these weights; the output share is of what it leaves",
     [](const Match& told) { return told.number(1) == spec(told).dropout; }},
    {"weights, the same colours for all heads, √; mark: 1/n = {}, n = {} key{}",
     [](const Match& told) {
         return told.count(1) == size(told).tk && shows(told.part[0], 1.0 / told.number(1));
     }},
    {"Token vectors are of {}: they can be set for a toy sentence", check_title},
    {"Sinks, key/value heads and d_v are tensors of {}: they can be set for a toy sentence",
     check_title},
    {"the cache alone: {}", check_cache},
    {"{}: Esc shows all", [](const Match& told) { return tensor_rows(told.state).empty(); }},
    {"sample {} of {}",
     [](const Match& told) {
         return told.count(0) == saturation(told).draw + 1 &&
                told.count(1) == saturation(told).settings.trials;
     }},
    {"Sample {} of {}",
     [](const Match& told) { return told.count(0) <= told.count(1); }},  // of a time before
    {"s_j = q·k_j, with q and {} keys from N(0, 1)",
     [](const Match& told) { return told.count(0) == saturation(told).settings.keys; }},
    {"gradient without scaling against d_k = {}: ÷ smaller, × larger, ≈ equal",
     [](const Match& told) { return told.count(0) == saturation(told).pin; }},
    {"{} at d_k = {}: one tick for each percent of the {}",
     [](const Match& told) { return told.count(1) == saturation(told).d_k; }},
    {"with scaling: the same / √{}",
     [](const Match& told) { return told.count(0) == saturation(told).d_k; }},
};

}  // namespace

std::span<const Claim> plain_claims() { return kClaims; }

}  // namespace attn::view

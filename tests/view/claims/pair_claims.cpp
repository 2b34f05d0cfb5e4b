// Two matrices beside each other: pins, heads, kinds, conventions of masks.

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/heads.h"
#include "app/common/document/swept.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/workspaces/compare/reach.h"
#include "app/workspaces/compare/state.h"
#include "app/workspaces/heads/compute.h"
#include "app/workspaces/heads/shown.h"
#include "app/workspaces/heads/view.h"
#include "app/workspaces/kinds/compute.h"
#include "app/workspaces/kinds/online.h"
#include "core/io/npy.h"
#include "core/scores/operands.h"
#include "core/scores/score.h"
#include "core/train/task_table.h"
#include "tests/view/claims/claims.h"

namespace attn::view {
namespace {

// ---- Compare

struct Sides {
    Rows a, b;
};
Sides pinned_sides(const AppState& state) {
    const CompareLook& look = compare_look(state);
    const ComparePin& pin = *look.shown_pin();
    const Tensor& tensor = (*pin.trace)[look.stage];
    return {tensor.matrix(pin.batch, head_in(pin.document->size, info(look.stage).heads, pin.head)),
            rows_of(state, look.stage)};
}
std::vector<double> distances(const Sides& sides) { return view::distances(sides.a, sides.b); }
bool check_differing(const Match& match) {
    const Sides sides = pinned_sides(match.state);
    const auto all = distances(sides);
    const auto cell = named(match.state, match.part[3]).value_or(NamedCell{});
    const auto n = static_cast<std::size_t>(cell.row * sides.b.columns + cell.column);
    const auto [last, others] = tied(match.part[5]);
    const auto to = split(last, " (");
    return std::ssize(all) == match.count(1) &&
           std::ranges::count_if(all, [](double by) { return by > 0.0; }) == match.count(0) &&
           cell.row >= 0 && is_most(all, n) && count_largest(all) == 1 + others &&
           match.part[4] != to[0] && shows(match.part[4], sides.a(cell.row, cell.column)) &&
           shows(to[0], sides.b(cell.row, cell.column));
}
bool check_same_stage(const Match& match) {
    const auto all = distances(pinned_sides(match.state));
    return std::ssize(all) == match.count(1) && std::ranges::max(all) == 0.0;
}
bool check_same_pin(const Match& match) {
    const CompareLook& look = compare_look(match.state);
    return distances(pinned_sides(match.state)) ==
               std::vector<double>(distances(pinned_sides(match.state)).size(), 0.0) &&
           look.shown_pin()->head == match.state.head;
}
/// "now: The cat sat down · scaling off · head 0": of that side; without one of any pin, or of what is shown.
bool check_pin_text(const Match& match) {
    const CompareLook& look = compare_look(match.state);
    const auto is = [&](const Document& document, Index head) {
        return match.part[1].starts_with("off") == (document.spec.scale == ScaleKind::none) &&
               match.count(2) == head;
    };
    const auto is_pin = [&](const ComparePin& pin) { return is(*pin.document, pin.head); };
    if (match.part[0].starts_with("baseline: ")) return is_pin(*look.shown_pin());
    const bool shown = is(match.state.document(), match.state.head);
    return shown || (!match.part[0].starts_with("now: ") &&
                     (is_pin(*look.shown_pin()) || std::ranges::any_of(look.pins, is_pin)));
}
bool check_alone(const Match& match) {
    const Rows rows = weights_of(match.state);
    const Index row = compare_look(match.state).cell.row;
    if (row >= rows.rows) return true;
    Index keys = 0;
    bool finite = true;
    for (Index j = 0; j < rows.columns; ++j) {
        if (!allows(match.state, row, j)) continue;
        ++keys;
        finite = finite && std::isfinite(rows_of(match.state, Stage::masked)(row, j)) &&
                 std::isfinite(rows(row, j));
    }
    return keys <= 1 || !finite;
}
bool check_masked_pair(const Match& match) {
    const auto [i, j] = compare_look(match.state).cell;
    const Document& document = match.state.document();
    return i >= document.size.tq || j >= document.size.tk || !allows(match.state, i, j);
}

bool check_infinite_score(const Match& match) {
    const auto [i, j] = compare_look(match.state).cell;
    return allows(match.state, i, j) &&
           rows_of(match.state, Stage::masked).row(i)[static_cast<std::size_t>(j)] ==
               -std::numeric_limits<double>::infinity();
}

/// The scores of the row in which the pair is, and the sink at their end.
std::vector<double> scores_of_row(const AppState& state, const Reach& reach) {
    const auto row = rows_of(state, Stage::masked).row(reach.row);
    std::vector<double> s(row.begin(), row.end());
    const Tensor& sinks = state.document().inputs->params[Param::sinks];
    if (!sinks.empty()) s.push_back(sinks(0, 0, 0, state.head));
    return s;
}
double softmax_at(const std::vector<double>& s, Index j) {
    const double most = std::ranges::max(s);
    double sum = 0.0;
    for (const double each : s) sum += std::exp(each - most);
    return std::exp(s[j] - most) / sum;
}
/// The selected weight after a step of its query, or of its key's word.
double weight_after(const AppState& state, const Reach& reach, const std::vector<double>& change,
                    bool query) {
    const Rows k = rows_of(state, Stage::k), q = rows_of(state, Stage::q),
               w_k = query ? Rows{} : Rows(sheet_of(state, Param::w_k).values);
    const double factor = product_factor(state.document().spec, k.columns);
    std::vector<double> s = scores_of_row(state, reach);
    for (Index j = 0; j < k.rows; ++j)
        for (Index c = 0; c < k.columns && (query || j == reach.column); ++c) {
            double key = query ? k(j, c) : 0.0;
            for (Index m = 0; m < w_k.rows; ++m) key += change[m] * w_k(m, c);
            s[j] += factor * key * (query ? change[c] : q(reach.row, c));
        }
    return softmax_at(s, reach.column);
}
double target_of(const AppState& state) { return compare_look(state).target; }

/// The step of a query or a word that gives the weight its target: its length and largest entry, and that it does.
bool check_step(const Match& match) {
    const Reach reach = reach_of(match.state);
    const bool query = match.part[0] == "q";
    const auto& change = query ? reach.query : reach.word;
    if (change.empty() ||
        std::abs(weight_after(match.state, reach, change, query) - target_of(match.state)) > 1e-6)
        return false;
    double squares = 0.0;
    std::vector<double> sizes;
    for (const double each : change) squares += each * each, sizes.push_back(std::abs(each));
    if (!shows(match.part[1], std::sqrt(squares))) return false;
    if (match.part.size() < 3) return squares == 0.0;
    const auto [at, others] = tied(match.part[3]);
    const auto n = static_cast<std::size_t>(match.count(2));
    return is_most(sizes, n) && count_largest(sizes) == 1 + others &&
           shows(at.starts_with("+") ? at.substr(1) : at, change[n]);
}
/// "How to change A[it, animal] from 0.65 to 0.5"
bool check_asked(const Match& match) {
    const Reach reach = reach_of(match.state);
    const auto cell = named(match.state, match.part[0]);
    return cell && cell->stage == Stage::weights && cell->row == reach.row &&
           cell->column == reach.column && shows(match.part[2], target_of(match.state)) &&
           shows(match.part[1], softmax_at(scores_of_row(match.state, reach), reach.column));
}
/// "Δs = +0.5: 4.9 → 5.4": that score alone, s = ln(p / (1 − p)) + ln Σ exp of the others.
bool check_score_step(const Match& match) {
    const Reach reach = reach_of(match.state);
    std::vector<double> others = scores_of_row(match.state, reach);
    const double own = others[reach.column];
    others.erase(others.begin() + reach.column);
    const double most = std::ranges::max(others), p = target_of(match.state);
    double sum = 0.0;
    for (const double each : others) sum += std::exp(each - most);
    const double wanted = std::log(p / (1.0 - p)) + most + std::log(sum);
    return shows(match.part[1], own) && shows(match.part[2], wanted) &&
           std::abs(match.number(0) - (wanted - own)) <= 0.006 * std::abs(wanted - own) + 1e-4;
}
/// A step of q moves the scores of all keys that have a weight alike.
bool check_moves_alike(const Match& match) {
    const Reach reach = reach_of(match.state);
    const Rows k = rows_of(match.state, Stage::k);
    const double factor = product_factor(match.state.document().spec, k.columns);
    for (const auto [j, c] : each_cell(k))
        if (std::isfinite(rows_of(match.state, Stage::masked)(reach.row, j)) &&
            factor * k(j, c) != factor * k(reach.column, c))
            return false;
    return true;
}
bool check_no_slope(const Match& match) {  // W_K q = 0
    const Reach reach = reach_of(match.state);
    const Rows w_k = sheet_of(match.state, Param::w_k).values, q = rows_of(match.state, Stage::q);
    const double factor = product_factor(match.state.document().spec, q.columns);
    double squares = 0.0;
    for (Index m = 0; m < w_k.rows; ++m) {
        double sum = 0.0;
        for (Index c = 0; c < w_k.columns; ++c) sum += factor * w_k(m, c) * q(reach.row, c);
        squares += sum * sum;
    }
    return squares == 0.0;
}
/// Half a unit in the last place of terms of that size, times as many as can be, moves a weight.
bool check_rounded_away(const Match& match) { return match.number(0) * 0x1p-53 * 1e4 > 1e-6; }

// ---- Heads

const HeadsResult& heads_of(const AppState& state) { return *heads_look(state).result; }

// ---- an alignment, by its words: every pair of queries and keys is looked at again

struct Joined {
    Index targets = 0, sources = 0, crossings = 0, all = 0;
};
Joined joined_of(const AppState& state) {
    const AlignedParts parts = aligned_parts(state);
    const Rows weights = heads_of(state).weights({state.document().layer, state.head});
    std::vector<std::pair<Index, Index>> lines;
    for (const Index query : parts.queries)
        for (const Index key : parts.keys)
            if (weights(query, key) > 0.5F) lines.emplace_back(query, key);
    std::vector<Index> sources;
    Joined joined;
    for (const auto& [query, key] : lines) {
        sources.push_back(key);
        for (const auto& [other, source] : lines)
            if (other < query && source > key) ++joined.crossings;
    }
    std::ranges::sort(sources);
    joined.sources = std::unique(sources.begin(), sources.end()) - sources.begin();
    joined.targets = std::ssize(lines);
    joined.all = std::ssize(parts.queries);
    return joined;
}
bool is_shown_head(const Match& match) {
    return match.part[0] == head_name({match.state.document().layer, match.state.head});
}
/// "{} joins {} of {} target word{} to {} source word{} with a weight above 0.5; {}"
bool check_joined(const Match& match) {
    const Joined joined = joined_of(match.state);
    const std::string crossings = joined.crossings == 0 ? "no lines cross"
                                  : joined.crossings == 1
                                      ? "1 pair of lines crosses"
                                      : fmt::format("{} pairs of lines cross", joined.crossings);
    return is_shown_head(match) && joined.targets > 0 && match.count(1) == joined.targets &&
           match.count(2) == joined.all && match.count(4) == joined.sources &&
           match.part[6] == crossings;
}
/// "{} joins none of {} target word{} to a source word with a weight above 0.5"
bool check_joins_none(const Match& match) {
    const Joined joined = joined_of(match.state);
    return is_shown_head(match) && joined.targets == 0 && match.count(1) == joined.all;
}
/// "Without {} (its output set to 0), the probability of “{}”, {} most likely answer at “{}”, stays at {}",
/// "… goes from {} to {}"
bool check_answer(const Match& match) {
    const HeadAnswer& answer = *heads_look(match.state).answer;
    const bool stays = match.part.size() == 5;
    return is_shown_head(match) && match.part[1] == answer.text &&
           match.part[2] == (answer.ties > 0 ? "one" : "the") &&
           shows(match.part[4], answer.before) && shows(match.part[stays ? 4 : 5], answer.after);
}
std::optional<HeadMeasure> measure_titled(std::string_view title) {
    for (const HeadMeasureInfo& each : head_measure_table()) {
        std::string lower(title);
        lower.front() = static_cast<char>(std::tolower(lower.front()));
        if (each.title == lower || each.title == title) return each.measure;
    }
    return std::nullopt;
}
std::vector<double> values_of(const HeadsResult& result, HeadMeasure measure) {
    std::vector<double> all;
    for (const HeadFacts& each : result.heads)
        if (each.measures[measure]) all.push_back(*each.measures[measure]);
    return all;
}
/// "0.1687 (L0 H1)", "0.25 (L0 H1 and 2 others)".
bool is_extreme(const HeadsResult& result, HeadMeasure measure, std::string_view match, bool most) {
    const auto parts = parts_of("{} (L{} H{})", match);
    if (!parts) return false;
    auto values = values_of(result, measure);
    if (!most)
        for (double& each : values) each = -each;
    const auto head = split((*parts)[2], " and ");
    const Index others =
        head.size() < 2 ? 0 : static_cast<Index>(number_of(split(head[1], " ")[0]));
    const HeadFacts* const facts = result.find(
        {static_cast<Index>(number_of((*parts)[1])), static_cast<Index>(number_of(head[0]))});
    const double value = *facts->measures[measure];
    return (most ? value : -value) == std::ranges::max(values) &&
           count_largest(values) == 1 + others && shows(split((*parts)[0], " ")[0], value);
}
bool check_sorted(const Match& match) {
    const auto measure = measure_titled(match.part[0]);
    return measure && is_extreme(heads_of(match.state), *measure, match.part[1], true) &&
           is_extreme(heads_of(match.state), *measure, match.part[2], false) &&
           split(match.part[1], " ")[0] != split(match.part[2], " ")[0];
}
bool check_sorted_alike(const Match& match) {
    const auto measure = measure_titled(match.part[0]);
    const auto values =
        measure ? values_of(heads_of(match.state), *measure) : std::vector<double>();
    return std::ssize(values) == match.count(2) && values.size() > 1 &&
           shows(split(match.part[1], " ")[0], std::ranges::min(values)) &&
           shows(split(match.part[1], " ")[0], std::ranges::max(values));
}
bool check_undefined(const Match& match) {
    const auto measure = measure_titled(split(match.part[0], ": ").back());
    return measure && values_of(heads_of(match.state), *measure).empty();
}
bool check_named_head(const Match& match) {
    const HeadsResult& result = heads_of(match.state);
    const auto to = split(match.part[3], ", the most of the ");
    const std::string_view deed = to[0];
    const HeadMeasure measure = deed == "the previous token" ? HeadMeasure::previous
                                : deed == "the token itself" ? HeadMeasure::diagonal
                                : deed == "the next token"   ? HeadMeasure::next
                                : deed == "the first token"  ? HeadMeasure::sink
                                : deed == "the token after an earlier copy"
                                    ? HeadMeasure::induction
                                    : HeadMeasure::duplicate;
    const HeadFacts* const facts = result.find({match.count(0), match.count(1)});
    if (!facts || !facts->measures[measure] || !shows(match.part[2], *facts->measures[measure]))
        return false;
    const auto values = values_of(result, measure);
    const bool first =
        *facts->measures[measure] == std::ranges::max(values) && count_largest(values) == 1;
    return to.size() < 2
               ? true
               : first && parts_of("{} heads", to[1]) &&
                     number_of(split(to[1], " ")[0]) == static_cast<double>(result.heads.size());
}
bool check_even_head(const Match& match) {
    const HeadFacts* const facts = heads_of(match.state).find({match.count(0), match.count(1)});
    const auto even = facts ? facts->measures[HeadMeasure::evenness] : std::nullopt;
    return even && *even > 0.9 && !facts->label && shows(match.part[2], *even);
}
bool check_unnamed(const Match& match) {
    const HeadsResult& result = heads_of(match.state);
    const bool none = std::ranges::none_of(
        result.heads, [](const HeadFacts& each) { return each.label.has_value(); });
    return none && (match.part.size() > 1 ? result.heads.size() == 1
                                          : std::ssize(result.heads) == match.count(0));
}
/// "L0 H0 looks most at tired (97 %), L0 H1 at tired (81 %)" of the row of a word.
bool check_word_heads(const Match& match) {
    const HeadsResult& result = heads_of(match.state);
    const Index row = match.state.document().read_out.position;
    std::string_view rest = match.part[1];
    if (axis_label(match.state, Axis::query, row) != match.part[0]) return false;
    const std::string_view all = rest;
    for (const bool spread : {false, true})  // heads whose row has no large weight come last
        for (const HeadFacts& facts : result.heads) {
            const auto weights = result.weights(facts.place).row(row);
            const auto key = std::ranges::max_element(weights);
            if ((*key < 0.3F) != spread) continue;
            const std::string name = fmt::format("L{} H{}", facts.place.layer, facts.place.head);
            const std::string head =
                spread ? name + " spreads its weights (at most "
                       : fmt::format("{}{} at {} (", name, rest == all ? " looks most" : "",
                                     axis_label(match.state, Axis::key, key - weights.begin()));
            if (!rest.starts_with(head) || std::ranges::count(weights, *key) != 1) return false;
            rest.remove_prefix(head.size());
            const auto end = rest.find(')');
            if (!shows(rest.substr(0, end), static_cast<double>(*key))) return false;
            rest.remove_prefix(std::min(rest.size(), end + 3));
        }
    return rest.empty();
}
bool check_sharpest(const Match& match) {
    const HeadsResult& result = heads_of(match.state);
    Index less = 0;
    bool named = false;
    for (const HeadFacts& head : result.heads) {
        const auto& entropy = head.measures[HeadMeasure::entropy];
        if (head.label || std::ssize(result.heads) != match.count(0)) return false;
        if (!entropy) continue;
        less += *entropy < match.number(3) - 6e-5;
        named |= head.place == HeadPlace{match.count(1), match.count(2)} &&
                 shows(match.part[3], *entropy);
    }
    return named && less == 0;
}
bool check_no_measure(const Match& match) {
    return values_of(heads_of(match.state), HeadMeasure::entropy).empty();
}
bool check_odd_rows(const Match& match) {
    const Tensor& weights = (*match.state.trace)[Stage::weights];
    Index odd = 0, rows = 0;
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (const auto [h, i] : each_cell(weights.shape().h, weights.shape().t)) {
        double sum = 0.0;
        for (const float each : Rows(weights.matrix(match.state.batch, h)).row(i)) sum += each;
        ++rows;
        if (std::abs(sum - 1.0) <= kUnitRow ||
            (sum == 0.0 && match.text.find("sink") == match.text.npos))
            continue;
        ++odd;
        if (std::isnan(sum)) continue;
        low = std::min(low, sum), high = std::max(high, sum);
    }
    const auto sums = parts_of("{}(Σ from {} to {}){}", match.text);
    return odd == match.count(1) &&
           rows == static_cast<Index>(number_of(split(match.part[2], " ")[0])) &&
           (!sums || (shows((*sums)[1], low) && shows((*sums)[2], high)));
}
/// Rows of the layer that may attend to a key; `excluded`: whose weights are not probabilities.
struct RowCount {
    Index all = 0, excluded = 0;
};
RowCount row_count(const HeadsResult& result, HeadPlace place) {
    RowCount count;
    const auto weights = result.weights(place);
    const auto& allowed = result.allowed(place);
    const bool sinks = result.layers[place.layer].sinks;
    for (Index i = 0; i < weights.rows; ++i) {
        double sum = 0.0, least = 0.0;
        Index keys = 0;
        for (Index j = 0; j < weights.columns; ++j) {
            if (!allowed.empty() && allowed[i * weights.columns + j] == 0) continue;
            ++keys, sum += weights(i, j);
            least = std::min(least, double{weights(i, j)});
        }
        if (keys == 0) continue;
        ++count.all;
        const bool sums = sinks ? sum > 0.0 && sum <= 1.002 : std::abs(sum - 1.0) <= 0.002;
        count.excluded += sums && least == 0.0 ? 0 : 1;
    }
    return count;
}
/// "Layer 0: 1 of 5 rows of weights is not a probability distribution; no measure counts it".
bool check_excluded_rows(const Match& claim) {
    const HeadsResult& result = heads_of(claim.state);
    RowCount all;
    for (Index head = 0; head < result.layers.at(claim.count(0)).heads; ++head) {
        const RowCount one = row_count(result, {claim.count(0), head});
        all.all += one.all, all.excluded += one.excluded;
    }
    return all.excluded == claim.count(1) && all.all == count_of(split(claim.part[2], " ")[0]);
}
/// "measured rows: 4 of 5; the weights of the others are not probabilities": of a head that is shown or hovered.
bool check_measured_rows(const Match& claim) {
    const HeadsResult& result = heads_of(claim.state);
    return std::ranges::any_of(result.heads, [&](const HeadFacts& each) {
        const RowCount count = row_count(result, each.place);
        return count.all - count.excluded == claim.count(0) && count.all == claim.count(1);
    });
}
bool check_shown_count(const Match& match) {
    const HeadsLook& look = heads_look(match.state);
    const auto passing =
        std::ranges::count_if(heads_of(match.state).heads,
                              [&](const HeadFacts& each) { return passes(look.filter, each); });
    return passing == match.count(0) &&
           std::ssize(heads_of(match.state).heads) == static_cast<Index>(number_of(match.part[1]));
}
Sides head_sides(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    return {head_matrix(*look.result, look.show, *look.pinned[0]).values,
            head_matrix(*look.result, look.show, *look.pinned[1]).values};
}
bool check_heads_differ(const Match& match) {
    const Sides sides = head_sides(match.state);
    const auto all = distances(sides);
    const NamedCell cell = named_pair(match.state, match.part[0]);
    if (cell.row < 0) return false;
    const double by = double{sides.a(cell.row, cell.column)} - sides.b(cell.row, cell.column);
    return std::abs(by) == std::ranges::max(all) && count_largest(all) == 1 + cell.others &&
           shows(match.part[1], by);
}
bool is_ablation(const AppState& state, std::string_view text) {
    const Ablation by = heads_look(state).ablation;
    return text == (by == Ablation::zero   ? "0"
                    : by == Ablation::mean ? "its mean over positions"
                                           : "its counterpart in the other text");
}
/// Of each change: KL, or its size; −1 where there is none.
std::vector<double> swept_sizes(const AppState& state) {
    const HeadSweep& sweep = heads_look(state).swept->sweep;
    std::vector<double> all;
    for (const SweptHead& each : sweep.swept) {
        const double size = heads_look(state).sweep_show == SweepShow::kl
                                ? each.kl
                                : std::abs(each.difference - sweep.difference);
        all.push_back(std::isnan(size) ? -1.0 : size);
    }
    return all;
}
std::string swept_place(const AppState& state, const SweptHead& each) {
    const HeadSweep& sweep = heads_look(state).swept->sweep;
    if (sweep.part == SweepPart::heads) return "the context of " + head_name(each.at);
    const std::string token = axis_labels(state, Axis::query, sweep.positions)[each.position];
    return sweep.part == SweepPart::mlp
               ? fmt::format("the MLP output of layer {} at {}", each.at.layer, token)
               : fmt::format("the input of layer {} at {}", each.at.layer, token);
}
/// It is the largest, and as many others are as large.
const SweptHead* most_swept(const AppState& state, std::string_view place, Index others) {
    const auto all = swept_sizes(state);
    const auto most = static_cast<std::size_t>(std::ranges::max_element(all) - all.begin());
    const SweptHead& found = heads_look(state).swept->sweep.swept[most];
    return swept_place(state, found) == place && count_largest(all) == 1 + others ? &found
                                                                                  : nullptr;
}
bool check_swept_kl(const Match& match) {
    const SweptHead* const most =
        most_swept(match.state, match.part[0], tied(match.part[3]).others);
    return most != nullptr && is_ablation(match.state, match.part[1]) &&
           shows(match.part[2], most->kl);
}
bool check_swept_logits(const Match& match) {
    const auto [from, others] = tied(match.part[4]);
    const SweptHead* const most = most_swept(match.state, match.part[1], others);
    const HeadSweep& sweep = heads_look(match.state).swept->sweep;
    return most != nullptr && is_ablation(match.state, match.part[2]) &&
           shows(match.part[3], most->difference - sweep.difference) &&
           shows(from, sweep.difference);
}
bool check_none_swept(const Match& match) {
    return is_ablation(match.state, match.part[1]) &&
           std::ranges::max(swept_sizes(match.state)) == 0.0;
}
/// The largest value stands at that row and column, and so many others are as large.
bool is_most_of_circuit(const AppState& state, std::string_view row, std::string_view column,
                        std::string_view value) {
    const HeadsLook& look = heads_look(state);
    const ModelCircuit& circuit = *look.circuit->circuit;
    const bool ov = look.circuit_show == CircuitShow::ov;
    const TokenProduct& product = ov ? circuit.over.ov : circuit.over.qk;
    const auto [text, others] = tied(value);
    const auto& names = ov ? circuit.written : circuit.read;
    const Index i = labelled(state, Axis::query, row);
    const Index j = look.circuit_over == CircuitOver::text
                        ? labelled(state, Axis::key, column)
                        : std::ranges::find(names, column) - names.begin();
    const auto values = product.values.values();
    if (i < 0 || j < 0 || j >= product.values.shape().d) return false;
    const float most = std::ranges::max(values);
    return product.values(0, 0, i, j) == most && shows(text, most) &&
           std::ranges::count(values, most) == 1 + others;
}
bool check_most_qk(const Match& match) {
    return head_name(heads_look(match.state).circuit->circuit->at) == match.part[0] &&
           is_most_of_circuit(match.state, match.part[1], match.part[2], match.part[3]);
}
bool check_most_ov(const Match& match) {
    return is_most_of_circuit(match.state, match.part[0], match.part[1], match.part[2]);
}
bool check_least_ov(const Match& match) {
    return is_most_of_circuit(match.state, match.part[0], match.part[1], "−" + match.part[2]);
}
bool check_composed(const Match& match) {
    const ModelCircuit& circuit = *heads_look(match.state).circuit->circuit;
    const auto [text, others] = tied(match.part[4]);
    double most = 0.0, stated = -1.0;
    Index as_much = -1;
    for (const bool count : {false, true})
        for (const Composition& each : circuit.composed)
            for (const auto& [name, share] :
                 {std::pair{"Q", each.q}, std::pair{"K", each.k}, std::pair{"V", each.v}}) {
                if (!count) most = std::max(most, share);
                if (count && share == most) ++as_much;
                if (head_name(each.earlier) == match.part[2] && name == match.part[3])
                    stated = share;
            }
    return circuit.at == HeadPlace{match.count(0), match.count(1)} && stated == most &&
           shows(text, most) && as_much == others;
}
std::string node_name(const ModelNode& node) {
    if (node.kind == NodeKind::head) return head_name(node.at);
    if (node.kind == NodeKind::mlp) return "MLP " + std::to_string(node.at.layer);
    return node.kind == NodeKind::logits ? "logits" : "embedding";
}
/// The changes by edges between heads, in a model of one layer by all.
std::vector<std::pair<std::string, double>> compared_edges(const AppState& state,
                                                           std::string_view among) {
    const PathEdges& made = heads_look(state).circuit->edges->made;
    std::vector<std::pair<std::string, double>> some;
    for (const PathEdge& edge : made.edges) {
        const bool heads =
            edge.sender.kind == NodeKind::head && edge.receiver.kind == NodeKind::head;
        if (heads == (made.layers > 1))
            some.emplace_back(node_name(edge.sender) + " → " + node_name(edge.receiver),
                              edge.change);
    }
    if (among != (made.layers > 1 ? "between heads" : "in this model")) some.clear();
    return some;
}
bool is_edges_difference(const AppState& state, std::string_view text) {
    const SweptModel& swept = *heads_look(state).circuit;
    return text == "logit " + swept.a + " − logit " + swept.b;
}
bool check_most_edge(const Match& match) {
    const auto [text, others] = tied(match.part[3]);
    double most = 0.0;
    Index as_much = -1;
    bool named = false;
    const auto edges = compared_edges(match.state, match.part[0]);
    for (const auto& [name, change] : edges) most = std::min(most, change);
    for (const auto& [name, change] : edges)
        if (change == most) ++as_much, named = named || name == match.part[1];
    return most < 0.0 && named && as_much == others && shows(text, -most) &&
           is_edges_difference(match.state, match.part[2]);
}
bool check_no_edge(const Match& match) {
    const auto edges = compared_edges(match.state, match.part[0]);
    return !edges.empty() && is_edges_difference(match.state, match.part[1]) &&
           std::ranges::all_of(edges, [](const auto& edge) { return edge.second >= 0.0; });
}
/// "Largest attention weight at “it”: tired 0.97", "…: 2 keys 0.50", of some head
bool check_edge_weights(const Match& match) {
    const ModelEdges& edges = *heads_look(match.state).circuit->edges;
    const auto token = [&](Index at) {
        return shown_token(edges.tokens[static_cast<std::size_t>(at)]);
    };
    const auto space = match.part[1].rfind(' ');
    return match.part[0] == token(edges.made.position) &&
           std::ranges::any_of(edges.weights, [&](const LargestWeight& each) {
               const std::string key =
                   each.ties > 0 ? std::to_string(each.ties + 1) + " keys" : token(each.key);
               return match.part[1].substr(0, space) == key &&
                      shows(match.part[1].substr(space + 1), each.weight);
           });
}
bool check_undefined_edges(const Match& match) {
    return std::ranges::count_if(
               heads_look(match.state).circuit->edges->made.edges,
               [](const PathEdge& edge) { return !std::isfinite(edge.change); }) == match.count(0);
}
bool check_heads_same(const Match& match) {
    return std::ranges::max(distances(head_sides(match.state))) == 0.0;
}

constexpr Claim kClaims[] = {
    {"{} of {} numbers of {} differ, most at {}: {} → {}", check_differing},
    {"No number of {} differs from the baseline ({} compared)", check_same_stage},
    {"{} joins {} of {} target word{} to {} source word{} with a weight above 0.5; {}",
     check_joined},
    {"{} joins none of {} target word{} to a source word with a weight above 0.5",
     check_joins_none},
    {"Without {} (its output set to 0), the probability of “{}”, {} most likely answer at “{}”, "
     "stays at {}",
     check_answer},
    {"Without {} (its output set to 0), the probability of “{}”, {} most likely answer at “{}”, "
     "goes from {} to {}",
     check_answer},
    {"{} · scaling {} · head {}", check_pin_text},
    {"Nothing differs from the baseline yet: S switches scaling", check_same_pin},
    {"This weight cannot change: its row has only one key, or contains a number that is not finite",
     check_alone},
    {"The pair is masked, so no change here gives it a weight", check_masked_pair},
    {"The score is −∞, so no change here gives it a weight", check_infinite_score},
    {"‖Δ{}‖ = {}, most in column {}: {}", check_step},
    {"‖Δ{}‖ = {}", check_step},
    {"How to change {} from {} to {}", check_asked},
    {"Δs = {}: {} → {}", check_score_step},
    {"not available: these scores are not dot products, so they are not linear in the vector",
     [](const Match& match) { return match.state.document().spec.score != Score::dot; }},
    {"not available: RoPE rotates queries and keys before the product",
     [](const Match& match) { return match.state.document().spec.rope.has_value(); }},
    {"not available: the soft cap makes the scores nonlinear",
     [](const Match& match) { return match.state.document().spec.softcap.has_value(); }},
    {"not available: K is given, not computed from words",
     [](const Match& match) { return !match.state.document().inputs->projects(); }},
    {"not available: this word is both query and key",
     [](const Match& match) {
         const Reach reach = reach_of(match.state);
         return reach.row == reach.column && match.state.document().inputs->x_kv.empty();
     }},
    {"not available: no query lowers this weight: every score of the row changes equally",
     check_moves_alike},
    {"not available: no step of the word's vector changes this score: W_K q is 0", check_no_slope},
    {"not available: the rounding error of terms of size {} exceeds the precision of a weight",
     check_rounded_away},
    {"{}: from {} down to {}", check_sorted},
    {"{}: {} in each of {} heads", check_sorted_alike},
    {"{} is not defined for any head here{}", check_undefined},
    {"L{} H{} gives a mean weight of {} to {}", check_named_head},
    {"L{} H{} spreads its weights: its mean evenness is {}", check_even_head},
    {"For “{}”, {}", check_word_heads},
    {"None of the {} heads has a label; L{} H{} has the lowest entropy: {} nats", check_sharpest},
    {"None of the {} heads has a label", check_unnamed},
    {"L{} H{} has no label", check_unnamed},
    {"No measure is defined: {}", check_no_measure},
    {"Layer {}: {} of {} of weights do{} not sum to 1{}", check_odd_rows},
    {"Layer {}: {} of {} of weights is not a probability distribution; no measure counts it",
     check_excluded_rows},
    {"Layer {}: {} of {} of weights are not probability distributions; no measure counts them",
     check_excluded_rows},
    {"measured rows: {} of {}; the weights of the others are not probabilities",
     check_measured_rows},
    {"{} of {} shown: {}", check_shown_count},
    {"{} of {} shown", check_shown_count},
    {"A and B differ most at {}: A − B = {}", check_heads_differ},
    {"No {} differs between A and B", check_heads_same},
    {"KL(untouched‖changed) of the next token is largest when {} is replaced by {}: {} nats{}",
     check_swept_kl},
    {"{} changes most when {} is replaced by {}: by {} from {}", check_swept_logits},
    {"No head changes {} if its context is replaced by {}", check_none_swept},
    {"No MLP output at one position changes {} if it is replaced by {}", check_none_swept},
    {"No layer's input at one position changes {} if it is replaced by {}", check_none_swept},
    {"No token raises a logit when this head attends to it",
     [](const Match& match) {
         return std::ranges::max(
                    heads_look(match.state).circuit->circuit->over.ov.values.values()) == 0.0F;
     }},
    {"QK of {} is largest for query “{}” and key “{}”: {}", check_most_qk},
    {"Attending to “{}” raises the logit of “{}” most: by {}", check_most_ov},
    {"Attending to “{}” lowers the logit of “{}” least: by {}", check_least_ov},
    {"L{} H{} composes most with {}: {} {}", check_composed},
    {"Of the edges {}, cutting {} lowers {} most: by {}", check_most_edge},
    {"No cut of an edge {} lowers {}", check_no_edge},
    {"Largest attention weight at “{}”: {}", check_edge_weights},
    {"{} edge{} without a finite change", check_undefined_edges},
    {"Row {}: {} get {} each under {}, {} under {}",
     [](const Match& match) { return match.part[2] != match.part[4]; }},
    {"Row {}: {} get {} together under {}, {} under {}",
     [](const Match& match) { return match.part[2] != match.part[4]; }},
    {"Row {}: key {} gets {} under {}, {} under {}",
     [](const Match& match) { return match.part[2] != match.part[4]; }},
};

}  // namespace

std::span<const Claim> pair_claims() { return kClaims; }

}  // namespace attn::view

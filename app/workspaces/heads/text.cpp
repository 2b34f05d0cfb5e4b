#include "app/workspaces/heads/text.h"

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/heads.h"
#include "app/common/document/intervention_effects.h"
#include "app/common/document/model_text.h"
#include "app/common/format.h"
#include "app/common/pair.h"
#include "app/common/request.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/workspaces/heads/corpus.h"
#include "app/workspaces/heads/grids.h"
#include "app/workspaces/heads/image.h"
#include "core/heads/matrix.h"
#include "core/io/npy.h"
#include "core/metrics.h"
#include "core/scores/score.h"
#include "core/text.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

using enum HeadMeasure;

constexpr double kShownTie = 0.01;  // of shares that two decimals may show as one

/// What a head does with its weights, of its name: "gives … to the previous token".
std::string deed(HeadMeasure name, const std::string& share) {
    const char* const to = name == previous    ? "the previous token"
                           : name == diagonal  ? "the token itself"
                           : name == next      ? "the next token"
                           : name == duplicate ? "the same token elsewhere"
                           : name == induction ? "the token after an earlier copy"
                                               : "the first token";
    return fmt::format("gives a mean weight of {} to {}", share, to);
}

/// ", more than any other of the 8 heads"; "" where another gives as much.
std::string rank_text(const HeadsResult& result, const HeadFacts& best, HeadMeasure measure) {
    const double value = *best.measures[measure];
    const auto others = std::ranges::count_if(result.heads, [&](const HeadFacts& each) {
        return !(each.place == best.place) && each.measures[measure].value_or(-1.0) >= value;
    });
    if (others > 0 || result.heads.size() < 2) return {};
    return fmt::format(", the most of the {} heads", result.heads.size());
}

/// The head whose label stands out most; nullptr: none has one.
const HeadFacts* most_named(const HeadsResult& result) {
    const HeadFacts* best = nullptr;
    const auto weight = [](const HeadFacts& facts) {
        return facts.label->lift() - (facts.label->name == sink ? 1.0 : 0.0);  // a sink comes last
    };
    for (const HeadFacts& facts : result.heads)
        if (facts.label && (best == nullptr || weight(facts) > weight(*best))) best = &facts;
    return best;
}

/// Where most of its weight goes in the mean of its rows; nothing where two of them print alike.
std::optional<HeadMeasure> most_looked_at(const HeadFacts& head) {
    std::optional<HeadMeasure> most;
    bool tied = false;
    for (const HeadMeasure each : {previous, diagonal, next, duplicate, induction, sink}) {
        if (!head.measures[each]) continue;
        const double ahead = *head.measures[each] - (most ? *head.measures[*most] : 0.0);
        tied = ahead > kShownTie ? false : tied || ahead > -kShownTie;
        if (!most || ahead > 0.0) most = each;
    }
    return tied ? std::nullopt : most;
}

/// "; L0 H3 is the sharpest: entropy 2.31 nats"; "" where two are as sharp, as they are printed.
std::string sharpest_text(const HeadsResult& result) {
    std::vector<const HeadFacts*> known;
    for (const HeadFacts& head : result.heads)
        if (head.measures[entropy]) known.push_back(&head);
    const auto by_entropy = [](const HeadFacts* head) { return *head->measures[entropy]; };
    std::ranges::sort(known, {}, by_entropy);
    const std::string least = number(by_entropy(known.front()));
    if (known.size() > 1 && number(by_entropy(known[1])) == least) return {};
    return fmt::format("; {} has the lowest entropy: {} nats", head_name(known.front()->place),
                       least);
}

std::string deed_of(const HeadFacts& head, HeadMeasure measure) {
    return fmt::format("{} {}", head_name(head.place),
                       deed(measure, cell_number(*head.measures[measure], 2)));
}

constexpr double kEven = 0.9;  // of evenness: above it no token is named

/// "L0 H0 spreads its weights: its mean evenness is 0.94"; "" of a head with a label, or that is not even.
std::string even_text(const HeadFacts& head) {
    const auto& even = head.measures[evenness];
    if (head.label || !even || !(*even > kEven)) return {};
    return fmt::format("{} spreads its weights: its mean evenness is {}", head_name(head.place),
                       cell_number(*even, 2));
}

std::string unnamed_text(const HeadsResult& result) {
    const bool any = std::ranges::any_of(
        result.heads, [](const HeadFacts& facts) { return facts.measures[entropy].has_value(); });
    if (!any) return "No measure is defined: no row of weights is a probability distribution.";
    if (result.heads.size() > 1)
        return fmt::format("None of the {} heads has a label{}.", result.heads.size(),
                           sharpest_text(result));
    const HeadFacts& head = result.heads.front();
    if (const std::string even = even_text(head); !even.empty()) return even + ".";
    const auto most = most_looked_at(head);
    if (!most) return fmt::format("{} has no label.", head_name(head.place));
    return deed_of(head, *most) + ".";
}

std::string standing_out(const HeadsResult& result) {
    const HeadFacts* const best = most_named(result);
    if (best == nullptr) return unnamed_text(result);
    const HeadMeasure name = best->label->name;
    return fmt::format("{}{}.", deed_of(*best, name), rank_text(result, *best, name));
}

/// The largest measure of the shown head; then the head that stands out most, if it is another.
std::string shown_and_standing_out(const HeadsResult& result, HeadPlace shown) {
    const HeadFacts* const head = result.find(shown);
    const HeadFacts* const best = most_named(result);
    if (head == nullptr || head == best || result.heads.size() == 1) return standing_out(result);
    if (const std::string even = even_text(*head); !even.empty())
        return fmt::format("{}. {}", even, standing_out(result));
    const auto most = head->label ? std::optional(head->label->name) : most_looked_at(*head);
    if (!most) return standing_out(result);
    return fmt::format("{}. {}", deed_of(*head, *most), standing_out(result));
}

constexpr std::size_t kMostNamedHeads = 4;
constexpr double kSpread = 0.3;  // the largest weight of a row that is below: no key is named

/// The key with the largest weight of a row; nullopt where two are as large or a weight is NaN or infinite.
std::optional<Index> largest_key(std::span<const float> row) {
    if (!std::ranges::all_of(row, [](float weight) { return std::isfinite(weight); })) return {};
    const auto largest = std::ranges::max_element(row);
    if (std::ranges::count(row, *largest) > 1) return std::nullopt;
    return largest - row.begin();
}

/// "For “it”, L0 H0 looks most at tired (97 %), L1 H0 at animal (99 %), L0 H1 spreads its weights (at most 27 %).": of a small
/// model that reads a word, whose heads have no label; "" elsewhere.
std::string word_text(const AppState& state, const HeadsResult& result) {
    const Index row = state.document().read_out.position;
    const std::size_t heads = result.heads.size();
    if (row < 0 || heads < 2 || heads > kMostNamedHeads || most_named(result) != nullptr) return {};
    std::vector<std::string> items, spread;
    for (const HeadFacts& facts : result.heads) {
        const auto weights = result.weights(facts.place);
        if (row >= weights.rows) return {};
        const auto key = largest_key(weights.row(row));
        if (!key) return {};
        const auto weight = static_cast<double>(weights(row, *key));
        if (weight < kSpread)
            spread.push_back(fmt::format("{} spreads its weights (at most {})",
                                         head_name(facts.place), percent_text(weight)));
        else
            items.push_back(fmt::format("{}{} at {} ({})", head_name(facts.place),
                                        items.empty() ? " looks most" : "",
                                        axis_label(state, Axis::key, *key), percent_text(weight)));
    }
    items.insert(items.end(), spread.begin(), spread.end());
    return fmt::format("For “{}”, {}.", axis_label(state, Axis::query, row),
                       fmt::join(items, ", "));
}

/// "0.25 (L0 H1)", "0.25 (L0 H1 and 2 others)".
std::string extreme_text(const HeadsResult& result, HeadMeasure measure, const HeadFacts& facts) {
    const double value = *facts.measures[measure];
    double size = 0.0;
    for (const HeadFacts& each : result.heads)
        if (const auto& other = each.measures[measure]; other && std::isfinite(*other))
            size = std::max(size, std::abs(*other));
    const auto others =
        std::ranges::count_if(
            result.heads,
            [&](const HeadFacts& each) {
                const auto& other = each.measures[measure];
                return other && (*other == value || std::abs(*other - value) <= kTied * size);
            }) -
        1;
    return fmt::format("{} ({}{})", measure_text(measure, value), head_name(facts.place),
                       others == 0 ? "" : " and " + counted(others, "other"));
}

std::string sorted_text(const HeadsResult& result, HeadMeasure measure) {
    std::vector<const HeadFacts*> defined;
    for (const HeadPlace place : heads_in_order(result, std::string(info(measure).key)))
        if (const HeadFacts* const facts = result.find(place); facts->measures[measure])
            defined.push_back(facts);
    const std::string title = sentence(std::string(info(measure).title));
    const std::string bare = title.substr(0, title.size() - 1);
    if (defined.empty())
        return fmt::format("{} is not defined for any head here{}.", bare,
                           info(measure).asks.empty()
                               ? std::string()
                               : fmt::format(": it needs {}", info(measure).asks));
    const HeadFacts& most = *defined.front();
    const HeadFacts& least = *defined.back();
    const std::string text = measure_text(measure, most.measures[measure]);
    if (defined.size() > 1 && text == measure_text(measure, least.measures[measure]))
        return fmt::format("{}: {} in each of {} heads.", bare, text, defined.size());
    const std::string high = extreme_text(result, measure, most);
    if (defined.size() == 1) return fmt::format("{}: {}.", bare, high);
    return fmt::format("{}: from {} down to {}.", bare, high, extreme_text(result, measure, least));
}

/// What the heads that a corpus is sorted by show most; where they are not sorted, of all patterns the strongest.
HeadMeasure corpus_measure(const HeadsLook& look, const CorpusResult& corpus) {
    if (const auto sort = find_head_measure(look.sort); sort && *sort != HeadMeasure::change)
        return *sort;
    HeadMeasure most = HeadMeasure::sink;
    double largest = -1.0;
    for (const HeadMeasureInfo& each : head_measure_table())
        for (const CorpusHead& head : corpus.heads)
            if (is_head_label(each.measure))
                if (const double mean = head[each.measure].mean().value_or(-1.0); mean > largest)
                    largest = mean, most = each.measure;
    return most;
}

/// "Over 3 texts, L0 H1 has the largest “first token”: 0.36 ± 0.060, tied with 1 other."
std::string corpus_point(const HeadsLook& look, const CorpusResult& corpus) {
    const HeadMeasure measure = corpus_measure(look, corpus);
    const std::string_view title = info(measure).title;
    const CorpusHead* most = nullptr;
    for (const CorpusHead& head : corpus.heads)
        if (const auto mean = head[measure].mean();
            mean && (most == nullptr || *mean > *(*most)[measure].mean()))
            most = &head;
    if (most == nullptr)
        return fmt::format("Over {}, “{}” is not defined for any head.",
                           counted(corpus.texts, "text"), title);
    const MeasureStatistics& of = (*most)[measure];
    const double mean = *of.mean();
    const auto others = std::ranges::count_if(corpus.heads, [&](const CorpusHead& head) {
        const auto other = head[measure].mean();
        return other && mean - *other <= kTied * std::abs(mean);
    });
    return fmt::format("Over {}, {} has the largest “{}”: {} ± {}{}.",
                       of.texts == corpus.texts
                           ? counted(corpus.texts, "text")
                           : fmt::format("{} of {}", of.texts, counted(corpus.texts, "text")),
                       head_name(most->place), title, measure_text(measure, mean),
                       measured(of.deviation()), as_much_text(others - 1));
}

/// Rows of A against B. `none`: A has no weight there, or one is NaN.
struct Divergences {
    double sum = 0.0;
    Index finite = 0, infinite = 0, none = 0;
};
Divergences divergences(MatrixView<const float> a, MatrixView<const float> b) {
    Divergences all;
    for (Index i = 0; i < a.rows; ++i) {
        const double kl = row_divergence(a.row(i), b.row(i));
        const bool empty = std::ranges::count(a.row(i), 0.0F) == a.columns;
        if (empty || std::isnan(kl))
            ++all.none;
        else if (std::isinf(kl))
            ++all.infinite;
        else
            all.sum += kl, ++all.finite;
    }
    return all;
}

std::string divergence_description(const Divergences& all) {
    std::string text;
    if (all.finite > 0)
        text += fmt::format(" KL(A‖B) is {} nats in the mean of {}.",
                            number(all.sum / static_cast<double>(all.finite)),
                            counted(all.finite, "row"));
    if (all.infinite > 0)
        text += fmt::format(" {} ∞ in {}: B is 0 at a key where A is not.",
                            all.finite > 0 ? "It is" : "KL(A‖B) is",
                            all.finite + all.none > 0 ? counted(all.infinite, "row") : "every row");
    return text;
}

bool has_replaced_row(const Document& document, HeadPlace at) {
    const ModelOrigin* const model = model_of(document);
    return model != nullptr && std::ranges::find(model->changes.rows, at, &RowIntervention::at) !=
                                   model->changes.rows.end();
}

/// The interventions, what the output became, and the head that changed most: of those whose weights were not given.
std::string interventions_point(const AppState& state) {
    const Document& document = state.document();
    std::string text = without_text(document);
    if (text.empty() || !document.effects) return text;
    const HeadEffect* most = nullptr;
    for (const HeadEffect& effect : document.effects->run.heads)
        if (effect.changed() && !has_replaced_row(document, effect.at) &&
            (most == nullptr || effect.mean_kl() > most->mean_kl()))
            most = &effect;
    if (most == nullptr) return text + " No other head's weights change.";
    return fmt::format("{} Most changed: {}, {}.", text, head_name(most->at), change_text(*most));
}

/// Of two that are pinned.
std::string compare_point(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    const HeadMatrix one = head_matrix(*look.result, look.show, *look.pinned[0]);
    const HeadMatrix two = head_matrix(*look.result, look.show, *look.pinned[1]);
    if (!one.missing_data.empty() || !two.missing_data.empty())
        return undefined_text(state, large_heads(state));
    const auto& a = one.values;
    const auto& b = two.values;
    if (a.rows != b.rows || a.columns != b.columns)
        return fmt::format("A is {} and B is {}: heads of different sizes cannot be subtracted.",
                           size(a.rows, a.columns), size(b.rows, b.columns));
    std::vector<double> sizes;
    for (const auto [i, j] : each_cell(a)) sizes.push_back(std::abs(double{a(i, j)} - b(i, j)));
    const auto places = largest_places(std::span<const double>(sizes), kTied);
    const large::Cell at{places.empty() ? 0 : places.front() / a.columns,
                         places.empty() ? 0 : places.front() % a.columns};
    const double most = double{a(at.row, at.column)} - b(at.row, at.column);
    const std::string kl =
        look.show == HeadShow::weights ? divergence_description(divergences(a, b)) : std::string();
    const std::string_view what = look.show == HeadShow::weights ? "weight" : info(look.show).title;
    if (places.empty()) return fmt::format("No {} is a number in both A and B.{}", what, kl);
    if (most == 0.0) return fmt::format("No {} differs between A and B.{}", what, kl);
    return fmt::format("A and B differ most at {}: A − B = {}{}.{}",
                       pair_name(state, {at.row, at.column}), number(most),
                       as_much_text(std::ssize(places) - 1), kl);
}

}  // namespace

std::string label_rule() {
    return fmt::format(
        "A head gets a label if its weight on one kind of key is at least {} of the way from "
        "uniform to all weight ({} for key 0), over at least {} rows.",
        number(kNamedLift), number(kSinkLift), kLeastNamedRows);
}

std::string shown_name(HeadShow show, HeadPlace place) {
    if (show == HeadShow::weights) return head_name(place);
    if (show == HeadShow::rollout) return fmt::format("rollout up to layer {}", place.layer);
    return fmt::format("{} of {}", info(show).title, head_name(place));
}

std::string pin_letter(const HeadsLook& look, HeadPlace place) {
    if (look.pinned[0] == place) return "A";
    return look.pinned[1] == place ? "B" : "";
}

HeadPlace head_here(const AppState& state) { return {state.document().layer, state.head}; }

std::string measure_text(HeadMeasure measure, const std::optional<double>& value) {
    if (!value) return "not defined";
    if (measure == entropy || measure == HeadMeasure::change) return number(*value) + " nats";
    if (measure == distance) return number(*value) + (*value == 1.0 ? " token" : " tokens");
    return number(*value);
}

std::string measured(const std::optional<double>& value) {
    return value ? fmt::format("{:.3f}", *value) : "–";
}

std::string label_title(const HeadFacts& facts) {
    if (!facts.label) return "no label";
    return std::string(title_of(*facts.label));
}

std::string head_title(const HeadFacts& facts) {
    const auto most = facts.label ? std::nullopt : most_looked_at(facts);
    if (!most) return label_title(facts);
    return fmt::format("{} {}", info(*most).title, cell_number(*facts.measures[*most], 2));
}

std::string label_titles(HeadMeasure label) {
    return label == diagonal ? "own token or same word" : std::string(info(label).title);
}

std::string label_evidence(const HeadFacts& facts) {
    if (!facts.label) return {};
    const HeadLabel& label = *facts.label;
    if (label.name == sink)
        return fmt::format("Mean weight on key 0: {}; uniform weights would give {} ({} rows).",
                           cell_number(label.share, 2), cell_number(label.even, 2), label.rows);
    return fmt::format(
        "Of the weight outside key 0, {} goes to the keys of this label; uniform weights would "
        "give {}. In {} rows, the keys outside key 0 get a mean weight of {} together.",
        cell_number(label.share, 2), cell_number(label.even, 2), label.rows,
        cell_number(label.rest, 2));
}

std::string heads_point(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    if (look.list == HeadsList::corpus && corpus_missing_data(state).empty())
        return corpus_point(look, look.corpus_read->result);
    if (!has_current_heads(state) || look.result->heads.empty()) return {};
    const std::string off = interventions_point(state);
    const std::string space = off.empty() ? "" : " ";
    if (const std::string circuit = circuit_point(state); !circuit.empty())
        return off + space + circuit;
    if (const std::string swept = sweep_point(state); !swept.empty()) return off + space + swept;
    if (look.pinned[0] && look.pinned[1]) return off + space + compare_point(state);
    if (const std::string aligned = alignment_point(state); !aligned.empty())
        return off + space + aligned;
    if (const std::string seen = image_point(state); !seen.empty()) return off + space + seen;
    if (const auto measure = find_head_measure(look.sort))
        return off + space + sorted_text(*look.result, *measure);
    if (!off.empty()) return off;
    const std::string of_word = word_text(state, *look.result);
    return of_word.empty() ? shown_and_standing_out(*look.result, head_here(state)) : of_word;
}

std::string answer_text(const AppState& state) {
    const HeadAnswer* const answer = current_head_answer(state);
    if (answer == nullptr) return {};
    // Both more than 99.9 %: their digits would differ, their meaning does not.
    const bool sure = answer->before > 0.9995 && answer->after > 0.999;
    const std::string with = percent_text(sure ? 0.9999 : answer->before);
    const std::string without = sure ? with : percent_text(answer->after);
    const std::string change = with == without ? fmt::format("stays at {}", with)
                                               : fmt::format("goes from {} to {}", with, without);
    return fmt::format(
        "Without {} (its output set to 0), the probability of “{}”, {} most likely answer at “{}”, "
        "{}.",
        head_name(answer->request.head), answer->text, answer->ties > 0 ? "one" : "the",
        axis_label(state, Axis::query, *answer->request.read.row), change);
}

bool is_off(const Document& document, HeadPlace place) {
    const ModelOrigin* const model = model_of(document);
    return model != nullptr && has_own_heads(document) &&
           std::ranges::binary_search(model->changes.off, place);
}

bool will_be_off(const AppState& state, HeadPlace place) {
    const ModelOrigin* const model = wanted_model(state);
    return model != nullptr && std::ranges::binary_search(model->changes.off, place);
}

std::vector<std::string> changes_of(const Document& document, HeadPlace place) {
    std::vector<std::string> items;
    const ModelOrigin* const model = model_of(document);
    if (model == nullptr || !has_own_heads(document)) return items;
    if (is_off(document, place))
        items.emplace_back("switched off: its rows of W_O are 0, so it adds nothing to the output");
    for (const RowIntervention& row : model->changes.rows)
        if (row.at == place)
            items.push_back(fmt::format("row {} replaced: {} instead of softmax", row.query,
                                        row_description(row.weights)));
    const Index heads = std::max<Index>(document.own_heads, 1);
    const Index kv = document.own_kv_heads > 0 ? document.own_kv_heads : heads;
    for (const TextPatch& patch : model->changes.patches) {
        const Index head = patch.part == Stage::q ? place.head : place.head * kv / heads;
        if (patch.at == HeadPlace{place.layer, head})
            items.push_back(fmt::format("{} patched: from “{}”, position by position",
                                        info(patch.part).key, shortened(patch.text)));
    }
    return items;
}

const HeadEffect* effect_on(const Document& document, HeadPlace place) {
    if (!document.effects || !has_own_heads(document)) return nullptr;
    const auto& heads = document.effects->run.heads;
    const auto found = std::ranges::find(heads, place, &HeadEffect::at);
    return found == heads.end() || !found->changed() ? nullptr : &*found;
}

std::string change_number(const HeadEffect& effect) {
    if (effect.finite > 0) return number(effect.mean_kl());
    return effect.infinite > 0 ? "∞" : "NaN";
}

std::string change_text(const HeadEffect& effect) {
    std::string text;
    if (effect.finite > 0)
        text = fmt::format("mean KL(untouched‖now) of {} {} nats", counted(effect.finite, "row"),
                           number(effect.mean_kl()));
    const auto add = [&](Index rows, const char* what) {
        if (rows > 0)
            text +=
                fmt::format("{}KL {} in {}", text.empty() ? "" : ", ", what, counted(rows, "row"));
    };
    add(effect.infinite, "∞");
    add(effect.undefined, "NaN");
    return text + fmt::format(", largest |Δα| {}", number(effect.largest));
}

std::string odd_rows_text(const HeadsLayer& layer) {
    const OddRows& rows = layer.odd;
    if (rows.odd == 0) return {};
    std::string sums;
    if (rows.odd > rows.nans)
        sums = rows.low == rows.high
                   ? fmt::format(" (Σ = {})", number(rows.low))
                   : fmt::format(" (Σ from {} to {})", number(rows.low), number(rows.high));
    if (rows.nans > 0)
        sums += fmt::format(" ({} {} not finite)", rows.nans, rows.nans == 1 ? "is" : "are");
    return fmt::format("{} of {} of weights {} not sum to 1{}: {}", rows.odd,
                       counted(rows.rows, "row"), rows.odd == 1 ? "does" : "do", sums,
                       layer.sinks ? "a learned sink takes the rest, which no measure counts"
                                   : "shown as the file gives them");
}

std::string measured_rows_text(const HeadMeasures& measures) {
    if (measures.excluded == 0) return {};
    return fmt::format("{} of {}; the weights of the others are not probabilities", measures.rows,
                       measures.rows + measures.excluded);
}

std::string hover_text(const Document& document, const HeadFacts& facts) {
    std::string text = label_title(facts);
    if (const std::string rows = measured_rows_text(facts.measures); !rows.empty())
        text += "\nmeasured rows: " + rows;
    for (const HeadMeasureInfo& each : heads_measures(document))
        text += fmt::format("\n{}: {}", each.title,
                            measure_text(each.measure, facts.measures[each.measure]));
    return text;
}

}  // namespace attn::view

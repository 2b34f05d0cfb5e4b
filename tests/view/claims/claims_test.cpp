// Every sentence of every workspace, over random states, against numbers that are computed again here.
//
//   ATTN_CLAIM_STATES=100000 build/release/test_claims
//   ATTN_CLAIM_FIRST=2561 ATTN_CLAIM_STATES=1 build/release/test_claims    (one state again)

#include "tests/view/claims/claims.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <unordered_set>

#include "app/workspaces/compare/state.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/heads/state.h"
#include "app/workspaces/heads/view.h"
#include "attn_tree.h"
#include "core/head_measures.h"
#include "core/io/array_stats.h"
#include "core/key_sets.h"
#include "core/masks.h"
#include "core/operations/operation.h"
#include "core/scores/score.h"
#include "tests/view/claims/screen_texts.h"
#include "tests/view/claims/states.h"
#include "tests/view/swept_sample.h"

namespace attn::view {

double number_of(std::string_view text) {
    if (text == "< 0.1 %" || text == "less than 0.1 %" || text == "> −0.1 %") return 0.0;
    if (text == "> 99.9 %" || text == "more than 99.9 %") return 1.0;
    std::string plain;
    static const std::pair<std::string_view, std::string_view> kTypeset[] = {
        {"−", "-"}, {"·10", "e"}, {"⁻", "-"}, {"⁰", "0"}, {"¹", "1"}, {"²", "2"},
        {"³", "3"}, {"⁴", "4"},   {"⁵", "5"}, {"⁶", "6"}, {"⁷", "7"}, {"⁸", "8"},
        {"⁹", "9"}, {"∞", "inf"}, {"+", ""},  {",", ""},  {" ", ""},  {"exactly", ""}};
    while (!text.empty()) {
        const auto found = std::ranges::find_if(
            kTypeset, [&](const auto& each) { return text.starts_with(each.first); });
        plain += found == std::end(kTypeset) ? text.substr(0, 1) : found->second;
        text.remove_prefix(found == std::end(kTypeset) ? 1 : found->first.size());
    }
    char* end = nullptr;
    const double value = std::strtod(plain.c_str(), &end);
    if (end == plain.c_str()) return std::nan("");
    return *end == '%' ? value / 100.0 : *end == '\0' ? value : std::nan("");
}

bool shows(std::string_view text, double value) {
    if (text == "< 0.1 %" || text == "less than 0.1 %") return value > 0.0 && value < 0.00051;
    if (text == "> −0.1 %") return value < 0.0 && value > -0.00051;
    if (text == "> 99.9 %" || text == "more than 99.9 %") return value > 0.99949 && value < 1.0;
    const double stated = number_of(text);
    if (!std::isfinite(stated) || !std::isfinite(value))
        return stated == value || (std::isnan(stated) && std::isnan(value));
    if (text.starts_with("exactly")) return stated == value;
    std::string_view digits = text.substr(0, std::min(text.find("·10"), text.find(" %")));
    const std::size_t point = digits.find('.');
    double unit = point == digits.npos
                      ? 1.0
                      : std::pow(10.0, -static_cast<double>(digits.size() - point - 1));
    if (const auto at = text.find("·10"); at != text.npos)
        unit *= number_of("1" + std::string(text.substr(at)));
    if (text.ends_with("%")) unit /= 100.0;
    return std::abs(stated - value) <= 0.51 * unit + 2e-5 * std::abs(value) + 1e-7;
}

std::optional<std::vector<std::string>> parts_of(std::string_view pattern, std::string_view text) {
    std::vector<std::string> parts;
    const std::vector<std::string> fixed = split(pattern, "{}");
    if (!text.starts_with(fixed.front())) return std::nullopt;
    text.remove_prefix(fixed.front().size());
    for (std::size_t n = 1; n < fixed.size(); ++n) {
        const bool last = n + 1 == fixed.size();
        if (last && !text.ends_with(fixed[n])) return std::nullopt;
        const auto at = last ? text.size() - fixed[n].size() : text.find(fixed[n]);
        if (at == text.npos) return std::nullopt;
        parts.emplace_back(text.substr(0, at));
        text.remove_prefix(at + fixed[n].size());
    }
    return text.empty() ? std::optional(parts) : std::nullopt;
}

std::vector<std::string> split(std::string_view text, std::string_view at) {
    std::vector<std::string> parts;
    for (auto next = text.find(at); next != text.npos; next = text.find(at)) {
        parts.emplace_back(text.substr(0, next));
        text.remove_prefix(next + at.size());
    }
    parts.emplace_back(text);
    return parts;
}

Tied tied(std::string_view text) {
    if (const auto with = text.rfind(", tied with "); with != text.npos)
        return {std::string(text.substr(0, with)),
                static_cast<Index>(number_of(split(text.substr(with + 12), " ").front()))};
    const auto at = text.rfind(", and ");
    const auto end = text.rfind(" as ");
    if (at == text.npos || end == text.npos || end < at || text.find(" other", at) == text.npos)
        return {std::string(text), 0};
    const auto count = text.substr(at + 6, text.find(" other", at) - at - 6);
    return {std::string(text.substr(0, at)), static_cast<Index>(number_of(count))};
}

double Match::number(std::size_t n) const { return number_of(part[n]); }

std::optional<NamedCell> named(const AppState& state, std::string_view name) {
    const auto open = name.find('[');
    for (const StageInfo& each : stage_table()) {
        if (name_of(each.stage) != name.substr(0, open) || !is_stored_stage(state, each.stage))
            continue;
        const std::string inside(name.substr(open + 1, name.size() - open - 2));
        const Rows rows = rows_of(state, each.stage);
        for (auto at = inside.find(", "); at != inside.npos; at = inside.find(", ", at + 1)) {
            const Index row = labelled(state, each.rows, inside.substr(0, at));
            const Index column = labelled(state, each.columns, inside.substr(at + 2));
            if (row >= 0 && row < rows.rows && column >= 0 && column < rows.columns)
                return NamedCell{each.stage, row, column};
        }
    }
    return std::nullopt;
}

NamedCell named_pair(const AppState& state, std::string_view text) {
    NamedCell cell;
    if (const auto other = text.find(" other pair"); other != text.npos) {
        const auto at = text.rfind(" and ", other);
        cell.others = static_cast<Index>(number_of(text.substr(at + 5, other - at - 5)));
        text = text.substr(0, at);
    }
    const auto at = text.find(" → ");
    cell.row = labelled(state, Axis::query, text.substr(0, at));
    cell.column = labelled(state, Axis::key, text.substr(at + std::string_view(" → ").size()));
    return cell;
}

Rows rows_of(const AppState& state, Stage stage) {
    return is_stored_stage(state, stage) ? sheet_of(state, stage).values : Rows{};
}

bool allows(const AppState& state, Index i, Index j) {
    const Document& document = state.document();
    return may_attend(document.spec.mask, document.size, state.batch, state.head, i, j);
}

Index labelled(const AppState& state, Axis axis, std::string_view label) {
    for (Index n = 0; n < 256; ++n)
        if (axis_label(state, axis, n) == label) return n;
    return -1;
}

namespace {

/// Words that compare or count. A number that merely stands there is held by the tests of its workspace.
const std::unordered_set<std::string> kClaimText{
    "more",    "less",    "fewer",   "larger",    "largest",   "smaller",   "smallest",
    "shorter", "longer",  "longest", "nearest",   "farther",   "higher",    "lower",
    "rose",    "fell",    "rises",   "falls",     "grows",     "grew",      "shrinks",
    "shrink",  "only",    "alone",   "all",       "none",      "every",     "each",
    "no",      "both",    "most",    "least",     "strongest", "worst",     "best",
    "same",    "alike",   "equal",   "differ",    "differs",   "different", "change",
    "changes", "changed", "stay",    "stays",     "still",     "unchanged", "other",
    "others",  "times",   "exactly", "nothing",   "any",       "cannot",    "similar",
    "agree",   "wins",    "leaves",  "forbids",   "instead",   "breaks",    "exact",
    "rest",    "looks",   "moves",   "never",     "always",    "anything",  "everything",
    "twice",   "half",    "sums",    "symmetric", "masked"};

bool claims_something(std::string_view text) {
    for (auto at = text.find(" of "); at != text.npos; at = text.find(" of ", at + 1))
        if (at > 0 && std::isdigit(static_cast<unsigned char>(text[at - 1])) != 0 &&
            at + 4 < text.size() && std::isdigit(static_cast<unsigned char>(text[at + 4])) != 0)
            return true;
    std::string word;
    for (const char c : std::string(text) + " ") {
        if (std::isalpha(static_cast<unsigned char>(c)) != 0)
            word += static_cast<char>(std::tolower(c));
        else if (!word.empty()) {
            if (kClaimText.contains(word)) return true;
            word.clear();
        }
    }
    return false;
}

/// A file may be called "everything at once".
std::string without_title(const AppState& state, std::string text) {
    const std::string& title = state.document().title;
    if (const auto at = text.find(title); title.size() > 1 && at != text.npos)
        text.replace(at, title.size(), "…");
    return text;
}

std::vector<std::string> sentences_of(const std::string& text) {
    std::vector<std::string> all;
    for (const std::string& line : split(text, "\n"))
        for (std::string each : split(line, ". ")) {
            while (each.ends_with('.')) each.pop_back();
            if (each.find(' ') != each.npos) all.push_back(each);
        }
    return all;
}

/// Sentences of every state, read by a person: what a thing is, what a key does, why something cannot be done. Those of a
/// table's row are read where the row is.
struct Known {
    std::unordered_set<std::string> whole;
    std::vector<std::string> patterns;

    void add(std::string_view text) {
        for (std::string& each : sentences_of(std::string(text))) whole.insert(std::move(each));
    }
    void add_tables() {
        for (const ScoreInfo& row : score_table())
            for (const std::string_view text : {row.text, row.slope_q, row.slope_k, row.undefined})
                add(text);
        for (const OperationInfo& row : operation_table()) {
            add(row.text);
            for (const OperationStage& stage : row.stages) add(stage.text);
            for (const OperationParam& param : row.params) add(param.text);
        }
        for (const KeyRuleInfo& row : key_rule_table()) add(row.formula);
        for (const StageInfo& row : stage_table()) add(row.text);
        for (const HeadMeasureInfo& row : head_measure_table())
            add(fmt::format("Heads by {}, largest first: {}", row.title, row.formula));
    }

    Known() {
        add_tables();
        std::ifstream file(ATTN_TEST_DATA "/../view/claims/known.txt");
        for (std::string line; std::getline(file, line);)
            if (!line.empty() && line.front() != '#') {
                if (line.find("{}") == line.npos)
                    whole.insert(line);
                else
                    patterns.push_back(line);
            }
    }
    bool has(const std::string& text) const {
        return whole.contains(text) || std::ranges::any_of(patterns, [&](const std::string& each) {
                   return parts_of(each, text).has_value();
               });
    }
};

std::vector<std::string> all_texts_of(const AppState& state) {
    std::vector<std::string> all;
    for (const std::string& text : ScreenTexts(state).texts)
        for (std::string& description : sentences_of(text)) all.push_back(std::move(description));
    return all;
}

enum class Judged { holds, fails, unknown };
struct ClaimOf {
    std::string_view workspace;  // that alone says it; "": any
    Claim claim;
};
struct Judge {
    std::vector<ClaimOf> claims;
    Known known;
    std::map<std::string_view, Index> held;
    std::set<std::string> static_text;  // known, or without a claim

    Judge() {
        const std::pair<std::string_view, std::span<const Claim>> groups[] = {
            {"", reason_claims()},
            {"", row_claims()},
            {"", pair_claims()},
            {"", kind_claims()},
            {"", lookup_claims()},
            {"", number_claims()},
            {"", step_claims()},
            {"saturation", why_claims()},
            {"gradients", gradient_claims()},
            {"learn", learn_claims()},
            {"generate", generate_claims()},
            {"model", model_claims()},
            {"", state_claims()},
            {"", verify_claims()},
            {"", plain_claims()}};
        for (const auto& [workspace, list] : groups)
            for (const Claim& each : list) claims.push_back({workspace, each});
    }
    Judged judge(const AppState& state, const std::string& text) {
        if (static_text.contains(text) || known.whole.contains(text)) return Judged::holds;
        for (const auto& [workspace, claim] : claims)
            if (auto parts = parts_of(claim.pattern, text);
                parts && (workspace.empty() || workspace == state.workspace)) {
                ++held[claim.pattern];
                return claim.holds(Match{state, text, *std::move(parts)}) ? Judged::holds
                                                                          : Judged::fails;
            }
        if (claims_something(without_title(state, text)) && !known.has(text))
            return Judged::unknown;
        if (static_text.size() < 100000) static_text.insert(text);
        return Judged::holds;
    }
};

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* const number = std::getenv(name);
    return number ? std::stoull(number) : otherwise;
}
std::uint64_t state_count() { return from_environment("ATTN_CLAIM_STATES", 4000); }

}  // namespace

TEST_CASE("every claim of every workspace holds of its state") {
    Judge judge;
    std::map<std::string, Index> failed;
    std::set<std::string> shown;  // for ATTN_CLAIM_LIST
    const char* const list = std::getenv("ATTN_CLAIM_LIST");
    const std::uint64_t first = from_environment("ATTN_CLAIM_FIRST", 0);
    for (std::uint64_t n = first; n < first + state_count(); ++n) {
        const AppState state = claim_state(n);
        for (const std::string& text : all_texts_of(state)) {
            if (list != nullptr) shown.insert(std::string(state.workspace) + "\t" + text);
            const Judged verdict = judge.judge(state, text);
            if (verdict == Judged::holds || ++failed[text] > 1) continue;
            INFO("n ", n, ", state.workspace ", state.workspace);
            if (verdict == Judged::fails) FAIL_CHECK("false: " << text);
            if (verdict == Judged::unknown) FAIL_CHECK("no template: " << text);
        }
    }
    if (list != nullptr) {
        std::ofstream file(list);
        for (const std::string& text : shown) file << text << '\n';
    }
    if (state_count() >= 100000)
        for (const auto& [workspace, claim] : judge.claims)
            if (judge.held[claim.pattern] == 0) MESSAGE("never said: " << claim.pattern);
}

/// Every sentence holds, and the first of the headline fails of the other state.
void check_texts_of(const AppState& state, const AppState& other) {
    Judge judge;
    const std::string point = build_all_heads_view(state).point;
    CAPTURE(point);
    for (const std::string& text : all_texts_of(state))
        if (judge.judge(state, text) != Judged::holds) FAIL_CHECK(text);
    REQUIRE(!point.empty());
    CHECK(judge.judge(other, sentences_of(point).front()) == Judged::fails);
}

TEST_CASE("what Heads says of a sweep holds of its numbers, and of no others") {
    for (const char* part : {"heads", "residual", "mlp"})
        for (const char* by : {"zero", "mean", "patch"})
            for (const char* show : {"logits", "kl"}) {
                Actions actions{SweepOver{part}, SweepHeads{by, show}};
                if (std::string_view(by) == "patch") actions.push_back(PatchSweep{"the old dog"});
                const AppState state = swept_play(after(swept_model("the cat"), actions), {});
                AppState other = state;
                SweptModel changed = *heads_look(state).swept;
                changed.sweep.swept[2].difference = 30.0;
                changed.sweep.swept[2].kl = 30.0;
                heads_look(other).swept = std::make_shared<const SweptModel>(changed);
                check_texts_of(state, other);
            }
}

TEST_CASE("what Heads says of a circuit holds of its numbers, and of no others") {
    for (const char* show : {"qk", "ov", "composition"})
        for (const char* over : {"text", "vocabulary"}) {
            const AppState state = swept_play(
                after(swept_model("the cat"), {ShowHead{1, {}, 1}, ShowCircuit{show, over}}), {});
            AppState other = state;
            SweptModel changed = *heads_look(state).circuit;
            ModelCircuit circuit = *changed.circuit;
            for (TokenProduct* const each : {&circuit.over.qk, &circuit.over.ov})
                for (float& value : each->values.values()) value = -value;
            circuit.composed[0].k = 0.0;
            changed.circuit = std::make_shared<const ModelCircuit>(circuit);
            heads_look(other).circuit = std::make_shared<const SweptModel>(changed);
            check_texts_of(state, other);
        }
}

TEST_CASE("what Heads says of edges holds of their changes, and of no others") {
    const auto edges_of = [](const auto& change) {
        AppState state =
            swept_play(after(swept_model("the cat"), {ShowCircuit{"edges", "text"}}), {});
        SweptModel changed = *heads_look(state).circuit;
        ModelEdges edges = *changed.edges;
        change(edges);
        changed.edges = std::make_shared<const ModelEdges>(std::move(edges));
        heads_look(state).circuit = std::make_shared<const SweptModel>(std::move(changed));
        return state;
    };
    const AppState state = edges_of([](ModelEdges&) {});
    check_texts_of(state, edges_of([](ModelEdges& edges) {
                       for (PathEdge& edge : edges.made.edges) edge.change -= 1.0;
                   }));
    const auto set = [&](double value) {
        return edges_of([&](ModelEdges& edges) {
            for (PathEdge& edge : edges.made.edges) edge.change = value;
        });
    };
    check_texts_of(set(-0.25), set(0.0));  // equally low
    check_texts_of(set(0.0), set(-0.25));
    CHECK(build_all_heads_view(set(0.5)).point ==
          "No cut of an edge between heads lowers logit d − logit a.");
    const AppState undefined = set(std::nan(""));
    CHECK(build_all_heads_view(undefined).point.find("edge") == std::string::npos);
    CHECK(build_all_heads_view(undefined).circuit->edges->undefined ==
          "26 edges without a finite change");
    Judge judge;
    for (const std::string& text : all_texts_of(undefined))
        if (judge.judge(undefined, text) != Judged::holds) FAIL_CHECK(text);
}

/// As a builder sees it that takes A's head for B's.
AppState with_heads_swapped(AppState state) {
    CompareLook& look = compare_look(state);
    ComparePin& pin = look.pins.empty() ? *look.opening : look.pins[look.baseline];
    std::swap(pin.head, state.head);
    return state;
}

TEST_CASE("compare: what a builder says that swaps the heads of A and B does not hold") {
    Judge judge;
    Index swapped = 0, caught = 0;
    for (std::uint64_t n = 0; n < 400; ++n) {
        AppState state = claim_state(n);
        const Index heads = state.document().size.heads;
        if (heads < 2 || state.trace == nullptr) continue;
        acted(state, {SetWorkspace{"compare"}, PinBaseline{}, ShowHead{(state.head + 1) % heads}});
        if (compare_look(state).pins.empty()) continue;
        const AppState other = with_heads_swapped(state);
        const auto stated = all_texts_of(state);
        for (const std::string& text : all_texts_of(other)) {
            // of the comparison; how a weight is reached has numbers of one head
            if (text.find("iffer") == text.npos || std::ranges::count(stated, text) > 0) continue;
            ++swapped;
            const bool holds = judge.judge(state, text) == Judged::holds;
            caught += holds ? 0 : 1;
            if (holds) MESSAGE("not caught: " << text << ", state " << n);
        }
    }
    CHECK(swapped > 100);
    CHECK(caught == swapped);
}

/// Words of a claim and their opposite, or another number.
constexpr std::pair<std::string_view, std::string_view> kAltered[] = {
    {"but shorter", "but longer, and points away from q"},
    {" others as large", "0 others as large"},
    {" cannot change; ", " change; "},
    {"The mask allows ", "The mask allows 1"},
    {" other pairs: ", "1 other pairs: "},
    {"; 1 masked", "; 2 masked"},
    {"grows from ", "grows from 1"},
    {" is off by at most ", " is off by at most 0.0"},
    {" it lowers the score from ", " it raises the score from "},
    {" numbers of A differ", "1 numbers of A differ"},
    {"; the fused kernel keeps ", "; the fused kernel keeps 1"}};

TEST_CASE("a claim with an opposite word or another number does not hold") {
    Judge judge;
    std::map<std::string_view, Index> altered, caught;
    for (std::uint64_t n = 0; n < 9000; ++n) {
        const AppState state = claim_state(n);
        for (const std::string& text : all_texts_of(state))
            for (const auto& [from, to] : kAltered) {
                const auto at = text.find(from);
                if (at == text.npos || judge.judge(state, text) != Judged::holds) continue;
                std::string other = text;
                other.replace(at, from.size(), to);
                ++altered[from];
                const bool holds = judge.judge(state, other) == Judged::holds;
                caught[from] += holds ? 0 : 1;
                if (holds) MESSAGE("not caught: " << other << ", state " << n);
            }
    }
    for (const auto& [from, to] : kAltered) {
        CAPTURE(from);
        CHECK(altered[from] > 0);
        CHECK(caught[from] == altered[from]);
    }
}

}  // namespace attn::view

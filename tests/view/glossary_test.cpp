// The glossary: its data, what a search finds, and where a term leads.

#include "app/common/glossary.h"
#include "app/common/workspace.h"
#include "app/workspaces/cost/state.h"
#include "tests/view/view_test.h"

#include <set>

using namespace attn::view;
using namespace attn::test;

TEST_CASE("glossary: at least 40 terms with places; every stage that is asked for has one") {
    REQUIRE(glossary());
    CHECK(glossary()->size() >= 40);
    std::set<std::string> names;
    for (const GlossaryTerm& term : *glossary()) {
        CAPTURE(term.term);
        CHECK(names.insert(term.term).second);
        CHECK(find_workspace(workspaces(), term.workspace) != nullptr);
        CHECK(term.definition.ends_with('.'));
        CHECK(term.definition.size() < 320);
    }
    for (const OperandId id :
         {OperandId(Stage::q), OperandId(Stage::k), OperandId(Stage::v), OperandId(Stage::scores),
          OperandId(Stage::weights), OperandId(Stage::context), OperandId(Stage::output)})
        CHECK(term_of(id) != nullptr);
    CHECK(term_of(Stage::weights)->term == "attention weights");
    CHECK(term_of(Param::sinks) == nullptr);
}

TEST_CASE("glossary: a search asks for every word; without one it begins with what is seen") {
    const auto found = find_terms("causal", "step", std::nullopt);
    REQUIRE_FALSE(found.empty());
    CHECK(found[0]->term == "causal mask");
    CHECK(find_terms("no such term", "step", std::nullopt).empty());
    const auto merged = find_terms("merging rank", "step", std::nullopt);
    REQUIRE(merged.size() == 1);
    CHECK(merged[0]->term == "W_Q and W_K");
    AppState state = after(initial_state(), {GoToStage{Stage::weights}, ShowGlossary{true}});
    REQUIRE(state.glossary.shown);
    CHECK(found_terms(state)[0]->term == "attention weights");
    CHECK(found_terms(state).size() == glossary()->size());
    CHECK(found_terms(acted(state, {SetWorkspace{"numerics"}}))[0]->workspace == "numerics");
}

TEST_CASE("glossary: a choice leads to its place; Escape and others close it, sessions keep it") {
    AppState state =
        after(initial_state(), {ShowGlossary{true}, SetGlossaryQuery{"softmax scores"}});
    const auto terms = found_terms(state);
    REQUIRE(terms.size() > 1);
    CHECK(after(state, {ChooseTerm{1000}}).glossary.row == terms.size() - 1);
    CHECK(after(state, {ChooseTerm{-3}}).glossary.row == 0);
    const GlossaryTerm& scaled = *term_of(Stage::scaled);
    CHECK(place_description(state, scaled).starts_with("Step, stage "));
    for (const Action& action : chosen(scaled)) view::apply(state, action);
    CHECK_FALSE(state.glossary.shown);
    CHECK(state.workspace == "step");
    CHECK(state.stage == Stage::scaled);
    state = after(initial_state(), {ShowGlossary{true}, SetGlossaryQuery{"mask"}});
    const AppState again = session_from_json(session_to_json(state), "test", {}).value();
    CHECK(again.glossary.shown);
    CHECK(again.glossary.query == "mask");
    CHECK_FALSE(after(state, {ShowPalette{true}}).glossary.shown);
    CHECK_FALSE(after(state, {ShowHelp{true}}).glossary.shown);
}

TEST_CASE("glossary: the actions of a term are known, and the KV cache selects its row in Cost") {
    Index with_actions = 0;
    for (const GlossaryTerm& term : *glossary()) {
        CAPTURE(term.term);
        with_actions += std::ssize(term.actions);
        for (const std::string& line : term.actions) CHECK(from_journal(line).has_value());
    }
    CHECK(with_actions > 0);
    const auto found = find_terms("KV cache", "step", std::nullopt);
    REQUIRE_FALSE(found.empty());
    REQUIRE(found.front()->term == "KV cache");
    const AppState state = after(initial_state(), chosen(*found.front()));
    CHECK(state.workspace == "cost");
    CHECK(cost_look(state).item == CostItem::kv_cache);
}

TEST_CASE("glossary: a file that is wrong is refused by its term and fault") {
    const auto fault = [](const char* text) {
        return glossary_from_json(text, "g.json").error().text();
    };
    CHECK(fault("{}") == "g.json: expected a list of terms");
    CHECK(has(fault(R"([{"term":"a","definition":"b."}])"), "term 0"));
    CHECK(has(fault(R"([{"term":"a","definition":"b.","workspace":"step","formula":"\\nope"}])"),
              "nope"));
    CHECK(has(fault(R"([{"term":"a","definition":"b.","workspace":"step","operand":"zz"}])"),
              "'operand'"));
    CHECK(has(fault(R"([{"term":"a","definition":"b.","workspace":"step","more":1}])"), "more"));
}

// Every number of a journal line or a session may be any number: refused with a sentence, or harmless.

#include <nlohmann/json.hpp>

#include "app/common/document/document.h"
#include "app/common/fields.h"
#include "app/common/map/inspector.h"
#include "app/workspaces/large/state.h"
#include "app/workspaces/saturation/view.h"
#include "tests/view/large_sample.h"
#include "tests/view/view_test.h"

using namespace attn::view;
using nlohmann::json;

namespace {

constexpr Index kLeast = std::numeric_limits<Index>::min();
constexpr Index kMost = std::numeric_limits<Index>::max();

/// `text` with each of its numbers in turn replaced by numbers that nobody expects.
std::vector<std::string> disturbed(const std::string& text) {
    const json flat = json::parse(text).flatten();
    std::vector<std::string> texts;
    for (const auto& [place, value] : flat.items()) {
        if (!value.is_number()) continue;
        for (const json& number : {json(kLeast), json(kMost), json(-1), json(0), json(1e300),
                                   json("nan"), json(18446744073709551615ULL)}) {
            json changed = flat;
            changed[place] = number;
            texts.push_back(changed.unflatten().dump());
        }
    }
    return texts;
}

/// Reads everything that a person could see of it.
void look_at(const AppState& state) {
    build_step_view(state);
    step_inspector(state);
    build_saturation_view(state);
    build_large_view(state);
    map_inspector(state);
    requested_map(state);
    requested_map_cell(state);
    commands(state);
    session_to_json(state);
}

void check_sentence(const std::string& sentence) {
    CAPTURE(sentence);
    CHECK(!sentence.empty());
    CHECK(sentence.size() < 600);
    CHECK(valid_utf8(sentence) == sentence);
}

const char* const kLines[] = {
    R"({"action":"step_by","steps":1})",
    R"({"action":"show_head","head":1,"batch":0})",
    R"({"action":"select_cell","cell":{"tensor":"q","row":1,"column":1}})",
    R"({"action":"select_cell","cell":{"tensor":"context","row":1,"column":-2}})",
    R"({"action":"move_selection","rows":1,"columns":1})",
    R"({"action":"set_model_width","d_model":4})",
    R"({"action":"set_key_width","d_k":4})",
    R"({"action":"set_heads","heads":2})",
    R"({"action":"set_temperature","temperature":2})",
    R"({"action":"set_seed","seed":3})",
    R"({"action":"begin_cell_edit","cell":{"tensor":"x","row":1,"column":1}})",
    R"({"action":"set_cell","cell":{"tensor":"w_q","row":1,"column":1},"value":2})",
    R"({"action":"set_saturation_width","d_k":4})",
    R"({"action":"set_saturation_keys","keys":4})",
    R"({"action":"set_saturation_seed","seed":4})",
    R"({"action":"set_saturation_draws","draws":4})",
    R"({"action":"pin_saturation","d_k":4})",
    R"({"action":"draft_planted","spec":{"tokens":512,"d_k":64,"seed":1}})",
    R"({"action":"open_planted","spec":{"tokens":512,"d_k":64,"seed":1}})",
    R"({"action":"set_map_camera","camera":{"row":1,"column":1,"cells_per_unit":1}})",
    R"({"action":"go_to_cell","cell":{"row":5,"column":6}})",
    R"({"action":"select_map_cell","cell":{"row":5,"column":6}})",
    R"({"action":"set_map_colors","colors":{"low_percentile":1,"high_percentile":99}})",
    R"({"action":"show_head","head":0,"batch":0})",
    R"({"action":"search_map","search":{"of":"key","index":4}})",
    R"({"action":"set_ui_scale","scale":1.5})"};

}  // namespace

TEST_CASE("a journal line with any number is refused in a sentence or does no harm") {
    const AppState toy = after(two_heads_state(), {SelectCell{{Stage::q, 1, 1}}});
    const AppState map = planted_state({.tokens = 256, .d_k = 32});
    for (const char* line : kLines) {
        CAPTURE(line);
        REQUIRE(from_journal(line));
        for (const std::string& changed : disturbed(line)) {
            CAPTURE(changed);
            const auto action = from_journal(changed);
            if (!action) {
                check_sentence(action.error().text());
                continue;
            }
            for (const AppState& state : {toy, map}) {
                const AppState there = after(state, {*action, StepBy{1}, MoveSelection{1, 1}});
                look_at(there);
                if (!there.message.text.empty()) check_sentence(there.message.text);
            }
        }
    }
}

TEST_CASE("a session with any number is refused in a sentence or opens") {
    const char* document =
        R"({"title":"t","note":"n","sentence":"a b","d_model":2,"d_k":1,"heads":2,
        "window":1,"block":2,"padding":1,"dropout":0.5,"dropout_seed":3,"temperature":2,"scale":0.5})";
    AppState state = state_of(document_from_json(document, "d").value()).value();
    state = after(state, {SelectCell{{Stage::q, 1, 0}}, HoverCell{CellRef{Stage::x, 0, 0}},
                          BeginCellEdit{{Stage::x, 1, 1}}, ShowPalette{true}});
    const AppState map =
        after(planted_state({.tokens = 256, .d_k = 32}),
              {GoToCell{{5, 6}}, SearchMap{large::Search{large::Search::Of::key, 7}}});
    for (const AppState& start : {state, map})
        for (const std::string& changed : disturbed(session_to_json(start))) {
            CAPTURE(changed);
            const auto opened = session_from_json(changed, "session", {.open = open_planted});
            if (opened)
                look_at(*opened);
            else
                check_sentence(opened.error().text());
        }
}

TEST_CASE("an action with any number does no harm either") {
    const AppState toy = after(two_heads_state(), {SelectCell{{Stage::context, 1, 1}}});
    const AppState map = planted_state({.tokens = 256, .d_k = 32});
    for (const AppState& state : {toy, map})
        for (const Index n : {kLeast, kLeast + 1, Index{-1}, Index{0}, kMost - 1, kMost}) {
            const int step = n < 0 ? std::numeric_limits<int>::min() : 1;
            look_at(after(state, {StepBy{step}, MoveSelection{step, step}, MovePalette{step}}));
            look_at(after(state, {ShowHead{n}, SetModelWidth{n}, SetKeyWidth{n}, SetHeads{n}}));
            for (const Stage stage : {Stage::q, Stage::context, Stage::output})
                look_at(after(state,
                              {SelectCell{{stage, n, 0}}, SelectCell{{stage, 0, n}},
                               SelectCell{{stage, n, n}}, HoverCell{CellRef{stage, 0, n}},
                               BeginCellEdit{{Stage::x, 0, n}}, SetCell{{Param::w_q, n, 0}, 1.0}}));
            look_at(after(state, {GoToCell{{n, n}}, SelectMapCell{{0, n}},
                                  HoverMapCell{large::Cell{n, 0}}, ShowHead{n, n}}));
            look_at(after(state, {SearchMap{large::Search{large::Search::Of::key, n}}}));
            const large::PlantedSpec wrong{.tokens = n};
            const AppState refused = after(state, {OpenPlanted{wrong}, DraftPlanted{wrong}});
            CHECK_FALSE(requested_document(refused));
            CHECK(refused.message.text.find("Tokens is ") == 0);
            check_sentence(grouped(n));
            check_sentence(cell_name(state, {Stage::q, n, n}));
        }
}

TEST_CASE("digits are grouped by thousands, below 0 too") {
    CHECK(grouped(0) == "0");
    CHECK(grouped(999) == "999");
    CHECK(grouped(-999) == "−999");
    CHECK(grouped(1000) == "1,000");
    CHECK(grouped(-1234567) == "−1,234,567");
    CHECK(grouped(kMost) == "9,223,372,036,854,775,807");
    CHECK(grouped(kLeast) == "−9,223,372,036,854,775,808");
}

TEST_CASE("numbers are checked where they are read") {
    const auto fault = [](const std::string& line) {
        const auto read = from_journal(line);
        return read ? std::string() : read.error().text();
    };
    CHECK(fault(R"({"action":"go_to_cell","cell":{"row":-1,"column":0}})") ==
          "the journal line 'cell' has 'row' = -1: expected 0 to 1099511627776");
    CHECK(fault(R"({"action":"select_cell","cell":{"tensor":"x","row":0,"column":-1}})") ==
          "the journal line 'cell' has 'column' = -1: expected 0 or more");
    CHECK(has(fault(R"({"action":"open_planted","spec":{"tokens":5}})"),
              "tokens is 5: the generator makes 256 to 1048576"));
    CHECK(fault(R"({"action":"set_heads","heads":2.0})").empty());
    CHECK(fault(R"({"action":"set_seed","seed":3.0})").empty());
    CHECK(fault(R"({"action":"step_by","steps":-1.0})").empty());
    CHECK(fault(R"({"action":"set_heads","heads":2.5})") ==
          "the journal line has 'heads' = 2.5: expected a whole number");
    CHECK(has(fault(R"({"action":"set_heads","heads":1e300})"), "expected a whole number"));
    CHECK(has(fault(R"({"action":"set_heads","heads":9223372036854775808.0})"),
              "expected a whole number"));
    CHECK(has(fault(R"({"action":"set_seed","seed":-1})"), "at least 0"));
    CHECK(fault(R"({"action":"set_heads","heads":2,"heads":3})") ==
          "the journal line has the key 'heads' twice");
    CHECK(fault("{\"action\":\"" + std::string(100000, 'x') + "\"}").size() < 200);
    CHECK(fault(R"({"action":"set_heads","heads":")" + std::string(100000, 'x') + "\"}").size() <
          200);
    CHECK(fault(R"({"action":"undo",")" + std::string(100000, 'x') + "\":1}").size() < 300);
}

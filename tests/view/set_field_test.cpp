// Actions that set one described field: what they say, what they refuse, and what undo and journals make of them.

#include "app/common/workspace.h"
#include "app/workspaces/numerics/view.h"
#include "app/workspaces/saturation/actions.h"
#include "app/workspaces/saturation/view.h"
#include "app/workspaces/verify/actions.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

AppState saturation(const Actions& actions = {}) { return in_workspace("saturation", actions); }

/// `line` is what today's and yesterday's journals have.
void check_line(const Action& action, const std::string& line) {
    CHECK(to_journal(action).value_or("") == line);
    const auto read = from_journal(line);
    REQUIRE(read);
    CHECK(read->type().name == action.type().name);
    CHECK(to_journal(*read) == line);
}

}  // namespace

TEST_CASE("a field that is set is one step of undo, named by words and value, or refused") {
    const AppState before = saturation();
    const AppState set = after(before, {SetSaturationWidth{128}});
    CHECK(saturation_controls(set).d_k == 128);
    CHECK(set.message.text == "d_k = 128.");
    CHECK(set.now == before.now + 1);
    CHECK(saturation_controls(after(set, {Undo{}})).d_k == 512);
    CHECK(after(before, {SetSaturationWidth{512}}).now == before.now);  // the same: no step
    const AppState model = after(before, {SetSaturationModel{SaturationModel::fixed_logits}});
    CHECK(model.message.text == "Model: fixed logits.");
    CHECK(after(before, {PinSaturation{16}}).message.text == "Pinned d_k = 16.");
    const AppState dragged =
        after(before, {BeginGesture{}, SetSaturationKeys{20}, SetSaturationKeys{30}, EndGesture{}});
    CHECK(dragged.now == before.now + 1);
    CHECK(saturation_controls(dragged).settings.keys == 30);
    CHECK(saturation_controls(after(dragged, {Undo{}})).settings.keys == 16);
    for (const auto& [action, text] :
         {std::pair<Action, const char*>{SetSaturationDraws{0}, "Draws = 0: it must be 1 to 4000."},
          {PinSaturation{5000}, "Pinned d_k = 5000: it must be 1 to 4096."},
          {SetSaturationLogits{{}}, "The number of keys is 0: it must be 1 to 256."}}) {
        const AppState refused = after(before, {action});
        CHECK(refused.message.text == text);
        CHECK(refused.message.severity == Severity::error);
        CHECK(refused.now == before.now);
        CHECK(saturation_controls(refused) == saturation_controls(before));
    }
}

TEST_CASE("what follows from a field comes along; a look's is no step and has no words") {
    const AppState typed = after(saturation(), {SetSaturationLogits{{1.0, 2.0}}});
    CHECK(saturation_controls(typed).settings.model == SaturationModel::fixed_logits);
    AppState last = saturation({SetSaturationDraws{3}, Redraw{}, Redraw{}});
    CHECK(saturation_controls(last).draw == 2);
    CHECK(saturation_controls(acted(last, {SetSaturationDraws{2}})).draw == 1);
    const AppState before = saturation();
    const AppState set = after(before, {ShowSaturationDetails{true}});
    CHECK(saturation_look(set).details);
    CHECK(set.now == before.now);
    CHECK(set.message.text == before.message.text);
    AppState checked = before;
    verify_look(checked).cell = CheckedCell{0, 0, 1, 1};
    CHECK(verify_look(acted(checked, {ShowChecked{"weights"}})).array == "weights");
    CHECK_FALSE(verify_look(checked).cell);  // its worst number is looked at
}

TEST_CASE("journals have the names that they had") {
    check_line(SetSaturationWidth{64}, R"({"action":"set_saturation_width","d_k":64})");
    check_line(PinSaturation{8}, R"({"action":"pin_saturation","d_k":8})");
    check_line(SetSaturationDraws{8}, R"({"action":"set_saturation_draws","draws":8})");
    check_line(SetSaturationModel{SaturationModel::fixed_logits},
               R"({"action":"set_saturation_model","model":"fixed_logits"})");
    check_line(ShowSaturationDetails{true}, R"({"action":"show_saturation_details","on":true})");
    check_line(SetSaturationSeed{7}, R"({"action":"set_saturation_seed","seed":7})");
    check_line(SetErrorScale{ErrorScale::ulp}, R"({"action":"set_error_scale","scale":"ulp"})");
    CHECK_FALSE(from_journal(R"({"action":"set_saturation_model","model":"none"})"));
    CHECK_FALSE(from_journal(R"({"action":"set_saturation_width","d_k":"x"})"));
    CHECK_FALSE(from_journal(R"({"action":"set_saturation_width"})"));
}

TEST_CASE("a picture has no time of this machine") {
    AppState state = saturation();
    answer_all(state);
    saturation_gradients(state).elapsed_ms = 13.0;
    numerics_curves(state).elapsed_ms = 12.5;
    CHECK(has(build_saturation_view(state).status, " in 13 ms"));
    for (const WorkspaceInfo* const workspace : state.workspaces) workspace->still(state);
    CHECK_FALSE(has(build_saturation_view(state).status, "ms"));
    CHECK_FALSE(has(build_numerics_view(state).status, "ms"));
    CHECK(saturation_gradients(state).points != nullptr);
}

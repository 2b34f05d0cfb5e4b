#include "app/common/document/document.h"
#include "app/common/document/opened.h"
#include "app/common/inspector.h"
#include "app/workspaces/verify/actions.h"
#include "app/workspaces/verify/view.h"
#include "core/cast.h"
#include "core/engine.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

AppState verify_state(const Actions& actions = {}, const Opener& open = {}) {
    AppState state =
        after(preset_state("the-cat-sat-down"), {SetWorkspace{"verify"}, PlantFault{""}});
    play(state, actions, open);
    return state;
}

/// A file with these weights and nothing else.
Opener file_of_weights(const Tensor& weights) {
    return [weights](const OpenRequest& request, const RunControl&) -> Result<Opened> {
        verify::Side side;
        side.path = std::get<ResultsOf>(request.what).path;
        side.results[Stage::weights] = weights;
        side.keys = {"weights"};
        Opened opened;
        opened.side = std::make_shared<const verify::Side>(std::move(side));
        return opened;
    };
}

Tensor exact_weights(const AppState& state) {
    const Document& document = state.document();
    return cast<float>(
        (*attend_exact(cast<double>(*document.inputs), document.spec))[Stage::weights]);
}

const CheckedLine& line_of(const VerifyView& view, std::string_view key) {
    return one_of(view.lines, key, &CheckedLine::key);
}

}  // namespace

TEST_CASE("verify: what a backend computes is within tolerance of the float64 reference") {
    const AppState state = verify_state();
    const VerifyView view = build_verify_view(state);
    CHECK(view.ready);
    CHECK_FALSE(view.bad);
    CHECK(view.point == "Staged matches float64: 10 of 10 arrays.");
    CHECK(line_of(view, "weights").shown);
    const verify::DiffRow& row = *shown_array(state);
    const TensorD exact = (*attend_exact(cast<double>(*state.document().inputs),
                                         state.document().spec))[Stage::weights];
    double most = 0.0;
    for (std::size_t n = 0; n < exact.values().size(); ++n)
        most = std::max(most,
                        std::abs((*state.trace)[Stage::weights].values()[n] - exact.values()[n]));
    CHECK(most > 0.0);
    CHECK(row.comparison.all.max == most);
    REQUIRE(view.grid);
    CHECK(view.grid->rows == 4);
    CHECK(view.grid->range.high == 1.0);  // all that is allowed, though nothing comes near
}

TEST_CASE("verify: the headline names the rows that hold NaN, on both sides alike") {
    auto inputs = normal_inputs({1, 2, 4, 3}, 1);
    inputs->q(0, 1, 2, 0) = std::nanf("");
    Document document = document_of({inputs}, "nan.npz");
    document.origin = ToyOrigin{};
    AppState state = state_of(document).value();
    state = after(std::move(state), {SetWorkspace{"verify"}});
    play(state, {});
    CAPTURE(build_verify_view(state).point);
    CHECK(build_verify_view(state).point.starts_with(
        "Input Q[0, 1, 2, 0] is NaN. NaN in 1 of 8 rows of weights, first in [0, 1, 2]. Staged "
        "matches float64: "));
    CHECK(build_verify_view(state).warns);
    CHECK_FALSE(shows_example(state));  // a fault would hide the NaN
}

TEST_CASE("verify: opens on an example of a fault while no results are given") {
    AppState state = after(preset_state("the-cat-sat-down"), {SetWorkspace{"verify"}});
    play(state, {});
    const VerifyView view = build_verify_view(state);
    CHECK(shows_example(state));
    CHECK(view.bad);
    CHECK(view.fault_keys[static_cast<std::size_t>(view.fault)] == kExampleFault);
    CHECK(view.point.starts_with(
        "The causal mask starts at the wrong key: the example differs from float64 in "));
    CHECK(verify_differs(state).empty());  // a person checked nothing
    REQUIRE(view.grid);
    CHECK(view.grid->range.map == ColorMap::errors);
    CHECK(shown_array(state)->comparison.all.beyond > 0);
    CHECK_FALSE(checked_in_step(state));  // Step shows the call without a causal mask

    const AppState equal = [&] {
        AppState without = state;
        play(without, {PlantFault{""}});
        return without;
    }();
    CHECK_FALSE(build_verify_view(equal).bad);
    AppState other = after(equal, {SetSentence{"another sentence"}});
    play(other, {});
    CHECK_FALSE(shows_example(other));  // it was removed once
    play(other, {PlantFault{std::string(kExampleFault)}});
    CHECK(shows_example(other));
    play(other, {CheckFile{""}});
    CHECK_FALSE(shows_example(other));
    CHECK(verify_look(reopened(state)).fault == kExampleFault);
}

TEST_CASE("verify: a planted fault is seen, and the diagnosis names it") {
    AppState state = verify_state({SetCausalMask{CausalChoice::top_left}});
    Index planted = 0;
    for (const verify::Fault& fault : verify::fault_table()) {
        CAPTURE(fault.key);
        play(state, {PlantFault{std::string(fault.key)}});
        const VerifyView view = build_verify_view(state);
        CHECK(view.ready);  // never a blank window
        CHECK(view.fault_names[static_cast<std::size_t>(view.fault)] == fault.text);
        if (!verify_look(state).result->not_planted.empty()) {
            CHECK_FALSE(view.bad);  // what is open is compared without it, and the reason is there
            CHECK(view.point.starts_with("Not planted: " + std::string(fault.text) + ": "));
            continue;
        }
        CHECK(view.bad);
        ++planted;
        const auto& outcomes = verify_look(state).result->report.examined.front().diagnosis;
        REQUIRE(outcomes);
        CHECK(outcomes->explained);
        CHECK(std::ranges::any_of(outcomes->named, [&](std::size_t n) {
            return outcomes->outcomes[n].fault->key == fault.key;
        }));
        CHECK(std::ranges::any_of(view.findings, [&](const Finding& finding) {
            return finding.bad && has(finding.text, std::string(fault.text.substr(1)));
        }));
    }
    CHECK(planted >= 6);
    play(state, {PlantFault{""}});
    CHECK_FALSE(build_verify_view(state).bad);
    const std::string before = verify_look(state).fault;
    CHECK(verify_look(acted(state, {PlantFault{"no such fault"}})).fault == before);
    CHECK(has(state.message.text, "no such fault"));
}

TEST_CASE("verify: what is allowed and the extent are said, a file's options; a fault is shown") {
    const AppState state = verify_state({PlantFault{"mask_inverted"}});
    const VerifyView view = build_verify_view(state);
    CHECK(view.ready);
    CHECK(view.point.starts_with(
        "Not planted: the mask is inverted: true is read as forbidden: the call has no mask. "));
    REQUIRE(view.findings.size() >= 2);
    CHECK(has(view.findings[0].text, "Tolerance for weights: "));
    for (const auto& finding : view.findings) CHECK_FALSE(has(finding.text, "Options: "));
    const AppState scaled = after(state, {});
    AppState wrong = scaled;
    play(wrong, {PlantFault{"scale"}});
    const VerifyView shown = build_verify_view(wrong);
    CHECK(shown.findings[0].bad);
    CHECK(shown.findings[0].text.starts_with("Beyond tolerance in scaled: "));
    CHECK(
        shown.point.starts_with("The scores are scaled wrongly: the planted fault differs from "));
}

TEST_CASE("verify: a file of weights; its worst number stands in the panel in four measures") {
    const AppState first = verify_state();
    Tensor weights = exact_weights(first);
    const float right = weights(0, 0, 2, 1);
    weights(0, 0, 2, 1) = right + 0.25F;
    const AppState state = verify_state({CheckFile{"kernel.npz"}}, file_of_weights(weights));
    const VerifyView view = build_verify_view(state);
    CHECK(view.bad);
    CHECK(has(view.point, "ernel.npz differs from float64: "));
    CHECK(has(view.point, "1 of 1 array beyond tolerance"));
    CHECK(shown_cell(state) == CheckedCell{0, 0, 2, 1});
    CHECK(line_of(view, "weights").cells[1] == "0.25");
    CHECK(line_of(view, "weights").cells[4] == "1 of 16");
    const verify::Tolerance tolerance = shown_array(state)->comparison.tolerance;
    const auto at_worst = [&](ErrorScale scale) {
        return build_verify_view(after(state, {SetErrorScale{scale}})).grid->at(2, 1).value;
    };
    const double expected = (*shown_array(state)->expected)(0, 0, 2, 1);
    const double difference = static_cast<double>(right + 0.25F) - expected;
    CHECK(at_worst(ErrorScale::difference) == doctest::Approx(difference));
    CHECK(at_worst(ErrorScale::relative) == doctest::Approx(difference / expected));
    CHECK(at_worst(ErrorScale::tolerance) == doctest::Approx(difference / tolerance.at(expected)));
    CHECK(at_worst(ErrorScale::ulp) == doctest::Approx(static_cast<double>(verify::ulp_distance(
                                           right + 0.25F, static_cast<float>(expected)))));
    const InspectorView inspector = verify_inspector(state);
    CHECK(inspector.title == "weights[0, 0, 2, 1]");
    CHECK(has(inspector.as_text, "difference: 0.25"));
    CHECK(has(inspector.as_text, "from the float64 reference"));

    REQUIRE(checked_in_step(state));
    const AppState step = after(state, {*checked_in_step(state)});
    CHECK(step.workspace == "step");
    REQUIRE(step.selected);
    CHECK(*step.selected == CellRef{Stage::weights, 2, 1});
}

TEST_CASE("verify: NaN on one side only comes before every number, and is no number") {
    Tensor weights = exact_weights(verify_state());
    weights(0, 0, 0, 0) += 0.5F;
    weights(0, 0, 3, 2) = std::numeric_limits<float>::quiet_NaN();
    const AppState state = verify_state({CheckFile{"kernel.npz"}}, file_of_weights(weights));
    CHECK(shown_cell(state) == CheckedCell{0, 0, 3, 2});
    const VerifyView view = build_verify_view(state);
    REQUIRE(view.grid);
    CHECK(view.grid->at(3, 2).look == CellLook::not_a_number);
    CHECK(view.grid->at(0, 0).look == CellLook::number);
    CHECK(has(verify_inspector(state).as_text, "NaN on one side only"));
}

TEST_CASE("verify: rows that are equally wrong are counted; a certain cause does not warn") {
    const auto rows_of = [](Index wrong) {
        Tensor weights = exact_weights(verify_state());
        for (Index row = 0; row < wrong; ++row)
            for (Index key = 0; key < 4; ++key) weights(0, 0, row, key) = NAN;
        return build_verify_view(verify_state({CheckFile{"w.npz"}}, file_of_weights(weights)));
    };
    CHECK(rows_of(2).rows_title == "2 rows are equally wrong");
    CHECK(rows_of(1).rows_title == "worst rows");
    const VerifyView planted = build_verify_view(verify_state({PlantFault{"softmax_axis"}}));
    const auto cause = std::ranges::find_if(planted.findings, [](const Finding& finding) {
        return has(finding.text, "With this fault in the reference");
    });
    REQUIRE(cause != planted.findings.end());
    CHECK(cause->bad);
    CHECK_FALSE(cause->warns);
}

TEST_CASE("verify: what cannot be compared says why, and nothing is lost") {
    const Tensor small({1, 1, 2, 2}, std::vector<float>{1, 0, 0, 1});
    AppState state = verify_state({CheckFile{"small.npz"}}, file_of_weights(small));
    VerifyView view = build_verify_view(state);
    CHECK(has(view.point, "Not compared: weights is [1, 1, 2, 2] in small.npz"));
    CHECK_FALSE(view.ready);
    CHECK(verify_inspector(state).empty);
    const Opener none = [](const OpenRequest&, const RunControl&) -> Result<Opened> {
        return bad_input("gone.npz is not there");
    };
    play(state, {CheckFile{"gone.npz"}}, none);
    CHECK(has(build_verify_view(state).point, "gone.npz is not there"));
    play(state, {CheckFile{""}});
    CHECK_FALSE(build_verify_view(state).bad);
    CHECK(has(verify_missing_data(after(preset_state("empty"), {})), "nothing to check"));
}

TEST_CASE("verify: a long matrix is drawn in blocks, each with its worst number") {
    std::string sentence;
    for (int n = 0; n < 64; ++n) sentence += "w ";
    AppState state =
        after(initial_state(), {SetSentence{sentence}, SetWorkspace{"verify"}, PlantFault{""}});
    play(state, {});
    REQUIRE(build_verify_view(state).grid);
    CHECK(build_verify_view(state).grid->rows == 64);
    CHECK(build_verify_view(state).blocks.empty());

    // Two of 130 × 130 weights that are not what Q = K = 0 makes of them.
    verify::Side side;
    side.path = "long.npz";
    side.inputs.q = side.inputs.k = Tensor({1, 1, 130, 2});
    side.input_names = verify::InputNames::call;
    Tensor weights({1, 1, 130, 130}, std::vector<float>(130 * 130, 1.0F / 130.0F));
    weights(0, 0, 100, 7) = 1.0F;
    weights(0, 0, 101, 8) = 0.5F;
    side.results[Stage::weights] = weights;
    side.keys = {"weights"};
    const auto shared = std::make_shared<const verify::Side>(std::move(side));
    const Opener open = [&](const OpenRequest&, const RunControl&) -> Result<Opened> {
        Opened opened;
        opened.side = shared;
        return opened;
    };
    play(state, {CheckFile{"long.npz"}}, open);
    const VerifyView view = build_verify_view(state);
    REQUIRE(view.grid);
    CHECK(view.grid->rows == 44);  // 130 in blocks of 3
    CHECK(has(view.blocks, "3 × 3"));
    CHECK(shown_cell(state) == CheckedCell{0, 0, 100, 7});
    CHECK(*view.grid->selected == std::pair<Index, Index>{33, 2});
    CHECK(checked_cell_at(state, 33, 2) == CheckedCell{0, 0, 100, 7});  // the worse of its two
    CHECK(view.lines.front().cells[4] == "2 of 16,900");
}

TEST_CASE("verify: a tolerance that is chosen is the one that counts") {
    const AppState first = verify_state();
    Tensor weights = exact_weights(first);
    weights(0, 0, 2, 1) += 5e-4F;
    AppState state = verify_state({CheckFile{"kernel.npz"}}, file_of_weights(weights));
    CHECK(build_verify_view(state).bad);
    play(state, {SetAllowed{Allowed::e3}}, file_of_weights(weights));
    CHECK_FALSE(build_verify_view(state).bad);
    CHECK(shown_array(state)->comparison.tolerance.absolute == 1e-3);
    play(state, {SetAllowed{Allowed::e4}}, file_of_weights(weights));
    CHECK(build_verify_view(state).bad);
}

TEST_CASE("verify: what the window sets is the call that a file's results are held to") {
    const AppState plain = preset_state("the-cat-sat-down");
    const Inputs inputs = *plain.document().inputs;
    AttentionSpec causal = plain.document().spec;
    causal.mask.causal = CausalAlign::top_left;
    verify::Side side;
    side.path = "all.npz";
    side.results[Stage::weights] =
        cast<float>((*attend_exact(cast<double>(inputs), causal))[Stage::weights]);
    side.keys = {"weights"};
    side.inputs = inputs;
    side.input_names = verify::InputNames::call;
    side.has_values = true;
    side.spec = plain.document().spec;  // the file says no mask
    const Opener open = [&](const OpenRequest&, const RunControl&) -> Result<Opened> {
        Opened opened;
        opened.side = std::make_shared<const verify::Side>(side);
        return opened;
    };
    auto document = std::make_shared<Document>(plain.document());
    document->origin = FileOrigin{"all.npz"};
    const auto opened = std::make_shared<Opened>();
    opened->document = document;
    AppState state = after(plain, {OpenFile{"all.npz"}, DocumentReady{"all.npz", "", opened}});
    play(state, {SetWorkspace{"verify"}}, open);
    CHECK(build_verify_view(state).bad);
    play(state, {SetCausalMask{CausalChoice::top_left}}, open);
    const VerifyView view = build_verify_view(state);
    CHECK_FALSE(view.bad);
    CHECK(std::ranges::count(view.findings, "Options: those of the window.", &Finding::text) == 1);
}

TEST_CASE("verify: a session brings back what is checked") {
    const AppState state =
        verify_state({PlantFault{"softmax_axis"}, ShowChecked{"context"},
                      SetErrorScale{ErrorScale::relative}, SetAllowed{Allowed::e5}});
    AppState read = reopened(state, {state.backends, state.workspaces});
    CHECK(verify_look(read).fault == "softmax_axis");
    CHECK(verify_look(read).array == "context");
    CHECK(verify_look(read).scale == ErrorScale::relative);
    CHECK(verify_look(read).allowed == Allowed::e5);
    CHECK(read.workspace == "verify");
}

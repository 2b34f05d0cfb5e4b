#include "app/common/document/intervention_effects.h"
#include "app/common/workspace.h"
#include "app/workspaces/masks/actions.h"
#include "app/workspaces/masks/conventions.h"
#include "app/workspaces/masks/long.h"
#include "app/workspaces/masks/view.h"
#include "core/spec_arrays.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

const PaintMask kEmptyRow{2, 0, 2, 3, PaintShape::rectangle, false};

AppState conventions_state(const Actions& actions = {}) {
    return after(masks_state({ShowMasksTab{MasksTab::conventions}}), actions);
}

/// The causal mask under a second convention.
MasksView causal_view(const std::string& second) {
    return build_masks_view(
        conventions_state({SetCausalMask{CausalChoice::top_left}, SetConvention{1, second}}));
}

const ConventionView& row_of(const MasksView& view, std::string_view key) {
    for (const ConventionGroup& group : view.groups)
        for (const ConventionView& row : group.rows)
            if (row.key == key) return row;
    FAIL("no such row");
    return view.groups.front().rows.front();
}

}  // namespace

TEST_CASE("conventions have keys of their own and the first two are there") {
    const auto table = convention_table();
    for (const ConventionInfo& row : table) CHECK(find_convention(row.key) == &row);
    CHECK(find_convention(kFirstConvention) != nullptr);
    CHECK(find_convention(kSecondConvention) != nullptr);
    CHECK(find_convention("") == nullptr);
}

TEST_CASE("a fill of −1e9 is the same until a row is empty, which it then spreads evenly") {
    const MasksView same =
        build_masks_view(conventions_state({SetCausalMask{CausalChoice::top_left}}));
    CHECK(same.point ==
          "“fill with −1e9” gives the same 16 weights as “−∞, empty rows 0”, up to rounding.");
    REQUIRE(same.notes.size() == 1);
    CHECK(same.notes[0] == "The two conventions give the same weights here.");
    const MasksView view = build_masks_view(conventions_state({kEmptyRow}));
    CHECK(view.point ==
          "“fill with −1e9” differs from “−∞, empty rows 0” in 1 of 4 rows, most at row 2 (sat), "
          "key 0 (as much in 3 other cells): 0.25 against 0.00.");
    REQUIRE(view.notes.size() == 1);
    CHECK(view.notes[0] ==
          "Row 2 (sat), all masked: keys 0 … 3 get 25.0 % each under “fill with −1e9”, 0.0 % "
          "under “−∞, empty rows 0”.");
    CHECK(row_of(view, "1e9").verdict == "1 row, ≤ 0.25");
    CHECK(row_of(view, "nan").verdict == "1 row, NaN");
    CHECK(row_of(view, "zero").verdict == "same");
    CHECK(row_of(view, "zero").first);
    CHECK(row_of(view, "1e9").second);
    CHECK(row_of(view, "1e9").differs);
}

TEST_CASE("the weights of both conventions and their difference stand beside each other") {
    const MasksView view = build_masks_view(conventions_state({kEmptyRow}));
    REQUIRE(view.grids.size() == 3);
    CHECK(view.grids[0].at(2, 1).value == 0.0);
    CHECK(view.grids[1].at(2, 1).value == 0.25);
    CHECK(view.grids[2].at(2, 1).value == 0.25);
    CHECK(view.grids[2].at(0, 0).value == 0.0);
    CHECK(view.grids[0].sides[0].cells[2] == "0.00");
    CHECK(view.grids[1].sides[0].cells[2] == "1.00");
    CHECK(view.flagged == std::vector<bool>{false, false, true, false});
    const MasksView nan = build_masks_view(conventions_state({kEmptyRow, SetConvention{1, "nan"}}));
    CHECK(nan.grids[1].at(2, 1).look == CellLook::not_a_number);
    CHECK(nan.grids[2].at(2, 1).look == CellLook::not_a_number);
    CHECK(nan.grids[2].sides[0].cells[2] == "NaN");
    CHECK(nan.notes[0] ==
          "Row 2 (sat), all masked: key 0 gets NaN under “−∞, empty rows NaN”, 0.0 % under “−∞, "
          "empty rows 0”.");
}

TEST_CASE("a mask after softmax, none at inference, by a product, read as forbidden, in words") {
    MasksView view = causal_view("after");
    REQUIRE_FALSE(view.notes.empty());
    CHECK(view.notes[0].starts_with("Row 0 (The): its weights sum to 0."));
    CHECK(has(view.notes[0], "to 1.00 under “−∞, empty rows 0”"));
    CHECK(row_of(view, "after_renormalised").verdict == "same");
    CHECK(view.grids[1].sides[0].cells[3] == "1.00");  // the last row sees every key
    view = causal_view("never");
    REQUIRE(view.grids.size() == 3);
    CHECK(row_of(view, "never").verdict.starts_with("3 rows"));
    CHECK(has(view.notes[0], "keys 1 … 3 get"));
    CHECK(view.grids[1].at(0, 1).value > 0.0);
    for (Index j = 0; j < 4; ++j) CHECK(view.grids[2].at(3, j).value == 0.0);
    view = causal_view("times_zero");
    const double allowed = view.grids[1].at(0, 0).value;
    CHECK(view.grids[1].at(0, 1).value == view.grids[1].at(0, 2).value);
    CHECK(allowed + 3.0 * view.grids[1].at(0, 1).value == doctest::Approx(1.0));
    CHECK(view.grids[1].at(0, 1).value > 0.0);
    view = causal_view("hide");
    CHECK(view.grids[1].at(0, 0).value == 0.0);
    CHECK(view.grids[1].sides[0].cells[0] == "1.00");
    CHECK(has(view.notes[0], "keys 1 … 3 get 100.0 % together under “1 read as forbidden”"));
}

TEST_CASE("what leaks is never said to be 0.0 %, nor all where it is not") {
    bool small = false;
    for (const Index gain : {0, 1, 2})
        for (const ConventionInfo& each : convention_table()) {
            const MasksView view = build_masks_view(conventions_state(
                {SetCausalMask{CausalChoice::top_left}, SetConvention{1, std::string(each.key)},
                 SetConventionGain{gain}}));
            for (const std::string& note : view.notes) {
                CHECK_FALSE_MESSAGE(has(note, " 0.0 % each"), note);
                CHECK_FALSE_MESSAGE(has(note, " 0.0 % together"), note);
                small = small || has(note, "less than 0.1 %") || has(note, "more than 99.9 %");
            }
        }
    CHECK(small);
}

TEST_CASE("−1e5 leaks where scores are large, the document's own numbers stay as they are") {
    const AppState state =
        conventions_state({SetCausalMask{CausalChoice::top_left}, SetConvention{1, "1e5"}});
    CHECK(row_of(build_masks_view(state), "1e5").verdict == "same");
    const AppState large = after(state, {SetConventionGain{6}});
    const auto scores = (*state.trace)[Stage::scaled].matrix(0, 0);
    bool leaks = false;  // an allowed row whose scores · 10⁶ all lie below −1e5
    for (Index i = 0; i < 3; ++i) {
        float most = -HUGE_VALF;
        for (Index j = 0; j <= i; ++j) most = std::max(most, scores(i, j) * 1e6F);
        leaks = leaks || most < -1e5F;
    }
    CHECK((row_of(build_masks_view(large), "1e5").verdict != "same") == leaks);
    CHECK(large.trace == state.trace);
    CHECK(masks_look(after(large, {SetConventionGain{39}})).gain == 6);
}

TEST_CASE("what is no convention is refused") {
    const AppState state = conventions_state({SetConvention{1, "magic"}});
    CHECK(state.message.severity == Severity::warning);
    CHECK(masks_look(state).conventions[1] == kSecondConvention);
    CHECK(masks_look(conventions_state({SetConvention{2, "nan"}})).conventions[1] ==
          kSecondConvention);
}

TEST_CASE("the pair is explained under both conventions") {
    const AppState state = conventions_state({kEmptyRow, SelectPair{2, 1, false}});
    const InspectorView inspector = shown_workspace(state).inspector(state);
    CHECK(inspector.title == "sat → cat");
    CHECK(inspector.value == "0.00 | 0.25");
    REQUIRE(inspector.table);
    CHECK(inspector.table->rows[1].cells[0].text == "0");
    CHECK(inspector.table->rows[1].cells[1].text == "0.0000");
    CHECK(inspector.table->rows[1].cells[2].text == "0.2500");
}

TEST_CASE("code that makes the mask: a line for each rule, the paint as a literal") {
    const AppState state =
        after(initial_state(),
              {SetCausalMask{CausalChoice::top_left}, SetWindowSides{2, 1}, SetGlobalTokens{1},
               SetBlock{3}, SetPadding{3}, PaintMask{1, 2, 1, 2, PaintShape::line, false}});
    CHECK(mask_code(state.document(), MaskCode::numpy) ==
          "import numpy as np\n\n"
          "i = np.arange(4)[:, None]  # queries\n"
          "j = np.arange(4)[None, :]  # keys\n"
          "mask = np.ones((4, 4), dtype=bool)  # True: may attend\n"
          "mask &= j <= i  # causal\n"
          "mask &= ((i - j <= 2) & (j - i <= 1)) | (j < 1) | ((i >= 0) & (i < 1))  # window, and "
          "global tokens\n"
          "mask &= i // 3 == j // 3  # blocks\n"
          "mask &= j < 3  # padding: valid keys\n"
          "mask &= np.array([\n"
          "    [1, 1, 1, 1],\n"
          "    [1, 1, 0, 1],\n"
          "    [1, 1, 1, 1],\n"
          "    [1, 1, 1, 1],\n"
          "], dtype=bool)  # painted\n"
          "# masked = np.where(mask, scores, -np.inf)\n");
    const AppState copied = after(state, {SetWorkspace{"masks"}, CopyMask{MaskCode::pytorch}});
    REQUIRE(copied.effects.clipboard);
    CHECK(copied.effects.clipboard == mask_code(state.document(), MaskCode::pytorch));
    CHECK(copied.effects.clipboard->find("mask = torch.ones((4, 4), dtype=torch.bool)") !=
          std::string::npos);
}

TEST_CASE("code of a window: both sides alike, each alone, of other lengths, of shifted queries") {
    const auto code = [](std::optional<Index> left, std::optional<Index> right) {
        const AppState state = after(initial_state(), {SetWindowSides{left, right}});
        const std::string text = mask_code(state.document(), MaskCode::numpy);
        const auto at = text.find("mask &= ");
        return text.substr(at, text.find('\n', at) - at);
    };
    CHECK(code(2, 2) == "mask &= (abs(i - j) <= 2)  # window");
    CHECK(code(2, std::nullopt) == "mask &= (i - j <= 2)  # window");
    CHECK(code(std::nullopt, 1) == "mask &= (j - i <= 1)  # window");
    CHECK(code(2, 0) == "mask &= (i - j <= 2) & (j - i <= 0)  # window");
}

TEST_CASE(
    "scores before the mask are computed anew for every option that they depend on, and for no "
    "other") {
    const AttentionSpec usual;
    const MaskScoresRequest request{nullptr, usual};
    const auto differs = [&](auto change) {
        AttentionSpec spec = usual;
        change(spec);
        return !(request == MaskScoresRequest{nullptr, spec});
    };
    CHECK_FALSE(differs([](AttentionSpec&) {}));
    CHECK(differs([](AttentionSpec& spec) { spec.softcap = 2.0; }));
    CHECK(differs([](AttentionSpec& spec) { spec.bias_before_softcap = true; }));
    CHECK(differs(
        [](AttentionSpec& spec) { spec.mask.bias = std::make_shared<const attn::PairBias>(); }));
    CHECK(differs(
        [](AttentionSpec& spec) { spec.rope.emplace().scaling.kind = attn::RopeScale::linear; }));
    CHECK_FALSE(differs([](AttentionSpec& spec) { spec.seed = 7; }));
}

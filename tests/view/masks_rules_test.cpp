#include "app/common/document/document.h"
#include "app/common/document/mask_rules.h"

#include "app/workspaces/masks/actions.h"
#include "app/workspaces/masks/view.h"
#include "core/check_mask.h"
#include "core/masks.h"
#include "tests/view/large_sample.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

/// "The cat sat down" in the Masks workspace.
const SwitchView& switch_of(const MasksView& view, MaskSwitch which) {
    return view.switches[static_cast<std::size_t>(which)];
}

std::vector<std::uint8_t> allowed_in(const AppState& state) {
    return pairs_allowed_by(state, state.document().spec.mask);
}

const PaintMask kForbidOne{1, 2, 1, 2, PaintShape::line, false};

Actions all_rules() {
    return {SetCausalMask{CausalChoice::top_left},
            SetWindowSides{2, 1},
            SetGlobalTokens{1},
            SetBlock{3},
            SetPadding{3},
            PaintMask{2, 1, 3, 2, PaintShape::rectangle, false}};
}

}  // namespace

TEST_CASE("a pair is allowed where every rule allows it, for any mask and shape") {
    std::vector<AppState> states = sample_states();
    states.push_back(masks_state(all_rules()));
    states.push_back(after(preset_state("cross-attention"), all_rules()));
    states.push_back(after(preset_state("cross-attention"),
                           {SetCausalMask{CausalChoice::bottom_right}, SetWindowSides{1, 0}}));
    int forbidden = 0;
    for (const AppState& state : states) {
        const Dimensions& size = state.document().size;
        for (const auto [i, j] : each_cell(size.tq, size.tk)) {
            bool all = true;
            for (const RuleVerdict& verdict : rule_verdicts(state, {i, j}))
                all = all && verdict.allows;
            CHECK(all ==
                  may_attend(state.document().spec.mask, size, state.batch, state.head, i, j));
            forbidden += all ? 0 : 1;
        }
    }
    CHECK(forbidden > 100);
}

TEST_CASE("each rule says its own arithmetic") {
    const auto text = [](const Actions& actions, Pair pair) {
        const auto verdicts = rule_verdicts(masks_state(actions), pair);
        REQUIRE(verdicts.size() == 1);
        return verdicts[0].name + (verdicts[0].allows ? " allows: " : " forbids: ") +
               verdicts[0].text;
    };
    CHECK(text({SetCausalMask{CausalChoice::top_left}}, {1, 3}) == "causal forbids: j = 3 > i = 1");
    CHECK(text({SetCausalMask{CausalChoice::top_left}}, {1, 1}) == "causal allows: j = 1 ≤ i = 1");
    CHECK(text({SetWindowSides{2, 2}}, {3, 0}) == "window forbids: |i − j| = 3 > 2");
    CHECK(text({SetWindowSides{2, 2}}, {0, 2}) == "window allows: |i − j| = 2 ≤ 2");
    CHECK(text({SetWindowSides{2, 1}}, {0, 2}) == "window forbids: j − i = 2 > 1");
    CHECK(text({SetWindowSides{2, 1}}, {3, 0}) == "window forbids: i − j = 3 > 2");
    CHECK(text({SetWindowSides{2, std::nullopt}}, {0, 3}) ==
          "window allows: no limit on the right");
    CHECK(text({SetWindowSides{1, 1}, SetGlobalTokens{1}}, {3, 0}) ==
          "window allows: the key is a global token: every query sees it");
    CHECK(text({SetWindowSides{1, 1}, SetGlobalTokens{1}}, {0, 3}) ==
          "window allows: the query is a global token: it sees every key");
    CHECK(text({SetBlock{2}}, {1, 2}) ==
          "block forbids: i is in block 0, j in block 1, of 2 tokens each");
    CHECK(text({SetQueryOffset{2}, SetBlock{2}}, {1, 3}) ==
          "block allows: p and j are in block 1 of 2 tokens, p = i + 2");
    CHECK(text({SetQueryOffset{2}, SetBlock{2}}, {1, 1}) ==
          "block forbids: p is in block 1, j in block 0, of 2 tokens each, p = i + 2");
    CHECK(text({SetPadding{3}}, {0, 3}) == "padding forbids: j = 3 ≥ 3, the number of valid keys");
    CHECK(text({kForbidOne}, {1, 2}) == "paint forbids: painted as forbidden");
    CHECK(text({kForbidOne}, {1, 1}) == "paint allows: not painted as forbidden");
}

TEST_CASE("a causal mask of other numbers of queries and keys says where its diagonal starts") {
    AppState state = preset_state("cross-attention");
    const Dimensions size = state.document().size;
    REQUIRE(size.tk != size.tq);
    state = after(std::move(state), {SetCausalMask{CausalChoice::bottom_right}});
    const Index shift = size.tk - size.tq;
    const auto verdicts = rule_verdicts(state, {0, 0});
    const std::string number = std::to_string(std::abs(shift));
    CHECK(verdicts[0].text == std::string("j = 0 ") + (0 <= shift ? "≤" : ">") + " i " +
                                  (shift > 0 ? "+ " : "− ") + number + " = " +
                                  std::to_string(shift));
    CHECK(verdicts[0].allows == (shift >= 0));
}

TEST_CASE("the switches count the pairs that each rule alone allows") {
    const MasksView view =
        build_masks_view(masks_state({SetCausalMask{CausalChoice::top_left}, SetWindowSides{1, 1},
                                      SetBlock{2}, SetPadding{3}, kForbidOne}));
    CHECK(switch_of(view, MaskSwitch::causal).count == "alone: 10 of 16");
    CHECK(switch_of(view, MaskSwitch::window).count == "alone: 10 of 16");
    CHECK(switch_of(view, MaskSwitch::block).count == "alone: 8 of 16");
    CHECK(switch_of(view, MaskSwitch::padding).count == "alone: 12 of 16");
    CHECK(switch_of(view, MaskSwitch::paint).count == "alone: 15 of 16");
    CHECK(switch_of(view, MaskSwitch::causal).text == "query i sees keys 0 … i");
    CHECK(switch_of(view, MaskSwitch::window).text == "query i sees keys i − 1 … i + 1");
    CHECK(switch_of(view, MaskSwitch::padding).text ==
          "keys 0 … 2 are valid, the last one is padding");
    CHECK(switch_of(view, MaskSwitch::paint).text == "1 pair painted as forbidden");
    for (const SwitchView& rule : view.switches) CHECK(rule.on == (rule.name != "global tokens"));
}

TEST_CASE("global tokens widen the window and need one") {
    AppState state = masks_state();
    CHECK_FALSE(switch_of(build_masks_view(state), MaskSwitch::globals).possible.empty());
    state = after(std::move(state), {SetWindowSides{0, 0}, SetGlobalTokens{1}});
    // the diagonal, row 0 and column 0 of 4 × 4
    CHECK(count_allowed(allowed_in(state)) == 10);
    CHECK(switch_of(build_masks_view(state), MaskSwitch::globals).count == "+ 6 in the window");
    state = after(std::move(state), {SetWindowSides{std::nullopt, std::nullopt}});
    CHECK(state.document().spec.mask.global_tokens == 0);
    CHECK(state.message.severity == Severity::info);
    state = after(masks_state(), {SetWindow{1}, SetGlobalTokens{2}, SetWindow{std::nullopt}});
    CHECK(state.document().spec.mask.global_tokens == 0);
    CHECK_FALSE(state.document().spec.mask.any());
}

TEST_CASE("the same reach on both sides is the window that Step sets; a block of any length") {
    AppState state = masks_state({SetWindowSides{1, 1}});
    CHECK(state.document().spec.mask.window == 1);
    CHECK_FALSE(state.document().spec.mask.window_left);
    CHECK_FALSE(acted(state, {SetWindowSides{1, 2}}).document().spec.mask.window);
    CHECK(state.document().spec.mask.window_left == 1);
    CHECK(state.document().spec.mask.window_right == 2);
    CHECK(after(state, {Undo{}}).document().spec.mask.window == 1);
    state = masks_state({SetBlock{std::numeric_limits<Index>::max()}});
    CHECK(count_allowed(allowed_in(state)) == 16);
    CHECK(switch_of(build_masks_view(state), MaskSwitch::block).text ==
          "all tokens are in one block");
}

TEST_CASE("a rule that cannot be is refused and changes nothing, of generated matrices too") {
    for (const Action& action : {Action(SetPadding{5}), Action(SetPadding{-1}), Action(SetBlock{0}),
                                 Action(SetWindowSides{-1, 0}), Action(SetGlobalTokens{1}),
                                 Action(PaintMask{0, 0, 4, 0, PaintShape::line, false}),
                                 Action(PaintMask{-1, 0, 0, 0, PaintShape::line, false})}) {
        const AppState state = after(masks_state(), {action});
        CHECK(state.message.severity != Severity::info);
        CHECK_FALSE(state.document().spec.mask.any());
        CHECK(state.history.size() == 1);
    }
    const AppState map = planted_state({.tokens = 256, .d_k = 32});
    for (const Action& action :
         {Action(SetBlock{0}), Action(SetBlock{-3}), Action(SetPadding{-1}),
          Action(SetPadding{257}), Action(SetWindowSides{-1, 2}), Action(SetGlobalTokens{-1})}) {
        const AppState state = after(map, {action});
        CHECK(state.message.severity == Severity::error);
        CHECK(has(state.message.text, ": it must be "));
        CHECK_FALSE(state.document().spec.mask.any());
        CHECK(state.history.size() == map.history.size());
    }
    MaskSpec blocks;
    blocks.block = 0;
    CHECK(check_mask(blocks, map.document().size).error().text() ==
          "block is 0: it must be at least 1");
}

TEST_CASE("a session with a rule that cannot be is refused in a sentence") {
    const AppState toy = masks_state({SetWindowSides{2, 1}, SetBlock{2}, SetPadding{3}});
    const AppState map = after(planted_state({.tokens = 256, .d_k = 32}),
                               {SetWindowSides{2, 1}, SetBlock{2}, SetPadding{3}});
    for (const AppState& state : {toy, map})
        for (const auto& [from, to, sentence] :
             {std::tuple{"\"block\": 2", "\"block\": 0", "has 'block' = 0: expected at least 1"},
              std::tuple{"\"block\": 2", "\"block\": -2", "has 'block' = -2: expected at least 1"},
              std::tuple{"\"padding\": [3]", "\"padding\": [-3]",
                         "has 'padding' = -3: expected at least 0"},
              std::tuple{"\"padding\": [3]", "\"padding\": [999]", "it must be 0 to Tk = "},
              std::tuple{"\"window_left\": 2", "\"window_left\": -2",
                         "has 'window_left' = -2: expected at least 0"}}) {
            const std::string text = replaced(session_to_json(state), from, to);
            const std::string reported = session_fault(text, {.open = open_planted});
            CAPTURE(reported);
            CHECK(has(reported, sentence));
        }
}

TEST_CASE("without a sentence there is no mask to set") {
    for (const Action& action :
         {Action(SetCausalMask{CausalChoice::top_left}), Action(SetPadding{1}), Action(SetBlock{1}),
          Action(SetWindowSides{1, 1}), Action(SetGlobalTokens{1}), Action(SetEmptyRows{true}),
          Action(PaintRules{}), Action(PaintMask{0, 0, 0, 0, PaintShape::line, false})}) {
        const AppState state = after(preset_state("empty"), {action});
        CHECK(state.message.severity == Severity::warning);
        CHECK_FALSE(state.document().spec.mask.any());
    }
}

TEST_CASE("empty rows give 0 or NaN, as the document says") {
    const Actions empty{PaintMask{2, 0, 2, 3, PaintShape::rectangle, false}};
    AppState state = masks_state(empty);
    CHECK(build_masks_view(state).flagged == std::vector<bool>{false, false, true, false});
    CHECK((*state.trace)[Stage::weights](0, 0, 2, 1) == 0.0F);
    CHECK(std::isnan((*acted(state, {SetEmptyRows{true}}).trace)[Stage::weights](0, 0, 2, 1)));
    const MasksView view = build_masks_view(state);
    CHECK(view.grids[1].at(2, 1).look == CellLook::not_a_number);
    CHECK(view.grids[0].at(2, 1).look == CellLook::masked);
    CHECK(view.grids[2].at(2, 1).look == CellLook::masked);
    CHECK(view.warns);
}

TEST_CASE("a row is compared with the same row without a mask; the pointer chooses it") {
    const AppState plain = masks_state();
    AppState state = masks_state({SetCausalMask{CausalChoice::top_left}});
    for (const Index row : {1, 2}) {
        state = acted(state, {HoverPair{Pair{row, 0}}});
        const auto change = build_masks_view(state).change;
        REQUIRE(change);
        CHECK(change->row == row);
        const auto before = (*plain.trace)[Stage::weights].matrix(0, 0).row(row);
        const auto after = (*state.trace)[Stage::weights].matrix(0, 0).row(row);
        for (std::size_t j = 0; j < before.size(); ++j) {
            CHECK(change->before[j] == doctest::Approx(before[j]).epsilon(1e-5));
            CHECK(change->after[j] == after[j]);
        }
        CHECK(change->after[3] == 0.0);
        CHECK(change->before[3] > 0.0);
    }
    CHECK_FALSE(build_masks_view(acted(state, {ShowMasksTab{MasksTab::conventions}})).change);
}

TEST_CASE("the first line says what the numbers say") {
    CHECK(build_masks_view(masks_state()).point ==
          "No mask: every query may attend to every key, 4 × 4 = 16 pairs; every row of weights "
          "sums to 1.");
    CHECK(build_masks_view(masks_state({SetCausalMask{CausalChoice::top_left}})).point ==
          "The mask allows 10 of 16 pairs; every row of weights sums to 1.");
    const Actions empty{PaintMask{2, 0, 2, 3, PaintShape::rectangle, false}};
    CHECK(build_masks_view(masks_state(empty)).point ==
          "The mask allows 12 of 16 pairs, and no key to row 2 (sat); every other row of weights "
          "sums to 1.");
    CHECK(build_masks_view(masks_state({SetPadding{0}})).point ==
          "The mask allows 0 of 16 pairs, and no key to 4 rows.");
    const AppState nan = masks_state({SetCell{{Stage::x, 1, 0}, std::nan("")}});
    CHECK(build_masks_view(nan).point ==
          "No mask: every query may attend to every key, 4 × 4 = 16 pairs; 4 rows of weights "
          "contain NaN.");
}

TEST_CASE("Masks shows what has cells, or what it lacks; its controls have the sizes") {
    CHECK(masks_missing_data(masks_state()).empty());
    CHECK(has(masks_missing_data(preset_state("empty")), "no sentence"));
    for (const AppState& state : sample_states())
        if (masks_missing_data(state).empty()) {
            const MasksView view = build_masks_view(state);
            REQUIRE(view.grids.size() == 3);
            for (const GridView& grid : view.grids) {
                CHECK(grid.rows == state.document().size.tq);
                CHECK(grid.columns == state.document().size.tk);
            }
        }
    const AppState state = after(two_sequences_state(), {SetWorkspace{"masks"}, ShowHead{1, 1}});
    const MaskControls controls = build_masks_view(state).controls;
    CHECK(controls.queries == 3);
    CHECK(controls.keys == 3);
    CHECK(controls.heads == 2);
    CHECK(controls.head == 1);
    CHECK(controls.batches == 2);
    CHECK(controls.batch == 1);
    CHECK_FALSE(controls.any_rule);
}

TEST_CASE("the mask's arithmetic names B where there is a bias, and takes the sink along") {
    const AppState state = call_state("masks", [](Inputs& inputs, AttentionSpec& spec) {
        spec.alibi = true;
        spec.mask.causal = CausalAlign::top_left;
        inputs.params[Param::sinks] = Tensor(Shape{1, 1, 1, 2}, {0.5F, 0.0F});
    });
    const InspectorView view = masks_inspector(after(state, {SelectPair{1, 0, false}}));
    const double b = (*state.trace)[Stage::biased](0, 0, 1, 0);
    const auto line = [&](std::string_view label) {
        return one_of(view.lines, label, &Line::label).pieces.front().text;
    };
    CHECK(line("score B") == number(b));
    CHECK(line("masked M") == "B = " + number(b));
    CHECK(view.table->columns.front().title == "B");
    CHECK(has(view.as_python, "B = np.array(["));
    CHECK(has(view.as_python, "M = np.where(allowed, B, -np.inf)\nm = max(M.max(), 0.5)\n"));
    CHECK(has(view.as_python, "A = e / (e.sum() + np.exp(0.5 - m))\n"));
    CHECK(has(view.as_latex, "{\\sum_j \\exp(M_j - m) + \\exp(\\mathrm{sink} - m)}"));
    const AppState plain = call_state("masks", [](Inputs&, AttentionSpec&) {});
    CHECK(masks_inspector(plain).table->columns.front().title == "S");
}

TEST_CASE("the causal switch says where query 0 stands when it has an offset") {
    const AppState state = call_state("masks", [](Inputs&, AttentionSpec& spec) {
        spec.mask.causal = CausalAlign::top_left;
        spec.query_offset = 2;
    });
    const SwitchView causal = switch_of(build_masks_view(state), MaskSwitch::causal);
    CHECK(causal.text == "query i sees keys 0 … i + 2");
    CHECK(causal.tip ==
          "top-left: query 0 aligns with key 2, its offset. bottom-right: the last query aligns "
          "with the last "
          "key (decoding), whatever the offset.");
}

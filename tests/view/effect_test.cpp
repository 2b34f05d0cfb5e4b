#include "app/common/document/effect.h"
#include "app/common/document/document.h"

#include <set>

#include "app/common/inspector.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/train/task_table.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

// ---- the sentence, read back

using Stages = std::set<Stage>;

/// A list's noun, and what goes without saying after it.
Stages stages_of(std::string_view noun) {
    static const std::map<std::string_view, Stages> nouns{
        {"Q", {Stage::q}},
        {"K", {Stage::k}},
        {"V", {Stage::v}},
        {"Qⁿ", {Stage::q_norm}},
        {"Kⁿ", {Stage::k_norm}},
        {"Q′", {Stage::q_rot}},
        {"K′", {Stage::k_rot}},
        {"scores", {Stage::scores}},
        {"scaled scores", {Stage::scaled}},
        {"biased scores", {Stage::biased}},
        {"masked scores", {Stage::masked}},
        {"weights", {Stage::weights}},
        {"weights after dropout", {Stage::dropped}},
        {"context", {Stage::context}},
        {"output", {Stage::output}}};
    const auto found = nouns.find(noun);
    INFO("noun: ", noun);
    REQUIRE(found != nouns.end());
    return found->second;
}

Stages list_in(std::string_view text) {
    Stages stages;
    while (!text.empty()) {
        const auto comma = text.find(", ");
        const auto last = text.find(" and ");
        const auto end = std::min(comma, last);
        stages.merge(stages_of(text.substr(0, end)));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + (end == comma ? 2 : 5));
    }
    return stages;
}

struct Claims {
    Stages change, cannot, same;
};
Claims claims_in(std::string_view text) {
    Claims claims;
    for (const std::string_view part :
         {"in sequence ", "in head ", "head "})  // "in sequence 1, head 2, "
        if (text.starts_with(part)) text.remove_prefix(text.find(", ") + 2);
    while (!text.empty()) {
        const auto end = text.find("; ");
        std::string_view part = text.substr(0, end);
        const auto take = [&](std::string_view tail, Stages& stages) {
            if (part.ends_with(tail)) stages = list_in(part.substr(0, part.size() - tail.size()));
        };
        if (!part.ends_with(" cannot change")) take(" change", claims.change);
        if (part != "no computed number changes") take(" changes", claims.change);
        take(" cannot change", claims.cannot);
        take(" could change, but does not, up to rounding", claims.same);
        take(" could change, but do not, up to rounding", claims.same);
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 2);
    }
    return claims;
}

// ---- what really changed, computed here

/// Of the head shown in `state`, whichever head that is for keys and values.
std::optional<MatrixView<const float>> part(const AppState& state, const Trace& trace, Index heads,
                                            Stage stage) {
    const Tensor& tensor = trace[stage];
    if (tensor.empty() || state.batch >= tensor.shape().b) return std::nullopt;
    const Index h = tensor.shape().h == 1 && info(stage).heads == HeadAxis::none
                        ? 0
                        : state.head * tensor.shape().h / std::max<Index>(heads, 1);
    if (h >= tensor.shape().h) return std::nullopt;
    return tensor.matrix(state.batch, h);
}

bool differs(const AppState& before, const AppState& after, Stage stage) {
    const auto a = part(after, *before.trace, before.document().size.heads, stage);
    const auto b = part(after, *after.trace, after.document().size.heads, stage);
    if (!a || !b) return a.has_value() != b.has_value();
    if (a->rows != b->rows || a->columns != b->columns) return true;
    for (const auto [i, j] : each_cell(a->rows, a->columns)) {
        const float x = (*a)(i, j);
        const float y = (*b)(i, j);
        if (x != y && !(std::isnan(x) && std::isnan(y))) return true;
    }
    return false;
}

Action random_edit(const AppState& state, std::uint64_t n) {
    const auto pick = [&](std::uint64_t salt, Index count) {
        return static_cast<Index>(mix(n, salt) % static_cast<std::uint64_t>(count));
    };
    const OperandId tensors[] = {Stage::x,   Stage::x_kv, Param::w_q, Param::w_k,
                                 Param::w_v, Param::w_o,  Stage::q,   Stage::v};
    const double values[] = {0.0, 1.0, -2.5, 3.0, 1e-30, std::nan(""), HUGE_VAL};
    const Index heads = std::max<Index>(state.document().size.heads, 1);
    const Action all[] = {
        SetScaling{pick(1, 2) == 0},
        SetCausal{pick(1, 2) == 0},
        SetTemperature{0.25 * static_cast<double>(1 + pick(1, 8))},
        SetWindow{pick(1, 3) == 0 ? std::nullopt : std::optional<Index>(pick(2, 5))},
        SetKeyWidth{1 + pick(1, 6)},
        SetHeads{1 + pick(1, 4)},
        SetModelWidth{1 + pick(1, 6)},
        pick(1, 2) == 0 ? Action(SetSeed{mix(n, 4)}) : Action(SetSentence{"a b b c"}),
        Undo{},
        ShowHead{pick(1, heads)},
        SetCell{{tensors[pick(1, 8)], pick(2, 4), pick(3, 4)}, values[pick(4, 7)]}};
    return all[std::min(pick(0, 14), std::ssize(all) - 1)];
}

constexpr std::string_view kFalse[] = {"hardly",       "sharper",          "softer",
                                       "times larger", "sees every other", "set by hand",
                                       "no token sees"};

}  // namespace

TEST_CASE("no sentence and no mark claims a change that is none, or denies one that is") {
    std::size_t seen_cannot = 0, seen_same = 0, seen_change = 0;
    std::uint64_t seed = 0;
    for (AppState state : sample_states())
        for (std::uint64_t n = ++seed * 100; n < seed * 100 + 12; ++n) {
            const AppState before = state;
            view::apply(state, random_edit(state, n));
            for (const std::string_view text : kFalse) CHECK_FALSE(has(state.message.text, text));
            if (before.shared_document() == state.shared_document() || !state.effect) continue;
            const std::string text = effect_text(state);
            INFO("words ", text, ", state.message.words ", state.message.text);
            if (!has(state.message.text, "…"))  // all of it was told
                CHECK(has(state.message.text, text));
            const Claims claims = claims_in(text);
            for (const Stage stage : claims.change) CHECK(differs(before, state, stage));
            for (const Stage stage : claims.cannot) CHECK_FALSE(differs(before, state, stage));
            for (const Stage stage : claims.same) CHECK_FALSE(differs(before, state, stage));
            for (const RibbonItem& item : build_step_view(state).ribbon) {
                if (item.mark == Mark::none) continue;
                CAPTURE(info(item.stage).key);
                CHECK((item.mark == Mark::changed) == differs(before, state, item.stage));
                CHECK(has(item.tooltip, item.mark == Mark::changed ? "●" : "○"));
            }
            // what is left out is one of the three that go together, with the one before it
            const EffectStages groups = effect_stages(state);
            for (const Stage stage : groups.change)
                CHECK((claims.change.count(stage) || stage == Stage::scaled ||
                       stage == Stage::masked));
            for (const Stage stage : groups.cannot)
                CHECK((claims.cannot.count(stage) || stage == Stage::scaled ||
                       stage == Stage::masked));
            for (const Stage stage : groups.change) CHECK(differs(before, state, stage));
            for (const Stage stage : groups.cannot) CHECK_FALSE(differs(before, state, stage));
            seen_change += groups.change.size();
            seen_cannot += groups.cannot.size();
            seen_same += groups.same.size();
        }
    CHECK(seen_change > 300);  // the test saw all three
    CHECK(seen_cannot > 100);
    CHECK(seen_same > 10);
}

TEST_CASE("an edit of W_V cannot change the weights; could and did not is another thing") {
    AppState state = after(initial_state(), {SetCell{{Param::w_v, 1, 1}, 3.0}});
    CHECK(state.message.text ==
          "W_V[1, 1] 1.00 → 3.00: V, context and output change; Q, K, scores and weights cannot "
          "change.");
    const auto ribbon = build_step_view(state).ribbon;
    for (const RibbonItem& item : ribbon) {
        CAPTURE(info(item.stage).key);
        const bool changed =
            item.stage == Stage::v || item.stage == Stage::context || item.stage == Stage::output;
        CHECK(item.mark == (changed ? Mark::changed : Mark::same));
    }
    for (const RibbonItem& item : build_step_view(initial_state()).ribbon)
        CHECK(item.mark == Mark::none);
    state = after(initial_state(), {SetCell{{Stage::x, 0, 0}, 0.0}});
    state = after(state, {SetCell{{Param::w_q, 3, 3}, 5.0}});
    const EffectStages stages = effect_stages(state);
    CHECK(std::ranges::count(stages.cannot, Stage::k) == 1);
    CHECK(std::ranges::count(stages.change, Stage::q) == 1);
    const AppState window = after(initial_state(), {SetWindow{3}});
    CHECK(window.message.text ==
          "Window 3: no query sees a key more than 3 places away; no computed number changes; Q, "
          "K, V and scores cannot change; masked scores, weights, context and output could change, "
          "but do not, up to rounding.");
}

TEST_CASE("the row of another word is no earlier state of the row that is looked at") {
    const auto text = [](const char* sentence) {
        return after(initial_state(), {SetSentence{"one two three"}, SetSentence{sentence}})
            .message.text;
    };
    CHECK(has(text("one b c"), " → "));
    CHECK(has(text("a b c"), "largest weight of row a: "));
    CHECK_FALSE(has(text("a b c"), " → "));
    const std::string quoted = text("Donaudampfschifffahrtsgesellschaft and so on, and so on");
    CHECK(has(quoted, "“Donaudampfschifffahrtsgesellschaft and s…”: 7 tokens"));
}

TEST_CASE("a window of one place is no plural") {
    CHECK(has(after(initial_state(), {SetWindow{1}}).message.text,
              "Window 1: no query sees a key more than 1 place away"));
    CHECK(has(after(initial_state(), {SetWindowSides{1, 2}}).message.text,
              "Window: a query sees at most 1 place to its left and at most 2 "
              "places to its right"));
    CHECK(has(after(initial_state(), {SetWindowSides{2, std::nullopt}}).message.text,
              "Window: a query sees at most 2 places to its left and any key to its "
              "right"));
}

TEST_CASE("the sentence has the numbers of the row that is looked at, not of the largest weight") {
    const AppState state = after(initial_state(), {SetCausal{true}, GoToStage{Stage::weights},
                                                   SelectCell{{Stage::weights, 2, 1}}});
    const auto largest = [](const AppState& of) {
        const auto row = sheet_of(of, Stage::weights).values.row(2);
        return *std::ranges::max_element(row);
    };
    const AppState warmer = after(state, {SetTemperature{4.0}});
    CHECK(has(warmer.message.text, "largest weight of row sat: key cat, " +
                                       cell_number(largest(state), 2) + " → " +
                                       cell_number(largest(warmer), 2)));
    // row 0 of a causal mask is 1 whatever is done
    const AppState first = after(state, {SelectCell{{Stage::weights, 0, 0}}, SetTemperature{4.0}});
    CHECK(has(first.message.text, "largest weight of row The: key The, still 1.00"));
}

TEST_CASE("the largest weight is that of the head and the sequence that are shown") {
    const auto largest = [](const AppState& of, Index row) {
        const Tensor& weights = (*of.trace)[Stage::weights];
        return cell_number(*std::ranges::max_element(weights.matrix(of.batch, of.head).row(row)),
                           2);
    };
    const AppState heads =
        after(two_heads_state(), {GoToStage{Stage::weights}, SelectCell{{Stage::weights, 2, 1}}});
    std::set<std::string> reported;
    for (const Index head : {0, 1}) {
        const AppState before = after(heads, {ShowHead{head}});
        const AppState state = after(before, {SetTemperature{0.5}});
        const std::string text = effect_text(state);
        CAPTURE(text);
        CHECK(has(text, "in head " + std::to_string(head) + ", "));
        CHECK(has(text, " " + largest(before, 2) + " → "));
        CHECK(has(text, " " + largest(state, 2) + "; entropy "));
        reported.insert(largest(before, 2));
    }
    CHECK(reported.size() == 2);
}

TEST_CASE("undo and redo say what they change, and opening another document says nothing of it") {
    const AppState edited = after(initial_state(), {SetCell{{Param::w_v, 1, 1}, 3.0}});
    const AppState undone = after(edited, {Undo{}});
    CHECK(
        has(undone.message.text, "V, context and output change; Q, K, scores and weights cannot"));
    REQUIRE(change_of(undone, Stage::v));
    CHECK(change_of(undone, Stage::v)->fate == Fate::changed);
    const AppState other = after(edited, {LoadPreset{"three-heads"}});
    CHECK(change_of(other, Stage::v) == nullptr);
    CHECK(change_of(after(other, {Undo{}}), Stage::v) == nullptr);
    CHECK(change_of(after(other, {Undo{}, Undo{}}), Stage::v) != nullptr);
}

TEST_CASE("a drag is compared with what was there when it began") {
    const AppState state = after(
        initial_state(),
        {BeginGesture{}, SetTemperature{2.0}, SetTemperature{3.0}, SetTemperature{1.0 + 1e-9}});
    REQUIRE(state.effect);
    CHECK(state.effect->before.document->spec.temperature == 1.0);
    CHECK(state.now == 1);
}

TEST_CASE("the mark's words name the largest change, and other heads that changed") {
    const AppState edited =
        after(preset_state("three-heads"), {ShowHead{1}, SetCell{{Param::w_v, 6, 0}, 5.0}});
    const auto tooltip = [](const AppState& state, Stage stage) {
        return change_text(state, stage);
    };
    CHECK(tooltip(edited, Stage::v) ==
          "● changed by the last edit, most at V[to, 0]: 1.00 → 5.00, tied with 1 other");
    CHECK(tooltip(edited, Stage::q) == "○ unchanged: this stage does not depend on the last edit");
    const AppState other = after(edited, {ShowHead{0}});
    CHECK(tooltip(other, Stage::v) ==
          "○ unchanged: this stage does not depend on the last edit; changed in head 1");
    CHECK(has(tooltip(other, Stage::output), "● changed"));
    CHECK(tooltip(after(edited, {SetKeyWidth{7}}), Stage::q) == "● size changed by the last edit");
}

TEST_CASE("what scaling does is said of the scale that was there; a mask that stays is named") {
    const AppState value = json_state(R"("scale": 0.3)");
    CHECK(has(after(value, {SetScaling{false}}).message.text,
              "Scaling off: scores are no longer multiplied by 0.3; "));
    CHECK(has(after(initial_state(), {SetScaling{false}}).message.text,
              "Scaling off: scores are no longer divided by √4 = 2; "));
    CHECK(description_of(value, Stage::scaled) == "The scores are multiplied by 0.3.");
    CHECK(description_of(after(value, {SetScaling{false}, SetTemperature{2.0}}), Stage::scaled) ==
          "Scaling is off: the scores are divided only by the temperature 2.");
    CHECK(has(description_of(initial_state(), Stage::scaled),
              "divided by √4 = 2: √d_k is the standard deviation"));
    const AppState padded = json_state(R"("padding": 2, "causal": true)");
    CHECK(has(after(padded, {SetCausal{false}}).message.text,
              "Causal mask off, the padding mask stays: "));
    CHECK(has(after(initial_state(), {SetCausal{true}, SetCausal{false}}).message.text,
              "every query may see every key"));
    CHECK(description_of(json_state(R"("padding": 3)"), Stage::masked) ==
          "The mask sets 4 of 16 scores to −∞.");
    CHECK(
        has(description_of(json_state(R"("padding": 4)"), Stage::masked), "forbids no pair here"));
}

TEST_CASE("a stage's sentence holds for W_O, biases and empty rows, and names the source") {
    CHECK(description_of(preset_state("cat-sat-mat"), Stage::output) ==
          "There is no W_O: the output is the context.");
    CHECK(description_of(preset_state("three-heads"), Stage::output) ==
          "There is no W_O: the output is the concatenated context.");
    CHECK(description_of(preset_state("eight-heads"), Stage::output) ==
          "W_O maps the concatenated contexts of all heads to one new vector for each token.");
    CHECK(has(description_of(preset_state("cross-attention"), Stage::k),
              "its row of X_kv times W_K."));
    CHECK(
        has(description_of(preset_state("cross-attention"), Stage::q), "its row of X times W_Q."));
    CHECK(description_of(json_state(R"("padding": 0)"), Stage::weights) ==
          "Softmax turns a row of scores into weights that sum to 1, but 4 of 4 rows may attend to "
          "no key and are 0.");
    CHECK(has(description_of(json_state(R"("padding": 0, "empty_rows": "nan")"), Stage::weights),
              "4 of 4 rows hold NaN"));
    CHECK(has(description_of(json_state(R"("dropout": 0.5)"), Stage::context), "its weight in Ã"));
    const AppState state = after(preset_state("cross-attention"), {SelectCell{{Param::w_k, 1, 1}}});
    CHECK(has(step_inspector(state).as_text, "column 1 of X_kv and adds to column 1 of K"));
    const auto query = after(preset_state("cross-attention"), {SelectCell{{Param::w_q, 1, 1}}});
    CHECK(has(step_inspector(query).as_text, "column 1 of X and adds to column 1 of Q"));
}

TEST_CASE("rows are said to sum to 1, and vectors to be given, only where they are") {
    for (const AppState& state : sample_states()) {
        if (!is_stored_stage(state, Stage::weights)) continue;
        const auto a = sheet_of(state, Stage::weights).values;
        bool one = true;
        for (Index i = 0; i < a.rows; ++i) {
            double sum = 0.0;
            for (const float weight : a.row(i)) sum += weight;
            one = one && std::abs(sum - 1.0) < 1e-4;
        }
        CHECK((description_of(state, Stage::weights) ==
               "Softmax turns each row of scores into weights that sum to 1.") == one);
    }
    CHECK(description_of(initial_state(), Stage::x) ==
          "Each token is a row of numbers, given with the sentence. You can change any of them.");
    const AppState typed = after(initial_state(), {SetSentence{"one two one"}});
    CHECK(description_of(typed, Stage::x) ==
          "Each token is a row of numbers: its word vector plus its position vector.");
    const AppState edited = after(typed, {SetCell{{Stage::x, 1, 0}, 9.0}});
    CHECK(description_of(edited, Stage::x) ==
          "Each token is a row of numbers: its word vector plus its position vector, except in "
          "1 of 3 rows, which was given or edited.");
}

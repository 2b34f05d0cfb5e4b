// Sentences that were false for some state, each over the states that showed it: ties, zeros, rounding, given numbers.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/document/document.h"
#include "app/common/explain/parts.h"
#include "app/common/glossary.h"
#include "app/common/workspace.h"
#include "app/window/tour.h"
#include "app/workspaces/compare/actions.h"
#include "app/workspaces/compare/view.h"
#include "app/workspaces/cost/actions.h"
#include "app/workspaces/cost/view.h"
#include "app/workspaces/heads/text.h"
#include "app/workspaces/heads/view.h"
#include "app/workspaces/kinds/view.h"
#include "app/workspaces/lookup/actions.h"
#include "app/workspaces/lookup/compute.h"
#include "app/workspaces/lookup/view.h"
#include "app/workspaces/masks/actions.h"
#include "app/workspaces/masks/view.h"
#include "app/workspaces/numerics/text.h"
#include "app/workspaces/numerics/view.h"
#include "app/workspaces/step/grids.h"
#include "core/heads/all.h"
#include "core/models/read_out.h"
#include "core/rows.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

/// Two keys and a query of a memory.
AppState memory_state(PlanePoint first, PlanePoint second, PlanePoint query) {
    AppState state = in_workspace("lookup");
    while (lookup_controls(state).pairs.size() > 2) apply(state, RemoveLookupPair{2});
    return after(state, {NameLookupPair{0, "a", "A"}, NameLookupPair{1, "b", "B"},
                         MoveLookupKey{0, first[0], first[1]},
                         MoveLookupKey{1, second[0], second[1]}, MoveLookupValue{0, 1, 0},
                         MoveLookupValue{1, 0, 2}, MoveLookupQuery{query[0], query[1]}});
}

AppState lookup_page(LookupPage page, const Actions& actions = {}) {
    return after(in_workspace("lookup", {ShowLookupPage{page}}), actions);
}

std::string arithmetic_of(AppState state, const CellRef& cell) {
    apply(state, SelectCell{cell});
    return shown_workspace(state).inspector(state).as_text;
}

}  // namespace

TEST_CASE("kinds: FLOPs are of the whole call") {
    const std::pair<const char*, const char*> counts[] = {
        {"dot", "336"}, {"cosine", "440"}, {"general", "464"}, {"additive", "720"}};
    for (const auto& [score, flops] : counts) {
        const AppState state = after(in_workspace("kinds"), {b_is("score", score)});
        const auto view = build_kinds_view(state);
        CAPTURE(score);
        CHECK(one_of(view.rows, "FLOPs of this head", &KindRow::label).b == flops);
    }
    // 16 pairs of d_k 4: soft cap 3 and ALiBi 2 a pair, RoPE 3 a number of q and k, a sink 4 a row
    const std::tuple<const char*, const char*, const char*> more[] = {
        {"softcap", "30", "384"},
        {"position", "alibi", "368"},
        {"position", "rope-half", "432"},
        {"sink", "0", "352"}};
    for (const auto& [setting, value, flops] : more) {
        const AppState state =
            after(in_workspace("kinds"), {b_is("score", "dot"), b_is(setting, value)});
        CAPTURE(setting);
        CHECK(one_of(build_kinds_view(state).rows, "FLOPs of this head", &KindRow::label).b ==
              flops);
    }
}

TEST_CASE("cost: what fits, fits with Q, K, V and the context") {
    for (const char* preset : {"llama3-8b", "llama3-70b", "document"})
        for (const double memory : {1e6, 1e9, 1.7e10, 1e13}) {
            const AppState state = in_workspace("cost", {SetCostPreset{preset}});
            const CostSizes& sizes = cost_controls(state).sizes;
            for (const CostCardView& card : build_cost_view(state, memory).cards) {
                CAPTURE(card.limit);
                const auto storage = static_cast<Holding>(static_cast<int>(card.item) -
                                                          static_cast<int>(CostItem::materialised));
                const auto held = [&](Index tokens) {
                    const CostSizes at = with_tokens(sizes, tokens);
                    double bytes = estimate_of(stored_bytes(storage), at);
                    if (storage == Holding::kv_cache) return bytes;
                    const auto size = [&](CostSize each) { return static_cast<double>(at[each]); };
                    using enum CostSize;
                    return bytes + size(batch) * size(element_bytes) *
                                       (size(heads) * size(tq) * (size(d_k) + size(d_v)) +
                                        size(kv_heads) * size(tk) * (size(d_k) + size(d_v)));
                };
                CHECK(card.fits == (held(sizes[CostSize::tk]) <= memory));
                if (has(card.limit, "every T")) {
                    CHECK(held(kMostCostTokens) <= memory);
                } else if (has(card.limit, "no T")) {
                    CHECK(held(1) > memory);
                } else {
                    std::string digits = card.limit.substr(card.limit.find("≤ ") + 4);
                    std::erase(digits, ',');
                    const Index most = std::stoll(digits);
                    CHECK(held(most) <= memory);
                    CHECK(held(most + 1) > memory);
                }
            }
        }
}

TEST_CASE("lookup: the more similar key is shorter, or longer and away from q; ties are named") {
    struct {
        PlanePoint a, b, q;
        const char* expected;
        const char* forbidden_text;
    } const rows[] = {
        {{2, 2},
         {0.5, 0.5},
         {1, 1},
         "a and b have the largest cosine, 1.00; of these, a",
         "more similar"},
        {{-2, -2}, {-0.1, -0.05}, {1, 0}, "but longer, and points away from q", "but shorter"},
        {{0.5, 0}, {2, 2}, {1, 0}, "but shorter", "away"},
        {{1, 1}, {1, -1}, {1, 0}, "no single answer", "is more similar"},
        {{2, 0},
         {-1, 1},
         {1, 0},
         "“a” has both the largest q·k and the largest cosine",
         "more similar"}};
    for (const auto& row : rows) {
        const MemoryView view = build_memory_view(memory_state(row.a, row.b, row.q));
        CAPTURE(view.notes[0]);
        CHECK(has(view.notes[0], row.expected));
        CHECK_FALSE(has(view.notes[0], row.forbidden_text));
    }
    const MemoryView tie = build_memory_view(memory_state({1, 1}, {1, -1}, {1, 0}));
    CHECK_FALSE(has(tie.point, "the value of the best match"));
    CHECK(has(tie.notes[2], "Of 2 pairs with the largest weight, “B” has weight 50.0 %"));
    // 1.1 · 3 and 3.3 · 1 differ by rounding alone
    CHECK(has(build_memory_view(memory_state({1.1, 0}, {0, 3.3}, {3, 1})).notes[0], "2 keys"));
}

TEST_CASE("capacity: medians are called so") {
    AppState state = lookup_page(LookupPage::capacity, {SetCapacityPairs{2}});
    answer_all(state);
    const CapacityView view = build_capacity_view(state);
    CAPTURE(view.notes[2]);
    CHECK(has(view.point, "(medians of 15 draws)"));
    CHECK(has(view.notes[2], "in the median draw"));
    double worst = 0.0;
    for (const CapacityPoint& point : *capacity_curves(state).points)
        worst = std::max(worst, point.interference.high);
    CHECK(has(view.notes[2], "the worst draw has " + percent(worst)));
}

TEST_CASE("similarity and alignment: a key that is best by both is no difference") {
    // keys 1 and 2 point alike by dot product with key 0; one row is all ties
    AppState state = after(
        preset_state("cat-sat-mat"),
        {SetCell{{Stage::x, 0, 0}, 1.0}, SetCell{{Stage::x, 0, 1}, 1.0}, SetWorkspace{"lookup"}});
    apply(state, ShowLookupPage{LookupPage::alignment});
    const AlignmentView view = build_alignment_view(state);
    REQUIRE(view.body.missing_data.empty());
    const auto dot = lookup_look(state).similarity->dot.matrix(0, 0);
    const auto cosine = lookup_look(state).similarity->cosine.matrix(0, 0);
    for (Index i = 0; i < dot.rows; ++i) {
        const auto best = [&](const auto& values, Index j) {
            return values(i, j) >= *std::ranges::max_element(values.row(i)) - 1e-6F;
        };
        bool both = false;
        for (Index j = 0; j < dot.columns; ++j) both = both || (best(dot, j) && best(cosine, j));
        CHECK(view.rows[i].agree == both);
    }
    CHECK(
        has(view.body.notes[0], "agree in all 3 rows: a key of the largest dot product is one of"));
    CHECK(has(view.rows[0].tooltip, "1 other key ties"));
    state = after(preset_state("cat-sat-mat"),
                  {SetWorkspace{"lookup"}, ShowLookupPage{LookupPage::similarity},
                   SetSimilaritySoftmax{SimilaritySoftmax::rows}});
    const SimilarityView rows = build_similarity_view(state);
    CHECK(has(rows.body.notes.back(), "softmax breaks it"));
    CHECK(has(rows.body.notes.front(), "S is symmetric"));
}

TEST_CASE("permutation: rounding is no change") {
    for (const auto position : {PermutationPosition::alibi, PermutationPosition::none})
        for (const char* preset : {"the-cat-sat-down", "eight-heads"}) {
            const AppState state =
                after(preset_state(preset),
                      {SetWorkspace{"lookup"}, ShowLookupPage{LookupPage::permutation},
                       SetPermutationPosition{position}, OrderTokens{TokenOrder::reversed}});
            const PermutationView view = build_permutation_view(state);
            CAPTURE(view.body.point);
            CHECK_FALSE(has(view.body.point, "changes weights"));
            CHECK_FALSE(has(view.body.notes[1], "Outputs change"));
        }
}

TEST_CASE("numerics: broken from that gain on, finite one below it") {
    AppState state = in_workspace("numerics");
    answer_all(state);
    const auto& sweep = *numerics_curves(state).sweep;
    const auto logits = run_all(numerics_controls(state).logits, 1).logits;
    for (std::size_t a = 0; a < kSoftmaxAlgorithmCount; ++a)
        for (const FloatFormat format : kFloatFormats) {
            const auto algorithm = static_cast<SoftmaxAlgorithm>(a);
            const auto from = sweep.break_of(algorithm, format);
            if (!from) continue;
            const auto valid = [&](Index gain) {
                return run_softmax(algorithm, format, logits, static_cast<double>(gain))
                           .outcome() == Outcome::finite;
            };
            CHECK_FALSE(valid(*from));
            CHECK((*from == 1 || valid(*from - 1)));
        }
}

TEST_CASE("masks: no advice about conventions where they make no difference") {
    for (const bool causal : {false, true}) {
        const AppState state =
            masks_state({SetCausal{causal}, ShowMasksTab{MasksTab::conventions},
                         SetConvention{0, "zero"}, SetConvention{1, "after_renormalised"}});
        const MasksView view = build_masks_view(state);
        CAPTURE(view.notes[0]);
        CHECK(has(view.point, "gives the same"));
        CHECK(has(view.notes[0], causal ? "The two conventions give the same weights here."
                                        : "No pair is masked, so the two conventions agree."));
    }
}

TEST_CASE("glossary: A is softmax of scores over √d_k and τ; digits of half precision are binary") {
    REQUIRE(glossary());
    const auto& tau = one_of(*glossary(), "temperature", &GlossaryTerm::term);
    CHECK(has(plain_formula_of(tau), "√d_k"));
    CHECK(has(one_of(*glossary(), "raw score", &GlossaryTerm::term).definition,
              "Usually q_i · k_j and q_j · k_i differ"));
    const auto digits = [](FloatFormat format) {  // that tell 1 + 2^(1 − digits) from 1
        int count = 1;
        while (rounded(format, 1.0L + std::exp2(-count)) != 1.0) ++count;
        return count;
    };
    CHECK(has(
        one_of(*glossary(), "float16 and bfloat16", &GlossaryTerm::term).definition,
        fmt::format("float16 has {} binary digits and a largest number of 65,504, bfloat16 has {} ",
                    digits(FloatFormat::fp16), digits(FloatFormat::bf16))));
}

TEST_CASE("step: X is word plus position only where every row is") {
    for (const AppState& state : sample_states()) {
        const Document& document = state.document();
        if (is_empty(document)) continue;
        bool computed = true;
        AppState shown = state;
        for (shown.batch = 0; shown.batch < document.size.batch; ++shown.batch)
            for (Index i = 0; i < document.size.tq; ++i)
                computed = computed && is_embedding(shown, Stage::x, i);
        const auto view = build_step_view(state);
        for (const RibbonItem& item : view.ribbon)
            if (item.stage == Stage::x) {
                CAPTURE(item.tooltip);
                CHECK(has(item.tooltip, "embedding") == computed);
            }
    }
}

TEST_CASE("step: entries of W beyond the hand-set ones are named where there are some") {
    const auto note = [](const Actions& actions) {
        return after(preset_state("the-cat-sat-down"), actions).document().note;
    };
    const Actions grown = {SetSentence{"The cat sat down here"}};
    CHECK(has(note(grown), "W from"));
    CHECK_FALSE(has(note(grown), "further"));
    CHECK(has(note({SetKeyWidth{6}}), "further entries from seed"));
    CHECK(has(note({SetHeads{2}}), "further entries from seed"));
}

TEST_CASE("step: an edit that is undone is named, not told backwards; the scale's label has τ") {
    AppState state = after(initial_state(), {SetCell{{Param::w_q, 0, 0}, 5.0F}, Undo{}});
    CAPTURE(state.message.text);
    CHECK(state.message.text.starts_with("Undone: the edit “"));
    CHECK(has(state.message.text, "→ 5.00"));
    state = after(initial_state(), {SetScaling{false}, SetTemperature{0.5}});
    const auto view = build_step_view(state);
    CHECK(one_of(view.ribbon, Stage::scaled, &RibbonItem::stage).label == "÷0.5");
}

TEST_CASE("step: gradients that are all as large have no largest one") {
    AppState state = after(initial_state(), {GoToStage{Stage::output}, ShowGradients{true}});
    CHECK(has(build_step_view(state).text, "All of these gradients are 1.00."));
    apply(state, GoToStage{Stage::weights});
    CHECK(has(build_step_view(state).text, "Largest magnitude: "));
}

TEST_CASE("step: which columns decide a score, equal scores, asymmetry, entropies over τ") {
    const AppState example = preset_state("cat-sat-mat");
    const std::string score = arithmetic_of(example, {Stage::scores, 0, 2});
    CHECK(has(score, "The largest product by magnitude: column 0 (1.00)."));
    CHECK(has(arithmetic_of(example, {Stage::scores, 1, 1}),
              "The largest product by magnitude: column 1 (1.00)."));
    CHECK(has(score, "No column distinguishes “mat” from “cat”: their scores are equal."));
    const std::string toy = arithmetic_of(initial_state(), {Stage::scores, 2, 1});
    CHECK(has(toy, "Against "));
    CHECK(has(toy, " cat"));
    AppState equal = example;
    for (const Index c : {0, 1}) apply(equal, SetCell{{Stage::x, 0, c}, 0.0F});
    CHECK(has(arithmetic_of(equal, {Stage::weights, 0, 1}),
              "The 3 scores that count in this row are all 0.00: whatever the number, equal scores "
              "get equal weights of 1/3."));
    CHECK(has(arithmetic_of(equal, {Stage::scores, 0, 1}), "Every product is 0"));
    CHECK(has(arithmetic_of(example, {Stage::weights, 0, 2}), "A[mat, cat] is 21.2 %"));
    CHECK_FALSE(has(arithmetic_of(example, {Stage::weights, 0, 1}), "asymmetric"));
    AppState warm = after(example, {GoToStage{Stage::weights}, SetTemperature{0.5}});
    CAPTURE(warm.message.text);
    CHECK(has(warm.message.text,
              "entropy in nats, row cat: 1.02 → 0.89, row sat: 1.02 → 0.89, row mat: 0.98 → 0.67"));
}

TEST_CASE("heads: duplicates that a mask hides do not count; a head of one word is called so") {
    const auto facts = [](const AppState& state, Index head) {
        return *heads_look(state).result->find({0, head});
    };
    const AppState three = after(preset_state("three-heads"), {SetWorkspace{"heads"}});
    CHECK(label_title(facts(three, 2)) == "same word");
    const AppState causal = after(three, {SetCausal{true}});
    // "to be or not to be": rows 4 and 5 alone may see an earlier place of their word
    const auto& a = heads_look(causal).result->weights({0, 2});
    CHECK(facts(causal, 2).measures[HeadMeasure::duplicate].value() ==
          doctest::Approx((a(4, 0) + a(5, 1)) / 2.0));
    const AppState even =
        after(initial_state(), {SetScaling{true}, SetTemperature{100.0}, SetWorkspace{"heads"}});
    CHECK_FALSE(facts(even, 0).label);
    CHECK(has(build_all_heads_view(even).why,
              "A head gets a label if its weight on one kind of key is at least 0.40 of the way"));
}

TEST_CASE("compare: a side's title has the stage's name once") {
    AppState state = after(in_workspace("compare"),
                           {PinBaseline{}, SetCausal{true}, ShowCompareStage{Stage::weights}});
    const auto view = build_compare_view(state);
    CHECK(view.grids[0].title == "baseline: weights");
}

TEST_CASE("the worked example opens as its text has it, and says which of its rows are wrong") {
    const AppState state = after(preset_state("cat-sat-mat"), {GoToStage{Stage::weights}});
    const auto a = sheet_of(state, Stage::weights).values;
    const double wanted[3][3] = {
        {.4223, .1554, .4223}, {.1554, .4223, .4223}, {.2119, .2119, .5761}};
    for (const auto [i, j] : each_cell(3, 3))
        CHECK(a(i, j) == doctest::Approx(wanted[i][j]).epsilon(1e-3));
    CHECK(has(state.document().note, "rows sat and mat are wrong"));
}

TEST_CASE("no colour is named that the other theme does not have") {
    std::string all;
    for (const auto& tour : list_tours())
        for (const TourPage& page : tour->pages)
            all += fmt::format("{} {} {} {} {}\n", page.text, page.question, page.ask, page.reveal,
                               fmt::join(page.choices, " "));
    for (const std::string& line : head_dimensions(in_workspace("heads"), {0, 0}).legend)
        all += line + "\n";
    for (const char* word : {"bright", "dark", "blue", "orange", "white", "yellow"})
        CHECK_FALSE_MESSAGE(has(all, word), word);
}

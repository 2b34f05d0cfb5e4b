// What the pages of the tour say, and what their choices say, against the numbers that they lead to.

#include "app/common/document/document.h"
#include "app/common/document/intervention_actions.h"
#include "app/files/open.h"
#include "app/window/tour.h"
#include "app/workspaces/cost/actions.h"
#include "app/workspaces/cost/state.h"
#include "app/workspaces/heads/compute.h"
#include "app/workspaces/heads/text.h"
#include "app/workspaces/learn/actions.h"
#include "app/workspaces/learn/state.h"
#include "app/workspaces/lookup/actions.h"
#include "app/workspaces/lookup/compute.h"
#include "app/workspaces/model/state.h"
#include "attn_tree.h"
#include "core/io/file.h"
#include "core/io/npy.h"
#include "core/numerics.h"
#include "core/saturation_gradients.h"
#include "core/train/run.h"
#include "core/train/task_table.h"
#include "core/train/trainer.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

const std::vector<TourPage>& pages() {
    static const TourList tours = list_tours();
    return tours.front()->pages;
}
const TourPage& page_of(const char* title) { return one_of(pages(), title, &TourPage::title); }
const std::string& answer_of(const TourPage& page) { return page.choices[page.answer]; }

std::vector<float> sat_row(const Actions& actions) {
    const AppState state = after(preset_state("the-cat-sat-down"), actions);
    const auto row = sheet_of(state, Stage::weights).values.row(2);
    return {row.begin(), row.end()};
}

double largest_moved(PermutationPosition position) {
    const AppState state =
        after(in_workspace("lookup", {LoadPreset{"the-cat-sat-down"}}),
              {ShowLookupPage{LookupPage::permutation}, SetPermutationPosition{position},
               OrderTokens{TokenOrder::reversed}});
    REQUIRE(lookup_look(state).permutation);
    return lookup_look(state).permutation->largest;
}

const Opener& open_models() {
    static const Opener open = attn::files::opener(attn::backends());
    return open;
}

/// A model that comes with the program, over that text; "": its own.
AppState model_state(const std::string& name, const std::string& text) {
    AppState state = after(initial_state(), {OpenFile{name}});
    answer_all(state, open_models());
    if (!text.empty()) apply(state, TypeText{text});
    answer_all(state, open_models());
    return state;
}

double weight(const AppState& state, HeadPlace at, Index query, Index key) {
    const AppState there = after(state, {ShowHead{at.head, {}, at.layer}});
    return value_at(there, {Stage::weights, query, key}).value();
}

}  // namespace

TEST_CASE("tour: without scaling the largest weight of sat grows, and the smallest shrinks") {
    const auto with = sat_row({SetScaling{true}}), without = sat_row({SetScaling{false}});
    const TourPage& page = page_of("Divide by √d_k");
    CHECK((answer_of(page) == "it grows") ==
          (std::ranges::max(without) > std::ranges::max(with) + 1e-3));
    CHECK(has(page.reveal, "the largest weight grows and the smallest shrinks"));
    CHECK(std::ranges::min(without) < std::ranges::min(with));
    const auto others = std::ranges::count_if(
        without, [&](const float& each) { return each > with[&each - without.data()]; });
    CHECK(others > 1);  // so that "the others shrink" would be false
    CHECK(answer_of(page_of("Softmax gives weights")) == "two fifths");
    CHECK(sat_row({})[1] == doctest::Approx(0.4).epsilon(0.02));
}

TEST_CASE(
    "tour: without scaling the median gradient of the logits goes to 0; the mean of q's grows") {
    const auto points = gradient_sweep({.rows = 6400}, std::vector<Index>{4, 256}).value();
    const TourPage& page = page_of("Why that matters: saturation");
    CHECK((answer_of(page) == "it goes towards 0") ==
          (points[1].unscaled.z.median() < 0.2 * points[0].unscaled.z.median()));
    CHECK(points[1].unscaled.z.mean < points[0].unscaled.z.mean);
    CHECK(points[1].unscaled.q.mean > points[0].unscaled.q.mean);
    CHECK(has(page.text, "with respect to the logits z"));
    CHECK(has(page.question, "in the median row"));
    CHECK(has(page.reveal, "in the median row"));
}

TEST_CASE("tour: a reversed order is nothing to ALiBi, and much to sines") {
    const TourPage& page = page_of("Does attention see the order?");
    CHECK(has(page.reveal,
              "ALiBi uses distances only, so it gives a reversed sentence the same weights"));
    CHECK(largest_moved(PermutationPosition::none) < 1e-5);
    CHECK(largest_moved(PermutationPosition::alibi) < 1e-5);
    CHECK(largest_moved(PermutationPosition::sinusoidal) > 1e-3);
    CHECK(answer_of(page) == "they move with the words, unchanged");
}

TEST_CASE("tour: no page says again what was false") {
    for (const TourPage& page : pages()) {
        const std::string all = page.text + page.question + page.ask + page.reveal;
        for (const char* text : {"learning dies", "others shrink", "the others lose", "16 bits",
                                 "number of tokens to", "the last bars", "button"})
            CHECK_FALSE_MESSAGE(has(all, text), page.title << ": " << text);
        if (answer_of(page).find(' ') != std::string::npos)  // a single word may stand anywhere
            CHECK_FALSE_MESSAGE(has(page.text + page.question + page.ask, answer_of(page)),
                                page.title);
    }
    AppState first = initial_state();
    carry_out_lines(first, pages().front().start);
    CHECK(first.stage == Stage::x);
    const TourPage& move = page_of("Choose a weight");
    CHECK(has(move.question, "Suppose a pair has"));
    CHECK(has(move.reveal, "for the selected pair, which has {weights:2,1}"));
    CHECK(has(page_of("Compare two states").reveal, "the differences of a row sum to 0"));
}

TEST_CASE("tour: numbers of the later pages") {
    const std::string& rise = answer_of(page_of("Choose a weight"));
    CHECK(std::abs(std::stod(rise) - std::log(0.9 / 0.1)) < 0.05);
    CHECK(answer_of(page_of("Compare two states")) == "0");
    const std::vector<double> twelve{12.0, 0.0};
    const auto whole = [&](FloatFormat format) {
        return run_softmax(SoftmaxAlgorithm::naive, format, twelve, 1.0).outcome() ==
               Outcome::finite;
    };
    CHECK_FALSE(whole(FloatFormat::fp16));
    CHECK(whole(FloatFormat::bf16));
    const TourPage& limits = page_of("Numbers have limits");
    CHECK(has(limits.text, "in float16 e¹²"));
    CHECK(answer_of(page_of("The cost of attention")) ==
          std::to_string((8192 / 1024) * (8192 / 1024)));
    CHECK(std::pow(131072.0, 2) * 4.0 == 64.0 * std::pow(1024.0, 3));
    CHECK(answer_of(page_of("A matrix that is never stored")) == "64 GiB");
}

TEST_CASE("tour: the controls that it names are there") {
    AppState state = in_workspace("cost", {SetCostTokens{1024}});
    CHECK(has(page_of("The cost of attention").ask, "press → three times"));
    for (int n = 0; n < 3; ++n) state = pressed(state, plain(Key::right));
    CHECK(cost_controls(state).sizes[CostSize::tq] == 8192);
    CHECK(has(page_of("A matrix that is never stored").ask, "Ctrl+K, type “Generate”"));
    CHECK(
        std::ranges::any_of(find_commands(in_workspace("large"), "Generate"),
                            [](const Command& each) { return each.text.starts_with("Generate"); }));
}

TEST_CASE("Heads tells the heads of pronouns apart at the word that it reads") {
    const AppState state = after(model_state("pronouns", ""), {SetWorkspace{"heads"}});
    CHECK(heads_point(state) ==
          "For “it”, L0 H0 looks most at tired (96.9 %), L1 H0 at animal (99.1 %), L1 H1 at animal "
          "(78.7 %), L0 H1 spreads its weights (at most 27.5 %).");
}

TEST_CASE("tour: what its pages say of the trained models") {
    const AppState animal = model_state("pronouns", "");
    CHECK(weight(animal, {1, 0}, 7, 1) == doctest::Approx(0.991).epsilon(5e-4));
    CHECK(animal.document().read_out.next.front().text == "animal");
    const TourPage& first = page_of("A trained model reads a sentence");
    const std::string wide = "the animal didn't cross the street because it was too wide";
    CHECK(has(first.done.front().is, wide));
    const AppState street = model_state("pronouns", wide);
    CHECK((answer_of(first) == street.document().tokens[5]) ==
          (weight(street, {1, 0}, 7, 5) > 0.95));
    const TourPage& heads = page_of("Several heads");
    CHECK((answer_of(heads) == animal.document().tokens[10]) ==
          (weight(animal, {0, 0}, 7, 10) > 0.95));
    CHECK(has(heads.reveal, "L1 H0 then gives 99.1 % to “animal”"));
    AppState off = animal;
    apply(off, SwitchHead{0, 0, false});
    answer_all(off, open_models());
    CHECK(has(heads.reveal, "the model then reads “it” as street"));
    CHECK(off.document().read_out.next.front().text == "street");
    const AppState stories = model_state("stories", "");
    const TourPage& next = page_of("The next word");
    CHECK(answer_of(next) == stories.document().read_out.next.front().text);
    CHECK(percent(stories.document().read_out.next.front().probability) == "99.7 %");
    CHECK(has(next.reveal, "“Tom” had 99.7 %"));
    const AppState french = model_state("translate", "");
    const TourPage& order = page_of("Words in another order");
    CHECK((answer_of(order) == french.document().tokens[1]) ==
          (weight(french, {1, 1}, 9, 1) > 0.9));
    CHECK(weight(french, {1, 1}, 7, 0) > 0.9);
    AppState whole = after(animal, {SetWorkspace{"model"}, ShowLayer{1}});
    answer_all(whole, open_models());
    CHECK(has(page_of("After attention").reveal, "add up to the logit, 14.92"));
    REQUIRE(model_look(whole).read);
    REQUIRE(model_look(whole).read->sum);
    CHECK(significant(model_look(whole).read->sum->logit, 4) == "14.92");
    std::vector<std::string> adds;
    for (const LogitPart& part : model_look(whole).read->sum->parts)
        adds.push_back(significant(part.value, 3));
    for (const char* each : {"5.03", "2.48", "5.65"}) {
        CHECK(has(page_of("After attention").reveal, each));
        CHECK(std::ranges::count(adds, each) == 1);
    }
}

TEST_CASE("tour: its end opens a trained model, at the weight that gives its answer") {
    const TourPage& page = page_of("Summary, and your turn");
    CHECK(has(page.text, "{title} is open now, with its trained heads"));
    AppState state = initial_state();
    carry_out_lines(state, page.start);
    CHECK(is_toy(state.document()));  // not there yet
    answer_all(state, open_models());
    CHECK(state.document().title == "pronouns");
    CHECK(state.document().layer == 1);
    CHECK(state.selected == CellRef{Stage::weights, 7, 1});
}

TEST_CASE("tour: lines that wait for a model are dropped when another document is opened") {
    AppState state = initial_state();
    carry_out_lines(state, page_of("Summary, and your turn").start);
    REQUIRE(waiting_lines(std::as_const(state)).request == state.opened);
    apply(state, OpenFile{"stories"});
    answer_all(state, open_models());
    CHECK(state.document().title == "stories");
    CHECK(state.stage != Stage::weights);
    CHECK(waiting_lines(std::as_const(state)) == WaitingLines{});
    carry_out_lines(state, page_of("Summary, and your turn").start);
    answer_all(state);  // it cannot be opened
    CHECK(state.message.severity == Severity::error);
    CHECK(waiting_lines(std::as_const(state)) == WaitingLines{});
}

TEST_CASE("docs: the keys G of Step and Map, and the spread of initial weights") {
    const auto root = std::filesystem::path(ATTN_TEST_DATA).parent_path().parent_path();
    const auto list = commands(initial_state());
    CHECK(one_of(list, plain(Key::g), &Command::chord).text == "Show gradients");
    CHECK(
        has(read_text_file(root / "docs/workspaces/step.md").value(), "| **G** | show gradients"));
    CHECK(has(read_text_file(root / "docs/workspaces/long-context.md").value(),
              "| **G** | go to a cell |"));
    const std::string train = read_text_file(root / "docs/train.md").value();
    CHECK(has(train, "Weights start as N(0, 1/rows), embedding and learned positions as N(0, 1)"));
    const auto trainer = train::Trainer::make({}).value();
    const train::Moment first = trainer.checkpoint();
    for (const train::Matrix& matrix : trainer.matrices()) {
        const bool unit = matrix.name == "embedding" || matrix.name == "positions";
        if (!unit && !matrix.name.ends_with("w_q")) continue;
        double squares = 0.0;
        const Index count = matrix.rows * matrix.columns;
        for (Index n = 0; n < count; ++n)
            squares += std::pow(first->weights[matrix.offset + static_cast<std::size_t>(n)], 2);
        CAPTURE(matrix.name);
        const double rows = unit ? 1.0 : static_cast<double>(matrix.rows);
        CHECK(rows * squares / static_cast<double>(count) == doctest::Approx(1.0).epsilon(0.05));
    }
}

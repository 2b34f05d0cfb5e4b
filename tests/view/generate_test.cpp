#include <set>

#include "app/common/document/edits.h"
#include "app/common/inspector.h"
#include "app/workspaces/generate/actions.h"
#include "app/workspaces/generate/view.h"
#include "tests/support/fake_text.h"
#include "tests/view/view_test.h"

using namespace attn::view;
using test::fake_writer, test::fake_writing;

namespace {

AppState written(AppState state, const Actions& actions = {}) {
    answer_all(state, fake_writer);
    for (const Action& action : actions) {
        view::apply(state, action);
        answer_all(state, fake_writer);
    }
    return state;
}

/// What the step that is looked at gives, by the definition.
std::vector<double> softmax_of(const AppState& state, double temperature) {
    const auto& logits = shown_of(state)->step->logits;
    const double most = std::ranges::max(logits);
    std::vector<double> p;
    double sum = 0.0;
    for (const float logit : logits) sum += p.emplace_back(std::exp((logit - most) / temperature));
    for (double& each : p) each /= sum;
    return p;
}

AppState pressed_key(const AppState& state, Key key) { return written(pressed(state, plain(key))); }

}  // namespace

TEST_CASE("without a language model Generate shows no number and names its requirement") {
    const AppState state = in_workspace("generate");
    const GenerateView view = build_generate_view(state);
    CHECK(view.cannot);
    CHECK(view.bars.empty());
    CHECK(view.chips.empty());
    CHECK_FALSE(view.strip);
    CHECK_FALSE(requested_generation(state));
    CHECK_FALSE(requested_branches(state));
    CHECK(view.pending ==
          "No language model is open. Open stories, or the folder of a model that predicts the "
          "next token.");
    CHECK(generate_inspector(state).empty);
    const AppState tried = after(state, {TakeToken{0, 1}, PlayGeneration{true}, DropTokens{0}});
    CHECK(tried.now == state.now);
    CHECK_FALSE(generate_look(tried).playing);
    CHECK(tried.message.severity == Severity::warning);
}

TEST_CASE("bars are softmax of the logits, before and after temperature") {
    const AppState warm =
        written(fake_writing(), {SetSamplingTemperature{2.0}, SetTopK{0}, SetTopP{1.0}});
    const auto bars = build_generate_view(warm).bars;
    REQUIRE_FALSE(bars.empty());
    for (const GenerateBar& bar : bars) {
        CHECK(bar.after == doctest::Approx(softmax_of(warm, 2.0)[bar.token]));
        CHECK(bar.before == doctest::Approx(softmax_of(warm, 1.0)[bar.token]));
    }
}

TEST_CASE("a step forward takes the token of the headline, which names the likeliest too") {
    AppState state = written(fake_writing());
    for (Index n = 0; n < 4; ++n) {
        const auto next = next_of(state);
        REQUIRE(next);
        CHECK(next->step == n);
        const GenerateView view = build_generate_view(state);
        CHECK(view.headline.starts_with(quoted_token(state, next->token) + " comes next"));
        CHECK(has(view.headline, quoted_token(state, shown_of(state)->candidates.all.front().id)));
        CHECK(has(view.muted, "→ 30 logits → softmax with T = 0.8"));
        CHECK_FALSE(has(view.headline + view.muted, "u = "));  // the inspector has it
        CHECK(has(text_of(generate_inspector(state)), "in this interval, so selected"));
        const std::size_t before = state.now;
        state = pressed_key(state, Key::right);
        CHECK(state.now == before + 1);
        CHECK(taken_of(state).back() == next->token);
        CHECK(step_of(state) == n + 1);
    }
    const AppState back = pressed_key(pressed_key(state, Key::left), Key::left);
    CHECK(step_of(back) == 2);
    CHECK(taken_of(back) == taken_of(state));
    CHECK(has(build_generate_view(back).headline,
              "Step 2 took " + quoted_token(back, taken_of(back)[2])));
    CHECK(step_of(pressed_key(back, Key::home)) == 0);
    CHECK(step_of(pressed_key(back, Key::end)) == 4);
    CHECK(step_of(pressed_key(back, Key::right)) == 3);
}

TEST_CASE("another token at a step drops what came after; undo brings it back") {
    AppState state = written(fake_writing());
    for (int n = 0; n < 3; ++n) state = pressed_key(state, Key::right);
    const std::vector<Index> taken = taken_of(state);
    const AppState other = written(state, {TakeToken{1, 9}});
    CHECK(taken_of(other) == std::vector<Index>{taken[0], 9});
    CHECK(other.message.text == "Step 1 takes “w9”.");
    CHECK(step_of(other) == 2);
    CHECK(taken_of(written(other, {Undo{}})) == taken);
    const AppState cut = written(state, {ShowGenerated{1}, DropTokens{1}});
    CHECK(taken_of(cut) == std::vector<Index>{taken[0]});
    CHECK(cut.message.text == "2 tokens deleted.");
    for (const Action& wrong : Actions{TakeToken{4, 1}, TakeToken{-1, 1}, TakeToken{0, 30},
                                       TakeToken{0, -1}, DropTokens{4}, DropTokens{-1}}) {
        const AppState same = after(state, {wrong});
        CHECK(taken_of(same) == taken);
        CHECK(same.message.severity == Severity::warning);
    }
}

TEST_CASE("a replay takes its tokens before the text is read; Enter waits for it") {
    const AppState ahead = after(fake_writing(), {TakeToken{0, 25}, TakeToken{1, 7}});
    CHECK(taken_of(ahead) == std::vector<Index>{25, 7});
    CHECK(ahead.message.text == "Step 1 takes #7.");
    CHECK(step_of(written(ahead)) == 2);
    for (const Command& command : commands(fake_writing()))
        if (command.chord == plain(Key::enter)) CHECK_FALSE(command.enabled);
    CHECK(has(generate_look(written(after(fake_writing(), {TakeToken{0, 30}}))).fault,
              "no such token"));
}

TEST_CASE("settings change what comes next, not what was taken") {
    AppState state = written(fake_writing(), {TakeToken{0, 5}, SetGreedy{true}});
    const auto& logits = shown_of(state)->step->logits;
    REQUIRE(next_of(state));
    CHECK(next_of(state)->token == std::ranges::max_element(logits) - logits.begin());
    CHECK(has(build_generate_view(state).headline, ", the largest of 30 tokens"));
    CHECK_FALSE(has(build_generate_view(state).headline, "at random"));
    CHECK(has(build_generate_view(state).muted, "softmax → the largest. "));
    std::set<Index> drawn;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const AppState other = after(state, {SetGreedy{false}, SetSamplingTemperature{100.0},
                                             SetTopK{2}, SetTopP{1.0}, SetSamplingSeed{seed}});
        CHECK(taken_of(other) == std::vector<Index>{5});
        CHECK(shown_of(other)->candidates.retained == 2);
        CHECK(build_generate_view(other).rest.ends_with(", 0.0 % after"));
        drawn.insert(next_of(other)->token);
    }
    CHECK(drawn.size() == 2);
    CHECK(after(state, {SetSamplingTemperature{0.0}}).now == state.now);
    CHECK(after(state, {SetTopP{0.0}}).now == state.now);
    CHECK(after(state, {SetTopK{-1}}).now == state.now);
}

TEST_CASE("a token that was taken and has no long bar has one all the same, with a ring") {
    AppState state = written(fake_writing());
    const Index last = shown_of(state)->candidates.all.back().id;
    state = written(state, {TakeToken{0, last}, ShowGenerated{0}});
    const GenerateView view = build_generate_view(state);
    CHECK(view.bars.size() == 13);
    CHECK(view.bars.back().token == last);
    CHECK(view.bars.back().chosen);
    CHECK(std::ranges::count_if(view.bars, [](const GenerateBar& bar) { return bar.chosen; }) == 1);
    CHECK(has(view.headline, "excluded by these settings"));
    CHECK(view.rest.starts_with("17 more: "));
}

TEST_CASE("the strip has a row for each step, over as many keys as the cache holds") {
    AppState state = written(fake_writing(), {TakeToken{0, 5}, TakeToken{1, 6}, ShowHead{1, 0, 1}});
    const GenerateView view = build_generate_view(state);
    REQUIRE(view.strip);
    CHECK(view.strip->rows == 3);
    CHECK(view.strip->columns == 5);
    CHECK(view.strip->row_labels == std::vector<std::string>{"sat", "w5", "w6"});
    CHECK(view.strip->title == "A, L1 H1: one row per step");
    for (Index row = 0; row < 3; ++row) {
        double sum = 0.0;
        for (Index key = 0; key < 5; ++key) {
            CHECK((view.strip->at(row, key).look == CellLook::masked) == (key > 2 + row));
            CHECK(view.strip->at(row, key).text.empty() == (key > 2 + row));
            if (key <= 2 + row) sum += view.strip->at(row, key).value;
        }
        CHECK(sum == doctest::Approx(1.0));
    }
    CHECK(view.cache == fmt::format("KV cache {}; each token adds {}",
                                    bytes_text(5 * 8 * 2 * 2 * 4), bytes_text(8 * 2 * 2 * 4)));
    CHECK(view.cache_share == doctest::Approx(5.0 / test::kFakeMost));
    CHECK(view.cache_formula ==
          "2 (K and V) · 2 layers · 2 heads · 4 columns · 5 tokens · 4 bytes");
    Generated across = *generate_look(std::as_const(state)).written;
    across.encoder_tokens = 6;
    AppState decoder = state;
    generate_look(decoder).written = std::make_shared<const Generated>(across);
    CHECK(has(build_generate_view(decoder).cache, "KV cache " + bytes_text(11 * 8 * 2 * 2 * 4)));
    CHECK(build_generate_view(decoder).cache_formula ==
          "2 (K and V) · 2 layers · 2 heads · 4 columns · (5 tokens + 6 of the encoder) · 4 bytes");
    const GenerateView before = build_generate_view(after(state, {ShowGenerated{1}}));
    CHECK(before.strip->rows == 2);
    CHECK(before.strip->columns == 4);
}

TEST_CASE(
    "continuations have the probability of their words; T reshapes them, a click takes them") {
    AppState state = written(fake_writing(), {SetSamplingTemperature{1.0}});
    const std::vector<double> p = softmax_of(state, 1.0);
    GenerateView view = build_generate_view(state);
    REQUIRE(view.paths.size() == 3);
    const auto& branches = generate_look(std::as_const(state)).branches;
    REQUIRE(branches);
    std::vector<double> sorted = p;
    std::ranges::sort(sorted, std::greater());
    for (std::size_t n = 0; n < 3; ++n) {
        const Branch& branch = branches->all[n];
        const GeneratePath& path = view.paths[n];
        REQUIRE(path.tokens.size() == branch.tokens.size());
        CHECK(p[branch.tokens[0]] == doctest::Approx(sorted[n]));
        double product = p[branch.tokens[0]];
        for (std::size_t w = 1; w < branch.tokens.size(); ++w) {
            double sum = 0.0;
            for (const float logit : branch.logits[w - 1]) sum += std::exp(double{logit});
            product *= std::exp(double{branch.logits[w - 1][branch.tokens[w]]}) / sum;
        }
        CHECK(path.probability == doctest::Approx(product));
        CHECK(path.text == percent(path.probability));
        CHECK(path.tokens.back().take.tokens == branch.tokens);
        CHECK(path.tokens[1].take.tokens.size() == 2);
    }
    const AppState sharp = after(state, {SetSamplingTemperature{0.2}});
    CHECK(build_generate_view(sharp).paths[0].probability > view.paths[0].probability);
    CHECK(has(build_generate_view(sharp).paths_title, "T = 0.2"));
    CHECK_FALSE(requested_branches(sharp));  // the tokens are the same
    const std::vector<Index> two = view.paths[1].tokens[1].take.tokens;
    const std::size_t before = state.now;
    state = written(state, {view.paths[1].tokens[1].take});
    CHECK(state.now == before + 1);  // one step of undo
    CHECK(taken_of(state) == two);
    CHECK(build_generate_view(state).paths.size() == 3);
    for (const TakePath& wrong : {TakePath{0, {}}, TakePath{0, {5, 99}}, TakePath{7, {5}}}) {
        const AppState same = after(state, {wrong});
        CHECK(taken_of(same) == two);
        CHECK(same.message.severity == Severity::warning);
    }
    // no continuation is offered past the longest text
    Actions eight;
    for (Index n = 0; n < test::kFakeMost - 4; ++n) eight.emplace_back(TakeToken{n, 5});
    for (const GeneratePath& path : build_generate_view(written(fake_writing(), eight)).paths)
        CHECK(path.tokens.size() == 1);
}

TEST_CASE("a model that predicts no next token shows no made-up logits") {
    Document silent = fake_writing().document();
    silent.read_out.next.clear();
    AppState state = state_of(std::move(silent)).value();
    view::apply(state, SetWorkspace{"generate"});
    const GenerateView view = build_generate_view(state);
    CHECK(has(view.pending, "Fake gives no next token. Open stories"));
    CHECK(view.bars.empty());
    CHECK(generate_inspector(state).empty);
}

TEST_CASE("only what is not there is asked for, the lens of the step alone") {
    AppState state = fake_writing();
    CHECK(build_generate_view(state).pending == "The model reads the text…");
    REQUIRE(requested_generation(state));
    CHECK(requested_generation(state)->tokens.empty());
    state = written(state);
    CHECK_FALSE(requested_generation(state));
    CHECK_FALSE(requested_generation(after(state, {SetSamplingTemperature{3.0}})));
    CHECK_FALSE(requested_generation(after(state, {SetWorkspace{"heads"}})));
    state = after(state, {TakeToken{0, 5}});
    CHECK(requested_generation(state)->tokens == std::vector<Index>{5});
    CHECK(step_of(state) == 0);  // until it is there
    CHECK_FALSE(next_of(state));
    state = written(after(state, {ShowLens{true}}));
    CHECK(build_generate_view(state).lens.size() == 3);
    CHECK_FALSE(requested_generation(state));
    CHECK(requested_generation(after(state, {ShowGenerated{0}}))->lens == 0);
}

TEST_CASE("a token that the model refuses is said, and nothing is asked for again") {
    AppState state = written(fake_writing());
    GenerateControls wrong = generate_controls(state);
    wrong.model = "fake";
    wrong.text = "the cat sat";
    wrong.tokens = {5, 99};
    edit_controls(state, wrong, "wrong");
    answer_all(state, fake_writer);
    CHECK(generate_look(state).fault == "The embedding has no such token.");
    CHECK_FALSE(requested_generation(state));
    CHECK(has(build_generate_view(state).muted, "no such token"));
    CHECK(taken_of(written(state, {DropTokens{1}})).size() == 1);
}

TEST_CASE("playing takes a token when the clock has come and the last one is read") {
    AppState state = written(fake_writing(), {PlayGeneration{true}});
    CHECK(is_animating(state));
    CHECK(due_actions(state).empty());
    for (int n = 0; n < 12; ++n) {
        view::apply(state, Tick{0.5});
        for (const Action& due : due_actions(state)) view::apply(state, due);
        if (generate_look(state).playing && requested_generation(state))
            CHECK(due_actions(state).empty());
        answer_all(state, fake_writer);
    }
    CHECK(std::ssize(taken_of(state)) == test::kFakeMost - 3);  // as many as the model takes
    CHECK_FALSE(generate_look(state).playing);
    const AppState stopped =
        pressed(written(fake_writing(), {PlayGeneration{true}}), plain(Key::space));
    CHECK_FALSE(generate_look(stopped).playing);
}

TEST_CASE("a token that ends a text ends playing, and it is said") {
    const Opener ending = [](const OpenRequest& request, const RunControl& control) {
        auto opened = fake_writer(request, control);
        if (!opened || !opened->generated) return opened;
        Generated made = *opened->generated;
        for (Index id = 0; id < test::kFakeText; ++id) made.ends.push_back(id);
        opened->generated = std::make_shared<const Generated>(std::move(made));
        return opened;
    };
    AppState state = fake_writing();
    const auto plays = [&] {
        view::apply(state, PlayGeneration{true});
        for (int n = 0; n < 6; ++n) {
            answer_all(state, ending);
            view::apply(state, Tick{0.5});
            for (const Action& due : due_actions(state)) view::apply(state, due);
        }
    };
    answer_all(state, ending);
    plays();
    REQUIRE(taken_of(state).size() == 1);
    CHECK_FALSE(generate_look(state).playing);
    CHECK(state.message.text == fmt::format("“w{}” ends the text.", taken_of(state).front()));
    plays();
    CHECK(taken_of(state).size() == 1);
}

TEST_CASE("Generate says what was done to the document and does not reach the model that writes") {
    const struct {
        view::ModelChanges changes;
        Actions actions;
        std::string without;
    } rows[] = {
        {{}, {}, ""},
        {{{{0, 1}}, {}, {}}, {}, "the interventions"},
        {{}, {SetScaling{false}}, "the changed options"},
        {{}, {SetScaling{false}, SetScaling{true}}, ""},
        {{}, {SetTemperature{2.0}}, "the changed options"},
        {{}, {SetDropout{0.5}}, "the changed options"},
        {{{{0, 1}}, {}, {}}, {SetCausal{true}}, "the interventions and the changed options"},
        {{}, {SetCell{{Stage::x, 0, 0}, 9.0}}, "the edited numbers"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.without);
        const std::string muted =
            build_generate_view(written(fake_writing(row.changes), row.actions)).muted;
        CHECK(muted.starts_with(
            row.without.empty()
                ? "Residual stream of "
                : fmt::format("Generation ignores {}. Residual stream of ", row.without)));
    }
}

TEST_CASE("a layer with experts shows which each token went to, with their shares") {
    // token n gives 3/4 to expert n mod 3 and 1/4 to the next; of layer 1 nothing is known
    const Opener routed = [](const OpenRequest& request, const RunControl& control) {
        return fake_writer(request, control).map([](Opened opened) {
            Generated made = *opened.generated;
            Index first = 0;
            for (auto& step : made.steps) {
                GeneratedStep with = *step;
                const Index tokens = first == 0 ? std::ssize(made.prompt) : 1;
                Tensor shares(Shape{1, 1, tokens, 4});
                for (Index t = 0; t < tokens; ++t) {
                    shares(0, 0, t, (first + t) % 3) = 0.75F;
                    shares(0, 0, t, (first + t + 1) % 3) = 0.25F;
                }
                first += tokens;
                with.routing = {shares, {}};
                step = std::make_shared<const GeneratedStep>(std::move(with));
            }
            opened.generated = std::make_shared<const Generated>(std::move(made));
            return opened;
        });
    };
    AppState state = fake_writing();
    answer_all(state, routed);
    state = after(state, {TakeToken{0, 5}});
    answer_all(state, routed);
    const GridView grid = build_generate_view(state).experts.value();
    CHECK(grid.title == "experts of layer 0: one row per token");
    CHECK(grid.row_labels == std::vector<std::string>{"the", "cat", "sat", "w5"});
    CHECK(grid.column_labels == std::vector<std::string>{"0", "1", "2", "3"});
    CHECK(grid.at(1, 1).value == 0.75);
    CHECK(grid.at(1, 2).value == 0.25);
    CHECK(grid.at(1, 0).look == CellLook::masked);
    CHECK(experts_text(state) == "0 takes 0.75, 1 0.25 of “w5”");
    CHECK(experts_text(after(state, {ShowGenerated{0}})) == "2 takes 0.75, 0 0.25 of “sat”");
    CHECK(generate_inspector(state).lines.back().label == "experts of the layer");
    const AppState other = after(state, {ShowLayer{1}});
    CHECK_FALSE(build_generate_view(other).experts);
    CHECK(experts_text(other).empty());
}

TEST_CASE("a text that is full takes no further token") {
    Actions nine;
    for (Index n = 0; n < test::kFakeMost - 3; ++n) nine.emplace_back(TakeToken{n, 5});
    const AppState full = written(fake_writing(), nine);
    const auto takes = [&](const AppState& state) {
        return std::ranges::any_of(commands(state), [](const Command& each) {
            return each.text == "Take this candidate" && each.enabled;
        });
    };
    CHECK_FALSE(takes(full));
    CHECK(takes(after(full, {ShowGenerated{8}})));
    const AppState refused = after(full, {TakeToken{9, 1}});
    CHECK(taken_of(refused) == taken_of(full));
    CHECK(refused.message.text == "The text has reached its maximum length.");
    CHECK(taken_of(after(full, {TakeToken{8, 1}})).back() == 1);
}

TEST_CASE("a session keeps settings and tokens; of another text or model there are none") {
    const AppState state = written(fake_writing(), {SetSamplingTemperature{1.5}, TakeToken{0, 5},
                                                    TakeToken{1, 7}, ShowGenerated{1}});
    const SessionContext context{
        .open = [](const OpenRequest& request, const RunControl& control) -> Result<Opened> {
            if (std::holds_alternative<GenerateText>(request.what))
                return fake_writer(request, control);
            return Opened{fake_writing().shared_document(), nullptr, {}};
        }};
    const AppState read = written(reopened(state, context));
    CHECK(generate_controls(read) == generate_controls(state));
    CHECK(taken_of(read) == std::vector<Index>{5, 7});
    CHECK(build_generate_view(read).headline == build_generate_view(state).headline);
    AppState more = state;
    GenerateControls many = generate_controls(state);
    many.tokens.assign(static_cast<std::size_t>(kMostTaken) + 1, 5);
    edit_controls(more, many, "more than are taken");
    const auto refused = session_from_json(session_to_json(more), "session", context);
    REQUIRE_FALSE(refused);
    CHECK(has(refused.error().text(), "at most 512 tokens are taken"));
    Document other = state.document();
    other.origin = ModelOrigin{"fake", "the cat"};
    AppState next = state;
    REQUIRE(edit_document(next, other, "typed"));
    CHECK(taken_of(next).empty());
    CHECK(taken_of(after(next, {Undo{}})).size() == 2);
}

TEST_CASE("Enter takes the candidate that ↑ and ↓ chose, and the inspector has its arithmetic") {
    AppState state = written(fake_writing());
    state = pressed(state, plain(Key::down));
    const auto shown = shown_of(state);
    const std::size_t place = explained_of(state);
    const Candidate& it = shown->candidates.all[place];
    const InspectorView view = generate_inspector(state);
    CHECK(view.title == quoted_token(state, it.id));
    CHECK(view.value == number(it.after));
    CHECK(has(view.as_text, number(it.logit)));
    CHECK(has(view.as_text, "softmax of z: " + number(it.before)));
    state = pressed_key(state, Key::enter);
    CHECK(taken_of(state) == std::vector<Index>{it.id});
}

TEST_CASE("logits that are no numbers are said, and nothing is drawn") {
    AppState state = written(fake_writing());
    auto broken = std::make_shared<Generated>(*generate_look(state).written);
    GeneratedStep step = *broken->steps.front();
    step.logits[2] = std::nanf("");
    broken->steps = {std::make_shared<const GeneratedStep>(step)};
    state = after(state, {GenerationReady{generate_look(state).of, broken, ""}});
    const GenerateView view = build_generate_view(state);
    CHECK(view.warns);
    CHECK(view.bars.empty());
    CHECK_FALSE(view.next);
    CHECK(has(view.headline, "The logit of token 2 is nan"));
    CHECK(generate_inspector(state).empty);
}

TEST_CASE("of more than 64 keys the strip has those with most weight, and the sum of the others") {
    AppState state = written(fake_writing());
    Generated made = *generate_look(state).written;
    made.prompt.assign(70, "w");
    made.steps.front() = test::fake_step({}, 0, 70);
    state = after(state, {GenerationReady{generate_look(state).of,
                                          std::make_shared<const Generated>(made), ""}});
    const GridView strip = build_generate_view(state).strip.value();
    CHECK(strip.title == "A, L0 H0: one row per step, 24 of 70 keys");
    CHECK(strip.columns == 25);
    CHECK(strip.column_labels.back() == "46 others");
    std::vector<float> weights;
    for (const float weight : made.steps.front()->weights.front().matrix(0, 0).row(0))
        weights.push_back(weight);
    std::vector<float> shown;
    double sum = strip.at(0, 24).value;
    for (Index key = 0; key < 24; ++key) sum += shown.emplace_back(strip.at(0, key).value);
    CHECK(sum == doctest::Approx(1.0));
    std::ranges::sort(weights, std::greater<>());
    std::ranges::sort(shown, std::greater<>());
    CHECK(std::ranges::equal(shown, std::span(weights).first(24)));
}

TEST_CASE("a model that is opened in Generate stays there where it can write") {
    for (const bool writes : {true, false}) {
        const Opener opener = [&](const OpenRequest& request,
                                  const RunControl& control) -> Result<Opened> {
            if (std::holds_alternative<GenerateText>(request.what))
                return fake_writer(request, control);
            Document document = fake_writing().document();
            if (!writes) document.read_out.next.clear();
            return Opened{std::make_shared<const Document>(std::move(document)), nullptr, {}};
        };
        AppState state = in_workspace("generate");
        play(state, {OpenFile{"fake", "the cat sat"}, DocumentReady{}}, opener);
        CHECK(state.workspace == (writes ? "generate" : "step"));
        CHECK(cannot_generate(state) != writes);
    }
}

#include <cmath>
#include <set>

#include "app/common/typed.h"
#include "app/workspaces/model/actions.h"
#include "app/workspaces/model/view.h"
#include "tests/support/fake_reader.h"
#include "tests/view/view_test.h"

using namespace attn::view;
using test::golden_read, test::golden_reader, test::golden_state;

namespace {

std::vector<ModelBar> bars_of(const ModelView& view) {
    std::vector<ModelBar> all;
    for (const ModelRow& row : view.rows) all.insert(all.end(), row.bars.begin(), row.bars.end());
    return all;
}

/// The numbers of a printed line, "(−0.5)" and "1.2·10⁻⁴" too; nullopt: it has words.
std::optional<std::vector<double>> numbers_between(std::string text, const std::string& sign) {
    std::vector<double> all;
    for (std::size_t at = 0; at != std::string::npos;) {
        const auto next = text.find(sign, at);
        std::string part = text.substr(at, next == text.npos ? next : next - at);
        std::erase_if(part, [](char c) { return c == '(' || c == ')' || c == ' '; });
        const auto value = typed_number(part);
        if (!value) return std::nullopt;
        all.push_back(*value);
        at = next == text.npos ? next : next + sign.size();
    }
    return all;
}

/// How far a printed number may be from what it rounds.
double last_digit(const std::string& text) {
    const auto point = text.find('.');
    if (point == text.npos || text.find("10") != text.npos) return HUGE_VAL;
    return 0.5001 * std::pow(10.0, -static_cast<double>(text.size() - point - 1));
}

/// Checks the printed products of an inspector; returns how many there are.
int check_printed_products(const InspectorView& view) {
    int count = 0;
    for (const Line& line : view.lines) {
        if (line.pieces.size() != 2 || line.pieces[0].text.find(" · ") == std::string::npos)
            continue;
        const auto factors = numbers_between(line.pieces[0].text, " · ");
        std::string result = line.pieces[1].text;
        REQUIRE(result.starts_with(" = "));
        result = result.substr(3);
        const auto value = typed_number(result);
        if (!factors || !value || factors->size() != 2 || std::isinf(last_digit(result))) continue;
        CAPTURE(line.label);
        CAPTURE(line.pieces[0].text);
        CHECK(std::abs((*factors)[0] * (*factors)[1] - *value) <=
              last_digit(result) + 1e-9 * std::abs(*value));
        ++count;
    }
    return count;
}

}  // namespace

TEST_CASE("without a model it says what to open and asks for nothing") {
    const AppState state = in_workspace("model");
    const ModelView view = build_model_view(state);
    CHECK(view.can_open);
    CHECK(has(model_missing_data(state), "Open a model's folder or .gguf file (Ctrl+O)."));
    REQUIRE(view.known.size() == 5);
    CHECK(view.known[0].parameters == "124 M");
    CHECK(view.known[2].parameters == "8.03 B");
    for (const KnownModelRow& row : view.known) {
        double sum = 0.0;
        for (const double share : row.shares) sum += share;
        CHECK(sum == doctest::Approx(1.0));
    }
    CHECK_FALSE(requested_model_read(state));
    CHECK(model_inspector(state).lines.empty());
}

TEST_CASE("the rows go from the tokens to the answer, one layer unfolded") {
    const AppState pending = golden_state("gpt2");
    CHECK(has(build_model_view(pending).missing_data, "reads"));
    REQUIRE(requested_model_read(pending));
    const AppState state = golden_read("gpt2");
    CHECK_FALSE(requested_model_read(state));
    const ModelView view = build_model_view(state);
    CHECK(view.missing_data.empty());
    REQUIRE(view.rows.size() > 8);
    CHECK(view.rows.front().stage == ModelStage::embedding);
    CHECK(view.rows.back().kind == ModelRowKind::answers);
    CHECK(view.rows[view.rows.size() - 2].stage == ModelStage::final_norm);
    CHECK(std::ranges::count(view.rows, ModelRowKind::layers, &ModelRow::kind) == view.layers - 1);
    CHECK(std::ranges::count(view.rows, ModelRowKind::heads, &ModelRow::kind) == 1);
    for (const ModelRow& row : view.rows)
        if (row.kind == ModelRowKind::stage) CHECK(row.columns == std::ssize(view.tokens));
    CHECK(view.answers.size() == kMostAnswers);
    CHECK(view.answers[0].probability >= view.answers[1].probability);
    CHECK(has(view.headline, "the model predicts “" + view.answers[0].text + "” with "));
}

TEST_CASE("the bars begin at 0, join each other and end at the logit, of the difference too") {
    for (const char* family : {"gpt2", "llama", "mixtral", "gemma2", "gpt_neox"})
        for (const bool difference : {false, true}) {
            CAPTURE(family);
            const AppState state =
                golden_read(family, {ShowLogitDifference{difference}, ShowLayer{1}});
            const ModelView view = build_model_view(state);
            const auto bars = bars_of(view);
            REQUIRE(bars.size() > 4);
            double sum = 0.0;
            for (const ModelBar& bar : bars) {
                CHECK(bar.start == doctest::Approx(sum).epsilon(1e-12));
                sum = bar.end;
            }
            const ModelRead& read = *current_model_read(state);
            CHECK(read.sum->against.has_value() == difference);
            CHECK(sum == doctest::Approx(read.sum->logit).epsilon(1e-4));
            CHECK(has(view.sum_name, difference ? "−" : "logit of"));
        }
}

TEST_CASE("every number of every stage has arithmetic whose printed products are right") {
    int products = 0;
    for (const char* family : {"gpt2", "llama", "bert", "vit", "mixtral", "phi3", "dinov2"}) {
        CAPTURE(family);
        AppState state = golden_read(family, {ShowLayer{1}});
        const ModelStages stages = current_model_read(state)->stages;
        for (const ModelStage stage : stages.order) {
            if (stage == ModelStage::logits || stage == ModelStage::probabilities) continue;
            CAPTURE(info(stage).key);
            for (Index column = 0; column < std::min<Index>(stages[stage].shape().d, 6); ++column) {
                view::apply(state, ShowModelStage{std::string(info(stage).key), 2, column});
                const InspectorView view = model_inspector(state);
                CHECK_FALSE(view.empty);
                CHECK(view.value == number(stages[stage](0, 0, 2, column)));
                CHECK(has(view.as_text, view.title));
                products += check_printed_products(view);
            }
            const ModelView view = build_model_view(state);
            REQUIRE(view.grid);
            CHECK(view.grid->rows == stages[stage].shape().t);
            CHECK(view.grid->selected->first == 2);
        }
    }
    CHECK(products > 200);
}

TEST_CASE("an answer has its softmax and its logit") {
    const AppState state = golden_read("llama", {ExplainAnswer{7}});
    const ModelRead& read = *current_model_read(state);
    const InspectorView view = model_inspector(state);
    CHECK(view.value == number(read.stages[ModelStage::probabilities].values()[7]));
    CHECK(view.table);
    CHECK(std::ssize(view.table->rows) == read.model->config().width);
    check_printed_products(view);
}

TEST_CASE("a selected head is run without: predicted and measured stand beside each other") {
    AppState state = golden_read("gpt2", {ShowLayer{1}});
    const ModelRead before = *current_model_read(state);
    Index part = -1;
    for (Index n = 0; n < std::ssize(before.sum->parts); ++n)
        if (before.sum->parts[n].kind == PartKind::head && before.sum->parts[n].at.layer == 1)
            part = n;
    REQUIRE(part >= 0);
    const HeadPlace at = before.sum->parts[part].at;
    state = after(state, {SelectModelPart{part}});
    REQUIRE(requested_model_read(state));
    CHECK(requested_model_read(state)->off == at);
    CHECK(has(model_inspector(state).as_text, "the model runs again"));
    answer_all(state, golden_reader);
    const ModelRead& read = *current_model_read(state);
    REQUIRE(read.ablated);
    const auto without = test::golden_run(read.request.model, {at}, model_stage_set());
    const double expected =
        (without->read_out)(0, 0, std::ssize(read.run->tokens) - 1, before.sum->token);
    CHECK(*read.ablated == doctest::Approx(expected).epsilon(1e-5));
    const InspectorView view = model_inspector(state);
    CHECK(has(view.as_text, "predicted without this head"));
    CHECK(has(view.as_text, "measured without this head: " + number(*read.ablated)));
    CHECK(has(build_model_view(state).head, part_name(before.sum->parts[part])));
    CHECK(pressed(state, plain(Key::enter)).workspace == "heads");
}

TEST_CASE("Space computes upward, a row at a time; Escape goes back step by step") {
    AppState state = golden_read("gpt2");
    const Index steps = build_model_view(state).steps;
    for (Index n = 1; n < steps; ++n) {
        state = pressed(state, plain(Key::space));
        const ModelView view = build_model_view(state);
        CHECK(view.until == n);
        CHECK(std::ranges::count(view.rows, true, &ModelRow::computed) == n);
        CHECK(view.rows[n - 1].computed);
    }
    CHECK_FALSE(build_model_view(pressed(state, plain(Key::space))).until);
    state = after(state, {ShowModelStage{"norm1", 1, 3}});
    CHECK(build_model_view(state).grid);
    state = pressed(state, plain(Key::escape));
    CHECK_FALSE(build_model_view(state).grid);
    CHECK(model_look(state).row == 1);  // the place is kept
    CHECK(build_model_view(state).until);
    CHECK_FALSE(build_model_view(pressed(state, plain(Key::escape))).until);
}

TEST_CASE("arrows choose the layer and the token; the answer is that token's") {
    AppState state = golden_read("gpt2");
    state = pressed(state, plain(Key::up));
    CHECK(state.document().layer == 1);
    answer_all(state, golden_reader);
    CHECK(current_model_read(state)->stages.layer == 1);
    state = pressed(state, plain(Key::left));
    answer_all(state, golden_reader);
    CHECK(model_token(state) == 3);
    CHECK(current_model_read(state)->stages.row == 3);
    CHECK(after(state, {SelectModelToken{5}}).message.severity == Severity::warning);
    CHECK(after(state, {ShowModelStage{"cellar"}}).message.severity == Severity::warning);
}

TEST_CASE("a model without logits, of images, and of two stacks") {
    const ModelView bert = build_model_view(golden_read("bert"));
    CHECK(bert.answers.empty());
    CHECK(has(bert.headline, "The norm of the residual stream of "));
    CHECK(bert.sum_low == bert.sum_high);
    const ModelView vit = build_model_view(golden_read("vit"));
    CHECK(has(vit.headline, "The model answers “"));
    CHECK(vit.sum_low < vit.sum_high);
    const ModelView encoder = build_model_view(golden_read("t5", {}, "encoder"));
    CHECK(has(encoder.headline, "The norm of the residual stream of "));
    const AppState decoder = golden_read("t5", {}, "decoder");
    const ModelView view = build_model_view(decoder);
    CHECK(std::ranges::count(view.rows, ModelRowKind::heads, &ModelRow::kind) == 2);
    CHECK(has(view.muted, "encoder"));  // why there are no bars
}

TEST_CASE("what cannot be read says why, once") {
    AppState state = golden_state("gpt2");
    answer_all(state, [](const OpenRequest&, const RunControl&) -> Result<Opened> {
        return bad_input("the folder is gone");
    });
    CHECK(build_model_view(state).missing_data == "The folder is gone.");
    CHECK_FALSE(requested_model_read(state));
}

TEST_CASE("a large model folds layers together") {
    AppState state = golden_read("gpt2");
    ModelRead read = *current_model_read(state);
    ModelRun run = *read.run;
    const ModelLayer layer = run.layers.back();
    run.layers.resize(100, layer);
    read.run = std::make_shared<const ModelRun>(std::move(run));
    model_look(state).read = std::make_shared<const ModelRead>(read);
    const ModelView view = build_model_view(state);
    const auto folded = std::ranges::count(view.rows, ModelRowKind::layers, &ModelRow::kind);
    CHECK(folded <= 41);
    Index covered = 1;
    for (const ModelRow& row : view.rows)
        if (row.kind == ModelRowKind::layers) covered += row.layer - row.first_layer + 1;
    CHECK(covered == 100);
}

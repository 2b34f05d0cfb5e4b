#include <cmath>
#include <set>

#include "app/common/document/model_place.h"
#include "app/common/typed.h"
#include "app/common/workspace.h"
#include "app/workspaces/model/actions.h"
#include "app/workspaces/model/motion.h"
#include "app/workspaces/model/view.h"
#include "core/models/block.h"
#include "core/scores/score.h"
#include "core/train/task_table.h"
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

TEST_CASE("known models are one action away while a model is open, and Esc comes back") {
    AppState state = after(golden_read("gpt2"), {SetWorkspace{"step"}, ShowKnownModels{true}});
    CHECK(state.workspace == "model");
    const ModelView view = build_model_view(state);
    CHECK(view.shows_known);
    CHECK_FALSE(view.can_open);
    REQUIRE(view.known.size() == 5);
    CHECK(view.headline == "Parameters of five known models");
    CHECK_FALSE(shown_workspace(state).has_side(state));
    const auto back = shown_workspace(state).escape(state);
    REQUIRE(back);
    state = after(state, {*back});
    CHECK_FALSE(build_model_view(state).shows_known);
    CHECK(shown_workspace(state).has_side(state));
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
    CHECK(
        has(view.headline, "the model predicts “" + view.answers[0].text + "” with probability "));
}

TEST_CASE("the bars begin at 0, join each other and end at the logit, of the difference too") {
    for (const char* family :
         {"gpt2", "llama", "mixtral", "gemma2", "gpt_neox", "megatron-bert", "bert~labels"})
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
            CHECK(std::ssize(read.sum->parts) >= std::ssize(bars));
            CHECK(has(view.sum_name, difference ? "−" : "logit of"));
        }
}

TEST_CASE("a model without an answer has bars that add up to the norm of its vector") {
    for (const char* family : {"bert", "roberta", "distilbert", "dinov2", "use_lite"}) {
        CAPTURE(family);
        const AppState state = golden_read(family, {ShowLayer{1}});
        const ModelView view = build_model_view(state);
        CHECK(view.answers.empty());
        double sum = 0.0;
        for (const ModelBar& bar : bars_of(view)) {
            CHECK(bar.start == doctest::Approx(sum).epsilon(1e-12));
            sum = bar.end;
        }
        const ModelRead& read = *current_model_read(state);
        double squares = 0.0;
        for (const float x : read.run->layers.back().residual.matrix(0, 0).row(read.stages.row))
            squares += double{x} * x;
        CHECK(sum == doctest::Approx(std::sqrt(squares)).epsilon(1e-4));
        CHECK(has(view.sum_name, "norm of the vector of “"));
        CHECK(has(view.headline, "The norm of the residual stream of "));
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

namespace {

/// The printed number is this one, to its last digit.
void check_printed(const std::string& text, double value) {
    const auto printed = typed_number(text);
    REQUIRE(printed);
    const double digit = last_digit(text);
    CHECK(std::abs(*printed - value) <=
          (std::isinf(digit) ? 0.02 * std::abs(value) + 1e-9 : digit));
}

/// Goes to the operand and comes back with Backspace.
void check_link(AppState state, const std::string& text, const Actions& actions) {
    const ReturnToCell start{state.document().layer, model_look(state).stage, model_look(state).row,
                             model_look(state).column, model_look(state).answer};
    for (const Action& action : actions) view::apply(state, action);
    answer_all(state, golden_reader);
    const auto cell = explained_cell(state);
    REQUIRE(cell);
    const ModelRead& read = *current_model_read(state);
    CHECK(read.stages.layer == state.document().layer);
    check_printed(text, read.stages[cell->stage](0, 0, cell->row, cell->column));
    CHECK(has(build_model_view(state).back, "["));
    state = pressed(state, plain(Key::backspace));
    answer_all(state, golden_reader);
    CHECK(state.document().layer == start.layer);
    CHECK(model_look(state).stage == start.stage);
    CHECK(model_look(state).row == start.row);
    CHECK(model_look(state).column == start.column);
    CHECK(model_look(state).answer == start.answer);
    CHECK(build_model_view(state).back.empty());
}

}  // namespace

TEST_CASE("a click on an operand goes to its number, Backspace comes back") {
    int links = 0;
    for (const char* family : {"gpt2", "llama", "bert", "mixtral", "phi3", "gpt_oss", "gpt_neox"}) {
        CAPTURE(family);
        for (const Index layer : {0, 1}) {
            AppState state = golden_read(family, {ShowLayer{layer}});
            const ModelStages stages = current_model_read(state)->stages;
            for (const ModelStage stage : stages.order) {
                CAPTURE(info(stage).key);
                const Index row = stages[stage].shape().t > 1 ? 2 : 0;
                view::apply(state, ShowModelStage{std::string(info(stage).key), row, 5});
                const InspectorView view = model_inspector(state);
                for (const Line& line : view.lines)
                    for (const Piece& piece : line.pieces)
                        if (!piece.on_click.empty() && piece.on_click[0].is<FollowOperand>() &&
                            piece.text.find("·") == std::string::npos) {
                            CAPTURE(line.label);
                            check_link(state, piece.text, piece.on_click);
                            ++links;
                        }
                if (!view.table) continue;
                const TableCell& operand = view.table->rows[1].cells[0];
                REQUIRE_FALSE(operand.on_click.empty());
                check_link(state, operand.text, operand.on_click);
                ++links;
            }
        }
    }
    CHECK(links > 120);
}

TEST_CASE("from an answer to the number of the final norm and back; Escape comes back too") {
    AppState state = golden_read("llama", {ExplainAnswer{7}});
    const InspectorView view = model_inspector(state);
    const TableCell& operand = view.table->rows[3].cells[0];
    for (const Action& action : operand.on_click) view::apply(state, action);
    CHECK(model_look(state).stage == "final_norm");
    CHECK(build_model_view(state).back == "p(#7)");
    state = pressed(state, plain(Key::escape));
    CHECK(model_look(state).answer == 7);
    CHECK(model_look(state).stage.empty());
    CHECK(after(state, {FollowOperand{0, "cellar", 0, 0}}).message.severity == Severity::warning);
    CHECK(after(state, {ReturnToCell{0, "cellar"}}).message.severity == Severity::warning);
}

TEST_CASE("a head's share leads to its context in Step, W comes back to the number") {
    AppState state = golden_read("gpt2", {ShowLayer{1}, ShowModelStage{"attention", 3, 5}});
    const InspectorView view = model_inspector(state);
    REQUIRE(view.lines.size() > 3);
    const Actions& actions = view.lines[2].pieces[0].on_click;
    REQUIRE(actions.size() == 2);
    for (const Action& action : actions) view::apply(state, action);
    CHECK(state.workspace == "step");
    CHECK(state.stage == Stage::context);
    CHECK(state.head == 2);
    CHECK(state.document().layer == 1);
    REQUIRE(state.selected);
    CHECK(state.selected->row == 3);
    state = pressed(state, plain(Key::w));
    CHECK(state.workspace == "model");
    CHECK(model_look(state).stage == "attention");
    CHECK(model_look(state).row == 3);
    CHECK(model_look(state).column == 5);
}

TEST_CASE("W leads from Step to what follows attention, and back to the same place") {
    AppState state = golden_read(
        "gpt2", {ShowLayer{1}, SetWorkspace{"step"}, GoToStage{Stage::weights}, ShowHead{2}});
    state = after(state, {SelectCell{{Stage::weights, 3, 1}}});
    state = pressed(state, plain(Key::w));
    CHECK(state.workspace == "model");
    answer_all(state, golden_reader);
    CHECK(state.document().layer == 1);
    CHECK(state.head == 2);
    CHECK(model_token(state) == 3);
    const ModelView view = build_model_view(state);
    CHECK(view.headline ==
          "After attention: + residual → norm → MLP → + residual → final norm → logits → softmax.");
    CHECK(has(view.muted, "enters layer 1 with norm "));
    bool after_attention = false;
    for (const ModelRow& row : view.rows) {
        CHECK(row.marked == after_attention);
        after_attention = after_attention || row.stage == ModelStage::attention;
    }
    const auto steps = std::ranges::find(view.rows, ModelRowKind::stages, &ModelRow::kind);
    REQUIRE(steps != view.rows.end());
    CHECK(std::ranges::count(steps->steps, true, &AttentionStep::selected) == 1);
    CHECK(one_of(steps->steps, Stage::weights, &AttentionStep::stage).selected);
    state = pressed(state, plain(Key::w));
    CHECK(state.workspace == "step");
    CHECK(state.stage == Stage::weights);
    CHECK(state.head == 2);
    CHECK(state.document().layer == 1);
    CHECK(state.selected == CellRef{Stage::weights, 3, 1});
    // another token there is another query here
    state = after(pressed(state, plain(Key::w)), {SelectModelToken{2}, ShowAttentionStage{}});
    REQUIRE(state.selected);
    CHECK(state.selected->row == 2);
    // entered from elsewhere, the workspace shows the answer
    state = after(state, {SetWorkspace{"model"}});
    answer_all(state, golden_reader);
    CHECK(has(build_model_view(state).headline, "the model predicts"));
}

TEST_CASE("what follows attention, and what its input is, of each kind of family") {
    const auto headlines = [](const char* family, Index layer) {
        const auto at = [&](ModelPlace place) {
            AppState state = golden_read(family, {ShowLayer{layer}, ShowModelPlace{place}});
            return build_model_view(state).headline;
        };
        return std::pair{at(ModelPlace::input), at(ModelPlace::output)};
    };
    const auto gpt2 = headlines("gpt2", 0);
    CHECK(gpt2.first ==
          "X, the input of attention in layer 0: token embedding + position, then normalised.");
    CHECK(gpt2.second ==
          "After attention: + residual → norm → MLP → + residual → layer 1 → final norm → logits → "
          "softmax.");
    const auto bert = headlines("bert", 1);
    CHECK(bert.first ==
          "X, the input of attention in layer 1: token embedding + position, "
          "normalised, through layer 0.");
    CHECK(bert.second == "After attention: + residual → norm → MLP → + residual → norm.");
    CHECK(headlines("llama", 1).first ==
          "X, the input of attention in layer 1: token embedding, through layer 0, then "
          "normalised.");
    CHECK(has(headlines("gemma2", 0).second,
              "After attention: norm → + residual → norm → MLP → norm → + residual → layer 1"));
    CHECK(has(headlines("mixtral", 1).second, "norm → experts → + residual"));
    CHECK(has(headlines("gpt_neox", 1).second,
              "After attention: + residual + MLP of the same input"));
    CHECK(has(headlines("vit", 0).first, "patch embedding + position, then normalised"));
}

TEST_CASE("G: norms of gradients of the loss by each block's output") {
    AppState state = golden_read("gpt2", {ShowLayer{1}, SelectModelToken{2}});
    state = pressed(state, plain(Key::g));
    REQUIRE(requested_model_read(state));
    answer_all(state, golden_reader);
    const ModelRead& read = *current_model_read(state);
    REQUIRE(read.gradients);
    CHECK(read.target == read.run->tokens[3].id);  // the next token of the text
    const ModelView view = build_model_view(state);
    CHECK(view.gradients);
    const auto norm = [](const TensorD& values) {
        double squares = 0.0;
        for (const double value : values.values()) squares += value * value;
        return number(std::sqrt(squares));
    };
    const auto shown = [&](ModelStage stage) {
        return one_of(view.rows, std::optional(stage), &ModelRow::stage).gradient;
    };
    CHECK(shown(ModelStage::attention) == norm(read.gradients->layers[1].attention));
    CHECK(shown(ModelStage::mlp_out) == norm(read.gradients->layers[1].mlp));
    CHECK(shown(ModelStage::residual2) == norm(read.gradients->layers[1].residual));
    CHECK(shown(ModelStage::entry) == norm(read.gradients->embedded));
    double largest = 0.0;
    for (const ModelRow& row : view.rows) largest = std::max(largest, row.gradient_share);
    CHECK(largest == 1.0);
    CHECK(has(view.muted, "L = −ln p("));
    CHECK(has(model_inspector(state).as_text, "‖∂L/∂F‖ of layer 1: " + shown(ModelStage::mlp_out)));
    // the last token has no next one
    state = after(state, {SelectModelToken{4}});
    answer_all(state, golden_reader);
    CHECK_FALSE(build_model_view(state).gradients);
    CHECK(has(build_model_view(state).muted, "this is the last one: choose an earlier token"));
    const auto muted = [](const char* family) {
        AppState other = golden_read(family, {ShowBlockGradients{true}});
        return build_model_view(other).muted;
    };
    CHECK(has(muted("bert~labels"), "A loss needs the right answer"));
    CHECK(has(muted("bert"), "This model gives no answer"));
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
    CHECK(bert.sum_low < bert.sum_high);
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

namespace {

/// The same model over another text of as many tokens, as typed in a window.
AppState retyped(AppState state, const std::string& text) {
    Document document = state.document();
    std::get<ModelOrigin>(document.origin).text = text;
    state.history[state.now].document = std::make_shared<const Document>(std::move(document));
    return state;
}

}  // namespace

TEST_CASE("while another text is read the last picture stays; then all of it moves in 400 ms") {
    AppState state = after(golden_read("gpt2"), {Tick{10.0}});
    CHECK_FALSE(is_animating(state));
    const ModelView before = build_model_view(state);
    state = retyped(state, "7 7 3 29 5");
    CHECK(build_model_view(state).missing_data.empty());
    CHECK(bars_of(build_model_view(state))[1].end == bars_of(before)[1].end);
    answer_all(state, golden_reader);
    CHECK(is_animating(state));
    const ModelView first = build_model_view(state);
    const AppState arrived = after(state, {Tick{kModelMotionSeconds}});
    const AppState middle = after(state, {Tick{kModelMotionSeconds / 2}});
    const ModelView half = build_model_view(middle), end = build_model_view(arrived);
    CHECK_FALSE(is_animating(arrived));
    CHECK(is_animating(middle));
    CHECK(first.tokens == end.tokens);  // words are there at once
    const auto at = [](const ModelView& view) { return bars_of(view).back().end; };
    REQUIRE(at(before) != at(end));
    CHECK(at(first) == doctest::Approx(at(before)));
    CHECK(at(half) == doctest::Approx((at(before) + at(end)) / 2));
    REQUIRE(half.rows.size() == end.rows.size());
    for (std::size_t n = 0; n < end.rows.size(); ++n)
        for (std::size_t k = 0; k < end.rows[n].pictures.size(); ++k)
            CHECK(half.rows[n].pictures[k].key != end.rows[n].pictures[k].key);
    const Picture &from = first.rows[3].pictures[0], &to = end.rows[3].pictures[0];
    CHECK(from.paint().rgba == before.rows[3].pictures[0].paint().rgba);
    CHECK(from.paint().rgba != to.paint().rgba);
}

TEST_CASE("nothing moves under reduced motion, in a picture, or with other sizes") {
    const AppState ticking = after(golden_read("gpt2"), {Tick{10.0}});
    const auto moves = [](AppState state, const char* text) {
        state = retyped(state, text);
        answer_all(state, golden_reader);
        return is_animating(state);
    };
    CHECK(moves(ticking, "7 7 3 29 5"));
    CHECK_FALSE(moves(ticking, "7 7 3 29"));
    CHECK_FALSE(moves(golden_read("gpt2"), "7 7 3 29 5"));
    CHECK_FALSE(moves(after(ticking, {SetReducedMotion{true}}), "7 7 3 29 5"));
    AppState layer = after(ticking, {ShowLayer{1}});
    answer_all(layer, golden_reader);
    CHECK_FALSE(is_animating(layer));
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

TEST_CASE("a way back to a cell before the first leads to the first") {
    AppState state = initial_state();
    apply(state, ReturnToCell{0, "", -1, -1, -1});
    CHECK(model_look(state).row == 0);
    CHECK(model_look(state).column == 0);
    CHECK(model_look(state).answer == 0);
}

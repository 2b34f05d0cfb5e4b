// Gradients as a view: every loss, the chain rule of every stage and parameter, and finite differences.

#include "app/common/document/document.h"
#include "app/common/explain/backward.h"
#include "app/common/explain/explain.h"
#include "core/cast.h"
#include "core/engine.h"
#include "core/large/map_input.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/tex.h"
#include "core/train/task_table.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

/// Of sums whose terms cancel: what an error is relative to.
double magnitude(const Expr& expr) {
    if (expr.op == Op::number) return std::abs(expr.value);
    double size = expr.op == Op::product ? 1.0 : 0.0;
    for (const Expr& arg : expr.args)
        size = expr.op == Op::product ? size * magnitude(arg) : size + magnitude(arg);
    if (expr.op == Op::quotient) return magnitude(expr.args[0]) / std::abs(evaluate(expr.args[1]));
    return size;
}

std::vector<OperandId> everything(const AppState& state) {
    std::vector<OperandId> ids;
    for (const Stage stage : ribbon_stages(state.document())) ids.emplace_back(stage);
    for (const ParamInfo& param : param_table())
        if (!state.document().inputs->params[param.param].empty()) ids.emplace_back(param.param);
    return ids;
}

template <class Visit>
void for_some_gradients(const AppState& state, Visit visit) {
    for (const OperandId& id : everything(state)) {
        const auto values = gradient_of(state, id);
        const Index rows = std::max(Index{1}, values.rows / 3);
        const Index columns = std::max(Index{1}, values.columns / 3);
        for (Index i = 0; i < values.rows; i += rows)
            for (Index j = 0; j < values.columns; j += columns) visit(CellRef{id, i, j});
    }
}

Tensor random_tensor(std::uint64_t seed, const Shape& shape) {
    return test::normal_tensor<float>(shape, mix(seed, 5));
}

/// A file's tensors: two sequences, four heads that read two key/value heads, with every bias.
AppState grouped_state(bool projects) {
    Document document;
    document.origin = FileOrigin{"grouped.npz"};
    document.title = "grouped.npz";
    document.note = "a test";
    document.spec.heads = 4;
    document.spec.kv_heads = 2;
    document.spec.mask.causal = CausalAlign::top_left;
    Inputs inputs;
    if (projects) {
        inputs.x = random_tensor(1, {2, 1, 5, 6});
        inputs.params[Param::w_q] = random_tensor(2, {1, 1, 6, 12});
        inputs.params[Param::w_k] = random_tensor(3, {1, 1, 6, 6});
        inputs.params[Param::w_v] = random_tensor(4, {1, 1, 6, 6});
        inputs.params[Param::b_q] = random_tensor(5, {1, 1, 1, 12});
        inputs.params[Param::b_k] = random_tensor(6, {1, 1, 1, 6});
        inputs.params[Param::b_v] = random_tensor(7, {1, 1, 1, 6});
    } else {
        inputs.q = random_tensor(8, {2, 4, 5, 3});
        inputs.k = random_tensor(9, {2, 2, 5, 3});
        inputs.v = random_tensor(10, {2, 2, 5, 3});
    }
    inputs.params[Param::w_o] = random_tensor(11, {1, 1, 12, 4});
    inputs.params[Param::b_o] = random_tensor(12, {1, 1, 1, 4});
    set_inputs(document, std::move(inputs));
    return after(state_of(std::move(document)).value(), {ShowHead{3, 1}});
}

/// Documents of finite numbers: presets, masks of every kind, dropout, temperature, heads, files.
std::vector<AppState> finite_states() {
    std::vector<AppState> states;
    for (const AppState& state : sample_states()) {
        if (is_empty(state.document())) continue;
        bool finite = true;
        for (const Stage stage : {Stage::context, Stage::output})
            for (const float value : (*state.trace)[stage].values())
                finite = finite && std::abs(value) < 1e6F;
        if (finite) states.push_back(state);
    }
    states.push_back(after(initial_state(), {SetTemperature{0.3}, SetScaling{false}}));
    states.push_back(grouped_state(true));
    states.push_back(grouped_state(false));
    return states;
}

/// The four losses, with a target that is not 0.
std::vector<AppState> losses_of(const AppState& state) {
    const Dimensions& size = state.document().size;
    const CellRef output{Stage::output, size.tq - 1, size.d_out / 2};
    return {after(state, {SetLoss{LossKind::sum}}), after(state, {SetLossCell{output}}),
            after(state, {SetLoss{LossKind::squared}, SetTarget{output, 1.5}}),
            after(state, {SetLossCell{output}, SetLoss{LossKind::cross_entropy}})};
}

/// L by its definition, in double, apart from the view's own arithmetic.
double exact_loss(const AppState& state, const InputsD& inputs) {
    const TraceD trace = attend_exact(inputs, state.document().spec).value();
    const TensorD& output = trace[Stage::output];
    const Loss& loss = state.loss;
    const OutputCell& cell = loss.cell;
    if (loss.kind == LossKind::cell) return output(cell.batch, 0, cell.row, cell.column);
    double sum = 0.0;
    const Shape shape = output.shape();
    if (loss.kind == LossKind::cross_entropy) {
        for (Index c = 0; c < shape.d; ++c) sum += std::exp(output(cell.batch, 0, cell.row, c));
        return std::log(sum) - output(cell.batch, 0, cell.row, cell.column);
    }
    for (const auto [b, i] : each_cell(shape.b, shape.t))
        for (Index c = 0; c < shape.d; ++c) {
            const double y = output(b, 0, i, c);
            const double error = y - target_of(state.document(), b, i, c);
            sum += loss.kind == LossKind::sum ? y : error * error / 2;
        }
    return sum;
}

/// (L(x + h) − L(x − h)) / 2h of one number of the inputs.
double slope(const AppState& state, InputsD& inputs, double& number) {
    constexpr double kStep = 1e-5;
    const double middle = number;
    number = middle + kStep;
    const double above = exact_loss(state, inputs);
    number = middle - kStep;
    const double below = exact_loss(state, inputs);
    number = middle;
    return (above - below) / (2 * kStep);
}

void check_slope(double expected, double found) {
    CHECK(std::abs(expected - found) <= 2e-4 * std::max(1.0, std::abs(expected)));
}

}  // namespace

TEST_CASE("the chain rule of every stage and parameter gives the gradient, for every loss") {
    std::size_t explained = 0;
    std::size_t turn = 0;
    for (const AppState& document : finite_states()) {
        const AppState state = losses_of(document)[turn++ % 3];
        for_some_gradients(state, [&](const CellRef& cell) {
            const Explanation explanation = explain_gradient(state, cell);
            INFO("explanation.name ", explanation.name, ", explanation.tex ", explanation.tex);
            CHECK(tex::parse(explanation.tex).has_value());
            CHECK(explanation.formula == tex::plain_text(explanation.tex));
            if (!explanation.steps.empty())
                CHECK(has(copy_as_latex(explanation), "&= " + explanation.tex));
            CAPTURE(state.document().title);
            REQUIRE(explanation.value == *gradient_at(state, cell));
            if (explanation.steps.empty()) {
                CHECK(explanation.value == 0.0);
                CHECK(explanation.formula.starts_with("0, the "));
                return;
            }
            ++explained;
            const Expr& expr = explanation.steps.back().expr;
            const double space = 512 * std::numeric_limits<float>::epsilon();
            CHECK(std::abs(evaluate(expr) - explanation.value) <=
                  space * std::max(magnitude(expr), 1e-3));
            CHECK_FALSE(explanation.formula.empty());
            for (const Step& aside : explanation.asides)
                CHECK(evaluate(aside.expr) == aside.result);
        });
    }
    CHECK(explained > 3000);
}

TEST_CASE("gradients of each loss are its finite differences, for X and every parameter") {
    for (const AppState& document : {preset_state("the-cat-sat-down"), preset_state("three-heads"),
                                     preset_state("cross-attention"), grouped_state(true)})
        for (const AppState& state : losses_of(document)) {
            CAPTURE(loss_text(state));
            CAPTURE(state.document().title);
            InputsD inputs = cast<double>(*state.document().inputs);
            const auto check = [&](TensorD& tensor, const Tensor& gradient) {
                const std::size_t apart = tensor.values().size() / 4 + 1;
                for (std::size_t n = 0; n < tensor.values().size(); n += apart)
                    check_slope(slope(state, inputs, tensor.values()[n]), gradient.values()[n]);
            };
            check(inputs.x, (*state.gradients)[Stage::x]);
            for (std::size_t p = 0; p < kParamCount; ++p)
                check(inputs.params.tensors[p], state.gradients->params.tensors[p]);
        }
}

TEST_CASE("a small edit moves L by its gradient") {
    for (const AppState& state : losses_of(initial_state())) {
        const CellRef cell{Param::w_q, 1, 1};
        constexpr double kStep = 1.0 / 64;
        const double middle = *value_at(state, cell);
        const auto loss_at = [&](double value) {
            return *loss_value(after(state, {SetCell{cell, value}}));
        };
        const double moved = (loss_at(middle + kStep) - loss_at(middle - kStep)) / (2 * kStep);
        CHECK(moved == doctest::Approx(*gradient_at(state, cell)).epsilon(0.02).scale(0.1));
    }
}

TEST_CASE("the heading, the sentence and the inspector name the loss") {
    const AppState state =
        after(initial_state(), {GoToStage{Stage::scaled}, SetLossCell{{Stage::output, 1, 2}},
                                SelectCell{{Stage::scaled, 1, 0}}});
    const StepView view = build_step_view(state);
    CHECK(view.formula ==
          "∂L/∂S[i,j] = ∂L/∂M[i,j] if i may attend to j, else 0, L = output[cat, 2]");
    CHECK(view.text.starts_with("How fast L grows with each number; L = output[cat, 2] = "));
    CHECK(has(view.text, "Largest magnitude: ∂L/∂S[cat, "));
    const InspectorView inspector = step_inspector(state);
    CHECK(inspector.title == "∂L/∂S[cat, The]");
    CHECK(inspector.sources.empty());
    CHECK(has(inspector.gradient, ", L = output[cat, 2] = "));
    const StepView squared = build_step_view(after(state, {SetLoss{LossKind::squared}}));
    CHECK(squared.formula.ends_with(", L = ½ Σ (output − target)²"));
    CHECK(squared.controls.loss.current == 2);
    CHECK(squared.controls.loss.choices[1] == "L = output[cat, 2]");
}

TEST_CASE("the heading's chain rule is that of this document") {
    const auto formula = [](AppState state, Stage stage) {
        state = after(state, {ShowGradients{true}, GoToStage{stage}});
        const std::string text = build_step_view(state).formula;
        return text.substr(0, text.rfind(", L = "));
    };
    const AppState plain = initial_state();
    CHECK(formula(plain, Stage::scores) == "∂L/∂scores = ∂L/∂S · 1/√d_k");
    CHECK(formula(after(plain, {SetScaling{false}}), Stage::scores) == "∂L/∂scores = ∂L/∂S");
    CHECK(formula(after(plain, {SetTemperature{2.0}}), Stage::scores) ==
          "∂L/∂scores = ∂L/∂S · 1 / (√d_k · τ)");
    CHECK(formula(plain, Stage::context) == "∂L/∂context = ∂L/∂Y W_Oᵀ");
    CHECK(formula(preset_state("three-heads"), Stage::context) == "∂L/∂context = ∂L/∂Y");
    CHECK(formula(two_heads_state(), Stage::context) == "∂L/∂concat(heads) = ∂L/∂Y W_Oᵀ");
    CHECK(formula(plain, Stage::output) == "∂L/∂Y = 1");
    CHECK(formula(after(plain, {SetLoss{LossKind::squared}}), Stage::output) ==
          "∂L/∂Y = Y − target");
    const AppState cross = preset_state("cross-attention");
    CHECK(formula(cross, Stage::x) == "∂L/∂X = ∂L/∂Q W_Qᵀ");
    CHECK(formula(cross, Stage::x_kv) == "∂L/∂X_kv = ∂L/∂K W_Kᵀ + ∂L/∂V W_Vᵀ");
    const AppState shown = after(cross, {ShowGradients{true}, GoToStage{Stage::k}});
    const auto grids = build_step_view(shown).operands;
    CHECK(one_of(grids, "∂L/∂W_K", &GridView::title).tooltip.ends_with("\n∂L/∂W_K = X_kvᵀ ∂L/∂K"));
}

TEST_CASE("of one output, the gradients of other rows are 0 and the sentence says so") {
    AppState state = after(initial_state(), {SetLossCell{{Stage::output, 1, 2}}});
    const auto d_q = gradient_of(state, Stage::q);
    for (Index c = 0; c < d_q.columns; ++c) CHECK(d_q(0, c) == 0.0F);
    const Tensor none((*state.gradients)[Stage::scaled].shape());
    Trace zero = *state.gradients;
    zero[Stage::scaled] = none;
    state.gradients = Gradients(std::move(zero));
    state = after(state, {GoToStage{Stage::scaled}});
    CHECK(build_step_view(state).text.ends_with("All of these gradients are 0."));
}

TEST_CASE("the gradient of a masked score explains the row's competition") {
    const AppState state = after(initial_state(), {ShowGradients{true}});
    const Explanation explanation = explain_gradient(state, {Stage::masked, 1, 2});
    REQUIRE(explanation.asides.size() == 2);
    const double a = *value_at(state, {Stage::weights, 1, 2});
    CHECK(explanation.asides[0].label == "∂A[cat, sat]/∂M[cat, sat]");
    CHECK(explanation.asides[0].result == doctest::Approx(a * (1 - a)));
    CHECK(explanation.asides[1].result < 0.0);
    REQUIRE(explanation.table);
    CHECK(explanation.table->rows.size() == 4);
    CHECK(explanation.table->rows[2].chosen);
    double sum = 0.0;
    for (Index j = 0; j < 4; ++j) sum += *gradient_at(state, {Stage::masked, 1, j});
    CHECK(std::abs(sum) < 1e-6);
    // a row of one key
    const AppState causal = after(state, {SetCausal{true}});
    const Explanation alone = explain_gradient(causal, {Stage::masked, 0, 0});
    CHECK(alone.asides.size() == 1);
    CHECK(has(alone.notes.front(), "the only key of its row"));
}

TEST_CASE("a target is typed at the output, moves the gradient, and is undone") {
    const CellRef cell{Stage::output, 0, 1};
    AppState state = after(initial_state(), {GoToEnd{true}, BeginCellEdit{cell}});
    CHECK_FALSE(step_look(state).editing);  // a computed number
    REQUIRE(step_look(acted(state, {SetLoss{LossKind::squared}, BeginCellEdit{cell}})).editing);
    CHECK(step_look(state).editing->draft == "0");
    const double y = *value_at(state, cell);
    CHECK(*gradient_at(state, cell) == static_cast<float>(y));
    state = after(state, {DraftCell{"0.5"}, CommitCellEdit{}});
    CHECK(state.message.text == "Target of Y[The, 1]: 0.00 → 0.50.");
    CHECK(*value_at(state, cell) == static_cast<float>(y));
    CHECK(*gradient_at(state, cell) == doctest::Approx(y - 0.5));
    CHECK(target_of(after(state, {Undo{}}).document(), 0, 0, 1) == 0.0F);
    CHECK(*gradient_at(after(state, {Undo{}}), cell) == static_cast<float>(y));
    const StepView view = build_step_view(state);
    CHECK(view.operands.back().title == "target");
    CHECK(view.operands.back().editable);
    CHECK_FALSE(view.operands[view.operands.size() - 2].editable);
    CHECK_FALSE(view.result.editable);
    CHECK(after(state, {SetTarget{cell, std::nan("")}}).message.severity == Severity::error);
}

TEST_CASE("session and journal bring loss and targets back; of an output that is gone, the sum") {
    for (const AppState& state : losses_of(preset_state("three-heads"))) {
        const AppState opened = reopened(state);
        CHECK(opened.loss == state.loss);
        CHECK(opened.document().targets == state.document().targets);
        for (const OperandId& id : everything(state)) {
            const auto a = gradient_of(state, id);
            const auto b = gradient_of(opened, id);
            for (const auto [i, j] : each_cell(a)) CHECK(a(i, j) == b(i, j));
        }
    }
    for (const Action& action :
         Actions{SetLoss{LossKind::squared}, SetLossCell{{Stage::output, 1, 2}},
                 SetTarget{{Stage::output, 1, 2}, 0.25}}) {
        CHECK(to_journal(through_journal(action)) == to_journal(action));
    }
    const AppState state = after(initial_state(), {SetLossCell{{Stage::output, 3, 1}}});
    const AppState shorter = after(state, {SetSentence{"The cat"}});
    CHECK(loss_text(shorter) == "Σ output");
    CHECK(*gradient_at(shorter, {Stage::output, 0, 0}) == 1.0F);
    CHECK(loss_text(after(shorter, {Undo{}})) == "output[down, 1]");
}

TEST_CASE("parameters and their gradients stand on the canvas") {
    const AppState state = after(preset_state("three-heads"), {ShowGradients{true}});
    for (const auto& [stage, param] : {std::pair{Stage::q, Param::w_q},
                                       {Stage::k, Param::w_k},
                                       {Stage::v, Param::w_v},
                                       {Stage::output, Param::w_o}}) {
        if (state.document().inputs->params[param].empty()) continue;
        const StepView view = build_step_view(after(state, {GoToStage{stage}}));
        std::vector<std::string> titles;
        for (const GridView& grid : view.operands) titles.push_back(grid.title);
        CHECK(std::ranges::count(titles, name_of(param)) == 1);
        CHECK(std::ranges::count(titles, "∂L/∂" + name_of(param)) == 1);
    }
}

TEST_CASE("a pair that the mask forbids is a masked cell of the gradients behind the mask") {
    const AppState state = after(initial_state(), {SetCausal{true}, ShowGradients{true}});
    for (const auto& [stage, hides] :
         {std::pair(Stage::scores, true), std::pair(Stage::scaled, true),
          std::pair(Stage::masked, true), std::pair(Stage::weights, false),
          std::pair(Stage::q, false)}) {
        CAPTURE(info(stage).key);
        const GridView grid = build_step_view(after(state, {GoToStage{stage}})).result;
        for (const auto [i, j] : each_cell(grid))
            CHECK((grid.at(i, j).look == CellLook::masked) == (hides && j > i));
    }
}

#include <cctype>
#include <sstream>

#include "app/common/document/document.h"
#include "app/common/explain/explain.h"
#include "app/common/explain/expr.h"
#include "core/stages.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

/// Reads the arithmetic as a person would: + - · / ^() exp() ln() sin() cos() tanh() sqrt() max() and parentheses.
class Calculator {
  public:
    explicit Calculator(std::string_view text) : text_(text) {}
    double sum() {
        double value = product();
        while (true) {
            if (take(" + "))
                value += product();
            else if (take(" - "))
                value -= product();
            else
                return value;
        }
    }
    bool done() const { return at_ == text_.size(); }
    double magnitude = 0.0;  // of the largest number met: sums cancel

  private:
    bool take(std::string_view sign) {
        if (text_.substr(at_, sign.size()) != sign) return false;
        at_ += sign.size();
        return true;
    }
    double product() {
        double value = factor();
        while (true) {
            if (take("·"))
                value *= factor();
            else if (take(" / "))
                value /= factor();
            else
                break;
            magnitude = std::max(magnitude, std::abs(value));
        }
        return value;
    }
    double factor() {
        const double base = unit();
        return take("^(") ? closed(std::pow(base, sum())) : base;
    }
    double unit() {
        if (take("exp(")) return closed(std::exp(sum()));
        if (take("ln(")) return closed(std::log(sum()));
        if (take("sin(")) return closed(std::sin(sum()));
        if (take("cos(")) return closed(std::cos(sum()));
        if (take("tanh(")) return closed(std::tanh(sum()));
        if (take("sqrt(")) return closed(std::sqrt(sum()));
        if (take("max(")) return largest();
        if (take("(")) return closed(sum());
        return number();
    }
    double closed(double value) {
        REQUIRE(take(")"));
        return value;
    }
    double largest() {
        double value = sum();
        while (take(", ")) value = std::max(value, sum());
        return closed(value);
    }
    double number() {
        if (take("NaN")) return std::nan("");
        if (take("inf")) return std::numeric_limits<double>::infinity();
        if (take("-inf")) return -std::numeric_limits<double>::infinity();
        const std::string rest(text_.substr(at_));
        std::size_t used = 0;
        const double value = std::stod(rest, &used);
        at_ += used;
        magnitude = std::max(magnitude, std::abs(value));
        return value;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

bool agree(double a, double b, double magnitude) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    if (std::isinf(b)) return a == b || std::abs(a) > std::numeric_limits<float>::max();
    // operands are floats, at most 64 terms, and weights are good to a few ulp of float arithmetic
    const double epsilon = std::numeric_limits<float>::epsilon();
    return std::abs(a - b) <= 64 * epsilon * std::max(magnitude, 1.0);
}

/// Every line "label = expression = result" of the text copy.
void check_every_equality(const InspectorView& view) {
    std::istringstream lines(view.as_text);
    std::string line;
    std::getline(lines, line);  // the symbolic formula
    while (std::getline(lines, line)) {
        const std::size_t first = line.find(" = ");
        const std::size_t last = line.rfind(" = ");
        if (first == line.npos || first == last) continue;
        Calculator calculator(std::string_view(line).substr(first + 3, last - first - 3));
        const double value = calculator.sum();
        CAPTURE(line);
        CHECK(calculator.done());
        const double result = Calculator(std::string_view(line).substr(last + 3)).sum();
        CHECK(agree(value, result, calculator.magnitude));
    }
}

/// All cells of a sheet, or some, evenly apart, where there are many.
template <class Visit>
void for_some_cells(const AppState& state, const OperandId& id, Visit visit) {
    const auto values = sheet_of(state, id).values;
    const Index rows = std::max(Index{1}, values.rows / 8);
    const Index columns = std::max(Index{1}, values.columns / 8);
    for (Index i = 0; i < values.rows; i += rows)
        for (Index j = 0; j < values.columns; j += columns) visit(CellRef{id, i, j});
}

std::vector<OperandId> every_operand(const AppState& state) {
    std::vector<OperandId> ids;
    for (const Stage stage : ribbon_stages(state.document())) ids.emplace_back(stage);
    for (const ParamInfo& row : param_table())
        if (!state.document().inputs->params[row.param].empty()) ids.emplace_back(row.param);
    return ids;
}

/// "sat 0.6143 −0.6202 0.5378 0.2293".
std::string texts_of(const TableRow& row) {
    std::string text = row.label;
    for (const TableCell& cell : row.cells)
        if (!cell.text.empty()) text += " " + cell.text;
    return text;
}

InspectorView inspect(const AppState& state, const CellRef& cell) {
    return step_inspector(after(state, {SelectCell{cell}}));
}

}  // namespace

TEST_CASE("of every cell equalities hold, the value is the trace's, links go to what they show") {
    for (const AppState& state : sample_states()) {
        CAPTURE(state.document().title);
        for (const OperandId& id : every_operand(state))
            for_some_cells(state, id, [&](const CellRef& cell) {
                const InspectorView view = inspect(state, cell);
                CHECK_FALSE(view.empty);
                check_every_equality(view);
                CHECK(view.value == number(*value_at(state, cell)));
                for (const Line& line : view.lines)
                    for (const Piece& piece : line.pieces) {
                        if (!piece.link) continue;
                        REQUIRE(has_cell(state, *piece.link));
                        const double value = *value_at(state, *piece.link);
                        const bool same =
                            piece.text == number(value) || piece.text == number(-value);
                        CHECK(same);
                    }
            });
    }
}

TEST_CASE("a score shows a row for each product and its angle") {
    const InspectorView view = inspect(preset_state("cat-sat-mat"), {Stage::scores, 0, 2});
    CHECK(view.title == "scores[cat, mat]");
    CHECK(view.value == "1.00");
    REQUIRE(view.table);
    REQUIRE(view.table->rows.size() == 2);
    CHECK(texts_of(view.table->rows[0]) == "0 1.0000 1.0000 1.0000 1.0000");
    CHECK(texts_of(view.table->rows[1]) == "1 0.0000 1.0000 0.0000 1.0000");
    CHECK(view.table->rows[0].cells[0].link == CellRef{Stage::q, 0, 0});
    CHECK(view.table->rows[0].cells[1].link == CellRef{Stage::k, 2, 0});
    REQUIRE(view.geometry.size() == 5);
    CHECK(view.geometry[3].pieces[0].text == "45.0°");
}

TEST_CASE("a weight shows every number that a pencil needs, one row per key") {
    const AppState state = after(initial_state(), {SetCausal{true}});
    const InspectorView view = inspect(state, {Stage::weights, 2, 1});
    REQUIRE(view.table);
    REQUIRE(view.table->rows.size() == 4);
    CHECK(view.table->label == "key");
    double sum = 0.0;
    double largest = -HUGE_VAL;
    for (Index j = 0; j < 3; ++j)
        largest = std::max(largest, static_cast<double>(*value_at(state, {Stage::masked, 2, j})));
    for (std::size_t j = 0; j < 3; ++j) {
        const TableRow& row = view.table->rows[j];
        const CellRef score{Stage::masked, 2, static_cast<Index>(j)};
        const double m = *value_at(state, score);
        CHECK(row.cells[0].link == score);
        CHECK(row.cells[0].text == cell_number(m, 4));
        CHECK(row.cells[1].text == cell_number(m - largest, 4));
        CHECK(row.cells[2].text == cell_number(std::exp(m - largest), 4));
        CHECK(row.chosen == (j == 1));
        sum += std::exp(m - largest);
    }
    CHECK(texts_of(view.table->rows[3]) == "down masked 0");
    CHECK(view.table->rows[3].muted);
    REQUIRE(view.table->total);
    CHECK(texts_of(*view.table->total) == "Σ " + cell_number(sum, 4) + " 1.0000");
    CHECK(view.table->rows[1].cells[3].text ==
          cell_number(*value_at(state, {Stage::weights, 2, 1}), 4));
    // q and k of the score, by link
    std::vector<CellRef> links;
    for (const Line& line : view.lines)
        for (const Piece& piece : line.pieces)
            if (piece.link) links.push_back(*piece.link);
    CHECK(std::ranges::count(links, CellRef{Stage::q, 2, 0}) == 1);
    CHECK(std::ranges::count(links, CellRef{Stage::k, 1, 0}) == 1);
    CHECK(std::ranges::count(links, CellRef{Stage::scaled, 2, 1}) > 0);
}

TEST_CASE("numbers of a column have as many decimals as seven characters hold") {
    CHECK(column_texts({1.25, -0.5}) == std::vector<std::string>{"1.2500", "−0.5000"});
    CHECK(column_texts({-16.0, 0.25}) == std::vector<std::string>{"−16.000", "0.250"});
    CHECK(column_texts({1.0, 3e-7}) == std::vector<std::string>{"1.0000", "3·10⁻⁷"});
    CHECK(column_texts({0.0, -0.0}) == std::vector<std::string>{"0.0000", "0.0000"});
}

TEST_CASE("links of every table point at cells that hold the number they show") {
    for (const AppState& state : {preset_state("cross-attention"), preset_state("three-heads"),
                                  after(initial_state(), {SetCausal{true}})})
        for (const OperandId& id : every_operand(state))
            for_some_cells(state, id, [&](const CellRef& cell) {
                const auto table = inspect(state, cell).table;
                if (!table) return;
                for (const TableRow& row : table->rows)
                    CHECK(row.cells.size() == table->columns.size());
                for (std::size_t n = 0; n < table->columns.size(); ++n) {
                    std::vector<double> values;
                    std::vector<std::string> texts;
                    for (const TableRow& row : table->rows)
                        if (row.cells[n].link && !row.muted) {
                            values.push_back(*value_at(state, *row.cells[n].link));
                            texts.push_back(row.cells[n].text);
                        }
                    if (values.size() == table->rows.size()) CHECK(texts == column_texts(values));
                }
            });
}

TEST_CASE("a masked weight is exactly 0 and says why; a NaN tells its story") {
    AppState state = after(preset_state("cat-sat-mat"), {SetCausal{true}});
    const InspectorView masked = inspect(state, {Stage::masked, 0, 2});
    CHECK(masked.value == "−∞");
    CHECK(has(masked.as_text, "causal: key mat comes after query cat"));
    CHECK(has(inspect(state, {Stage::weights, 0, 2}).as_text, "exactly 0"));
    state = after(initial_state(), {SetCell{{Stage::x, 1, 0}, std::nan("")}});
    const InspectorView view = inspect(state, {Stage::weights, 1, 1});
    CHECK(view.value == "NaN");
    CHECK(has(view.as_text, "A score of the row is NaN"));
    CHECK(inspect(state, {Stage::scores, 1, 1}).geometry.at(3).pieces.at(0).text == "NaN°");
}

TEST_CASE("how to change a number is said once; the gradient is labelled with its loss") {
    InspectorView view = inspect(initial_state(), {Stage::x, 0, 0});
    CHECK(view.editable);
    CHECK(view.lines.back().pieces[0].text ==
          "This number is given with the sentence or was edited.");
    view = inspect(initial_state(), {Param::w_q, 0, 0});
    CHECK(view.gradient.find("∂L/∂W_Q[0, 0] = ") == 0);
    CHECK(has(view.gradient, ", L = Σ output"));
}

TEST_CASE("copies are LaTeX and Python of the same arithmetic, tensors by words or letters") {
    const InspectorView view =
        inspect(after(preset_state("cat-sat-mat"), {SetScaling{true}}), {Stage::scaled, 0, 2});
    CHECK(has(view.as_latex, "\\frac{1}{\\sqrt{2}}"));
    CHECK(has(view.as_python, "print(1 / np.sqrt(2))"));
    CHECK(tex_symbol(Stage::scores) == "\\mathrm{scores}");
    CHECK(tex_symbol(Stage::context) == "\\mathrm{context}");
    CHECK(tex_symbol(Stage::x_kv) == "X_{kv}");
    CHECK(tex_symbol(Stage::dropped) == "\\tilde{A}");
    CHECK(tex_symbol(Stage::q) == "Q");
    CHECK(tex_symbol(Param::w_q) == "W_Q");
}

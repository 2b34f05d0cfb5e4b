#include "app/common/math.h"

#include "app/common/explain/explain.h"
#include "core/call.h"
#include "core/large/map_input.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/train/run.h"
#include "core/train/task_table.h"
#include "tests/figures/recorder.h"
#include "tests/view/view_test.h"

using namespace attn::view;
using doctest::Approx;

namespace {

constexpr float kPx = 40.0F;
constexpr float kEm = kPx / kLinePerEm;

MathBox laid_out(std::string_view tex, MathSize size = {kPx, 11.0F}) {
    test::Recorder measure;
    auto box = lay_out_math(tex, size, measure);
    REQUIRE_MESSAGE(box.has_value(), tex);
    return std::move(*box);
}

const MathWord& word(const MathBox& box, std::string_view text) {
    const auto found = std::ranges::find(box.runs, text, &MathWord::text);
    REQUIRE_MESSAGE(found != box.runs.end(), text);
    return *found;
}

/// How far its baseline lies under the formula's.
float drop(const MathWord& word) { return word.at.y + std::round(word.font.ascent()); }
float end(const MathWord& word) { return word.at.x + word.width; }
float middle(const MathWord& word) { return word.at.x + word.width / 2; }

const MathStroke& bar(const MathBox& box) {
    const auto found = std::ranges::find_if(
        box.strokes, [](const MathStroke& stroke) { return stroke.points.size() == 2; });
    REQUIRE(found != box.strokes.end());
    return *found;
}

}  // namespace

TEST_CASE("variables slant, words and figures do not") {
    const MathBox box = laid_out("q = \\mathrm{scores} + 2 \\text{ or so}");
    CHECK(word(box, "q").font.face == Face::italic);
    CHECK(word(box, "scores").font.face == Face::roman);
    CHECK(word(box, "2").font.face == Face::roman);
    CHECK(word(box, " or so").font.face == Face::sans);
    for (const MathWord& one : box.runs) CHECK(drop(one) == Approx(0.0));
}

TEST_CASE("scripts are 0.72 as large, 0.22 em lower or 0.40 em higher, never too small") {
    const MathBox box = laid_out("q_i^2");
    const MathWord& base = word(box, "q");
    CHECK(word(box, "i").font.px == Approx(0.72 * kPx));
    CHECK(drop(word(box, "i")) == Approx(0.22 * kEm));
    CHECK(drop(word(box, "2")) == Approx(-0.40 * kEm));
    CHECK(word(box, "i").at.x >= end(base));
    CHECK(word(box, "i").at.x < end(base) + 0.1F * kEm);
    CHECK(word(box, "2").at.x >= end(base));
    CHECK(box.width == Approx(std::max(end(word(box, "i")), end(word(box, "2")))));
    CHECK(word(laid_out("q_i", {14.0F, 11.0F}), "i").font.px == Approx(11.0));
    CHECK(word(laid_out("q_{i_j}", {20.0F, 11.0F}), "j").font.px == Approx(11.0));
}

TEST_CASE("a prime stands over its letter's index, and the letter is that of what RoPE turned") {
    const MathBox box = laid_out("q'_i \\cdot k'_j");
    CHECK(word(box, "i").at.x < end(word(box, "q")) + 0.1F * kEm);
    CHECK(word(box, "′").at.x == Approx(end(word(box, "q"))));
    CHECK(drop(word(box, "′")) == Approx(0.0));
    for (const char* letter : {"q", "′", "i"})
        CHECK(word(box, letter).operand == OperandId(Stage::q_rot));
    CHECK(word(box, "k").operand == OperandId(Stage::k_rot));
    CHECK(operand_named("q") == OperandId(Stage::q));
    const MathBox high = laid_out("q'^2");
    CHECK(word(high, "2").at.x >= end(word(high, "′")));
}

TEST_CASE("a fraction's bar is on the axis, with 0.15 em above and below it") {
    const MathBox box = laid_out("\\frac{a}{M b}");
    const MathStroke& line = bar(box);
    const float thick = line.thickness;
    CHECK(thick >= 1.0F);
    CHECK(line.points[0].y + thick / 2 == Approx(-0.25 * kEm));
    CHECK(drop(word(box, "a")) == Approx(line.points[0].y - 0.15 * kEm));
    const float ascent = 0.72F * kEm;  // of a capital
    CHECK(drop(word(box, "M")) - ascent == Approx(line.points[0].y + thick + 0.15 * kEm));
    CHECK(drop(word(box, "M")) == Approx(drop(word(box, "b"))));
    const float below = (word(box, "M").at.x + end(word(box, "b"))) / 2;
    CHECK(middle(word(box, "a")) == Approx(below));
    CHECK((line.points[0].x + line.points[1].x) / 2 == Approx(below));
    CHECK(line.points[0].x < word(box, "M").at.x);
    CHECK(line.points[1].x > end(word(box, "b")));
    CHECK(box.descent == Approx(drop(word(box, "M"))));
}

TEST_CASE("a root has a hook before, and a bar over all that is under it") {
    const MathBox box = laid_out("\\sqrt{d_k} x");
    REQUIRE(box.strokes.size() == 2);
    const MathStroke& hook = box.strokes[0];
    REQUIRE(hook.points.size() == 4);
    CHECK(hook.points[0].x < hook.points[3].x);
    CHECK(hook.points[2].y > hook.points[3].y);  // from its foot up to the bar
    CHECK(hook.points[3].x <= word(box, "d").at.x);
    const MathStroke& line = bar(box);
    CHECK(line.points[0].x == Approx(hook.points[3].x));
    CHECK(line.points[1].x >= end(word(box, "k")));
    CHECK(line.points[1].x <= word(box, "x").at.x);
    CHECK(line.points[0].y < -0.72F * kEm);  // clear of the d
}

TEST_CASE("a sum's sign is 1.4 as large, on the axis, with its index in the middle beneath") {
    const MathBox box = laid_out("\\sum_j a_j");
    const MathWord& sign = word(box, "Σ");
    CHECK(sign.font.px == Approx(1.4 * kPx));
    CHECK(drop(sign) - 0.67F * sign.font.em() / 2 == Approx(-0.25 * kEm));
    const MathWord& index = box.runs[1];
    CHECK(index.text == "j");
    CHECK(middle(index) == Approx(middle(sign)));
    CHECK(drop(index) > drop(sign) + 0.3F * kEm);
    CHECK(word(box, "a").at.x > end(sign));
}

TEST_CASE("in a fraction the index of a sum stands beside its sign") {
    const MathBox box = laid_out("\\frac{1}{\\sum_j a}");
    CHECK(word(box, "j").at.x >= end(word(box, "Σ")));
    CHECK(word(box, "Σ").font.px < 1.4F * kPx);
}

TEST_CASE("relations keep 0.28 em, operators 0.17 em, and a sign of a number none") {
    const auto gaps = [](std::string_view tex) {
        const MathBox box = laid_out(tex);
        return std::pair{box.runs[1].at.x - end(box.runs[0]), box.runs[2].at.x - end(box.runs[1])};
    };
    for (const auto& [tex, gap] : {std::pair{"a = b", 0.28}, std::pair{"a + b", 0.17}}) {
        CHECK(gaps(tex).first == Approx(gap * kEm));
        CHECK(gaps(tex).second == Approx(gap * kEm));
    }
    const MathBox negative = laid_out("= -b");
    CHECK(word(negative, "b").at.x == Approx(end(word(negative, "−"))));
    const MathBox index = laid_out("q_{i+j}");
    CHECK(word(index, "+").at.x == Approx(end(word(index, "i"))));
}

TEST_CASE("parentheses grow about the axis with what they hold") {
    const MathBox low = laid_out("(a)");
    CHECK(word(low, "(").font.px == Approx(kPx));
    CHECK(drop(word(low, "(")) == Approx(0.0));
    const MathBox high = laid_out("(\\frac{M}{M})");
    REQUIRE(high.strokes.size() == 3);  // the fraction's bar, and a curve for each parenthesis
    std::vector<MathStroke> curves;
    for (const MathStroke& stroke : high.strokes)
        if (stroke.points.size() > 2) curves.push_back(stroke);
    REQUIRE(curves.size() == 2);
    for (const MathStroke& curve : curves) {
        const Point first = curve.points.front(), last = curve.points.back();
        CHECK(last.y - first.y > 1.3F * kEm);
        CHECK((first.y + last.y) / 2.0F == Approx(-0.25 * kEm));
        CHECK(first.x == Approx(last.x));
    }
    const Point middle = curves[0].points[curves[0].points.size() / 2];
    CHECK(middle.x < curves[0].points.front().x);  // opens to the right
    CHECK(curves[1].points[curves[1].points.size() / 2].x >= bar(high).points[1].x);
}

TEST_CASE("a symbol stands for its matrix, an index for that of its base") {
    const MathBox box = laid_out("q_i \\cdot W_Q + \\sqrt{d_k} + \\text{Q} + X_{kv}");
    CHECK(word(box, "q").operand == OperandId(Stage::q));
    CHECK(word(box, "i").operand == OperandId(Stage::q));
    CHECK(word(box, "W").operand == OperandId(Param::w_q));
    CHECK(box.runs[4].text == "Q");
    CHECK(box.runs[4].operand == OperandId(Param::w_q));
    CHECK_FALSE(word(box, "d").operand);
    CHECK_FALSE(word(box, "k").operand);
    CHECK_FALSE(word(box, "·").operand);
    CHECK(word(box, "v").operand == OperandId(Stage::x_kv));
    const auto named = [&](std::string_view text, Face face) {
        return std::ranges::any_of(box.runs, [&](const MathWord& one) {
            return one.text == text && one.font.face == face && one.operand;
        });
    };
    CHECK_FALSE(named("Q", Face::sans));
}

TEST_CASE("the symbol under the pointer is found, and nothing beside it") {
    const MathBox box = laid_out("Q = X");
    const Point baseline{100.0F, 200.0F};
    const auto at = [&](const MathWord& one) {
        return Point{baseline.x + middle(one), baseline.y - 0.3F * kEm};
    };
    CHECK(operand_at(box, baseline, at(word(box, "Q"))) == OperandId(Stage::q));
    CHECK(operand_at(box, baseline, at(word(box, "X"))) == OperandId(Stage::x));
    CHECK_FALSE(operand_at(box, baseline, at(word(box, "="))));
    CHECK_FALSE(operand_at(box, baseline, {100.0F + middle(word(box, "Q")), 100.0F}));
}

TEST_CASE("symbols are drawn in their role's colour at their place, bars as level lines") {
    const Theme& dark = theme(ThemeName::dark);
    test::Recorder painter;
    const MathBox box = laid_out("K = \\frac{Q}{2}");
    draw_math(box, {10.0F, 50.0F}, dark, OperandId(Stage::q), painter);
    const test::Call* const q = painter.find_text("Q");
    REQUIRE(q);
    CHECK(q->color == dark.role(Role::query));
    CHECK(q->low.x == Approx(10.0F + word(box, "Q").at.x));
    CHECK(q->low.y == Approx(50.0F + word(box, "Q").at.y));
    CHECK(painter.find_text("K")->color == dark.role(Role::key));
    CHECK(painter.find_text("2")->color == dark.text);
    CHECK(painter.count("rect") == 1);  // the bar
    CHECK(painter.count("line") == 1);  // under what is lit
}

TEST_CASE("every formula of canvas and inspector is set, and reads without a backslash") {
    test::Recorder measure;
    const auto check = [&](const std::string& tex, const std::string& plain) {
        const auto box = lay_out_math(tex, {20.0F, 11.0F}, measure);
        CHECK_MESSAGE(box.has_value(), tex);
        if (box) CHECK(box->width > 0.0F);
        if (box)
            for (const MathWord& one : box->runs) CHECK(one.font.px >= 11.0F);
        CHECK_MESSAGE(plain.find_first_of("\\{}") == plain.npos, plain);
    };
    for (AppState state : sample_states())
        for (const Stage stage : ribbon_stages(state.document())) {
            state = after(state, {GoToStage{stage}});
            const StepView view = build_step_view(state);
            check(view.tex, view.formula);
            const StepView gradient = build_step_view(after(state, {ShowGradients{true}}));
            check(gradient.tex, gradient.formula);
            for (const auto& operand : info(stage).operands) {
                const OperandId id = operand ? operand->id : OperandId(stage);
                for (const CellRef cell : {CellRef{stage, 0, 0}, CellRef{id, 0, 0}})
                    if (has_cell(state, cell)) {
                        const Explanation explanation = explain(state, cell);
                        check(explanation.tex, explanation.formula);
                    }
            }
        }
}

TEST_CASE("a symbol under the pointer lights its matrix, and no other") {
    AppState state = after(initial_state(), {GoToStage{Stage::scores}, HoverOperand{Stage::k}});
    const StepView view = build_step_view(state);
    CHECK(view.highlighted == OperandId(Stage::k));
    bool found = false;
    const auto all = [](const GridView& grid, bool highlighted) {
        return !grid.highlighted.empty() &&
               std::ranges::count(grid.highlighted, highlighted) == std::ssize(grid.highlighted);
    };
    for (const GridView& grid : view.operands) {
        const bool is_k = grid.id == OperandId(Stage::k);
        found = found || is_k;
        CHECK(all(grid, is_k));
    }
    CHECK(found);
    CHECK(all(view.result, false));
    CHECK_FALSE(build_step_view(after(state, {HoverOperand{}})).highlighted);
    CHECK_FALSE(build_step_view(after(state, {StepBy{1}})).highlighted);
    // one that is not on the canvas lights nothing
    CHECK(all(build_step_view(after(state, {HoverOperand{Param::w_o}})).result, false) == false);
}

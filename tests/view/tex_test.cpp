#include "core/tex.h"
#include "core/gradient_tex.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/train/task_table.h"
#include "tests/view/view_test.h"

using namespace attn;
using tex::plain_text, view::has;

TEST_CASE("every stage's formula is TeX that parses, and reads as plain text without a backslash") {
    for (const ScoreInfo& score : score_table()) CHECK_MESSAGE(tex::parse(score.tex), score.tex);
    for (const StageInfo& stage : stage_table()) {
        CAPTURE(stage.tex);
        const auto formula = tex::parse(stage.tex);
        REQUIRE_MESSAGE(formula.has_value(), formula.error().text());
        const std::string plain = plain_formula(stage);
        CAPTURE(plain);
        CHECK(plain.find_first_of("\\{}$") == plain.npos);
        CHECK_FALSE(has(plain, "  "));
    }
}

TEST_CASE("every gradient's formula is TeX that parses, and begins with what it is of") {
    const auto check = [](std::string_view source, const std::string& symbol) {
        CAPTURE(source);
        const auto formula = tex::parse(source);
        REQUIRE_MESSAGE(formula.has_value(), formula.error().text());
        const std::string plain = plain_text(*formula);
        CAPTURE(plain);
        CHECK(plain.starts_with("∂L/∂" + symbol));
        CHECK(plain.find_first_of("\\{}$") == plain.npos);
        CHECK_FALSE(has(plain, "  "));
    };
    for (const ParamInfo& param : param_table()) {
        const bool indexed = param.param == Param::w_score_q || param.param == Param::w_score_k;
        const bool sinks = param.param == Param::sinks;
        check(gradient_tex(param.param), indexed ? "W[score,"
                                         : sinks ? "sink[h]"
                                         : param.param == Param::b_score
                                             ? "b[score,h,n]"
                                             : std::string(param.symbol));
    }
    for (const Stage stage : {Stage::x, Stage::x_kv, Stage::masked, Stage::weights, Stage::dropped,
                              Stage::scaled, Stage::output})
        check(gradient_tex(stage), std::string(info(stage).symbol));
    check(gradient_tex(Stage::q), "q_i");
    check(gradient_tex(Stage::k), "k_j");
    check(gradient_tex(Stage::v), "v_j");
    check(gradient_tex(Stage::scores), "scores");
    check(gradient_tex(Stage::context), "concat(heads)");
}

TEST_CASE("plain text is written from the TeX, and keeps what belongs together") {
    CHECK(plain_text(gradient_tex(Stage::q)) == "∂L/∂q_i = Σ_j ∂L/∂scores[i,j] k_j");
    CHECK(plain_text(gradient_tex(Stage::x)) == "∂L/∂X = ∂L/∂Q W_Qᵀ + ∂L/∂K W_Kᵀ + ∂L/∂V W_Vᵀ");
    CHECK(plain_text(gradient_tex(Param::w_q)) == "∂L/∂W_Q = Xᵀ ∂L/∂Q");
    CHECK(plain_text(gradient_tex(Stage::masked)) ==
          "∂L/∂M[i,j] = A[i,j] · (∂L/∂A[i,j] − Σ_j′ A[i,j′] · ∂L/∂A[i,j′])");
    CHECK(plain_text(
              "\\sum_j \\frac{\\partial L}{\\partial \\mathrm{scores}[\\text{New York}, j]}") ==
          "Σ_j ∂L/∂scores[New York, j]");
    CHECK(plain_formula(info(Stage::x)) == "X = embedding(token) + position");
    CHECK(plain_formula(info(Stage::x_kv)) == "X_kv = embedding(token) + position");
    CHECK(plain_formula(info(Stage::q)) == "Q = X W_Q");
    CHECK(plain_formula(info(Stage::scores)) == "scores[i,j] = q_i · k_j");
    CHECK(plain_formula(info(Stage::scaled)) == "S = scores · scale/temperature");
    CHECK(plain_formula(info(Stage::masked)) == "M[i,j] = S[i,j] if i may attend to j, else −∞");
    CHECK(plain_formula(info(Stage::weights)) ==
          "A[i,j] = exp(M[i,j] − m_i) / Σ_j′ exp(M[i,j′] − m_i)");
    CHECK(plain_formula(info(Stage::dropped)) == "Ã[i,j] = A[i,j] · keep[i,j] / (1 − p)");
    CHECK(plain_formula(info(Stage::context)) == "context[i] = Σ_j A[i,j] v_j");
    CHECK(plain_formula(info(Stage::output)) == "Y = concat(heads) W_O");
    CHECK(plain_text("\\frac{\\mathrm{scores}}{\\sqrt{d_k}}") == "scores/√d_k");
    CHECK(plain_text("\\frac{a}{\\sqrt{d_k} \\cdot \\tau}") == "a / (√d_k · τ)");
    CHECK(plain_text("\\frac{a + b}{2}") == "(a + b) / 2");
    CHECK(plain_text("\\sqrt{a + b}") == "√(a + b)");
    CHECK(plain_text("\\frac{\\partial L}{\\partial Q}") == "∂L/∂Q");
    CHECK(plain_text("\\|\\mathrm{diag}(a) - a\\,a^\\top\\|_F") == "‖diag(a) − a aᵀ‖_F");
    CHECK(plain_text("-x = -\\infty") == "−x = −∞");
    CHECK(plain_text("a - -b") == "a − −b");
    CHECK(plain_text("m_i = \\max_j M_{i,j}") == "m_i = max_j M[i,j]");
    CHECK(plain_text("x^2") == "x²");
}

TEST_CASE("any words come back from TeX; what is no part of the subset is named") {
    for (const std::string text : {"cat", "100 % of_it #1 & {x} $y$", "a\\b ^ ~", "the₂ ₀₉",
                                   "“é” 猫 \xF0\x9F\x98\x80", "", " "}) {
        const auto back = tex::parse(tex::text_of(text));
        REQUIRE_MESSAGE(back.has_value(), text);
        REQUIRE(back->parts.size() == 1);
        CHECK(back->parts[0].text == text);
    }
    const auto fault = [](std::string_view source) {
        const auto node = tex::parse(source);
        return node ? std::string("none") : node.error().text();
    };
    CHECK(has(fault("a \\foo b"), "\\foo is not known"));
    CHECK(has(fault("\\frac{a}{b"), "a { stays open"));
    CHECK(has(fault("(a"), "a ( stays open"));
    CHECK(has(fault("a}"), "nothing opens }"));
    CHECK(has(fault("_a"), "nothing comes before _"));
    CHECK(has(fault("\\frac a"), "ends where an argument is expected"));
    CHECK(has(fault("a ÷ b"), "\"÷\" is not part"));
    CHECK(has(fault(std::string(1000, '{')), "nested too deeply"));
    CHECK(has(fault("\\mathrm abc}"), "a word in { } is expected"));
    CHECK(has(fault("\\mathrm{abc"), "a word in { } is expected"));
    CHECK(has(fault("\\mathrm{a b}"), "is not a word of letters"));
    CHECK(has(fault("\\"), "not known"));
    CHECK(plain_text("\\foo") == "\\foo");
}

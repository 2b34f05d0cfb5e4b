#include "app/common/draw/typeset.h"

#include "tests/ui/null_ui.h"
#include "tests/ui/text_spy.h"

using namespace attn;
using namespace attn::test;

namespace {

constexpr float kLeast = 11.0F;

/// What a line becomes: its parts, in the order in which they are drawn, and how wide it says that it is.
struct Set {
    SeenTexts parts;
    float width = 0.0F;

    std::vector<std::string> text() const {
        std::vector<std::string> items;
        for (const SeenText& part : parts) items.push_back(part.text);
        return items;
    }
};

Set set_of(const std::string& text) {
    Set set;
    NullUi ui;
    ui.show_in_window([&](const ui::Frame& frame, view::Actions&) {
        TextSpy spy(frame.painter);
        ui::TypesettingPainter painter(spy, kLeast);
        set.width = painter.text_size(frame.fonts.body, text).x;
        painter.text(frame.fonts.body, {100.0F, 100.0F}, frame.theme.text, text);
        set.parts = spy.texts;
    });
    ui.frame();
    return set;
}

using Parts = std::vector<std::string>;

}  // namespace

TEST_CASE("the index of a symbol stands lower and smaller, wherever the symbol stands") {
    CHECK(set_of("W_Q").text() == Parts{"W", "Q"});
    CHECK(set_of("d_k 64").text() == Parts{"d", "k", " 64"});
    CHECK(set_of("d_model").text() == Parts{"d", "model"});
    CHECK(set_of("max_j a_j").text() == Parts{"max", "j", " a", "j"});
    CHECK(set_of("‖∂a/∂s‖_F").text() == Parts{"‖∂a/∂s‖", "F"});
    CHECK(set_of("‖∂L/∂W_Q‖ 0.12").text() == Parts{"‖∂L/∂W", "Q", "‖ 0.12"});
    CHECK(set_of("Σ_j exp(S_ij)").text() == Parts{"Σ", "j", " exp(S", "ij", ")"});
    const Set set = set_of("W_Q");
    CHECK(set.parts[1].font.px == kLeast);
    CHECK(set.parts[1].high.y > set.parts[0].high.y);
    CHECK(set.parts[1].low.x == doctest::Approx(set.parts[0].high.x).epsilon(0.01));
    CHECK(set.parts[1].high.x == doctest::Approx(100.0F + set.width).epsilon(0.01));
}

TEST_CASE("a root has a bar over its number, its symbol or its parenthesis") {
    CHECK(set_of("÷√d_k").text() == Parts{"÷", "d", "k"});
    CHECK(set_of("√64 = 8").text() == Parts{"64", " = 8"});
    CHECK(set_of("1/√(a + b) c").text() == Parts{"1/", "(a + b)", " c"});
    CHECK(set_of("√Σ").text() == Parts{"√Σ"});
}

TEST_CASE("names of files, arrays and settings stay as they are") {
    for (const char* name :
         {"mha_forward", "n_heads", "q_rot", "W_Q.weight", "a_b", "d_k.npy", "scale_q_k", "w_q",
          "h.0.attn.c_attn", "my_d_k", "x_", "_j", "snake_case_d_k", "max_jobs"}) {
        CAPTURE(name);
        CHECK(set_of(name).text() == Parts{name});
    }
}

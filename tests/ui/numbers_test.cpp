#include "app/common/draw/field_controls.h"
#include "app/common/draw/widgets.h"
#include "tests/ui/app.h"

using namespace attn;
using namespace attn::test;
using view::Key;

namespace {

constexpr int kNoDoubleClick = 20;  // frames
constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();

struct SeedField {
    std::uint64_t seed;
    Panel panel{[this](const ui::Frame& frame, view::Actions& out) {
        const float width = ui::seed_width(frame, seed);
        if (const auto next = ui::seed_field(frame, "##seed", seed, width, {"seed", ""}, out)) {
            seed = *next;
            changed = true;
        }
    }};
    bool changed = false;

    explicit SeedField(std::uint64_t value) : seed(value) {}
    ImVec2 middle() const { return {panel.low.x - 30.0F, (panel.low.y + panel.high.y) / 2}; }
    ImVec2 plus() const {
        return {(panel.low.x + panel.high.x) / 2, (panel.low.y + panel.high.y) / 2};
    }
};

struct WidthSlider {
    Index d_k;
    Panel panel{[this](const ui::Frame& frame, view::Actions& out) {
        const ui::SliderText text{"d_k", std::to_string(d_k), "4096"};
        if (const auto next =
                ui::log_slider(frame, "##d_k", text, d_k, 1, 4096, 400.0F, {"d_k", ""}, out))
            d_k = *next;
    }};

    explicit WidthSlider(Index value) : d_k(value) {}
    float y() const { return (panel.low.y + panel.high.y) / 2; }
};

/// A temperature from 0.05 to 100.
struct TemperatureSlider {
    double value;
    Panel panel{[this](const ui::Frame& frame, view::Actions& out) {
        const ui::SliderText text{"τ", value < 10.0 ? "1.00" : "10.00", "100.00"};
        const float width = ui::slider_width(frame, text);
        if (const auto next =
                ui::real_slider(frame, "##t", text, value, 0.05, 100.0, width, {"τ", ""}, out))
            value = *next;
    }};

    explicit TemperatureSlider(double first) : value(first) {}
    float y() const { return (panel.low.y + panel.high.y) / 2; }
};

int count_gestures(const view::Actions& actions) {
    int count = 0;
    for (const view::Action& action : actions)
        count += action.is<view::BeginGesture>() || action.is<view::EndGesture>() ? 1 : 0;
    return count;
}

view::Actions typed(NullUi& ui, const std::string& text) {
    view::Actions out = ui.frames(3);
    for (view::Action& action : ui.type(text)) out.push_back(std::move(action));
    for (view::Action& action : ui.press(Key::enter)) out.push_back(std::move(action));
    return out;
}

}  // namespace

TEST_CASE("any seed is shown and typed exactly") {
    for (const std::uint64_t wanted : {std::uint64_t{10000}, std::uint64_t{1} << 31, kLast}) {
        SeedField field(7);
        field.panel.ui.double_click(field.middle());
        REQUIRE(field.panel.state.focus.typing);
        CHECK(field.panel.state.focus.typing->text == "7");
        typed(field.panel.ui, std::to_string(wanted));
        CHECK(field.seed == wanted);
        CHECK_FALSE(field.panel.state.focus.typing);
    }
}

TEST_CASE("looking at a large seed does not change it, and − and + move it by one") {
    SeedField field(kLast - 1);
    field.panel.ui.frames(5);
    field.panel.ui.click(field.middle());
    CHECK_FALSE(field.changed);
    CHECK(count_gestures(field.panel.ui.click(field.plus())) == 0);
    CHECK(field.seed == kLast);
    field.panel.ui.click(field.plus());
    CHECK(field.seed == kLast);
}

TEST_CASE("a number field is dragged between BeginGesture and EndGesture, far beyond 9999") {
    SeedField field((std::uint64_t{1} << 40) + 5);
    const ImVec2 from = field.middle();
    const view::Actions actions = field.panel.ui.drag(from, {from.x + 82.0F, from.y});
    CHECK(field.seed == (std::uint64_t{1} << 40) + 15);
    CHECK(count_gestures(actions) == 2);
    CHECK(last<view::BeginGesture>(actions));
    CHECK(last<view::EndGesture>(actions));
    field.panel.ui.frames(kNoDoubleClick);
    field.panel.ui.drag(from, {from.x - 82.0F, from.y});
    CHECK(field.seed == (std::uint64_t{1} << 40) + 5);
}

TEST_CASE("typing is committed by Enter, Tab and a click elsewhere, dropped by Escape") {
    const auto after = [](const auto& end) {
        SeedField field(7);
        field.panel.ui.double_click(field.middle());
        field.panel.ui.frames(3);
        field.panel.ui.type("42");
        end(field.panel.ui);
        CHECK_FALSE(field.panel.state.focus.typing);
        return field.seed;
    };
    CHECK(after([](NullUi& ui) { ui.press(Key::enter); }) == 42);
    CHECK(after([](NullUi& ui) { ui.press(Key::tab); }) == 42);
    CHECK(after([](NullUi& ui) { ui.click({700.0F, 150.0F}); }) == 42);
    CHECK(after([](NullUi& ui) { ui.press(Key::escape); }) == 7);
}

TEST_CASE("what is no number is refused in words") {
    SeedField field(7);
    field.panel.ui.double_click(field.middle());
    const view::Actions actions = typed(field.panel.ui, "1.5");
    CHECK(field.seed == 7);
    const auto* stated = last<view::Notify>(actions);
    REQUIRE(stated);
    CHECK(stated->message.text == "'1.5' is not a whole number; seed stays 7");
}

TEST_CASE("a digit on the focused number begins the typing, Enter opens it with all selected") {
    SeedField field(7);
    field.panel.ui.press(Key::tab);
    CHECK(field.panel.state.focus.control != 0);
    field.panel.ui.type("9");
    REQUIRE(field.panel.state.focus.typing);
    const view::Actions digits = typed(field.panel.ui, "81");
    CHECK(field.seed == 981);
    CHECK(count_gestures(digits) == 0);
    field.panel.ui.press(Key::enter);
    typed(field.panel.ui, "5");
    CHECK(field.seed == 5);
    CHECK(count_gestures(field.panel.ui.press(Key::right)) == 0);
    CHECK(field.seed == 6);
    field.panel.ui.press(Key::down);
    CHECK(field.seed == 5);
}

TEST_CASE("letters that come before the field has the keyboard are not lost") {
    SeedField field(7);
    field.panel.ui.press(Key::tab);
    ImGui::GetIO().AddInputCharacter('1');
    field.panel.ui.frame();
    ImGui::GetIO().AddInputCharacter('2');
    field.panel.ui.frame();
    typed(field.panel.ui, "3");
    CHECK(field.seed == 123);
    field.panel.ui.double_click(field.middle());
    REQUIRE(field.panel.state.focus.typing);
    field.panel.ui.press(Key::escape);
    field.panel.ui.press(Key::tab);
    field.panel.ui.press(Key::enter);
    ImGui::GetIO().AddInputCharacter('8');
    field.panel.ui.frame();
    typed(field.panel.ui, "9");
    CHECK(field.seed == 89);
}

TEST_CASE("a slider follows the hand between BeginGesture and EndGesture, and is typed into") {
    WidthSlider slider(1);
    const float y = slider.y();
    const view::Actions actions = slider.panel.ui.drag({100.0F, y}, {250.0F, y});
    CHECK(slider.d_k > 64);
    CHECK(count_gestures(actions) == 2);
    slider.panel.ui.double_click({slider.panel.high.x - 10.0F, y});
    REQUIRE(slider.panel.state.focus.typing);
    CHECK(count_gestures(typed(slider.panel.ui, "100")) == 0);
    CHECK(slider.d_k == 100);
}

TEST_CASE("every power of two is a stop of the slider under the hand") {
    WidthSlider slider(3);
    std::set<Index> met;
    const float y = slider.y();
    for (float x = slider.panel.low.x; x < slider.panel.high.x; x += 1.0F) {
        slider.panel.ui.frames(kNoDoubleClick);
        slider.panel.ui.click({x, y});
        met.insert(slider.d_k);
    }
    for (Index width = 1; width <= 4096; width *= 2) CHECK(met.contains(width));
    CHECK(met.size() > 40);
}

TEST_CASE("the slider of a share is even: from a quarter to a half as far as to three quarters") {
    double value = 0.9;
    Panel panel([&value](const ui::Frame& frame, view::Actions& out) {
        if (const auto to = ui::real_slider(frame, "share", {"target", "0.50", "0.999"}, value,
                                            0.001, 0.999, 400.0F, {"", ""}, out))
            value = *to;
    });
    std::array<float, 3> at{};
    const float y = (panel.low.y + panel.high.y) / 2;
    for (float x = panel.low.x; x < panel.high.x; x += 1.0F) {
        panel.ui.frames(kNoDoubleClick);
        panel.ui.click({x, y});
        for (std::size_t n = 0; n < 3; ++n)
            if (at[n] == 0.0F && x > panel.low.x + 80.0F &&
                value >= 0.25 * static_cast<double>(n + 1))
                at[n] = x;
    }
    CHECK(at[1] - at[0] > 20.0F);
    CHECK(at[2] - at[1] == doctest::Approx(at[1] - at[0]).epsilon(0.1));
}

TEST_CASE("a slider from 0.001 on reaches its ends, and small values as it shows them") {
    for (const double high : {1.0, 0.999}) {
        double value = 0.5;
        Panel panel([&](const ui::Frame& frame, view::Actions& out) {
            if (const auto to = ui::real_slider(frame, "share", {"p", "0.500", "0.999"}, value,
                                                0.001, high, 400.0F, {"", ""}, out))
                value = *to;
        });
        const float y = (panel.low.y + panel.high.y) / 2;
        std::set<double> small;
        for (float x = panel.low.x + 30.0F; x < panel.high.x; x += 1.0F) {
            panel.ui.frames(kNoDoubleClick);
            panel.ui.click({x, y});
            CHECK(value >= 0.001);
            CHECK(value <= high);
            if (value < 0.01) small.insert(value);
        }
        if (high == 1.0) CHECK(small.size() > 10);
        panel.ui.drag({panel.low.x + 60.0F, y}, {panel.low.x - 50.0F, y});
        CHECK(value == 0.001);
        panel.ui.frames(kNoDoubleClick);
        panel.ui.drag({panel.low.x + 60.0F, y}, {panel.high.x + 50.0F, y});
        CHECK(value == high);
    }
}

TEST_CASE("the arrow keys move a small learning rate in its own decade") {
    double value = 0.003;
    Panel panel([&value](const ui::Frame& frame, view::Actions& out) {
        if (const auto to = ui::real_slider(frame, "rate", {"", "0.003", "0.000123"}, value, 1e-6,
                                            100.0, 400.0F, {"", ""}, out))
            value = *to;
    });
    panel.ui.press(Key::tab);
    panel.ui.press(Key::right);
    CHECK(value == 0.0031);
    value = 2e-4;
    panel.ui.frame();
    panel.ui.press(Key::left);
    CHECK(value == 1.9e-4);
}

TEST_CASE("a character above U+FFFF is typed whole, and stays when its field opens again") {
    std::string name = "a";
    Panel panel([&name](const ui::Frame& frame, view::Actions& out) {
        const auto place = [](float) { return true; };
        if (auto to = ui::list_field(frame, "name", "key", name, {"", ""}, out, place)) name = *to;
    });
    const ImVec2 at{panel.high.x - 20.0F, (panel.low.y + panel.high.y) / 2};
    panel.ui.click(at);
    panel.ui.frames(3);
    for (const unsigned int part :
         sizeof(ImWchar) > 2 ? std::vector{0x1F600U} : std::vector{0xD83DU, 0xDE00U})
        ImGui::GetIO().AddInputCharacter(part);
    panel.ui.frames(3);
    typed(panel.ui, "b");
    CHECK(name == "😀b");
    panel.ui.frames(kNoDoubleClick);
    panel.ui.click(at);
    panel.ui.frames(3);
    panel.ui.press(Key::end);
    typed(panel.ui, "c");
    CHECK(name == "😀bc");
}

TEST_CASE("the keys move a focused slider by one, by stops and to its ends") {
    WidthSlider slider(48);
    slider.panel.ui.press(Key::tab);
    slider.panel.ui.press(Key::right);
    CHECK(slider.d_k == 49);
    slider.panel.ui.press(Key::page_up);
    CHECK(slider.d_k == 64);
    slider.panel.ui.press(Key::page_down);
    CHECK(slider.d_k == 32);
    slider.panel.ui.press(Key::end);
    CHECK(slider.d_k == 4096);
    slider.panel.ui.press(Key::right);
    CHECK(slider.d_k == 4096);
    slider.panel.ui.press(Key::home);
    CHECK(slider.d_k == 1);
}

TEST_CASE("the temperature's track stands still: one place is one value, from 0.05 to 100") {
    TemperatureSlider slider(1.0);
    auto& [value, panel] = slider;
    const float y = slider.y();
    const ImVec2 place{panel.low.x + 40.0F, y};
    panel.ui.drag({panel.low.x + 20.0F, y}, place);
    const double from_left = value;
    panel.ui.drag({panel.low.x + 62.0F, y}, place);
    CHECK(value == from_left);
    panel.ui.drag(place, {panel.low.x - 50.0F, y});
    CHECK(value == 0.05);
    panel.ui.drag({panel.low.x + 20.0F, y}, {panel.high.x + 300.0F, y});
    CHECK(value == 100.0);
    value = 1.0;
    panel.ui.press(Key::tab);
    panel.ui.press(Key::right);
    CHECK(value == 1.1);
    panel.ui.press(Key::left);
    panel.ui.press(Key::left);
    CHECK(value == 0.99);
}

TEST_CASE("the wheel over a slider and over a number field moves it by one") {
    WidthSlider slider(48);
    slider.panel.ui.move_to({200.0F, slider.y()});
    slider.panel.ui.wheel(1.0F);
    CHECK(slider.d_k == 49);
    slider.panel.ui.wheel(-1.0F);
    slider.panel.ui.wheel(-1.0F);
    CHECK(slider.d_k == 47);
    slider.panel.ui.move_to({700.0F, 150.0F});
    slider.panel.ui.wheel(1.0F);
    CHECK(slider.d_k == 47);
    SeedField field(7);
    field.panel.ui.move_to(field.middle());
    field.panel.ui.wheel(1.0F);
    CHECK(field.seed == 8);
}

TEST_CASE("the temperature is held at 1 by its mark, and passes it when the hand goes on") {
    TemperatureSlider slider(0.5);
    auto& [value, panel] = slider;
    const float y = slider.y();
    int at_one = 0;
    bool below = false;
    bool above = false;
    for (float x = panel.low.x; x < panel.high.x; x += 1.0F) {
        panel.ui.frames(kNoDoubleClick);
        panel.ui.click({x, y});
        at_one += value == 1.0 ? 1 : 0;
        below = below || value < 0.9;
        above = above || value > 1.1;
    }
    CHECK(at_one >= 6);
    CHECK(at_one <= 24);
    CHECK(below);
    CHECK(above);
}

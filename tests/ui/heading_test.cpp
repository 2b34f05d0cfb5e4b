#include "app/common/draw/heading.h"

#include <imgui_internal.h>

#include "app/common/workspace.h"
#include "app/workspaces/step/draw/heading.h"
#include "core/large/map_input.h"
#include "core/text.h"
#include "tests/ui/app.h"
#include "tests/ui/text_spy.h"
#include "tests/view/sample_states.h"

using namespace attn;
using namespace attn::test;
using view::step_look;

namespace {

/// A window with a heading alone.
struct Heading {
    NullUi ui;
    view::StepView view;
    SeenTexts texts;
    std::optional<OperandId> highlighted;  // whose symbol the pointer is on
    float height = 0.0F;

    explicit Heading(float width, float scale = 1.0F) : ui({width, 720.0F * scale}, scale) {
        ui.show_in_window([this](const ui::Frame& frame, view::Actions&) {
            TextSpy spy(frame.painter);
            const float top = ImGui::GetCursorScreenPos().y;
            highlighted = ui::draw_heading(view, spied(frame, spy));
            texts = spy.texts;
            height = ImGui::GetCursorScreenPos().y - top;
        });
    }
    void draw(view::StepView of) {
        view = std::move(of);
        ui.frames(2);
    }
    const SeenText* find(const std::string& text) const { return find_text(texts, text); }
};

bool has_all_glyphs(const ui::Fonts& fonts, const SeenText& text) {
    std::string_view rest = text.text;
    while (!rest.empty()) {
        const CodePoint next = first_code_point(rest);
        if (!ui::has_glyph(ui::loaded(fonts, text.font), next.value)) return false;
        rest.remove_prefix(next.bytes);
    }
    return true;
}

std::vector<view::StepView> all_headings() {
    std::vector<view::StepView> views;
    for (view::AppState state : {view::initial_state(), view::preset_state("cross-attention")})
        for (const Stage stage : view::ribbon_stages(state.document()))
            for (const bool gradients : {false, true}) {
                state =
                    view::after(state, {view::GoToStage{stage}, view::ShowGradients{gradients}});
                views.push_back(build_step_view(state));
            }
    return views;
}

bool overlap(const SeenText& a, const SeenText& b) {
    return a.low.x + 1.0F < b.high.x && b.low.x + 1.0F < a.high.x && a.low.y + 4.0F < b.high.y &&
           b.low.y + 4.0F < a.high.y;
}

/// Every matrix that a symbol of the inspector stands for, found by going over its formula.
std::vector<OperandId> highlighted_by_inspector(App& app) {
    std::vector<OperandId> highlighted;
    for (float y = 124.0F; y < 214.0F; y += 9.0F)
        for (float x = 1290.0F; x < 1530.0F; x += 6.0F) {
            app.ui.move_to({x, y});
            const auto& under = step_look(app.state).highlighted;
            if (under && std::ranges::count(highlighted, *under) == 0)
                highlighted.push_back(*under);
        }
    return highlighted;
}

bool are_highlighted(App& app, const std::vector<OperandId>& expected) {
    const std::vector<OperandId> highlighted = highlighted_by_inspector(app);
    return highlighted.size() == expected.size() &&
           std::ranges::is_permutation(highlighted, expected);
}

/// The heading of a workspace, in a window of that height.
struct Sentence {
    view::AppState state = view::initial_state();
    NullUi ui;
    SeenTexts texts;
    float end = 0.0F;  // of heading and ⓘ

    Sentence(const ui::Heading& of, ImVec2 size) : ui(size) {
        ui.show_in_window([this, of, size](const ui::Frame& bare, view::Actions& out) {
            ui::FocusRing ring(state.focus, {});
            TextSpy spy(bare.painter);
            ui::Frame frame = spied(bare, spy);
            frame.focus = &ring;
            const ui::Box box{{16.0F, 16.0F}, {size.x - 16.0F, size.y}};
            end = 16.0F + ui::heading_height(of, box.size().x, frame);
            if (const auto info = ui::draw_heading(of, box, frame))
                end = ui::draw_info(*info, {{16.0F, end}, box.high}, frame);
            ring.finish(out);
            for (const view::Action& action : out)
                if (action.is<view::FocusControl>()) view::apply(state, action);
            texts = spy.texts;
        });
        ui.frames(2);
    }
    std::string text() const {
        std::string all;
        for (const SeenText& text : texts) all += (all.empty() ? "" : " ") + text.text;
        return all;
    }
    void point_at(const std::string& text) {
        const SeenText* const at = find_text(texts, text);
        REQUIRE(at);
        ui.move_to({(at->low.x + at->high.x) / 2, (at->low.y + at->high.y) / 2});
        ui.frames(3);
    }
};

const ui::Heading kHeading{.headline = "One sentence.",
                           .muted = "Another one.",
                           .notes = {"A note.", "Its second."},
                           .why = "The legend.",
                           .reasons = {"Because of this.", "And of that."}};
constexpr const char* kBehind = "Because of this. And of that. A note. Its second. The legend.";

}  // namespace

TEST_CASE("every stage's heading is equally high, readable and inside the window") {
    for (const float scale : {1.0F, 1.5F}) {
        for (const float width : {640.0F, 900.0F, 1400.0F}) {
            Heading heading(width * scale, scale);
            for (const view::StepView& view : all_headings()) {
                INFO("view.title ", view.title, ", width ", width);
                heading.draw(view);
                CHECK(heading.height == doctest::Approx(64.0F * scale));
                CHECK(heading.texts.size() > 2);
                for (const SeenText& text : heading.texts) {
                    CAPTURE(text.text);
                    CHECK(text.font.px >= 11.0F * scale);
                    CHECK(has_all_glyphs(heading.ui.style().fonts, text));
                    CHECK(text.low.x >= 0.0F);
                    CHECK(text.high.x <= width * scale - 15.0F * scale);
                    CHECK(text.high.y <= 16.0F * scale + 66.0F * scale);
                }
            }
        }
    }
}

TEST_CASE("title, formula and sentence of a heading stand clear of each other") {
    Heading heading(1100.0F);
    for (const view::StepView& view : all_headings()) {
        heading.draw(view);
        const SeenText* const title =
            heading.find(view.headline.empty() ? view.title : view.headline.front().text);
        const SeenText* const sentence = heading.find(view.text);
        CAPTURE(view.title);
        REQUIRE(title);
        REQUIRE(sentence);
        for (const SeenText& text : heading.texts) {
            CAPTURE(text.text);
            if (&text != title) CHECK_FALSE(overlap(text, *title));
            if (&text != sentence) CHECK_FALSE(overlap(text, *sentence));
        }
    }
}

TEST_CASE("a symbol of the formula under the pointer names its matrix") {
    Heading heading(1400.0F);
    view::AppState state = view::after(view::initial_state(), {view::GoToStage{Stage::scores}});
    heading.draw(build_step_view(state));
    const SeenText* const k = heading.find("k");
    REQUIRE(k);
    const ImVec2 on{(k->low.x + k->high.x) / 2, (k->low.y + k->high.y) / 2};
    heading.ui.move_to(on);
    CHECK(heading.highlighted == OperandId(Stage::k));
    heading.ui.move_to({5.0F, 290.0F});
    CHECK_FALSE(heading.highlighted);
}

TEST_CASE("a symbol of the inspector's formula lights its matrix, of values and of gradients") {
    App app;
    app.act({view::GoToStage{Stage::q}, view::SelectCell{{Stage::q, 1, 0}}});
    CHECK(are_highlighted(app, {Stage::x, Param::w_q}));
    app.act({view::ShowGradients{true}});
    CHECK(are_highlighted(app, {Stage::scores, Stage::k}));
    view::apply(app.state, view::ShowGradients{false});
    for (float y = 124.0F; y < 214.0F && step_look(app.state).highlighted != OperandId(Param::w_q);
         y += 9.0F)
        for (float x = 1290.0F;
             x < 1530.0F && step_look(app.state).highlighted != OperandId(Param::w_q); x += 6)
            app.ui.move_to({x, y});
    REQUIRE(step_look(app.state).highlighted == OperandId(Param::w_q));
    for (const view::GridView& grid : build_step_view(app.state).operands)
        CHECK((std::ranges::count(grid.highlighted, 0) == 0) == (grid.id == OperandId(Param::w_q)));
    CHECK(app.ui.frame().empty());  // the pointer rests: nothing is said again
    app.ui.move_to({5.0F, 500.0F});
    CHECK_FALSE(step_look(app.state).highlighted);
}

TEST_CASE("ⓘ opens by a click or Enter, reasons first, until a click elsewhere or Escape") {
    const std::string closed = "One sentence. Another one. i";
    Sentence heading(kHeading, {1000.0F, 800.0F});
    CHECK(heading.text() == closed);
    const float above = heading.end;
    const auto is_open = [&] { return heading.text() == closed + " " + kBehind; };
    const SeenText sign = *find_text(heading.texts, "i");
    const ImVec2 at{(sign.low.x + sign.high.x) / 2, (sign.low.y + sign.high.y) / 2};
    heading.ui.move_to(at);  // the tooltip names the effect of a click
    heading.ui.frames(3);
    CHECK(heading.text().find("Why? A click shows") != std::string::npos);
    CHECK(heading.end == above);
    heading.ui.click(at);
    heading.ui.move_to({900.0F, 700.0F});
    heading.ui.frames(3);
    CHECK(is_open());  // it stays without the pointer
    const float below = heading.end;
    CHECK(below > above + 4 * sign.font.px);  // the canvas gives way: nothing is covered
    heading.ui.hold(true);
    CHECK(heading.end == below);  // nothing moves under a button that is held
    heading.ui.hold(false);
    CHECK(heading.text() == closed);
    CHECK(heading.end == above);
    heading.ui.press(view::Key::tab);
    heading.ui.frames(3);
    CHECK(heading.text() == closed);
    heading.ui.press(view::Key::enter);
    heading.ui.frames(3);
    CHECK(is_open());
    heading.ui.press(view::Key::escape);
    heading.ui.frames(3);
    CHECK(heading.text() == closed);
    heading.ui.click(at);
    heading.ui.frames(3);
    heading.ui.click(at);  // again: it closes
    heading.ui.move_to({900.0F, 700.0F});
    heading.ui.frames(3);
    CHECK(heading.text() == closed);
    Sentence low(kHeading, {1000.0F, 600.0F});  // no muted line: the sentence itself tells all
    CHECK(low.text() == "One sentence.");
    low.point_at("One sentence.");
    CHECK(low.text() == "One sentence. One sentence. Another one. " + std::string(kBehind));
}

TEST_CASE("every workspace has reasons behind ⓘ, at most four") {
    for (const view::WorkspaceInfo* const workspace : view::workspaces()) {
        if (workspace->key == "exercises" || workspace->key == "generate")
            continue;  // no answers there; no model
        CAPTURE(workspace->key);
        App app({1600.0F, 1000.0F});
        app.draw_frames({view::SetWorkspace{std::string(workspace->key)}});
        const auto reasons = workspace->reasons(app.state);
        if (workspace->key == "large") continue;  // the map has its size from a job
        REQUIRE_FALSE(reasons.empty());
        CHECK(reasons.size() <= 4);
        for (const std::string& reason : reasons) CHECK(reason.ends_with('.'));
    }
}

TEST_CASE("the tooltip of a control in the bar is beneath the headline") {
    App app({1600.0F, 1000.0F});
    app.draw_frames({});
    const float under = ui::bar_height(app.ui.style()) + ui::heading_height(app.ui.style());
    Index tips = 0;
    for (float x = app.left() + 300.0F; x < 1500.0F; x += 60.0F) {
        app.ui.move_to({x, 24.0F});
        app.ui.frames(40);
        const ImGuiWindow* const tip = ImGui::FindWindowByName("##Tooltip_00");
        if (tip == nullptr || !tip->Active) continue;
        ++tips;
        CHECK(tip->Pos.y >= under);
    }
    CHECK(tips > 3);
}

TEST_CASE("a headline that no line holds stands on two, and what is beneath it makes room") {
    const ui::Heading is{.headline =
                             "Without the division a typical row passes under 1/34 of 62.1 %, yet "
                             "the mean over all of them is 4.8 times as long as before",
                         .muted = "Another one."};
    for (const ImVec2 size : {ImVec2{640.0F, 800.0F}, ImVec2{640.0F, 500.0F}}) {
        CAPTURE(size.y);
        Sentence heading(is, size);
        REQUIRE(heading.texts.size() >= 2);
        const auto& first = heading.texts[0];
        const auto& second = heading.texts[1];
        CHECK(first.text + " " + second.text == is.headline);
        CHECK(second.low.y >= first.low.y + first.font.px - 1.0F);
        CHECK(std::max(first.high.x, second.high.x) <= size.x - 16.0F);
        if (heading.texts.size() > 2)
            CHECK(heading.texts[2].low.y >= second.low.y + second.font.px);
        const ui::Frame& frame = heading.ui.style();
        CHECK(ui::heading_height(is, size.x - 32.0F, frame) ==
              doctest::Approx(ui::heading_height(frame) + first.font.px));
        CHECK(ui::heading_height(is, 2000.0F, frame) == ui::heading_height(frame));
    }
}

TEST_CASE("the lowest windows leave out a headline's last clauses, and say them at the pointer") {
    const std::string less = "No mask: every query may attend to every key, 14 × 14 = 196 pairs";
    const std::string whole = less + "; every row of weights sums to 1";
    struct Shown {
        ImVec2 size;
        std::size_t lines;
        std::string text;
    };
    const Shown cases[] = {{{1000.0F, 400.0F}, 1, whole},
                           {{540.0F, 400.0F}, 2, whole},
                           {{360.0F, 400.0F}, 2, less + "."}};
    for (const Shown& each : cases) {
        CAPTURE(each.size.x);
        Sentence heading({.headline = whole}, each.size);
        CHECK(heading.text() == each.text);
        REQUIRE(heading.texts.size() == each.lines);
        CHECK(std::ranges::any_of(heading.texts, [](const SeenText& text) {
            return text.text.find("14 × 14 = 196 pairs") != std::string::npos;
        }));
        heading.point_at(heading.texts.back().text);
        CHECK((each.text == whole || heading.text().ends_with(whole)));
    }
}

#include <doctest/doctest.h>
#include <imgui.h>

#include <algorithm>

#include "app/figures/figure.h"
#include "app/figures/measure.h"
#include "app/ui/common/figure_painters.h"
#include "app/ui/common/grid.h"
#include "app/ui/common/imgui_painter.h"
#include "app/ui/common/null_context.h"
#include "app/view/common/format.h"
#include "tests/figures/recorder.h"

using namespace attn;
using attn::test::Recorder;
using view::ThemeName;

namespace {

constexpr view::Point kScreen{1600.0F, 1000.0F};

view::GridView grid_of(Index rows, Index columns) {
    view::GridView grid;
    grid.id = Stage::scores;
    grid.title = std::string("S");
    grid.shape = view::size(rows, columns);
    grid.rows = rows;
    grid.columns = columns;
    grid.row_labels.assign(static_cast<std::size_t>(rows), "row");
    grid.column_labels.assign(static_cast<std::size_t>(columns), "key");
    grid.cells.assign(static_cast<std::size_t>(rows * columns),
                      {0.25, view::CellLook::number, {40, 60, 90}, {255, 255, 255}, "0.25"});
    grid.low_label = std::string("low");
    grid.high_label = std::string("high");
    return grid;
}

/// Draws a grid in a frame of its own with `painter`.
void draw(const view::GridView& grid, view::Painter& painter, float cell) {
    ui::NullContext context(kScreen, 1.0F, view::theme(ThemeName::dark));
    for (int n = 0; n < 2; ++n) {
        context.begin_frame();
        ImGui::SetNextWindowPos({0.0F, 0.0F});
        ImGui::SetNextWindowSize({kScreen.x, kScreen.y});
        ImGui::Begin("figure", nullptr, ImGuiWindowFlags_NoDecoration);
        const ui::Frame frame{
            context.fonts(), view::theme(ThemeName::dark), 1.0F, painter, painter, true};
        view::Actions unused;
        if (n == 1) draw_grid(grid, {}, {{200.0F, 200.0F}, {cell, cell}}, frame, unused);
        ImGui::End();
        context.end_frame();
    }
}

std::string svg_of(const view::GridView& grid, float cell) {
    const auto figure =
        figures::make_figure(figures::Format::svg, {{0.0F, 0.0F}, kScreen, {14, 18, 23}});
    draw(grid, *figure, cell);
    return figure->finish().value();
}

std::size_t count(const std::string& in, const std::string& part) {
    std::size_t found = 0;
    for (auto at = in.find(part); at != std::string::npos; at = in.find(part, at + 1)) ++found;
    return found;
}

}  // namespace

TEST_CASE("a grid draws each cell, each number, its labels and its colour bar") {
    Recorder painter;
    draw(grid_of(3, 4), painter, 60.0F);
    CHECK(painter.count("rect") == 12);
    CHECK(std::ranges::count(painter.calls, "0.25", &test::Call::text) == 12);
    CHECK(std::ranges::count(painter.calls, "row", &test::Call::text) == 3);
    CHECK(std::ranges::count(painter.calls, "key", &test::Call::text) == 4);
    CHECK(painter.count("gradient") == 1);
    for (const char* text : {"S", "3 × 4", "low", "high"}) CHECK(painter.find_text(text));
    CHECK(painter.count("image") == 0);
}

TEST_CASE("labels that are too wide for their columns are turned, each by itself") {
    view::GridView grid = grid_of(2, 3);
    grid.column_labels = {"a long label", "another", "third"};
    Recorder painter;
    draw(grid, painter, 40.0F);
    CHECK(painter.count("push_rotation") == 3);
    CHECK(painter.count("pop_rotation") == 3);
}

TEST_CASE("a grid of more cells than the painter wants is one picture") {
    Recorder painter(11);
    draw(grid_of(3, 4), painter, 60.0F);
    CHECK(painter.count("image") == 1);
    CHECK(painter.count("rect") == 0);
}

TEST_CASE("an SVG has the cells of 128 x 128 as rectangles, one image above") {
    const std::string vectors = svg_of(grid_of(128, 128), 6.0F);
    CHECK(count(vectors, "<rect ") >= 128 * 128);
    CHECK(count(vectors, "<image ") == 0);
    const std::string picture = svg_of(grid_of(128, 129), 6.0F);
    CHECK(count(picture, "<rect ") < 100);
    CHECK(count(picture, "<image ") == 1);
}

TEST_CASE("screen and figure agree on the width of text") {
    ui::NullContext context(kScreen, 1.0F, view::theme(ThemeName::dark));
    REQUIRE(context.fonts().warning.empty());
    const ui::Texture no_texture = [](const view::Picture&) { return std::uint64_t{1}; };
    ui::ImguiPainter screen(context.fonts(), no_texture);
    figures::Measure figure;
    const ui::Fonts& fonts = context.fonts();
    context.begin_frame();
    for (const ui::Font* font :
         {&fonts.small, &fonts.body, &fonts.title, &fonts.strong, &fonts.digits})
        for (const char* text : {"softmax", "Σ exp(M − m)", "∂p_max/∂s_max", "0.1604", "W"}) {
            const float on_screen = screen.text_size(*font, text).x;
            CAPTURE(text);
            CHECK(figure.text_size(*font, text).x == doctest::Approx(on_screen).epsilon(0.01));
            CHECK(figure.text_size(*font, text).y == screen.text_size(*font, text).y);
        }
    context.end_frame();
}

TEST_CASE("a context for figures leaves the live one as it was") {
    ImGuiContext* const live = ImGui::CreateContext();
    ImGui::SetCurrentContext(live);
    {
        ui::NullContext context(kScreen, 1.0F, view::theme(ThemeName::light));
        CHECK(ImGui::GetCurrentContext() == live);
        context.begin_frame();
        CHECK(ImGui::GetCurrentContext() != live);
        context.end_frame();
        CHECK(ImGui::GetCurrentContext() == live);
    }
    CHECK(ImGui::GetCurrentContext() == live);
    ImGui::DestroyContext(live);
}

TEST_CASE("what an ImGui window cuts is cut in the figure, and what it hides is left out") {
    ui::NullContext context(kScreen, 1.0F, view::theme(ThemeName::dark));
    Recorder recorder;
    for (int n = 0; n < 2; ++n) {
        recorder.calls.clear();
        context.begin_frame();
        {
            ui::WindowClipPainter painter(recorder);
            ImGui::SetNextWindowPos({0.0F, 0.0F});
            ImGui::SetNextWindowSize({kScreen.x, kScreen.y});
            ImGui::Begin("figure", nullptr, ImGuiWindowFlags_NoDecoration);
            ImGui::SetCursorScreenPos({100.0F, 100.0F});
            ImGui::BeginChild("child", {200.0F, 50.0F});
            painter.text({view::Face::sans, 14.0F}, {110.0F, 110.0F}, {}, "seen");
            painter.text({view::Face::sans, 14.0F}, {110.0F, 400.0F}, {}, "scrolled away");
            ImGui::EndChild();
            painter.rect({0.0F, 0.0F}, {900.0F, 900.0F}, {}, 0.0F);
            ImGui::End();
        }
        context.end_frame();
    }
    CHECK(recorder.find_text("seen"));
    CHECK(!recorder.find_text("scrolled away"));
    CHECK(recorder.count("push_clip") == 2);
    CHECK(recorder.count("pop_clip") == 2);
    CHECK(recorder.calls.front().low == view::Point{100.0F, 100.0F});
    CHECK(recorder.calls.front().high == view::Point{300.0F, 150.0F});
}

TEST_CASE("a silent painter measures and draws nothing") {
    Recorder recorder;
    ui::SilentPainter silent(recorder);
    const view::Font font{view::Face::sans, 14.0F};
    silent.push_clip({0.0F, 0.0F}, {1.0F, 1.0F});
    silent.text(font, {0.0F, 0.0F}, {}, "words");
    silent.rect({0.0F, 0.0F}, {9.0F, 9.0F}, {}, 0.0F);
    silent.pop_clip();
    CHECK(recorder.calls.empty());
    CHECK(silent.text_size(font, "words") == recorder.text_size(font, "words"));
}

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <imgui.h>

#include "app/common/draw/figure_painters.h"
#include "app/common/draw/grid.h"
#include "app/common/draw/imgui_painter.h"
#include "app/common/draw/inspector.h"
#include "app/common/draw/null_context.h"
#include "app/common/explain/expr.h"
#include "app/common/format.h"
#include "app/figures/figure.h"
#include "app/figures/measure.h"
#include "app/window/draw/panels.h"
#include "app/workspaces/step/draw/canvas.h"
#include "core/call.h"
#include "tests/figures/recorder.h"

using namespace attn;
using attn::test::count, attn::test::Recorder, view::ThemeName;

namespace {

constexpr view::Point kScreen{1600.0F, 1000.0F};

view::GridView grid_of(Index rows, Index columns) {
    view::GridView grid;
    grid.id = Stage::scores;
    grid.title = std::string("S");
    grid.shape = view::size(rows, columns);
    grid.rows = rows;
    grid.columns = columns;
    grid.row_labels.assign(rows, "row");
    grid.column_labels.assign(columns, "key");
    grid.cells.assign(rows * columns,
                      {0.25, view::CellLook::number, {40, 60, 90}, {255, 255, 255}, "0.25"});
    grid.low_label = std::string("low");
    grid.high_label = std::string("high");
    return grid;
}

/// Draws a panel in a window of `size` and a frame of its own with `painter`.
template <class Draw>
void draw_panel(view::Painter& painter, view::Point size, Draw draw) {
    ui::NullContext context(kScreen, 1.0F, view::theme(ThemeName::dark));
    for (int n = 0; n < 2; ++n) {
        context.begin_frame();
        ImGui::SetNextWindowPos({0.0F, 0.0F});
        ImGui::SetNextWindowSize({size.x, size.y});
        ImGui::Begin("figure", nullptr, ImGuiWindowFlags_NoDecoration);
        const ui::Frame frame{
            context.fonts(), view::theme(ThemeName::dark), 1.0F, painter, painter, true};
        view::Actions unused;
        if (n == 1) draw(frame, unused);
        ImGui::End();
        context.end_frame();
    }
}

void draw(const view::GridView& grid, view::Painter& painter, float cell) {
    draw_panel(painter, kScreen, [&](const ui::Frame& frame, view::Actions&) {
        draw_grid(grid, {}, {{200.0F, 200.0F}, {cell, cell}}, frame);
    });
}

Recorder drawn(const view::GridView& grid, float cell, Index most_cells = 1024) {
    Recorder painter(most_cells);
    draw(grid, painter, cell);
    return painter;
}
Recorder drawn(const view::InspectorView& view, float width) {
    Recorder painter;
    draw_panel(painter, {width, 600.0F}, [&](const ui::Frame& frame, view::Actions& out) {
        draw_inspector(view, frame, out);
    });
    return painter;
}

/// The right end of one text stands left of the other's beginning.
bool are_apart(const Recorder& painter, const std::string& left, const std::string& right) {
    const test::Call* const a = painter.find_text(left);
    const test::Call* const b = painter.find_text(right);
    REQUIRE(a);
    REQUIRE(b);
    return a->high.x <= b->low.x;
}

std::string svg_of(const view::GridView& grid, float cell) {
    const auto figure =
        figures::make_figure(figures::Format::svg, {{0.0F, 0.0F}, kScreen, {14, 18, 23}});
    draw(grid, *figure, cell);
    return figure->finish().value();
}

}  // namespace

TEST_CASE("a grid draws each cell, each number, its labels and its colour bar") {
    Recorder painter = drawn(grid_of(3, 4), 60.0F);
    CHECK(painter.count("rect") == 12);
    CHECK(std::ranges::count(painter.calls, ".25", &test::Call::text) == 12);
    CHECK(std::ranges::count(painter.calls, "row", &test::Call::text) == 3);
    CHECK(std::ranges::count(painter.calls, "key", &test::Call::text) == 4);
    CHECK(painter.count("gradient") == 1);
    for (const char* text : {"S", "3 × 4", "low", "high"}) CHECK(painter.find_text(text));
    CHECK(painter.count("image") == 0);
}

TEST_CASE("labels that are too wide for their columns are turned, each by itself") {
    view::GridView grid = grid_of(2, 3);
    grid.column_labels = {"a long label", "another", "third"};
    Recorder painter = drawn(grid, 40.0F);
    CHECK(painter.count("push_rotation") == 3);
    CHECK(painter.count("pop_rotation") == 3);
}

TEST_CASE("columns of numbers are not turned: where they are narrow some have no label") {
    view::GridView grid = grid_of(2, 32);
    for (Index n = 0; n < 32; ++n) grid.column_labels[n] = fmt::format("{}", n);
    grid.selected = std::pair<Index, Index>{1, 9};
    Recorder painter = drawn(grid, 8.0F);
    CHECK(painter.count("push_rotation") == 0);
    CHECK(painter.find_text("9"));  // the selected one
    CHECK(!painter.find_text("8"));
    CHECK(!painter.find_text("10"));
    CHECK(are_apart(painter, "9", "12"));
}

TEST_CASE("the selected row has its label however low the rows are") {
    view::GridView grid = grid_of(64, 2);
    for (Index n = 0; n < 64; ++n) grid.row_labels[n] = fmt::format("r{}", n);
    for (const Index row : {0, 1, 37, 63}) {
        grid.selected = std::pair<Index, Index>{row, 0};
        Recorder painter = drawn(grid, 6.0F);
        CHECK(painter.find_text(fmt::format("r{}", row)));
    }
}

TEST_CASE("a product table keeps its columns apart, whatever its tokens are called") {
    view::InspectorView view;
    view.empty = false;
    view.lines = {{"scores[a very long name of a cell that no panel can hold on one line]", {}}};
    view.table = view::product_table({{"a", "A[i, j]", Role::weight, {0.25, 0.5}},
                                      {"v", "V[j, 0]", Role::value, {-0.125, 1.5}},
                                      {"a", "electroencephalographically"}});
    for (const float width : {280.0F, 384.0F}) {
        Recorder painter = drawn(view, width);
        const auto starts = [](const test::Call& call) { return call.text.starts_with("el"); };
        const auto label = std::ranges::find_if(painter.calls, starts);
        REQUIRE(label != painter.calls.end());
        CHECK(label->text.size() < 20);
        CHECK(are_apart(painter, label->text, "0.5000"));
        CHECK(are_apart(painter, "0.5000", "1.5000"));
        CHECK(are_apart(painter, "1.5000", "0.7500"));
        if (width > 300.0F) CHECK(are_apart(painter, "0.7500", "0.7188"));
        for (const test::Call& call : painter.calls)
            if (call.what == "text") CHECK(call.high.x <= width);
    }
}

TEST_CASE("seven-figure columns stand apart in 336 pixels, their points in line") {
    view::InspectorView view;
    view.empty = false;
    view.table = view::InspectorTable{
        "", "key", {{"M", {}}, {"M − m", {}}, {"exp", {}}, {"share", {}}}, {}, {}};
    view.table->rows = {
        {"cat", {{"−12.345", {}, {}}, {"−98.765", {}, {}}, {"10.123", {}, {}}, {"0.9876", {}, {}}}},
        {"mat", {{"3.210", {}, {}}, {"7.654", {}, {}}, {"0.001", {}, {}}, {"3·10⁻⁷", {}, {}}}}};
    Recorder painter = drawn(view, 336.0F + 32.0F);
    for (const auto& row : view.table->rows)
        for (std::size_t n = 1; n < row.cells.size(); ++n)
            CHECK(are_apart(painter, row.cells[n - 1].text, row.cells[n].text));
    const auto point = [&](const std::string& text) {
        const test::Call* const call = painter.find_text(text);
        return call->high.x -
               painter.text_size({view::Face::mono, 12.0F}, text.substr(text.find('.'))).x;
    };
    CHECK(point("−12.345") == doctest::Approx(point("3.210")));
    CHECK(point("−98.765") == doctest::Approx(point("7.654")));
}

TEST_CASE("the ribbon cuts no word and draws no arrow through one") {
    std::vector<view::RibbonItem> items;
    for (const char* label :
         {"X", "Q", "K", "V", "QKT", "÷√d_k", "mask", "softmax", "AV", "output"})
        items.push_back({Stage::q, label, fmt::format("20 by 20 {}", label), "", Role::input,
                         view::Progress::done});
    for (const float width : {700.0F, 1056.0F, 1400.0F}) {
        Recorder painter;
        draw_panel(painter, {width, 100.0F}, [&](const ui::Frame& frame, view::Actions& out) {
            draw_ribbon(items, frame, out);
        });
        float left = 0.0F;
        for (const view::RibbonItem& item : items) {
            const test::Call* const label = painter.find_text(item.label);
            INFO("width ", width, ", item.label ", item.label);
            if (width > 800.0F) REQUIRE(label);
            if (!label) continue;
            CHECK(label->low.x >= left);
            left = label->high.x;
            CHECK(left <= width);
            for (const test::Call& call : painter.calls)
                if (call.what == "polyline")
                    CHECK((call.high.x <= label->low.x || call.low.x >= label->high.x));
        }
    }
}

TEST_CASE("the bottom line gives its message the room, then the quiet words what is left") {
    const std::string aside = "kept: 17 MiB of 1 GiB; Q and K 8 MiB, blocks 5 MiB";
    const auto draws = [&](float width, const std::string& message) {
        Recorder painter;
        draw_panel(painter, {width, 64.0F}, [&](const ui::Frame& frame, view::Actions&) {
            ui::draw_bottom_line({message, {}}, aside, frame);
        });
        return painter;
    };
    CHECK(draws(1000.0F, "Done.").find_text(aside));
    CHECK(draws(260.0F, "Done.").find_text("kept: 17 MiB of 1 GiB"));
    const std::string text(30, 'm');
    const Recorder narrow = draws(260.0F, text);
    CHECK(narrow.find_text(text));
    CHECK(std::ranges::count_if(narrow.calls, [](const test::Call& call) {
              return call.text.starts_with("kept");
          }) == 0);
}

TEST_CASE("a grid of more cells than the painter wants, for SVG 128 x 128, is one picture") {
    const Recorder painter = drawn(grid_of(3, 4), 60.0F, 11);
    CHECK(painter.count("image") == 1);
    CHECK(painter.count("rect") == 0);
    const std::string vectors = svg_of(grid_of(128, 128), 6.0F);
    CHECK(count(vectors, "<rect ") >= 128 * 128);
    CHECK(count(vectors, "<image ") == 0);
    const std::string picture = svg_of(grid_of(128, 129), 6.0F);
    CHECK(count(picture, "<rect ") < 100);
    CHECK(count(picture, "<image ") == 1);
}

TEST_CASE("each cell of an SVG says row, column and number; a picture of them has no titles") {
    const std::string stated = "<g><title>S[row, key] = 0.25</title>\n<rect ";
    CHECK(count(svg_of(grid_of(3, 4), 60.0F), stated) == 12);  // numbers within the same group
    CHECK(count(svg_of(grid_of(3, 4), 60.0F), ">.25</text>\n</g>") == 12);
    CHECK(count(svg_of(grid_of(128, 128), 6.0F), stated) == 128 * 128);
    CHECK(count(svg_of(grid_of(128, 129), 6.0F), stated) == 0);
    view::GridView bars = grid_of(1, 4);
    bars.as_bars = true;
    bars.title = "S[row, ·]";
    CHECK(count(svg_of(bars, 60.0F), stated) == 4);
    view::GridView masked = grid_of(3, 4);
    masked.cells[1].look = view::CellLook::masked;
    masked.cells[1].text = "0.00";
    CHECK(count(svg_of(masked, 60.0F), "<title>S[row, key] = 0.00 (masked)</title>") == 1);
}

TEST_CASE("screen and figure agree on the width of text") {
    ui::NullContext context(kScreen, 1.0F, view::theme(ThemeName::dark));
    REQUIRE(context.fonts().warning.empty());
    const ui::Texture no_texture = [](const view::Picture&, bool) { return std::uint64_t{1}; };
    ui::ImguiPainter screen(context.fonts(), no_texture);
    figures::Measure figure;
    const ui::Fonts& fonts = context.fonts();
    context.begin_frame();
    for (const ui::Font* font :
         {&fonts.small, &fonts.body, &fonts.title, &fonts.strong, &fonts.digits})
        for (const char* text : {"softmax", "Σ exp(M − m)", "∂p_max/∂s_max", "0.1604", "W"}) {
            const float on_screen = screen.text_size(*font, text).x;
            CAPTURE(text);
            CHECK(figure.text_size(*font, text).x == doctest::Approx(on_screen).epsilon(0.035));
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

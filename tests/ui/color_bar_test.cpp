#include "app/common/draw/grid_parts.h"
#include "core/io/png_image.h"
#include "tests/measure/tracer.h"
#include "tests/ui/app.h"
#include "tests/ui/sample.h"

using namespace attn;
using attn::test::NullUi;

namespace {

const ImVec2 kBar{100.0F, 300.0F};

/// A colour bar of weights with all that is drawn of it.
struct BarBench {
    view::GridView grid = test::sample_grid(Stage::weights, 4, 4);
    float width = 480.0F;
    test::Log log;
    std::optional<bool> switched;  // what the switch was set to last
    NullUi ui;

    BarBench() {
        grid.range = {ColorScale::unit, 0.0, 1.0};
        grid.low_label = "0";
        grid.high_label = "1";
        grid.ticks = {{0.5, "1/4"}, {0.316, "0.1"}, {0.52, "0.27"}};
        ui.show_in_window([this](const ui::Frame& bare, view::Actions&) {
            test::Tracer tracer(bare.painter);
            const ui::Frame frame{bare.fonts, bare.theme, bare.scale, tracer, tracer};
            const ui::GridPlace place{{100.0F, 100.0F}, {48.0F, 48.0F}};
            const ui::GridCanvas canvas{grid, place, frame};
            if (const auto on = ui::draw_color_bar(canvas, kBar, width)) switched = on;
            log = tracer.log();
        });
        ui.frames(2);
    }

    const test::TextLine* find(const std::string& text) const {
        for (const test::TextLine& description : log.lines)
            if (description.text == text) return &description;
        return nullptr;
    }
    ImVec2 middle_of(const std::string& text) const {
        const test::TextLine* description = find(text);
        REQUIRE(description);
        const test::Rect at = description->bounds();
        return {(at.low.x + at.high.x) / 2, (at.low.y + at.high.y) / 2};
    }
};

}  // namespace

TEST_CASE("the ends of the colour bar are named, and the first of two marks that are too close") {
    const BarBench bench;
    for (const char* text : {"0", "1", "1/4", "0.1"}) CHECK(bench.find(text));
    CHECK(!bench.find("0.27"));
}

TEST_CASE("a click on its switch turns colours by row on, and off again") {
    BarBench bench;
    bench.grid.rows_scaled = false;
    bench.ui.frames(2);
    bench.ui.click(bench.middle_of("scale each row"));
    CHECK(bench.switched == true);
    bench.grid.rows_scaled = true;
    bench.ui.frames(2);
    bench.ui.click(bench.middle_of("scale each row"));
    CHECK(bench.switched == false);
}

TEST_CASE("where there is no room for the switch, or nothing to switch, there is none") {
    BarBench bench;
    CHECK(!bench.find("scale each row"));  // scores
    bench.grid.rows_scaled = true;
    bench.width = 140.0F;
    bench.ui.frames(2);
    CHECK(!bench.find("scale each row"));
    CHECK(bench.find("0"));
}

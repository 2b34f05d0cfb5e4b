// What the map of the Map workspace draws: labels, captions, profiles, legend, line of the pass.

#include "app/workspaces/large/draw/panel.h"
#include "tests/ui/app.h"
#include "tests/ui/large_sample.h"
#include "tests/ui/text_spy.h"

using namespace attn;
using namespace attn::test;

namespace {

constexpr Index kTokens = 131072;

/// Keeps bands too.
class Spy final : public TextSpy {
  public:
    using TextSpy::TextSpy;
    std::vector<view::Point> band_points;
    float right = 0.0F;  // of all rectangles

    void rect(view::Point low, view::Point high, view::Color fill, float radius) override {
        right = std::max(right, high.x);
        PassingPainter::rect(low, high, fill, radius);
    }
    void band(std::span<const view::Point> upper, std::span<const view::Point> lower,
              view::Color fill) override {
        band_points.insert(band_points.end(), upper.begin(), upper.end());
        PassingPainter::band(upper, lower, fill);
    }
};

struct Drawn {
    SeenTexts texts;
    std::vector<view::Point> band_points;

    const SeenText* find(const std::string& text) const { return find_text(texts, text); }
};

/// The map over the whole screen.
Drawn draw_map(const view::LargeView& view, ImVec2 size) {
    Drawn drawn;
    view::MapLook look = sample_look(kTokens);
    NullUi ui(size);
    ui.show_in_window([&](const ui::Frame& frame, view::Actions& out) {
        Spy spy(frame.painter);
        const ui::Frame seen = spied(frame, spy);
        ui::draw_large_map({view, look, seen, out});
        drawn = {spy.texts, spy.band_points};
    });
    ui.frames(2);
    return drawn;
}

view::LargeView overview() { return sample_overview(sample_look(kTokens)); }

const ImVec2 kWide{1100.0F, 900.0F};

}  // namespace

TEST_CASE("a mark without a label takes no other label's place") {
    view::LargeView view = overview();
    view.row_ruler = {{100.0, "", true}, {102.0, "2,000", false}};
    view.column_ruler = {{300.0, "", true}, {302.0, "3,000", false}};
    const Drawn drawn = draw_map(view, kWide);
    CHECK(drawn.find("2,000"));
    CHECK(drawn.find("3,000"));
}

TEST_CASE("a word that would have to move beside its column is left out, a number is moved") {
    view::LargeView view = overview();
    view.column_ruler = {{2.0, "jumped#3", false}, {400.0, "over#4", false}};
    CHECK(!draw_map(view, kWide).find("jumped#3"));
    CHECK(draw_map(view, kWide).find("over#4"));
    view.column_ruler = {{2.0, "12,000", false}};
    CHECK(draw_map(view, kWide).find("12,000"));
}

TEST_CASE("the title of the keys stands beside the labels of the columns, and none on it") {
    view::LargeView view = overview();
    for (double at = 0.0; at < 1000.0; at += 7.0) view.column_ruler.push_back({at, "9", false});
    const Drawn drawn = draw_map(view, kWide);
    const SeenText* const title = drawn.find(view.column_title);
    REQUIRE(title);
    CHECK(title->high.x <= kWide.x);
    for (const SeenText& text : drawn.texts)
        if (text.text == "9") CHECK((text.high.x < title->low.x || text.low.x > title->high.x));
}

TEST_CASE("the captions of the profiles keep their figure, in a narrow window too") {
    view::LargeView view = overview();
    for (const ImVec2 size : {ImVec2{1100.0F, 900.0F}, {400.0F, 900.0F}}) {
        CAPTURE(size.x);
        int captions = 0;
        for (const SeenText& text : draw_map(view, size).texts)
            if (text.text.starts_with("below: ") || text.text.starts_with("right: ")) {
                ++captions;
                CHECK(text.text.ends_with("up to 0.013"));
            }
        CHECK(captions == 2);
    }
}

TEST_CASE("a profile is one shape in whole pixels; the shortest of its bars is a pixel long") {
    view::LargeView view = overview();
    for (view::PixelRect& bar : view.column_profile->bars) bar.bottom = 1e-6;
    const Drawn drawn = draw_map(view, kWide);
    REQUIRE(!drawn.band_points.empty());
    for (const view::Point& point : drawn.band_points) {
        CHECK(point.x == std::round(point.x));
        CHECK(point.y == std::round(point.y));
    }
    std::set<float> heads;
    const std::size_t columns = 2 * view.column_profile->bars.size();
    for (std::size_t n = drawn.band_points.size() - columns; n < drawn.band_points.size(); ++n)
        heads.insert(drawn.band_points[n].y);
    CHECK(heads.size() == 1);
}

TEST_CASE("what a pixel stands for is at the right end") {
    view::LargeView view = overview();
    view.zoom_text = "1 px = 7 cells";
    CHECK(draw_map(view, kWide).find(view.zoom_text)->high.x > kWide.x - 20.0F);
}

TEST_CASE("the line of the pass is there until it is done, in a figure of the canvas alone too") {
    view::LargeView view = overview();
    const view::MapLook look = sample_look(kTokens);
    NullUi ui(kWide);
    ui.show_in_window([&](const ui::Frame& frame, view::Actions& out) {
        Spy spy(frame.painter);
        ui::SilentPainter silent(frame.painter);
        const ui::Frame still{frame.fonts, frame.theme, frame.scale, spy, silent, true};
        ui::draw_large_header({view, look, still, out}, {{0.0F, 0.0F}, {900.0F, 34.0F}});
        view::LargeView done = view;
        done.pass.done = true;
        Spy after(frame.painter);
        const ui::Frame later{frame.fonts, frame.theme, frame.scale, after, silent, true};
        ui::draw_large_header({done, look, later, out}, {{0.0F, 0.0F}, {900.0F, 34.0F}});
        CHECK(after.right < spy.right);  // the bar is gone
    });
    ui.frames(2);
}

TEST_CASE("the legend names NaN and ±∞ beside its bar, and NaN stands in the profile") {
    view::LargeView view = overview();
    view.legend.nan = "3,072 NaN, first 12 → 0";
    view.legend.infinite = "±∞";
    const std::size_t before = draw_map(view, kWide).band_points.size();
    view.row_profile->nans = {{0.0, 200.0, 1.0, 202.0}};
    const Drawn drawn = draw_map(view, kWide);
    CHECK(drawn.find(view.legend.nan));
    CHECK(drawn.find("±∞"));
    CHECK(drawn.find("masked"));
    CHECK(drawn.band_points.size() == before + 2);
}

TEST_CASE("a token's word is cut to its column") {
    view::LargeView view = overview();
    view.column_ruler = {{300.0, "unbelievably", false, 48.0}, {348.0, "so", false, 48.0}};
    const Drawn drawn = draw_map(view, kWide);
    CHECK(drawn.find("so"));
    CHECK_FALSE(drawn.find("unbelievably"));
    const auto cut = std::ranges::find_if(
        drawn.texts, [](const SeenText& text) { return text.text.starts_with("unb"); });
    REQUIRE(cut != drawn.texts.end());
    CHECK(cut->high.x - cut->low.x <= 48.0F);
}

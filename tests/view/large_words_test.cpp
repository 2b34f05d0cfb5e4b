// The Large workspace says what it shows: what is not finite, what profiles average, scores or weights, which cells
// a list leaves out.

#include <set>

#include "app/common/document/document.h"
#include "app/common/document/opened.h"
#include "app/common/map/colors.h"
#include "app/common/map/map_cell.h"
#include "app/common/map/pictures.h"
#include "app/common/text.h"
#include "core/large/tiles.h"
#include "core/train/run.h"
#include "tests/view/large_sample.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

/// A generated document after it was changed by hand.
AppState changed_state(const std::function<void(Document&, Inputs&)>& change,
                       const large::PlantedSpec& spec = {.tokens = 1024}) {
    Document document = *planted_document(spec);
    Inputs inputs = *document.inputs;
    change(document, inputs);
    document.inputs = std::make_shared<const Inputs>(std::move(inputs));
    document.layers = {document.inputs};
    const auto opened = std::make_shared<const Opened>(
        Opened{std::make_shared<const Document>(std::move(document)), nullptr, {}});
    AppState state = after(initial_state(), {OpenFile{"x.npz"}, DocumentReady{"x.npz", "", opened},
                                             SetMapCanvas{{1000.0, 800.0}}});
    return with_map_input(std::move(state));
}

AppState nan_state() {
    return changed_state([](Document&, Inputs& inputs) {
        inputs.q(0, 0, 321, 7) = std::nanf("");
        inputs.k(0, 0, 5, 2) = -0.0F;
    });
}

std::string all_text(const InspectorView& view) {
    std::string text;
    for (const Line& line : view.lines)
        for (const Piece& piece : line.pieces) text += piece.text;
    return text;
}

}  // namespace

TEST_CASE("no NaN hides: badge, legend, profiles, lists, a sentence count it and name the first") {
    AppState state = idle_state(nan_state());
    LargeView view = build_large_view(state);
    CHECK(view.quality == "exact, 1,024 NaN");
    CHECK(view.flawed);
    CHECK(view.legend.nan == "1,024 NaN, first 321 → 0");
    CHECK(view.legend.nan_color == theme(state.theme).nan);
    CHECK(has(view.legend.note, "without values that are not finite"));
    CHECK(has(view.top_title, "left out: 1,024 NaN, first 321 → 0"));
    REQUIRE(view.not_finite.size() == 2);
    CHECK(view.not_finite[0] == "Q holds 1 NaN: the first is Q[321, 7] = NaN.");
    CHECK(view.not_finite[1] == "1,024 weights of 1 query are NaN, the first 321 → 0.");
    CHECK(view.first_nan == large::Cell{321, 0});
    REQUIRE(view.row_profile);
    CHECK(view.row_profile->nans.size() == 1);
    CHECK(view.column_profile->title ==
          "mean weight per key over the 1,022 queries in view, 2 keys a bar, without 2 in rows of "
          "texels with NaN");
    CHECK_FALSE(view.column_profile->bars.empty());
    // the cell itself: which score it comes from
    state = idle_state(std::move(state), {GoToCell{{321, 9}}});
    state = after(std::move(state), {run(*requested_map_cell(state), {})});
    view = build_large_view(state);
    CHECK(view.inspector.value == "NaN");
    CHECK(has(all_text(view.inspector), "it makes every weight of query 321 NaN"));
    // looked at elsewhere
    state = idle_state(std::move(state), {GoToCell{{900, 900}}});
    view = build_large_view(state);
    CHECK(view.quality == "exact, NaN outside the view");
    CHECK(view.legend.nan.empty());
    CHECK(view.not_finite.size() == 2);
}

TEST_CASE("a view of finite numbers says nothing of NaN; ±∞ in an operand is always named") {
    LargeView view = build_large_view(idle_state(planted_state()));
    CHECK(view.quality == "exact");
    CHECK_FALSE(view.flawed);
    CHECK(view.legend.nan.empty());
    CHECK(view.not_finite.empty());
    CHECK_FALSE(view.first_nan);
    CHECK(view.row_profile->nans.empty());
    CHECK(view.row_profile->bars.empty());  // every row sums to 1
    const AppState state = idle_state(changed_state([](Document& document, Inputs& inputs) {
        for (Index c = 0; c < inputs.k.shape().d; ++c) inputs.k(0, 0, 1000, c) = 0.0F;
        inputs.k(0, 0, 1000, 0) = HUGE_VALF;
        // every query sees a score of −∞ there: a weight of 0
        for (Index i = 0; i < inputs.q.shape().t; ++i) inputs.q(0, 0, i, 0) = -1.0F;
        document.title = "infinite";
    }));
    view = build_large_view(state);
    CHECK(view.quality == "exact");
    REQUIRE(view.not_finite.size() == 2);
    CHECK(view.not_finite[0] == "K holds 1 ±∞: the first is K[1,000, 0] = ∞.");
    CHECK(view.not_finite[1] == "No weight is NaN for it.");
}

TEST_CASE("profiles say what they sum or average, with the same unit at every zoom") {
    AppState state = idle_state(planted_state());
    LargeView view = build_large_view(state);
    CHECK(view.column_profile->title ==
          "mean weight per key over the 1,024 queries in view, 2 keys a bar");
    CHECK(view.row_profile->title ==
          "weight per query, Σ over the 1,024 keys in view, 2 queries a bar");
    state = idle_state(std::move(state), {SetMapCamera{{500.0, 500.5, 1.0 / 8.0}}});
    view = build_large_view(state);
    CHECK(view.column_profile->title == "mean weight per key over the 100 queries in view");
    CHECK(view.row_profile->title == "weight per query, Σ over the 125 keys in view");
}

TEST_CASE("texels are single cells from two pixels a cell on, and even from one") {
    for (const double cell_px : {1.0, 2.0, 17.0})
        for (const double scale : {1.0, 2.0}) {
            CAPTURE(cell_px);
            AppState state = planted_state({.tokens = 700, .d_k = 32});
            state = after(std::move(state), {SetMapCanvas{{500.0, 300.0, scale}}});
            state = idle_state(std::move(state), {SetMapCamera{{350.0, 300.0, scale / cell_px}}});
            CHECK(drawn_level(map_look(state)) == 0);
            const LargeView view = build_large_view(state);
            REQUIRE_FALSE(view.pictures.empty());
            for (const MapPicture& picture : view.pictures) {
                const Image image = picture.paint();
                CHECK((picture.where.right - picture.where.left) / image.width ==
                      doctest::Approx(cell_px));
                CHECK((picture.where.bottom - picture.where.top) / image.height ==
                      doctest::Approx(cell_px));
            }
        }
}

TEST_CASE("a finished pass has no bar and cannot be paused") {
    const auto pass_command = [](const AppState& state) {
        const std::vector<Command> all = commands(state);
        const auto found = std::ranges::find_if(
            all, [](const Command& command) { return command.action.is<SetFullPass>(); });
        REQUIRE(found != all.end());
        return *found;
    };
    AppState state = planted_state();
    CHECK(pass_command(state).enabled);
    CHECK_FALSE(build_large_view(state).pass.done);
    state = idle_state(std::move(state));
    const LargeView view = build_large_view(state);
    CHECK(view.pass.done);
    CHECK_FALSE(view.pass.offer_pause);
    CHECK_FALSE(view.pass.offer_start);
    CHECK_FALSE(pass_command(state).enabled);
    CHECK(find_commands(state, "exact pass").empty());
}

TEST_CASE("tokens of a document label both rulers and the words of the pointer") {
    const auto tokens = [](Document& document, Inputs&) {
        for (Index n = 0; n < 1024; ++n)
            document.tokens.push_back(n == 3 ? " gold" : fmt::format("t{}", n));
        document.landmarks = nullptr;
    };
    AppState state = idle_state(changed_state(tokens), {GoToCell{{10, 3}}});
    state = after(std::move(state), {HoverMapCell{{{10, 3}}}});
    const LargeView view = build_large_view(state);
    const auto labels = [](const std::vector<RulerMark>& marks) {
        std::set<std::string> all;
        for (const RulerMark& mark : marks) all.insert(mark.label);
        return all;
    };
    const auto rows = labels(view.row_ruler);
    const auto columns = labels(view.column_ruler);
    CHECK(rows.contains("t9"));
    CHECK(rows.contains("10 t10"));
    CHECK(columns.contains(shown_token(" gold")));
    CHECK(columns.contains("t10"));
    CHECK(has(view.hover_text, "query 10 “t10” → key 3 “" + shown_token(" gold") + "”"));
    for (const RulerMark& mark : view.column_ruler)
        if (!mark.chosen) CHECK(mark.space == doctest::Approx(48.0));
    state = idle_state(std::move(state), {SetMapCamera{{500.0, 500.0, 1.0 / 4.0}}});
    CHECK_FALSE(labels(build_large_view(state).row_ruler).contains("t500"));
}

TEST_CASE("the picture of scores: which scores, a diverging legend about zero, their numbers") {
    AppState state = idle_state(planted_state({.tokens = 1024, .causal = true}),
                                {SetMapPicture{MapPictureOf::scores}, GoToCell{{300, 297}}});
    CHECK(requested_map(state)->view.scores);
    state =
        after(std::move(state), {run(*requested_map_cell(state), {}), HoverMapCell{{{300, 297}}}});
    const LargeView view = build_large_view(state);
    CHECK(view.quality == "exact");
    CHECK(view.legend.title == "scaled score S = q·k ÷ √d_k");
    REQUIRE(view.legend.ticks.size() == 3);
    CHECK(view.legend.ticks[1].label == "0");
    CHECK(view.legend.ticks[0].label == "−" + view.legend.ticks[2].label);
    CHECK(view.legend.masked == "masked");
    const large::CellArithmetic& cell = map_look(state).inspected->arithmetic;
    CHECK(has(view.hover_text, "S = q·k ÷ √d_k = " + number(cell.scaled)));
    CHECK(middle_figure(view).text == cell_number(cell.scaled, 2));
    CHECK(view.inspector.title == "scaled score[300 → 297]");
    CHECK(view.inspector.value == number(cell.scaled));
    CHECK(has(all_text(view.inspector), "weight " + number(cell.weight)));
    const auto keys = [](const LargeView& of) {
        std::set<std::uint64_t> all;
        for (const MapPicture& picture : of.pictures) all.insert(picture.content_key);
        return all;
    };
    const AppState weights = idle_state(state, {SetMapPicture{MapPictureOf::weights}});
    for (const std::uint64_t key : keys(build_large_view(weights)))
        CHECK_FALSE(keys(view).contains(key));
    const LargeView whole = build_large_view(idle_state(state, {FitMap{}}));
    CHECK(whole.legend.title == "mean scaled score of 2 × 2 cells, S = q·k ÷ √d_k");
}

TEST_CASE("scores have one ink, which is read on the colour of every one in view") {
    for (const ThemeName name : {ThemeName::dark, ThemeName::light}) {
        AppState state = idle_state(planted_state({.tokens = 512}),
                                    {SetMapPicture{MapPictureOf::scores}, GoToNeedle{}});
        state.theme = name;
        const double high = score_range_in_view(map_look(state));
        int dark = 0, light = 0;
        for (const MapFigure& figure : build_large_view(state).figures) {
            std::string text = figure.text;
            if (text.starts_with("−")) text.replace(0, std::string_view("−").size(), "-");
            const Color fill =
                color_of({ColorScale::diverging, -high, high}, std::stod(text), name);
            CAPTURE(figure.text);
            CHECK(contrast(figure.ink, fill) > 0.75 * contrast(ink_on(fill, name), fill));
            (figure.ink.r < 128 ? dark : light) += 1;
        }
        CHECK((dark == 0) != (light == 0));  // one ink for the whole map
    }
}

TEST_CASE("scores of every sign, zero, NaN, ±∞ and masked are different pixels") {
    large::Tile tile;
    tile.texels.rows = 1;
    tile.texels.columns = 6;
    tile.texels.mean = {-3.0F, 0.0F, 3.0F, std::nanf(""), HUGE_VALF, 0.0F};
    tile.texels.allowed = {1, 1, 1, 1, 1, 0};
    for (const ThemeName name : {ThemeName::dark, ThemeName::light}) {
        const Image image = paint_scores(tile, 5.0, name);
        std::set<std::array<std::uint8_t, 3>> colors;
        for (std::size_t n = 0; n < 6; ++n)
            colors.insert({pixel_at(image, n).r, pixel_at(image, n).g, pixel_at(image, n).b});
        CHECK(colors.size() == 6);
        CHECK(pixel_at(image, 3) == theme(name).nan);
        CHECK(pixel_at(image, 4) == infinite_color(name));
    }
    CHECK(score_range(-3.2, 1.0) == doctest::Approx(5.0));
    CHECK(score_range(0.0, 0.0) == 1.0);
}

TEST_CASE("strongest cells: where all is exact and none is above 0, every weight is 0") {
    AppState state = call_state("large", [](Inputs& inputs, AttentionSpec&) {
        inputs.params[Param::sinks] = Tensor(Shape{1, 1, 1, 2}, {400.0F, 400.0F});
    });
    state = idle_state(with_map_input(after(state, {SetMapCanvas{{1000.0, 800.0}}})));
    const LargeView view = build_large_view(state);
    CHECK(view.quality == "exact");
    CHECK(view.top.empty());
    CHECK(view.top_title == "Strongest cells in view: every weight is 0");
}

TEST_CASE("the list of strongest cells says which of its two choices are on") {
    AppState state = idle_state(planted_state());
    CHECK(build_large_view(state).top_title == "Strongest cells in view");
    CHECK(build_large_view(state).top.front().cell.column == 0);  // the sink
    state = idle_state(std::move(state), {SetTopCells{{.skip_first_key = true}}});
    CHECK(state.message.text == "Strongest cells in view without key 0.");
    CHECK(build_large_view(state).top_title == "Strongest cells in view without key 0");
    for (const StrongCell& each : build_large_view(state).top) CHECK(each.cell.column != 0);
    state = idle_state(std::move(state), {SetTopCells{{true, true}}});
    CHECK(build_large_view(state).top_title ==
          "Strongest cells in view without key 0, one per query");
    std::set<Index> queries;
    for (const StrongCell& each : build_large_view(state).top)
        CHECK(queries.insert(each.cell.row).second);
}

TEST_CASE("the strongest cells of a sentence have its words") {
    const AppState toy = idle_state(with_map_input(
        after(initial_state(), {SetWorkspace{"large"}, SetMapCanvas{{1000.0, 800.0}}})));
    const LargeView view = build_large_view(toy);
    REQUIRE_FALSE(view.top.empty());
    CHECK(view.top.front().text == "The → The");
    const AppState planted = idle_state(planted_state());
    CHECK(build_large_view(planted).top.front().text.find_first_not_of("0123456789, →") ==
          std::string::npos);
}

TEST_CASE("with the sentence of Step alone the map offers to open or generate, and does neither") {
    const AppState toy = after(initial_state(), {SetWorkspace{"large"}});
    CHECK_FALSE(toy.opening);
    const AppState none = after(empty_state(), {SetWorkspace{"large"}});
    CHECK_FALSE(none.opening);
    CHECK(build_large_view(none).empty);
    CHECK_FALSE(build_large_view(none).size_names.empty());
}

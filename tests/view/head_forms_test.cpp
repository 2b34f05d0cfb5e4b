// The Heads workspace: what is drawn of a head, in which form, and which heads are listed.

#include "app/common/document/document.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/heads/compute.h"
#include "app/workspaces/heads/shown.h"
#include "app/workspaces/heads/view.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

/// Two layers alike.
AppState pointing_at(const std::vector<std::vector<Index>>& keys,
                     const std::vector<float>& values) {
    const auto inputs = pointing_inputs(keys, values);
    return state_of(document_of({inputs, inputs}, "pointing.npz")).value();
}

const std::vector<float> kValues{3, 4, 0, 2, 1, 0, 6, 8};  // norms 5 2 1 10

AppState heads_of(const Actions& actions = {}) {
    const AppState state = pointing_at({{0, 0, 1, 2}, {0, 0, 0, 0}, {3, 2, 1, 0}}, kValues);
    return after(after(state, {SetWorkspace{"heads"}}), actions);
}

double cell(const AllHeadsView& view, Index row, Index column) {
    REQUIRE(view.grids.size() == 1);
    return view.grids[0].at(row, column).value;
}

}  // namespace

TEST_CASE("α‖v‖: a weight of 1 shows the norm of its value; what a file lacks is not defined") {
    const AppState state = heads_of({ShowHeadsAs{"value_norm"}});
    AllHeadsView view = build_all_heads_view(state);
    CHECK(cell(view, 0, 0) == doctest::Approx(5.0));
    CHECK(cell(view, 2, 1) == doctest::Approx(2.0));
    CHECK(cell(view, 3, 2) == doctest::Approx(1.0));
    CHECK(view.grids[0].title == "α‖v‖ of L0 H0");
    CHECK(view.grids[0].range.high == doctest::Approx(10.0));  // of head 2, the same for all
    CHECK(has(view.legend.source, "arXiv:2004.10102"));
    const AllHeadsView own = build_all_heads_view(after(state, {SetHeadsRange{true}}));
    CHECK(own.grids[0].range.high == doctest::Approx(5.0));
    view = build_all_heads_view(heads_of({ShowHeadsAs{"output_norm"}}));
    CHECK(view.grids.empty());
    CHECK(view.large_missing_data == "α‖vW_O‖ is not defined for L0 H0: there is no W_O.");
    const AppState unknown = heads_of({ShowHeadsAs{"importance"}});
    CHECK(heads_look(unknown).show == HeadShow::weights);
    CHECK(unknown.message.severity == Severity::error);
}

TEST_CASE("α × gradient of L = Σ output: the sum of the value of the key, with its sign") {
    AppState state = pointing_at({{0, 0, 1}}, {3, 4, -5, 2, 1, 0});
    state = after(std::move(state), {SetWorkspace{"heads"}, ShowHeadsAs{"gradient"}});
    const AllHeadsView view = build_all_heads_view(state);
    CHECK(cell(view, 0, 0) == doctest::Approx(7.0));
    CHECK(cell(view, 2, 1) == doctest::Approx(-3.0));
    CHECK(cell(view, 2, 0) == doctest::Approx(0.0));
    CHECK(view.grids[0].range.scale == ColorScale::diverging);
    CHECK(has(view.legend.text, "Σ output"));
}

TEST_CASE("rollout: one picture a layer, two layers of it by hand") {
    // The mean of the two heads is [1 0; 1 0]: Â = [1 0; ½ ½].
    AppState state = pointing_at({{0, 0}, {0, 0}}, {1, 0, 0, 1});
    state = after(std::move(state), {SetWorkspace{"heads"}, ShowHeadsAs{"rollout"}});
    AllHeadsView view = build_all_heads_view(state);
    CHECK(view.thumbs.size() == 2);
    CHECK(view.columns == 1);
    CHECK(cell(view, 1, 0) == doctest::Approx(0.5));
    view = build_all_heads_view(after(state, {ShowHead{0, {}, 1}}));
    CHECK(cell(view, 1, 0) == doctest::Approx(0.75));
    CHECK(view.grids[0].title == "rollout up to layer 1");
}

TEST_CASE("a clipped key has no part in the colours' range and a look of its own") {
    const AppState state = heads_of({ShowHeadsAs{"value_norm"}, ClipSinks{"first", 0.3}});
    const AllHeadsView view = build_all_heads_view(state);
    CHECK(view.grids[0].range.high == doctest::Approx(10.0));
    CHECK(view.grids[0].at(0, 0).fill == clipped_color(ThemeName::dark));
    CHECK(view.grids[0].at(2, 1).fill != clipped_color(ThemeName::dark));
    REQUIRE(view.legend.clipped);
    const AllHeadsView own = build_all_heads_view(after(state, {SetHeadsRange{true}}));
    CHECK(own.grids[0].range.high == doctest::Approx(2.0));  // 5 is key 0's
    // Of head 1 every query looks at key 0: its mean weight is 1; of head 2 none has ½.
    const AppState heavy = after(state, {ClipSinks{"limit", 0.6}});
    CHECK(head_colors(heads_look(heavy), {0, 1}, {}).is_clipped(0));
    CHECK_FALSE(head_colors(heads_look(heavy), {0, 2}, {}).is_clipped(0));
    CHECK(heads_look(after(state, {ClipSinks{"limit", 1.5}})).clip == SinkClip::first);
    // of another limit no weight is looked at again; of other numbers all are
    const auto keys = heads_look(heavy).shown->keys;
    CHECK(heads_look(after(heavy, {ClipSinks{"limit", 0.1}})).shown->keys == keys);
    CHECK(heads_look(after(heavy, {ShowHeadsAs{"weights"}})).shown->keys != keys);
}

TEST_CASE("colours by linear, √ and log of the share") {
    const ColorRange unit{ColorScale::unit, 0.0, 2.0};
    const auto at = [&](ColorCurve curve, double value) {
        ColorRange range = unit;
        range.curve = curve;
        return position_of(range, value);
    };
    CHECK(at(ColorCurve::linear, 0.5) == doctest::Approx(0.25));
    CHECK(at(ColorCurve::root, 0.5) == doctest::Approx(0.5));
    CHECK(at(ColorCurve::log, 0.02) == doctest::Approx(0.5));  // 10⁻² of 10⁻⁴ … 1
    CHECK(at(ColorCurve::log, 0.0) == 0.0);
    CHECK(at(ColorCurve::log, 2.0) == doctest::Approx(1.0));
    const ColorRange both{ColorScale::diverging, -1.0, 1.0, ColorCurve::log};
    CHECK(position_of(both, 0.01) == doctest::Approx(0.75));
    CHECK(position_of(both, -0.01) == doctest::Approx(0.25));
    CHECK(position_of(both, 0.0) == doctest::Approx(0.5));
}

TEST_CASE("a line for each weight, chips by what a query gives, products that sum to the score") {
    AppState state = heads_of({SetHeadForm{"lines"}});
    AllHeadsView view = build_all_heads_view(state);
    REQUIRE(view.lines.size() == 1);
    const HeadLinesView& lines = view.lines[0];
    REQUIRE(lines.lines.size() == 4);
    for (const HeadLine& line : lines.lines) {
        CHECK(line.key == std::max<Index>(line.query - 1, 0));
        CHECK(line.strength == doctest::Approx(1.0F));
    }
    CHECK(has(lines.legend[1], "(0.0 % of the total)"));
    const AllHeadsView clipped = build_all_heads_view(after(state, {ClipSinks{"first", 0.3}}));
    CHECK(clipped.lines[0].lines.size() == 2);
    CHECK(has(clipped.lines[0].legend.back(), "50.0 %"));
    state = heads_of({SetHeadForm{"text"}, SelectHeadsPair{3, 2}});
    view = build_all_heads_view(state);
    REQUIRE(view.texts.size() == 1);
    const auto& keys = view.texts[0].keys;
    REQUIRE(keys.size() == 4);
    CHECK(view.texts[0].queries.empty());
    CHECK(keys[3].is_query);
    CHECK(keys[2].fill != keys[1].fill);
    CHECK(keys[0].fill == keys[1].fill);
    CHECK(keys[2].tooltip == "1.0000");
    state = heads_of({SetHeadForm{"dimensions"}, SelectHeadsPair{2, 0}});
    view = build_all_heads_view(state);
    REQUIRE(view.dimensions);
    REQUIRE(view.dimensions->grid);
    const GridView& grid = *view.dimensions->grid;
    CHECK(grid.at(1, 1).value == doctest::Approx(10000.0));  // query 2 looks at key 1
    CHECK(grid.at(0, 0).value == doctest::Approx(0.0));
    REQUIRE(grid.sides.size() == 1);
    CHECK(grid.sides[0].cells[1] == "10000.00");
    CHECK(grid.sides[0].cells[0] == "0.00");
}

TEST_CASE("a filter by label and by measure: the count is said, and lists leave the others out") {
    AppState state = heads_of({FilterHeadsByLabel{"previous"}});
    AllHeadsView view = build_all_heads_view(state);
    // Head 0 of both layers: head 2 has one row off key 0, and a label needs two.
    CHECK(view.controls.count == "2 of 6 shown");
    CHECK(view.thumbs.size() == 6);
    CHECK(std::ranges::count(view.thumbs, true, &HeadThumb::passes) == 2);
    CHECK_FALSE(view.thumbs[1].passes);  // head 1 looks at key 0
    view = build_all_heads_view(after(state, {SortHeads{"previous"}}));
    CHECK(view.thumbs.size() == 2);
    view = build_all_heads_view(after(state, {SetHeadsList{"table"}}));
    REQUIRE(view.table);
    CHECK(view.table->rows.size() == 2);
    CHECK(view.table->rows[0].label == "previous token");
    view = build_all_heads_view(
        after(state, {FilterHeadsByLabel{""}, FilterHeadsByMeasure{"sink", 0.9}}));
    CHECK(view.controls.count == "2 of 6 shown");  // head 1
    CHECK(after(state, {FilterHeadsByLabel{"attic"}}).message.severity == Severity::error);
}

TEST_CASE("a scatter of two measures: places by hand, axes with their formulas") {
    const AppState state = heads_of({ScatterHeads{"sink", "previous"}});
    const AllHeadsView view = build_all_heads_view(state);
    REQUIRE(view.scatter);
    CHECK(view.scatter->x.formula == "mean of a[i,0], i ≥ 1");
    REQUIRE(view.scatter->dots.size() == 6);
    const ScatterDot& first = view.scatter->dots[0];
    CHECK(first.x == doctest::Approx(1.0 / 3));
    CHECK(first.y == doctest::Approx(1.0));
    CHECK(view.scatter->dots[1].x == doctest::Approx(1.0));
    CHECK(view.scatter->dots[1].y == doctest::Approx(1.0 / 3));
    CHECK(view.scatter->note.empty());
    const AllHeadsView none =
        build_all_heads_view(after(state, {ScatterHeads{"sink", "induction"}}));
    CHECK(none.scatter->dots.empty());
    CHECK(none.scatter->note == "6 heads not drawn: a measure is not defined");
}

TEST_CASE("more heads than are computed at once are a request; the answer is shown") {
    const auto inputs = normal_inputs({1, 5, 128, 2}, 1);
    AppState state =
        after(state_of(document_of({inputs}, "many.npz")).value(), {SetWorkspace{"heads"}});
    CHECK_FALSE(has_current_heads(state));
    CHECK(has(build_all_heads_view(state).pending, "Computing weights of all heads of 1 layer"));
    REQUIRE(requested_heads(state));
    CHECK(requested_heads(state) == requested_heads(state));
    CHECK_FALSE(requested_heads(after(state, {SetWorkspace{"step"}})));
    answer_all(state);
    CHECK(has_current_heads(state));
    CHECK_FALSE(requested_heads(state));
    CHECK(build_all_heads_view(state).thumbs.size() == 5);
    CHECK(requested_heads(acted(state, {ShowHeadsAs{"gradient"}})));
    std::stop_source stopped;
    stopped.request_stop();
    CHECK(compute_heads(*requested_heads(state), {stopped.get_token(), {}}).heads.empty());
}

TEST_CASE("a session keeps what is drawn, in which form, and the filter") {
    AppState state = after(preset_state("three-heads"), {SetWorkspace{"heads"}});
    state = after(std::move(state),
                  {ShowHeadsAs{"output_norm"}, SetHeadsCurve{"log"}, ClipSinks{"limit", 0.4},
                   SetHeadForm{"lines"}, FilterHeadsByLabel{"none"},
                   FilterHeadsByMeasure{"entropy", 0.25}, ScatterHeads{"entropy", "distance"}});
    const AppState read = reopened(state);
    const HeadsLook& look = heads_look(read);
    CHECK(look.show == HeadShow::output_norm);
    CHECK(look.curve == ColorCurve::log);
    CHECK(look.clip == SinkClip::limit);
    CHECK(look.clip_limit == 0.4);
    CHECK(look.form == HeadForm::lines);
    CHECK(look.list == HeadsList::scatter);
    CHECK(look.filter == heads_look(state).filter);
    CHECK(look.scatter_y == "distance");
}

namespace {

/// “a b c = x y z”: in head 0 x reads b, y reads a, z reads c; in head 1 all read “=”.
AppState aligned() {
    const auto inputs = pointing_inputs({{0, 0, 0, 0, 1, 0, 2}, {0, 0, 0, 0, 3, 3, 3}},
                                        std::vector<float>(7, 1.0F));
    Document document = document_of({inputs}, "pointing.npz");
    document.tokens = {"a", "b", "c", "=", "x", "y", "z"};
    AppState state = state_of(std::move(document)).value();
    return after(std::move(state), {SetWorkspace{"heads"}, SetHeadForm{"alignment"}});
}

}  // namespace

TEST_CASE("alignment: source words above, target words below, joined by the weights between them") {
    const AppState state = aligned();
    const AlignedParts parts = aligned_parts(state);
    CHECK(parts.keys == std::vector<Index>{0, 1, 2});
    CHECK(parts.queries == std::vector<Index>{4, 5, 6});
    CHECK_FALSE(parts.predicts);
    const AllHeadsView view = build_all_heads_view(state);
    REQUIRE(view.alignment);
    const HeadLinesView& lines = view.alignment->lines;
    CHECK(lines.keys == std::vector<std::string>{"a", "b", "c"});
    CHECK(lines.queries == std::vector<std::string>{"x", "y", "z"});
    REQUIRE(lines.lines.size() == 3);
    std::vector<std::pair<Index, Index>> joined;
    for (const HeadLine& line : lines.lines) joined.emplace_back(line.query, line.key);
    std::ranges::sort(joined);
    CHECK(joined == std::vector<std::pair<Index, Index>>{{0, 1}, {1, 0}, {2, 2}});
    CHECK(view.point ==
          "L0 H0 joins 3 of 3 target words to 3 source words with a weight above 0.5; 1 pair of "
          "lines crosses.");
    const AllHeadsView other = build_all_heads_view(after(state, {ShowHead{1}}));
    CHECK(other.alignment->lines.lines.empty());
    CHECK(other.point ==
          "L0 H1 joins none of 3 target words to a source word with a weight above 0.5.");
    CHECK(clearest_head(state, 0) == HeadPlace{0, 0});
    const AllHeadsView both = build_all_heads_view(after(state, {SetHeadsOf{"layer"}}));
    CHECK(both.alignment->lines.heads.size() == 2);
    CHECK(both.alignment->lines.lines.size() == 3);
}

TEST_CASE(
    "alignment: exactly half of the weight joins nothing; the nearer of two crossings counts") {
    const std::vector<float> rows{0.5F, 0.5F, 0,    0, 0, 0,  //
                                  0,    0.6F, 0.4F, 0, 0, 0,  //
                                  0.7F, 0,    0.3F, 0, 0, 0};
    const MatrixView<const float> weights{rows.data(), 3, 6, 6};
    AlignedParts parts;
    parts.keys = {0, 1, 2};
    parts.queries = {0, 1, 2};
    const HeadAlignment found = head_alignment(weights, parts);
    CHECK_FALSE(found.source[0]);
    CHECK(found.source[1] == 1);
    CHECK(found.source[2] == 0);
    CHECK(found.joined == 2);
    CHECK(found.different == 2);
    CHECK(found.crossings == 1);
    CHECK(found.weight == doctest::Approx(1.3));
}

TEST_CASE("alignment: the token that parts the text can be named; where there is none it is said") {
    const AppState moved = after(aligned(), {PartTextAt{"y"}});
    CHECK(aligned_parts(moved).keys == std::vector<Index>{0, 1, 2, 3, 4});
    CHECK(aligned_parts(moved).queries == std::vector<Index>{6});
    CHECK(moved.message.text == "5 source words and 1 target word.");
    for (const char* wrong : {"w", "", "a", "z"}) {
        const AppState none = after(aligned(), {PartTextAt{wrong}});
        CHECK(none.message.severity == Severity::warning);
        const AllHeadsView view = build_all_heads_view(none);
        CHECK(has(view.alignment->missing_data, "separates two parts of this text"));
        CHECK(has(view.alignment->missing_data, wrong));
    }
}

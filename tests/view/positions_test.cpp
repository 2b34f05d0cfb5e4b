#include "app/common/inspector.h"
#include "app/window/journal.h"
#include "app/workspaces/positions/actions.h"
#include "app/workspaces/positions/view.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

constexpr PositionKind kKinds[] = {PositionKind::sinusoidal, PositionKind::learned,
                                   PositionKind::rotary, PositionKind::alibi};

AppState positions_state(const Actions& actions = {}) { return in_workspace("positions", actions); }

SetPositions set_positions(const AppState& state, auto&& change) {
    SetPositions action{positions_controls(state)};
    change(action.to);
    return action;
}

AppState changed(const AppState& state, auto&& change) {
    return after(state, {set_positions(state, change)});
}

AppState pressed(AppState state, Key key) {
    for (const Command& command : commands(state))
        if (command.chord == plain(key)) return after(std::move(state), {command.action});
    FAIL("no command has that key");
    return state;
}

/// Unusual ones too: one pair, one head, no decay of angles, a farthest distance of one step.
std::vector<PositionSettings> all_settings() {
    std::vector<PositionSettings> all;
    for (const Index d_k : {2, 8, 64, 256})
        for (const double base : {1.0, 10.0, 10000.0, 1e7})
            for (const Index heads : {1, 2, 12})
                for (const Index farthest : {1, 5, 64})
                    all.push_back({d_k, base, heads, heads - 1, farthest, 5});
    return all;
}

}  // namespace

TEST_CASE("the small plots have one axis") {
    const PositionsView view = build_positions_view(initial_state());
    for (const PlotView& plot : view.plots) {
        CHECK(plot.y_low == view.plots[0].y_low);
        CHECK(plot.y_high == view.plots[0].y_high);
        CHECK(plot.y_tick_labels == view.plots[0].y_tick_labels);
        for (const CurveView& curve : plot.curves)
            for (const double y : curve.y) CHECK((plot.y_low <= y && y <= plot.y_high));
    }
}

TEST_CASE("the sentence says what each kind does at the chosen distance") {
    const PositionScores scores = position_scores({});
    const auto sentence_of = [&](PositionKind kind, Index distance) {
        return positions_sentence(scores, kind, distance);
    };
    CHECK(sentence_of(PositionKind::rotary, 0) ==
          "RoPE rotates q and k: at distance 0 it leaves the score at 8.");
    CHECK(sentence_of(PositionKind::rotary, 16) ==
          "RoPE rotates q and k: at distance 16 it lowers the score from 8 to 6.02.");
    CHECK(
        sentence_of(PositionKind::sinusoidal, 16) ==
        "Sinusoidal vectors are added: p_i · p_j / √d_k is 2.42 at distance 16 and 4 at distance 0 "
        "for every query; with the content the score is 10.3 to 12.3, depending on the query.");
    CHECK(sentence_of(PositionKind::learned, 16) ==
          "Learned vectors are added, here before training: p_i · p_j / √d_k is 0.0332 at distance "
          "16 and 3.9 at distance 0 on average; with the content the score is 5.71 to 11.3, "
          "depending on the query.");
    CHECK(sentence_of(PositionKind::alibi, 0) ==
          "ALiBi subtracts nothing at distance 0: the score is 8 in every head.");
    CHECK(sentence_of(PositionKind::alibi, 16) ==
          "ALiBi subtracts 0.5 · 16 = 8 from the score of head 0: 0 instead of 8; over all 8 heads "
          "0 to 7.94.");
    CHECK(positions_note(scores) ==
          "These scores depend only on the distance: RoPE, ALiBi in each head. At one distance, "
          "these still vary between queries: sinusoidal by up to 3.57, learned by up to 6.69. q = "
          "k = x "
          "is random, ‖x‖² = d_k; 32 queries.");
}

TEST_CASE("ALiBi: the printed slope times the distance is the printed product") {
    const PositionScores scores = position_scores({.head = 2});
    CHECK(positions_sentence(scores, PositionKind::alibi, 9)
              .starts_with("ALiBi subtracts 0.125 · 9 = 1.125 from the score of head 2: "));
    for (const Index heads : {1, 3, 6, 7, 8, 12, 20})
        for (Index head = 0; head < heads; ++head) {
            const PositionScores drawn = position_scores({.heads = heads, .head = head});
            for (const Index distance : {1, 3, 9, 17, 64}) {
                const std::string sentence =
                    positions_sentence(drawn, PositionKind::alibi, distance);
                CAPTURE(sentence);
                const auto dot = sentence.find(" · "), equals = sentence.find(" = ");
                if (has(sentence, "·10")) continue;  // a slope below 10⁻⁴
                const double slope = std::stod(sentence.substr(sizeof "ALiBi subtracts " - 1));
                const double taken = std::stod(sentence.substr(equals + 3));
                const double product = slope * std::stod(sentence.substr(dot + sizeof " · " - 1));
                const std::string text =
                    sentence.substr(equals + 3, sentence.find(" from") - equals - 3);
                const auto point = text.find('.');
                const double unit =
                    point == text.npos
                        ? 1.0
                        : std::pow(10.0, -static_cast<double>(text.size() - point - 1));
                CHECK(std::abs(product - taken) < 0.4999 * unit);
            }
        }
}

TEST_CASE("the inspector's rows: printed terms add up to the printed total") {
    for (const PositionKind kind : kKinds)
        for (const Index distance : {0, 1, 9, 33}) {
            const InspectorView view =
                positions_inspector(changed(positions_state(), [&](PositionsControls& to) {
                    to.kind = kind;
                    to.distance = distance;
                }));
            if (!view.table || !view.table->total) continue;
            double sum = 0.0;
            for (const TableRow& row : view.table->rows) {
                std::string text = row.cells.back().text;
                if (text.starts_with("−")) text.replace(0, std::string("−").size(), "-");
                const auto power = text.find("·10⁻");
                sum += power == text.npos ? std::stod(text) : 0.0;  // below the last decimal
            }
            std::string total = view.table->total->cells.back().text;
            if (total.starts_with("−")) total.replace(0, std::string("−").size(), "-");
            const double unit =
                std::pow(10.0, -static_cast<double>(total.size() - total.find('.') - 1));
            CHECK(std::abs(sum - std::stod(total)) < unit);
        }
}

TEST_CASE("what the sentence says holds for every setting") {
    for (const PositionSettings& settings : all_settings()) {
        CAPTURE(settings.d_k);
        CAPTURE(settings.base);
        CAPTURE(settings.farthest);
        const PositionScores scores = position_scores(settings);
        for (const PositionKind kind : kKinds)
            for (const Index distance : {Index{0}, Index{1}, settings.farthest}) {
                const std::string text = positions_sentence(scores, kind, distance);
                CHECK(text.ends_with("."));
                CHECK_FALSE(has(text, "NaN"));
                CHECK_FALSE(has(text, "−0 "));
                if (kind == PositionKind::alibi)
                    CHECK(has(text, "over all") == (settings.heads > 1 && distance > 0));
                if (kind == PositionKind::rotary && distance == 0)
                    CHECK(has(text, "leaves the score at"));
                if (kind == PositionKind::learned) CHECK(has(text, "depending on the query"));
            }
        const double at_one = scores[PositionKind::rotary].mean[1];
        CHECK(has(positions_sentence(scores, PositionKind::rotary, 1), "lowers") ==
              (at_one < scores.content - 1e-9 * scores.content));
        CHECK(has(positions_note(scores), "At one distance, these still vary between queries: "));
        CHECK(has(positions_note(scores), "only on the distance: RoPE, ALiBi"));
    }
}

TEST_CASE("settings are one step of undo, named after what changed") {
    AppState state = positions_state();
    const std::size_t before = state.now;
    state = changed(state, [](PositionsControls& to) { to.settings.d_k = 128; });
    CHECK(state.history[state.now].text == "d_k 128");
    state = changed(state, [](PositionsControls& to) { to.kind = PositionKind::alibi; });
    CHECK(state.history[state.now].text == "positions ALiBi");
    CHECK(state.now == before + 2);
    CHECK(changed(state, [](PositionsControls&) {}).now == state.now);
    CHECK(positions_controls(acted(state, {Undo{}, Undo{}})) == PositionsControls{});
    CHECK(positions_curves(state).scores->of == PositionSettings{});
}

TEST_CASE("an odd d_k goes to the next, head and distance come back inside, the rest is refused") {
    AppState state = positions_state();
    const auto width = [&](Index d_k) {
        state = changed(state, [&](PositionsControls& to) { to.settings.d_k = d_k; });
        return positions_controls(state).settings.d_k;
    };
    CHECK(width(65) == 66);
    CHECK(width(65) == 64);
    CHECK(width(2) == 2);
    CHECK(width(1) == 2);
    CHECK(has(state.message.text, "2 to 256"));
    CHECK(state.message.severity == Severity::error);
    CHECK(width(std::numeric_limits<Index>::max()) == 2);
    CHECK(width(std::numeric_limits<Index>::min()) == 2);
    state = changed(state, [](PositionsControls& to) { to.settings.head = 7; });
    state = changed(state, [](PositionsControls& to) { to.settings.heads = 4; });
    CHECK(positions_controls(state).settings.head == 3);
    state = changed(state, [](PositionsControls& to) { to.settings.farthest = 8; });
    CHECK(positions_controls(state).distance == 8);
    const auto refused = [&](auto&& change) {
        const AppState next = changed(state, change);
        return next.now == state.now && next.message.severity == Severity::error;
    };
    CHECK(refused([](PositionsControls& to) { to.distance = -1; }));
    CHECK(refused([](PositionsControls& to) { to.settings.base = std::nan(""); }));
    CHECK(refused([](PositionsControls& to) { to.settings.base = 0.5; }));
    CHECK(refused([](PositionsControls& to) { to.settings.heads = 0; }));
    CHECK(refused([](PositionsControls& to) { to.settings.head = -1; }));
}

TEST_CASE("a journal can be read whatever is typed: widths are even, head and distance there") {
    AppState state = positions_state();
    for (const auto& [d_k, farthest, distance] :
         {std::tuple<Index, Index, Index>{63, 64, 53}, {65, 8, 53}, {33, 512, 400}, {255, 1, 9}}) {
        PositionsControls typed = positions_controls(state);
        const Index width = std::exchange(typed.settings.d_k, d_k);
        typed.settings.farthest = farthest;
        typed.distance = distance;
        const AppState lived = after(state, {SetPositions{typed}});
        const auto read = from_journal(*to_journal(SetPositions{inside(typed, width)}));
        REQUIRE(read);
        CHECK(positions_controls(after(state, {*read})) == positions_controls(lived));
        state = lived;
    }
}

TEST_CASE("keys go over distances, kinds and heads, and draw again") {
    AppState state = positions_state();
    const auto controls = [&] { return positions_controls(state); };
    state = pressed(state, Key::right);
    CHECK(controls().distance == 17);
    state = pressed(pressed(state, Key::left), Key::left);
    CHECK(controls().distance == 15);
    state = pressed(state, Key::end);
    CHECK(controls().distance == 64);
    CHECK(pressed(state, Key::right).now == state.now);
    state = pressed(state, Key::home);
    CHECK(controls().distance == 0);
    state = pressed(state, Key::down);
    CHECK(controls().kind == PositionKind::alibi);
    state = pressed(pressed(state, Key::up), Key::up);
    CHECK(controls().kind == PositionKind::learned);
    state = pressed(state, Key::h);
    CHECK(controls().settings.head == 1);
    state = pressed(state, Key::r);
    CHECK(controls().settings.seed == 2);
}

TEST_CASE("a session keeps the settings, and is refused where one is wrong") {
    AppState state = positions_state();
    state = changed(state, [](PositionsControls& to) {
        to = {PositionKind::alibi, {128, 500000.0, 12, 11, 200, 9}, 77};
    });
    const std::string text = session_to_json(state);
    CHECK(positions_controls(reopened(state)) == positions_controls(state));
    const auto refused = [&](const char* from, const char* to) {
        return !session_fault(replaced(text, from, to, "\"positions\": {")).empty();
    };
    CHECK(refused("\"d_k\":128", "\"d_k\":127"));
    CHECK(refused("\"d_k\":128", "\"d_k\":1024"));
    CHECK(refused("\"base\":500000.0", "\"base\":\"nan\""));
    CHECK(refused("\"distance\":77", "\"distance\":513"));
    CHECK(refused("\"kind\":\"ALiBi\"", "\"kind\":\"T5\""));
    // beyond another setting: the nearest value, as in the window
    const auto taken = [&](const char* from, const char* to) -> PositionsControls {
        const std::string changed_text = replaced(text, from, to, "\"positions\": {");
        return positions_controls(session_from_json(changed_text, "session", {}).value());
    };
    CHECK(taken("\"head\":11", "\"head\":12").settings.head == 11);
    CHECK(taken("\"distance\":77", "\"distance\":201").distance == 200);
}

TEST_CASE("what the inspector adds up is the number of the curve") {
    for (const PositionKind kind : kKinds)
        for (const Index distance : {0, 16, 64}) {
            const AppState state = changed(positions_state(), [&](PositionsControls& to) {
                to.kind = kind;
                to.distance = distance;
            });
            const auto scores = scores_of(state);
            const double score = (*scores)[kind].mean[distance];
            const InspectorView view = positions_inspector(state);
            CHECK_FALSE(view.empty);
            double sum = 0.0;
            std::string terms = view.as_python.substr(view.as_python.find('[') + 1);
            for (std::size_t at = 0; at < terms.size();) {
                std::size_t read = 0;
                sum += std::stod(terms.substr(at), &read);
                at += read;
                if (terms[at] != ',') break;
                at += 2;
            }
            CHECK(std::abs(sum - score) <= 1e-12 * scores->content);
            CHECK(view.table.has_value() == (kind != PositionKind::learned));
            CHECK(has(view.as_text, title_of(kind)));
        }
}

TEST_CASE("every curve lies within the axes of its plot, with a value at the distance") {
    for (const PositionSettings& settings : all_settings()) {
        const AppState state = changed(positions_state(), [&](PositionsControls& to) {
            to.settings = settings;
            to.distance = 1;
        });
        const PositionsView view = build_positions_view(state);
        std::vector<PlotView> plots(view.plots.begin(), view.plots.end());
        plots.push_back(view.hero);
        for (const PlotView& plot : plots) {
            CHECK(plot.x_ticks.size() >= 2);
            CHECK(plot.y_ticks.size() >= 2);
            CHECK(plot.y_ticks.size() <= 11);
            CHECK(plot.marker_ys.size() == plot.curves.size());
            for (const CurveView& curve : plot.curves) {
                CHECK(curve.x.back() == plot.x_high);
                CHECK(*std::ranges::min_element(curve.y) >= plot.y_low);
                CHECK(*std::ranges::max_element(curve.y) <= plot.y_high);
            }
        }
    }
}

TEST_CASE("the distance on a log axis begins at 1, where distance 0 has no value") {
    for (const Index farthest : {1, 2, 64, 100}) {
        const AppState state = changed(positions_state(), [&](PositionsControls& to) {
            to.settings.farthest = farthest;
            to.log = true;
        });
        CHECK(state.history[state.now].text != "");
        const PlotView plot = build_positions_view(state).hero;
        CHECK(plot.log_x);
        CHECK(plot.x_ticks.size() >= 2);
        CHECK(plot.x_ticks.back() <= plot.x_high);
        CHECK(plot.curves[0].x.front() == 1.0);
        CHECK(plot.curves[0].y.size() == plot.curves[0].x.size());
        CHECK(plot.curves[0].low.size() == plot.curves[0].x.size());
        CHECK(std::isfinite(plot.marker_ys[0]));
        const PlotView at_0 = build_positions_view(pressed(state, Key::home)).hero;
        CHECK(at_0.marker_x == 1.0);
        CHECK(std::isnan(at_0.marker_ys[0]));
    }
}

#include "app/workspaces/step/draw/canvas.h"
#include "app/common/format.h"
#include "app/workspaces/step/draw/layout.h"
#include "core/large/map_input.h"
#include "core/rng.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/train/task_table.h"
#include "tests/ui/app.h"
#include "tests/ui/sample.h"
#include "tests/ui/text_spy.h"

using namespace attn;
using namespace attn::test;
using view::CellRef;

namespace {

/// A canvas that fills the screen and says what the pointer is on.
struct Bench {
    view::StepView view;
    std::optional<view::CellEdit> editing;
    std::optional<CellRef> hovered;
    NullUi ui;

    explicit Bench(view::StepView shown) : view(std::move(shown)) {
        ui.show_in_window([this](const ui::Frame& frame, view::Actions& out) {
            hovered = ui::draw_canvas(view, editing, frame, out).cell;
        });
        ui.frames(2);
    }

    /// A point on the screen where `cell` is drawn; found as a person finds it, by looking around.
    ImVec2 find(const CellRef& cell) {
        constexpr float kStep = 20.0F;
        for (float y = 60.0F; y < 700.0F; y += kStep)
            for (float x = 0.0F; x < 1500.0F; x += kStep) {
                ui.move_to({x, y});
                if (hovered == cell) return {x, y};
            }
        FAIL("the cell is not on the canvas");
        return {};
    }
};

std::vector<std::string> items(Index count) {
    std::vector<std::string> items;
    for (Index n = 0; n < count; ++n) items.push_back("word" + std::to_string(n));
    return items;
}

view::GridView in_slot(view::GridView grid, view::Slot slot) {
    grid.slot = slot;
    return grid;
}

/// Q and Kᵀ and their scores, of so many tokens and so wide.
view::StepView scores_of(Index tokens, Index d_k) {
    view::StepView view = sample_scores();
    view.queries = view.keys = items(tokens);
    view.operands = {in_slot(sample_grid(Stage::q, tokens, d_k), view::Slot::left),
                     in_slot(sample_grid(Stage::k, d_k, tokens), view::Slot::top)};
    view.result = sample_grid(Stage::scores, tokens, tokens);
    return view;
}

ImVec2 end_of(const ui::GridPlace& place, const view::GridView& grid) {
    return {place.origin.x + place.cell.x * static_cast<float>(grid.columns),
            place.origin.y + place.cell.y * static_cast<float>(grid.rows)};
}

/// The texts of a canvas that fills the screen.
SeenTexts texts_of(const view::StepView& view, ImVec2 size) {
    SeenTexts texts;
    NullUi ui(size);
    ui.show_in_window([&](const ui::Frame& frame, view::Actions& out) {
        TextSpy spy(frame.painter);
        ui::draw_canvas(view, {}, spied(frame, spy), out);
        texts = spy.texts;
    });
    ui.frames(3);
    return texts;
}

/// Numbers with signs, side by side: "1.50−1.50" must not read as a difference.
view::StepView signed_scores(Index tokens) {
    view::StepView view;
    view.title = "Scaled scores";
    view.queries = view.keys = items(tokens);
    view.result = sample_grid(Stage::scaled, tokens, tokens);
    view.result.range = {ColorScale::diverging, -3.0, 3.0};
    for (std::size_t n = 0; n < view.result.cells.size(); ++n) {
        view.result.cells[n].value = n % 3 == 0 ? 1.5 : -1.25;
        view.result.cells[n].text = view::cell_number(view.result.cells[n].value, 2);
    }
    return view;
}

/// The part of the canvas, below bar and above bottom line, that the matrix of weights takes in height.
float hero_share(App& app, float scale) {
    const auto& windows = ImGui::GetCurrentContext()->Windows;
    const auto found = std::find_if(windows.begin(), windows.end(), [](const ImGuiWindow* window) {
        return std::string_view(window->Name).find("/canvas") != std::string_view::npos;
    });
    REQUIRE(found != windows.end());
    const float heading = ImGui::GetIO().DisplaySize.y < 560.0F * scale   ? 30.0F
                          : ImGui::GetIO().DisplaySize.y < 700.0F * scale ? 46.0F
                                                                          : 64.0F;
    const ImVec2 space{(*found)->Size.x, (*found)->Size.y - heading * scale};
    const ui::CanvasLayout layout =
        ui::lay_out_canvas(build_step_view(app.state), app.ui.style(), space);
    CHECK(layout.hero.low.y >= 0.0F);
    CHECK(layout.hero.high.x <= space.x);
    CHECK(layout.hero.high.y <= space.y);
    return (layout.hero.high.y - layout.hero.low.y) / (*found)->Size.y;
}

}  // namespace

TEST_CASE("pointing at a cell names it, in a transposed K too; a click selects just it") {
    Bench bench(sample_scores());
    bench.find({Stage::q, 2, 1});
    bench.find({Stage::k, 2, 0});  // drawn at row 0, column 2 of Kᵀ
    bench.find({Stage::scores, 2, 2});
    bench.ui.move_to({1.0F, 990.0F});
    CHECK(!bench.hovered);
    const ImVec2 at = bench.find({Stage::scores, 1, 2});
    const view::Actions actions = bench.ui.click(at);
    const auto selected = action_of<view::SelectCell>(actions);
    CHECK(selected.cell == CellRef{Stage::scores, 1, 2});
    CHECK(std::ranges::count_if(
              actions, [](const view::Action& a) { return a.is<view::SelectCell>(); }) == 1);
}

TEST_CASE("a double click begins an edit only where numbers may be edited") {
    Bench fixed(sample_scores());
    CHECK(!last<view::BeginCellEdit>(fixed.ui.double_click(fixed.find({Stage::scores, 1, 1}))));

    Bench bench(sample_input());
    CHECK(
        action_of<view::BeginCellEdit>(bench.ui.double_click(bench.find({Stage::x, 1, 1}))).cell ==
        CellRef{Stage::x, 1, 1});
}

TEST_CASE("a digit on the selected cell is no edit: digits are commands") {
    Bench bench(sample_input());
    CHECK(bench.ui.type("7").empty());
}

TEST_CASE("the cell editor replaces the number by what is typed and Enter commits it") {
    Bench bench(sample_input());
    bench.editing = view::CellEdit{{Stage::x, 0, 0}, "0.25"};
    bench.ui.frames(3);
    for (const char* letter : {"7", ".", "5"}) {
        const auto draft = action_of<view::DraftCell>(bench.ui.type(letter));
        bench.editing->draft = draft.text;
    }
    CHECK(bench.editing->draft == "7.5");
    CHECK(last<view::CommitCellEdit>(bench.ui.press(view::Key::enter)));
}

TEST_CASE("Tab and a click elsewhere commit the cell") {
    for (const bool by_tab : {true, false}) {
        Bench bench(sample_input());
        const ImVec2 other = bench.find({Stage::x, 2, 2});
        bench.editing = view::CellEdit{{Stage::x, 0, 0}, "7"};
        bench.ui.frames(3);
        const view::Actions actions =
            by_tab ? bench.ui.press(view::Key::tab) : bench.ui.click(other);
        CHECK((last<view::CommitAndMove>(actions) != nullptr) == by_tab);
        CHECK((last<view::LeaveCellEdit>(actions) != nullptr) == !by_tab);
        CHECK(!last<view::CommitCellEdit>(actions));
        CHECK(!last<view::CancelCellEdit>(actions));
    }
}

TEST_CASE("a click into the cell that is typed into is no click on the cells") {
    Bench bench(sample_input());
    const ImVec2 at = bench.find({Stage::x, 0, 0});
    bench.editing = view::CellEdit{{Stage::x, 0, 0}, "7"};
    bench.ui.frames(3);
    const view::Actions actions = bench.ui.click(at);
    CHECK(!last<view::SelectCell>(actions));
    CHECK(!last<view::CommitCellEdit>(actions));
    CHECK(!last<view::LeaveCellEdit>(actions));
}

TEST_CASE("Escape leaves the cell as it was") {
    Bench bench(sample_input());
    bench.editing = view::CellEdit{{Stage::x, 0, 0}, "7"};
    bench.ui.frames(3);
    const view::Actions actions = bench.ui.press(view::Key::escape);
    CHECK(last<view::CancelCellEdit>(actions));
    CHECK(!last<view::CommitCellEdit>(actions));
    CHECK(!last<view::LeaveCellEdit>(actions));
}

/// The tooltip of the last frame; nullptr when there is none.
const ImGuiWindow* tooltip() {
    const ImGuiWindow* window = ImGui::FindWindowByName("##Tooltip_00");
    return window != nullptr && window->Active && !window->Hidden ? window : nullptr;
}

TEST_CASE("the tooltip of a cell stands clear of the cell and its neighbours") {
    Bench bench(sample_scores());
    for (const CellRef& cell :
         {CellRef{Stage::q, 0, 0}, CellRef{Stage::scores, 1, 1}, CellRef{Stage::scores, 2, 2}}) {
        const ImVec2 at = bench.find(cell);
        bench.ui.frames(3);
        const ImGuiWindow* window = tooltip();
        REQUIRE(window);
        ImRect rect = window->Rect();
        rect.Expand(40.0F);
        CHECK_FALSE(rect.Contains(at));
        CHECK(ImRect({0.0F, 0.0F}, ImGui::GetIO().DisplaySize).Contains(window->Rect()));
    }
}

TEST_CASE("a stage that was not kept shows the reason instead of matrices") {
    Bench bench(sample_scores());
    bench.view.unavailable = "fused does not keep scores";
    bench.ui.frames(2);
    CHECK(bench.ui.click({400.0F, 300.0F}).empty());
}

TEST_CASE("the hero stands in one place at every stage, for every head width") {
    const NullUi ui;
    const ImVec2 space{1100.0F, 700.0F};
    for (const Index tokens : {1, 4, 12, 20, 40, 64}) {
        const ui::CanvasLayout a = ui::lay_out_canvas(scores_of(tokens, 4), ui.style(), space);
        for (const Index d_k : {1, 16, 128}) {
            const ui::CanvasLayout b =
                ui::lay_out_canvas(scores_of(tokens, d_k), ui.style(), space);
            CHECK(a.hero.low.x == b.hero.low.x);
            CHECK(a.hero.low.y == b.hero.low.y);
            CHECK(a.result.cell.x == b.result.cell.x);
            CHECK(a.result.cell.y == b.result.cell.y);
        }
        view::StepView scaled = scores_of(tokens, 4);
        scaled.operands = {in_slot(sample_grid(Stage::scores, tokens, tokens), view::Slot::left)};
        const ui::CanvasLayout c = ui::lay_out_canvas(scaled, ui.style(), space);
        CHECK(a.result.origin.x == c.result.origin.x);
        CHECK(a.result.origin.y == c.result.origin.y);
    }
}

TEST_CASE("all stages of a sentence have one box for their result") {
    const NullUi ui;
    for (const int tokens : {1, 2, 4, 12, 20, 40, 70})
        for (const ImVec2 space : {ImVec2{1100.0F, 800.0F}, {700.0F, 480.0F}, {320.0F, 700.0F}}) {
            std::string sentence;
            for (int n = 0; n < tokens; ++n) sentence += "word" + std::to_string(n) + " ";
            view::AppState state = view::initial_state();
            view::apply(state, view::SetSentence{sentence});
            std::optional<ui::Box> first;
            for (const Stage stage : view::ribbon_stages(state.document())) {
                INFO("tokens ", tokens, ", width ", space.x, ", stage ", info(stage).key);
                view::apply(state, view::GoToStage{stage});
                const ui::CanvasLayout layout =
                    ui::lay_out_canvas(build_step_view(state), ui.style(), space);
                if (!first) first = layout.hero;
                CHECK(layout.hero.low.x == first->low.x);
                CHECK(layout.hero.low.y == first->low.y);
                CHECK(layout.hero.high.x == first->high.x);
                CHECK(layout.hero.high.y == first->high.y);
                CHECK(layout.result.origin.x == first->low.x);
                CHECK(layout.result.origin.y == first->low.y);
            }
        }
}

TEST_CASE("the row above the weights is named by its word, or by the symbol alone") {
    for (const char* sentence : {"The cat sat down", "antidisestablishmentarianism is long now",
                                 "a b c d e f g h i j k l m n o p q r s t"})
        for (const float width : {420.0F, 600.0F, 1100.0F}) {
            view::AppState state = view::initial_state();
            view::apply(state, view::SetSentence{sentence});
            view::apply(state, view::GoToStage{Stage::weights});
            view::apply(state, view::SelectCell{{Stage::weights, 0, 0}});
            for (const SeenText& text : texts_of(build_step_view(state), {width, 800.0F}))
                if (text.text.starts_with("A[")) CHECK(text.text.ends_with(", ·]"));
        }
}

TEST_CASE("what shares the hero's rows stands left of it, its columns above, and all fits") {
    const NullUi ui;
    for (const ImVec2 space : {ImVec2{500.0F, 400.0F}, {800.0F, 500.0F}, {1800.0F, 1200.0F}})
        for (const Index tokens : {1, 4, 12, 40})
            for (const Index d_k : {1, 4, 64}) {
                INFO("room.x ", space.x, ", tokens ", tokens, ", d_k ", d_k);
                const view::StepView view = scores_of(tokens, d_k);
                const ui::CanvasLayout layout = ui::lay_out_canvas(view, ui.style(), space);
                const ui::GridPlace& q = layout.operands[0];
                const ui::GridPlace& k = layout.operands[1];
                CHECK(end_of(q, view.operands[0]).x <= layout.result.origin.x);
                CHECK(end_of(k, view.operands[1]).y <= layout.result.origin.y);
                CHECK(q.origin.y == layout.result.origin.y);
                CHECK(q.cell.y == layout.result.cell.y);
                CHECK(k.origin.x == layout.result.origin.x);
                CHECK(k.cell.x == doctest::Approx(layout.result.cell.x));
                CHECK(q.origin.x >= 0.0F);
                CHECK(k.origin.y >= 0.0F);
                CHECK(end_of(layout.result, view.result).x <= space.x);
                CHECK(end_of(layout.result, view.result).y <= space.y);
            }
}

TEST_CASE("numbers of neighbouring cells keep a character of air, and twelve tokens have numbers") {
    for (const Index tokens : {4, 8, 12, 16, 24})
        for (const float width : {600.0F, 800.0F, 1100.0F, 1600.0F}) {
            INFO("tokens ", tokens, ", width ", width);
            const view::StepView view = signed_scores(tokens);
            SeenTexts numbers = texts_of(view, {width, 800.0F});
            std::erase_if(numbers, [](const SeenText& text) {
                return text.font.face != view::Face::mono ||
                       text.text.find('.') == std::string::npos;
            });
            for (const auto& left : numbers)
                for (const auto& right : numbers) {
                    const bool follows = left.low.y == right.low.y && right.low.x > left.low.x;
                    if (follows) CHECK(right.low.x - left.high.x >= 0.99F * left.digit);
                }
            if (tokens <= 12 && width >= 1600.0F) CHECK(std::ssize(numbers) >= tokens * tokens);
        }
}

TEST_CASE("matrices drop the zero before the point, in any cell") {
    for (const Index tokens : {4, 14})
        for (const float width : {800.0F, 1000.0F, 1600.0F}) {
            INFO("tokens ", tokens, ", width ", width);
            view::StepView view = signed_scores(tokens);
            for (view::CellView& cell : view.result.cells) {
                cell.value = -0.5803;
                cell.text = view::cell_number(cell.value, 2);
            }
            int numbers = 0;
            for (const SeenText& text : texts_of(view, {width, 800.0F})) {
                if (text.font.face != view::Face::mono || text.text.find(".58") == text.text.npos)
                    continue;
                CHECK(text.text.starts_with("−."));
                ++numbers;
            }
            CHECK(numbers >= tokens);
        }
}

TEST_CASE("the first hint is seen whole below the matrix") {
    view::StepView view = sample_input();
    view.hint = "Press → for the next stage.";
    view.result = sample_grid(Stage::x, 24, 4);
    view.queries = view.keys = items(24);
    for (float height = 400.0F; height < 500.0F; height += 4.0F) {
        CAPTURE(height);
        const auto texts = texts_of(view, {860.0F, height});
        const SeenText* const hint = find_text(texts, view.hint);
        REQUIRE(hint);
        CHECK(hint->high.y <= height);
    }
}

TEST_CASE("the note beside the title is left out rather than cut to letters") {
    view::StepView view = sample_scores();
    view.controls.badge = "toy weights, not trained: W from seed 1";
    for (float width = 200.0F; width < 1400.0F; width += 25.0F) {
        CAPTURE(width);
        int notes = 0;
        for (const SeenText& text : texts_of(view, {width, 800.0F})) {
            if (!text.text.starts_with("to") || text.text.starts_with("token")) continue;
            ++notes;
            CHECK(text.text.starts_with("toy weights"));
            CHECK(!text.text.ends_with("…"));
        }
        if (width >= 500.0F) CHECK(notes == 1);
    }
}

TEST_CASE("the note stands out where the weights are toys, and is quiet about a file") {
    view::StepView view = sample_scores();
    for (const bool toy : {true, false}) {
        view.controls.toy = toy;
        const view::Theme& theme = view::theme(view::ThemeName::dark);
        const auto texts = texts_of(view, {1200.0F, 800.0F});
        const SeenText* const badge = find_text(texts, view.controls.badge);
        REQUIRE(badge);
        CHECK(badge->color == (toy ? theme.text : theme.muted));
    }
}

TEST_CASE("the weights take 35 % of the canvas in height at least, in low windows too") {
    for (const float scale : {1.0F, 1.5F, 2.0F})
        for (const int tokens : {4, 14, 40, 64})
            for (const Stage stage : {Stage::weights, Stage::scores}) {
                INFO("scale ", scale, ", tokens ", tokens, ", info(stage).key ", info(stage).key);
                std::string sentence;
                for (int n = 0; n < tokens; ++n) sentence += "word" + std::to_string(n) + " ";
                App app({1280.0F, 720.0F}, scale);
                app.act({view::SetSentence{sentence}, view::GoToStage{stage}}, 30);
                CHECK(hero_share(app, scale) >= 0.35F);
            }
}

TEST_CASE("all heads over their columns are called by word and number, or all by number") {
    view::AppState state = view::initial_state();
    view::apply(state, view::LoadPreset{"eight-heads"});
    view::apply(state, view::SetHeads{4});
    view::apply(state, view::GoToStage{Stage::output});
    const view::StepView view = build_step_view(state);
    std::set<std::ptrdiff_t> met;
    for (float width = 500.0F; width < 2000.0F; width += 4.0F) {
        CAPTURE(width);
        const SeenTexts texts = texts_of(view, {width, 900.0F});
        const auto named = std::ranges::count_if(
            texts, [](const SeenText& text) { return text.text.starts_with("head "); });
        CHECK((named == 0 || named == 4));
        met.insert(named);
    }
    CHECK(met.contains(4));
}

TEST_CASE("a sentence of one word has its numbers at every stage") {
    for (const char* sentence : {"one", "one two", "one two three"}) {
        view::AppState state = view::initial_state();
        view::apply(state, view::LoadPreset{"eight-heads"});
        view::apply(state, view::SetSentence{sentence});
        for (const Stage stage : view::ribbon_stages(state.document())) {
            CAPTURE(sentence);
            CAPTURE(info(stage).key);
            view::apply(state, view::GoToStage{stage});
            const view::StepView view = build_step_view(state);
            const NullUi ui;
            const ui::CanvasLayout layout = ui::lay_out_canvas(view, ui.style(), {1100.0F, 860.0F});
            CHECK(layout.hero.high.x <= 1100.0F);
            if (stage != Stage::context)
                CHECK(ui::shows_numbers(view.result, layout.result, ui.style()));
        }
    }
}

TEST_CASE("the words of the weights are chips over the columns where they fit, with arcs") {
    view::AppState state = view::initial_state();
    view::apply(state, view::GoToStage{Stage::weights});
    const NullUi ui;
    const auto view = build_step_view(state);
    for (const ImVec2 space : {ImVec2{1100.0F, 800.0F}, {1100.0F, 300.0F}, {125.0F, 800.0F}}) {
        const ui::CanvasLayout layout = ui::lay_out_canvas(view, ui.style(), space);
        CHECK((layout.chips == ui::ChipForm::level) == (space.x > 200.0F));
        CHECK((layout.chips == ui::ChipForm::upright) == (space.x < 200.0F));
        CHECK(layout.arcs >= 80.0F);
        REQUIRE(layout.operands.size() == 1);  // bars
        CHECK((layout.operands[0].cell.y > 0.0F) == (space.y > 500.0F));
        CHECK(layout.operands[0].origin.x == layout.result.origin.x);
        CHECK(layout.operands[0].cell.x == doctest::Approx(layout.result.cell.x));
    }
}

TEST_CASE("up to twenty words have chips and arcs in a laptop's window too") {
    for (const float scale : {1.0F, 1.5F})
        for (const int tokens : {4, 14, 20}) {
            CAPTURE(scale);
            CAPTURE(tokens);
            std::string sentence;
            for (int n = 0; n < tokens; ++n) sentence += n % 3 == 0 ? "because " : "it ";
            App app({1280.0F, 720.0F}, scale);
            app.act({view::SetSentence{sentence}, view::GoToStage{Stage::weights}}, 30);
            const ImGuiWindow* const canvas = child("canvas");
            REQUIRE(canvas);
            const view::StepView view = build_step_view(app.state);
            const ui::CanvasLayout layout = ui::lay_out_canvas(
                view, app.ui.style(), {canvas->Size.x, canvas->Size.y - 64.0F * scale});
            CHECK(layout.chips != ui::ChipForm::none);
            CHECK(layout.arcs >= 32.0F * scale);
            if (scale == 1.0F) CHECK(layout.arcs >= 80.0F);
        }
}

TEST_CASE("level chips keep apart, each with its middle over its column") {
    std::uint64_t drawn = 0;
    const auto next = [&drawn] { return static_cast<float>(uniform(3, drawn++)); };
    int seen = 0;
    for (int round = 0; round < 400; ++round) {
        std::vector<float> widths;
        for (int n = 0; n < 12; ++n) widths.push_back(10.0F + 60.0F * next());
        const float pitch = 30.0F + 40.0F * next();
        const auto spans = ui::level_spans(widths, pitch);
        if (spans.empty()) continue;
        ++seen;
        REQUIRE(spans.size() == widths.size());
        for (std::size_t n = 0; n < spans.size(); ++n) {
            const float middle = (spans[n].low + spans[n].high) / 2;
            CHECK(middle >= static_cast<float>(n) * pitch);
            CHECK(middle <= static_cast<float>(n + 1) * pitch);
            CHECK(spans[n].high - spans[n].low == doctest::Approx(widths[n]));
            if (n > 0) CHECK(spans[n].low >= spans[n - 1].high - 0.01F);
        }
    }
    CHECK(seen > 50);
    CHECK(seen < 400);
    CHECK(ui::level_spans(std::vector{50.0F, 8.0F, 50.0F}, 40.0F).size() == 3);
    CHECK(ui::level_spans(std::vector{90.0F, 90.0F, 90.0F}, 40.0F).empty());
}

TEST_CASE("a huge number is written short, and takes no other number away") {
    for (const Index tokens : {4, 20}) {
        CAPTURE(tokens);
        view::StepView view = signed_scores(tokens);
        const ImVec2 size{1280.0F, 720.0F};
        const SeenTexts plain = texts_of(view, size);
        view::CellView& cell = view.result.cells[1];
        cell.value = 1e30;
        cell.text = view::cell_number(cell.value, 2);
        const SeenTexts huge = texts_of(view, size);
        CHECK(huge.size() + 1 >= plain.size());
        if (tokens == 4) CHECK(find_text(huge, view::significant(1e30, 1)) != nullptr);
    }
}

TEST_CASE("where not all largest numbers of a row have room it shows none of them") {
    view::StepView view = signed_scores(40);
    view.result.row_role = Role::query, view.result.column_role = Role::key;
    view.result.focus_row.reset(), view.result.focus_column.reset();
    for (view::CellView& cell : view.result.cells) cell.value = 0.5, cell.text = "0.50";
    const auto halves = [&] {
        return std::ranges::count(texts_of(view, {1000.0F, 900.0F}), ".5", &SeenText::text);
    };
    view.result.cells[3].value = -7.25, view.result.cells[3].text = "−7.25";  // none of the largest
    const auto all = halves();
    REQUIRE(all > 40);
    view.result.cells[3].value = 7.25, view.result.cells[3].text = "7.25";
    CHECK(halves() == all - 3);
}

TEST_CASE("of numbers that stand alone a 1 has its own too") {
    view::StepView view = signed_scores(40);
    view.result.range = {ColorScale::unit, 0.0, 1.0};
    view.result.row_role = Role::query, view.result.column_role = Role::key;
    for (view::CellView& cell : view.result.cells) cell.value = 0.25, cell.text = "0.25";
    const auto ones = [&] {
        const SeenTexts texts = texts_of(view, {1000.0F, 900.0F});
        CHECK(find_text(texts, ".2") != nullptr);  // no room for two decimals
        return std::ranges::count(texts, "1", &SeenText::text);
    };
    const auto before = ones();  // of the legend
    view.result.cells[3].value = 1.0, view.result.cells[3].text = "1.00";
    CHECK(ones() == before + 1);
    view.result.cells[3].value = 0.97, view.result.cells[3].text = "0.97";  // to one decimal 1.0
    CHECK(ones() == before + 1);
    view.result.cells[3].value = 0.94, view.result.cells[3].text = "0.94";
    CHECK(ones() == before);
}

#include <nlohmann/json.hpp>

#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/document/intervention_effects.h"
#include "app/common/document/opened.h"
#include "app/common/figure_size.h"
#include "app/window/about.h"
#include "app/window/status.h"
#include "attn_version.h"
#include "core/io/file.h"
#include "tests/io/scratch.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

const Command& command(const std::vector<Command>& list, std::string_view text) {
    return one_of(list, text, &Command::text);
}

AppState escaped(const AppState& state) {
    const auto list = commands(state);
    const Command& escape = command(list, "Close the panel on top");
    return escape.enabled ? after(state, {escape.action}) : state;
}

}  // namespace

TEST_CASE("the inspector is there where there is room, or by hand, which sessions keep") {
    const AppState wide = initial_state();
    const AppState narrow = after(wide, {SetNarrow{true}});
    CHECK(wide.is_inspector_shown());
    CHECK_FALSE(narrow.is_inspector_shown());
    AppState hidden = after(wide, {command(commands(wide), "Hide the inspector").action});
    CHECK_FALSE(hidden.is_inspector_shown());
    const AppState open = after(narrow, {command(commands(narrow), "Show the inspector").action});
    CHECK(open.is_inspector_shown());
    CHECK_FALSE(after(hidden, {command(commands(hidden), "Show the inspector").action}).inspector);
    CHECK(command(commands(wide), "Hide the inspector").chord == plain(Key::i));
    hidden = after(initial_state(), {ShowInspector{false}});
    CHECK(reopened(hidden).inspector == false);
    const auto by_width = session_from_json(session_to_json(initial_state()), "s", {});
    REQUIRE(by_width);
    CHECK_FALSE(by_width->inspector);
    for (const std::optional<bool> on : {std::optional<bool>(), {true}, {false}}) {
        const Action action = through_journal(ShowInspector{on});
        CHECK(action.as<ShowInspector>()->on == on);
    }
    CHECK_FALSE(to_journal(SetNarrow{true}));
}

TEST_CASE("Escape closes what is open on top and nothing else, no inspector beside the canvas") {
    const CellRef cell{Stage::x, 1, 1};
    AppState state = after(initial_state(), {SetNarrow{true}, SelectCell{cell}, ShowInspector{true},
                                             ShowModel{true}, ShowHelp{true}});
    state = after(state, {ShowPrompt{PromptKind::open}});
    CHECK_FALSE(state.show_help);  // a prompt takes its place
    state = escaped(state);
    CHECK_FALSE(state.prompt);
    state = escaped(after(state, {ShowHelp{true}}));
    CHECK_FALSE(state.show_help);
    state = after(state, {ShowHelp{true}, ShowAbout{true}});
    CHECK_FALSE(state.show_help);  // one page at a time
    CHECK(state.show_about);
    state = escaped(state);
    CHECK_FALSE(state.show_about);
    state = escaped(after(state, {BeginCellEdit{cell}}));
    CHECK_FALSE(step_look(state).editing);
    REQUIRE(step_look(state).model_open);
    state = escaped(state);
    CHECK_FALSE(step_look(state).model_open);
    REQUIRE(state.is_inspector_shown());
    state = escaped(state);
    CHECK_FALSE(state.is_inspector_shown());
    REQUIRE(state.selected == cell);
    CHECK(escaped(state).selected == cell);  // nothing is open
    state = escaped(after(initial_state(), {SelectCell{cell}, ShowInspector{true}}));
    CHECK(state.is_inspector_shown());
    CHECK(state.selected == cell);
}

TEST_CASE("the UI scale is said, but for that of the start; of a session it is 1 to 2") {
    const AppState first = initial_state();
    CHECK(after(first, {SetUiScale{1.5}}).message.text == "UI scale 150 %");
    CHECK(after(first, {SetUiScale{7.0}}).message.text == "UI scale 200 %");
    AppState larger = first;
    for (int n = 0; n < 6; ++n)
        larger = after(larger, {command(commands(larger), "Larger").action});
    CHECK(larger.ui_scale == 1.6);
    CHECK(after(larger, {command(commands(larger), "Smaller").action}).ui_scale == 1.5);
    const AppState started = after(first, {StartAtScale{1.4}});
    CHECK(started.ui_scale == 1.4);
    CHECK(started.message.text == first.message.text);
    auto session = nlohmann::json::parse(session_to_json(initial_state()));
    REQUIRE(session.at("window").contains("ui_scale"));
    for (const double scale : {1.0, 1.5, 2.0, 0.99, 2.01, 0.0, -1.0}) {
        CAPTURE(scale);
        session["window"]["ui_scale"] = scale;
        const auto read = session_from_json(session.dump(), "s", {});
        CHECK(read.has_value() == (scale >= 1.0 && scale <= 2.0));
        if (read) CHECK(read->ui_scale == scale);
        if (!read) CHECK(has(read.error().text(), "expected 1 to 2"));
    }
}

TEST_CASE("About and the popover of the model are found, opened, closed and kept") {
    const AppState open = after(initial_state(), {ShowModel{true}});
    CHECK(step_look(open).model_open);
    CHECK(step_look(reopened(open)).model_open);
    CHECK_FALSE(step_look(after(open, {ShowModel{false}})).model_open);
    const auto found = find_commands(initial_state(), "about");
    REQUIRE(!found.empty());
    REQUIRE(found.front().action.is<ShowAbout>());
    const AppState shown = after(initial_state(), {found.front().action});
    CHECK(shown.show_about);
    CHECK(through_journal(ShowAbout{true}).as<ShowAbout>()->on);
    CHECK(reopened(shown).show_about);
}

TEST_CASE("Enter on what is no number explains it and keeps the field, a click away drops it") {
    const CellRef cell{Stage::x, 1, 1};
    const AppState typed = after(initial_state(), {BeginCellEdit{cell}, DraftCell{"1.2.3"}});
    for (const Action& entered : Actions{CommitCellEdit{}, CommitAndMove{1}}) {
        const AppState state = after(typed, {entered});
        REQUIRE(step_look(state).editing);
        CHECK(step_look(state).editing->cell == cell);
        CHECK(step_look(state).editing->draft == "1.2.3");
        CHECK(state.message.severity == Severity::error);
        CHECK(state.message.text ==
              "'1.2.3' is not a number; X[cat, 1] stays 0.51. Escape keeps the old number.");
    }
    const AppState left = after(typed, {LeaveCellEdit{}});
    CHECK_FALSE(step_look(left).editing);
    CHECK(left.now == 0);
    CHECK(left.message.text == "'1.2.3' is not a number; X[cat, 1] stays 0.51.");
    CHECK(after(typed, {DraftCell{"2.5"}, LeaveCellEdit{}}).document().inputs->x(0, 0, 1, 1) ==
          2.5F);
}

TEST_CASE("Tab takes the number and goes on to the next cell, row after row, until the last") {
    const auto moved = [](const CellRef& from, int cells) {
        return after(initial_state(), {BeginCellEdit{from}, DraftCell{"7"}, CommitAndMove{cells}});
    };
    const AppState next = moved({Stage::x, 1, 1}, 1);
    CHECK(next.document().inputs->x(0, 0, 1, 1) == 7.0F);
    REQUIRE(step_look(next).editing);
    CHECK(step_look(next).editing->cell == CellRef{Stage::x, 1, 2});
    CHECK(next.selected == CellRef{Stage::x, 1, 2});
    CHECK(step_look(moved({Stage::x, 1, 1}, -1)).editing->cell == CellRef{Stage::x, 1, 0});
    CHECK(step_look(moved({Stage::x, 1, 3}, 1)).editing->cell == CellRef{Stage::x, 2, 0});
    CHECK(step_look(moved({Stage::x, 1, 0}, -1)).editing->cell == CellRef{Stage::x, 0, 3});
    CHECK_FALSE(step_look(moved({Stage::x, 3, 3}, 1)).editing);
    CHECK_FALSE(step_look(moved({Stage::x, 0, 0}, -1)).editing);
}

TEST_CASE("About says what the program is made with, and which fonts are here") {
    const std::string here[] = {"DejaVu Sans Mono", "STIXGeneral", "Some Other"};
    const AboutView about = build_about_view(here);
    CHECK(about.version == "attnscope " ATTN_VERSION);
    CHECK(about.licence.starts_with("MIT License. Built by "));
    const auto row = [](const std::vector<AboutRow>& rows, std::string_view name) {
        return one_of(rows, name, &AboutRow::name);
    };
    CHECK(row(about.libraries, "Dear ImGui").licence == "MIT");
    CHECK(row(about.libraries, "Eigen").licence == "MPL-2.0");
    CHECK(row(about.libraries, "Eigen").version.find('.') != std::string::npos);
    for (const AboutRow& library : about.libraries) {
        CAPTURE(library.name);
        CHECK(!library.version.empty());
        CHECK(!library.licence.empty());
        CHECK(!library.purpose.empty());
        CHECK(library.name != "doctest");  // of the tests, not of the program
    }
    CHECK(row(about.fonts, "DejaVu Sans, DejaVu Sans Mono").version == "in use");
    CHECK(row(about.fonts, "STIXGeneral").version == "in use");
    CHECK(row(about.fonts, "Inter").version == "not installed");
    CHECK(row(about.fonts, "Inter").licence == "OFL-1.1");
}

TEST_CASE("quit asks once where something is not saved: save, discard, keep or go on") {
    AppState state = initial_state();
    view::apply(state, AskQuit{});
    CHECK(state.effects.ask_quit);  // whether something is unsaved is for the world outside
    CHECK_FALSE(state.effects.quit);
    state.effects = {};
    CHECK(acted(state, {OfferQuit{}}).quit_asked);
    CHECK_FALSE(state.effects.quit_answer);

    const AppState on = after(state, {AnswerQuit{QuitAnswer::stay}});
    CHECK_FALSE(on.quit_asked);
    CHECK_FALSE(on.effects.quit_answer);
    CHECK(after(state, {AnswerQuit{QuitAnswer::discard}}).effects.quit_answer ==
          QuitAnswer::discard);
    CHECK(after(state, {AskQuit{}}).effects.quit_answer == QuitAnswer::keep);  // Ctrl+Q again

    AppState saving = after(state, {AnswerQuit{QuitAnswer::save}});  // no path yet: it is asked for
    REQUIRE(saving.prompt);
    CHECK(saving.prompt->kind == PromptKind::save);
    CHECK_FALSE(
        after(saving, {ShowPrompt{std::nullopt}, SessionSaved{"a.json"}}).effects.quit_answer);
    REQUIRE(acted(saving, {SaveSession{"a.json"}}).effects.session);
    CHECK_FALSE(saving.effects.quit_answer);  // not before it is on the disk
    CHECK(acted(saving, {SessionSaved{"a.json"}}).effects.quit_answer == QuitAnswer::save);
    CHECK_FALSE(after(initial_state(), {SessionSaved{"a.json"}}).effects.quit_answer);
}

TEST_CASE("a session is saved as .json where its name has no extension") {
    const auto path = [](const char* typed) {
        AppState state = initial_state();
        return acted(state, {SaveSession{typed}}).effects.session->path;
    };
    CHECK(path("talk") == "talk.json");
    CHECK(path("here.d/talk") == "here.d/talk.json");
    CHECK(path("talk.json") == "talk.json");
    CHECK(path("talk.session") == "talk.session");
}

TEST_CASE("what the clock took from the bottom line a session still has, as a replay does") {
    const AppState stated = after(initial_state(), {SetReducedMotion{true}});
    const AppState faded = after(stated, {FadeMessage{}});
    const auto shown = [](const AppState& state) {
        return state.notice.value_or(state.message).text;
    };
    CHECK(shown(stated) == stated.message.text);
    CHECK(shown(faded).empty());
    CHECK(session_to_json(faded) == session_to_json(stated));
    CHECK(shown(after(faded, {SetPresenter{false}})) == "Whole window.");
    CHECK(shown(after(faded, {ShowHelp{true}})).empty());  // which says nothing
    CHECK(shown(after(faded, {SetReducedMotion{true}})) == stated.message.text);
    AppState opened = faded;
    restore(opened, *session_from_json(session_to_json(stated), "s", {}));
    CHECK(shown(opened) == stated.message.text);
    desktop_look(opened).has_dialog = true;  // of the machine, and of no session
    restore(opened, *session_from_json(session_to_json(stated), "s", {}));
    CHECK(desktop_look(opened).has_dialog);
    AppState refused = faded;
    apply(refused, LoadPreset{"none"});
    CHECK(shown(refused) == refused.message.text);
    CHECK(shown(after(refused, {FadeMessage{}})) == refused.message.text);
    const AppState noticed = after(stated, {Notify{{"saved", Severity::info}}});
    CHECK(shown(noticed) == "saved");
    CHECK(shown(after(noticed, {FadeMessage{}})).empty());
    const AppState failed = after(stated, {Notify{{"no", Severity::error}}, FadeMessage{}});
    CHECK(shown(failed) == "no");
}

TEST_CASE("the prompt keeps the path of what cannot be opened, and its fault until one is typed") {
    const std::string path = "/nowhere/weights.npz";
    AppState state = after(initial_state(), {ShowPrompt{PromptKind::open}, DraftPrompt{path},
                                             OpenFile{path}, DocumentReady{path, "No file."}});
    REQUIRE(state.prompt);
    CHECK(state.prompt->path == path);
    CHECK(state.message.severity == Severity::error);
    const auto hides = [&](const Action& action) {  // the session keeps it
        const AppState next = after(state, {action});
        return next.notice && next.notice->text.empty() && next.message.text == state.message.text;
    };
    CHECK(hides(DraftPrompt{path + "x"}));
    CHECK(hides(ShowPrompt{PromptKind::save}));
    const Opened opened{std::make_shared<Document>(initial_state().document()), nullptr, {}};
    CHECK_FALSE(
        after(state, {OpenFile{path}, DocumentReady{path, "", std::make_shared<Opened>(opened)}})
            .prompt);
    const AppState typed =
        after(initial_state(), {ShowPrompt{PromptKind::open}, DraftPrompt{path}, OpenPlanted{},
                                DocumentReady{"", "", std::make_shared<Opened>(opened)}});
    REQUIRE(typed.prompt);  // of another file
    CHECK(typed.prompt->path == path);
}

TEST_CASE_FIXTURE(
    OnDisk, "beneath a path stands what lies there: folders, then files that the prompt can take") {
    for (const char* const folder : {"models", "models/gpt2", "Data"})
        REQUIRE(std::filesystem::create_directory(scratch / folder));
    for (const char* const file :
         {"a.npz", "Zoo.JSON", "notes.txt", ".hidden.npz", "old-a.npz", "models/gpt2/config.json"})
        REQUIRE(write_file_atomically(scratch / file, std::string(2048, ' ')));
    const std::string here = (scratch / "").string();
    const auto names = [&](PromptKind kind, const std::string& typed) {
        std::vector<std::string> made;
        const std::string path = here + typed;
        for (const PathRow& row : path_rows(read_folder(path), Prompt{kind, path}))
            made.push_back(row.name + " | " + row.remark);
        return made;
    };
    using Names = std::vector<std::string>;
    CHECK(names(PromptKind::open, "") ==
          Names{"../ | folder above", "Data/ | folder", "models/ | folder", "a.npz | 2 KiB",
                "notes.txt | 2 KiB", "old-a.npz | 2 KiB", "Zoo.JSON | 2 KiB"});
    CHECK(names(PromptKind::open, "A") ==
          Names{"a.npz | 2 KiB", "Data/ | folder", "old-a.npz | 2 KiB"});
    CHECK(names(PromptKind::open, "models/") == Names{"../ | folder above", "gpt2/ | model"});
    CHECK(names(PromptKind::save, "z") == Names{"Zoo.JSON | 2 KiB"});
    CHECK(names(PromptKind::runs, "") ==
          Names{"../ | folder above", "Data/ | folder", "models/ | folder"});
    CHECK(names(PromptKind::figure, "").empty());
    CHECK(names(PromptKind::patch, "").empty());
    const auto rows = [&](PromptKind kind, const std::string& typed) {
        const std::string path = here + typed;
        return path_rows(read_folder(path), Prompt{kind, path});
    };
    CHECK(rows(PromptKind::open, "mod").front().path == here + "models/");
    CHECK(rows(PromptKind::open, "mod").front().enters);
    const PathRow model = rows(PromptKind::open, "models/g").front();
    CHECK(model.path == here + "models/gpt2");  // opened as it is
    CHECK_FALSE(model.enters);
    CHECK(rows(PromptKind::save, "models/g").front().enters);
    const Folder none = read_folder(here + "none/x");
    CHECK(none.fault == here + "none/: No such file or directory");
    CHECK(none.entries.empty());
    // What was read for another path is not offered.
    CHECK(path_rows(read_folder(here), Prompt{PromptKind::open, here + "models/"}).empty());
}

TEST_CASE("the bottom line has few words of a remark, whole clauses, and all of a warning") {
    const auto shown = [](const char* text, Severity severity = Severity::info) {
        return status_text({text, severity});
    };
    CHECK(shown("Click or drag over the mask to paint it.") ==
          "Click or drag over the mask to paint it.");
    constexpr const char* kLong =
        "Window 3: no query sees a key more than 3 places away; no computed number changes; Q, K, "
        "V and scores cannot change.";
    CHECK(shown(kLong) == "Window 3: no query sees a key more than 3 places away.");
    CHECK(shown(kLong, Severity::warning) == kLong);
    CHECK(shown("One two. Three four five; six seven eight nine ten. Eleven twelve.") ==
          "One two. Three four five; six seven eight nine ten.");
    CHECK(shown("← and → show other steps; S switches scaling from the shown step on.") ==
          "← and → show other steps.");
}

#include "app/window/lecture.h"

#include <fmt/format.h>

#include "app/common/assets.h"
#include "app/common/document/actions.h"
#include "app/common/document/edits.h"
#include "app/common/document/intervention_effects.h"
#include "app/common/document/opened.h"
#include "app/common/fields.h"
#include "app/common/workspace.h"
#include "app/window/lecture_actions.h"
#include "app/window/requests.h"
#include "app/window/state_text.h"
#include "app/window/tour.h"
#include "core/io/file.h"
#include "core/io/json.h"

namespace attn::view {
namespace {

using nlohmann::json;

// ---- reading

LectureScreen read_screen(Fields& fields) {
    LectureScreen screen;
    fields.need_index("minute", screen.minute);
    fields.need("title", screen.title);
    fields.need("line", screen.line);
    fields.read("notes", screen.notes);
    fields.need("question", screen.question);
    fields.need("answer", screen.answer);
    fields.read("seen", screen.seen);
    if (const json* const state = fields.find("state")) {
        if (!state->is_object()) fields.complain("has 'state': expected an object, a merge patch");
        screen.state = state->dump();
    }
    read_actions(fields, "actions", screen.actions);
    return screen;
}

Result<std::vector<Lecture>> read_lectures() {
    std::vector<Lecture> all;
    for (const auto& path : asset_files("lectures")) {
        auto lecture = read_text_file(path).and_then(
            [&](const std::string& text) { return lecture_from_json(text, path.string()); });
        if (!lecture) return tl::unexpected(lecture.error());
        lecture->key = path.stem().string();
        all.push_back(*std::move(lecture));
    }
    return all;
}

// ---- carrying out

Result<AppState> state_of_screen(const AppState& state, const LectureLook& look) {
    const LectureScreen& screen = find_lecture(look.name)->screens[look.screen];
    return parse_json(screen.state, "the screen").and_then([&](const json& patch) {
        return state_from_patch(patch, fmt::format("screen {} of {}", look.screen, look.name),
                                {state.backends, state.workspaces});
    });
}

void take_screen(AppState& state, AppState session, const LectureLook& look) {
    static_cast<WindowSettings&>(session) = state;
    lecture_look(session) = look;
    Opened opened{
        session.shared_document(), std::make_shared<const AppState>(std::move(session)), {}};
    state.opening =
        std::make_shared<const OpenRequest>(OpenRequest{std::string(kStateText), ++state.opened});
    apply(state, DocumentReady{"", "", std::make_shared<const Opened>(std::move(opened))});
}

void open_screen(AppState& state, Index screen) {
    LectureLook look = lecture_look(state);
    const Index count = std::ssize(find_lecture(look.name)->screens);
    look.screen = std::clamp<Index>(screen, 0, count - 1);
    auto session = state_of_screen(state, look);
    if (!session) return show_message(state, session.error());
    take_screen(state, *std::move(session), look);
    carry_out_lines(state, shown_screen(state)->actions);
    mark_waiting(state, WaitingLines::Source::screen);
    show_message(state, shown_screen(state)->line);
}

}  // namespace

Result<Lecture> lecture_from_json(std::string_view text, std::string_view file_name) {
    return parse_json(text, file_name).and_then([&](const json& value) -> Result<Lecture> {
        Fields fields(value, std::string(file_name));
        Lecture lecture;
        fields.need("title", lecture.title);
        fields.need_index("minutes", lecture.minutes, 1);
        need_list(fields, "screens", "screen", lecture.screens, read_screen);
        if (!std::ranges::is_sorted(lecture.screens, {}, &LectureScreen::minute))
            fields.complain(
                "has a 'minute' earlier than that of the previous screen: expected screens in "
                "order of time");
        if (auto valid = fields.finish(); !valid) return tl::unexpected(valid.error());
        return lecture;
    });
}

const Result<std::vector<Lecture>>& lectures() {
    static const Result<std::vector<Lecture>> once = read_lectures();
    return once;
}

const Lecture* find_lecture(std::string_view key) {
    if (!lectures() || lectures()->empty()) return nullptr;
    if (key.empty()) return &lectures()->front();
    const auto found = std::ranges::find(*lectures(), key, &Lecture::key);
    return found == lectures()->end() ? nullptr : &*found;
}

const LectureScreen* shown_screen(const AppState& state) {
    const LectureLook& look = lecture_look(state);
    return look.on ? &find_lecture(look.name)->screens[look.screen] : nullptr;
}

std::string screen_place(const AppState& state) {
    const LectureLook& look = lecture_look(state);
    return fmt::format("{} of {}", look.screen + 1, find_lecture(look.name)->screens.size());
}

void add_lecture_commands(std::vector<Command>& list, const AppState& state) {
    const CommandAdder add{list, "Lecture"};
    const LectureLook& look = lecture_look(state);
    if (lectures())
        for (const Lecture& lecture : *lectures())
            add(fmt::format("{}: {} ({} minutes)",
                            look.name == lecture.key && !look.on ? "Resume the lecture" : "Lecture",
                            lecture.title, lecture.minutes),
                {}, StartLecture{lecture.key}, !look.on || look.name != lecture.key,
                "This lecture is open: PgDn shows its next screen");
    if (!look.on) return;
    const Index last = std::ssize(find_lecture(look.name)->screens) - 1;
    for (Command& command : list)  // of a workspace
        if (command.chord == plain(Key::page_down) || command.chord == plain(Key::page_up))
            command.chord = {};
    add("Next screen of the lecture", Key::page_down, GoToScreen{look.screen + 1},
        look.screen < last);
    add("Previous screen of the lecture", Key::page_up, GoToScreen{look.screen - 1},
        look.screen > 0);
    add("Close the lecture", {}, EndLecture{});
}

void carry_out(AppState& state, const CopyState&) {
    state.effects.clipboard = state_to_text(state);
    show_message(state,
                 "Copied this state as text, {} characters. Press Ctrl+K and paste it there, or "
                 "save it to a file and open the file.",
                 state.effects.clipboard->size());
}

void carry_out(AppState& state, const StartLecture& action) {
    if (!lectures()) return show_message(state, lectures().error());
    const Lecture* const lecture = find_lecture(action.name);
    if (lecture == nullptr) return show_error(state, "There is no lecture '{}'.", action.name);
    LectureLook& look = lecture_look(state);
    if (look.name != lecture->key) look = {lecture->key, true, 0};
    look.on = state.presenter = true;
    state.focus = {};
    open_screen(state, look.screen);
}

void carry_out(AppState& state, const GoToScreen& action) {
    if (!lecture_look(state).on)
        return show_message(state, "No lecture is open. Start one with Ctrl+K.");
    open_screen(state, action.screen);
}

void carry_out(AppState& state, const EndLecture&) {
    if (!lecture_look(state).on) return show_message(state, "No lecture is open.");
    lecture_look(state).on = false;
    show_message(state, "Lecture closed at screen {}.", screen_place(state));
}

std::string lecture_notes(const Lecture& lecture, const Opener& open) {
    std::string text = fmt::format(
        "# {}\n\n{} minutes, {} screens. `attnscope lecture {}` opens it. PgDn shows the next "
        "screen, PgUp the previous one, P the whole window.\n",
        lecture.title, lecture.minutes, lecture.screens.size(), lecture.key);
    for (std::size_t n = 0; n < lecture.screens.size(); ++n) {
        const LectureScreen& screen = lecture.screens[n];
        AppState state = initial_state();
        lecture_look(state) = {lecture.key, true, 0};
        open_screen(state, static_cast<Index>(n));
        if (state.opening) answer_all(state, open);
        text += fmt::format("\n## {}:{:02} · {}. {} ({})\n\n{}\n", screen.minute / 60,
                            screen.minute % 60, n + 1, screen.title, shown_workspace(state).title,
                            screen.line);
        if (!screen.notes.empty()) text += fmt::format("\n{}\n", screen.notes);
        text += fmt::format("\n**Question.** {}\n\n**Expected.** {}\n", screen.question,
                            filled(state, screen.answer));
    }
    return text;
}

}  // namespace attn::view

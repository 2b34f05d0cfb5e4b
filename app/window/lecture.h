#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/common/command.h"
#include "app/common/opener.h"
#include "app/common/slots.h"
#include "core/result.h"

namespace attn::view {

/// A state that is shown in class, with what the teacher says to it.
struct LectureScreen {
    Index minute = 0;  // at which it comes
    std::string title;
    std::string line;               // at the foot of the window
    std::string notes;              // for the teacher alone, as the two that follow
    std::string question;           // to the class
    std::string answer;             // that is expected; quotes numbers as a tour does, see filled()
    std::vector<std::string> seen;  // words or numbers of the screen on which the answer stands
    std::string state = "{}";       // a JSON merge patch, see state_from_patch()
    std::vector<std::string> actions;  // journal lines from there: what no session holds
};

/// assets/lectures/<key>.json.
struct Lecture {
    std::string key, title;
    Index minutes = 0;
    std::vector<LectureScreen> screens;
};

/// An error names the screen, the key or the journal line that is wrong and what was expected.
Result<Lecture> lecture_from_json(std::string_view text, std::string_view file_name);
/// Of assets/lectures, by name; an error where one of them cannot be read.
const Result<std::vector<Lecture>>& lectures();
/// nullptr when there is none of that key. "": the first one.
const Lecture* find_lecture(std::string_view key);

/// Where a teacher is.
struct LectureLook {
    std::string name;  // "": none was started
    bool on = false;   // false: put away; starting it again resumes at `screen`
    Index screen = 0;
    bool operator==(const LectureLook&) const = default;
};
inline constexpr Look<LectureLook> lecture_look;

/// The screen that is on; nullptr: no lecture is.
const LectureScreen* shown_screen(const AppState& state);
/// "3 of 16".
std::string screen_place(const AppState& state);
void add_lecture_commands(std::vector<Command>& list, const AppState& state);

/// What the teacher has beside the window, as Markdown: of every screen minute, line, notes, question and expected answer
/// with its numbers. `open` opens the models of its screens.
std::string lecture_notes(const Lecture& lecture, const Opener& open);

}  // namespace attn::view

#pragma once

#include <string>

#include "app/common/action.h"

namespace attn::view {

// States to hand on, and lists of them to teach from.

/// As a text, see state_text.h.
struct CopyState {
    static constexpr auto kJournalNames = journal_names("copy_state");
};
/// By its key, presented; the one that was put away resumes. "": the first one.
struct StartLecture {
    std::string name;
    static constexpr auto kJournalNames = journal_names("start_lecture", "name");
};
/// From 0; the window is brought to what the screen shows.
struct GoToScreen {
    Index screen;
    static constexpr auto kJournalNames = journal_names("go_to_screen", "screen");
};
struct EndLecture {
    static constexpr auto kJournalNames = journal_names("end_lecture");
};

using LectureActions = ActionList<ViewActions<CopyState, StartLecture, GoToScreen, EndLecture>>;
template <ListedIn<LectureActions> A>
inline constexpr Meta kMetaOf<A> = LectureActions::kMeta<A>;

}  // namespace attn::view

#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/autosave/autosave.h"
#include "app/autosave/places.h"
#include "app/autosave/settings.h"
#include "app/common/action.h"
#include "app/common/actions.h"
#include "app/common/state.h"
#include "core/result.h"

namespace attn::autosave {

/// What outlives a window: its settings, the recent files, and the work that is not saved. It follows what the window carries
/// out, and answers with actions for it to carry out.
class Autosaver {
  public:
    /// `on` false: nothing is read and nothing is kept, as for a replay. `wake` is called from another thread when update() has
    /// something to say.
    Autosaver(bool on, std::function<void()> wake);

    /// A person's settings as actions, so that a journal has them too; options of the command line come after them, and win.
    /// An error says what is wrong with their file, which stays as it is.
    Result<view::Actions> settings(bool scale_is_open);
    /// Once the window stands as it begins: what was left is offered.
    view::Actions begin(const view::AppState& state);
    /// Before an action is carried out: work that another document may take the place of is written first.
    void foresee(const view::Action& action, const view::AppState& state);
    /// After an action was carried out, by a person or by a script.
    view::Actions follow(const view::Action& action, const view::AppState& state, bool by_person);
    /// Writes what is due. What is the same as it was begun or saved needs no keeping.
    view::Actions update(const view::AppState& state);
    /// Seconds until update() has something to do.
    std::optional<double> due_in() const;
    view::Actions answer(view::RecoveryAnswer answer, const view::AppState& state);
    /// Edits that are neither saved nor undone, also of what something else was opened after; nullopt: there are none. Looking
    /// about is no edit, and opening something neither.
    std::optional<view::UnsavedWork> unsaved(const view::AppState& state) const;
    /// The program ends by itself: nothing is left to be resumed, unless the person keeps what is not saved. What was left for
    /// another document is, unless it is discarded.
    void end(const view::AppState& state, view::QuitAnswer answer);

  private:
    using Clock = std::chrono::steady_clock;
    /// Unsaved work that another document took the place of: its file stays, and undo goes back to it.
    struct Left {
        Autosave file;
        view::Edit work;
        bool resumed;
    };

    std::string session(const view::AppState& state) const;
    view::Actions add_recent(const std::string& path, const view::AppState& state);
    view::Actions keep_settings(const view::AppState& state);
    bool is_unsaved(const view::Edit& work) const;
    view::Actions follow_present(const view::Action& action, const view::AppState& state);
    view::Actions leave_work();
    void go_back_to_left(const view::Edit& work);

    bool on_;
    std::function<void()> wake_;
    std::filesystem::path config_ = config_folder();
    std::filesystem::path folder_ = state_folder();
    Settings settings_;
    bool settings_changed_ = false;  // by the person, not by a session that was opened
    bool settings_broken_ = false;   // the file stays as it is
    std::optional<Leftovers> leftovers_;
    std::optional<Autosave> autosave_;
    std::vector<Left> left_;
    view::Edit present_;       // as it was after the last action
    std::uint64_t edits_ = 0;  // of the history then
    std::string saved_text_;   // what needs no keeping: as begun, or as saved
    std::optional<Clock::time_point> unsaved_since_;  // the first change that is not kept
    std::optional<view::Edit> saved_;                 // the present as begun or saved
    bool resumed_ = false;                            // and it is not saved since
    bool resumes_ = false;                            // what another program left is being opened
};

}  // namespace attn::autosave

#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/state.h"
#include "app/keep/autosave.h"
#include "app/keep/places.h"
#include "app/keep/settings.h"
#include "core/result.h"

namespace attn::keep {

/// What outlives a window: its settings, the recent files, and the work that is not saved. It follows what the window carries
/// out, and answers with actions for it to carry out.
class Keeper {
  public:
    /// `on` false: nothing is read and nothing is kept, as for a replay. `wake` is called from another thread when update() has
    /// something to say.
    Keeper(bool on, std::function<void()> wake);

    /// A person's settings as actions, so that a journal has them too; options of the command line come after them, and win.
    /// An error says what is wrong with their file, which stays as it is.
    Result<view::Actions> settings(bool scale_is_open);
    /// Once the window stands as it begins: what was left is offered.
    view::Actions begin(const view::AppState& state);
    /// After an action was carried out, by a person or by a script.
    view::Actions follow(const view::Action& action, const view::AppState& state, bool by_person);
    /// Writes what is due. What is the same as it was begun or saved needs no keeping.
    view::Actions update(const view::AppState& state);
    /// Seconds until update() has something to do.
    std::optional<double> due_in() const;
    view::Actions answer(view::RecoveryAnswer answer, const view::AppState& state);
    /// Whether an edit stands that is neither saved nor undone. Looking about is none, and opening something neither.
    bool has_unsaved(const view::AppState& state) const;
    /// The program ends by itself: nothing is left to be resumed, unless the person keeps what is not saved.
    void end(const view::AppState& state, bool keeps_work);

  private:
    using Clock = std::chrono::steady_clock;

    std::string session(const view::AppState& state) const;
    view::Actions add_recent(const std::string& path, const view::AppState& state);
    view::Actions keep_settings(const view::AppState& state);

    bool on_;
    std::function<void()> wake_;
    std::filesystem::path config_ = config_folder();
    std::filesystem::path folder_ = state_folder();
    Settings settings_;
    bool settings_changed_ = false;  // by the person, not by a session that was opened
    bool settings_broken_ = false;   // the file stays as it is
    std::optional<Leftovers> leftovers_;
    std::optional<Autosave> autosave_;
    std::string kept_;                               // what needs no keeping: as begun, or as saved
    std::optional<Clock::time_point> unkept_since_;  // the first change that is not kept
    std::optional<view::Edit> saved_;                // the present as begun or saved
    bool resumed_ = false;                           // and it is not saved since
    bool resumes_ = false;                           // what another program left is being opened
    bool unsaved_ = false;                           // after the last action
};

}  // namespace attn::keep

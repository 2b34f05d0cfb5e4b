#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/state.h"
#include "core/result.h"

namespace attn::keep {

/// What outlives a window: its settings, the recent files, and the work that is not saved. It follows what the window carries
/// out, and answers with actions for it to carry out.
class Keeper {
  public:
    /// `on` false: nothing is read and nothing is kept, as for a replay. `wake` is called from another thread when update() has
    /// something to say.
    Keeper(bool on, std::function<void()> wake);
    ~Keeper();

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
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace attn::keep

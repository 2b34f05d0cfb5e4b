#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "app/common/state.h"
#include "core/result.h"

namespace attn {

/// The desktop's own dialog for a path: zenity's or kdialog's, in a process beside this one.
class FileDialog {
  public:
    ~FileDialog();
    /// Whether there is one.
    static bool is_here();
    void ask(const view::Prompt& prompt);
    bool is_open() const { return process_ > 0; }
    /// The path that was chosen, once the dialog is closed; "": none. Does not wait. Ends the dialog where the prompt that
    /// asked is not there any more.
    std::optional<std::string> take(const std::optional<view::Prompt>& prompt);

  private:
    void end();

    pid_t process_ = 0;
    view::PromptKind kind_ = view::PromptKind::open;  // of the prompt that asked
    int answer_ = -1;                                 // the end of a pipe
    std::string text_;
};

/// A file that was written is the person's: nothing to do where it lies on their disk, a download where it does not.
void offer_download(const std::string& path);

/// Starts the program that the desktop has for this file. An error is a sentence for the window.
Result<void> open_with_desktop(const std::string& path);

}  // namespace attn

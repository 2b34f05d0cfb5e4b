#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "app/common/state.h"

namespace attn {

/// The desktop's own dialog for a path: zenity's or kdialog's, in a process beside this one.
class FileDialog {
  public:
    ~FileDialog();
    /// Whether there is one.
    static bool is_here();
    void ask(view::PromptKind kind, const std::string& path);
    bool is_open() const { return process_ > 0; }
    /// The path that was chosen, once the dialog is closed; "": none. Does not wait.
    std::optional<std::string> take();

  private:
    pid_t process_ = 0;
    int answer_ = -1;  // the end of a pipe
    std::string text_;
};

/// A file that was written is the person's: nothing to do where it lies on their disk, a download where it does not.
void hand_over(const std::string& path);

/// Starts the program that the desktop has for this file. False: xdg-open is not there.
bool open_with_desktop(const std::string& path);

}  // namespace attn

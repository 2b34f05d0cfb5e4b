#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/common/state.h"
#include "core/result.h"

namespace attn {

/// Windows' own dialog for a path, on a thread of its own.
class FileDialog {
  public:
    /// Whether there is one.
    static bool is_here();
    void ask(const view::Prompt& prompt);
    bool is_open() const { return answer_ != nullptr; }
    /// The path that was chosen, once the dialog is closed; "": none. Does not wait. A dialog whose prompt is not there any more
    /// stays open, and its answer is ignored.
    std::optional<std::string> take(const std::optional<view::Prompt>& prompt);

  private:
    struct Answer;
    std::shared_ptr<Answer> answer_;
    view::PromptKind kind_ = view::PromptKind::open;  // of the prompt that asked
};

/// A file that was written is the person's: nothing to do where it lies on their disk, a download where it does not.
void offer_download(const std::string& path);

/// Starts the program that Windows has for this file. An error is a sentence for the window.
Result<void> open_with_desktop(const std::string& path);

}  // namespace attn

#pragma once

#include <functional>
#include <thread>

namespace attn {

/// While it lives, SIGTERM, SIGINT and SIGHUP are noticed instead of ending the program, so that the window can end as
/// at Ctrl+Q. The same signal a second time ends the program at once. One that is ignored (nohup) stays ignored.
/// One at a time.
class EndingSignals {
  public:
    /// `wake` is called from another thread when one came.
    explicit EndingSignals(std::function<void()> wake);
    ~EndingSignals();

    /// The signal that came, or 0.
    int caught() const;

  private:
    std::jthread watcher_;
};

/// While it lives, `save` is called when this thread calls exit(), and the program ends with code 1 after it: Xlib calls
/// exit() from whatever touches a display that is lost. One at a time.
class AtExit {
  public:
    explicit AtExit(std::function<void()> save);
    ~AtExit();
    AtExit(const AtExit&) = delete;
    AtExit& operator=(const AtExit&) = delete;
};

}  // namespace attn

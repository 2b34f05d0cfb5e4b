#pragma once

#include <cstdint>
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

/// Which thread called exit().
enum class Exiting : std::uint8_t { own_thread, other_thread };
/// While it lives, `save` is called when a thread calls exit(), on that thread, and the program ends with code 1 after it:
/// Xlib calls exit() from whatever touches a display that is lost, also from a thread that only wakes the window. One at a time.
class AtExit {
  public:
    explicit AtExit(std::function<void(Exiting)> save);
    ~AtExit();
    AtExit(const AtExit&) = delete;
    AtExit& operator=(const AtExit&) = delete;
};

}  // namespace attn

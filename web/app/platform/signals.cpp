#include "app/platform/signals.h"

namespace attn {

// A page gets no signals, and is not told when it is closed.

EndingSignals::EndingSignals(std::function<void()>) {}
EndingSignals::~EndingSignals() = default;
int EndingSignals::caught() const { return 0; }

AtExit::AtExit(std::function<void(Exiting)>) {}
AtExit::~AtExit() = default;

}  // namespace attn

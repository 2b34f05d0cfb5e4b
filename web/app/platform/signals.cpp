#include "app/platform/signals.h"

namespace attn {

// A page gets no signals.

EndingSignals::EndingSignals(std::function<void()>) {}
EndingSignals::~EndingSignals() = default;
int EndingSignals::caught() const { return 0; }

}  // namespace attn

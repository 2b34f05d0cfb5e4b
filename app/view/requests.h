#pragma once

#include "app/view/cost/requests.h"
#include "app/view/document/requests.h"
#include "app/view/gradients/requests.h"
#include "app/view/heads/requests.h"
#include "app/view/large/requests.h"
#include "app/view/learn/requests.h"
#include "app/view/lookup/requests.h"
#include "app/view/numerics/requests.h"
#include "app/view/saturation/requests.h"
#include "app/view/tensors/requests.h"
#include "app/view/verify/requests.h"

namespace attn::view {

// A "request" is something that the screen needs and that takes too long for the window's thread. requested_…() says
// what is needed now; run() computes it and answers with an action, which apply() takes; then nothing is requested any
// more. app/jobs runs them beside the window. An answer that a journal holds changes what later actions mean (a document
// that was opened): a replay waits for it there.

/// An answer as a journal holds it, without what it brought: a replay waits for it. One that brings it is carried out.
bool is_awaited(const Action& action);

/// Answers on this thread what waits for no map: documents, traces, curves. For tests and for whoever has no window.
void answer_all(AppState& state, const Opener& open = {});

/// Carries out `actions`; at an answer among them, the request that it answers is run first.
void play(AppState& state, const Actions& actions, const Opener& open = {});

}  // namespace attn::view

#pragma once

#include "app/common/request.h"

namespace attn::view {

/// What can be requested: of the document, and of every workspace of this program.
std::vector<RequestKind> all_requests();

/// An answer as a journal holds it, without what it brought: a replay waits for it, for it changes what later actions mean
/// (a document that was opened). One that brings it is carried out.
bool is_awaited(const Action& action);

/// Answers on this thread what waits for no map: documents, traces, curves. For tests and for whoever has no window.
void answer_all(AppState& state, const Opener& open = {});

/// Carries out `actions`; at an answer among them `answer` brings what is requested. `after` is called after each; an error
/// of it ends the play.
Result<void> play(AppState& state, const Actions& actions, const std::function<void()>& answer,
                  const std::function<Result<void>(const AppState&)>& after = {});
/// By answer_all(), at the end too.
void play(AppState& state, const Actions& actions, const Opener& open = {});

}  // namespace attn::view

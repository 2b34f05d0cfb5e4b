#include "app/view/requests.h"

namespace attn::view {
namespace {

Result<Opened> no_files(const OpenRequest& request, const RunControl&) {
    return failed(words_of(request) + " cannot be opened here");
}

}  // namespace

bool is_awaited(const Action& action) {
    if (const auto* ready = action.as<DocumentReady>())
        return !ready->opened && ready->fault.empty();
    if (const auto* ready = action.as<TraceReady>())
        return !ready->trace && ready->failure.empty() && ready->unavailable.empty();
    return false;
}

void answer_all(AppState& state, const Opener& open) {
    while (const auto request = requested_document(state))
        view::apply(state, run(*request, open ? open : no_files, {}));
    while (const auto request = requested_trace(state)) view::apply(state, run(*request, {}));
    if (const auto request = requested_check(state))
        view::apply(state, run(*request, open ? open : no_files, {}));
    while (const auto request = requested_tensors(state)) view::apply(state, run(*request, {}));
    if (const auto request = requested_sweep(state)) view::apply(state, run(*request, {}));
    if (const auto request = requested_cost(state)) view::apply(state, run(*request, {}));
    if (const auto request = requested_heads(state)) view::apply(state, run(*request, {}));
    if (const auto request = requested_numerics(state)) view::apply(state, run(*request, {}));
    if (const auto request = requested_capacity(state)) view::apply(state, run(*request, {}));
    if (const auto request = requested_loss_gradients(state)) view::apply(state, run(*request, {}));
    if (const auto request = requested_learning(state)) view::apply(state, run(*request, {}));
}

void play(AppState& state, const Actions& actions, const Opener& open) {
    for (const Action& action : actions) {
        if (is_awaited(action)) answer_all(state, open);
        if (!is_awaited(action)) view::apply(state, action);
    }
    answer_all(state, open);
}

}  // namespace attn::view

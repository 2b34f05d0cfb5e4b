#include "app/view/requests.h"

namespace attn::view {
namespace {

Result<Opened> no_files(const OpenRequest& request, const RunControl&) {
    return failed(words_of(request) + " cannot be opened here");
}

}  // namespace

void answer_all(AppState& state, const Opener& open) {
    while (const auto request = requested_document(state))
        view::apply(state, run(*request, open ? open : no_files, {}));
    while (const auto request = requested_trace(state)) view::apply(state, run(*request, {}));
    if (const auto request = requested_sweep(state)) view::apply(state, run(*request, {}));
}

void play(AppState& state, const Actions& actions, const Opener& open) {
    for (const Action& action : actions) {
        if (kind_of(action) == Kind::answer)
            answer_all(state, open);
        else
            view::apply(state, action);
    }
    answer_all(state, open);
}

}  // namespace attn::view

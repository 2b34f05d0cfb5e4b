#include "app/window/requests.h"

#include "app/common/document/actions.h"
#include "app/common/document/requests.h"
#include "app/common/map/requests.h"

namespace attn::view {
namespace {

Result<Opened> no_files(const OpenRequest& request, const RunControl&) {
    return failed(words_of(request) + " cannot be opened here");
}

}  // namespace

std::vector<RequestKind> all_requests() {
    std::vector<RequestKind> all{
        request_kind<requested_document>("opening"),
        request_kind<requested_trace>("trace"),
        request_kind<requested_probe>("probe"),
        request_kind<requested_map_input>("map input"),
        request_kind<requested_map_cell>("cell"),
        {.name = "map", .requested = nullptr, .make = make_map_job, .lasts = true}};
    for (const WorkspaceInfo* workspace : workspaces())
        all.insert(all.end(), workspace->requests.begin(), workspace->requests.end());
    return all;
}

bool is_awaited(const Action& action) {
    if (const auto* ready = action.as<DocumentReady>())
        return !ready->opened && ready->fault.empty();
    if (const auto* ready = action.as<TraceReady>())
        return !ready->trace && ready->failure.empty() && ready->unavailable.empty();
    return false;
}

void answer_all(AppState& state, const Opener& open) {
    constexpr int kMostAnswers = 1000;  // of one kind: one that is never satisfied is a bug of ours
    for (const RequestKind& kind : all_requests()) {
        if (kind.lasts) continue;
        std::optional<Request> last;
        for (int n = 0; n < kMostAnswers; ++n) {
            auto request = kind.requested(state);
            if (!request || request == last) break;
            view::apply(state, request->answer(open ? open : no_files, {}));
            last = std::move(request);
        }
    }
}

void play(AppState& state, const Actions& actions, const Opener& open) {
    for (const Action& action : actions) {
        if (is_awaited(action)) answer_all(state, open);
        if (!is_awaited(action)) view::apply(state, action);
    }
    answer_all(state, open);
}

}  // namespace attn::view

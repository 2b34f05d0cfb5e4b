// A request that throws is answered: it ends, its sentence stands there, and other requests go on.

#include <new>

#include "app/common/workspace.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

Action failure(const RequestKind& kind, const AppState& state) {
    return RequestFailed{failed_request(kind.name, *kind.requested(state),
                                        std::make_exception_ptr(std::bad_alloc()))};
}

/// What the first launch requests where that workspace is shown and all that it does at once is done.
std::vector<RequestKind> requested_in(const WorkspaceInfo& workspace, const AppState& state) {
    std::vector<RequestKind> kinds;
    for (const RequestKind& kind : workspace.requests)
        if (kind.requested && kind.requested(state)) kinds.push_back(kind);
    return kinds;
}

}  // namespace

TEST_CASE("in every workspace what cannot be answered ends, and is asked for again once left") {
    int failed = 0;
    for (const WorkspaceInfo* const workspace : workspaces())
        for (const Shot& shot : workspace->shots()) {
            CAPTURE(workspace->key);
            const AppState shown = after(after(initial_state(), {go_to(*workspace)}), shot.actions);
            for (const RequestKind& kind : requested_in(*workspace, shown)) {
                CAPTURE(kind.name);
                const AppState state = after(shown, {failure(kind, shown)});
                const std::string text = failure_of(state, kind.name);
                CHECK(has(text, "there is not enough memory for it."));
                CHECK(job_status_text(state, kind.name, "computing…") == text);
                CHECK(state.notice->text == text);
                CHECK_FALSE(open_request(kind, state));
                CHECK(is_idle(*workspace, state));
                const AppState left = after(state, {SetWorkspace{"exercises"}});
                if (!kind.requested(left)) CHECK(failure_of(left, kind.name).empty());
                ++failed;
            }
        }
    CHECK(failed >= 8);
}

TEST_CASE("a file whose reading throws is said, and the next one opens") {
    const AppState asked = after(initial_state(), {OpenFile{"large.npz"}});
    REQUIRE(asked.opening);
    AppState state = asked;
    answer_all(state, [](const OpenRequest&, const RunControl&) -> Result<Opened> {
        throw std::runtime_error("too many links");
    });
    CHECK_FALSE(state.opening);
    CHECK(state.notice->text == "Opening: too many links.");
    CHECK(state.notice->severity == Severity::error);
    CHECK(state.failures.empty());
    apply(state, OpenFile{"other.npz"});
    CHECK(state.opening);
}

#include "app/jobs/script.h"

#include "app/common/document/actions.h"
#include "app/common/document/intervention_effects.h"
#include "app/common/document/requests.h"
#include "app/common/state.h"
#include "app/window/requests.h"

namespace attn::jobs {
namespace {

/// The answer that `line` stands for is requested: it will come.
bool is_requested(const view::AppState& state, const view::Action& line) {
    return line.is<view::DocumentReady>() ? state.opening != nullptr
                                          : view::requested_trace(state).has_value();
}

}  // namespace

bool Script::keep(const view::Action& answer) {
    if (done() || view::name_of(answer).empty()) return false;
    arrived_.push_back(answer);
    return true;
}

void Script::play(view::AppState& state, Jobs& jobs,
                  const std::function<void(const view::Action&)>& dispatch) {
    for (; !done(); jobs.update(state)) {  // each time: what is requested twice is two requests
        const view::Action next = lines_.front();
        const bool awaits_answer = view::is_awaited(next);
        const auto arrived = std::ranges::find_if(
            arrived_, [&](const view::Action& answer) { return &answer.type() == &next.type(); });
        const bool came = awaits_answer && arrived != arrived_.end();
        if (awaits_answer && !came && is_requested(state, next)) return jobs.update(state);
        lines_.pop_front();
        if (!awaits_answer) dispatch(next);
        if (came) {
            const view::Action answer = *arrived;
            arrived_.erase(arrived);
            dispatch(answer);
        }
        state.effects = {};  // done when it was asked for
        state.prompt.reset();
    }
    for (const view::Action& answer : std::exchange(arrived_, {})) dispatch(answer);
    jobs.update(state);
}

}  // namespace attn::jobs
